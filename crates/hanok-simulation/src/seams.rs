//! Time, ids, randomness and tasks, as a world gives them.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use hanok_core::{BoxFuture, Clock, Ids, Rng, Spawned, Spawner, Timestamp};
use hanok_graph::Runtime;

use crate::{
    core::Core,
    numbers::{BEGINS, Process},
};

/// The time that the monotonic clocks of two processes are apart.
const DAY: Duration = Duration::from_hours(24);

/// The seams of one process.
#[derive(Clone)]
struct Seams {
    core: Arc<Core>,
    process: Process,
}

impl fmt::Debug for Seams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Seams").field(&self.process).finish()
    }
}

/// A runtime for graphs of `process`.
pub(crate) fn runtime(core: &Arc<Core>, process: Process) -> Runtime {
    let seams = Arc::new(Seams { core: Arc::clone(core), process });
    Runtime {
        clock: seams.clone(),
        ids: seams.clone(),
        rng: seams.clone(),
        spawner: seams,
        slots: None,
    }
}

impl Clock for Seams {
    fn now(&self) -> Timestamp {
        let inner = self.core.inner();
        let apart = inner.skews.get(&self.process).copied().unwrap_or_default();
        Timestamp(inner.now.saturating_add_signed(apart))
    }

    fn monotonic(&self) -> Duration {
        // Each process counts from a moment of its own.
        let since = self.core.inner().now - BEGINS.0;
        Duration::from_millis(since) + DAY * self.process
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(sleep(&self.core, duration))
    }
}

impl Ids for Seams {
    fn id(&self) -> u128 {
        let mut inner = self.core.inner();
        (u128::from(inner.ids.bits()) << 64) | u128::from(inner.ids.bits())
    }
}

impl Rng for Seams {
    fn bits(&self) -> u64 {
        self.core.inner().rng.bits()
    }
}

impl Spawner for Seams {
    fn spawn(&self, task: BoxFuture<'static, ()>) -> Spawned {
        let number = start(&self.core, self.process, task);
        let core = Arc::downgrade(&self.core);
        Spawned::new(move || {
            if let Some(core) = core.upgrade() {
                core.inner().aborted.push(number);
            }
        })
    }
}

/// Starts a task of `process`; its number.
pub(crate) fn start(core: &Arc<Core>, process: Process, task: BoxFuture<'static, ()>) -> u64 {
    let mut inner = core.inner();
    let number = inner.number();
    inner.started.push((number, process, task));
    number
}

/// Completes when `duration` has passed.
pub(crate) fn sleep(core: &Arc<Core>, duration: Duration) -> Sleep {
    // A part of a millisecond is one.
    let millis = duration.as_nanos().div_ceil(1_000_000);
    let millis = u64::try_from(millis).unwrap_or(u64::MAX);
    let mut inner = core.inner();
    let (at, number) = (inner.now.saturating_add(millis), inner.number());
    drop(inner);
    Sleep { core: Arc::clone(core), at, number }
}

/// Completes at its time.
pub(crate) struct Sleep {
    core: Arc<Core>,
    at: u64,
    number: u64,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.core.inner();
        if inner.now >= self.at {
            return Poll::Ready(());
        }
        inner.set_timer(self.at, self.number, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.core.inner().drop_timer(self.at, self.number);
    }
}

/// Lets other tasks run.
#[derive(Default)]
pub(crate) struct Yield(bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}
