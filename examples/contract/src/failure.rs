//! Why a node failed.

use hanok_agent::{AgentError, StructuredError, ToolCallError};
use hanok_graph::StepError;
use hanok_model::ModelError;
use hanok_retrieval::RetrievalError;
use hanok_state::ReduceError;
use thiserror::Error;

/// Why a node failed.
#[derive(Debug, Error)]
pub(crate) enum NodeFailure {
    /// The model did not answer.
    #[error("the model did not answer")]
    Model(#[source] ModelError),
    /// A step could not be kept.
    #[error("a step could not be kept")]
    Step(#[source] StepError),
    /// A tool ended the turn.
    #[error("a tool ended the turn")]
    Tool(#[from] ToolCallError),
    /// The contract could not be searched.
    #[error("the contract could not be searched")]
    Search(#[from] RetrievalError),
    /// The planner failed.
    #[error(transparent)]
    Planner(#[from] AgentError),
    /// What the planner said could not be taken over.
    #[error("what the planner said could not be taken over")]
    Reduce(#[from] ReduceError),
}

impl From<StepError> for NodeFailure {
    fn from(error: StepError) -> Self {
        let StepError::Failed(cause) = error else { return Self::Step(error) };
        match cause.downcast::<ModelError>() {
            Ok(error) => Self::Model(*error),
            Err(cause) => match cause.downcast::<StructuredError>() {
                Ok(error) => match *error {
                    StructuredError::Model(error) => Self::Model(error),
                    error => Self::Step(StepError::Failed(error.into())),
                },
                Err(cause) => Self::Step(StepError::Failed(cause)),
            },
        }
    }
}
