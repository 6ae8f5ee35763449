//! The loop of a dispatcher: which runs it takes up, and which it looks at.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::FutureExt;
use hanok_checkpoint::{Checkpointer as _, Version};
use hanok_core::{Cancellation, Chain, Position, RunId, Tenant, ThreadKey};
use hanok_graph::Runtime;
use tokio::sync::{Notify, oneshot};

use super::apps::Apps;
use crate::{
    error::ServeError,
    rows::{
        accept::{Accepted, Order},
        book::{HeldQueue, HeldRun, Rows},
        run::{RunRow, RunStatus, Stop},
    },
};

/// How often it looks for runs that others have accepted.
const POLL: Duration = Duration::from_millis(250);

/// How often it looks at the runs that others drive.
const JUDGE: Duration = Duration::from_secs(5);

/// How often it sweeps what has expired.
const SWEEP: Duration = Duration::from_secs(60);

/// How long what was stopped may take to be given back.
const GIVING: Duration = Duration::from_secs(2);

/// The runs that one process drives at once.
pub(crate) const AT_ONCE: usize = 64;

/// Takes up runs, drives them, and writes how they ended. Clones are one dispatcher.
#[derive(Clone)]
pub(crate) struct Dispatcher(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) rows: Rows,
    pub(super) apps: Apps,
    pub(super) runtime: Runtime,
    at_once: usize,
    state: Mutex<Known>,
    wake: Notify,
    pub(super) stopping: Cancellation,
}

/// What a dispatcher knows of threads.
#[derive(Default)]
pub(super) struct Known {
    /// The threads whose runs it drives.
    pub(super) driven: BTreeMap<ThreadKey, Driven>,
    /// The newest id of a run.
    last: u128,
    /// Those who wait for the ends of runs.
    waiting: BTreeMap<RunId, Vec<oneshot::Sender<()>>>,
    /// The runs of others that it has looked at.
    pub(super) seen: BTreeMap<ThreadKey, Seen>,
}

/// A thread whose runs are driven here.
#[derive(Default)]
pub(super) struct Driven {
    /// The run, once it is taken up, and what stops it.
    pub(super) run: Option<(RunId, Cancellation)>,
    /// True if the queue has changed since it was read.
    pub(super) nudged: bool,
}

/// A run that somebody else drives, or nobody.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    pub(super) version: Version,
    /// Since when, by the clock that only goes forward.
    pub(super) since: Duration,
    /// How often it has failed for a reason that may pass.
    pub(super) failures: u32,
}

impl Dispatcher {
    pub(crate) fn new(rows: Rows, apps: Apps, runtime: Runtime) -> Self {
        let (state, wake, stopping) = Default::default();
        Self(Arc::new(Inner { rows, apps, runtime, at_once: AT_ONCE, state, wake, stopping }))
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.0.rows
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.0.runtime
    }

    pub(crate) fn apps(&self) -> &Apps {
        &self.0.apps
    }

    /// Starts the loop.
    pub(crate) fn start(&self) {
        let inner = Arc::clone(&self.0);
        self.0.runtime.spawner.spawn(Box::pin(inner.dispatch())).detach();
    }

    /// Accepts a run: it ends, whatever dies.
    pub(crate) async fn accept(&self, order: Order) -> Result<Accepted, ServeError> {
        self.0.apps.get(&order.request.graph)?;
        let thread = order.thread.clone();
        let accepted = self.0.rows.accept(order).await?;
        if let Some(run) = accepted.stops {
            self.0.stop_driving(&thread, run).await;
        }
        self.0.nudge(&thread);
        Ok(accepted)
    }

    /// Asks for the end of a run; the run as it is now.
    pub(crate) async fn stop(
        &self,
        thread: &ThreadKey,
        run: RunId,
        stop: Stop,
    ) -> Result<HeldRun, ServeError> {
        let row = self.0.rows.stop(thread, run, stop).await?;
        let row = row.ok_or(ServeError::NoSuchRun(run))?;
        if row.row.status == RunStatus::Running {
            self.0.stop_driving(thread, run).await;
        }
        Ok(row)
    }

    /// Takes up nothing more. What is driven goes on until its app is shut down.
    pub(crate) fn stop_taking(&self) {
        self.0.stopping.cancel();
        self.0.wake.notify_one();
    }

