//! What a store does.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use hanok_core::{BoxFuture, Position, Tenant, ThreadKey, Timestamp};

use crate::{CheckpointError, Claim, Codec, Cursor, Epoch, OutboxItem, Outgoing, Record};

/// Names one append, so that after a lost answer it is found instead of made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AppendId(pub u128);

/// Where a thread is, and who owns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The position of the last record.
    pub position: Position,
    /// The position up to which records were cut off; the base stands there. [`Position::START`] for a whole log.
    pub floor: Position,
    /// The number of the newest claim there was.
    pub epoch: Epoch,
    /// The claim that holds now.
    pub claim: Option<Claim>,
}

/// Under which claim an append is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guard {
    /// It takes the thread: its epoch is above the thread's. A claim that holds is fenced off.
    Take(Claim),
    /// It is made under the claim of this epoch.
    Hold(Epoch),
    /// It is the last one under the claim of this epoch.
    Release(Epoch),
    /// It is made while nobody owns the thread.
    Unclaimed,
    /// It takes the thread from whoever owns it, and nobody owns it then: this epoch is above the thread's. A claim that
    /// holds is fenced off.
    Clear(Epoch),
}

impl Guard {
    /// Who owns a thread of `epoch` and `claim` after an append under this guard: the epoch and claim then. Every store
    /// asks this within the append's transaction.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Fenced`] when the append may not be made.
    pub fn admit(
        &self,
        thread: &ThreadKey,
        epoch: Epoch,
        claim: Option<Claim>,
    ) -> Result<(Epoch, Option<Claim>), CheckpointError> {
        let fenced = |expected| {
            Err(CheckpointError::Fenced { thread: thread.clone(), expected, actual: epoch })
        };
        match self {
            Self::Take(new) if new.epoch <= epoch => fenced(new.epoch),
            Self::Take(new) => Ok((new.epoch, Some(new.clone()))),
            Self::Clear(new) if *new <= epoch => fenced(*new),
            Self::Clear(new) => Ok((*new, None)),
            Self::Hold(under) | Self::Release(under) if *under != epoch || claim.is_none() => {
                fenced(*under)
            }
            Self::Release(_) => Ok((epoch, None)),
            Self::Unclaimed if claim.is_some() => fenced(Epoch::default()),
            Self::Hold(_) | Self::Unclaimed => Ok((epoch, claim)),
        }
    }
}

/// What an append must survive before it is answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Safety {
    /// The death of this process.
    #[default]
    Process,
    /// The death of the machine too.
    Machine,
}

/// Records to put at the end of a thread's log, all or none.
#[derive(Debug, Clone)]
pub struct Append {
    /// Names the append.
    pub id: AppendId,
    /// Where the thread has to be: the position before the first record.
    pub expected: Position,
    /// Under which claim.
    pub guard: Guard,
    /// The records, at the positions that follow `expected`, one after the other. At least one.
    pub records: Vec<Record>,
    /// What the append must survive.
    pub safety: Safety,
    /// Items for others, which are handed over if and when the append is stored.
    pub outbox: Vec<Outgoing>,
    /// The thread of the same tenant that this one is a fork of. Only the first append of a thread says it.
    pub origin: Option<String>,
    /// From when on the thread may be swept; `None` leaves that as it was.
    pub expires: Option<Timestamp>,
}

impl Append {
    /// An append of `records`, without items for others, that survives the death of this process.
    pub fn new(id: AppendId, expected: Position, guard: Guard, records: Vec<Record>) -> Self {
        let (safety, outbox) = (Safety::Process, Vec::new());
        Self { id, expected, guard, records, safety, outbox, origin: None, expires: None }
    }
}

/// What is cut off a log, and what stands in its place.
#[derive(Debug, Clone)]
pub struct Trim {
    /// The last position that is cut off. It is above the floor that there is, and not above the head.
    pub floor: Position,
    /// What every read begins with from now on: unlike a snapshot it is no cache.
    pub base: Bytes,
    /// Where the thread has to be, `None` for anywhere.
    pub expected: Option<Position>,
    /// What is appended with it, or nothing: then the head does not move, and a run may go on meanwhile.
    pub then: Option<Append>,
}

impl Trim {
    /// What a trim of a thread at `head` expects in vain, if it does: every store asks this within the trim's transaction,
    /// and answers [`CheckpointError::Conflict`].
    pub fn refused_at(&self, head: Position) -> Option<Position> {
        let above = Some(self.floor).filter(|floor| *floor > head);
        above.or(self.expected.filter(|expected| *expected != head))
    }
}

