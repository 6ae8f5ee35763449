//! A catalogue of tools: which of them a turn offers its model, and the tool that searches for more.
//!
//! The index finds tools and calls none. A call is made by the agent's tool of that name, or by one that an interceptor has.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use hanok_core::{Call, Effect, Timestamp};
use hanok_graph::{Context, StepError};
use hanok_model::{FnTool, InvalidSpec, SharedTool, Tool as _, ToolError, ToolOutput, ToolSpec};
use hanok_parse::Language;
use hanok_state::{Arguments, Role, ToolCall};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    bound_tool::BoundTool,
    error::AgentError,
    prompt,
    runner::restriction::{Restriction, Restrictions},
    state::AgentState,
    tool_index::{ToolIndex, ToolIndexError, entry::definition_hash, query::ToolQuery},
    tools::registry::ToolRegistry,
};

/// The name of the tool that searches for tools.
pub(crate) const SEARCH_TOOLS: &str = "search_tools";

/// The most tools of a catalogue that is offered whole.
const FEW: usize = 24;

/// The tools that a search finds unless the model says otherwise, and the most that it may ask for.
const SEARCHED: usize = 5;
const MOST_SEARCHED: usize = 16;

/// A catalogue of tools, and what of it an agent may use.
#[derive(Debug, Clone)]
pub(crate) struct Catalogue {
    agent: String,
    index: ToolIndex,
    /// The tool that searches for tools.
    pub(crate) search: SharedTool,
    usable: Usable,
}

/// The tools of an index that the agent can call.
#[derive(Debug, Clone)]
struct Usable {
    registry: ToolRegistry,
    /// The only tools that can be called, `None` when others may come from interceptors.
    only: Option<Arc<BTreeSet<String>>>,
    denied: Arc<BTreeSet<String>>,
}

/// The arguments of a search.
#[derive(Deserialize)]
struct SearchArguments {
    query: String,
    #[serde(default)]
    k: Option<usize>,
}

/// The result of a search for programs.
#[derive(Serialize, Deserialize)]
struct FoundTools {
    tools: Vec<String>,
}

impl Usable {
    /// True for a tool that can be called.
    fn is(&self, name: &str) -> bool {
        !self.denied.contains(name) && self.only.as_ref().is_none_or(|only| only.contains(name))
    }

    /// A question for tools that can be called.
    fn query(&self, text: impl Into<String>) -> ToolQuery {
        ToolQuery::new(text).deny(self.denied.iter().cloned()).among(self.only.clone())
    }

    /// The binding of a tool of the index, by the definition that a call of it has.
    fn bind(&self, spec: &ToolSpec) -> BoundTool {
        let spec = self.registry.spec(spec.name()).unwrap_or(spec);
        BoundTool::catalogued(spec.name(), definition_hash(spec))
    }
}

impl Catalogue {
    /// The catalogue of the agent `agent` over `index`, whose tools are those of `registry`, and of interceptors if there are
    /// `others`.
    ///
    /// # Errors
    ///
    /// [`InvalidSpec`] never: the tool that searches has a name.
    pub(crate) fn new(
        agent: &str,
        index: ToolIndex,
        registry: &ToolRegistry,
        others: bool,
        denied: Arc<BTreeSet<String>>,
        language: Language,
    ) -> Result<Self, InvalidSpec> {
        let own = || registry.specs().map(|spec| spec.name().to_owned()).collect();
        let only = (!others).then(|| Arc::new(own()));
        let usable = Usable { registry: registry.clone(), only, denied };
        let search = search_tool(&index, &usable, language)?;
        Ok(Self { agent: agent.to_owned(), index, search, usable })
    }

    fn failed(&self, source: ToolIndexError) -> AgentError {
        AgentError::Catalogue { agent: self.agent.clone(), source }
    }

