//! The log of one thread, on any store.

use bytes::Bytes;
use hanok_core::{Position, ThreadKey, Timestamp};

use crate::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Edit, Entry, Guard, Head, Opened,
    Origin, Record, RecordError, SharedCheckpointer, Snapshot, Snapshots, ThreadFold,
    seal::{self, Sealed, UnsealError},
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
        let floor = opened.head.floor;
        if tip < floor {
            return Err(self.pruned(tip, floor));
        }
        let (base, mut fold, snapshot_size) = match &opened.snapshot {
            None => (Position::START, ThreadFold::default(), 0),
            Some((position, bytes)) => match self.unseal(*position, bytes) {
                Ok(snapshot) => (*position, snapshot.to_fold(*position), bytes.len()),
                Err(error) if *position == floor => {
                    return Err(error.at(self.thread.clone(), floor));
                }
                Err(_) => return Ok(None),
            },
        };
        if let Some((fold, size)) = self.fold_straight(&opened.records, &fold, tip) {
            return Ok(Some(OpenLog { head: opened.head, fold, sizes: (snapshot_size, size) }));
        }
        let Some(branch) = self.branch_of(&opened.records, base, tip)? else {
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
        Ok(Some(OpenLog { head: opened.head, fold, sizes: (snapshot_size, size) }))
    }

    /// What `records` make of `before`, and their size, if each of them follows the one before it and all are whole: a thread
    /// that was never rewound. Each entry is gone before the next is read. Of any other, `None`.
    fn fold_straight(
        &self,
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
            let (_, entry) = record.open(self.store.codec(), &self.thread).ok()?;
            fold.apply(record.position, &entry).ok()?;
            size += record.bytes.len();
        }
        Some((fold, size))
    }

    /// The entries that lead from `base` to `tip`, in order, each with its size; `None` if the branch leaves before `base`.
    /// Of records that do not lead there nothing is read, so that a thread that goes on from before a damaged one reads.
    fn branch_of(
        &self,
        records: &[Record],
        base: Position,
        tip: Position,
    ) -> Result<Option<Vec<(LogEntry, usize)>>, CheckpointError> {
        let (mut branch, mut at, mut damage) = (Vec::new(), tip, None);
        while at > base {
            let found = records.binary_search_by_key(&at, |record| record.position);
            let read = match found.ok().and_then(|index| records.get(index)) {
                Some(record) => self.read(record, previous(at)).map(|it| (it, record.bytes.len())),
                None => Err(self.corrupt(at, "it is missing".to_owned(), previous(at))),
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
        let records = self.store.history(&self.thread, before, limit).await?;
        let mut entries = Vec::with_capacity(records.len());
        let mut due = records.first().map_or(Position::START, |record| record.position);
        for record in &records {
            let before = previous(due);
            if record.position != due {
                return Err(self.corrupt(due, "it is missing".to_owned(), before));
            }
            let (parent, entry) = self.read(record, before)?;
            entries.push(LogEntry { position: due, parent, entry });
            due = before;
        }
        if entries.len() < limit && due > self.floor().await? {
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
        let entry =
            Entry { at: now, namespace: hanok_core::Namespace::root(), body: Body::Origin(origin) };
        let record = self.record(to, Position::START.next(), Position::START, &entry)?;
        let append = Append::new(id, Position::START, Guard::Unclaimed, vec![record]);
        let append = Append { origin: Some(self.thread.thread().to_owned()), ..append };
        self.store.append(to, append).await?;
        Ok(position)
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
        let actual = head.as_ref().map_or(Position::START, |head| head.position);
        let floor = head.map_or(Position::START, |head| head.floor);
        if to > actual || to == Position::START {
            let thread = self.thread.clone();
            return Err(CheckpointError::Conflict { thread, expected: to, actual });
        }
        if to < floor {
            return Err(self.pruned(to, floor));
        }
        let rewound = self.rewind_from(actual, to, id, now).await?;
        // A log is cut without its head moving: `to` may have gone meanwhile, and then the thread goes on where it was.
        let floor = self.floor().await?;
        if to < floor {
            self.rewind_from(rewound, actual, AppendId(id.0.wrapping_add(1)), now).await?;
            return Err(self.pruned(to, floor));
        }
        Ok(rewound)
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
        let (at, epoch) = (head.position, head.epoch.next(now));
        let nothing = Edit { node: None, changes: Default::default(), frontier: None };
        let (namespace, body) = (hanok_core::Namespace::root(), Body::Edit(nothing));
        let record =
            self.record(&self.thread, at.next(), at, &Entry { at: now, namespace, body })?;
        let append = Append::new(id, at, Guard::Clear(epoch), vec![record]);
        self.store.append(&self.thread, append).await?;
        Ok(Head { position: at.next(), epoch, claim: None, ..head.clone() })
    }

    async fn rewind_from(
        &self,
        actual: Position,
        to: Position,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Position, CheckpointError> {
        let entry = Entry { at: now, namespace: hanok_core::Namespace::root(), body: Body::Rewind };
        let record = self.record(&self.thread, actual.next(), to, &entry)?;
        let append = Append::new(id, actual, Guard::Unclaimed, vec![record]);
        self.store.append(&self.thread, append).await?;
        Ok(actual.next())
    }

    /// Keeps a snapshot of `fold`, in which nothing may be pending; returns its size in bytes.
    ///
    /// # Errors
    ///
    /// What the store says. A snapshot is a cache: nothing is lost without it.
    pub async fn put_snapshot(&self, fold: &ThreadFold) -> Result<usize, CheckpointError> {
        Ok(self.put_snapshot_within(fold, usize::MAX).await?.unwrap_or_default())
    }

    /// As [`put_snapshot`](Log::put_snapshot), unless the snapshot has more than `most` bytes: then `None`.
    ///
    /// # Errors
    ///
    /// As [`put_snapshot`](Log::put_snapshot).
    pub async fn put_snapshot_within(
        &self,
        fold: &ThreadFold,
        most: usize,
    ) -> Result<Option<usize>, CheckpointError> {
        let bytes = self.seal(fold)?;
        let size = bytes.len();
        if size > most {
            return Ok(None);
        }
        self.store.put_snapshot(&self.thread, fold.position, bytes).await?;
        Ok(Some(size))
    }

    pub(crate) fn read(
        &self,
        record: &Record,
        last_good: Position,
    ) -> Result<(Position, Entry), CheckpointError> {
        record.open(self.store.codec(), &self.thread).map_err(|error| match error {
            RecordError::Version { found } => {
                CheckpointError::TooNew { found: u32::from(found), supported: 1 }
            }
            RecordError::Codec(error) => {
                UnsealError::Codec(error).at(self.thread.clone(), record.position)
            }
            error => self.corrupt(record.position, error.to_string(), last_good),
        })
    }

    /// A record of `thread`, as the store's codec makes it.
    pub(crate) fn record(
        &self,
        thread: &ThreadKey,
        position: Position,
        parent: Position,
        entry: &Entry,
    ) -> Result<Record, CheckpointError> {
        Record::sealed(self.store.codec(), thread, position, parent, entry)
            .map_err(|error| CheckpointError::Encode(error.into()))
    }

    /// The snapshot of `fold`, as the store's codec makes it.
    pub(crate) fn seal(&self, fold: &ThreadFold) -> Result<Bytes, CheckpointError> {
        let payload = Snapshot::of(fold).to_bytes();
        seal::seal(self.store.codec(), Sealed::Snapshot, (&self.thread, fold.position), payload)
            .map_err(|error| CheckpointError::Encode(error.into()))
    }

    pub(crate) fn unseal(&self, position: Position, bytes: &[u8]) -> Result<Snapshot, UnsealError> {
        let place = (&self.thread, position);
        let payload = seal::unseal(self.store.codec(), Sealed::Snapshot, place, bytes)?;
        Snapshot::from_bytes(&payload).map_err(|_checksum_fits| UnsealError::Damaged)
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