    /// Ends the loop, and what is driven: it is given back. The number of threads that are driven still when `grace` is over.
    pub(crate) async fn shutdown(&self, grace: Duration) -> usize {
        self.stop_taking();
        let apps = self.0.apps.0.values().map(|app| app.shutdown(grace));
        futures::future::join_all(apps).await;
        let (clock, until) = (&self.0.runtime.clock, self.0.runtime.clock.monotonic() + GIVING);
        while self.driven() > 0 && clock.monotonic() < until {
            clock.sleep(Duration::from_millis(20)).await;
        }
        self.driven()
    }

    /// A new id of a run: a UUID of version 7. Later runs have higher ids, those of this process always.
    pub(crate) fn new_run(&self) -> RunId {
        let (now, drawn) = (self.0.runtime.clock.now().0, self.0.runtime.ids.id());
        let random = drawn & !(0xffff_ffff_ffff << 80 | 0xf << 76 | 0x3 << 62);
        let id = u128::from(now) << 80 | 0x7 << 76 | 0x2 << 62 | random;
        let mut known = self.0.known();
        known.last = id.max(known.last + 1);
        RunId(known.last)
    }

    /// Completes when a run that is driven here ends, or after a while in which one that is driven elsewhere may have.
    pub(crate) fn ending(&self, run: RunId) -> impl Future<Output = ()> + Send + use<> {
        let (told, tells) = oneshot::channel();
        let mut known = self.0.known();
        let waiting = known.waiting.entry(run).or_default();
        waiting.retain(|one| !one.is_closed());
        waiting.push(told);
        drop(known);
        let clock = Arc::clone(&self.0.runtime.clock);
        async move {
            futures::select_biased! {
                // It is dropped, and says nothing.
                _ = tells.fuse() => {}
                () = clock.sleep(POLL).fuse() => {}
            }
        }
    }

    /// The number of threads whose runs are driven here.
    pub(crate) fn driven(&self) -> usize {
        self.0.known().driven.len()
    }
}

impl Inner {
    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn dispatch(self: Arc<Self>) {
        let (mut judged, mut swept) = (None, Duration::ZERO);
        while !self.stopping.is_cancelled() {
            let now = self.runtime.clock.monotonic();
            let is_due = |at: Duration, every| now.saturating_sub(at) >= every;
            let judges = judged.is_none_or(|at| is_due(at, JUDGE));
            match self.scan(judges).await {
                Ok(()) if judges => judged = Some(now),
                Ok(()) => {}
                Err(error) => {
                    tracing::warn!(error = %Chain(&error), "runs could not be looked for")
                }
            }
            if is_due(swept, SWEEP) {
                swept = now;
                if let Err(error) = self.rows.sweep().await {
                    tracing::warn!(error = %Chain(&error), "expired items could not be swept");
                }
            }
            futures::select_biased! {
                () = self.wake.notified().fuse() => {}
                () = self.runtime.clock.sleep(POLL).fuse() => {}
            }
        }
    }

    /// Looks at all queues; `judges`: at the runs of others too.
    async fn scan(self: &Arc<Self>, judges: bool) -> Result<(), ServeError> {
        let mut loads: BTreeMap<Tenant, usize> = BTreeMap::new();
        let (mut after, mut open) = (None, BTreeSet::new());
        loop {
            let (queues, next) = self.rows.queues(after).await?;
            for held in queues {
                let queue = &held.queue;
                let count = queue.pending.len() + usize::from(queue.running.is_some());
                *loads.entry(queue.thread.tenant().clone()).or_default() += count;
                open.insert(queue.thread.clone());
                if self.known().driven.contains_key(&queue.thread) {
                    continue;
                }
                let looked = match queue.running {
                    None => self.take_up(held).await,
                    Some(run) if judges => self.judge(&queue.thread, run).await,
                    Some(_) => Ok(()),
                };
                if let Err(error) = looked {
                    tracing::warn!(error = %Chain(&error), "a run could not be looked at");
                }
            }
            after = next;
            if after.is_none() {
                break;
            }
        }
        let mut known = self.known();
        known.seen.retain(|thread, _| open.contains(thread));
        known.waiting.retain(|_, waiting| {
            waiting.retain(|one| !one.is_closed());
            !waiting.is_empty()
        });
        drop(known);
        *self.rows.loads() = loads;
        Ok(())
    }

