//! Building an agent.

use std::{collections::BTreeSet, fmt, sync::Arc};

use hanok_checkpoint::SharedStore;
use hanok_core::Need;
use hanok_graph::{Doubt, Runtime};
use hanok_memory::Compactor;
use hanok_model::{ChatModel, SharedModel, SharedTool, Tool, ToolChoice};
use hanok_parse::{Language, Parser, Policy};
use hanok_telemetry::ContentCapture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{
    agent::ReactAgent,
    by_run::ByRun,
    catalogue::{Catalogue, SEARCH_TOOLS},
    error::{AgentBuildError, RegistryError, ToolFault},
    has_agent::HasAgent,
    hook::{
        Hook, SharedHook,
        lifted::{OfAgentState, WithoutServices},
    },
    intercept::{Interceptor, SharedInterceptor},
    large_results::{LargeResults, Shortening},
    protocol::Protocol,
    runner::ToolRunner,
    settings::{AgentParts, AgentSettings},
    state::AgentState,
    structured::final_answer::{AnswerBy, FinalAnswer},
    tool_index::ToolIndex,
    tools::{handoff_tool::HandoffTool, registry::ToolRegistry, tool_errors::ToolErrors},
};

/// The default number of model calls in a turn.
const MAX_ITERATIONS: u32 = 10;

/// The longest name of an agent, in characters.
const LONGEST_NAME: usize = 64;

/// Builds a [`ReactAgent`].
#[must_use]
pub struct ReactAgentBuilder<S: HasAgent = AgentState, C: Send + Sync + 'static = ()> {
    /// The settings so far. The system prompt, the parser and the registry are made of the others at the end.
    settings: AgentSettings,
    hooks: Vec<SharedHook<S, C>>,
    by_run: ByRun<S, C>,
    prompt: Option<String>,
    tools: Vec<SharedTool>,
    catalogue: Option<ToolIndex>,
    large_results: Option<LargeResults>,
    tool_errors: ToolErrors,
    runtime: Runtime,
}

impl<S: HasAgent, C: Send + Sync + 'static> fmt::Debug for ReactAgentBuilder<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReactAgentBuilder")
            .field("settings", &self.settings)
            .field("hooks", &self.hooks)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

impl ReactAgent {
    /// Begins an agent with its name, its purpose (in words for a supervisor's model), and its model.
    ///
    /// ```
    /// use hanok_agent::{AgentBuildError, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// let model = ScriptedModel::new([]);
    /// let agent = ReactAgent::builder("rules", "Knows the company's rules", model.clone()).build()?;
    /// assert_eq!((agent.name(), agent.tools().len()), ("rules", 0));
    ///
    /// let unnamed = ReactAgent::builder(" ", "", model).build();
    /// assert!(matches!(unnamed, Err(AgentBuildError::Name { .. })));
    /// # Ok::<(), AgentBuildError>(())
    /// ```
    pub fn builder(
        name: impl Into<String>,
        description: impl Into<String>,
        model: impl ChatModel,
    ) -> ReactAgentBuilder {
        ReactAgentBuilder::new(name.into(), description.into(), SharedModel::new(model))
    }
}

impl ReactAgentBuilder {
    fn new(name: String, description: String, model: SharedModel) -> Self {
        let settings = AgentSettings {
            name,
            description,
            model,
            runner: ToolRunner::default(),
            catalogue: None,
            memory: None,
            handoffs: Vec::new(),
            parser: Parser::default(),
            role: String::new(),
            system: String::new(),
            answer: None,
            ends_turn: Vec::new(),
            targets: Vec::new(),
            max_iterations: MAX_ITERATIONS,
            language: Language::default(),
            protocol: Protocol::default(),
            text_calls: None,
            keyed_labels: false,
            tool_choice: ToolChoice::default(),
            temperature: None,
            max_tokens: None,
        };
        Self {
            settings,
            hooks: Vec::new(),
            by_run: ByRun::default(),
            prompt: None,
            tools: Vec::new(),
            catalogue: None,
            large_results: None,
            tool_errors: ToolErrors::default(),
            runtime: Runtime::default(),
        }
    }
}

