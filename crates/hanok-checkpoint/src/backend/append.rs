//! Appends to a log, and cuts of it.

use bytes::Bytes;
use hanok_core::{Position, ThreadKey, Timestamp};

use crate::{
    chain::{HeadSeal, Link, Tip},
    claim::{Claim, Epoch},
    codec::Codec,
    entry::outbox::Outgoing,
    error::CheckpointError,
    format::record::Record,
    life::Life,
};

/// Names one append, so that after a lost answer it is found instead of made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AppendId(pub u128);

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
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{Tenant, ThreadKey};
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// let (mut epoch, mut claim) = (Epoch(3), None);
    /// assert!(Guard::Hold(Epoch(3)).admit(&thread, &mut epoch, &mut claim).is_err());
    /// Guard::Clear(Epoch(4)).admit(&thread, &mut epoch, &mut claim)?;
    /// assert_eq!((epoch, claim), (Epoch(4), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        let fenced = |expected| Err(CheckpointError::fenced(thread, expected, actual));
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

/// The failure that a write must survive before it is answered: an [`Append`] to a thread, or a [`Batch`](crate::Batch) of items.
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
    /// The position that the thread has to be at: the one before the first record.
    pub expected: Position,
    /// Under which claim.
    pub guard: Guard,
    /// The records, at the positions that follow `expected`, one after the other. At least one, unless there is a base.
    pub records: Vec<Record>,
    /// The link of the last record; `None` where records are not chained.
    pub link: Option<Link>,
    /// The proof that the head belongs to the last record; `None` without a key.
    pub seal: Option<HeadSeal>,
    /// The base of a log that does not begin at its start. Only the first append of a thread says it: then its
    /// records follow the base.
    pub base: Option<Base>,
    /// The failure that the append must survive.
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

    /// Tells whether it stands in a thread that is in `life`, if no record of it says so: one that has none begins a life with its
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
        Err(CheckpointError::conflict(thread, self.expected, actual))
    }
}

/// The base of a log that does not begin at its start.
#[derive(Debug, Clone)]
pub struct Base {
    /// The position up to which there are no records.
    pub floor: Position,
    /// The bytes that stand for them.
    pub bytes: Bytes,
}

/// A cut of a log, and what stands in its place.
#[derive(Debug, Clone)]
pub struct Trim {
    /// The life that the thread has to be in.
    pub life: Life,
    /// The last position that is cut off. It is above the floor that there is, and not above the head.
    pub floor: Position,
    /// The base that every read begins with from now on: unlike a snapshot it is no cache.
    pub base: Bytes,
    /// The position that the thread has to be at, `None` for any.
    pub expected: Option<Position>,
    /// Envelopes that stay in the place of records that are cut off, in order: a [history](crate::Checkpointer::history) shows them, and
    /// [`open`](crate::Checkpointer::open) does not.
    pub envelopes: Vec<Record>,
    /// An append that is made with it, or none: then the head does not move, and a run may go on meanwhile.
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
            Some(expected) => Err(CheckpointError::conflict(thread, expected, actual)),
        }
    }
}

impl Tip {
    /// The append of `records`, the last of which stands here.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{Tenant, ThreadKey};
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// let tip = Tip::new(Life::new(1), true);
    /// let append = tip.append(&Codec::new(), &thread, AppendId(1), tip.position, Guard::Unclaimed, Vec::new());
    /// assert_eq!((append.life, append.link), (Life::new(1), Some(Link::BEFORE_ALL)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append(
        &self,
        codec: &Codec,
        thread: &ThreadKey,
        id: AppendId,
        expected: Position,
        guard: Guard,
        records: Vec<Record>,
    ) -> Append {
        let (life, link, seal) = (self.life, self.link, self.seal(codec, thread));
        Append { life, link, seal, ..Append::new(id, expected, guard, records) }
    }
}