/// Whether a read may begin at a snapshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Snapshots {
    /// It begins at the newest one.
    #[default]
    Use,
    /// It begins at the first record; where records were cut off, at the base.
    Ignore,
}

/// What a read gives.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Where the thread is.
    pub head: Head,
    /// The newest snapshot, or the base, at or before the position asked for.
    pub snapshot: Option<(Position, Bytes)>,
    /// The records after the snapshot up to the position asked for, in order.
    pub records: Vec<Record>,
}

/// A thread, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadInfo {
    /// The thread.
    pub thread: ThreadKey,
    /// Where it is.
    pub head: Head,
    /// The thread of the same tenant that it is a fork of.
    pub origin: Option<String>,
    /// From when on it may be swept.
    pub expires: Option<Timestamp>,
}

/// Which threads are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Those of a tenant.
    Of(Tenant),
    /// The forks of a thread.
    ForksOf(ThreadKey),
    /// Those that a run holds a claim to, of all tenants. For whoever finishes what dead processes left.
    Claimed,
    /// Those that may be swept at this time and that no run holds a claim to, of all tenants.
    Expired(Timestamp),
    /// All, of all tenants. For operators.
    All,
}

/// Keeps the logs of threads. A store never looks into a record, and never folds.
///
/// # Contract
///
/// - [`append`](Checkpointer::append) returns `Ok` only when all its records survive what its [`Safety`] says, and then
///   they are seen by every later read; on an error none of them is ever seen, except after
///   [`CheckpointError::Unavailable`], when the caller appends again with the same id.
/// - Of two appends to one position one gets [`CheckpointError::Conflict`]; an append whose id already stands at the
///   position it is made for is answered `Ok` and stores nothing.
/// - The guard is checked in the same transaction: an append under an epoch that is not the thread's, or without a claim
///   where there is one, gets [`CheckpointError::Fenced`].
/// - Keys are compared by bytes; a tenant is part of the key, and no call that names a tenant sees another's threads.
/// - The items of an append's outbox are stored with its records, or not at all. They are handed out in an order in which
///   no item ever appears before one that was handed out already.
///
/// Run `hanok_testkit::checkpointer_conforms!` on every implementation.
///
/// # Cancel safety
///
/// A dropped `append` may have been stored: ask again with the same id.
pub trait Checkpointer: fmt::Debug + Send + Sync + 'static {
    /// Where `thread` is; `None` for one that has no record.
    fn head(
        &self,
        thread: &ThreadKey,
    ) -> impl Future<Output = Result<Option<Head>, CheckpointError>> + Send;

    /// Puts records at the end of the log of `thread`.
    fn append(
        &self,
        thread: &ThreadKey,
        append: Append,
    ) -> impl Future<Output = Result<(), CheckpointError>> + Send;

    /// Reads `thread` up to `at` (`None`: to its end); `None` for a thread that has no record.
    fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> impl Future<Output = Result<Option<Opened>, CheckpointError>> + Send;

    /// The records of `thread` before `before` (`None`: its end), newest first, at most `limit`.
    fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Record>, CheckpointError>> + Send;

    /// Keeps a snapshot of `thread` at `position`. One that is kept already stays.
    fn put_snapshot(
        &self,
        thread: &ThreadKey,
        position: Position,
        snapshot: Bytes,
    ) -> impl Future<Output = Result<(), CheckpointError>> + Send;

    /// Notes a sign of life of the claim of `epoch`.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Fenced`] when the thread has another epoch.
    fn beat(
        &self,
        thread: &ThreadKey,
        epoch: Epoch,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), CheckpointError>> + Send;

    /// Removes `thread` and all that belongs to it, its items for others too; says whether it was there.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] when the thread is not at `expected`, if that is given.
    fn delete(
        &self,
        thread: &ThreadKey,
        expected: Option<Position>,
    ) -> impl Future<Output = Result<bool, CheckpointError>> + Send;

    /// Cuts off the log of `thread` up to a position, with all snapshots up to there. Nothing of what is cut off stays. A
    /// thread whose floor is there already, or higher, stays as it is.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] when the floor would be above the head, or the thread is not where it is expected; what
    /// [`append`](Checkpointer::append) says of what is appended with it.
    fn trim(
        &self,
        thread: &ThreadKey,
        trim: Trim,
    ) -> impl Future<Output = Result<(), CheckpointError>> + Send;

    /// The threads that `which` names and that follow `after`, by tenant and name, at most `limit`. One that somebody else
    /// is writing at this moment may be left out of those that are claimed.
    fn threads(
        &self,
        which: Which,
        after: Option<&ThreadKey>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<ThreadInfo>, CheckpointError>> + Send;

    /// Waits until the head of `thread` is beyond `after`, whoever moves it, in whatever process; gives its position. A
    /// thread without a record is at [`Position::START`].
    fn beyond(
        &self,
        thread: &ThreadKey,
        after: Position,
    ) -> impl Future<Output = Result<Position, CheckpointError>> + Send;

    /// The items of `topic` that follow those that `consumer` is done with, of all threads, in the order in which they are
    /// handed out, at most `limit`. They are handed out again until [`advance`](Checkpointer::advance) says that they are
    /// done.
    fn outbox(
        &self,
        consumer: &str,
        topic: &str,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<OutboxItem>, CheckpointError>> + Send;

    /// Notes that `consumer` is done with the items of `topic` up to `to`; what it is done with already stays done. An item
    /// that all known consumers of its topic are done with is removed. A consumer is known from its first note on: one
    /// that notes [`Cursor::START`] sees every item from then on.
    fn advance(
        &self,
        consumer: &str,
        topic: &str,
        to: Cursor,
    ) -> impl Future<Output = Result<(), CheckpointError>> + Send;

    /// What whoever uses the store is to do with the bytes that go into it. A store itself leaves them as they are; one that
    /// stands around another says what that one says.
    fn codec(&self) -> Codec {
        Codec::default()
    }
}

/// How many threads are listed at once.
const PAGE: usize = 256;

/// Any [`Checkpointer`], chosen at run time. Clones share the store.
#[derive(Debug, Clone)]
pub struct SharedCheckpointer(Arc<dyn Erased>, Codec);

impl SharedCheckpointer {
    /// Shares `store`, with its codec.
    pub fn new(store: impl Checkpointer) -> Self {
        let codec = store.codec();
        Self(Arc::new(store), codec)
    }

    /// What is done with the bytes that go into the store, and come out of it. Default: nothing.
    #[must_use]
    pub fn with_codec(self, codec: Codec) -> Self {
        Self(self.0, codec)
    }

    /// What is done with the bytes that go into the store.
    pub fn codec(&self) -> &Codec {
        &self.1
    }

    /// All threads that `which` names, by tenant and name.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn all_threads(&self, which: &Which) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let mut all: Vec<ThreadInfo> = Vec::new();
        loop {
            let after = all.last().map(|info| &info.thread);
            let page = self.threads(which.clone(), after, PAGE).await?;
            let last = page.len() < PAGE;
            all.extend(page);
            if last {
                return Ok(all);
            }
        }
    }
}

