//! An agent that plans, acts and evaluates.

use std::sync::Arc;

use hanok_graph::{Context, END, Graph, Runtime, START, Snapshot};
use hanok_model::{ChatModel, SharedModel, SharedTool, Tool};
use hanok_parse::Language;
use hanok_state::{Message, State};

use super::{
    model_task::ModelTask,
    plan_loop::PlanLoop,
    plan_state::{PlanState, PlanStateUpdate},
    planning::Planning,
};
use crate::{
    agent::ReactAgent,
    error::{AgentBuildError, NoAnswer},
    intercept::Interceptor,
    protocol::Protocol,
    runner::ToolRunner,
    state::StopReason,
    tools::{registry::ToolRegistry, tool_errors::ToolErrors},
};

/// An agent that plans, acts and evaluates: its model proposes all calls of a round at once, they are made, and it judges whether
/// their results suffice, until they do or the rounds are over; then it answers by them. Clones are the same agent.
///
/// ```text
/// START -> planner -> executor | parallel_executor -> evaluator -> planner -> … -> respond -> END
/// ```
///
/// Next to a [`ReactAgent`], which decides after each result, it asks its model less often and makes calls that only read at
/// once. It is a [`PlanLoop`] over a [`PlanTask`](crate::PlanTask); a graph with rules of its own for planning, judging or
/// answering takes those.
///
/// ```
/// use hanok_agent::PlanAgent;
/// use hanok_core::Effect;
/// use hanok_model::{Exchange, FnTool, ScriptedModel, ToolSpec};
/// use hanok_state::ToolCall;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let spec = ToolSpec::new("price", "The price of a thing", json!({"properties": {"of": {"type": "string"}}}))?;
/// let price = FnTool::untyped(spec, |with, _| async move { Ok(format!("{with} costs 3").into()) });
/// let of = |id: &str, of: &str| ToolCall::new(id, "price", json!({ "of": of }).to_string());
/// let model = ScriptedModel::new([
///     Exchange::calls([of("1", "tea"), of("2", "cake")]),
///     Exchange::says(r#"{"sufficient": true, "missing": [], "reason": "both prices are there"}"#),
///     Exchange::says("Tea and cake are 6.").contains("cake"),
/// ]);
/// let agent = PlanAgent::builder("shop", "Knows prices", model).tool(price.effect(Effect::Pure)).build()?;
/// assert_eq!(agent.run("What are tea and cake?").await?, "Tea and cake are 6.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct PlanAgent {
    name: String,
    description: String,
    graph: Graph<PlanState>,
}

impl PlanAgent {
    /// An agent `name` whose `model` plans, judges and answers.
    pub fn builder(
        name: impl Into<String>,
        description: impl Into<String>,
        model: impl ChatModel,
    ) -> PlanAgentBuilder {
        PlanAgentBuilder {
            name: name.into(),
            description: description.into(),
            model: SharedModel::new(model),
            prompt: None,
            tools: Vec::new(),
            tool_errors: ToolErrors::default(),
            runner: ToolRunner::default(),
            protocol: Protocol::Native,
            language: Language::default(),
            rounds: 4,
            runtime: Runtime::default(),
        }
    }

    /// The agent's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The agent's purpose.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The agent as a graph: run it, give it a checkpointer, or call it from a node of another one.
    pub fn graph(&self) -> &Graph<PlanState> {
        &self.graph
    }

    /// The input of a turn in which a user says `text`. It resets everything of an earlier turn but the messages.
    pub fn ask(&self, text: impl Into<String>) -> PlanStateUpdate {
        PlanState::update()
            .message(Message::user(text.into()))
            .planning(Planning::default())
            .results(Vec::new())
            .answer(None)
            .stopped(None)
    }

    /// Asks the agent `text` in a conversation of its own, which is not stored, and returns its answer.
    ///
    /// # Errors
    ///
    /// As those of [`ReactAgent::run`].
    pub async fn run(&self, text: impl Into<String>) -> Result<String, NoAnswer> {
        let state = self.graph.invoke(self.ask(text), ()).await?.done()?;
        let reason = state.stopped.unwrap_or(StopReason::EmptyReply);
        state.answer.ok_or_else(|| NoAnswer::Stopped { agent: self.name.clone(), reason })
    }
}

/// Builds a [`PlanAgent`].
#[derive(Debug)]
#[must_use]
pub struct PlanAgentBuilder {
    name: String,
    description: String,
    model: SharedModel,
    prompt: Option<String>,
    tools: Vec<SharedTool>,
    tool_errors: ToolErrors,
    runner: ToolRunner,
    protocol: Protocol,
    language: Language,
    rounds: u32,
    runtime: Runtime,
}

impl PlanAgentBuilder {
    /// Sets the role of the agent: the beginning of its prompts. Default: its description.
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

    /// Sets the policy for a tool's own errors. Default: the evaluator reads them.
    pub fn tool_errors(self, tool_errors: ToolErrors) -> Self {
        Self { tool_errors, ..self }
    }

    /// Puts `interceptor` around the calls of tools, within those that were added before. Around the model stands an
    /// [`Intercepted`](crate::Intercepted) one. Default: none.
    pub fn intercept(self, interceptor: impl Interceptor) -> Self {
        Self { runner: self.runner.intercept(interceptor), ..self }
    }

    /// Sets the form in which the planner calls tools. Default: [`Protocol::Native`].
    pub fn protocol(self, protocol: Protocol) -> Self {
        Self { protocol, ..self }
    }

    /// Sets the language in which the agent speaks to its model. Default: English.
    pub fn language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// Limits the plans of a turn, at least 1. Default: 4.
    pub fn max_rounds(self, rounds: u32) -> Self {
        Self { rounds, ..self }
    }

    /// Sets the clock, the ids and the randomness of an agent that runs by itself. Default: the system's.
    pub fn runtime(self, runtime: Runtime) -> Self {
        Self { runtime, ..self }
    }

    /// The agent, checked.
    ///
    /// # Errors
    ///
    /// As those of [`ReactAgentBuilder::build`](crate::ReactAgentBuilder::build).
    pub fn build(self) -> Result<PlanAgent, AgentBuildError> {
        let Self { name, description, model, tools, language, .. } = self;
        let role = self.prompt.unwrap_or_else(|| description.clone());
        let planner = ReactAgent::builder(&name, &description, model.clone())
            .prompt(ModelTask::planner_prompt(&role, language))
            .tools(tools.iter().cloned())
            .protocol(self.protocol)
            .language(language)
            .build()?;
        let tools = match ToolRegistry::new(tools) {
            Ok(tools) => tools.errors(self.tool_errors),
            Err(source) => return Err(AgentBuildError::Tools { agent: name, source }),
        };
        let runner = self.runner.with_tools(tools).agent(&name).language(language);
        let task = ModelTask { planner, model, role, language };
        let rounds = Arc::new(PlanLoop::of_rounds(task, runner, self.rounds));
        let answering = rounds.clone();
        let respond = move |state: Snapshot<PlanState>, context: Context| {
            let rounds = answering.clone();
            async move { rounds.task().answer(&state, &context).await }
        };
        let graph = Graph::<PlanState>::builder(&name).edge(START, "planner");
        let graph = rounds.add_to(graph, "respond").node("respond", respond).edge("respond", END);
        // Three super-steps a round, and one that answers.
        let steps = self.rounds.saturating_mul(3).saturating_add(2).max(100);
        let graph = graph.recursion_limit(steps).agent().runtime(self.runtime).build()?;
        Ok(PlanAgent { name, description, graph })
    }
}