    /// Tells those who wait for it that a run has ended.
    pub(super) fn told_ended(&self, run: RunId) {
        drop(self.known().waiting.remove(&run));
    }

    /// Notes that the queue of `thread` has changed, where its runs are driven. False if they are not.
    pub(super) fn note(&self, thread: &ThreadKey) -> bool {
        self.known().driven.get_mut(thread).map(|driven| driven.nudged = true).is_some()
    }

    /// Looks at the queue of `thread` now.
    pub(super) fn nudge(self: &Arc<Self>, thread: &ThreadKey) {
        if self.note(thread) {
            return;
        }
        let (inner, thread) = (Arc::clone(self), thread.clone());
        let look = async move {
            let looked = match inner.rows.queue(&thread).await {
                Ok(held) => inner.take_up(held).await,
                Err(error) => Err(error),
            };
            if let Err(error) = looked {
                tracing::warn!(error = %Chain(&error), "a run could not be taken up");
            }
        };
        self.runtime.spawner.spawn(Box::pin(look)).detach();
    }

    /// Takes up the oldest run of a queue, if there is one and room for it, and drives it.
    async fn take_up(self: &Arc<Self>, held: HeldQueue) -> Result<(), ServeError> {
        let thread = held.queue.thread.clone();
        if !self.enter(&thread) {
            return Ok(());
        }
        let taken = self.take(held).await;
        match taken {
            Ok(Some(run)) => self.start_driving(run),
            Ok(None) => self.leave(&thread),
            Err(error) => {
                self.leave(&thread);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Takes up the oldest run of a queue that is served here and due.
    pub(super) async fn take(&self, held: HeldQueue) -> Result<Option<HeldRun>, ServeError> {
        let (None, Some(first)) = (held.queue.running, held.queue.pending.first()) else {
            return Ok(None);
        };
        if self.stopping.is_cancelled() {
            return Ok(None);
        }
        let Some(run) = self.rows.run(&held.queue.thread, *first).await? else { return Ok(None) };
        // Another process may serve the graph.
        let Ok(app) = self.apps.get(&run.row.request.graph) else { return Ok(None) };
        let due = run.row.request.options.delay.map(|delay| run.row.created.plus(delay));
        if due.is_some_and(|due| due > self.runtime.clock.now()) {
            return Ok(None);
        }
        self.register(&run.row);
        let head = app.store().head(&held.queue.thread).await?;
        let head = head.map_or(Position::START, |head| head.position);
        let thread = held.queue.thread.clone();
        let taken = self.rows.take(&held, run, head).await;
        if !matches!(taken, Ok(Some(_))) {
            self.unregister(&thread);
        }
        taken
    }

    /// Notes that a run is driven here: from now on it is stopped by what this gives.
    pub(super) fn register(&self, row: &RunRow) -> Cancellation {
        let mut known = self.known();
        let driven = known.driven.entry(row.thread.clone()).or_default();
        let stop = match driven.run.take() {
            Some((run, stop)) if run == row.run => stop,
            _ => Cancellation::default(),
        };
        driven.run = Some((row.run, stop.clone()));
        stop
    }

    /// Notes that no run of a thread is driven here now.
    pub(super) fn unregister(&self, thread: &ThreadKey) {
        if let Some(driven) = self.known().driven.get_mut(thread) {
            driven.run = None;
        }
    }

    /// Makes room for a thread. False if there is none, or its runs are driven already.
    pub(super) fn enter(&self, thread: &ThreadKey) -> bool {
        let mut known = self.known();
        if known.driven.len() >= self.at_once || known.driven.contains_key(thread) {
            return false;
        }
        known.driven.insert(thread.clone(), Driven::default());
        true
    }

    /// Frees the room of a thread. False if its queue has changed since it was read: then the room stays.
    pub(super) fn try_leave(&self, thread: &ThreadKey) -> bool {
        let mut known = self.known();
        let nudged = known.driven.get_mut(thread).is_some_and(|it| std::mem::take(&mut it.nudged));
        if !nudged {
            known.driven.remove(thread);
        }
        !nudged
    }

    pub(super) fn leave(self: &Arc<Self>, thread: &ThreadKey) {
        if !self.try_leave(thread) {
            self.known().driven.remove(thread);
            self.nudge(thread);
        }
    }
}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher").field("apps", &self.0.apps).finish_non_exhaustive()
    }
}
