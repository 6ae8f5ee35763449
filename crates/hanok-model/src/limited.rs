//! Holds the call of a tool to its time, whoever makes it.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
    time::Duration,
};

use hanok_core::Call;

use crate::{ToolError, ToolOutput};

/// Does `work` with `call`, for at most `timeout`. A panic stays inside it.
///
/// What is ready at the same moment is taken in this order: the result, the request to stop, the time-out.
pub(crate) async fn limited<F: Future<Output = Result<ToolOutput, ToolError>>>(
    timeout: Duration,
    call: &Call,
    work: impl FnOnce(Call) -> F,
) -> Result<ToolOutput, ToolError> {
    let within = call.clone().within(timeout);
    let left = call.time_left().map_or(timeout, |left| left.min(timeout));
    // Of limits in each other that end at one time the outer one speaks, and all say its whole time.
    let after = within.limit().unwrap_or(left);
    let mut work = pin!(async move { work(within).await });
    let (mut stop, mut time) = (pin!(call.stop().cancelled()), call.clock().sleep(left));
    poll_fn(|context| {
        let step = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        match step {
            Ok(Poll::Ready(result)) => return Poll::Ready(result),
            Err(_) => return Poll::Ready(Err(ToolError::Panicked)),
            Ok(Poll::Pending) => {}
        }
        if stop.as_mut().poll(context).is_ready() {
            return Poll::Ready(Err(ToolError::Cancelled));
        }
        time.as_mut().poll(context).map(|()| Err(ToolError::TimedOut { after }))
    })
    .await
}