type Answer<'a, T> = BoxFuture<'a, Result<T, CheckpointError>>;

/// The object-safe twin of [`Checkpointer`].
trait Erased: fmt::Debug + Send + Sync {
    fn head_boxed<'a>(&'a self, thread: &'a ThreadKey) -> Answer<'a, Option<Head>>;
    fn append_boxed<'a>(&'a self, thread: &'a ThreadKey, append: Append) -> Answer<'a, ()>;
    fn open_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Answer<'a, Option<Opened>>;
    fn history_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Answer<'a, Vec<Record>>;
    fn put_snapshot_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        position: Position,
        snapshot: Bytes,
    ) -> Answer<'a, ()>;
    fn beat_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        epoch: Epoch,
        now: Timestamp,
    ) -> Answer<'a, ()>;
    fn delete_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        expected: Option<Position>,
    ) -> Answer<'a, bool>;
    fn trim_boxed<'a>(&'a self, thread: &'a ThreadKey, trim: Trim) -> Answer<'a, ()>;
    fn threads_boxed<'a>(
        &'a self,
        which: Which,
        after: Option<&'a ThreadKey>,
        limit: usize,
    ) -> Answer<'a, Vec<ThreadInfo>>;
    fn beyond_boxed<'a>(&'a self, thread: &'a ThreadKey, after: Position) -> Answer<'a, Position>;
    fn outbox_boxed<'a>(
        &'a self,
        consumer: &'a str,
        topic: &'a str,
        limit: usize,
    ) -> Answer<'a, Vec<OutboxItem>>;
    fn advance_boxed<'a>(&'a self, consumer: &'a str, topic: &'a str, to: Cursor)
    -> Answer<'a, ()>;
}

