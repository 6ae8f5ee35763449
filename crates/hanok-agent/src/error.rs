//! The errors of building and of running an agent.

use std::fmt;

use hanok_core::{BoxError, Need};
use hanok_graph::{BuildError, RunError, StepError, Unfinished};
use hanok_model::{InvalidSpec, ModelError, ToolError};
use hanok_state::ReduceError;
use thiserror::Error;

use crate::{hook::HookPoint, state::StopReason, tool_index::ToolIndexError};

/// The error of a node that cannot go on. The thread can be resumed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The model did not answer.
    #[error("the model of agent `{agent}` did not answer")]
    Model {
        /// The agent.
        agent: String,
        /// The cause.
        source: ModelError,
    },
    /// A tool waits for a person's answer, or was asked to stop. The run ends here, and goes on later.
    #[error("tool `{tool}` of agent `{agent}` has no result now")]
    Tool {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
        /// The cause.
        source: ToolError,
    },
    /// A tool failed, and the agent's [`ToolErrors`](crate::ToolErrors) propagate it.
    #[error("call `{call}` of tool `{tool}` failed, and agent `{agent}` does not go on without it")]
    ToolFailed {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
        /// Names the call.
        call: String,
        /// The cause.
        source: ToolError,
    },
    /// A hook failed.
    #[error("hook `{hook}` of agent `{agent}` failed at `{}`", point.code())]
    Hook {
        /// The agent.
        agent: String,
        /// The hook.
        hook: String,
        /// Where it ran.
        point: HookPoint,
        /// The cause.
        source: BoxError,
    },
    /// What a hook wrote does not fit the state.
    #[error("a write to the state of agent `{agent}` cannot be merged")]
    Write {
        /// The agent.
        agent: String,
        /// The cause.
        source: ReduceError,
    },
    /// The tools of this run cannot be used.
    #[error("the tools of agent `{agent}` for this run cannot be used")]
    Tools {
        /// The agent.
        agent: String,
        /// The faults.
        source: RegistryError,
    },
    /// The catalogue of the agent's tools cannot be read.
    #[error("the catalogue of agent `{agent}` cannot be read")]
    Catalogue {
        /// The agent.
        agent: String,
        /// The cause.
        source: ToolIndexError,
    },
    /// A tool goes on at a node that the agent has not declared.
    #[error(
        "tool `{tool}` of agent `{agent}` goes on at `{target}`, which the agent does not declare; there are {declared}"
    )]
    Target {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
        /// The node.
        target: String,
        /// The declared ones.
        declared: String,
    },
    /// A memoised step could not be stored.
    #[error("a step of agent `{agent}` could not be kept")]
    Step {
        /// The agent.
        agent: String,
        /// The cause.
        source: StepError,
    },
}

/// The error of a call of a [`ToolRunner`](crate::ToolRunner) that has no result. Hand it on: the run can be resumed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolCallError {
    /// The call waits for a person's answer, was asked to stop, or passes the run's budget. The run ends here, and goes on later.
    #[error("tool `{tool}` has no result now")]
    Suspended {
        /// The tool.
        tool: String,
        /// The cause.
        source: ToolError,
    },
    /// The tool failed, and the registry's [`ToolErrors`](crate::ToolErrors) propagate it.
    #[error("call `{call}` of tool `{tool}` failed")]
    Failed {
        /// The tool.
        tool: String,
        /// Names the call.
        call: String,
        /// The cause.
        source: ToolError,
    },
    /// The memoised step of the call could not be stored, or two calls of one node have one id.
    #[error("{0}")]
    Step(#[source] StepError),
}

impl ToolCallError {
    /// The same as an error of `agent`.
    pub(crate) fn of_agent(self, agent: &str) -> AgentError {
        let agent = agent.to_owned();
        match self {
            Self::Suspended { tool, source } => AgentError::Tool { agent, tool, source },
            Self::Failed { tool, call, source } => {
                AgentError::ToolFailed { agent, tool, call, source }
            }
            Self::Step(source) => AgentError::Step { agent, source },
        }
    }
}

