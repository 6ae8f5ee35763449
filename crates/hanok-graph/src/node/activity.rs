//! Signs of life of a task, for its idle time-out, and the time in which it waits for the store, which is not its own.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_util::task::AtomicWaker;
use hanok_core::{BoxFuture, Clock};

use crate::node::attempt::locked;

/// Counts the signs of life of a task, and its waits for the store, if a time-out watches it or a task around it. Those of a subgraph are
/// also the calling task's.
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
    waits: Mutex<Waits>,
    waker: AtomicWaker,
}

/// The waits of a task for the store.
#[derive(Debug, Default)]
struct Waits {
    /// How many there are now: several parts of a task may wait at once.
    now: u32,
    /// When the first of them began, by the clock that only goes forward.
    since: Duration,
    /// The time of those that are over.
    over: Duration,
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

    /// Begins a wait for the store, which is not the time of the task, nor that of the tasks around it. It ends when it is dropped.
    pub(crate) fn waits<'a>(&'a self, clock: &'a dyn Clock) -> Option<Wait<'a>> {
        self.0.is_some().then(|| Wait::begin(self, clock))
    }

    /// The time in which the task waited for the store, as far as it is over.
    pub(crate) fn waited(&self) -> Duration {
        self.0.as_ref().map_or(Duration::ZERO, |inner| locked(&inner.waits).over)
    }

    /// That time, with what is over of the waits that are under way.
    fn waited_until(&self, now: Duration) -> Duration {
        let waited = |inner: &Arc<Inner>| {
            let waits = locked(&inner.waits);
            match waits.now {
                0 => waits.over,
                _ => waits.over + now.saturating_sub(waits.since),
            }
        };
        self.0.as_ref().map_or(Duration::ZERO, waited)
    }

    fn is_waiting(&self) -> bool {
        self.0.as_ref().is_some_and(|inner| locked(&inner.waits).now > 0)
    }

    /// Completes when the task has had `time` in which it did not wait for the store.
    pub(crate) fn own_time(&self, time: Duration, clock: Arc<dyn Clock>) -> OwnTime {
        let rest = Rest::Sleeps(clock.sleep(time));
        OwnTime { activity: self.clone(), clock, waited: self.waited(), rest }
    }

    /// Completes when there was no sign of life for `idle`.
    pub(crate) fn silence(&self, idle: Duration, clock: Arc<dyn Clock>, signs: Signs) -> Silence {
        let (counted, sleep) = (self.count(signs), clock.sleep(idle));
        let activity = self.clone();
        Silence { activity, idle, clock, signs, counted, sleep, waits: false }
    }
}

/// A wait for the store, until it is dropped.
pub(crate) struct Wait<'a> {
    activity: &'a Activity,
    clock: &'a dyn Clock,
}

impl<'a> Wait<'a> {
    fn begin(activity: &'a Activity, clock: &'a dyn Clock) -> Self {
        let since = clock.monotonic();
        for inner in activity.chain() {
            let mut waits = locked(&inner.waits);
            if waits.now == 0 {
                waits.since = since;
            }
            waits.now += 1;
        }
        Self { activity, clock }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let until = self.clock.monotonic();
        for inner in self.activity.chain() {
            let mut waits = locked(&inner.waits);
            waits.now = waits.now.saturating_sub(1);
            if waits.now == 0 {
                let since = waits.since;
                waits.over += until.saturating_sub(since);
            }
            drop(waits);
            inner.waker.wake();
        }
    }
}

/// Completes when a task has had so much time of its own.
pub(crate) struct OwnTime {
    activity: Activity,
    clock: Arc<dyn Clock>,
    /// The time of the waits that were over when the sleep began.
    waited: Duration,
    rest: Rest,
}

/// The rest of a task's own time.
enum Rest {
    Sleeps(BoxFuture<'static, ()>),
    /// So much of the sleep that is over was a wait. It begins when no wait is under way.
    Owed(Duration),
}

impl Future for OwnTime {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let Some(inner) = &this.activity.0 {
            inner.waker.register(cx.waker());
        }
        loop {
            this.rest = match &mut this.rest {
                Rest::Sleeps(sleep) => {
                    ready!(sleep.as_mut().poll(cx));
                    let waited = this.activity.waited_until(this.clock.monotonic());
                    Rest::Owed(waited.saturating_sub(this.waited))
                }
                Rest::Owed(_) if this.activity.is_waiting() => return Poll::Pending,
                Rest::Owed(Duration::ZERO) => return Poll::Ready(()),
                Rest::Owed(owed) => {
                    this.waited = this.activity.waited();
                    Rest::Sleeps(this.clock.sleep(*owed))
                }
            };
        }
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
    /// True while the task waits for the store, which is no silence of its own.
    waits: bool,
}

impl Future for Silence {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let Some(inner) = &this.activity.0 {
            inner.waker.register(cx.waker());
        }
        let count = this.activity.count(this.signs);
        let waited = std::mem::replace(&mut this.waits, this.activity.is_waiting());
        if this.waits {
            return Poll::Pending;
        }
        if count != this.counted || waited {
            this.counted = count;
            this.sleep = this.clock.sleep(this.idle);
        }
        this.sleep.as_mut().poll(cx)
    }
}
