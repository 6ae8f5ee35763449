//! Appends that are completed even if nobody waits for them.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use hanok_core::{BoxFuture, Spawner};

/// Work that is completed even if nobody waits for it any more: then a task continues it.
///
/// A store may store a dropped append some time later. Nobody may read or append in between, so `held` is held until the
/// work is over.
pub(super) struct Underway<'a, T: Send + 'static, H: Send + Unpin + 'static> {
    work: Option<BoxFuture<'static, T>>,
    held: Option<H>,
    spawner: &'a dyn Spawner,
}

impl<'a, T: Send + 'static, H: Send + Unpin + 'static> Underway<'a, T, H> {
    pub(super) fn new(work: BoxFuture<'static, T>, held: H, spawner: &'a dyn Spawner) -> Self {
        Self { work: Some(work), held: Some(held), spawner }
    }

    /// Returns the held value, once the work is over.
    pub(super) fn into_held(mut self) -> Option<H> {
        self.held.take()
    }
}

impl<T: Send + 'static, H: Send + Unpin + 'static> Future for Underway<'_, T, H> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let outcome = ready!(work.as_mut().poll(context));
        self.work = None;
        Poll::Ready(outcome)
    }
}

impl<T: Send + 'static, H: Send + Unpin + 'static> Drop for Underway<'_, T, H> {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else { return };
        let held = self.held.take();
        let rest = async move {
            // Whoever appends next asks the store what became of it.
            drop(work.await);
            drop(held);
        };
        self.spawner.spawn(Box::pin(rest)).detach();
    }
}
