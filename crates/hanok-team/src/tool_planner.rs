//! The choice of tools together with their arguments, in one request.

use std::{collections::BTreeSet, sync::Arc};

use hanok_agent::{
    Choice, ChoiceKind, ChoiceOption, ChosenBy, Language, Structured, StructuredError,
};
use hanok_core::{BoxError, Chain, Effect};
use hanok_graph::{Context, StepError};
use hanok_model::{ChatModel, ChatRequest, SharedModel, SharedTool, Tool as _};
use hanok_state::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::event::TeamEvent;

/// The most tokens of a reply.
const LONGEST: u32 = 1_500;

/// The confidence of a choice that the fallback makes because the model made none.
const FALLBACK: f64 = 0.3;

/// What a team chooses from: a tool, or anything else that has a name and takes arguments.
#[derive(Debug, Clone)]
pub struct ToolOption {
    /// The name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
    /// True when a call only reads.
    pub reads: bool,
}

/// The tools that were chosen, with the arguments as the model wrote them: nothing of these is checked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolPlan {
    /// The choice, for the log.
    pub choice: Choice,
    /// The chosen, in their order, each with its arguments. An argument that is not known is missing or `null`.
    pub calls: Vec<(String, Map<String, Value>)>,
    /// The words of the question that a search is for.
    pub keywords: Vec<String>,
}

/// Has a model choose tools for a task and write their arguments, in one request, once for all of the task's runs.
///
/// In the form that the model fills in, names are an enum, each tool has an object of its own schema, and no argument is required, so
/// that none has to be invented: what is missing is for the caller to ask for. The model sees the conversation. The choice is emitted as
/// [`TeamEvent::Decision`].
///
/// ```
/// use hanok_graph::{Context, END, Graph, START, Snapshot, StepError};
/// use hanok_model::{Exchange, ScriptedModel};
/// use hanok_state::{Message, State};
/// use hanok_team::{ToolOption, ToolPlanner};
/// use serde_json::json;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Question {
///     calls: String,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let weather = ToolOption {
///     name: "weather".into(),
///     description: "The weather of a city".into(),
///     schema: json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
///     reads: true,
/// };
/// let model = ScriptedModel::new([Exchange::says(
///     r#"{"keywords": ["Seoul"], "tools": ["weather"], "arguments": {"weather": {"city": "Seoul"}}, "reason": "", "confidence": 0.9}"#,
/// )]);
/// let planner = ToolPlanner::new("search", "Choose the tools for the question.", model, [weather]);
/// let choose = move |_: Snapshot<Question>, context: Context| {
///     let planner = planner.clone();
///     async move {
///         let plan = planner.plan(&context, "weather", vec![Message::user("Is it raining in Seoul?")], None).await?;
///         Ok::<_, StepError>(Question::update().calls(format!("{:?}", plan.calls)))
///     }
/// };
/// let graph = Graph::<Question>::builder("ask").node("choose", choose);
/// let graph = graph.edge(START, "choose").edge("choose", END).build()?;
/// let asked = graph.invoke(Question::update(), ()).await?.done()?;
/// assert_eq!(asked.calls, r#"[("weather", {"city": String("Seoul")})]"#);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ToolPlanner {
    agent: String,
    instructions: String,
    model: SharedModel,
    fallback: Option<SharedModel>,
    language: Language,
    options: Arc<[ToolOption]>,
    /// The form of a selection among all. To make one takes longer than all else that is done here.
    form: Structured<Selection>,
}

/// The selection as a model writes it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct Selection {
    keywords: Vec<String>,
    tools: Vec<String>,
    arguments: Map<String, Value>,
    reason: String,
    confidence: f64,
}

impl ToolOption {
    /// A tool.
    #[must_use]
    pub fn of(tool: &SharedTool) -> Self {
        let spec = tool.spec();
        Self {
            name: spec.name().to_owned(),
            description: spec.description().to_owned(),
            schema: spec.schema().clone(),
            reads: tool.effect() == Effect::Pure,
        }
    }
}

impl ToolPlanner {
    /// A planner of the team `agent`, in which `model` chooses among `options` as `instructions` say. The options are added to these.
    pub fn new(
        agent: impl Into<String>,
        instructions: impl Into<String>,
        model: impl ChatModel,
        options: impl IntoIterator<Item = ToolOption>,
    ) -> Self {
        let options: Arc<[ToolOption]> = options.into_iter().collect();
        Self {
            agent: agent.into(),
            instructions: instructions.into(),
            model: SharedModel::new(model),
            fallback: None,
            language: Language::default(),
            form: form(&options.iter().collect::<Vec<_>>()),
            options,
        }
    }