impl<S: HasAgent, C: Send + Sync + 'static> ReactAgentBuilder<S, C> {
    /// The same agent for another state or other services, as its hooks and what it does by the run are made fit for them.
    fn with<T: HasAgent, D: Send + Sync + 'static>(
        self,
        hook: impl Fn(SharedHook<S, C>) -> SharedHook<T, D>,
        by_run: impl FnOnce(ByRun<S, C>) -> ByRun<T, D>,
    ) -> ReactAgentBuilder<T, D> {
        ReactAgentBuilder {
            settings: self.settings,
            hooks: self.hooks.into_iter().map(hook).collect(),
            by_run: by_run(self.by_run),
            prompt: self.prompt,
            tools: self.tools,
            catalogue: self.catalogue,
            large_results: self.large_results,
            tool_errors: self.tool_errors,
            runtime: self.runtime,
        }
    }
}

impl<C: Send + Sync + 'static> ReactAgentBuilder<AgentState, C> {
    /// Gives the agent a state of one's own, which holds an [`AgentState`] and other fields. Its tools and hooks may read and
    /// write all of them. Default: the `AgentState` alone. Hooks that were added before stay.
    ///
    /// [`HasAgent`] shows one.
    pub fn state<S: HasAgent>(self) -> ReactAgentBuilder<S, C> {
        self.with(|hook| SharedHook::new(OfAgentState(hook)), ByRun::of_state)
    }
}

