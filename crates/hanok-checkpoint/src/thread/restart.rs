//! Going on from elsewhere: forks, rewinds, and threads that are taken from their owners.

use hanok_core::{Answerer, Namespace, Position, ThreadKey, Timestamp};

use crate::{
    backend::append::{Append, AppendId, Guard},
    backend::checkpointer::Checkpointer,
    backend::head::Head,
    chain::{Ancestor, Tip},
    claim::Claim,
    entry::body::{Body, Entry},
    entry::fold::ThreadFold,
    entry::snapshot::{Origin, Snapshot},
    entry::state::{Edit, Rewind},
    error::CheckpointError,
    life::Life,
    thread::labels::Labels,
    thread::log::{Log, unwritten},
};

impl Log {
    /// Begins the thread `to` (of the same tenant) with the state of this one at `at` (`None`: its end). The new thread
    /// holds no history, and reading it never opens this one. Returns the position that was forked.
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
    /// let fork = ThreadKey::new(Tenant::default(), "fork")?;
    /// assert_eq!(log.fork(None, &fork, AppendId(2), Timestamp(8)).await?, Position(1));
    /// assert!(Log::new(store, fork).open(None).await?.is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::ThreadExists`] when `to` has a log already, [`CheckpointError::NoSuchThread`] when this thread has
    /// none, [`CheckpointError::NoSuchPosition`] when `at` is not in the log.
    pub async fn fork(
        &self,
        at: Option<Position>,
        to: &ThreadKey,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Position, CheckpointError> {
        let Some(log) = self.open(at).await? else {
            return Err(CheckpointError::NoSuchThread(self.thread().clone()));
        };
        let position = log.fold.position;
        let fold = ThreadFold { identity: None, ..log.fold };
        let (thread, snapshot) = (self.thread().thread().to_owned(), Snapshot::of(&fold));
        let origin = Origin { thread, position, snapshot };
        // What the fork is at is what is due there, whoever was asked.
        let labels = Labels::of(&origin.snapshot.to_fold(position));
        let entry = Entry { at: now, namespace: Namespace::root(), body: Body::Origin(origin) };
        let from = Ancestor { life: log.head.life, link: log.head.link };
        let (codec, mut tip) = (self.store().codec(), self.new_tip(id));
        let record = tip.push_from(codec, to, Position::START, &entry, &from).map_err(unwritten)?;
        let append = tip.append(codec, to, id, Position::START, Guard::Unclaimed, vec![record]);
        let (origin, labels) = (Some(self.thread().thread().to_owned()), labels.since(None));
        let append = Append { origin, labels, updated: Some(now), ..append };
        self.store().append(to, append).await.map_err(CheckpointError::of_new)?;
        Ok(position)
    }

    /// The beginning of a life that the append `id` begins.
    pub(crate) fn new_tip(&self, id: AppendId) -> Tip {
        // The id is drawn at random, and no other append has it.
        Tip::new(Life::new(id.0), self.store().is_chained())
    }

    /// Makes the thread go on from `to`: later entries stay in the log, on a branch of their own. The log says that `by` did
    /// it, if they are known.
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
    /// assert_eq!(log.rewind(Position(1), None, AppendId(2), Timestamp(8)).await?, Position(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Fenced`] while a run owns the thread; [`CheckpointError::NoSuchPosition`] when `to` is not in
    /// the log, [`CheckpointError::NoSuchThread`] when there is none; [`CheckpointError::Conflict`] when someone else appended
    /// first; [`CheckpointError::Pruned`] when it was cut off.
    pub async fn rewind(
        &self,
        to: Position,
        by: Option<&Answerer>,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Position, CheckpointError> {
        let head = self.store().head(self.thread()).await?;
        let head = head.ok_or_else(|| CheckpointError::NoSuchThread(self.thread().clone()))?;
        self.rewind_at(&head, to, by, id, now).await
    }

    /// As [`rewind`](Self::rewind), if the thread is at `head` still.
    ///
    /// # Errors
    ///
    /// As [`rewind`](Self::rewind).
    pub async fn rewind_at(
        &self,
        head: &Head,
        to: Position,
        by: Option<&Answerer>,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Position, CheckpointError> {
        let thread = || self.thread().clone();
        if to > head.position || to == Position::START {
            let (position, end) = (to, head.position);
            return Err(CheckpointError::NoSuchPosition { thread: thread(), position, end });
        }
        if to < head.floor {
            return Err(self.pruned(to, head.floor));
        }
        let before = head.position;
        let guard = Guard::Unclaimed;
        let rewound = self.rewind_from(Tip::of(head), to, guard.clone(), by, id, now).await?;
        self.is_uncut(rewound, (to, before), guard, AppendId(id.0.wrapping_add(1)), now).await?;
        Ok(rewound.position)
    }

    /// Checks that the position to which a thread has just gone back, the first of `back`, is still there: a log is cut without its
    /// head moving. Where it is not, the thread goes on from the second, in an append of this guard at the end `rewound`.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Pruned`] when it was cut off meanwhile; those of an append.
    pub async fn is_uncut(
        &self,
        rewound: Tip,
        (to, before): (Position, Position),
        guard: Guard,
        id: AppendId,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let floor = self.floor().await?;
        if to >= floor {
            return Ok(());
        }
        self.rewind_from(rewound, before, guard, None, id, now).await?;
        Err(self.pruned(to, floor))
    }

    /// Takes the thread from whoever owns it, so that nobody does: the run that did is fenced off, and the next one finishes
    /// its turn. For the claims of the dead, and for an operator who knows better than a lease. Returns where the thread is
    /// then.
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
    /// let head = store.head(&thread).await?.ok_or("no log")?;
    /// let released = log.release(&head, AppendId(2), Timestamp(8)).await?;
    /// assert!(released.claim.is_none() && released.epoch > head.epoch);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
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
        let epoch = head.epoch.next(now);
        let after = self.touch(head, Guard::Clear(epoch), id, now).await?;
        Ok(Head { epoch, claim: None, ..after })
    }

    /// Takes the thread, which is at `head` and owned by nobody, for a change between runs that is more than one append: until it is
    /// [released](Self::release) or [rewritten](Self::rewrite_held), no run begins. Returns the head then. Nothing is said by it.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{Namespace, Position, RunId, Tenant, ThreadKey, Timestamp};
    /// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// # let log = Log::new(store.clone(), thread.clone());
    /// # let nothing = Edit { frontier: Some(Frontier::default()), ..Edit::default() };
    /// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Edit(nothing) };
    /// # let mut tip = Tip::new(Life::new(1), false);
    /// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
    /// # let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
    /// # store.append(&thread, append).await?;
    /// let (head, now) = (store.head(&thread).await?.ok_or("no log")?, Timestamp(8));
    /// let claim = Claim { run: RunId(1), holder: Holder::this_process(1), epoch: head.epoch.next(now), beat: now };
    /// let held = log.claim(&head, claim.clone(), AppendId(2), now).await?;
    /// assert_eq!(held.claim, Some(claim));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] when the thread is not at `head` any more; [`CheckpointError::Fenced`] when the epoch of `claim` is not
    /// above the thread's.
    pub async fn claim(
        &self,
        head: &Head,
        claim: Claim,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Head, CheckpointError> {
        let after = self.touch(head, Guard::Take(claim.clone()), id, now).await?;
        Ok(Head { epoch: claim.epoch, claim: Some(claim), ..after })
    }

    /// Appends an entry that changes nothing, for its guard. Returns the head after it, with the epoch and the claim before it.
    async fn touch(
        &self,
        head: &Head,
        guard: Guard,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Head, CheckpointError> {
        let mut tip = Tip::of(head);
        let nothing = Edit::default();
        let namespace = Namespace::root();
        let entry = Entry { at: now, namespace, body: Body::Edit(nothing) };
        let (codec, before) = (self.store().codec(), tip.position);
        let record = tip.push(codec, self.thread(), before, &entry).map_err(unwritten)?;
        let append = tip.append(codec, self.thread(), id, before, guard, vec![record]);
        let (position, link, seal) = (tip.position, append.link, append.seal);
        self.store().append(self.thread(), Append { updated: Some(now), ..append }).await?;
        Ok(Head { position, link, seal, ..head.clone() })
    }

    async fn rewind_from(
        &self,
        mut tip: Tip,
        to: Position,
        guard: Guard,
        by: Option<&Answerer>,
        id: AppendId,
        now: Timestamp,
    ) -> Result<Tip, CheckpointError> {
        let rewind = Body::Rewind(Rewind { by: by.cloned() });
        let entry = Entry { at: now, namespace: Namespace::root(), body: rewind };
        // Of a log that is damaged there, what the labels said stays: whoever reads it is told.
        let opened = self.open(Some(to)).await.ok().flatten();
        let labels = opened.map(|mut opened| {
            let rewound = opened.fold.apply(tip.position.next(), &entry);
            rewound.map_or_else(|_| Vec::new(), |()| Labels::of(&opened.fold).since(None))
        });
        let labels = labels.unwrap_or_default();
        let (codec, before) = (self.store().codec(), tip.position);
        let record = tip.push(codec, self.thread(), to, &entry).map_err(unwritten)?;
        let append = tip.append(codec, self.thread(), id, before, guard, vec![record]);
        let append = Append { labels, updated: Some(now), ..append };
        self.store().append(self.thread(), append).await?;
        Ok(tip)
    }
}
