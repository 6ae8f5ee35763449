//! Appends that are made while the run continues: a bounded queue, and a task that empties it.

use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use hanok_checkpoint::{
    Append, AppendId, CheckpointError, Checkpointer, Epoch, Guard, Outgoing, Record,
    SharedCheckpointer, ThreadLife, Tip,
};
use hanok_core::{BoxFuture, Chain, Position};
use tokio::sync::Notify;

use crate::{observe::sink::Sink, runtime::Runtime};

/// The run's place in its thread, given up on drop.
pub(crate) type RunSlot = dyn fmt::Debug + Send + Sync;

/// The most entries that wait, and the most bytes of them, before the run waits for the store.
const WAITING: usize = 256;
const BYTES: usize = 1 << 20;

/// The parts of a journal that its writer shares: the thread, and the places that an append reports to.
pub(super) struct JournalParts {
    pub(super) own: ThreadLife,
    pub(super) runtime: Runtime,
    /// The run's place in its thread: it is held until nothing waits.
    pub(super) slot: Weak<RunSlot>,
    /// The sink in which recorded events wait until they are safe.
    pub(super) sink: Sink,
    /// Set when the run has lost the thread.
    pub(super) lost: AtomicBool,
    /// The last position that is safe, or the last one counted in a run that stores nothing.
    pub(super) stored: AtomicU64,
}

/// Appends records in the order of their arrival, several at once.
pub(super) struct Writer {
    of: Arc<JournalParts>,
    store: SharedCheckpointer,
    epoch: Epoch,
    queue: Mutex<Queue>,
    /// Notified when records were appended, or never will be.
    moved: Notify,
}

#[derive(Default)]
struct Queue {
    /// The position that the first of the records has to follow.
    after: Position,
    /// The end of the log after the last of them.
    tip: Tip,
    records: Vec<Record>,
    outbox: Vec<Outgoing>,
    bytes: usize,
    /// Work for the time when everything up to a position is appended.
    then: VecDeque<(Position, BoxFuture<'static, ()>)>,
    /// True while a task empties the queue.
    running: bool,
    failed: Option<Failed>,
}

enum Failed {
    /// The error, until it is reported.
    With(CheckpointError),
    /// What it said.
    Reported(String),
}

impl Writer {
    pub(super) fn new(of: Arc<JournalParts>, store: SharedCheckpointer, epoch: Epoch) -> Self {
        Self { of, store, epoch, queue: Mutex::default(), moved: Notify::new() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for more.
    pub(super) async fn room(&self) -> Result<(), CheckpointError> {
        self.until(|queue| queue.records.len() < WAITING && queue.bytes < BYTES).await
    }

    /// Waits until all records are safe.
    pub(super) async fn flush(&self) -> Result<(), CheckpointError> {
        self.until(|queue| !queue.running).await
    }

    async fn until(&self, ready: impl Fn(&Queue) -> bool) -> Result<(), CheckpointError> {
        loop {
            let moved = self.moved.notified();
            let mut moved = std::pin::pin!(moved);
            moved.as_mut().enable();
            {
                let mut queue = self.queue();
                queue.is_well()?;
                if ready(&queue) {
                    return Ok(());
                }
            }
            moved.await;
        }
    }

    /// Puts `records`, which follow `after` and end at `tip`, into the queue.
    pub(super) fn give(
        self: &Arc<Self>,
        after: Position,
        tip: Tip,
        records: Vec<Record>,
        outbox: Vec<Outgoing>,
    ) {
        let mut queue = self.queue();
        if queue.records.is_empty() {
            queue.after = after;
        }
        queue.tip = tip;
        queue.bytes += records.iter().map(|record| record.bytes.len()).sum::<usize>();
        queue.records.extend(records);
        queue.outbox.extend(outbox);
        self.start(&mut queue);
    }

    /// Does `work` once everything up to `position` is safe, if it ever is.
    pub(super) fn then(self: &Arc<Self>, position: Position, work: BoxFuture<'static, ()>) {
        let mut queue = self.queue();
        queue.then.push_back((position, work));
        self.start(&mut queue);
    }

    fn start(self: &Arc<Self>, queue: &mut Queue) {
        if !queue.running && queue.failed.is_none() {
            queue.running = true;
            let (writer, slot) = (self.clone(), self.of.slot.upgrade());
            let work = async move {
                writer.work().await;
                drop(slot);
            };
            self.of.runtime.spawner.spawn(Box::pin(work)).detach();
        }
    }

    /// Appends until nothing waits.
    async fn work(&self) {
        loop {
            let (after, tip, records, outbox) = {
                let mut queue = self.queue();
                if queue.records.is_empty() {
                    let works: Vec<_> = queue.then.drain(..).map(|(_, work)| work).collect();
                    queue.running = false;
                    drop(queue);
                    works.into_iter().for_each(|work| self.of.runtime.spawner.spawn(work).detach());
                    self.moved.notify_waiters();
                    return;
                }
                queue.bytes = 0;
                let (records, outbox) =
                    (std::mem::take(&mut queue.records), std::mem::take(&mut queue.outbox));
                (queue.after, queue.tip, records, outbox)
            };
            let last = tip.position;
            let id = AppendId(self.of.runtime.ids.id());
            let guard = Guard::Hold(self.epoch);
            let append =
                tip.append(self.store.codec(), &self.of.own.thread, id, after, guard, records);
            let updated = Some(self.of.runtime.clock.now());
            let append = Append { outbox, updated, ..append };
            let appended = self.store.append(&self.of.own.thread, append).await;
            match appended {
                Ok(()) => self.appended(last),
                Err(error) => return self.fail(error),
            }
        }
    }

    fn appended(&self, last: Position) {
        let works: Vec<_> = {
            let mut queue = self.queue();
            let due = queue.then.iter().take_while(|(position, _)| *position <= last).count();
            queue.then.drain(..due).map(|(_, work)| work).collect()
        };
        self.of.stored.store(last.0, Ordering::SeqCst);
        self.of.sink.is_safe(last);
        works.into_iter().for_each(|work| self.of.runtime.spawner.spawn(work).detach());
        self.moved.notify_waiters();
    }

    fn fail(&self, error: CheckpointError) {
        if is_lost(&error) {
            self.of.lost.store(true, Ordering::SeqCst);
        }
        let failed = Some(Failed::With(error));
        *self.queue() = Queue { failed, ..Queue::default() };
        self.moved.notify_waiters();
    }
}

impl Queue {
    /// The error of a failed append: the first time in full, then as a note that there was one.
    fn is_well(&mut self) -> Result<(), CheckpointError> {
        match self.failed.take() {
            None => Ok(()),
            Some(Failed::With(error)) => {
                self.failed = Some(Failed::Reported(Chain(&error).to_string()));
                Err(error)
            }
            Some(Failed::Reported(said)) => {
                let reason = "an earlier append of this run failed";
                let source = format!("nothing more is stored of it: {said}").into();
                self.failed = Some(Failed::Reported(said));
                Err(CheckpointError::Unavailable { reason, source })
            }
        }
    }
}

/// True if an append failed because the run has lost the thread.
pub(super) fn is_lost(error: &CheckpointError) -> bool {
    matches!(
        error,
        CheckpointError::Conflict { .. }
            | CheckpointError::Fenced { .. }
            | CheckpointError::OtherLife { .. }
    )
}
