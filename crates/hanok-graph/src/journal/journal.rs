//! A run's way into the log of its thread.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::lock::Mutex as AsyncMutex;
use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Claim, Codec, CodecError, Entry, Epoch,
    Guard, Labels, Log, Outgoing, Record, Safety, SharedCheckpointer, ThreadFold, Tip,
};
use hanok_core::{Namespace, Position, ThreadKey, Timestamp};

use crate::{
    journal::{
        buffered::Buffered, children::Children, durability::Durability,
        snapshot_policy::SnapshotPolicy, underway::Underway, writer::Writer,
    },
    observe::sink::Sink,
    runtime::Runtime,
};

/// The run's place in its thread, whatever gives it up when it is dropped.
pub(crate) type RunSlot = dyn fmt::Debug + Send + Sync;

/// Writes a run's entries, one append after the other, under the run's claim.
pub(crate) struct Journal {
    pub(super) thread: ThreadKey,
    pub(super) store: Option<SharedCheckpointer>,
    runtime: Runtime,
    at: Arc<AsyncMutex<LogEnd>>,
    /// The run's place in its thread. Once the run is over, nothing more is appended for it.
    slot: Weak<RunSlot>,
    keeping: JournalOptions,
    /// Appends while the run goes on, if it does.
    writer: Option<Arc<Writer>>,
    released: AtomicBool,
    lost: Arc<AtomicBool>,
    /// The last position at which something of the run is known to be stored.
    stored: Arc<AtomicU64>,
    labels: Mutex<Relabel>,
    snapshots: SnapshotPolicy,
    pub(super) children: Children,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// AppendOptions a run keeps what it does.
#[derive(Clone, Default)]
pub(crate) struct JournalOptions {
    pub(crate) durability: Durability,
    /// AppendOptions long the thread is kept after a run has begun or ended.
    pub(crate) ttl: Option<Duration>,
    pub(crate) sink: Sink,
    /// The thread whose name the ids of tasks derive from, if it is another.
    pub(crate) identity: Option<ThreadKey>,
}

struct LogEnd {
    /// Where the log ends.
    tip: Tip,
    epoch: Epoch,
    /// An append whose answer was not awaited: where the log is has to be read again.
    unsure: bool,
    /// What waits for the run's end.
    waiting: Buffered,
    /// What is stored with the next append: questions, for their thread to be free when they are there.
    held: Vec<HeldEntries>,
    /// The id of the newest append: the first is drawn, and the others are counted from it.
    append: Option<u128>,
}

/// Entries that are stored with the next append, and what is told the position of their last.
struct HeldEntries {
    at: Timestamp,
    /// AppendOptions many entries stand behind them in their append.
    follow: u64,
    entries: Vec<(Namespace, Body)>,
    then: Box<dyn FnOnce(Position) + Send>,
}

/// The labels of the thread as they are stored, and as they are to be. They are written when the run takes its thread and
/// when it gives it back.
#[derive(Debug, Default)]
pub(crate) struct Relabel {
    pub(crate) stored: Option<Labels>,
    pub(crate) next: Option<Labels>,
}

/// Whether the claim stays after an append.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ClaimAfter {
    #[default]
    Held,
    Released,
}

/// AppendOptions an append is made: under the run's claim, if nothing else is said.
#[derive(Default)]
struct AppendOptions {
    /// The claim that it takes the thread with.
    take: Option<Box<Claim>>,
    keep: ClaimAfter,
    safety: Safety,
    /// It, and all before it, is to be safe before the run goes on.
    barrier: bool,
}

impl AppendOptions {
    /// Whether the run waits until the append is safe, whatever is appended.
    fn waits(&self) -> bool {
        self.barrier || self.keep == ClaimAfter::Released || self.safety == Safety::Machine
    }
}

/// What is to be stored with one append.
struct Sealed {
    /// Where the log ends then.
    tip: Tip,
    records: Vec<Record>,
    outbox: Vec<Outgoing>,
    /// Whoever is told where it stands.
    held: Vec<HeldEntries>,
}

