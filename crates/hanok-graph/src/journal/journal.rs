//! The journal: a run writes to the log of its thread through it.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::lock::Mutex as AsyncMutex;
use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Claim, Entry, Epoch, Guard, Labels, Log,
    Safety, SharedCheckpointer, SharedStore, ThreadFold, ThreadItems, ThreadLife, Tip,
};
use hanok_core::{FoldError, Namespace, Position, ThreadKey, Timestamp};

use crate::{
    journal::{
        append::{AppendOptions, ClaimAfter, Sealed, is_barrier},
        buffered::Buffered,
        children::Children,
        durability::Durability,
        snapshot_policy::SnapshotPolicy,
        underway::Underway,
        writer::{JournalParts, RunSlot, Writer, is_lost},
    },
    observe::{sink::Sink, trail::Shown},
    runtime::Runtime,
};

/// Writes a run's entries, one append after the other, under the run's claim.
pub(crate) struct Journal {
    pub(super) parts: Arc<JournalParts>,
    /// The log of the thread; `None` in a run that stores nothing.
    log: Option<StoredLog>,
    pub(super) options: JournalOptions,
    /// The writer that appends while the run continues, if there is one.
    writer: Option<Arc<Writer>>,
    released: AtomicBool,
    pub(super) labels: Mutex<Relabel>,
    pub(super) snapshots: SnapshotPolicy,
    pub(super) children: Children,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The options of a journal.
#[derive(Clone, Default)]
pub(crate) struct JournalOptions {
    pub(crate) durability: Durability,
    /// The time that the thread is kept after a run has begun or ended.
    pub(crate) ttl: Option<Duration>,
    pub(crate) sink: Sink,
    /// The life from which the ids of tasks derive, if it is another.
    pub(crate) identity: Option<ThreadLife>,
}

/// The log of a thread, and where it ends.
struct StoredLog {
    store: SharedCheckpointer,
    end: Arc<AsyncMutex<LogEnd>>,
}

pub(super) struct LogEnd {
    /// The end of the log.
    pub(super) tip: Tip,
    pub(super) epoch: Epoch,
    /// True after an append whose result was not awaited: the end of the log has to be read again.
    unsure: bool,
    /// The entries that wait for the run's end.
    pub(super) waiting: Buffered,
    /// The entries that are stored with the next append: questions, whose thread has to be free once they are visible.
    pub(super) held: Vec<HeldEntries>,
    /// The id of the newest append: the first is drawn, and the others are counted from it.
    pub(super) append: Option<u128>,
}

impl LogEnd {
    fn new(tip: Tip, epoch: Epoch) -> Self {
        let waiting = Buffered::default();
        Self { tip, epoch, unsure: false, waiting, held: Vec::new(), append: None }
    }
}

/// The way in which a run takes its thread.
pub(crate) struct Takeover<'a> {
    pub(crate) slot: &'a Arc<RunSlot>,
    /// The end of the log.
    pub(crate) tip: Tip,
    pub(crate) snapshots: SnapshotPolicy,
    pub(crate) claim: Claim,
    /// The entries that begin the run.
    pub(crate) first: Vec<(Namespace, Body)>,
    /// The earlier position that the first of them follows, if the thread goes back.
    pub(crate) back: Option<Position>,
    pub(crate) labels: Relabel,
}

/// Entries that are stored with the next append, and the callback that receives the position of the last.
pub(super) struct HeldEntries {
    pub(super) at: Timestamp,
    /// The number of entries that stand behind them in their append.
    pub(super) follow: u64,
    pub(super) entries: Vec<(Namespace, Body)>,
    pub(super) then: Box<dyn FnOnce(Position) + Send>,
}

/// The labels of the thread as they are stored, and as they are to be. They are written when the run takes its thread and
/// when it releases it.
#[derive(Debug, Default)]
pub(crate) struct Relabel {
    pub(crate) stored: Option<Labels>,
    pub(crate) next: Option<Labels>,
}

