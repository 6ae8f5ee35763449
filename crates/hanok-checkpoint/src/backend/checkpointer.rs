//! The seam of stores.

use std::{fmt, future, time::Duration};

use bytes::Bytes;
use hanok_core::{Position, ThreadKey, Timestamp};

use crate::{
    backend::append::{Append, Trim},
    backend::head::Head,
    backend::threads::{ThreadInfo, Which},
    claim::Epoch,
    codec::Codec,
    entry::outbox::{Cursor, OutboxItem},
    error::CheckpointError,
    format::record::Record,
    life::Life,
};

/// The use of snapshots by a read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Snapshots {
    /// It begins at the newest one.
    #[default]
    Use,
    /// It begins at the first record; where records were cut off, at the base.
    Ignore,
}

/// The result of a read.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The head of the thread.
    pub head: Head,
    /// The newest snapshot, or the base, at or before the position asked for.
    pub snapshot: Option<(Position, Bytes)>,
    /// The records after the snapshot up to the position asked for, in order.
    pub records: Vec<Record>,
}

/// Keeps the logs of threads. A store never looks into a record, and never folds.
///
/// # Contract
///
/// - [`append`](Checkpointer::append) returns `Ok` only when all its records survive what its [`Safety`](crate::Safety) says, and then
///   they are seen by every later read; on an error none of them is ever seen, except after
///   [`CheckpointError::Unavailable`], when the caller appends again with the same id.
/// - Of two appends to one position one gets [`CheckpointError::Conflict`]; an append whose id already stands at the
///   position it is made for is answered `Ok` and stores nothing.
/// - The position is looked at before the guard: an append that is both late and under a claim that holds no more gets
///   [`CheckpointError::Conflict`], for whoever made it reads the thread again and learns of the claim then.
/// - The guard is checked in the same transaction: an append under an epoch that is not the thread's, or without a claim
///   where there is one, gets [`CheckpointError::Fenced`].
/// - So is the life: what belongs to another life of the thread than the one it is in gets [`CheckpointError::OtherLife`],
///   and nothing of it is stored.
/// - Keys are compared by bytes; a tenant is part of the key, and no call that names a tenant sees another's threads.
/// - The items of an append's outbox are stored with its records, or not at all. They are handed out in an order in which
///   no item ever appears before one that was handed out already.
///
/// Run `hanok_testkit::checkpointer_conforms!` on every implementation. The example `store` is one on maps, in 200 lines.
///
/// ```
/// # use hanok_checkpoint::*;
/// # futures::executor::block_on(async {
/// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
/// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
/// # let thread = ThreadKey::new(Tenant::default(), "t")?;
/// # use bytes::Bytes;
/// let (life, root) = (Life::new(1), Namespace::root());
/// let entry = |at| Entry { at: Timestamp(at), namespace: root.clone(), body: Body::Rewind(Rewind::default()) };
/// let mut tip = Tip::new(life, false);
/// let record = tip.push(&codec, &thread, Position::START, &entry(7))?;
/// let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
/// store.append(&thread, append.clone()).await?;
/// // A lost answer: the same append again stores nothing.
/// store.append(&thread, append.clone()).await?;
/// let late = store.append(&thread, Append { id: AppendId(2), ..append }).await;
/// assert!(matches!(late, Err(CheckpointError::Conflict { .. })));
///
/// let head = store.head(&thread).await?.ok_or("no thread")?;
/// assert_eq!((head.position, head.life), (Position(1), life));
/// let opened = store.open(&thread, None, Snapshots::Use).await?.ok_or("no thread")?;
/// assert_eq!(opened.records.len(), 1);
/// store.put_snapshot(&thread, life, Position(1), Bytes::from_static(b"opaque")).await?;
/// let opened = store.open(&thread, None, Snapshots::Use).await?.ok_or("no thread")?;
/// assert!(opened.snapshot.is_some() && opened.records.is_empty());
///
/// let threads = store.threads(Which::Of(Tenant::default()), None, 10).await?;
/// assert_eq!(threads[0].thread, thread);
/// assert!(store.delete(&thread, Some(&head)).await?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// # Cancel safety
///
/// A dropped `append` may have been stored: ask again with the same id.
pub trait Checkpointer: fmt::Debug + Send + Sync + 'static {
    /// The head of `thread`; `None` for one that has no record.
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
    ///
    /// Below the floor nothing is left to read: the answer is the head alone, with no snapshot and no record, and not
    /// [`CheckpointError::Pruned`], which is for whoever asked to say.
    fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> impl Future<Output = Result<Option<Opened>, CheckpointError>> + Send;

    /// The records of `thread` before `before` (`None`: its end), newest first, at most `limit`, without a snapshot; `None` for
    /// a thread that has no record. What is left of erased records is among them.
    fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> impl Future<Output = Result<Option<Opened>, CheckpointError>> + Send;

    /// Keeps a snapshot of this life of `thread` at `position`. One that is kept already stays; one that comes late, for a
    /// thread that is gone or for a position at or below its floor, is dropped without an error.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::OtherLife`].
    fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> impl Future<Output = Result<(), CheckpointError>> + Send;

    /// Notes a sign of life of the claim of `epoch`.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Fenced`] when the thread has another epoch, or no claim, or is not there;
    /// [`CheckpointError::OtherLife`].
    fn beat(
        &self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), CheckpointError>> + Send;

    /// The time that the claim of `epoch` has given no sign of life, by a clock that all who use this store share. `None` where the
    /// store has none, as by default, or the thread no such claim: then whoever asks has to watch the thread by a clock of
    /// its own.
    ///
    /// # Errors
    ///
    /// What the store says.
    fn silence(
        &self,
        thread: &ThreadKey,
        epoch: Epoch,
    ) -> impl Future<Output = Result<Option<Duration>, CheckpointError>> + Send {
        let _ = (thread, epoch);
        future::ready(Ok(None))
    }

    /// Removes `thread` and all that belongs to it, its items for others too; says whether it was there.
    ///
    /// # Errors
    ///
    /// When the thread is not where `expected` is, if that is given: [`CheckpointError::Conflict`],
    /// [`CheckpointError::OtherLife`].
    fn delete(
        &self,
        thread: &ThreadKey,
        expected: Option<&Head>,
    ) -> impl Future<Output = Result<bool, CheckpointError>> + Send;

    /// Cuts off the log of `thread` up to a position, with all snapshots up to there. Nothing of what is cut off stays. A
    /// thread whose floor is there already, or higher, stays as it is.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] when the floor would be above the head (of a thread that is not there, that is
    /// [`Position::START`]), or the thread is not where it is expected; what
    /// [`append`](Checkpointer::append) says of what is appended with it.
    fn trim(
        &self,
        thread: &ThreadKey,
        trim: Trim,
    ) -> impl Future<Output = Result<(), CheckpointError>> + Send;

    /// The threads that `which` names and that follow `after`, by tenant and name, at most `limit`. One that somebody else
    /// is writing at this moment may be left out of those that are claimed.
    ///
    /// A row that cannot be read is part of the answer, with its [damage](ThreadInfo::damage), and hides no other: where a
    /// name is damaged, more than `limit` are listed, so that the last one has a name to go on from, unless it is the last of
    /// all.
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

    /// The codec by which users of the store make the bytes that go into it. A store itself leaves them as they are; one that
    /// stands around another says what that one says.
    fn codec(&self) -> Codec {
        Codec::default()
    }

    /// Checks whether the records of threads that are begun here are chained. A thread stays what it was begun as. Default: they
    /// are.
    fn is_chained(&self) -> bool {
        true
    }
}
