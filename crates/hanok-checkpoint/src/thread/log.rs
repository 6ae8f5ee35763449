//! The log of one thread, on any store.

use bytes::Bytes;
use hanok_core::{Namespace, Position, ThreadKey, Timestamp};

use crate::{
    backend::append::{Append, AppendId, Guard},
    backend::checkpointer::{Checkpointer, Opened, Snapshots},
    backend::head::Head,
    backend::shared::SharedCheckpointer,
    chain::{Ancestor, HeadSeal, Tip},
    codec::CodecError,
    entry::body::{Body, Entry},
    entry::fold::ThreadFold,
    entry::snapshot::{Origin, Snapshot},
    entry::state::Edit,
    error::CheckpointError,
    format::base::BaseState,
    format::envelope::VERSION,
    format::record::{Record, RecordError, Salt},
    format::seal::{self, SealPlace, Sealed, UnsealError},
    life::Life,
    thread::labels::{GRAPH, Labels},
};

/// The log of one thread.
#[derive(Debug, Clone)]
pub struct Log {
    store: SharedCheckpointer,
    thread: ThreadKey,
}

/// A log that was read.
#[derive(Debug, Clone)]
pub struct OpenLog {
    /// Where the thread is.
    pub head: Head,
    /// What its log amounts to at the position that was asked for.
    pub fold: ThreadFold,
    /// The bytes of the newest snapshot, and of the entries since.
    pub sizes: (usize, usize),
}

/// One entry of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct LogEntry {
    /// Where it stands.
    pub position: Position,
    /// The entry it follows.
    pub parent: Position,
    /// What it says.
    pub entry: Entry,
}

impl Log {
    /// The log of `thread` in `store`.
    pub fn new(store: SharedCheckpointer, thread: ThreadKey) -> Self {
        Self { store, thread }
    }

    /// The thread.
    pub fn thread(&self) -> &ThreadKey {
        &self.thread
    }

    /// The store.
    pub fn store(&self) -> &SharedCheckpointer {
        &self.store
    }

    /// Reads the log up to `at` (`None`: to its end); `None` for a thread that has none.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] for a damaged record, with the last good position; a damaged snapshot is passed over.
    /// [`CheckpointError::Conflict`] when `at` is not in the log.
    pub async fn open(&self, at: Option<Position>) -> Result<Option<OpenLog>, CheckpointError> {
        let Some(opened) = self.store.open(&self.thread, at, Snapshots::Use).await? else {
            return Ok(None);
        };
        if let Some(log) = self.fold(opened, at).await? {
            return Ok(Some(log));
        }
        // The snapshot is damaged, or not on the branch that leads here: the records alone say everything.
        let Some(opened) = self.store.open(&self.thread, at, Snapshots::Ignore).await? else {
            return Ok(None);
        };
        self.fold(opened, at).await
    }

    /// Folds what was read; `None` if its snapshot is of no use.
    async fn fold(
        &self,
        opened: Opened,
        at: Option<Position>,
    ) -> Result<Option<OpenLog>, CheckpointError> {
        let tip = at.unwrap_or(opened.head.position);
        if tip > opened.head.position {
            let (expected, actual) = (tip, opened.head.position);
            return Err(CheckpointError::Conflict {
                thread: self.thread.clone(),
                expected,
                actual,
            });
        }
        let (floor, life) = (opened.head.floor, opened.head.life);
        if tip < floor {
            return Err(self.pruned(tip, floor));
        }
        let (base, mut fold, snapshot_size) = match &opened.snapshot {
            None => (Position::START, ThreadFold::default(), 0),
            Some((position, bytes)) => match self.restore(&opened.head, *position, bytes) {
                Ok(fold) => (*position, fold, bytes.len()),
                Err(error) if *position == floor => {
                    return Err(error.at(self.thread.clone(), floor));
                }
                Err(_) => return Ok(None),
            },
        };
        if let Some((fold, size)) = self.fold_straight(life, &opened.records, &fold, tip) {
            self.check_seal(&opened.head)?;
            return Ok(Some(OpenLog { head: opened.head, fold, sizes: (snapshot_size, size) }));
        }
        let Some(branch) = self.branch_of(life, &opened.records, base, tip)? else {
            if base > floor {
                return Ok(None);
            }
            if floor > Position::START {
                return Err(self.pruned(tip, floor));
            }
            // Only a build that is not ours writes a record whose parent does not stand before it.
            let reason = "its parents do not lead to the beginning".to_owned();
            return Err(self.corrupt(tip, reason, Position::START));
        };
        let mut size = 0;
        for (LogEntry { position, entry, .. }, bytes) in branch {
            let before = fold.position;
            fold.apply(position, &entry)
                .map_err(|error| self.corrupt(position, error.to_string(), before))?;
            size += bytes;
        }
        self.check_seal(&opened.head)?;
        Ok(Some(OpenLog { head: opened.head, fold, sizes: (snapshot_size, size) }))
    }

