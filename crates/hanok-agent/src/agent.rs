//! The ReAct agent.

use std::{fmt, sync::Arc};

use hanok_graph::{Context, END, Graph, NodeExt, Runtime, START, Snapshot};
use hanok_model::{DataMark, ToolSpec};
use hanok_parse::Language;
use hanok_state::{Message, State};

use crate::{
    conversation,
    error::{AgentBuildError, AgentError, NoAnswer},
    handoff::Handoff,
    has_agent::HasAgent,
    nodes::{call_model::call_model, execute_tool::execute_tool, talk::compact},
    prompt,
    protocol::Protocol,
    settings::AgentParts,
    state::{AgentState, AgentStateUpdate, StopReason},
    tools::handoff_tool::HandoffTool,
    usage::TurnUsage,
};

/// An agent that reasons and acts (Yao et al. 2022, arXiv:2210.03629): it asks its model, makes the calls that the model
/// asks for, shows it their results, and so on until there is an answer. Clones are the same agent.
///
/// ```text
/// START -> call_model -> execute_tool -> call_model -> … -> END
/// ```
///
/// A call that hands over to another agent ([`HandoffTool`]) ends the turn when the calls beside it are made. The caller of
/// the agent reads [`AgentState::handoff`].
///
/// The model and the tools belong to the agent. By default its state is an [`AgentState`] and it needs no services;
/// [`state`](crate::ReactAgentBuilder::state) and [`services`](crate::ReactAgentBuilder::services) give it others, which its
/// tools and [hooks](crate::Hook) see. Each model call and each tool call is a
/// memoised step: a resumed run makes no finished call again. A call of a tool that is
/// [`AtMostOnce`](hanok_core::Effect::AtMostOnce) and whose run died is not made again either: the next run ends
/// [`InDoubt`](hanok_graph::Outcome::InDoubt) until a person says whether it was made, or goes on as
/// [`in_doubt`](crate::ReactAgentBuilder::in_doubt) says.
///
/// ```
/// use hanok_agent::{ReactAgent, StopReason};
/// use hanok_model::{Exchange, FnTool, ScriptedModel};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Search {
///     /// What to look for.
///     query: String,
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let search = FnTool::new("search", "Searches the rules", |search: Search, _call| async move {
///     Ok(format!("{}: 연 15일 (인사규정)", search.query).into())
/// })?;
/// let model = ScriptedModel::new([
///     Exchange::says("Thought: 규정을 찾는다\nAction: search\nAction Input: {\"query\": \"연차\"}"),
///     Exchange::says("Final Answer: 연차는 15일입니다.").contains("연 15일 (인사규정)"),
/// ]);
/// let agent = ReactAgent::builder("rules", "Knows the company's rules", model).tool(search).build()?;
///
/// let state = agent.graph().invoke(agent.ask("연차는 며칠?"), ()).await?.done()?;
/// assert_eq!(state.answer.as_deref(), Some("연차는 15일입니다."));
/// assert_eq!((state.iteration, state.stopped), (2, Some(StopReason::Answered)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ReactAgent<S: HasAgent = AgentState, C: Send + Sync + 'static = ()> {
    parts: Arc<AgentParts<S, C>>,
    graph: Graph<S, C>,
}

impl<S: HasAgent, C: Send + Sync + 'static> fmt::Debug for ReactAgent<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReactAgent").field("parts", &self.parts).finish_non_exhaustive()
    }
}

impl<S: HasAgent, C: Send + Sync + 'static> Clone for ReactAgent<S, C> {
    fn clone(&self) -> Self {
        Self { parts: self.parts.clone(), graph: self.graph.clone() }
    }
}

