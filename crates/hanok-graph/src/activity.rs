//! Signs of life of a task, for its idle time-out.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures::task::AtomicWaker;
use hanok_core::{BoxFuture, Clock};

/// Counts the signs of life of a task. Those of a subgraph are the calling task's too.
#[derive(Debug, Clone, Default)]
pub(crate) struct Activity(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    parent: Option<Activity>,
    count: AtomicU64,
    /// Whether somebody waits for silence.
    watched: AtomicBool,
    waker: AtomicWaker,
}

impl Activity {
    /// The activity of a task that is part of this one.
    pub(crate) fn child(&self) -> Self {
        Self(Arc::new(Inner { parent: Some(self.clone()), ..Inner::default() }))
    }

    /// Notes a sign of life.
    pub(crate) fn touch(&self) {
        for activity in self.chain() {
            activity.0.count.fetch_add(1, Ordering::SeqCst);
            activity.0.waker.wake();
        }
    }

    /// Notes that somebody waits for silence.
    pub(crate) fn watch(&self) {
        self.0.watched.store(true, Ordering::SeqCst);
    }

    /// Whether somebody waits for silence of the task, or of one around it.
    pub(crate) fn is_watched(&self) -> bool {
        self.chain().any(|activity| activity.0.watched.load(Ordering::SeqCst))
    }

    /// The task's, then those of the tasks around it.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |activity| activity.0.parent.as_ref())
    }

    /// Completes when there was no sign of life for `idle`.
    pub(crate) fn silence(&self, idle: Duration, clock: Arc<dyn Clock>) -> Silence {
        let (seen, sleep) = (self.0.count.load(Ordering::SeqCst), clock.sleep(idle));
        Silence { activity: self.clone(), idle, clock, seen, sleep }
    }
}

/// Completes when a task has been silent for so long.
pub(crate) struct Silence {
    activity: Activity,
    idle: Duration,
    clock: Arc<dyn Clock>,
    seen: u64,
    sleep: BoxFuture<'static, ()>,
}

impl Future for Silence {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.activity.0.waker.register(cx.waker());
        let count = this.activity.0.count.load(Ordering::SeqCst);
        if count != this.seen {
            this.seen = count;
            this.sleep = this.clock.sleep(this.idle);
        }
        this.sleep.as_mut().poll(cx)
    }
}
