//! A run's way into the log of its thread.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use futures::lock::Mutex as AsyncMutex;
use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Claim, Entry, Epoch, Guard, Log, Record,
    RunFold, Safety, SharedCheckpointer, ThreadFold,
};
use hanok_core::{Namespace, Position, ThreadKey};

use crate::Runtime;

/// The smallest number of bytes of entries after which a snapshot is due.
const SNAPSHOT_FROM: usize = 64 * 1024;

/// Writes a run's entries, one append after the other, under the run's claim.
pub(crate) struct Journal {
    thread: ThreadKey,
    store: Option<SharedCheckpointer>,
    runtime: Runtime,
    at: AsyncMutex<At>,
    released: AtomicBool,
    /// Bytes of the newest snapshot; more than any while one is being written.
    snapshot_size: Arc<AtomicUsize>,
    /// What an earlier run left of subgraphs.
    left: Mutex<BTreeMap<Namespace, RunFold>>,
}

struct At {
    position: Position,
    epoch: Epoch,
    /// An append whose answer was not awaited: where the log is has to be read again.
    unsure: bool,
    /// Bytes of the entries since the newest snapshot.
    since: usize,
}

/// Whether the claim stays after an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Claim,
    Nothing,
}

impl Journal {
    /// A journal that keeps nothing and only counts positions.
    pub(crate) fn nowhere(thread: ThreadKey, runtime: Runtime) -> Self {
        Self::new(thread, None, runtime, (Position::START, Epoch::default()), (0, 0))
    }

    fn new(
        thread: ThreadKey,
        store: Option<SharedCheckpointer>,
        runtime: Runtime,
        (position, epoch): (Position, Epoch),
        (snapshot, since): (usize, usize),
    ) -> Self {
        let at = AsyncMutex::new(At { position, epoch, unsure: false, since });
        Self {
            thread,
            store,
            runtime,
            at,
            released: AtomicBool::new(false),
            snapshot_size: Arc::new(AtomicUsize::new(snapshot)),
            left: Mutex::default(),
        }
    }

    /// Takes the thread with `claim` and writes `first`; the log is at `position`.
    pub(crate) async fn take(
        log: &Log,
        runtime: Runtime,
        (position, sizes): (Position, (usize, usize)),
        claim: Claim,
        first: Vec<(Namespace, Body)>,
    ) -> Result<Self, CheckpointError> {
        let at = (position, claim.epoch);
        let journal =
            Self::new(log.thread().clone(), Some(log.store().clone()), runtime, at, sizes);
        journal.append_guarded(first, Some(Guard::Take(claim))).await?;
        Ok(journal)
    }

    pub(crate) fn thread(&self) -> &ThreadKey {
        &self.thread
    }

    /// Whether anything is kept.
    pub(crate) fn is_kept(&self) -> bool {
        self.store.is_some()
    }

    /// Whether the claim was given back.
    pub(crate) fn is_released(&self) -> bool {
        self.released.load(Ordering::SeqCst)
    }

    /// Appends `entries`, all or none; returns the position of the last.
    pub(crate) async fn append(
        &self,
        entries: Vec<(Namespace, Body)>,
        keep: Keep,
    ) -> Result<Position, CheckpointError> {
        let epoch = match keep {
            Keep::Claim => None,
            Keep::Nothing => Some(Guard::Release(Epoch::default())),
        };
        self.append_guarded(entries, epoch).await
    }

    /// `None` holds the claim; a release is given the journal's own epoch.
    async fn append_guarded(
        &self,
        entries: Vec<(Namespace, Body)>,
        guard: Option<Guard>,
    ) -> Result<Position, CheckpointError> {
        let mut at = self.at.lock().await;
        let Some(store) = &self.store else {
            at.position = Position(at.position.0 + entries.len() as u64);
            return Ok(at.position);
        };
        if at.unsure {
            // Only this run writes under its claim: what the log has more than we know, we wrote.
            let head = store.head(&self.thread).await?;
            at.position = head.map_or(Position::START, |head| head.position);
            at.unsure = false;
        }
        let now = self.runtime.clock.now();
        let expected = at.position;
        let mut last = expected;
        let records: Vec<_> = entries
            .into_iter()
            .map(|(namespace, body)| {
                let entry = Entry { at: now, namespace, body };
                let record = Record::new(&self.thread, last.next(), last, &entry);
                last = last.next();
                record
            })
            .collect();
        let size: usize = records.iter().map(|record| record.bytes.len()).sum();
        let guard = match guard {
            None => Guard::Hold(at.epoch),
            Some(Guard::Release(_)) => Guard::Release(at.epoch),
            Some(guard) => guard,
        };
        let releases = matches!(guard, Guard::Release(_));
        let id = AppendId(self.runtime.ids.id());
        let append = Append { id, expected, guard, records, safety: Safety::Process };
        at.unsure = true;
        store.append(&self.thread, append).await?;
        at.unsure = false;
        if releases {
            self.released.store(true, Ordering::SeqCst);
        }
        at.position = last;
        at.since += size;
        Ok(last)
    }

    /// Keeps a snapshot, if one is due: `prepare` takes what it needs, and what that makes is encoded and written off the
    /// run's path. The next one is due by the size of this one, so none is due before it is written.
    pub(crate) async fn snapshot<F>(&self, prepare: impl FnOnce() -> F)
    where
        F: FnOnce() -> Option<ThreadFold> + Send + 'static,
    {
        let Some(store) = &self.store else { return };
        let mut at = self.at.lock().await;
        let before = self.snapshot_size.load(Ordering::SeqCst);
        if at.since < SNAPSHOT_FROM.max(before) {
            return;
        }
        at.since = 0;
        self.snapshot_size.store(usize::MAX, Ordering::SeqCst);
        let (size, fold) = (self.snapshot_size.clone(), prepare());
        let log = Log::new(store.clone(), self.thread.clone());
        let written = async move {
            let written = match fold() {
                Some(fold) => log.put_snapshot(&fold).await.ok(),
                None => None,
            };
            // A snapshot is a cache: a failed one costs a longer read and is tried again later.
            size.store(written.unwrap_or(before), Ordering::SeqCst);
        };
        self.runtime.spawner.spawn(Box::pin(written)).detach();
    }

    /// Notes what an earlier run left of subgraphs.
    pub(crate) fn leave(&self, runs: impl IntoIterator<Item = (Namespace, RunFold)>) {
        self.left().extend(runs);
    }

    /// Takes what an earlier run left of one subgraph.
    pub(crate) fn take_left(&self, namespace: &Namespace) -> Option<RunFold> {
        self.left().remove(namespace)
    }

    fn left(&self) -> std::sync::MutexGuard<'_, BTreeMap<Namespace, RunFold>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