impl<S: HasAgent, C: Send + Sync + 'static> ReactAgent<S, C> {
    pub(crate) fn new(parts: AgentParts<S, C>, runtime: Runtime) -> Result<Self, AgentBuildError> {
        let parts = Arc::new(parts);
        let settings = &parts.settings;
        let (model, tools) = (parts.clone(), parts.clone());
        let call_model = move |state: Snapshot<S>, context: Context<C>| {
            let parts = model.clone();
            async move { call_model(&parts, state, context).await }
        };
        let execute_tool = move |state: Snapshot<S>, context: Context<C>| {
            let parts = tools.clone();
            async move { execute_tool(&parts, state, context).await }
        };
        // Hooks jump: their targets are declared as those of commands, and an agent without any has none.
        let jumps: &[&str] = match parts.hooks.is_empty() {
            true => &[],
            false => &["call_model", "execute_tool"],
        };
        // Two super-steps for each time the model is asked, and one that says that it may not be asked again.
        let steps = settings.max_iterations.saturating_mul(2).saturating_add(2);
        let graph = Graph::<S, C>::builder(&settings.name)
            .node("call_model", call_model.goto(jumps))
            .node("execute_tool", execute_tool.goto(jumps))
            .edge(START, "call_model")
            .branch(
                "call_model",
                |state: &S| next_after_reply(state.agent()),
                ["execute_tool", END],
            )
            .recursion_limit(steps.max(100))
            .agent()
            .runtime(runtime);
        // An agent whose turn nothing else can end ends with its model's words alone.
        let graph = match settings.ends_by_model_alone() && parts.hooks.is_empty() {
            true => graph.edge("execute_tool", "call_model"),
            false => graph.branch(
                "execute_tool",
                |state: &S| next_after_calls(state.agent()),
                ["call_model", END],
            ),
        };
        let graph = graph.build()?;
        Ok(Self { graph, parts })
    }

    /// The agent's name, by which a supervisor delegates to it.
    pub fn name(&self) -> &str {
        &self.parts.settings.name
    }

    /// The agent's purpose, in words for a supervisor's model.
    pub fn description(&self) -> &str {
        &self.parts.settings.description
    }

    /// The tools that it may call.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolSpec> {
        self.parts.settings.runner.tools.specs()
    }

    /// The agents that it may hand over to, and how.
    pub fn handoffs(&self) -> impl ExactSizeIterator<Item = &HandoffTool> {
        self.parts.settings.handoffs.iter()
    }

    /// The system prompt, as its model reads it. The tools of an agent with a catalogue are those of a turn, and are not in it.
    pub fn system_prompt(&self) -> &str {
        &self.parts.settings.system
    }

    /// The agent as a graph: run it, give it a checkpointer, or call it from a node of another one.
    pub fn graph(&self) -> &Graph<S, C> {
        &self.graph
    }

    /// The node `call_model`, for a graph of one's own that holds an [`AgentState`]: give it that state, with what else the
    /// model is to read among the messages, and hand the update on. Where [`ReactAgent::next`] says so, the tools follow.
    ///
    /// ```
    /// use hanok_agent::{AgentState, ReactAgent};
    /// use hanok_graph::{Context, END, Graph, START, Snapshot};
    /// # use hanok_model::{Exchange, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let model = ScriptedModel::new([Exchange::says("Final Answer: 15일")]);
    /// let agent = ReactAgent::builder("rules", "Knows the rules", model).build()?;
    /// let (asks, input) = (agent.clone(), agent.ask("연차는 며칠?"));
    /// let graph = Graph::<AgentState>::builder("own")
    ///     .node("think", move |state: Snapshot<AgentState>, context: Context| {
    ///         let agent = asks.clone();
    ///         async move { agent.call_model(state, context).await }
    ///     })
    ///     .edge(START, "think")
    ///     .edge("think", END)
    ///     .build()?;
    /// let state = graph.invoke(input, ()).await?.done()?;
    /// assert_eq!((ReactAgent::next(&state), state.answer.as_deref()), (END, Some("15일")));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A [hook](crate::Hook) that jumps is not followed here: the own graph goes where it likes.
    ///
    /// # Errors
    ///
    /// [`AgentError`] when the model did not answer, or its reply could not be stored.
    pub async fn call_model(
        &self,
        state: Snapshot<S>,
        context: Context<C>,
    ) -> Result<S::Update, AgentError> {
        Ok(call_model(&self.parts, state, context).await?.into_update())
    }

    /// The conversation made smaller, where the agent's [memory](crate::ReactAgentBuilder::memory) says so: a node before
    /// [`call_model`](Self::call_model) in a graph of one's own that is to show it. `call_model` does the same where nobody did it
    /// before.
    ///
    /// ```
    /// use hanok_agent::{AgentState, ReactAgent};
    /// use hanok_graph::{Context, END, Graph, START, Snapshot};
    /// use hanok_memory::{Compaction, Compactor};
    /// # use hanok_model::ScriptedModel;
    ///
    /// # let model = ScriptedModel::new([]);
    /// let memory = Compactor::new(Compaction::new(), model.clone())?;
    /// let agent = ReactAgent::builder("rules", "Knows the rules", model).memory(memory).build()?;
    /// let graph = Graph::<AgentState>::builder("memory_only")
    ///     .node("memory", move |state: Snapshot<AgentState>, context: Context| {
    ///         let agent = agent.clone();
    ///         async move { agent.compact(state, context).await }
    ///     })
    ///     .edge(START, "memory")
    ///     .edge("memory", END)
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`AgentError`] when the run is asked to stop, or a summary could not be stored. One that could not be made is no error.
    pub async fn compact(
        &self,
        state: Snapshot<S>,
        context: Context<C>,
    ) -> Result<S::Update, AgentError> {
        compact(&self.parts, state, context).await
    }

    /// The node `execute_tool`, for a graph of one's own.
    ///
    /// ```
    /// use hanok_agent::{AgentState, ReactAgent};
    /// use hanok_graph::{Context, END, Graph, START, Snapshot};
    /// # use hanok_model::ScriptedModel;
    ///
    /// # let agent = ReactAgent::builder("rules", "Knows the rules", ScriptedModel::new([])).build()?;
    /// // The calls wait for the tools here, and the own graph goes where it likes behind them.
    /// let graph = Graph::<AgentState>::builder("tools_only")
    ///     .node("tools", move |state: Snapshot<AgentState>, context: Context| {
    ///         let agent = agent.clone();
    ///         async move { agent.execute_tool(state, context).await }
    ///     })
    ///     .edge(START, "tools")
    ///     .edge("tools", END)
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`AgentError`] when a tool waits for a person or fails the run, or a result could not be stored.
    pub async fn execute_tool(
        &self,
        state: Snapshot<S>,
        context: Context<C>,
    ) -> Result<S::Update, AgentError> {
        Ok(execute_tool(&self.parts, state, context).await?.into_update())
    }

    /// The language in which it speaks to its model.
    pub fn language(&self) -> Language {
        self.parts.settings.language
    }

    /// The protocol of its model's calls.
    pub fn protocol(&self) -> Protocol {
        self.parts.settings.protocol
    }

    /// The input of a turn that is handed over to it: its part of the conversation ([`Handoff::hand_over`]), and the task.
    ///
    /// ```
    /// use hanok_agent::{DataMark, Handoff, ReactAgent};
    /// use hanok_model::ScriptedModel;
    ///
    /// let billing = ReactAgent::builder("billing", "Knows invoices", ScriptedModel::new([])).build()?;
    /// let handoff = Handoff::new("billing").task("refund the order");
    /// let input = billing.take_over(&handoff, ["Where is my money?".into()], &DataMark::from_code("00ff"));
    /// assert!(!hanok_state::StateUpdate::is_empty(&input));
    /// # Ok::<(), hanok_agent::AgentBuildError>(())
    /// ```
    pub fn take_over(
        &self,
        handoff: &Handoff,
        messages: impl IntoIterator<Item = Message>,
        mark: &DataMark,
    ) -> S::Update {
        let task = handoff.message(self.language(), mark);
        self.input(messages.into_iter().chain(task), None)
    }

    /// Asks the agent `text` as [`run`](ReactAgent::run) does, with the services of the run.
    ///
    /// # Errors
    ///
    /// As those of [`run`](ReactAgent::run).
    pub async fn run_with(&self, text: impl Into<String>, services: C) -> Result<String, NoAnswer> {
        let state = self.graph().invoke(self.ask(text), services).await?.done()?.into_agent();
        let reason = state.stopped.unwrap_or(StopReason::EmptyReply);
        state.answer.ok_or_else(|| NoAnswer::Stopped { agent: self.name().to_owned(), reason })
    }

    /// The input of a turn in which a user says `text`.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{Exchange, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Exchange::says("Final Answer: 15일").contains("연차는 며칠?")]);
    /// let agent = ReactAgent::builder("rules", "Knows the rules", model).build()?;
    /// let state = agent.graph().invoke(agent.ask("연차는 며칠?"), ()).await?.done()?;
    /// assert_eq!(state.answer.as_deref(), Some("15일"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn ask(&self, text: impl Into<String>) -> S::Update {
        self.input([Message::user(text.into())], None)
    }

    /// The input of a turn: what was said, and the task that a supervisor gives, if it does.
    ///
    /// It resets everything of an earlier turn but the messages.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{Exchange, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // A supervisor's task comes behind the conversation.
    /// let model = ScriptedModel::new([Exchange::says("Final Answer: 15일").contains("Task: look it up")]);
    /// let agent = ReactAgent::builder("rules", "Knows the rules", model).build()?;
    /// let input = agent.input(["How much leave do I have?".into()], Some("look it up"));
    /// assert_eq!(agent.graph().invoke(input, ()).await?.done()?.iteration, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn input(
        &self,
        messages: impl IntoIterator<Item = Message>,
        task: Option<&str>,
    ) -> S::Update {
        let language = self.language();
        let task = task.map(|task| conversation::task(prompt::task(task, language)));
        let update = messages
            .into_iter()
            .chain(task)
            .fold(AgentState::update(), AgentStateUpdate::message)
            .iteration(0)
            .max_iterations(self.parts.settings.max_iterations)
            .agent_name(self.name())
            .pending_tool_calls(Vec::new())
            .faults(Vec::new())
            .should_stop(false)
            .answer(None)
            .value(None)
            .stopped(None)
            .handoff(None)
            .usage(TurnUsage::default());
        let update = match self.parts.settings.catalogue {
            Some(_) => update.bound_tools(Vec::new()),
            None => update,
        };
        S::wrap(update)
    }
}