impl Journal {
    /// A journal of this life of a thread that stores nothing and only counts positions.
    pub(crate) fn nowhere(own: ThreadLife, runtime: Runtime) -> Self {
        let slot: Weak<RunSlot> = Weak::<()>::new();
        let (snapshots, options) = (SnapshotPolicy::default(), JournalOptions::default());
        Self::new(own, None, runtime, slot, snapshots, options)
    }

    /// A journal of the same life, for a part of the run that stores nothing. The ids of tasks derive as in this one.
    pub(crate) fn unkept(&self) -> Self {
        let mut unkept = Self::nowhere(self.own().clone(), self.parts.runtime.clone());
        unkept.options.identity = self.options.identity.clone();
        unkept
    }

    fn new(
        own: ThreadLife,
        log: Option<(SharedCheckpointer, LogEnd)>,
        runtime: Runtime,
        slot: Weak<RunSlot>,
        snapshots: SnapshotPolicy,
        options: JournalOptions,
    ) -> Self {
        let (sink, lost) = (options.sink.clone(), AtomicBool::new(false));
        let stored = log.as_ref().map_or(0, |(_, end)| end.tip.position.0);
        let stored = AtomicU64::new(stored);
        let parts = Arc::new(JournalParts { own, runtime, slot, sink, lost, stored });
        let writer = match (&log, options.durability) {
            (Some((store, end)), Durability::Async) => {
                options.sink.hold(end.tip.position);
                Some(Arc::new(Writer::new(parts.clone(), store.clone(), end.epoch)))
            }
            _ => None,
        };
        Self {
            parts,
            log: log.map(|(store, end)| StoredLog { store, end: Arc::new(AsyncMutex::new(end)) }),
            options,
            writer,
            released: AtomicBool::new(false),
            labels: Mutex::default(),
            snapshots,
            children: Children::default(),
        }
    }

    /// Takes the thread of a log and writes the entries that begin the run.
    pub(crate) async fn take(
        log: &Log,
        runtime: Runtime,
        takeover: Takeover<'_>,
        options: JournalOptions,
        then: impl FnOnce(Position),
    ) -> Result<Self, CheckpointError> {
        let Takeover { slot, tip, snapshots, claim, first, back, labels } = takeover;
        let at = LogEnd::new(tip, claim.epoch);
        options.sink.begin(tip.life, claim.run, tip.position);
        let own = ThreadLife { thread: log.thread().clone(), life: tip.life };
        let log = Some((log.store().clone(), at));
        let slot = Arc::downgrade(slot);
        let journal = Self::new(own, log, runtime, slot, snapshots, options);
        *lock(&journal.labels) = labels;
        let (now, take) = (claim.beat, Some(Box::new(claim)));
        let how = AppendOptions { take, back, barrier: true, ..AppendOptions::default() };
        journal.append_guarded(now, first, how, then).await?;
        Ok(journal)
    }

    /// Checks that the position to which the run has gone back, the first of `back`, is still there. Where it is not, the thread
    /// goes on from the second, and is given back.
    pub(crate) async fn is_uncut(&self, back: (Position, Position)) -> Result<(), CheckpointError> {
        let Some(StoredLog { store, end }) = &self.log else { return Ok(()) };
        let (end, runtime) = (end.lock().await, &self.parts.runtime);
        let log = Log::new(store.clone(), self.thread().clone());
        let (guard, id) = (Guard::Release(end.epoch), AppendId(runtime.ids.id()));
        log.is_uncut(end.tip, back, guard, id, runtime.clock.now()).await
    }

    pub(crate) fn thread(&self) -> &ThreadKey {
        &self.own().thread
    }

    /// The life of the thread that the run is in.
    pub(crate) fn own(&self) -> &ThreadLife {
        &self.parts.own
    }