impl<S: HasAgent> ReactAgentBuilder<S, ()> {
    /// Gives the agent services: what a run is given, such as its user and its clients. Its tools and hooks see them. Default:
    /// none. Hooks that were added before stay.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_core::Call;
    /// use hanok_model::{Exchange, FnTool, ScriptedModel, ToolError};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// struct App {
    ///     user: String,
    /// }
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Nothing {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let orders = FnTool::new("orders", "The orders of the user", |_: Nothing, call: Call| async move {
    ///     let app = call.provided::<App>().ok_or_else(|| ToolError::failed("nobody is signed in"))?;
    ///     Ok(format!("{} has one order", app.user).into())
    /// })?;
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Action: orders\nAction Input: {}"),
    ///     Exchange::says("Final Answer: one").contains("Kim has one order"),
    /// ]);
    /// let agent = ReactAgent::builder("desk", "Knows orders", model).services::<App>().tool(orders).build()?;
    /// let app = App { user: "Kim".into() };
    /// assert_eq!(agent.run_with("My orders?", app).await?, "one");
    /// # Ok(())
    /// # }
    /// ```
    pub fn services<C: Send + Sync + 'static>(self) -> ReactAgentBuilder<S, C> {
        self.with(|hook| SharedHook::new(WithoutServices(hook)), ByRun::with_services)
    }
}

impl<S: HasAgent, C: Send + Sync + 'static> ReactAgentBuilder<S, C> {
    /// Adds a hook, behind those that were added before. Default: none.
    pub fn hook(mut self, hook: impl Hook<S, C>) -> Self {
        self.hooks.push(SharedHook::new(hook));
        self
    }

    /// Adds a hook under another name than its own: the second one of a type needs one.
    ///
    /// ```
    /// # use hanok_agent::{AgentBuildError, HasAgent, Hook, ReactAgent};
    /// # use hanok_model::ScriptedModel;
    /// #[derive(Debug)]
    /// struct Logs(&'static str);
    /// impl<S: HasAgent> Hook<S> for Logs {}
    ///
    /// let agent = || ReactAgent::builder("desk", "Answers", ScriptedModel::new([])).hook(Logs("turns.txt"));
    /// agent().hook_named("audit", Logs("audit.txt")).build()?;
    /// assert!(matches!(agent().hook(Logs("audit.txt")).build(), Err(AgentBuildError::HookTwice { .. })));
    /// # Ok::<(), AgentBuildError>(())
    /// ```
    pub fn hook_named(mut self, name: &str, hook: impl Hook<S, C>) -> Self {
        self.hooks.push(SharedHook::new(hook).named(name));
        self
    }

    /// Makes the role of the agent, the beginning of the system prompt, of the state and the services, each time that the model is
    /// asked. Default: [`prompt`](Self::prompt).
    pub fn prompt_by(mut self, prompt: impl Fn(&S, &C) -> String + Send + Sync + 'static) -> Self {
        self.by_run.prompt = Some(Arc::new(prompt));
        self
    }

    /// Chooses the model by the state and the services, each time that it is asked. Default: the one that the agent was built
    /// with.
    ///
    /// ```
    /// use hanok_agent::{AgentState, ReactAgent};
    /// use hanok_model::{Exchange, ScriptedModel, SharedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let small = ScriptedModel::new([Exchange::says("Final Answer: 2")]);
    /// let large = SharedModel::new(ScriptedModel::new([Exchange::says("Final Answer: 42")]));
    /// let agent = ReactAgent::builder("sums", "Calculates", small.clone())
    ///     .model_by(move |state: &AgentState, _: &()| match state.messages.len() {
    ///         0 | 1 => SharedModel::new(small.clone()),
    ///         _ => large.clone(),
    ///     })
    ///     .build()?;
    /// assert_eq!(agent.run("1 + 1?").await?, "2");
    /// # Ok(())
    /// # }
    /// ```
    pub fn model_by(
        mut self,
        model: impl Fn(&S, &C) -> SharedModel + Send + Sync + 'static,
    ) -> Self {
        self.by_run.model = Some(Arc::new(model));
        self
    }

    /// Adds tools that the state and the services decide on, behind the agent's own: it is asked before each call of the model,
    /// and again before the calls are made. Default: none.
    ///
    /// ```
    /// use hanok_agent::{AgentState, ReactAgent};
    /// use hanok_model::{FnTool, ScriptedModel, SharedTool, ToolSpec};
    /// # use serde_json::json;
    ///
    /// struct User {
    ///     is_admin: bool,
    /// }
    ///
    /// let erase = SharedTool::new(FnTool::untyped(ToolSpec::new("erase", "Erases", json!({}))?, |_, _| async { Ok("".into()) }));
    /// let agent = ReactAgent::builder("desk", "Answers", ScriptedModel::new([]))
    ///     .services::<User>()
    ///     .tools_by(move |_: &AgentState, user: &User| match user.is_admin {
    ///         true => vec![erase.clone()],
    ///         false => Vec::new(),
    ///     })
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tools_by(
        mut self,
        tools: impl Fn(&S, &C) -> Vec<SharedTool> + Send + Sync + 'static,
    ) -> Self {
        self.by_run.tools = Some(Arc::new(tools));
        self
    }

    /// Ends the turn with the result of a call of `tool`, which is the answer
    /// ([`StopReason::ToolResult`](crate::StopReason::ToolResult)). A call that failed does not end it. Default: the model reads
    /// every result.
    ///
    /// ```
    /// use hanok_agent::{ReactAgent, StopReason};
    /// use hanok_model::{Exchange, FnTool, ScriptedModel, ToolSpec};
    /// # use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let now = FnTool::untyped(ToolSpec::new("now", "The time", json!({}))?, |_, _| async { Ok("12:00".into()) });
    /// let model = ScriptedModel::new([Exchange::says("Action: now\nAction Input: {}")]);
    /// let agent = ReactAgent::builder("clock", "Knows the time", model).tool(now).ends_turn("now").build()?;
    /// let state = agent.graph().invoke(agent.ask("What time is it?"), ()).await?.done()?;
    /// assert_eq!((state.answer.as_deref(), state.stopped), (Some("12:00"), Some(StopReason::ToolResult)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn ends_turn(mut self, tool: impl Into<String>) -> Self {
        self.settings.ends_turn.push(tool.into());
        self
    }

    /// Declares where tools may let the run go on ([`ToolOutput::goto_parent`](hanok_model::ToolOutput::goto_parent),
    /// [`ToolOutput::end`](hanok_model::ToolOutput::end)): nodes of the graph that calls the agent, and
    /// [`END`](hanok_graph::END). The turn ends there with the tool's result as its answer. Default: nowhere.
    pub fn targets(mut self, targets: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.settings.targets.extend(targets.into_iter().map(Into::into));
        self
    }

