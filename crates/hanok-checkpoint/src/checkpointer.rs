//! What a store does.

use std::{collections::BTreeMap, fmt, future, time::Duration};

use bytes::Bytes;
use hanok_core::{InvalidName, Position, Tenant, ThreadKey, Timestamp};

use crate::{
    CheckpointError, Claim, Codec, Cursor, Epoch, HeadSeal, Life, Link, OutboxItem, Outgoing,
    Record,
};

/// Names one append, so that after a lost answer it is found instead of made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AppendId(pub u128);

/// Where a thread is, and who owns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The thread's life.
    pub life: Life,
    /// The position of the last record.
    pub position: Position,
    /// The position up to which records were cut off; the base stands there. [`Position::START`] for a whole log.
    pub floor: Position,
    /// The number of the newest claim there was.
    pub epoch: Epoch,
    /// The claim that holds now.
    pub claim: Option<Claim>,
    /// The link of the newest record; `None` where records are not chained.
    pub link: Option<Link>,
    /// What shows that the head belongs to that record; `None` without a key.
    pub seal: Option<HeadSeal>,
}

impl Head {
    /// Refuses a call that expects a thread here, if it is in `life` and at `actual`. Every store asks this within the
    /// transaction.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`], [`CheckpointError::OtherLife`].
    pub fn admit(
        &self,
        thread: &ThreadKey,
        life: Life,
        actual: Position,
    ) -> Result<(), CheckpointError> {
        life.admit(thread, self.life)?;
        if self.position == actual {
            return Ok(());
        }
        Err(CheckpointError::Conflict { thread: thread.clone(), expected: self.position, actual })
    }
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
    /// Makes of the epoch and claim of a thread what they are after an append under this guard. Every store asks this within
    /// the append's transaction.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Fenced`] when the append may not be made; they are as they were then.
    pub fn admit(
        &self,
        thread: &ThreadKey,
        epoch: &mut Epoch,
        claim: &mut Option<Claim>,
    ) -> Result<(), CheckpointError> {
        let actual = *epoch;
        let fenced =
            |expected| Err(CheckpointError::Fenced { thread: thread.clone(), expected, actual });
        match self {
            Self::Take(new) if new.epoch <= actual => return fenced(new.epoch),
            Self::Take(new) => (*epoch, *claim) = (new.epoch, Some(new.clone())),
            Self::Clear(new) if *new <= actual => return fenced(*new),
            Self::Clear(new) => (*epoch, *claim) = (*new, None),
            Self::Hold(under) | Self::Release(under) if *under != actual || claim.is_none() => {
                return fenced(*under);
            }
            Self::Release(_) => *claim = None,
            Self::Unclaimed if claim.is_some() => return fenced(Epoch::default()),
            Self::Hold(_) | Self::Unclaimed => {}
        }
        Ok(())
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
    /// The life that the thread has to be in; the first append of a thread begins it.
    pub life: Life,
    /// Where the thread has to be: the position before the first record.
    pub expected: Position,
    /// Under which claim.
    pub guard: Guard,
    /// The records, at the positions that follow `expected`, one after the other. At least one, unless there is a base.
    pub records: Vec<Record>,
    /// The link of the last record; `None` where records are not chained.
    pub link: Option<Link>,
    /// What shows that the head belongs to the last record; `None` without a key.
    pub seal: Option<HeadSeal>,
    /// What the log begins with, if it does not begin at its start. Only the first append of a thread says it: then its
    /// records follow the base.
    pub base: Option<Base>,
    /// What the append must survive.
    pub safety: Safety,
    /// Items for others, which are handed over if and when the append is stored.
    pub outbox: Vec<Outgoing>,
    /// The thread of the same tenant that this one is a fork of. Only the first append of a thread says it.
    pub origin: Option<String>,
    /// From when on the thread may be swept; `None` leaves that as it was.
    pub expires: Option<Timestamp>,
    /// When the append was made, as the writer's clock says; `None` leaves that as it was.
    pub updated: Option<Timestamp>,
    /// Labels of the thread that change, by name: a value, or nothing where the label goes. They are stored as they are, in a
    /// store whose records are encrypted too.
    pub labels: Vec<(String, Option<String>)>,
}

impl Append {
    /// An append of `records`, without items for others, that survives the death of this process. It names no life and no link:
    /// [`Tip::append`](crate::Tip::append) makes one that does.
    pub fn new(id: AppendId, expected: Position, guard: Guard, records: Vec<Record>) -> Self {
        let (safety, outbox, life) = (Safety::Process, Vec::new(), Life::default());
        let (link, seal, base, origin, expires) = (None, None, None, None, None);
        Self {
            id,
            life,
            expected,
            guard,
            records,
            link,
            seal,
            base,
            safety,
            outbox,
            origin,
            expires,
            updated: None,
            labels: Vec::new(),
        }
    }

    /// Whether it stands in a thread that is in `life`, if no record of it says so: one that has none begins a life with its
    /// base, and no other append begins that life.
    pub fn is_base_of(&self, life: Life) -> bool {
        self.records.is_empty() && self.base.is_some() && self.life == life
    }

    /// The position that the records follow.
    pub fn follows(&self) -> Position {
        self.base.as_ref().map_or(self.expected, |base| base.floor)
    }

