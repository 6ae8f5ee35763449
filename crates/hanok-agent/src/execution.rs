//! Makes one call, whatever the tool does.

use std::{panic::AssertUnwindSafe, pin::pin, time::Duration};

use futures::{
    FutureExt,
    future::{Either, select},
};
use hanok_core::{AskError, Call, Spent};
use hanok_model::{SharedTool, Tool, ToolError, ToolOutput};
use hanok_state::Arguments;

/// What came of a call.
#[derive(Debug)]
pub(crate) enum Ran {
    Gave(ToolOutput),
    Failed(ToolError),
    TimedOut(Duration),
    Panicked,
}

/// Makes the call and counts it. A panic stays inside it, and it never takes longer than the tool may. P18
///
/// What is ready at the same moment is taken in this order: the result, the request to stop, the time-out.
pub(crate) async fn run(tool: &SharedTool, arguments: &Arguments, context: &Call) -> Ran {
    let after = tool.timeout();
    let clock = context.clock().clone();
    let limited = context.clone().deadline(clock.now().plus(after));
    let patience = limited.time_left().map_or(after, |left| left.min(after));
    context.spend().add(Spent { tool_calls: 1, ..Spent::default() });
    let work = pin!(AssertUnwindSafe(tool.run(arguments, &limited)).catch_unwind());
    let stopped = select(context.stop().cancelled(), clock.sleep(patience));
    match select(work, stopped).await {
        Either::Left((Ok(Ok(output)), _)) => Ran::Gave(output),
        Either::Left((Ok(Err(ToolError::TimedOut { after })), _)) => Ran::TimedOut(after),
        Either::Left((Ok(Err(error)), _)) => Ran::Failed(error),
        Either::Left((Err(_panic), _)) => Ran::Panicked,
        Either::Right((Either::Left(_), _)) => Ran::Failed(ToolError::Cancelled),
        Either::Right((Either::Right(_), _)) => Ran::TimedOut(patience),
    }
}

/// Whether the run has to stop for `error`, which is then no observation.
pub(crate) fn suspends(error: &ToolError) -> bool {
    match error {
        ToolError::Cancelled => true,
        ToolError::Waiting(error) => !matches!(error, AskError::Nobody { .. }),
        _ => false,
    }
}
