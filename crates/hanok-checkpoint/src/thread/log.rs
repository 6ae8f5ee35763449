//! The log of one thread, on any store.

use hanok_core::{Position, ThreadKey};

use crate::{
    backend::checkpointer::{Checkpointer, Opened, Snapshots},
    backend::head::Head,
    backend::shared::SharedCheckpointer,
    codec::CodecError,
    entry::body::Entry,
    entry::fold::ThreadFold,
    error::CheckpointError,
    format::record::Record,
    life::Life,
};

/// The log of one thread.
///
/// ```
/// # use hanok_checkpoint::*;
/// # futures::executor::block_on(async {
/// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
/// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
/// # let thread = ThreadKey::new(Tenant::default(), "t")?;
/// # let log = Log::new(store.clone(), thread.clone());
/// # let nothing = Edit { frontier: Some(Frontier::default()), ..Edit::default() };
/// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Edit(nothing) };
/// # let mut tip = Tip::new(Life::new(1), false);
/// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
/// # let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
/// # store.append(&thread, append).await?;
/// let log = Log::new(store.clone(), thread);
/// let opened = log.open(None).await?.ok_or("nobody has written to the thread")?;
/// assert_eq!((opened.head.position, opened.fold.position), (Position(1), Position(1)));
/// assert!(opened.fold.is_quiet());
///
/// for entry in log.history(None, 100).await? {
///     println!("{} follows {}: {}", entry.position, entry.parent, entry.entry.body.kind());
/// }
///
/// let fork = ThreadKey::new(Tenant::default(), "what-if")?;
/// log.fork(Some(Position(1)), &fork, AppendId(2), Timestamp(8)).await?;
/// log.rewind(Position(1), None, AppendId(3), Timestamp(9)).await?;
/// assert_eq!(log.history(None, 100).await?.len(), 2);
/// assert!(log.verify().await?.is_some_and(|verified| verified.is_whole()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Log {
    store: SharedCheckpointer,
    thread: ThreadKey,
}

/// A log that was read.
#[derive(Debug, Clone)]
pub struct OpenLog {
    /// The head of the thread.
    pub head: Head,
    /// The fold of its log at the requested position.
    pub fold: ThreadFold,
    /// The bytes of the newest snapshot, and of the entries since.
    pub sizes: (usize, usize),
}

/// One entry of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct LogEntry {
    /// The position.
    pub position: Position,
    /// The entry it follows.
    pub parent: Position,
    /// The entry.
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
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
    /// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// # let log = Log::new(store.clone(), thread.clone());
    /// # let nothing = Edit { frontier: Some(Frontier::default()), ..Edit::default() };
    /// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Edit(nothing) };
    /// # let mut tip = Tip::new(Life::new(1), false);
    /// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
    /// # let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
    /// # store.append(&thread, append).await?;
    /// let before = log.open(Some(Position(1))).await?.map(|opened| opened.fold.position);
    /// assert_eq!(before, Some(Position(1)));
    /// assert!(matches!(log.open(Some(Position(9))).await, Err(CheckpointError::NoSuchPosition { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] for a damaged record, with the last good position; a damaged snapshot is passed over.
    /// [`CheckpointError::NoSuchPosition`] when `at` is not in the log.
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
            let (thread, position, end) = (self.thread.clone(), tip, opened.head.position);
            return Err(CheckpointError::NoSuchPosition { thread, position, end });
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
                    return Err(error.at(&self.thread, floor));
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

    /// The fold of `records` after `before`, and their size, if each of them follows the one before it and all are whole: a thread
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
            let index = records.binary_search_by_key(&at, |record| record.position);
            let read = match index.ok().and_then(|index| records.get(index)) {
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
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
    /// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// # let log = Log::new(store.clone(), thread.clone());
    /// # let nothing = Edit { frontier: Some(Frontier::default()), ..Edit::default() };
    /// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Edit(nothing) };
    /// # let mut tip = Tip::new(Life::new(1), false);
    /// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
    /// # let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
    /// # store.append(&thread, append).await?;
    /// let newest = log.history(None, 10).await?;
    /// assert_eq!(newest[0].position, Position(1));
    /// assert!(log.history(Some(Position(1)), 10).await?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
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

    pub(crate) async fn floor(&self) -> Result<Position, CheckpointError> {
        Ok(self.store.head(&self.thread).await?.map_or(Position::START, |head| head.floor))
    }

    pub(crate) fn pruned(&self, position: Position, floor: Position) -> CheckpointError {
        CheckpointError::pruned(&self.thread, position, floor)
    }

    pub(crate) fn corrupt(
        &self,
        position: Position,
        reason: String,
        last_good: Position,
    ) -> CheckpointError {
        CheckpointError::corrupt(&self.thread, position, reason, last_good)
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