    /// The life from which the ids of tasks derive. For a copied turn it is the original one.
    pub(crate) fn identity(&self) -> &ThreadLife {
        self.options.identity.as_ref().unwrap_or(self.own())
    }

    /// The [identity](Journal::identity), if it is another life.
    pub(crate) fn other_identity(&self) -> Option<&ThreadLife> {
        self.options.identity.as_ref()
    }

    /// True if entries are stored.
    pub(crate) fn is_kept(&self) -> bool {
        self.log.is_some()
    }

    /// The items of the thread in `memory`, if entries are stored.
    pub(crate) fn items(&self, memory: &SharedStore) -> Option<ThreadItems> {
        let codec = self.log.as_ref()?.store.codec().clone();
        let ThreadLife { thread, life } = self.own().clone();
        Some(ThreadItems::new(memory.clone(), codec, thread, life))
    }

    /// The store of the log, if entries are stored.
    pub(super) fn store(&self) -> Option<&SharedCheckpointer> {
        self.log.as_ref().map(|log| &log.store)
    }

    /// True if another run has taken the thread, so that no more can be stored.
    pub(crate) fn is_lost(&self) -> bool {
        self.parts.lost.load(Ordering::SeqCst)
    }

    /// True if the claim was released.
    pub(crate) fn is_released(&self) -> bool {
        self.released.load(Ordering::SeqCst)
    }

    /// Appends one entry of the graph at `path`; returns its position. With a [`Durability`] that lets entries wait, it may
    /// not be safe yet, and its position may be a name.
    pub(crate) fn append(
        &self,
        path: &Namespace,
        body: Body,
    ) -> impl Future<Output = Result<Position, CheckpointError>> {
        self.append_all(vec![(path.clone(), body)])
    }

    /// Appends `entries`, all or none; returns the position of the last.
    pub(crate) fn append_all(
        &self,
        entries: Vec<(Namespace, Body)>,
    ) -> impl Future<Output = Result<Position, CheckpointError>> {
        let now = self.parts.runtime.clock.now();
        self.append_guarded(now, entries, AppendOptions::default(), |_| {})
    }

    /// Appends `entries`, with the time `now`, as [`append_all`](Journal::append_all) does, and calls `then` with the
    /// position of the last one before anybody else appends. So events are reported in the order of the log, and once
    /// they are safe.
    pub(crate) fn append_then(
        &self,
        now: Timestamp,
        entries: Vec<(Namespace, Body)>,
        claim_after: ClaimAfter,
        then: impl FnOnce(Position),
    ) -> impl Future<Output = Result<Position, CheckpointError>> {
        let options = AppendOptions { claim_after, ..AppendOptions::default() };
        self.append_guarded(now, entries, options, then)
    }

    /// Sets the labels that the thread has once it is released.
    pub(crate) fn relabel(&self, labels: impl FnOnce(&Labels) -> Labels) {
        let mut relabel = lock(&self.labels);
        let next = relabel.next.as_ref().or(relabel.stored.as_ref()).map(labels);
        relabel.next = next;
    }

    /// Holds `entries` for the next append, and calls `then` with the position of the last one. If no other append comes
    /// first, the end of the run is one. So a thread is free for the answer as soon as a question is visible.
    pub(crate) async fn hold(
        &self,
        entries: Vec<(Namespace, Body)>,
        then: Box<dyn FnOnce(Position) + Send>,
    ) {
        let Some(log) = &self.log else { return };
        let held = HeldEntries { at: self.parts.runtime.clock.now(), follow: 0, entries, then };
        log.end.lock().await.held.push(held);
    }

    /// Appends entries as [`append`](Journal::append) does, with more to survive.
    pub(crate) fn append_safely(
        &self,
        entries: Vec<(Namespace, Body)>,
        safety: Safety,
    ) -> impl Future<Output = Result<Position, CheckpointError>> {
        let how = AppendOptions { safety, barrier: true, ..AppendOptions::default() };
        self.append_guarded(self.parts.runtime.clock.now(), entries, how, |_| {})
    }