/// The error of [`ReactAgent::run`](crate::ReactAgent::run): there is no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NoAnswer {
    /// The run failed.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The run ended before the agent was done, as at a limit of the run. On a thread it can be continued.
    #[error("{0}")]
    Unfinished(#[from] Unfinished),
    /// The turn ended without an answer.
    #[error("agent `{agent}` has no answer: its turn ended with `{}`", reason.code())]
    Stopped {
        /// The agent.
        agent: String,
        /// The reason why its turn ended.
        reason: StopReason,
    },
}

/// The faults of a registry's tools, all at once.
#[derive(Debug, Error)]
pub struct RegistryError {
    /// The faults.
    pub faults: Vec<ToolFault>,
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tools cannot be registered")?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n- {fault}"))
    }
}

/// A fault of one tool.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolFault {
    /// Two tools have one name.
    #[error("two tools are named `{tool}`")]
    TwiceNamed {
        /// The name.
        tool: String,
    },
    /// A tool of the agent's own cannot be shown to a model.
    #[error("{source}")]
    Spec {
        /// The cause.
        source: InvalidSpec,
    },
    /// The schema of the arguments is none, or refers to what is not in it.
    #[error("the schema of tool `{tool}` cannot be used: {source}")]
    Schema {
        /// The tool.
        tool: String,
        /// The cause.
        source: BoxError,
    },
}

/// The reason for which an agent could not be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AgentBuildError {
    /// The name cannot be written in a delegation.
    #[error(
        "an agent cannot be named {name:?}: it takes 1 to 64 characters without control characters, and not `__end__`"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The model may never be asked.
    #[error("agent `{agent}` may ask its model 0 times; it takes at least 1")]
    NoIterations {
        /// The agent.
        agent: String,
    },
    /// Two of its hooks have one name, by which a later run finds what they gave back.
    #[error(
        "two hooks of agent `{agent}` are named `{name}`; add one of them with `hook_named`, or write its `Hook::name`"
    )]
    HookTwice {
        /// The agent.
        agent: String,
        /// The name of the hooks.
        name: String,
    },
    /// Its tools cannot be registered.
    #[error("agent `{agent}` cannot be built")]
    Tools {
        /// The agent.
        agent: String,
        /// The faults of the tools.
        source: RegistryError,
    },
    /// One of its hand-offs cannot be shown to a model.
    #[error("agent `{agent}` cannot hand over to `{to}`; name the tool with `HandoffTool::named`")]
    Handoff {
        /// The agent.
        agent: String,
        /// The other one.
        to: String,
        /// The cause.
        source: InvalidSpec,
    },
    /// It hands over to itself.
    #[error("agent `{agent}` hands over to itself")]
    HandoffToItself {
        /// The agent.
        agent: String,
    },
    /// A tool needs a part of the run that the agent has not.
    #[error(
        "tool `{tool}` of agent `{agent}` needs {need}; its state is {state}, its services are {services}"
    )]
    Need {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
        /// The part.
        need: Need,
        /// The type of the agent's state.
        state: &'static str,
        /// The type of its services.
        services: &'static str,
    },
    /// A tool whose result ends the turn is not there.
    #[error("agent `{agent}` ends its turn with `{tool}`, and has no such tool")]
    EndsTurn {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
    },
    /// The form of the final answer cannot be used.
    #[error("agent `{agent}` cannot give a final answer of this form")]
    Answer {
        /// The agent.
        agent: String,
        /// The cause.
        source: BoxError,
    },
    /// It has to call a tool that it lacks.
    #[error("agent `{agent}` is to call {required} and has none")]
    ToolChoice {
        /// The agent.
        agent: String,
        /// The tool that it has to call.
        required: String,
    },
    /// Its graph cannot be built.
    #[error("{0}")]
    Graph(#[from] BuildError),
}
