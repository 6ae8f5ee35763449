//! Along one branch of a log, from its tip back.

use std::collections::VecDeque;

use hanok_core::Position;

use crate::{CheckpointError, Checkpointer, Head, Life, Log, LogEntry, Record, log::previous};

/// How many records are read at a time.
const PAGE: usize = 256;

/// The entries of a branch, newest first. Of records that are not on it nothing is read.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    log: &'a Log,
    /// The next entry of the branch.
    due: Position,
    floor: Position,
    life: Life,
    /// Newest first.
    page: VecDeque<Record>,
}

impl<'a> Walk<'a> {
    /// The branch that leads to `tip` of the thread that is at `head`, down to `floor`, which is not on it any more.
    pub(crate) fn new(log: &'a Log, head: &Head, tip: Position, floor: Position) -> Self {
        Self { log, due: tip, floor, life: head.life, page: VecDeque::new() }
    }

    /// The entry that precedes the last one; `None` at the floor, or where the branch leaves before it.
    pub(crate) async fn next(&mut self) -> Result<Option<LogEntry>, CheckpointError> {
        if self.due <= self.floor {
            return Ok(None);
        }
        let (position, last_good) = (self.due, previous(self.due));
        while self.page.front().is_some_and(|record| record.position > position) {
            self.page.pop_front();
        }
        if self.page.is_empty() {
            let (thread, after) = (self.log.thread(), Some(position.next()));
            if let Some(page) = self.log.store().history(thread, after, PAGE).await? {
                page.head.life.admit(thread, self.life)?;
                self.page = page.records.into();
            }
        }
        let Some(record) = self.page.pop_front().filter(|record| record.position == position)
        else {
            return Err(self.log.corrupt(position, "it is missing".to_owned(), last_good));
        };
        let (parent, entry) = self.log.read(self.life, &record, last_good)?;
        // A parent stands before its child, or the walk would not end.
        if parent >= position {
            let reason = "its parent does not stand before it".to_owned();
            return Err(self.log.corrupt(position, reason, last_good));
        }
        self.due = parent;
        Ok(Some(LogEntry { position, parent, entry }))
    }
}

/// Entries of the branch that a thread is on.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The thread's life.
    pub life: Life,
    /// The position up to which records were cut off.
    pub floor: Position,
    /// The entries, in order.
    pub entries: Vec<LogEntry>,
}

impl Log {
    /// The entries of the branch that the thread is on after `after`, in order. Where the branch leaves before `after`, or
    /// the log was cut off there, the first of them says what it follows. `None` for a thread that has no log.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] for a damaged record of the branch.
    pub async fn branch(&self, after: Position) -> Result<Option<Branch>, CheckpointError> {
        let Some(head) = self.store().head(self.thread()).await? else { return Ok(None) };
        let mut walk = Walk::new(self, &head, head.position, after.max(head.floor));
        let mut entries = Vec::new();
        while let Some(entry) = walk.next().await? {
            entries.push(entry);
        }
        entries.reverse();
        Ok(Some(Branch { life: head.life, floor: head.floor, entries }))
    }
}