    /// Appends entries. The future holds little while it waits, since every super-step pays for it.
    async fn append_guarded(
        &self,
        now: Timestamp,
        entries: Vec<(Namespace, Body)>,
        how: AppendOptions,
        then: impl FnOnce(Position),
    ) -> Result<Position, CheckpointError> {
        let Some(StoredLog { store, end, .. }) = &self.log else {
            // The positions of a run that stores nothing are counted alone.
            let count = entries.len() as u64;
            let last = self.parts.stored.fetch_add(count, Ordering::SeqCst).saturating_add(count);
            then(Position(last));
            return Ok(Position(last));
        };
        let mut at = end.clone().lock_owned().await;
        let Some(slot) = self.parts.slot.upgrade() else {
            return Err(CheckpointError::Unavailable {
                reason: "the run is over",
                source: "a task that outlives its run stores nothing more".into(),
            });
        };
        let barrier =
            how.waits() || !at.held.is_empty() || entries.iter().any(|(_, body)| is_barrier(body));
        if self.options.durability == Durability::Exit && !barrier {
            let names = entries.into_iter().map(|(path, body)| at.waiting.push(now, path, body));
            let last = names.last().unwrap_or(at.tip.position);
            self.options.sink.wrote(last, now);
            then(last);
            return Ok(last);
        }
        if let Some(writer) = &self.writer {
            match barrier || at.unsure {
                true => writer.flush().await?,
                false => writer.room().await?,
            }
        }
        self.make_sure(store, &mut at).await?;
        let flushes = !at.waiting.is_empty();
        let Sealed { tip, records, outbox, held } =
            self.seal(store, &mut at, now, entries, how.back)?;
        let last = tip.position;
        if let (Some(writer), false) = (&self.writer, barrier) {
            writer.give(at.tip.position, tip, records, outbox);
            at.tip = tip;
            self.options.sink.wrote(last, now);
            then(last);
            return Ok(last);
        }
        let releases = how.claim_after == ClaimAfter::Released;
        let append = self.guarded(store, &mut at, now, how, tip, records);
        let work = store.append_owned(self.thread().clone(), Append { outbox, ..append });
        at.unsure = true;
        let mut underway = Underway::new(work, (at, slot), &*self.parts.runtime.spawner);
        let appended = (&mut underway).await;
        if appended.as_ref().is_err_and(is_lost) {
            self.parts.lost.store(true, Ordering::SeqCst);
        }
        appended?;
        // What is held is given up by its drop alone.
        let Some((mut at, _slot)) = underway.into_held() else { return Ok(last) };
        at.unsure = false;
        at.waiting.flushed();
        if releases {
            self.released.store(true, Ordering::SeqCst);
        }
        at.tip = tip;
        self.parts.stored.store(last.0, Ordering::SeqCst);
        let sink = &self.options.sink;
        sink.is_safe(last);
        if flushes {
            sink.missed(last, Shown::WithoutIds);
        }
        for held in held {
            sink.wrote(last, held.at);
            (held.then)(Position(last.0.saturating_sub(held.follow)));
        }
        sink.wrote(last, now);
        then(last);
        Ok(last)
    }

    /// The end of the log, the epoch, and the snapshot policy of a released thread that has no state besides the graph's
    /// own.
    pub(crate) async fn released_at(&self) -> Option<(Tip, Epoch, SnapshotPolicy)> {
        if !self.is_released() || !self.children.is_empty() {
            return None;
        }
        let at = self.log.as_ref()?.end.lock().await;
        (!at.unsure).then(|| (at.tip, at.epoch, self.snapshots.clone()))
    }

    /// The last position at which something of the run is known to be stored.
    pub(crate) fn stored(&self) -> Position {
        Position(self.parts.stored.load(Ordering::SeqCst))
    }