    /// Makes the final answer a `T`: [`AgentState::value`] holds it, and [`AgentState::read_value`] reads it. By native calls the
    /// model gives it as a call of a tool, in the text protocol as JSON; [`answer_by`](Self::answer_by) chooses. An answer that
    /// does not fit is asked for once more, with what is wrong; then the turn ends with
    /// [`StopReason::BadAnswer`](crate::StopReason::BadAnswer). Default: a text.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{Exchange, ScriptedModel};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    /// struct Leave {
    ///     /// The days of a year.
    ///     days: u32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Final Answer: fifteen days"),
    ///     Exchange::says("Final Answer: {\"days\": 15}").contains("JSON"),
    /// ]);
    /// let agent = ReactAgent::builder("rules", "Knows the rules", model).answer::<Leave>().build()?;
    /// let state = agent.graph().invoke(agent.ask("How much leave?"), ()).await?.done()?;
    /// assert_eq!(state.read_value()?, Some(Leave { days: 15 }));
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer<T: JsonSchema + DeserializeOwned + 'static>(mut self) -> Self {
        self.settings.answer = Some(FinalAnswer::of::<T>());
        self
    }

    /// Sets the way in which the model gives a typed answer. Default: [`AnswerBy::Tool`].
    pub fn answer_by(mut self, by: AnswerBy) -> Self {
        self.settings.answer = self.settings.answer.map(|answer| answer.by(by));
        self
    }

    /// Sets the role of the agent: the beginning of the system prompt. Default: its description.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::ScriptedModel;
    ///
    /// // A supervisor reads the description; the agent's own model reads the prompt.
    /// let agent = ReactAgent::builder("rules", "Knows the company's rules", ScriptedModel::new([]))
    ///     .prompt("You answer by the rules and quote the article.")
    ///     .build()?;
    /// assert!(agent.system_prompt().starts_with("You answer by the rules"));
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn prompt(self, prompt: impl Into<String>) -> Self {
        Self { prompt: Some(prompt.into()), ..self }
    }

    /// Adds a tool. Default: none.
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.tools.push(SharedTool::new(tool));
        self
    }

    /// Adds tools, in this order.
    pub fn tools(mut self, tools: impl IntoIterator<Item = SharedTool>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Offers the model those of the agent's tools that fit what the user says, where there are more than a model should be shown:
    /// `index` lists tools and finds them, and the agent's [`tools`](Self::tools) of the same names, or its interceptors
    /// ([`Interceptor::unregistered`]) that [have tools](crate::Interceptor::has_tools), make the calls. Default: all tools are
    /// offered.
    ///
    /// - A tool that the index does not list is always offered, as are those of [`tools_by`](Self::tools_by).
    /// - Up to 24 tools of the index that can be called are all offered. Of more a turn begins with the pinned tools and those that
    ///   fit the user's last message, and the model may call `search_tools` for others.
    /// - A tool that the model calls without having been offered it is called like any other.
    /// - The offered tools ([`AgentState::bound_tools`]) only grow within a turn, and [`AgentProgress::ToolsBound`] says when. A
    ///   run that goes on in another process offers the same. A tool that has another definition there, or is gone, is not called:
    ///   the model reads so ([`FaultKind::ToolChanged`], [`FaultKind::ToolGone`]).
    ///
    /// [`Interceptor::unregistered`]: crate::Interceptor::unregistered
    /// [`AgentProgress::ToolsBound`]: crate::AgentProgress::ToolsBound
    /// [`FaultKind::ToolChanged`]: crate::FaultKind::ToolChanged
    /// [`FaultKind::ToolGone`]: crate::FaultKind::ToolGone
    ///
    /// ```
    /// use hanok_agent::{IndexedTool, ReactAgent, ToolIndex};
    /// use hanok_checkpoint::{InMemoryStore, SharedStore};
    /// use hanok_core::{Labels, Timestamp};
    /// use hanok_model::{Exchange, FnTool, ScriptedModel, SharedTool, Tool as _, ToolSpec};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tool = |name: String| -> Result<SharedTool, hanok_model::InvalidSpec> {
    ///     let spec = ToolSpec::new(&name, format!("Shows the {}", name.replace('_', " ")), json!({}))?;
    ///     Ok(SharedTool::new(FnTool::untyped(spec, |_, _| async { Ok("closed".into()) })))
    /// };
    /// let mut tools = (0..40).map(|n| tool(format!("report_{n}"))).collect::<Result<Vec<_>, _>>()?;
    /// tools.push(tool("opening_hours".into())?);
    ///
    /// let index = ToolIndex::new(SharedStore::new(InMemoryStore::new()), &Labels::new(["catalogue"])?)?;
    /// let listed: Vec<_> = tools.iter().map(|tool| IndexedTool::new(tool.spec().clone())).collect();
    /// index.update(&listed, Timestamp(0)).await?;
    ///
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Action: opening_hours\nAction Input: {}").contains("- opening_hours:").lacks("report_7"),
    ///     Exchange::says("Final Answer: It is closed."),
    /// ]);
    /// let agent = ReactAgent::builder("desk", "Answers", model).tools(tools).catalogue(index).build()?;
    /// assert_eq!(agent.run("What are the opening hours?").await?, "It is closed.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn catalogue(self, index: ToolIndex) -> Self {
        Self { catalogue: Some(index), ..self }
    }

    /// Keeps the conversation small before each call of the model, also within a turn: finished calls go, with their results, and
    /// never the user's last message, a call that waits, or results that the model has not read. Where a server says that a prompt
    /// does not fit, it is made smaller, and the model is asked once more. Default: everything is sent.
    ///
    /// The compactor's system prompt and tools are the agent's. Where its model is the agent's own, a request for a summary begins
    /// as the last prompt, which the server has read, unless much more stands in front than is summarised. Summaries are asked for through the
    /// agent's interceptors.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_memory::{Compaction, Compactor, KeepRecent, Trigger};
    /// use hanok_model::{Exchange, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Kim asked for the leave: 15 days."),
    ///     Exchange::says("Final Answer: 60 days").contains("Kim asked for the leave: 15 days.").lacks("Dear desk"),
    /// ]);
    /// let policy = Compaction::new().trigger(Trigger::Messages(3)).keep(KeepRecent::Messages(1));
    /// let agent = ReactAgent::builder("rules", "Knows the rules", model.clone())
    ///     .memory(Compactor::new(policy, model)?)
    ///     .build()?;
    /// let before = ["Dear desk, I am Kim. How many days of leave do I have in a year?".into(), "Sick leave?".into()];
    /// let input = agent.input(before, Some("Answer"));
    /// let state = agent.graph().invoke(input, ()).await?.done()?;
    /// assert_eq!((state.answer.as_deref(), state.memory.summaries().count()), (Some("60 days"), 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn memory(mut self, compactor: Compactor) -> Self {
        self.settings.memory = Some(compactor);
        self
    }

    /// Keeps results of tools that are too large for a prompt in the store of the run
    /// ([`App::remembering`](hanok_graph::App::remembering)): the model reads their beginning, their end, and a name by which the
    /// tool `read_result` reads the rest. They go with the thread, and forks have copies. Results of tools that
    /// [end the turn](Self::ends_turn) stay whole. Default: every result is shown, up to 256 KiB of it.
    ///
    /// ```
    /// use hanok_agent::{LargeResults, ReactAgent};
    /// use hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, SharedStore};
    /// use hanok_core::ThreadKey;
    /// use hanok_model::{Exchange, FnTool, ScriptedModel, ToolSpec};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let log = FnTool::untyped(ToolSpec::new("log", "The log of the day", json!({}))?, |_, _| async {
    ///     Ok(format!("{}17:02 disk full\n{}", "all is well\n".repeat(4_000), "all is well\n".repeat(4_000)).into())
    /// });
    /// let model = ScriptedModel::new([
    ///     Exchange::says("Action: log\nAction Input: {}"),
    ///     Exchange::says("Final Answer: I have to read on.").contains("read_result").lacks("disk full"),
    /// ]);
    /// let agent = ReactAgent::builder("ops", "Reads logs", model).tool(log).large_results(LargeResults::new()).build()?;
    /// let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    /// let app = app.remembering(SharedStore::new(InMemoryStore::new()));
    /// let state = app.thread(ThreadKey::named("t")?).invoke(agent.input([], Some("What happened?")), ()).await?.done()?;
    /// let result = state.messages.iter().find(|message| message.metadata().contains_key("stored"));
    /// assert!(result.is_some_and(|result| result.text().len() < 4_000));
    /// # Ok(())
    /// # }
    /// ```
    pub fn large_results(self, large_results: LargeResults) -> Self {
        Self { large_results: Some(large_results), ..self }
    }

    /// Never offers, finds or calls the tools of these names, wherever they come from. Default: none.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{FnTool, ScriptedModel, ToolSpec};
    /// # use serde_json::json;
    ///
    /// let erase = FnTool::untyped(ToolSpec::new("erase", "Erases", json!({}))?, |_, _| async { Ok("".into()) });
    /// let agent = ReactAgent::builder("desk", "Answers", ScriptedModel::new([])).tool(erase).deny(["erase"]).build()?;
    /// assert_eq!(agent.tools().len(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn deny<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.settings.runner = self.settings.runner.deny(tools.into_iter().map(Into::into));
        self
    }

    /// Lets the agent hand its turn over to another one. Default: it hands over to nobody.
    ///
    /// ```
    /// use hanok_agent::{HandoffTool, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// let agent = ReactAgent::builder("front", "Takes calls", ScriptedModel::new([]))
    ///     .handoff(HandoffTool::to("billing", "Knows invoices"))
    ///     .build()?;
    /// assert_eq!(agent.tools().next().map(|tool| tool.name()), Some("transfer_to_billing"));
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn handoff(mut self, handoff: HandoffTool) -> Self {
        self.settings.handoffs.push(handoff);
        self
    }

    /// Puts `interceptor` around the calls of the model and of the tools, within those that were added before. Default: none.
    ///
    /// ```
    /// use hanok_agent::{CallLimits, ReactAgent, Retrying};
    /// use hanok_model::ScriptedModel;
    ///
    /// // A retry counts as one call: the limit stands outside.
    /// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
    ///     .intercept(CallLimits::new().model_calls(8))
    ///     .intercept(Retrying::attempts(3))
    ///     .build()?;
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn intercept(mut self, interceptor: impl Interceptor) -> Self {
        self.settings.runner = self.settings.runner.intercept(interceptor);
        self
    }

    /// Sets the policy for a tool's own errors. Default: the model reads them.
    ///
    /// ```
    /// use hanok_agent::{FaultKind, Handling, ReactAgent, ToolErrors};
    /// use hanok_model::ScriptedModel;
    ///
    /// // A broken tool fails the run; a slow one is an observation.
    /// let errors = ToolErrors::propagate().for_kind(FaultKind::TimedOut, Handling::ToModel);
    /// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
    ///     .tool_errors(errors)
    ///     .build()?;
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn tool_errors(self, tool_errors: ToolErrors) -> Self {
        Self { tool_errors, ..self }
    }

    /// Limits the model calls of a turn. Default: 10.
    pub fn max_iterations(mut self, max_iterations: u32) -> Self {
        self.settings.max_iterations = max_iterations;
        self
    }

    /// Sets the language in which the agent speaks to its model. Default: English.
    ///
    /// ```
    /// use hanok_agent::{Language, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// let agent = ReactAgent::builder("rules", "규정을 안다", ScriptedModel::new([]))
    ///     .language(Language::Korean)
    ///     .build()?;
    /// assert!(agent.system_prompt().contains("## 답할 때"));
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn language(mut self, language: Language) -> Self {
        self.settings.language = language;
        self
    }

    /// Sets the form in which the model calls tools. Default: [`Protocol::Text`].
    ///
    /// ```
    /// use hanok_agent::{Protocol, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
    ///     .protocol(Protocol::Native)
    ///     .build()?;
    /// // The server is sent the tools; the prompt does not teach a form.
    /// assert_eq!(agent.system_prompt(), "Knows the rules");
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.settings.protocol = protocol;
        self
    }

    /// Has the text of a reply read for calls by [`Protocol::Native`], too: for servers that hand on what their model wrote. Default:
    /// it is not, and a model that writes a call as text is asked once to use the server's tool calls.
    ///
    /// By [`Bare::Asked`](hanok_parse::Bare) marked calls count, and JSON in a fence or on its own; by `Bare::Off` marked ones
    /// alone. A call without a mark that names a tool which is not known to read only waits for a person, whatever the approvals
    /// say, for text quotes such calls; where nobody can be asked it is refused. The form of [`Protocol::Text`] is the
    /// prompt's own, and follows the approvals.
    ///
    /// ```
    /// use hanok_agent::{Protocol, ReactAgent, parse::Policy};
    /// use hanok_model::ScriptedModel;
    ///
    /// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
    ///     .protocol(Protocol::Native)
    ///     .text_calls(Policy::default())
    ///     .build()?;
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn text_calls(mut self, policy: Policy) -> Self {
        self.settings.text_calls = Some(policy);
        self
    }

    /// Has the labels of calls carry a word that is drawn for each conversation (`Action[k7q2]:`), by [`Protocol::Text`]. Only they are
    /// read: a page that the model quotes cannot know the word. Default: plain labels.
    ///
    /// The end of the system prompt tells the word. A model that leaves it out is told so once; a plain label behind that calls no
    /// tool but those that are known to read only.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::ScriptedModel;
    ///
    /// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([])).keyed_labels();
    /// # agent.build()?;
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn keyed_labels(mut self) -> Self {
        self.settings.keyed_labels = true;
        self
    }

    /// Sets whether the model has to call a tool. Default: as it likes.
    ///
    /// A required tool is required of the first reply of a turn; [`ToolChoice::None`] holds for every reply. By
    /// [`Protocol::Native`] the server reads the choice; in both protocols the agent checks it. A model that does not call
    /// what it has to is asked once more, and then the turn ends ([`StopReason::NoToolCall`](crate::StopReason)). A call
    /// that is not allowed is not made, and its observation says so.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{ScriptedModel, ToolChoice};
    ///
    /// let search_first = ToolChoice::Tool("search".into());
    /// let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([]))
    ///     .tool_choice(search_first)
    ///     .build();
    /// assert_eq!(agent.unwrap_err().to_string(), "agent `rules` is to call `search` and has none");
    /// ```
    pub fn tool_choice(mut self, tool_choice: ToolChoice) -> Self {
        self.settings.tool_choice = tool_choice;
        self
    }

    /// Sets the sampling temperature, from 0. Default: the server's.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.settings.temperature = Some(temperature);
        self
    }

    /// Limits the tokens of one reply: small models repeat themselves without end. A call that is cut off
    /// there is not made. Default: the server's limit.
    pub fn max_tokens(mut self, max_tokens: u32) -> Self {
        self.settings.max_tokens = Some(max_tokens);
        self
    }

    /// Sets the handling of a call that must not be repeated and whose run was lost without a result. Default: a person is
    /// asked. With [`Doubt::GiveUp`] the model reads that nobody knows whether the call took effect.
    ///
    /// ```
    /// use hanok_agent::{Doubt, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// // Nobody watches this agent: its model reads that the call may have been made.
    /// let agent = ReactAgent::builder("night", "Works at night", ScriptedModel::new([]))
    ///     .in_doubt(Doubt::GiveUp)
    ///     .build()?;
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn in_doubt(mut self, in_doubt: Doubt) -> Self {
        self.settings.runner = self.settings.runner.in_doubt(in_doubt);
        self
    }

    /// Records the texts of model and tool calls in their spans. Default: they are not recorded.
    pub fn capture(mut self, capture: ContentCapture) -> Self {
        self.settings.runner = self.settings.runner.capture(capture);
        self
    }

    /// Sets the clock, the ids and the randomness of an agent that runs by itself. Default: the system's.
    pub fn runtime(self, runtime: Runtime) -> Self {
        Self { runtime, ..self }
    }

    /// The agent, checked.
    ///
    /// # Errors
    ///
    /// [`AgentBuildError`] when the name cannot be written, tools (those of its hand-offs too) have one name or a schema
    /// that cannot be used, two hooks have one name, it hands over to itself, is to call what it does not have, or the model may
    /// never be asked.
    pub fn build(self) -> Result<ReactAgent<S, C>, AgentBuildError> {
        let Self {
            mut settings,
            hooks,
            by_run,
            prompt,
            mut tools,
            catalogue,
            large_results,
            tool_errors,
            runtime,
        } = self;
        let (agent, language) = (settings.name.clone(), settings.language);
        if !is_name(&agent) {
            return Err(AgentBuildError::Name { name: agent });
        }
        if settings.max_iterations == 0 {
            return Err(AgentBuildError::NoIterations { agent });
        }
        let mut names = BTreeSet::new();
        if let Some(hook) = hooks.iter().find(|hook| !names.insert(hook.name())) {
            let name = hook.name().to_owned();
            return Err(AgentBuildError::HookTwice { agent, name });
        }
        if settings.handoffs.iter().any(|handoff| handoff.target() == agent) {
            return Err(AgentBuildError::HandoffToItself { agent });
        }
        for handoff in &settings.handoffs {
            match handoff.tool(language) {
                Ok(tool) => tools.push(tool),
                Err(source) => {
                    let to = handoff.target().to_owned();
                    return Err(AgentBuildError::Handoff { agent, to, source });
                }
            }
        }
        if let Some(large) = large_results {
            settings.runner.shortening = Shortening::new(large, &settings.ends_turn);
            let unnamed = |source| faulty(&agent, ToolFault::Spec { source });
            tools.push(large.tool(language).map_err(unnamed)?);
        }
        let tools = match ToolRegistry::new(tools) {
            Ok(tools) => tools.errors(tool_errors).without(&settings.runner.denied),
            Err(source) => return Err(AgentBuildError::Tools { agent, source }),
        };
        if let Some(required) = missing_tool(&settings.tool_choice, &tools) {
            return Err(AgentBuildError::ToolChoice { agent, required });
        }
        if let Some(tool) = settings.ends_turn.iter().find(|tool| tools.effect(tool).is_none()) {
            // One of a run is not known yet.
            if by_run.tools.is_none() {
                return Err(AgentBuildError::EndsTurn { agent, tool: tool.clone() });
            }
        }
        if let Some((tool, need)) = tools.needs().find(|(_, need)| !is_provided::<S, C>(*need)) {
            return Err(AgentBuildError::Need {
                tool: tool.to_owned(),
                agent,
                need,
                state: std::any::type_name::<S>(),
                services: std::any::type_name::<C>(),
            });
        }
        let protocol = settings.protocol;
        settings.answer = match settings.answer.map(|form| form.for_agent(protocol, language)) {
            Some(Err(source)) => return Err(AgentBuildError::Answer { agent, source }),
            Some(Ok(form)) => Some(form),
            None => None,
        };
        if let Err(source) = settings.beside_answer(&tools) {
            return Err(AgentBuildError::Tools { agent, source });
        }
        if let Some(index) = catalogue {
            settings.catalogue = Some(catalogue_of(&settings, index, &tools)?);
        }
        // Those of a catalogue are chosen for each turn.
        let shown: Vec<_> = match settings.catalogue {
            Some(_) => Vec::new(),
            None => tools.specs().cloned().collect(),
        };
        settings.role = prompt.unwrap_or_else(|| settings.description.clone());
        settings.system = settings.system_of(&settings.role, &shown);
        settings.parser = settings.parser_of(&shown);
        settings.runner = settings.runner.with_tools(tools).agent(&agent).language(language);
        ReactAgent::new(AgentParts { settings, hooks, by_run }, runtime)
    }
}

