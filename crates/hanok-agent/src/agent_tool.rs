//! An agent as a tool of another one.

use std::{
    any::{Any, TypeId},
    fmt,
    sync::Arc,
    time::Duration,
};

use hanok_core::{Call, Effect, Need};
use hanok_graph::{Outcome, RunGraph};
use hanok_model::{InvalidSpec, Tool, ToolError, ToolOutput, ToolSpec};
use hanok_parse::Language;
use hanok_state::{Arguments, Json};
use serde::Deserialize;
use serde_json::json;

use crate::{agent::ReactAgent, has_agent::HasAgent, prompt, state::AgentState, state::StopReason};

/// An agent as a tool of another one: it is given a task, works on it with a model, tools and an answer of its own, and its
/// answer is the result of the call. The other agent sees that, and nothing of the way there.
///
/// It runs as a part of the other's turn: in its log and its events, by its budget and until its deadline, with its services. It
/// may ask a person, and several may work at once. A turn that goes on after a crash goes on within the sub-agent; so its call is
/// never in doubt, and the effects of its own tools are as theirs say. It has no time-out of its own, unless it is
/// [given one](Self::timeout). A typed answer ([`answer`](crate::ReactAgentBuilder::answer)) is the result's data.
///
/// ```
/// use hanok_agent::{AgentTool, ReactAgent};
/// use hanok_model::{Exchange, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([
///     Exchange::says("Action: rules\nAction Input: {\"task\": \"How much leave is there?\"}"),
///     Exchange::says("Final Answer: 15 days").contains("How much leave is there?"),
///     Exchange::says("Final Answer: You have 15 days.").contains("15 days"),
/// ]);
/// let rules = ReactAgent::builder("rules", "Looks rules up", model.clone()).build()?;
/// let desk = ReactAgent::builder("desk", "Answers", model).tool(AgentTool::new(rules)?).build()?;
/// assert_eq!(desk.run("My leave?").await?, "You have 15 days.");
/// # Ok(())
/// # }
/// ```
pub struct AgentTool<S: HasAgent = AgentState, C: Send + Sync + 'static = ()> {
    agent: ReactAgent<S, C>,
    spec: ToolSpec,
    timeout: Duration,
}

impl<S: HasAgent, C: Send + Sync + 'static> AgentTool<S, C> {
    /// A tool under the agent's name, that says what the agent is for.
    ///
    /// # Errors
    ///
    /// [`InvalidSpec`] when a tool cannot have the agent's name: [`named`](Self::named) gives it another.
    pub fn new(agent: ReactAgent<S, C>) -> Result<Self, InvalidSpec> {
        let name = agent.name().to_owned();
        Self::named(agent, name)
    }

    /// A tool under another name.
    ///
    /// # Errors
    ///
    /// [`InvalidSpec`] when it is no name of a tool.
    pub fn named(agent: ReactAgent<S, C>, name: impl Into<String>) -> Result<Self, InvalidSpec> {
        let task = json!({
            "type": "string",
            "minLength": 1,
            "description": prompt::handoff_task(agent.language()),
        });
        let schema = json!({
            "type": "object",
            "properties": { "task": task },
            "required": ["task"],
            "additionalProperties": false,
        });
        let spec = ToolSpec::new(name, agent.description(), schema)?;
        Ok(Self { agent, spec, timeout: Duration::MAX })
    }

    /// Limits the time of a call. Default: that of the turn.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// The services of the run.
    fn services(call: &Call) -> Result<Arc<C>, ToolError> {
        if let Some(services) = call.provided::<C>() {
            return Ok(services);
        }
        let none: Arc<dyn Any + Send + Sync> = Arc::new(());
        none.downcast().map_err(|_other| ToolError::NotProvided { need: Need::of::<C>() })
    }

    fn unanswered(&self, reason: StopReason) -> ToolError {
        let (agent, reason) = (self.agent.name(), reason.code());
        ToolError::failed(match self.agent.language() {
            Language::Korean => format!("`{agent}` 에이전트가 답을 내지 못했습니다({reason})."),
            _ => format!("the agent `{agent}` has no answer: its turn ended with `{reason}`"),
        })
    }
}

#[derive(Deserialize)]
struct Task {
    task: String,
}

impl<S: HasAgent, C: Send + Sync + 'static> Tool for AgentTool<S, C> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// A call that is made again goes on where it was.
    fn effect(&self) -> Effect {
        Effect::Idempotent
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn needs(&self) -> Vec<Need> {
        match TypeId::of::<C>() == TypeId::of::<()>() {
            true => Vec::new(),
            false => vec![Need::of::<C>()],
        }
    }

    async fn run(&self, arguments: &Arguments, call: &Call) -> Result<ToolOutput, ToolError> {
        let Task { task } = arguments.decode().map_err(ToolError::arguments)?;
        let services = Self::services(call)?;
        let input = self.agent.input([], Some(&task));
        let outcome = call.run(self.agent.graph(), input, services).await;
        let state = match outcome.map_err(ToolError::failed)? {
            Outcome::Done(state) => state.into_agent(),
            Outcome::LimitReached { .. } => {
                return Err(self.unanswered(StopReason::MaxIterations));
            }
            other => {
                return Err(ToolError::failed(other.done().err().map_or_else(
                    || "the agent has not ended".to_owned(),
                    |unfinished| unfinished.to_string(),
                )));
            }
        };
        let reason = state.stopped.unwrap_or(StopReason::EmptyReply);
        let Some(answer) = state.answer else { return Err(self.unanswered(reason)) };
        let output = ToolOutput::new(answer);
        Ok(match state.value {
            Some(Json(value)) => output.data(value),
            None => output,
        })
    }
}

impl<S: HasAgent, C: Send + Sync + 'static> fmt::Debug for AgentTool<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentTool").field("agent", &self.agent).finish_non_exhaustive()
    }
}

impl<S: HasAgent, C: Send + Sync + 'static> Clone for AgentTool<S, C> {
    fn clone(&self) -> Self {
        let Self { agent, spec, timeout } = self;
        Self { agent: agent.clone(), spec: spec.clone(), timeout: *timeout }
    }
}
