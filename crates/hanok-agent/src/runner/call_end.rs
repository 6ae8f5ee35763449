//! The end of a call, as observers and callers are given it.

use hanok_core::BoxError;
use hanok_graph::{NotMade, StepError, ToolEvent};
use hanok_model::ToolError;
use hanok_state::ToolCall;

use crate::{
    error::ToolCallError,
    observation::{Observation, Observed},
    tools::execution::suspends,
};

/// What observers are told of the end of a call.
pub(super) fn ended(made: &Result<Observed, ToolError>) -> ToolEvent {
    match made {
        Ok(Observed { observation: Observation { text, fault: None, .. }, .. }) => {
            ToolEvent::Ended { text: text.clone() }
        }
        Ok(Observed { observation, .. }) => ToolEvent::Failed { error: observation.text.clone() },
        Err(error) => ToolEvent::Failed { error: error.report() },
    }
}

/// The error of a call whose step failed.
pub(super) fn failed(call: &ToolCall, error: StepError) -> ToolCallError {
    let tool = call.name.clone();
    match error {
        StepError::Failed(cause) => match tool_error(cause) {
            Ok(source) if suspends(&source) => ToolCallError::Suspended { tool, source },
            Ok(source) => ToolCallError::Failed { tool, call: call.id.clone(), source },
            Err(cause) => ToolCallError::Step(StepError::Failed(cause)),
        },
        source => ToolCallError::Step(source),
    }
}

/// The tool's own error that a step failed with.
fn tool_error(cause: BoxError) -> Result<ToolError, BoxError> {
    let cause = match cause.downcast::<NotMade>() {
        Ok(not_made) => not_made.0,
        Err(cause) => cause,
    };
    cause.downcast::<ToolError>().map(|error| *error)
}