    /// Refuses the append to a thread that is there, in `life` and at `actual`, unless it may go on from there. Every store asks
    /// this within the append's transaction, once it has looked whether the append stands there already.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`], [`CheckpointError::OtherLife`].
    pub fn admit(
        &self,
        thread: &ThreadKey,
        life: Life,
        actual: Position,
    ) -> Result<(), CheckpointError> {
        if self.expected > Position::START {
            life.admit(thread, self.life)?;
        }
        if self.expected == actual {
            return Ok(());
        }
        Err(CheckpointError::Conflict { thread: thread.clone(), expected: self.expected, actual })
    }
}

impl Life {
    /// Refuses what belongs to the life `expected` of a thread that is in this one.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::OtherLife`].
    pub fn admit(self, thread: &ThreadKey, expected: Self) -> Result<(), CheckpointError> {
        if self == expected {
            return Ok(());
        }
        Err(CheckpointError::OtherLife { thread: thread.clone(), expected, actual: self })
    }
}

/// What a log begins with that does not begin at its start.
#[derive(Debug, Clone)]
pub struct Base {
    /// The position up to which there are no records.
    pub floor: Position,
    /// What they amount to.
    pub bytes: Bytes,
}

/// What is cut off a log, and what stands in its place.
#[derive(Debug, Clone)]
pub struct Trim {
    /// The life that the thread has to be in.
    pub life: Life,
    /// The last position that is cut off. It is above the floor that there is, and not above the head.
    pub floor: Position,
    /// What every read begins with from now on: unlike a snapshot it is no cache.
    pub base: Bytes,
    /// Where the thread has to be, `None` for anywhere.
    pub expected: Option<Position>,
    /// What stays in the place of records that are cut off, in order: a [history](Checkpointer::history) shows it, and
    /// [`open`](Checkpointer::open) does not.
    pub envelopes: Vec<Record>,
    /// What is appended with it, or nothing: then the head does not move, and a run may go on meanwhile.
    pub then: Option<Append>,
}

impl Trim {
    /// Refuses the trim of a thread that is in `life` and at `actual`, unless it may be cut. Every store asks this within the
    /// trim's transaction.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`], [`CheckpointError::OtherLife`].
    pub fn admit(
        &self,
        thread: &ThreadKey,
        life: Life,
        actual: Position,
    ) -> Result<(), CheckpointError> {
        life.admit(thread, self.life)?;
        let above = Some(self.floor).filter(|floor| *floor > actual);
        match above.or(self.expected.filter(|expected| *expected != actual)) {
            None => Ok(()),
            Some(expected) => {
                Err(CheckpointError::Conflict { thread: thread.clone(), expected, actual })
            }
        }
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
    /// When it was last appended to, as the writer's clock said.
    pub updated: Option<Timestamp>,
    /// Its labels, by name.
    pub labels: BTreeMap<String, String>,
    /// Why its row cannot be read: then nothing but its name is known, and every call for the thread is
    /// [`CheckpointError::Corrupt`]. A row whose name is damaged is listed under one that says so, and that no thread has.
    pub damage: Option<String>,
}

impl ThreadInfo {
    /// A thread whose row cannot be read.
    #[must_use]
    pub fn damaged(thread: ThreadKey, damage: String) -> Self {
        let head = Head {
            life: Life::default(),
            position: Position::START,
            floor: Position::START,
            epoch: Epoch::default(),
            claim: None,
            link: None,
            seal: None,
        };
        let (origin, expires, updated, damage) = (None, None, None, Some(damage));
        Self { thread, head, origin, expires, updated, labels: BTreeMap::new(), damage }
    }

    /// A thread whose name cannot be read, in the row that is numbered `row`.
    ///
    /// # Errors
    ///
    /// None: what is made readable of such a name is one.
    pub fn unnamed(tenant: &str, thread: &str, row: i64) -> Result<Self, InvalidName> {
        let readable = |name: &str| -> String {
            let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
            name.chars().map(plain).take(50).collect()
        };
        let tenant = Tenant::new(&readable(tenant)).unwrap_or_default();
        let thread = ThreadKey::new(tenant, &format!("row {row}: {}", readable(thread)))?;
        Ok(Self::damaged(thread, format!("the name in row {row} is damaged")))
    }
}

/// Which threads are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Those of a tenant.
    Of(Tenant),
    /// The forks of a thread.
    ForksOf(ThreadKey),
    /// Those of a tenant that have a label of this name and value.
    Labelled {
        /// The tenant.
        tenant: Tenant,
        /// The label's name.
        name: String,
        /// Its value.
        value: String,
    },
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
/// - So is the life: what belongs to another life of the thread than the one it is in gets [`CheckpointError::OtherLife`],
///   and nothing of it is stored.
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

    /// The records of `thread` before `before` (`None`: its end), newest first, at most `limit`, without a snapshot; `None` for
    /// a thread that has no record. What is left of erased records is among them.
    fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> impl Future<Output = Result<Option<Opened>, CheckpointError>> + Send;

    /// Keeps a snapshot of this life of `thread` at `position`. One that is kept already stays; one of a thread that is gone, or
    /// below its floor, is not kept.
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
    /// [`CheckpointError::Fenced`] when the thread has another epoch, [`CheckpointError::OtherLife`].
    fn beat(
        &self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), CheckpointError>> + Send;

    /// How long the claim of `epoch` has given no sign of life, by a clock that all who use this store share. `None` where the
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
    /// [`CheckpointError::Conflict`] when the floor would be above the head, or the thread is not where it is expected; what
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

    /// What whoever uses the store is to do with the bytes that go into it. A store itself leaves them as they are; one that
    /// stands around another says what that one says.
    fn codec(&self) -> Codec {
        Codec::default()
    }

    /// Whether the records of threads that are begun here are chained. A thread stays what it was begun as. Default: they
    /// are.
    fn is_chained(&self) -> bool {
        true
    }
}