impl<C: Checkpointer> Erased for C {
    fn head_boxed<'a>(&'a self, thread: &'a ThreadKey) -> Answer<'a, Option<Head>> {
        Box::pin(self.head(thread))
    }

    fn append_boxed<'a>(&'a self, thread: &'a ThreadKey, append: Append) -> Answer<'a, ()> {
        Box::pin(self.append(thread, append))
    }

    fn open_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Answer<'a, Option<Opened>> {
        Box::pin(self.open(thread, at, snapshots))
    }

    fn history_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Answer<'a, Vec<Record>> {
        Box::pin(self.history(thread, before, limit))
    }

    fn put_snapshot_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        position: Position,
        snapshot: Bytes,
    ) -> Answer<'a, ()> {
        Box::pin(self.put_snapshot(thread, position, snapshot))
    }

    fn beat_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        epoch: Epoch,
        now: Timestamp,
    ) -> Answer<'a, ()> {
        Box::pin(self.beat(thread, epoch, now))
    }

    fn delete_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        expected: Option<Position>,
    ) -> Answer<'a, bool> {
        Box::pin(self.delete(thread, expected))
    }

    fn trim_boxed<'a>(&'a self, thread: &'a ThreadKey, trim: Trim) -> Answer<'a, ()> {
        Box::pin(self.trim(thread, trim))
    }

    fn threads_boxed<'a>(
        &'a self,
        which: Which,
        after: Option<&'a ThreadKey>,
        limit: usize,
    ) -> Answer<'a, Vec<ThreadInfo>> {
        Box::pin(self.threads(which, after, limit))
    }

    fn beyond_boxed<'a>(&'a self, thread: &'a ThreadKey, after: Position) -> Answer<'a, Position> {
        Box::pin(self.beyond(thread, after))
    }

    fn outbox_boxed<'a>(
        &'a self,
        consumer: &'a str,
        topic: &'a str,
        limit: usize,
    ) -> Answer<'a, Vec<OutboxItem>> {
        Box::pin(self.outbox(consumer, topic, limit))
    }

    fn advance_boxed<'a>(
        &'a self,
        consumer: &'a str,
        topic: &'a str,
        to: Cursor,
    ) -> Answer<'a, ()> {
        Box::pin(self.advance(consumer, topic, to))
    }
}

impl Checkpointer for SharedCheckpointer {
    async fn head(&self, thread: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.0.head_boxed(thread).await
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        self.0.append_boxed(thread, append).await
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        self.0.open_boxed(thread, at, snapshots).await
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Record>, CheckpointError> {
        self.0.history_boxed(thread, before, limit).await
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        position: Position,
        snapshot: Bytes,
    ) -> Result<(), CheckpointError> {
        self.0.put_snapshot_boxed(thread, position, snapshot).await
    }

    async fn beat(
        &self,
        thread: &ThreadKey,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        self.0.beat_boxed(thread, epoch, now).await
    }

    async fn delete(
        &self,
        thread: &ThreadKey,
        expected: Option<Position>,
    ) -> Result<bool, CheckpointError> {
        self.0.delete_boxed(thread, expected).await
    }

    async fn trim(&self, thread: &ThreadKey, trim: Trim) -> Result<(), CheckpointError> {
        self.0.trim_boxed(thread, trim).await
    }

    async fn threads(
        &self,
        which: Which,
        after: Option<&ThreadKey>,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, CheckpointError> {
        self.0.threads_boxed(which, after, limit).await
    }

    async fn beyond(
        &self,
        thread: &ThreadKey,
        after: Position,
    ) -> Result<Position, CheckpointError> {
        self.0.beyond_boxed(thread, after).await
    }

    async fn outbox(
        &self,
        consumer: &str,
        topic: &str,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, CheckpointError> {
        self.0.outbox_boxed(consumer, topic, limit).await
    }

    async fn advance(
        &self,
        consumer: &str,
        topic: &str,
        to: Cursor,
    ) -> Result<(), CheckpointError> {
        self.0.advance_boxed(consumer, topic, to).await
    }

    fn codec(&self) -> Codec {
        self.1.clone()
    }
}