    /// Sets the language of the messages about a reply that does not fit. Default: English.
    #[must_use]
    pub fn language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// Sets a model of rules, which is asked the same where the model does not answer, and then chooses only what reads. Default: none,
    /// and nothing is chosen then.
    #[must_use]
    pub fn fallback(self, model: impl ChatModel) -> Self {
        Self { fallback: Some(SharedModel::new(model)), ..self }
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &[ToolOption] {
        &self.options
    }

    /// The tools for `task`, by the conversation in `messages`, whose last one asks; of `instead`, if a person chose.
    ///
    /// # Errors
    ///
    /// [`StepError`] when the run is asked to stop, or its budget is spent. A model that does not answer is none.
    pub async fn plan<C: Send + Sync + 'static>(
        &self,
        context: &Context<C>,
        task: &str,
        messages: Vec<Message>,
        instead: Option<&[String]>,
    ) -> Result<ToolPlan, StepError> {
        let is_meant = |option: &&ToolOption| instead.is_none_or(|it| it.contains(&option.name));
        let options: Vec<&ToolOption> = self.options.iter().filter(is_meant).collect();
        let call = context.call("model", self.model.name(), task);
        let form = if instead.is_some() { form(&options) } else { self.form.clone() };
        let form = form.language(self.language);
        let ask = async || {
            let request = self.request(&options, messages.clone());
            let cause = match form.ask(&self.model, request.clone(), &call).await {
                Ok(reply) => return Ok((reply.value, ChosenBy::Model { name: reply.model })),
                Err(StructuredError::Model(error)) if error.ends_the_run() => {
                    return Err(BoxError::from(error));
                }
                Err(error) => Chain(&error).to_string(),
            };
            let mut selection = match &self.fallback {
                Some(rules) => {
                    let reply = form.ask(rules, request, &call).await;
                    reply.map(|reply| reply.value).unwrap_or_default()
                }
                None => Selection::default(),
            };
            let reads = |name: &String| options.iter().any(|it| it.name == *name && it.reads);
            selection.tools.retain(reads);
            selection.confidence = FALLBACK;
            Ok((selection, ChosenBy::Fallback { cause }))
        };
        let (mut selection, mut by) = context.step("tool_selection", ask).await?;
        if let Some(instead) = instead {
            (selection.tools, selection.confidence, by) = (instead.to_vec(), 1.0, ChosenBy::Person);
        }
        let Selection { tools, mut arguments, reason, confidence, keywords } = selection;
        let is_option = |name: &String| options.iter().any(|option| option.name == *name);
        let mut before = BTreeSet::new();
        let named = tools.into_iter().filter(|name| before.insert(name.clone()));
        let (chosen, dropped): (Vec<String>, Vec<String>) = named.partition(is_option);
        let calls = chosen.iter().map(|name| {
            let arguments = match arguments.remove(name) {
                Some(Value::Object(arguments)) => arguments,
                _ => Map::new(),
            };
            (name.clone(), arguments)
        });
        let calls = calls.collect();
        let id = call.key().to_string();
        let names = self.options.iter().map(|option| ChoiceOption::new(option.name.as_str()));
        let mut choice = Choice::new(id, context.now(), ChoiceKind::Tools, &*self.agent, task)
            .options(names)
            .chosen(chosen)
            .reason(reason, confidence, by);
        choice.dropped = dropped;
        context.custom(&TeamEvent::Decision { choice: choice.clone() });
        Ok(ToolPlan { choice, calls, keywords })
    }

    fn request(&self, options: &[&ToolOption], messages: Vec<Message>) -> ChatRequest {
        let list = options.iter().map(|it| format!("\n- {}: {}", it.name, it.description.trim()));
        let system = format!("{}\n{}", self.instructions.trim(), list.collect::<String>());
        let messages = std::iter::once(Message::system(system)).chain(messages);
        ChatRequest::new(messages).temperature(0.1).max_tokens(LONGEST)
    }
}

/// The form of a selection among `options`.
fn form(options: &[&ToolOption]) -> Structured<Selection> {
    let names: Vec<_> = options.iter().map(|option| option.name.as_str()).collect();
    let mut definitions = Map::new();
    let arguments = options.iter().map(|option| {
        let mut schema = option.schema.clone();
        if let Some(schema) = schema.as_object_mut() {
            // References are to the root of a schema.
            if let Some(Value::Object(own)) = schema.remove("$defs") {
                definitions.extend(own);
            }
            schema.retain(|key, _| matches!(key.as_str(), "type" | "properties"));
        }
        (option.name.clone(), schema)
    });
    let arguments: Map<_, _> = arguments.collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "keywords": {
                "type": "array",
                "items": {"type": "string"},
                "description": "The words of the question that a search is for.",
            },
            "tools": {
                "type": "array",
                "items": {"type": "string", "enum": names},
                "description": "The tools to call.",
            },
            "arguments": {
                "type": "object",
                "properties": arguments,
                "description": "The arguments of each of these tools.",
            },
            "reason": {"type": "string", "description": "The reason, in one sentence."},
            "confidence": {"type": "number", "description": "How sure you are, from 0 to 1."},
        },
        "required": ["keywords", "tools", "arguments", "reason", "confidence"],
        "$defs": definitions,
    });
    Structured::of_schema("tool_selection", schema)
}