    /// Waits until everything that was appended is safe.
    pub(crate) async fn barrier(&self) -> Result<(), CheckpointError> {
        match (self.options.durability, &self.writer, &self.log) {
            (Durability::Async, Some(writer), _) => writer.flush().await,
            (Durability::Exit, _, Some(log)) if !log.end.lock().await.waiting.is_empty() => {
                self.append_safely(Vec::new(), Safety::Process).await?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What the log of the thread amounts to, all that this run has appended included; `None` where nothing is stored.
    pub(crate) async fn fold(&self) -> Result<Option<ThreadFold>, CheckpointError> {
        let Some(StoredLog { store, end, .. }) = &self.log else { return Ok(None) };
        self.barrier().await?;
        let mut at = end.clone().lock_owned().await;
        self.make_sure(store, &mut at).await?;
        let tip = at.tip.position;
        let held: Vec<_> = at.held.iter().flat_map(|held| held.entries.clone()).collect();
        drop(at);
        let opened = Log::new(store.clone(), self.thread().clone()).open(None).await?;
        let fold = opened.map(|opened| opened.fold).filter(|fold| fold.position >= tip);
        let mut fold = fold.ok_or_else(|| CheckpointError::Unavailable {
            reason: "the store says less than was stored in it",
            source: format!("its log ends before position {tip}").into(),
        })?;
        for (namespace, body) in held {
            let entry = Entry { at: self.parts.runtime.clock.now(), namespace, body };
            let (last_good, position) = (fold.position, fold.position.next());
            fold.apply(position, &entry).map_err(|error: FoldError| CheckpointError::Corrupt {
                thread: self.thread().clone(),
                position,
                reason: error.to_string(),
                last_good,
            })?;
        }
        Ok(Some(fold))
    }

    /// Reads the end of the log, after an append whose result was not awaited.
    async fn make_sure(
        &self,
        store: &SharedCheckpointer,
        at: &mut LogEnd,
    ) -> Result<(), CheckpointError> {
        if at.unsure {
            // Only this run writes under its claim: what the log has more than we know, we wrote. What we know stays: a
            // store that says less answers with what it was, and if that hides more, the next append conflicts.
            let head = store.head(self.thread()).await?;
            let head = head.filter(|head| head.life == at.tip.life);
            let tip = head.as_ref().map_or(at.tip, Tip::of);
            if tip.position > at.tip.position {
                self.options.sink.missed(tip.position, Shown::Never);
                at.waiting.flushed();
                at.tip = tip;
            } else {
                at.waiting.restore();
            }
            at.unsure = false;
        }
        Ok(())
    }

    /// Stores a snapshot, if one is worth it. `prepare` takes the parts of it, and they are encoded and written outside
    /// of the run.
    pub(crate) async fn snapshot<F>(&self, prepare: impl FnOnce() -> F)
    where
        F: FnOnce() -> Option<ThreadFold> + Send + 'static,
    {
        let Some(StoredLog { store, end, .. }) =
            self.log.as_ref().filter(|_| self.snapshots.is_due())
        else {
            return;
        };
        let at = end.lock().await;
        // Of what waits there is no position yet that a snapshot could be of.
        if !at.waiting.is_empty() {
            return;
        }
        let Some(most) = self.snapshots.begin() else { return };
        let (snapshots, fold) = (self.snapshots.clone(), prepare());
        let (log, life) = (Log::new(store.clone(), self.thread().clone()), at.tip.life);
        let written = async move {
            let written = match fold() {
                // A snapshot is a cache: a failed one costs a longer read and is tried again later.
                Some(fold) => log.put_snapshot_within(life, &fold, most).await.ok().flatten(),
                None => None,
            };
            snapshots.end(written);
        };
        match &self.writer {
            // A snapshot of what is not safe yet could be one of what never was.
            Some(writer) => writer.then(at.tip.position, Box::pin(written)),
            None => self.parts.runtime.spawner.spawn(Box::pin(written)).detach(),
        }
    }
}