impl<S: HasAgent> ReactAgent<S, ()> {
    /// Asks the agent `text` in a conversation of its own, which is not stored, and returns its answer.
    ///
    /// ```
    /// use hanok_agent::ReactAgent;
    /// use hanok_model::{Exchange, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = ScriptedModel::new([Exchange::says("Final Answer: 15 days")]);
    /// let agent = ReactAgent::builder("rules", "Knows the rules", model).build()?;
    /// assert_eq!(agent.run("How much leave do I have?").await?, "15 days");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`NoAnswer::Run`] when the model did not answer, [`NoAnswer::Unfinished`] when the run reaches a limit,
    /// [`NoAnswer::Stopped`] when the turn ends without an answer. Nobody can be asked: a call that needs an approval is
    /// not made, and the model reads why.
    pub async fn run(&self, text: impl Into<String>) -> Result<String, NoAnswer> {
        self.run_with(text, ()).await
    }
}

impl ReactAgent {
    /// The node after the last reply: `execute_tool` while something waits for the tools, else [`END`].
    pub fn next<S: HasAgent>(state: &S) -> &'static str {
        next_after_reply(state.agent())
    }
}

/// The node after a reply of the model: the tools while something waits for them, else the end.
fn next_after_reply(state: &AgentState) -> &'static str {
    let waits = !state.pending_tool_calls.is_empty() || !state.faults.is_empty();
    if waits && !state.should_stop { "execute_tool" } else { END }
}

/// The node after the calls: the model, unless one of the calls ended the turn.
fn next_after_calls(state: &AgentState) -> &'static str {
    if state.should_stop { END } else { "call_model" }
}

#[cfg(test)]
mod tests {
    use hanok_graph::END;

    use super::next_after_reply;
    use crate::{AgentState, Fault, FaultKind};

    #[test]
    fn a_turn_next_after_calls_while_something_waits_and_nothing_stops_it() {
        let call = hanok_state::ToolCall {
            id: "1".into(),
            name: "find".into(),
            arguments: Default::default(),
        };
        let fault = Fault { call_id: None, kind: FaultKind::Unreadable, text: "?".into() };
        for (calls, faults, should_stop, want) in [
            (vec![], vec![], false, END),
            (vec![call.clone()], vec![], false, "execute_tool"),
            (vec![], vec![fault.clone()], false, "execute_tool"),
            (vec![call], vec![fault], true, END),
        ] {
            let state = AgentState {
                pending_tool_calls: calls,
                faults,
                should_stop,
                ..AgentState::default()
            };
            assert_eq!(next_after_reply(&state), want, "{state:?}");
        }
    }
}
