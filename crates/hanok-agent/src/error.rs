//! Why an agent could not be built, or could not go on.

use std::fmt;

use hanok_core::BoxError;
use hanok_graph::{BuildError, StepError};
use hanok_model::{InvalidSpec, ModelError, ToolError};
use thiserror::Error;

/// Why an agent could not go on. Its node fails with it, and the thread can be resumed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The model did not answer.
    #[error("the model of agent `{agent}` did not answer")]
    Model {
        /// The agent.
        agent: String,
        /// Why.
        source: ModelError,
    },
    /// A tool waits for a person's answer, or was asked to stop. The run ends here, and goes on later.
    #[error("tool `{tool}` of agent `{agent}` has no result now")]
    Tool {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
        /// Why.
        source: ToolError,
    },
    /// A tool failed, and the agent's [`ToolErrors`](crate::ToolErrors) propagate it. B112
    #[error("call `{call}` of tool `{tool}` failed, and agent `{agent}` does not go on without it")]
    ToolFailed {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
        /// Names the call.
        call: String,
        /// Why.
        source: ToolError,
    },
    /// What was done could not be kept.
    #[error("a step of agent `{agent}` could not be kept")]
    Step {
        /// The agent.
        agent: String,
        /// Why.
        source: StepError,
    },
}

/// The faults of a registry's tools, all at once.
#[derive(Debug, Error)]
pub struct RegistryError {
    /// What is wrong.
    pub faults: Vec<ToolFault>,
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tools cannot be registered")?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n- {fault}"))
    }
}

/// What is wrong with one tool.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolFault {
    /// Two tools have one name.
    #[error("two tools are named `{tool}`")]
    TwiceNamed {
        /// The name.
        tool: String,
    },
    /// The schema of the arguments is none, or refers to what is not in it.
    #[error("the schema of tool `{tool}` cannot be used: {source}")]
    Schema {
        /// The tool.
        tool: String,
        /// Why.
        source: BoxError,
    },
}

/// Why an agent could not be built.
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
    /// Its tools cannot be registered.
    #[error("agent `{agent}` cannot be built")]
    Tools {
        /// The agent.
        agent: String,
        /// What is wrong with them.
        source: RegistryError,
    },
    /// One of its hand-offs cannot be shown to a model.
    #[error("agent `{agent}` cannot hand over to `{to}`; name the tool with `HandoffTool::named`")]
    Handoff {
        /// The agent.
        agent: String,
        /// The other one.
        to: String,
        /// Why not.
        source: InvalidSpec,
    },
    /// It hands over to itself.
    #[error("agent `{agent}` hands over to itself")]
    HandoffToItself {
        /// The agent.
        agent: String,
    },
    /// It is to call a tool that it does not have.
    #[error("agent `{agent}` is to call {required} and has none")]
    ToolChoice {
        /// The agent.
        agent: String,
        /// What it is to call.
        required: String,
    },
    /// Its graph cannot be built.
    #[error(transparent)]
    Graph(#[from] BuildError),
}
