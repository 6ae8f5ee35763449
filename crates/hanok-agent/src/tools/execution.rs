//! Makes one call, whatever the tool does.

use std::{panic::AssertUnwindSafe, pin::pin};

use futures::{
    FutureExt,
    future::{Either, select},
};
use hanok_core::{AskError, Call, Charge, Spent};
use hanok_model::{SharedTool, Tool, ToolError, ToolOutput};
use hanok_state::Arguments;

/// Makes the call and counts it. A panic stays inside it, and it never takes longer than the tool may.
///
/// What is ready at the same moment is taken in this order: the result, the request to stop, the time-out.
pub(crate) async fn run_tool(
    tool: &SharedTool,
    arguments: &Arguments,
    context: &Call,
) -> Result<ToolOutput, ToolError> {
    let after = tool.timeout();
    let after = context.time_left().map_or(after, |left| left.min(after));
    let clock = context.clock();
    let limited = context.clone().deadline(clock.now().plus(after));
    context.admit(Charge::Tool).map_err(|over| ToolError::OverBudget(over.0))?;
    context.spend().add(Spent { tool_calls: 1, ..Spent::default() });
    let work = pin!(AssertUnwindSafe(tool.run(arguments, &limited)).catch_unwind());
    let stopped = select(context.stop().cancelled(), clock.sleep(after));
    match select(work, stopped).await {
        Either::Left((made, _)) => made.unwrap_or(Err(ToolError::Panicked)),
        Either::Right((Either::Left(_), _)) => Err(ToolError::Cancelled),
        Either::Right((Either::Right(_), _)) => Err(ToolError::TimedOut { after }),
    }
}

/// Does `work` with the same call, and counts by itself what that spends.
pub(crate) async fn metered<T, F: Future<Output = T>>(
    call: &Call,
    work: impl FnOnce(Call) -> F,
) -> (T, Spent) {
    let meter = call.spend().child();
    let done = work(call.clone().meter(meter.clone())).await;
    if let Some(limit) = meter.refused() {
        call.spend().refuse(limit);
    }
    (done, meter.spent())
}

/// True for an error of a tool that was not called at all.
pub(crate) fn was_not_made(error: &ToolError) -> bool {
    matches!(
        error,
        ToolError::OverBudget(_) | ToolError::Unavailable { .. } | ToolError::PoolExhausted { .. }
    )
}

/// True for an error that stops the run, and so is no observation.
pub(crate) fn suspends(error: &ToolError) -> bool {
    match error {
        ToolError::Cancelled | ToolError::OverBudget(_) => true,
        ToolError::Waiting(error) => !matches!(error, AskError::Nobody { .. }),
        _ => false,
    }
}
