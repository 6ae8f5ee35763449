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

use futures_util::task::AtomicWaker;
use hanok_core::{BoxFuture, Clock};

/// Counts the signs of life of a task, if an idle time-out watches it or a task around it. Those of a subgraph are also
/// the calling task's.
#[derive(Debug, Clone, Default)]
pub(crate) struct Activity(Option<Arc<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    parent: Activity,
    count: AtomicU64,
    /// Those of them that the node gives by itself.
    heartbeats: AtomicU64,
    /// True if an idle time-out watches the task.
    watched: AtomicBool,
    waker: AtomicWaker,
}

/// The signs of life that end a silence.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Signs {
    /// All of them.
    All,
    /// Those alone that the node gives by itself.
    Heartbeats,
}

impl Activity {
    /// The activity of a task that is part of this one.
    pub(crate) fn child(&self) -> Self {
        Self(Some(Arc::new(Inner { parent: self.clone(), ..Inner::default() })))
    }

    /// Notes a sign of life.
    pub(crate) fn touch(&self) {
        for inner in self.chain() {
            inner.count.fetch_add(1, Ordering::SeqCst);
            inner.waker.wake();
        }
    }

    /// Notes a heartbeat: a sign of life that the node gives by itself.
    pub(crate) fn beat(&self) {
        for inner in self.chain() {
            inner.heartbeats.fetch_add(1, Ordering::SeqCst);
        }
        self.touch();
    }

    /// Notes that an idle time-out watches the task.
    pub(crate) fn watch(&self) {
        if let Some(inner) = &self.0 {
            inner.watched.store(true, Ordering::SeqCst);
        }
    }

    /// True if an idle time-out watches the task, or one around it.
    pub(crate) fn is_watched(&self) -> bool {
        self.chain().any(|inner| inner.watched.load(Ordering::SeqCst))
    }

    /// The activity of the task, then those of the tasks around it.
    fn chain(&self) -> impl Iterator<Item = &Inner> {
        std::iter::successors(self.0.as_deref(), |inner| inner.parent.0.as_deref())
    }

    fn count(&self, signs: Signs) -> u64 {
        let count = |inner: &Arc<Inner>| match signs {
            Signs::All => inner.count.load(Ordering::SeqCst),
            Signs::Heartbeats => inner.heartbeats.load(Ordering::SeqCst),
        };
        self.0.as_ref().map_or(0, count)
    }

    /// Completes when there was no sign of life for `idle`.
    pub(crate) fn silence(&self, idle: Duration, clock: Arc<dyn Clock>, signs: Signs) -> Silence {
        let (counted, sleep) = (self.count(signs), clock.sleep(idle));
        Silence { activity: self.clone(), idle, clock, signs, counted, sleep }
    }
}

/// Completes when a task has been silent for this long.
pub(crate) struct Silence {
    activity: Activity,
    idle: Duration,
    clock: Arc<dyn Clock>,
    signs: Signs,
    counted: u64,
    sleep: BoxFuture<'static, ()>,
}

impl Future for Silence {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let Some(inner) = &this.activity.0 {
            inner.waker.register(cx.waker());
        }
        let count = this.activity.count(this.signs);
        if count != this.counted {
            this.counted = count;
            this.sleep = this.clock.sleep(this.idle);
        }
        this.sleep.as_mut().poll(cx)
    }
}
