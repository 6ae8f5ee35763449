//! Waiting no longer than allowed.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use hanok_core::Call;
use hanok_model::{ModelError, Wait};

/// What `work` gives, unless the call is stopped or `total` or the call's own time is over before.
pub(crate) async fn bounded<T>(
    call: &Call,
    total: Duration,
    work: impl Future<Output = Result<T, ModelError>>,
) -> Result<T, ModelError> {
    let (after, what) = match call.time_left() {
        Some(left) if left < total => (left, Wait::Deadline),
        _ => (total, Wait::Total),
    };
    let late = ModelError::TimedOut { what, after };
    if after.is_zero() {
        return Err(late);
    }
    let mut stopped = call.stop().cancelled();
    let mut work = pin!(within(call, after, late, work));
    poll_fn(|cx| {
        if Pin::new(&mut stopped).poll(cx).is_ready() {
            return Poll::Ready(Err(ModelError::Cancelled));
        }
        work.as_mut().poll(cx)
    })
    .await
}

/// What `work` gives, or `late` when it takes longer than `after`.
pub(crate) async fn within<T>(
    call: &Call,
    after: Duration,
    late: ModelError,
    work: impl Future<Output = Result<T, ModelError>>,
) -> Result<T, ModelError> {
    let mut work = pin!(work);
    let mut sleep = call.clock().sleep(after);
    let mut late = Some(late);
    poll_fn(|cx| {
        if let Poll::Ready(given) = work.as_mut().poll(cx) {
            return Poll::Ready(given);
        }
        match sleep.as_mut().poll(cx) {
            Poll::Ready(()) => late.take().map_or(Poll::Pending, |late| Poll::Ready(Err(late))),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
