//! Waiting no longer than allowed.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use hanok_core::Call;

/// What became of waiting.
pub(crate) enum Waiting<T> {
    Done(T),
    Late,
    Stopped,
}

/// What `work` gives, unless it takes longer than `after` or the call is stopped.
pub(crate) async fn bounded<T>(
    call: &Call,
    after: Duration,
    work: impl Future<Output = T>,
) -> Waiting<T> {
    let mut stopped = call.stop().cancelled();
    let mut work = pin!(within(call, after, work));
    poll_fn(|cx| {
        if Pin::new(&mut stopped).poll(cx).is_ready() {
            return Poll::Ready(Waiting::Stopped);
        }
        work.as_mut().poll(cx).map(|given| given.map_or(Waiting::Late, Waiting::Done))
    })
    .await
}

/// What `work` gives, unless it takes longer than `after`.
pub(crate) async fn within<T>(
    call: &Call,
    after: Duration,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = pin!(work);
    let mut sleep = call.clock().sleep(after);
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(given) => Poll::Ready(Some(given)),
        Poll::Pending => sleep.as_mut().poll(cx).map(|()| None),
    })
    .await
}
