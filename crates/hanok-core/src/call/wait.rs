//! Waiting no longer than allowed.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use super::Call;

/// What became of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting<T> {
    /// It came to its end.
    Done(T),
    /// It took longer than allowed.
    Late,
    /// The call was stopped before.
    Stopped,
}

impl Call {
    /// What `work` gives, unless it takes longer than `after` by the call's clock, or the call is stopped.
    pub async fn bounded<T>(&self, after: Duration, work: impl Future<Output = T>) -> Waiting<T> {
        let mut stopped = self.stop().cancelled();
        let mut work = pin!(self.timeout(after, work));
        poll_fn(|cx| {
            if Pin::new(&mut stopped).poll(cx).is_ready() {
                return Poll::Ready(Waiting::Stopped);
            }
            work.as_mut().poll(cx).map(|given| given.map_or(Waiting::Late, Waiting::Done))
        })
        .await
    }

    /// What `work` gives, unless it takes longer than `after` by the call's clock.
    pub async fn timeout<T>(&self, after: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        let mut sleep = self.clock().sleep(after);
        poll_fn(|cx| match work.as_mut().poll(cx) {
            Poll::Ready(given) => Poll::Ready(Some(given)),
            Poll::Pending => sleep.as_mut().poll(cx).map(|()| None),
        })
        .await
    }
}
