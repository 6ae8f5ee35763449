//! Along one branch of a log, from its tip back.

use std::collections::VecDeque;

use hanok_core::Position;

use crate::{
    backend::checkpointer::Checkpointer,
    backend::head::Head,
    entry::body::Body,
    entry::state::ThreadLife,
    error::CheckpointError,
    format::record::Record,
    life::Life,
    thread::log::{Log, LogEntry, previous},
};

/// The number of records that are read at a time.
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

/// The branch that a thread is on, from some position on: where its entries stand, which are read by
/// [`Log::branch_page`].
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The thread's life.
    pub life: Life,
    /// The position up to which records were cut off.
    pub floor: Position,
    /// The position that the first entry follows.
    pub follows: Position,
    /// The positions of the entries, in order.
    pub places: VecDeque<Position>,
    /// The positions at which threads were copied, and the threads.
    pub copies: VecDeque<(Position, ThreadLife)>,
}

impl Log {
    /// The branch that the thread is on after `after`. Where it leaves before `after`, or the log was cut off there, it says
    /// what its first entry follows. `None` for a thread that has no log.
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
    /// let mut branch = log.branch(Position::START).await?.ok_or("no log")?;
    /// assert_eq!(log.branch_page(&mut branch).await?.len(), 1);
    /// assert!(log.branch_page(&mut branch).await?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] for a damaged record of the branch.
    pub async fn branch(&self, after: Position) -> Result<Option<Branch>, CheckpointError> {
        let Some(head) = self.store().head(self.thread()).await? else { return Ok(None) };
        let from = after.max(head.floor);
        let mut walk = Walk::new(self, &head, head.position, from);
        let (mut places, mut copies) = (VecDeque::new(), VecDeque::new());
        let mut follows = from.min(head.position);
        while let Some(entry) = walk.next().await? {
            places.push_front(entry.position);
            follows = entry.parent;
            if let Body::Copied(copied) = entry.entry.body {
                copies.push_front((entry.position, copied.from));
            }
        }
        Ok(Some(Branch { life: head.life, floor: head.floor, follows, places, copies }))
    }

    /// The next entries of `branch`, which are taken off it: as many as are read at a time. None at its end.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] for a damaged record; [`CheckpointError::Pruned`] for one that was cut off meanwhile.
    pub async fn branch_page(&self, branch: &mut Branch) -> Result<Vec<LogEntry>, CheckpointError> {
        let Some(first) = branch.places.front().copied() else { return Ok(Vec::new()) };
        // Entries of other branches may stand between: those are passed over.
        let within = |place: &&Position| place.0 < first.0 + PAGE as u64;
        let count = branch.places.iter().take_while(within).count();
        let places: Vec<_> = branch.places.drain(..count).collect();
        let Some(last) = places.last().copied() else { return Ok(Vec::new()) };
        let limit = usize::try_from(last.0 - first.0 + 1).unwrap_or(PAGE);
        let page = self.store().history(self.thread(), Some(last.next()), limit).await?;
        let (head, records) =
            page.map_or((None, Vec::new()), |page| (Some(page.head), page.records));
        if let Some(head) = &head {
            head.life.admit(self.thread(), branch.life)?;
            if head.floor >= first {
                return Err(self.pruned(first, head.floor));
            }
        }
        let mut entries = Vec::with_capacity(places.len());
        let mut records = records.iter().rev().peekable();
        for position in places {
            while records.next_if(|record| record.position < position).is_some() {}
            let Some(record) = records.next_if(|record| record.position == position) else {
                return Err(self.corrupt(position, "it is missing".to_owned(), previous(position)));
            };
            let (parent, entry) = self.read(branch.life, record, previous(position))?;
            entries.push(LogEntry { position, parent, entry });
        }
        Ok(entries)
    }
}