impl Journal {
    /// A journal that keeps nothing and only counts positions.
    pub(crate) fn nowhere(thread: ThreadKey, runtime: Runtime) -> Self {
        let at = (Tip::default(), Epoch::default());
        Self::new(
            thread,
            None,
            runtime,
            at,
            Weak::<()>::new(),
            SnapshotPolicy::default(),
            JournalOptions::default(),
        )
    }

    fn new(
        thread: ThreadKey,
        store: Option<SharedCheckpointer>,
        runtime: Runtime,
        (tip, epoch): (Tip, Epoch),
        slot: Weak<RunSlot>,
        snapshots: SnapshotPolicy,
        keeping: JournalOptions,
    ) -> Self {
        let waiting = Buffered::default();
        let at = LogEnd { tip, epoch, unsure: false, waiting, held: Vec::new(), append: None };
        let at = Arc::new(AsyncMutex::new(at));
        let lost = Arc::new(AtomicBool::new(false));
        let stored = Arc::new(AtomicU64::new(tip.position.0));
        let writer = match (&store, keeping.durability) {
            (Some(store), Durability::Async) => {
                keeping.sink.hold(tip.position);
                let (store, sink) = (store.clone(), keeping.sink.clone());
                let (thread, runtime) = (thread.clone(), runtime.clone());
                let notes = (lost.clone(), stored.clone());
                let slot = slot.clone();
                Some(Arc::new(Writer::new(thread, store, runtime, epoch, slot, sink, notes)))
            }
            _ => None,
        };
        Self {
            thread,
            store,
            runtime,
            at,
            slot,
            keeping,
            writer,
            released: AtomicBool::new(false),
            lost,
            stored,
            labels: Mutex::default(),
            snapshots,
            children: Children::default(),
        }
    }

    /// Takes the thread with `claim` and writes `first`; the log ends at `tip`.
    pub(crate) async fn take(
        (log, slot): (&Log, &Arc<RunSlot>),
        runtime: Runtime,
        (tip, snapshots): (Tip, SnapshotPolicy),
        claim: Claim,
        (first, labels): (Vec<(Namespace, Body)>, Relabel),
        keeping: JournalOptions,
        then: impl FnOnce(Position),
    ) -> Result<Self, CheckpointError> {
        let at = (tip, claim.epoch);
        keeping.sink.begin(tip.life);
        let (thread, store) = (log.thread().clone(), Some(log.store().clone()));
        let slot = Arc::downgrade(slot);
        let journal = Self::new(thread, store, runtime, at, slot, snapshots, keeping);
        *lock(&journal.labels) = labels;
        let (now, take) = (claim.beat, Some(Box::new(claim)));
        let how = AppendOptions { take, barrier: true, ..AppendOptions::default() };
        journal.append_guarded(now, first, how, then).await?;
        Ok(journal)
    }

    pub(crate) fn thread(&self) -> &ThreadKey {
        &self.thread
    }

    /// The thread whose name the ids of tasks derive from: of a turn that was copied, the one it was copied from.
    pub(crate) fn identity(&self) -> &ThreadKey {
        self.keeping.identity.as_ref().unwrap_or(&self.thread)
    }

    /// That thread, if it is another.
    pub(crate) fn other_identity(&self) -> Option<ThreadKey> {
        self.keeping.identity.clone()
    }

    /// Whether anything is kept.
    pub(crate) fn is_kept(&self) -> bool {
        self.store.is_some()
    }

