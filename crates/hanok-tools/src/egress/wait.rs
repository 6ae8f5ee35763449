//! Waiting no longer than allowed.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use hanok_core::Call;

use super::{EgressError, Waited};

/// What `work` gives, unless the call is stopped or `total` or the call's own time is over before.
pub(super) async fn bounded<T>(
    call: &Call,
    total: Duration,
    work: impl Future<Output = Result<T, EgressError>>,
) -> Result<T, EgressError> {
    let (after, waited) = match call.time_left() {
        Some(left) if left < total => (left, Waited::Deadline),
        _ => (total, Waited::Total),
    };
    let mut stopped = call.stop().cancelled();
    let mut work = pin!(within(call, after, waited, work));
    poll_fn(|cx| {
        if Pin::new(&mut stopped).poll(cx).is_ready() {
            return Poll::Ready(Err(EgressError::Cancelled));
        }
        work.as_mut().poll(cx)
    })
    .await
}

/// What `work` gives, unless it takes longer than `after`.
pub(super) async fn within<T>(
    call: &Call,
    after: Duration,
    waited: Waited,
    work: impl Future<Output = Result<T, EgressError>>,
) -> Result<T, EgressError> {
    let mut work = pin!(work);
    let mut sleep = call.clock().sleep(after);
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(given) => Poll::Ready(given),
        Poll::Pending => {
            sleep.as_mut().poll(cx).map(|()| Err(EgressError::TimedOut { waited, after }))
        }
    })
    .await
}