    /// What `records` make of `before`, and their size, if each of them follows the one before it and all are whole: a thread
    /// that was never rewound. Each entry is gone before the next is read. Of any other, `None`.
    fn fold_straight(
        &self,
        life: Life,
        records: &[Record],
        before: &ThreadFold,
        tip: Position,
    ) -> Option<(ThreadFold, usize)> {
        let mut at = before.position;
        for record in records {
            if record.position != at.next() || record.parent()? != at {
                return None;
            }
            at = record.position;
        }
        if at != tip {
            return None;
        }
        let (mut fold, mut size) = (before.clone(), 0);
        for record in records {
            let (_, entry) = record.open(self.store.codec(), &self.thread, life).ok()?;
            fold.apply(record.position, &entry).ok()?;
            size += record.bytes.len();
        }
        Some((fold, size))
    }

    /// The entries that lead from `base` to `tip`, in order, each with its size; `None` if the branch leaves before `base`.
    /// Of records that do not lead there nothing is read, so that a thread that goes on from before a damaged one reads.
    fn branch_of(
        &self,
        life: Life,
        records: &[Record],
        base: Position,
        tip: Position,
    ) -> Result<Option<Vec<(LogEntry, usize)>>, CheckpointError> {
        let (mut branch, mut at, mut damage) = (Vec::new(), tip, None);
        while at > base {
            let found = records.binary_search_by_key(&at, |record| record.position);
            let read = match found.ok().and_then(|index| records.get(index)) {
                Some(record) => {
                    self.read(life, record, previous(at)).map(|it| (it, record.bytes.len()))
                }
                // Where the gap begins is found at once: a damaged head may be any number.
                None => {
                    let before = records.partition_point(|record| record.position < at);
                    let newest = before.checked_sub(1).and_then(|index| records.get(index));
                    let good = newest.map_or(base, |record| record.position.max(base));
                    damage = Some(self.corrupt(good.next(), "it is missing".to_owned(), good));
                    at = good;
                    continue;
                }
            };
            match read {
                // A parent stands before its child, or the walk would not end.
                Ok(((parent, _), _)) if parent >= at => return Ok(None),
                Ok(((parent, entry), bytes)) => {
                    branch.push((LogEntry { position: at, parent, entry }, bytes));
                    at = parent;
                }
                // What it follows is not known. What precedes it is read to find the last good position.
                Err(error @ CheckpointError::Corrupt { .. }) => {
                    damage = Some(error);
                    at = previous(at);
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(error) = damage {
            return Err(error);
        }
        branch.reverse();
        Ok((at == base).then_some(branch))
    }

    /// A page of the log's entries before `before` (`None`: its end), newest first, on all branches.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] for a damaged record.
    pub async fn history(
        &self,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Vec<LogEntry>, CheckpointError> {
        let page = self.store.history(&self.thread, before, limit).await?;
        let Some(Opened { head, mut records, .. }) = page else { return Ok(Vec::new()) };
        // What is left of erased records says nothing of the state.
        records.retain(|record| record.position > head.floor);
        let mut entries = Vec::with_capacity(records.len());
        let mut due = records.first().map_or(Position::START, |record| record.position);
        for record in &records {
            let before = previous(due);
            if record.position != due {
                return Err(self.corrupt(due, "it is missing".to_owned(), before));
            }
            let (parent, entry) = self.read(head.life, record, before)?;
            entries.push(LogEntry { position: due, parent, entry });
            due = before;
        }
        if entries.len() < limit && due > head.floor {
            let before = previous(due);
            return Err(self.corrupt(due, "it is missing".to_owned(), before));
        }
        Ok(entries)
    }

    /// Begins the thread `to` (of the same tenant) with the state of this one at `at` (`None`: its end). The new thread
    /// holds no history, and reading it never opens this one. Returns the position that was forked.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] when `to` has a log already, or this thread has none.
    pub async fn fork(
        &self,
        at: Option<Position>,
        to: &ThreadKey,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Position, CheckpointError> {
        let Some(log) = self.open(at).await? else {
            let (expected, actual) = (Position::START.next(), Position::START);
            return Err(CheckpointError::Conflict {
                thread: self.thread.clone(),
                expected,
                actual,
            });
        };
        let position = log.fold.position;
        let fold = ThreadFold { identity: None, ..log.fold };
        let (thread, snapshot) = (self.thread.thread().to_owned(), Snapshot::of(&fold));
        let origin = Origin { thread, position, snapshot };
        // What the fork is at is what is due there, whoever was asked.
        let graph = self.info().await?.and_then(|mut info| info.labels.remove(GRAPH));
        let labels = Labels {
            graph: graph.map(Into::into),
            ..Labels::of(&origin.snapshot.to_fold(position))
        };
        let entry = Entry { at: now, namespace: Namespace::root(), body: Body::Origin(origin) };
        let from = Ancestor { life: log.head.life, link: log.head.link };
        let (codec, mut tip) = (self.store.codec(), self.new_tip(id));
        let record = tip.push_from(codec, to, Position::START, &entry, &from).map_err(unwritten)?;
        let append = tip.append(codec, to, id, Position::START, Guard::Unclaimed, vec![record]);
        let (origin, labels) = (Some(self.thread.thread().to_owned()), labels.since(None));
        let append = Append { origin, labels, updated: Some(now), ..append };
        self.store.append(to, append).await?;
        Ok(position)
    }

    /// The beginning of a life that the append `id` begins.
    pub(crate) fn new_tip(&self, id: AppendId) -> Tip {
        // The id is drawn at random, and no other append has it.
        Tip::new(Life::new(id.0), self.store.is_chained())
    }

    /// Makes the thread go on from `to`: later entries stay in the log, on a branch of their own.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Fenced`] while a run owns the thread; [`CheckpointError::Conflict`] when `to` is not in the log
    /// or someone else appended first; [`CheckpointError::Pruned`] when it was cut off.
    pub async fn rewind(
        &self,
        to: Position,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Position, CheckpointError> {
        let head = self.store.head(&self.thread).await?;
        let Some(head) = head.filter(|head| to <= head.position && to > Position::START) else {
            let head = self.store.head(&self.thread).await?;
            let actual = head.map_or(Position::START, |head| head.position);
            let thread = self.thread.clone();
            return Err(CheckpointError::Conflict { thread, expected: to, actual });
        };
        if to < head.floor {
            return Err(self.pruned(to, head.floor));
        }
        let before = head.position;
        let rewound = self.rewind_from(Tip::of(&head), to, id, now).await?;
        // A log is cut without its head moving: `to` may have gone meanwhile, and then the thread goes on where it was.
        let floor = self.floor().await?;
        if to < floor {
            self.rewind_from(rewound, before, AppendId(id.0.wrapping_add(1)), now).await?;
            return Err(self.pruned(to, floor));
        }
        Ok(rewound.position)
    }

    /// Takes the thread from whoever owns it, so that nobody does: the run that did is fenced off, and the next one finishes
    /// its turn. For the claims of the dead, and for an operator who knows better than a lease. Returns where the thread is
    /// then.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] when the thread is not at `head` any more.
    pub async fn release(
        &self,
        head: &Head,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Head, CheckpointError> {
        let (mut tip, epoch) = (Tip::of(head), head.epoch.next(now));
        let nothing = Edit { node: None, changes: Default::default(), frontier: None };
        let namespace = Namespace::root();
        let entry = Entry { at: now, namespace, body: Body::Edit(nothing) };
        let (codec, before) = (self.store.codec(), tip.position);
        let record = tip.push(codec, &self.thread, before, &entry).map_err(unwritten)?;
        let guard = Guard::Clear(epoch);
        let append = tip.append(codec, &self.thread, id, before, guard, vec![record]);
        let (position, link, seal) = (tip.position, append.link, append.seal);
        self.store.append(&self.thread, Append { updated: Some(now), ..append }).await?;
        Ok(Head { position, epoch, claim: None, link, seal, ..head.clone() })
    }

    async fn rewind_from(
        &self,
        mut tip: Tip,
        to: Position,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Tip, CheckpointError> {
        // Of a log that is damaged there, what the labels said stays: whoever reads it is told.
        let opened = self.open(Some(to)).await.ok().flatten();
        let labels = opened.map(|mut opened| {
            let entry = Entry { at: now, namespace: Namespace::root(), body: Body::Rewind };
            let rewound = opened.fold.apply(tip.position.next(), &entry);
            rewound.map_or_else(|_| Vec::new(), |()| Labels::of(&opened.fold).since(None))
        });
        let labels = labels.unwrap_or_default();
        let entry = Entry { at: now, namespace: Namespace::root(), body: Body::Rewind };
        let (codec, before) = (self.store.codec(), tip.position);
        let record = tip.push(codec, &self.thread, to, &entry).map_err(unwritten)?;
        let append = tip.append(codec, &self.thread, id, before, Guard::Unclaimed, vec![record]);
        let append = Append { labels, updated: Some(now), ..append };
        self.store.append(&self.thread, append).await?;
        Ok(tip)
    }

    /// Keeps a snapshot of `fold`, in which nothing may be pending, of this life of the thread; returns its size in bytes.
    ///
    /// # Errors
    ///
    /// What the store says. A snapshot is a cache: nothing is lost without it.
    pub async fn put_snapshot(
        &self,
        life: Life,
        fold: &ThreadFold,
    ) -> Result<usize, CheckpointError> {
        Ok(self.put_snapshot_within(life, fold, usize::MAX).await?.unwrap_or_default())
    }

    /// As [`put_snapshot`](Log::put_snapshot), unless the snapshot has more than `most` bytes: then `None`.
    ///
    /// # Errors
    ///
    /// As [`put_snapshot`](Log::put_snapshot).
    pub async fn put_snapshot_within(
        &self,
        life: Life,
        fold: &ThreadFold,
        most: usize,
    ) -> Result<Option<usize>, CheckpointError> {
        let payload = Snapshot::of(fold).after(seal::ROOM);
        let place = self.place(life, fold.position);
        let bytes = seal::seal_after(self.store.codec(), Sealed::Snapshot, place, payload);
        let bytes = bytes.map_err(unwritten)?;
        let size = bytes.len();
        if size > most {
            return Ok(None);
        }
        self.store.put_snapshot(&self.thread, life, fold.position, bytes).await?;
        Ok(Some(size))
    }

    pub(crate) fn read(
        &self,
        life: Life,
        record: &Record,
        last_good: Position,
    ) -> Result<(Position, Entry), CheckpointError> {
        record
            .open(self.store.codec(), &self.thread, life)
            .map_err(|error| self.unread(error, record.position, last_good))
    }

    /// As [`read`](Log::read), with the salt of a chained record.
    pub(crate) fn read_salted(
        &self,
        life: Life,
        record: &Record,
        last_good: Position,
    ) -> Result<(Position, Entry, Option<Salt>), CheckpointError> {
        record
            .open_salted(self.store.codec(), &self.thread, life)
            .map_err(|error| self.unread(error, record.position, last_good))
    }

    /// The error of a record at `position` that is not read.
    pub(crate) fn unread(
        &self,
        error: RecordError,
        position: Position,
        last_good: Position,
    ) -> CheckpointError {
        match error {
            RecordError::Version { found } => {
                CheckpointError::TooNew { found: u32::from(found), supported: u32::from(VERSION) }
            }
            RecordError::Codec(error) => {
                UnsealError::Codec(error).at(self.thread.clone(), position)
            }
            error => self.corrupt(position, error.to_string(), last_good),
        }
    }

    /// What a snapshot of the thread, or what stands for its first records, amounts to.
    fn restore(
        &self,
        head: &Head,
        position: Position,
        bytes: &Bytes,
    ) -> Result<ThreadFold, UnsealError> {
        if position == head.floor {
            let base = self.unseal_base(head.life, position, bytes)?;
            return base.to_fold(position).map_err(|_checksum_fits| UnsealError::Damaged);
        }
        Ok(self.unseal(head.life, position, bytes)?.to_fold(position))
    }

    pub(crate) fn unseal(
        &self,
        life: Life,
        position: Position,
        bytes: &[u8],
    ) -> Result<Snapshot, UnsealError> {
        let place = self.place(life, position);
        let payload = seal::unseal(self.store.codec(), Sealed::Snapshot, place, bytes)?;
        Snapshot::from_bytes(&payload).map_err(|_checksum_fits| UnsealError::Damaged)
    }

    /// What stands for the records up to `floor`, as the store's codec makes it.
    pub(crate) fn seal_base(
        &self,
        thread: &ThreadKey,
        life: Life,
        floor: Position,
        base: &BaseState,
    ) -> Result<Bytes, CheckpointError> {
        let place = SealPlace { thread, life, position: floor };
        seal::seal(self.store.codec(), Sealed::Base, place, base.to_bytes()).map_err(unwritten)
    }

    pub(crate) fn unseal_base(
        &self,
        life: Life,
        floor: Position,
        bytes: &[u8],
    ) -> Result<BaseState, UnsealError> {
        let place = self.place(life, floor);
        let payload = seal::unseal(self.store.codec(), Sealed::Base, place, bytes)?;
        BaseState::from_bytes(&payload).map_err(|_checksum_fits| UnsealError::Damaged)
    }

    fn place(&self, life: Life, position: Position) -> SealPlace<'_> {
        SealPlace { thread: &self.thread, life, position }
    }

    /// Refuses a head that was not written with a key that the codec has, if it has any.
    pub(crate) fn check_seal(&self, head: &Head) -> Result<(), CheckpointError> {
        let keys = self.store.codec().chain_keys();
        if keys.is_empty() {
            return Ok(());
        }
        let tip = Tip::of(head);
        let fits =
            |seal: &HeadSeal| keys.iter().any(|key| HeadSeal::of(key, &self.thread, &tip).is(seal));
        if head.seal.as_ref().is_some_and(fits) {
            return Ok(());
        }
        let reason = "the thread's head was not sealed here: later records may be gone".to_owned();
        Err(self.corrupt(head.position, reason, head.position))
    }

    pub(crate) async fn floor(&self) -> Result<Position, CheckpointError> {
        Ok(self.store.head(&self.thread).await?.map_or(Position::START, |head| head.floor))
    }

    pub(crate) fn pruned(&self, position: Position, floor: Position) -> CheckpointError {
        CheckpointError::Pruned { thread: self.thread.clone(), position, floor }
    }

    pub(crate) fn corrupt(
        &self,
        position: Position,
        reason: String,
        last_good: Position,
    ) -> CheckpointError {
        CheckpointError::Corrupt { thread: self.thread.clone(), position, reason, last_good }
    }
}

/// The position before `position`.
pub(crate) fn previous(position: Position) -> Position {
    Position(position.0.saturating_sub(1))
}

/// The error of a record that the codec does not make.
pub(crate) fn unwritten(error: CodecError) -> CheckpointError {
    CheckpointError::Encode(error.into())
}