/// The error of one tool.
fn faulty(agent: &str, fault: ToolFault) -> AgentBuildError {
    let source = RegistryError { faults: vec![fault] };
    AgentBuildError::Tools { agent: agent.to_owned(), source }
}

/// The catalogue of an agent over `index`, whose tools are `tools`.
fn catalogue_of(
    settings: &AgentSettings,
    index: ToolIndex,
    tools: &ToolRegistry,
) -> Result<Catalogue, AgentBuildError> {
    let (agent, runner) = (&settings.name, &settings.runner);
    let others = runner.interceptors.iter().any(SharedInterceptor::has_tools);
    let denied = runner.denied.clone();
    let failed = |fault| faulty(agent, fault);
    let catalogue = Catalogue::new(agent, index, tools, others, denied, settings.language)
        .map_err(|source| failed(ToolFault::Spec { source }))?;
    match tools.spec(SEARCH_TOOLS) {
        Some(_) => Err(failed(ToolFault::TwiceNamed { tool: SEARCH_TOOLS.to_owned() })),
        None => Ok(catalogue),
    }
}

/// True for a part of the run that an agent with this state and these services gives its tools. Whether a run has a store is
/// known when it begins.
fn is_provided<S: HasAgent, C: 'static>(need: Need) -> bool {
    let parts =
        [Need::of::<S>(), Need::of::<AgentState>(), Need::of::<C>(), Need::of::<SharedStore>()];
    parts.contains(&need)
}

/// The tool that `choice` requires and the agent lacks.
fn missing_tool(choice: &ToolChoice, tools: &ToolRegistry) -> Option<String> {
    match choice {
        ToolChoice::Required => (tools.specs().len() == 0).then(|| "any tool".to_owned()),
        ToolChoice::Tool(name) => tools.effect(name).is_none().then(|| format!("`{name}`")),
        _ => None,
    }
}

/// True for a name that a model can write on a line of its own and that is not the end's.
fn is_name(name: &str) -> bool {
    let length = name.chars().count();
    (1..=LONGEST_NAME).contains(&length)
        && name.trim() == name
        && name != hanok_graph::END
        && !name.chars().any(char::is_control)
}
