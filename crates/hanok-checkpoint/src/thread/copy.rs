//! A thread under another name.

use std::collections::BTreeMap;

use hanok_core::{Namespace, Position, ThreadKey, Timestamp};

use crate::{
    backend::append::{Append, AppendId, Base, Guard},
    backend::checkpointer::{Checkpointer, Snapshots},
    backend::threads::{ThreadInfo, Which},
    chain::Ancestor,
    codec::KeyId,
    entry::body::{Body, Entry},
    entry::state::{Copied, ThreadLife},
    error::CheckpointError,
    format::base::BaseState,
    format::record::Salt,
    thread::log::{Log, LogEntry, unwritten},
};

/// The number of threads that are listed at once.
const PAGE: usize = 256;

/// A log that is taken elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LogCopy {
    pub(crate) from: ThreadKey,
    /// The life it had, and the newest link.
    pub(crate) ancestor: Ancestor,
    /// The position of its last record.
    pub(crate) end: Position,
    /// The position at which the log was cut off, and the base there.
    pub(crate) base: Option<(Position, BaseState)>,
    pub(crate) entries: Vec<CopiedEntry>,
    pub(crate) origin: Option<String>,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) labels: BTreeMap<String, String>,
}

/// An entry of a log that is taken elsewhere, with what its link was made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CopiedEntry {
    pub(crate) entry: LogEntry,
    pub(crate) salt: Option<Salt>,
    /// The key of the chain, if it is keyed.
    pub(crate) key: Option<KeyId>,
    /// The thread that its thread came from, if the record says so.
    pub(crate) from: Option<Box<Ancestor>>,
}

impl Log {
    /// Writes this thread under the name `to`: every entry at its position, on all branches, and one more that says where
    /// they come from. This thread does not change, nor does the other follow it.
    ///
    /// A turn that is not over goes on in the copy as it would here: the same tasks are due, what is stored of their calls is not done
    /// again, and a call in doubt is the same doubt in both. A call that is made there has a key of the copy's own, so that no server
    /// takes it for one of this thread. Items for others are not handed over again. A copy is no fork: erasing this thread leaves it.
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
    /// let to = ThreadKey::new(Tenant::default(), "copy")?;
    /// log.copy(&to, AppendId(2), Timestamp(8)).await?;
    /// let copied = Log::new(store, to).history(None, 1).await?;
    /// assert_eq!(copied[0].entry.body.kind(), Kind::Copied);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::ThreadExists`] when `to` has a log already, [`CheckpointError::NoSuchThread`] when this thread has
    /// none; [`CheckpointError::Corrupt`] for a damaged record on any branch.
    pub async fn copy(
        &self,
        to: &ThreadKey,
        id: AppendId,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let copy = self.copied().await?;
        Self::new(self.store().clone(), to.clone()).put(copy, id, now).await
    }

    /// All that the log holds.
    pub(crate) async fn copied(&self) -> Result<LogCopy, CheckpointError> {
        let Some(opened) = self.store().open(self.thread(), None, Snapshots::Ignore).await? else {
            return Err(CheckpointError::NoSuchThread(self.thread().clone()));
        };
        let (floor, mut good) = (opened.head.floor, opened.head.floor);
        let (life, codec) = (opened.head.life, self.store().codec());
        let base = match &opened.snapshot {
            None => None,
            Some((at, bytes)) => {
                let base = self.unseal_base(life, *at, bytes);
                Some((*at, base.map_err(|error| error.at(self.thread(), floor))?))
            }
        };
        let mut entries = Vec::with_capacity(opened.records.len());
        for record in &opened.records {
            if record.position != good.next() {
                return Err(self.corrupt(good.next(), "it is missing".to_owned(), good));
            }
            let (parent, entry, salt) = self.read_salted(life, record, good)?;
            let part = record.part(codec, self.thread(), life);
            let part = part.map_err(|error| self.unread(error, record.position, good))?;
            good = record.position;
            let entry = LogEntry { position: good, parent, entry };
            let (key, from) = part.map_or((None, None), |part| (part.key, part.from));
            entries.push(CopiedEntry { entry, salt, key, from });
        }
        let end = opened.head.position;
        if good != end {
            return Err(self.corrupt(good.next(), "it is missing".to_owned(), good));
        }
        self.check_seal(&opened.head)?;
        let info = self.info().await?;
        let (origin, expires, labels) =
            info.map_or_else(Default::default, |info| (info.origin, info.expires, info.labels));
        let ancestor = Ancestor { life, link: opened.head.link };
        let from = self.thread().clone();
        Ok(LogCopy { from, ancestor, end, base, entries, origin, expires, labels })
    }

    /// Writes what another log holds as this thread's.
    pub(crate) async fn put(
        &self,
        copy: LogCopy,
        id: AppendId,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let LogCopy { from, ancestor, base, entries, origin, expires, labels, .. } = copy;
        let labels = labels.into_iter().map(|(name, value)| (name, Some(value))).collect();
        let (thread, codec) = (self.thread(), self.store().codec());
        let mut tip = self.new_tip(id);
        // What was cut off there is not here either: the log begins at the floor.
        let base = match base {
            None => None,
            Some((floor, BaseState { snapshot, pending, .. })) => {
                tip.position = floor;
                let (link, start) = (tip.link, (floor, tip.link));
                let base = BaseState { link, start, snapshot, pending };
                Some(Base { floor, bytes: self.seal_base(thread, tip.life, floor, &base)? })
            }
        };
        let mut records = Vec::with_capacity(entries.len() + 1);
        let mut push = |parent, entry: &Entry| {
            let record = match records.is_empty() {
                true => tip.push_from(codec, thread, parent, entry, &ancestor),
                false => tip.push(codec, thread, parent, entry),
            };
            records.push(record.map_err(unwritten)?);
            Ok::<_, CheckpointError>(tip.position)
        };
        let mut last = base.as_ref().map_or(Position::START, |base| base.floor);
        for CopiedEntry { entry: LogEntry { parent, entry, .. }, .. } in &entries {
            last = push(*parent, entry)?;
        }
        let of = ThreadLife { thread: from.clone(), life: ancestor.life };
        let body = Body::Copied(Copied { from: of });
        push(last, &Entry { at: now, namespace: Namespace::root(), body })?;
        let origin = origin.filter(|_| from.tenant() == thread.tenant());
        let append = tip.append(codec, thread, id, Position::START, Guard::Unclaimed, records);
        self.store()
            .append(thread, Append { base, origin, expires, updated: Some(now), labels, ..append })
            .await
            .map_err(CheckpointError::of_new)
    }

    /// The thread, as it is listed.
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
    /// assert_eq!(log.info().await?.map(|info| info.head.position), Some(Position(1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
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
