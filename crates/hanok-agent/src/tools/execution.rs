//! Makes and counts one call.

use hanok_core::{AskError, Call, Charge, Spent};
use hanok_model::{SharedTool, Tool, ToolError, ToolOutput};
use hanok_state::Arguments;

use super::graphs;

/// Makes the call, if the budget of the run has it, and counts it. The tool holds it to its time.
pub(crate) async fn run_tool(
    tool: &SharedTool,
    arguments: &Arguments,
    context: &Call,
) -> Result<ToolOutput, ToolError> {
    context.admit(Charge::Tool).map_err(|over| ToolError::OverBudget(over.0))?;
    context.spend().add(Spent { tool_calls: 1, ..Spent::default() });
    tool.run(arguments, context).await.map_err(graphs::of_run)
}

/// True for an error of a tool that was not called at all.
pub(crate) fn was_not_made(error: &ToolError) -> bool {
    matches!(
        error,
        ToolError::OverBudget(_)
            | ToolError::Unavailable { .. }
            | ToolError::PoolExhausted { .. }
            | ToolError::NotProvided { .. }
    )
}

/// True for an error that stops the run, and so is no observation.
pub(crate) fn suspends(error: &ToolError) -> bool {
    match error {
        ToolError::Cancelled | ToolError::OverBudget(_) | ToolError::Suspended(_) => true,
        ToolError::Waiting(error) => !matches!(error, AskError::Nobody { .. }),
        _ => false,
    }
}