    /// The tools of a turn that begins: those of the agent that the catalogue does not list, and of the catalogue all if it is
    /// small, else the pinned ones and those that fit what the user says. `required` is always among them.
    ///
    /// # Errors
    ///
    /// [`AgentError::Catalogue`] when the index cannot be read, [`AgentError::Step`] when the choice cannot be stored.
    pub(crate) async fn begin<C>(
        &self,
        state: &AgentState,
        required: Option<&str>,
        context: &Context<C>,
    ) -> Result<Vec<BoundTool>, AgentError> {
        let now = context.now();
        let asked = state.messages.iter().rev().find(|message| message.role() == Role::User);
        let asked = asked.map(|message| message.text().into_owned()).unwrap_or_default();
        let chosen = || self.first_tools(&asked, required, now);
        context.step("tools", chosen).await.map_err(|error| match error {
            StepError::Failed(cause) => match cause.downcast::<ToolIndexError>() {
                Ok(source) => self.failed(*source),
                Err(cause) => self.step_failed(StepError::Failed(cause)),
            },
            error => self.step_failed(error),
        })
    }

    fn step_failed(&self, source: StepError) -> AgentError {
        AgentError::Step { agent: self.agent.clone(), source }
    }

    async fn first_tools(
        &self,
        asked: &str,
        required: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<BoundTool>, ToolIndexError> {
        let registered = || self.usable.registry.specs().map(ToolSpec::name);
        let whole = match &self.usable.only {
            Some(only) if only.len() <= FEW => {
                Some(self.index.specs(only.iter().map(String::as_str), now).await?)
            }
            _ => self.index.few(FEW, now).await?,
        };
        let listed = match &whole {
            Some(whole) => whole.clone(),
            None => self.index.specs(registered(), now).await?,
        };
        let own = registered().filter(|name| !listed.contains_key(*name));
        let mut bound: Vec<_> = own.map(BoundTool::own).collect();
        let recommended: Vec<_> = match whole {
            Some(whole) => whole.into_values().collect(),
            None => {
                bound.push(BoundTool::own(SEARCH_TOOLS));
                let query = self.usable.query(asked);
                let recommended = self.index.recommend(&query, now).await?;
                let required = required.and_then(|name| listed.get(name));
                required.into_iter().chain(recommended.specs()).cloned().collect()
            }
        };
        let usable = recommended.iter().filter(|spec| self.usable.is(spec.name()));
        BoundTool::append(&mut bound, usable.map(|spec| self.usable.bind(spec)));
        Ok(bound)
    }

    /// The definitions that a model is shown of `bound`, in their order: none of a tool that is gone or has another one now.
    ///
    /// # Errors
    ///
    /// [`AgentError::Catalogue`].
    pub(crate) async fn offered(
        &self,
        bound: &[BoundTool],
        now: Timestamp,
    ) -> Result<Vec<ToolSpec>, AgentError> {
        let listed: Vec<_> = bound
            .iter()
            .filter(|tool| tool.definition.is_some() && self.usable.is(&tool.name))
            .map(|tool| tool.name.as_str())
            .collect();
        let listed = self.index.specs(listed, now).await.map_err(|source| self.failed(source))?;
        let mut names = BTreeSet::new();
        let offered = bound.iter().filter_map(|tool| {
            let registered = self.usable.registry.spec(&tool.name);
            let spec = match &tool.definition {
                None if tool.name == SEARCH_TOOLS => self.search.spec(),
                None => registered?,
                Some(definition) => {
                    let in_index = listed.get(&tool.name)?;
                    let spec = registered.unwrap_or(in_index);
                    (definition_hash(spec) == *definition).then_some(spec)?
                }
            };
            names.insert(tool.name.clone()).then(|| spec.clone())
        });
        Ok(offered.collect())
    }

    /// What the catalogue says of `calls`.
    ///
    /// # Errors
    ///
    /// [`AgentError::Catalogue`].
    pub(crate) async fn restrictions(
        &self,
        bound: &[BoundTool],
        calls: &[ToolCall],
        now: Timestamp,
    ) -> Result<Restrictions, AgentError> {
        let names: BTreeSet<_> = calls.iter().map(|call| call.name.as_str()).collect();
        // What is no name of a tool is none of the catalogue.
        let readable = names.iter().copied().filter(|name| is_name(name));
        let specs = self.index.specs(readable, now).await.map_err(|source| self.failed(source))?;
        let mut calls = BTreeMap::new();
        for name in names {
            let binding = BoundTool::of(bound, name).map(|tool| &tool.definition);
            let restriction = match (binding, specs.contains_key(name)) {
                (Some(None), _) => continue,
                (Some(Some(_)), false) => Restriction::Gone,
                (Some(Some(definition)), true) => Restriction::Definition(definition.clone()),
                (None, true) => Restriction::Unbound,
                (None, false) if self.usable.registry.spec(name).is_some() => Restriction::Unknown,
                (None, false) => continue,
            };
            calls.insert(name.to_owned(), restriction);
        }
        let mut shown: Vec<_> = bound.iter().map(|tool| tool.name.clone()).collect();
        let mut names = BTreeSet::new();
        shown.retain(|name| names.insert(name.clone()));
        Ok(Restrictions { calls, shown })
    }

    /// The bindings of the tools that a search has found.
    ///
    /// # Errors
    ///
    /// [`AgentError::Catalogue`].
    pub(crate) async fn searched(
        &self,
        data: Option<&serde_json::Value>,
        now: Timestamp,
    ) -> Result<Vec<BoundTool>, AgentError> {
        let Some(Ok(FoundTools { tools })) = data.map(FoundTools::deserialize) else {
            return Ok(Vec::new());
        };
        let names = tools.iter().map(String::as_str).filter(|name| self.usable.is(name));
        let specs = self.index.specs(names, now).await.map_err(|source| self.failed(source))?;
        let specs = tools.iter().filter_map(|name| specs.get(name));
        Ok(specs.map(|spec| self.usable.bind(spec)).collect())
    }
}

/// True for what an index can list. What a model writes may be anything.
fn is_name(name: &str) -> bool {
    ToolSpec::new(name, "", json!({})).is_ok()
}

/// The tool that searches `index`.
fn search_tool(
    index: &ToolIndex,
    usable: &Usable,
    language: Language,
) -> Result<SharedTool, InvalidSpec> {
    let query = json!({
        "type": "string",
        "minLength": 1,
        "description": prompt::search_tools_query(language),
    });
    let k = json!({
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_SEARCHED,
        "description": prompt::search_tools_limit(language),
    });
    let schema = json!({
        "type": "object",
        "properties": {"query": query, "k": k},
        "required": ["query"],
        "additionalProperties": false,
    });
    let spec = ToolSpec::new(SEARCH_TOOLS, prompt::search_tools(language), schema)?;
    let (index, usable) = (index.clone(), usable.clone());
    let run = move |arguments: Arguments, call: Call| {
        let (index, usable) = (index.clone(), usable.clone());
        async move { search(&index, &usable, &arguments, call.clock().now(), language).await }
    };
    Ok(SharedTool::new(FnTool::untyped(spec, run).effect(Effect::Pure)))
}

async fn search(
    index: &ToolIndex,
    usable: &Usable,
    arguments: &Arguments,
    now: Timestamp,
    language: Language,
) -> Result<ToolOutput, ToolError> {
    let SearchArguments { query, k } = arguments.decode().map_err(ToolError::arguments)?;
    let limit = k.unwrap_or(SEARCHED).min(MOST_SEARCHED);
    let query = usable.query(query).limit(limit);
    let recommended = index.recommend(&query, now).await.map_err(ToolError::failed)?;
    let found: Vec<_> =
        recommended.tools.iter().map(|tool| &tool.spec).filter(|it| usable.is(it.name())).collect();
    let tools = found.iter().map(|spec| spec.name().to_owned()).collect();
    let data = serde_json::to_value(FoundTools { tools }).map_err(ToolError::failed)?;
    Ok(ToolOutput::new(prompt::found_tools(found.into_iter(), language)).data(data))
}
