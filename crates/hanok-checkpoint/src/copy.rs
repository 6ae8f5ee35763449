//! A thread under another name.

use hanok_core::{Namespace, Position, ThreadKey, Timestamp};

use crate::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Copied, Entry, Guard, Log, LogEntry,
    Snapshot, Snapshots, ThreadInfo, Trim, Which,
};

/// How many threads are listed at once.
const PAGE: usize = 256;

/// A log that is taken elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Moved {
    pub(crate) from: ThreadKey,
    /// Where the log was cut off, and what it amounted to there.
    pub(crate) base: Option<(Position, Snapshot)>,
    pub(crate) entries: Vec<LogEntry>,
    pub(crate) origin: Option<String>,
    pub(crate) expires: Option<Timestamp>,
}

impl Log {
    /// Writes this thread under the name `to`: every entry at its position, on all branches, and one more that says where
    /// they come from. This thread does not change, nor does the other follow it.
    ///
    /// A turn that is not over goes on in the copy as it would here, with the same tasks and the same keys of calls, so that
    /// a call in doubt is the same call in both: let one of them go on. What begins after it has ids of its own. Items for
    /// others are not handed over again. A copy is no fork: erasing this thread leaves it.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] when `to` has a log already, or this thread has none; [`CheckpointError::Corrupt`] for a
    /// damaged record on any branch.
    pub async fn copy(
        &self,
        to: &ThreadKey,
        id: AppendId,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let moved = self.moved().await?;
        Self::new(self.store().clone(), to.clone()).put(moved, id, now).await
    }

    /// All that the log holds.
    pub(crate) async fn moved(&self) -> Result<Moved, CheckpointError> {
        let Some(opened) = self.store().open(self.thread(), None, Snapshots::Ignore).await? else {
            let (expected, actual) = (Position::START.next(), Position::START);
            let thread = self.thread().clone();
            return Err(CheckpointError::Conflict { thread, expected, actual });
        };
        let (floor, mut good) = (opened.head.floor, opened.head.floor);
        let base = match &opened.snapshot {
            None => None,
            Some((at, bytes)) => Some((
                *at,
                self.unseal(*at, bytes).map_err(|error| error.at(self.thread().clone(), floor))?,
            )),
        };
        let mut entries = Vec::with_capacity(opened.records.len());
        for record in &opened.records {
            if record.position != good.next() {
                return Err(self.corrupt(good.next(), "it is missing".to_owned(), good));
            }
            let (parent, entry) = self.read(record, good)?;
            good = record.position;
            entries.push(LogEntry { position: good, parent, entry });
        }
        if good != opened.head.position {
            return Err(self.corrupt(good.next(), "it is missing".to_owned(), good));
        }
        let info = self.info().await?;
        let (origin, expires) = info.map_or((None, None), |info| (info.origin, info.expires));
        Ok(Moved { from: self.thread().clone(), base, entries, origin, expires })
    }

    /// Writes what another log holds as this thread's.
    pub(crate) async fn put(
        &self,
        moved: Moved,
        id: AppendId,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let Moved { from, base, entries, origin, expires } = moved;
        let thread = self.thread();
        let root = |body| Entry { at: now, namespace: Namespace::root(), body };
        let mut records = Vec::with_capacity(entries.len());
        if let Some((floor, snapshot)) = &base {
            // What was cut off has its place and nothing in it; what follows begins with what it amounted to.
            for at in (1..floor.0).map(Position) {
                records.push(self.record(thread, at, Position::START, &root(Body::Rewind))?);
            }
            let copied = Copied { from: from.clone(), base: Some(snapshot.clone()) };
            let entry = root(Body::Copied(copied));
            records.push(self.record(thread, *floor, Position::START, &entry)?);
        }
        let cut = base.map(|(floor, _)| floor);
        let mut last = cut.unwrap_or(Position::START);
        for LogEntry { position, parent, entry } in &entries {
            records.push(self.record(thread, *position, *parent, entry)?);
            last = *position;
        }
        if from != *thread {
            let entry = root(Body::Copied(Copied { from: from.clone(), base: None }));
            records.push(self.record(thread, last.next(), last, &entry)?);
        }
        let origin = origin.filter(|_| from.tenant() == thread.tenant());
        let append = Append::new(id, Position::START, Guard::Unclaimed, records);
        self.store().append(thread, Append { origin, expires, ..append }).await?;
        let Some(floor) = cut else { return Ok(()) };
        // The log is whole already; this takes the empty places away.
        let Some(opened) = self.open(Some(floor)).await? else { return Ok(()) };
        let base = self.seal(&opened.fold)?;
        let trim = Trim { floor, base, expected: None, then: None };
        self.store().trim(thread, trim).await
    }

    /// The thread, as it is listed.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn info(&self) -> Result<Option<ThreadInfo>, CheckpointError> {
        let thread = self.thread();
        // The listing begins close before the thread.
        let mut name = thread.thread().to_owned();
        name.pop();
        let mut after = ThreadKey::new(thread.tenant().clone(), &name).ok();
        loop {
            let which = Which::Of(thread.tenant().clone());
            let page = self.store().threads(which, after.as_ref(), PAGE).await?;
            let Some(last) = page.last().map(|info| info.thread.clone()) else { return Ok(None) };
            if let Some(info) = page.into_iter().find(|info| info.thread == *thread) {
                return Ok(Some(info));
            }
            if last > *thread {
                return Ok(None);
            }
            after = Some(last);
        }
    }
}