    /// Whether somebody else has taken the thread: nothing more can be stored.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
    }

    /// Whether the claim was given back.
    pub(crate) fn is_released(&self) -> bool {
        self.released.load(Ordering::SeqCst)
    }

    /// Appends `entries`, all or none; returns the position of the last. With a [`Durability`] that lets them wait, they may
    /// not be safe yet, and their position may be a name.
    pub(crate) fn append(
        &self,
        entries: Vec<(Namespace, Body)>,
        keep: ClaimAfter,
    ) -> impl Future<Output = Result<Position, CheckpointError>> {
        self.append_then(entries, keep, |_| {})
    }

    /// As [`append`](Journal::append), and tells `then` where the last entry stands before anybody else appends: what is
    /// reported there is reported in the order of the log, and once it is safe.
    pub(crate) fn append_then(
        &self,
        entries: Vec<(Namespace, Body)>,
        keep: ClaimAfter,
        then: impl FnOnce(Position),
    ) -> impl Future<Output = Result<Position, CheckpointError>> {
        self.append_at(self.runtime.clock.now(), entries, keep, then)
    }

    /// As [`append_then`](Journal::append_then), of entries that say that it is `now`.
    pub(crate) fn append_at(
        &self,
        now: Timestamp,
        entries: Vec<(Namespace, Body)>,
        keep: ClaimAfter,
        then: impl FnOnce(Position),
    ) -> impl Future<Output = Result<Position, CheckpointError>> {
        self.append_guarded(now, entries, AppendOptions { keep, ..AppendOptions::default() }, then)
    }

    /// Says what the labels of the thread are once it is given back.
    pub(crate) fn relabel(&self, labels: impl FnOnce(&Labels) -> Labels) {
        let mut relabel = lock(&self.labels);
        let next = relabel.next.as_ref().or(relabel.stored.as_ref()).map(labels);
        relabel.next = next;
    }

    /// Stores `entries` with the next append, and tells `then` where the last one stands. The end of the run is one, if no
    /// other comes before it: whoever sees a question can answer it.
    pub(crate) async fn hold(
        &self,
        entries: Vec<(Namespace, Body)>,
        then: Box<dyn FnOnce(Position) + Send>,
    ) {
        let held = HeldEntries { at: self.runtime.clock.now(), follow: 0, entries, then };
        self.at.lock().await.held.push(held);
    }

    /// As [`append`](Journal::append), with more to survive.
    pub(crate) fn append_safely(
        &self,
        entries: Vec<(Namespace, Body)>,
        safety: Safety,
    ) -> impl Future<Output = Result<Position, CheckpointError>> {
        let how = AppendOptions { safety, barrier: true, ..AppendOptions::default() };
        self.append_guarded(self.runtime.clock.now(), entries, how, |_| {})
    }

    /// What every append does; what it holds while it waits is kept small, for every super-step pays for it.
    async fn append_guarded(
        &self,
        now: Timestamp,
        entries: Vec<(Namespace, Body)>,
        how: AppendOptions,
        then: impl FnOnce(Position),
    ) -> Result<Position, CheckpointError> {
        let mut at = self.at.clone().lock_owned().await;
        let Some(store) = &self.store else {
            at.tip.position = Position(at.tip.position.0 + entries.len() as u64);
            then(at.tip.position);
            return Ok(at.tip.position);
        };
        let Some(slot) = self.slot.upgrade() else {
            return Err(CheckpointError::Unavailable {
                reason: "the run is over",
                source: "a task that outlives its run stores nothing more".into(),
            });
        };
        let barrier =
            how.waits() || !at.held.is_empty() || entries.iter().any(|(_, body)| is_barrier(body));
        if self.keeping.durability == Durability::Exit && !barrier {
            let names = entries.into_iter().map(|(path, body)| at.waiting.push(now, path, body));
            let last = names.last().unwrap_or(at.tip.position);
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
        let Sealed { tip, records, outbox, held } = self.seal(store, &mut at, (now, entries))?;
        let last = tip.position;
        if let (Some(writer), false) = (&self.writer, barrier) {
            writer.give(at.tip.position, tip, records, outbox);
            at.tip = tip;
            then(last);
            return Ok(last);
        }
        let releases = how.keep == ClaimAfter::Released;
        let append = self.guarded(store, &mut at, (now, how), (tip, records));
        let work = store.append_owned(self.thread.clone(), Append { outbox, ..append });
        at.unsure = true;
        let mut underway = Underway::new(work, (at, slot), &*self.runtime.spawner);
        let appended = (&mut underway).await;
        if appended.as_ref().is_err_and(is_lost) {
            self.lost.store(true, Ordering::SeqCst);
        }
        appended?;
        // What is held is given up by its drop alone.
        let Some((mut at, _slot)) = underway.into_held() else { return Ok(last) };
        at.unsure = false;
        at.waiting.left();
        if releases {
            self.released.store(true, Ordering::SeqCst);
        }
        at.tip = tip;
        self.stored.store(last.0, Ordering::SeqCst);
        self.keeping.sink.is_safe(last);
        held.into_iter().for_each(|held| (held.then)(Position(last.0.saturating_sub(held.follow))));
        then(last);
        Ok(last)
    }

    /// What is to be stored now: the entries that are held, then these, after what waits for the run's end.
    fn seal(
        &self,
        store: &SharedCheckpointer,
        at: &mut LogEnd,
        (now, entries): (Timestamp, Vec<(Namespace, Body)>),
    ) -> Result<Sealed, CheckpointError> {
        let (after, tip) = (at.tip.position, at.tip);
        let mut held = std::mem::take(&mut at.held);
        // AppendOptions many entries follow each, for where its last one stands.
        let mut follow = entries.len() as u64;
        for held in held.iter_mut().rev() {
            held.follow = follow;
            follow += held.entries.len() as u64;
        }
        let before = held.iter_mut().flat_map(|held| {
            let entries = std::mem::take(&mut held.entries).into_iter();
            entries.map(|(path, body)| (held.at, path, body))
        });
        let entries = before.chain(entries.into_iter().map(|(path, body)| (now, path, body)));
        let sealed = match self.keeping.durability {
            Durability::Exit => {
                let entries = at.waiting.leave(after, entries);
                self.records(store.codec(), tip, entries.into_iter())
            }
            _ => self.records(store.codec(), tip, entries),
        };
        let (tip, records, outbox) =
            sealed.map_err(|error| CheckpointError::Encode(error.into()))?;
        self.snapshots.add(records.iter().map(|record| record.bytes.len()).sum());
        Ok(Sealed { tip, records, outbox, held })
    }

    /// The records of `entries`, which follow `tip`, and the items for others that they hand over; and the tip after them.
    fn records(
        &self,
        codec: &Codec,
        mut tip: Tip,
        entries: impl Iterator<Item = (Timestamp, Namespace, Body)>,
    ) -> Result<(Tip, Vec<Record>, Vec<Outgoing>), CodecError> {
        let (mut records, mut outbox) = (Vec::new(), Vec::new());
        for (at, namespace, body) in entries {
            let before = tip.position;
            let entry = Entry { at, namespace, body };
            records.push(tip.push(codec, &self.thread, before, &entry)?);
            if let Body::Commit(commit) = &entry.body {
                for item in &commit.outbox {
                    outbox.push(item.outgoing(codec, &self.thread, tip.life, tip.position)?);
                }
            }
        }
        Ok((tip, records, outbox))
    }

    /// The append of `records`, which end at `tip`, with what becomes of the claim and of the labels.
    fn guarded(
        &self,
        store: &SharedCheckpointer,
        at: &mut LogEnd,
        (now, how): (Timestamp, AppendOptions),
        (tip, records): (Tip, Vec<Record>),
    ) -> Append {
        let ends = how.take.is_some() || how.keep == ClaimAfter::Released;
        let guard = match (how.take, how.keep) {
            (Some(claim), _) => Guard::Take(*claim),
            (None, ClaimAfter::Released) => Guard::Release(at.epoch),
            (None, ClaimAfter::Held) => Guard::Hold(at.epoch),
        };
        let expires =
            self.keeping.ttl.filter(|_| ends).map(|ttl| self.runtime.clock.now().plus(ttl));
        let id = match at.append {
            // In the high half, where ids that are drawn one after the other do not meet it.
            Some(before) => before.wrapping_add(1 << 64),
            None => self.runtime.ids.id(),
        };
        at.append = Some(id);
        let labels = match ends {
            true => {
                let mut relabel = lock(&self.labels);
                let next = relabel.next.take();
                let changes = next.as_ref().map(|next| next.since(relabel.stored.as_ref()));
                relabel.stored = next.or(relabel.stored.take());
                changes.unwrap_or_default()
            }
            false => Vec::new(),
        };
        let (id, before) = (AppendId(id), at.tip.position);
        let append = tip.append(store.codec(), &self.thread, id, before, guard, records);
        Append { safety: how.safety, expires, updated: Some(now), labels, ..append }
    }

    /// Where the run has left its thread, with its claim given back and nothing but the graph's own state to keep: the
    /// end of the log, the epoch, and what there is to read.
    pub(crate) async fn released_at(&self) -> Option<(Tip, Epoch, SnapshotPolicy)> {
        if !self.is_released() || !self.children.is_empty() {
            return None;
        }
        let at = self.at.lock().await;
        (!at.unsure).then(|| (at.tip, at.epoch, self.snapshots.clone()))
    }

    /// The last position at which something of the run is known to be stored.
    pub(crate) fn stored(&self) -> Position {
        Position(self.stored.load(Ordering::SeqCst))
    }

    /// Makes everything safe that was appended, and waits for it.
    pub(crate) async fn barrier(&self) -> Result<(), CheckpointError> {
        match (self.keeping.durability, &self.writer) {
            (Durability::Async, Some(writer)) => writer.flush().await,
            (Durability::Exit, _) if !self.at.lock().await.waiting.is_empty() => {
                self.append_safely(Vec::new(), Safety::Process).await?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Finds out where the log is, after an append whose answer was not awaited.
    async fn make_sure(
        &self,
        store: &SharedCheckpointer,
        at: &mut LogEnd,
    ) -> Result<(), CheckpointError> {
        if at.unsure {
            // Only this run writes under its claim: what the log has more than we know, we wrote. What we know stays: a
            // store that says less answers with what it was, and if that hides more, the next append conflicts.
            let head = store.head(&self.thread).await?;
            let head = head.filter(|head| head.life == at.tip.life);
            let tip = head.as_ref().map_or(at.tip, Tip::of);
            if tip.position > at.tip.position {
                self.keeping.sink.missed(at.tip.position, tip.position);
                at.waiting.left();
                at.tip = tip;
            } else {
                at.waiting.stay();
            }
            at.unsure = false;
        }
        Ok(())
    }

    /// Keeps a snapshot, if one is worth it: `prepare` takes what it needs, and what that makes is encoded and written off
    /// the run's path.
    pub(crate) async fn snapshot<F>(&self, prepare: impl FnOnce() -> F)
    where
        F: FnOnce() -> Option<ThreadFold> + Send + 'static,
    {
        let Some(store) = self.store.as_ref().filter(|_| self.snapshots.is_due()) else { return };
        let at = self.at.lock().await;
        // Of what waits there is no position yet that a snapshot could be of.
        if !at.waiting.is_empty() {
            return;
        }
        let Some(most) = self.snapshots.begin() else { return };
        let (snapshots, fold) = (self.snapshots.clone(), prepare());
        let (log, life) = (Log::new(store.clone(), self.thread.clone()), at.tip.life);
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
            None => self.runtime.spawner.spawn(Box::pin(written)).detach(),
        }
    }
}

/// Whether an append failed because the thread is not the run's any more.
pub(super) fn is_lost(error: &CheckpointError) -> bool {
    matches!(
        error,
        CheckpointError::Conflict { .. }
            | CheckpointError::Fenced { .. }
            | CheckpointError::OtherLife { .. }
    )
}

/// Whether an entry, and all before it, is to be safe before the run goes on.
fn is_barrier(body: &Body) -> bool {
    matches!(
        body,
        Body::Intent(_) | Body::Answer(_) | Body::Rebase(_) | Body::Extend(_) | Body::Edit(_)
    )
}
