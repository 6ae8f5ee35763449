//! Verification: damage of a log, and its chain.

use std::collections::BTreeMap;

use hanok_core::Position;

use crate::{
    backend::checkpointer::{Checkpointer, Snapshots},
    backend::head::Head,
    codec::{CodecError, KeyId},
    entry::fold::{RunFold, ThreadFold},
    error::CheckpointError,
    format::base::BaseState,
    format::record::Record,
    thread::log::{Log, LogEntry, previous},
};

/// The state of a log. A damaged snapshot alone is no loss: it is a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The head of the thread.
    pub head: Head,
    /// The number of records that are whole.
    pub records: usize,
    /// The number of snapshots that are whole and say what the records say.
    pub snapshots: usize,
    /// The first damage.
    pub damage: Option<Damage>,
    /// Positions of snapshots that are damaged or say something else than the records.
    pub bad_snapshots: Vec<Position>,
    /// True if the thread reads where it is. One that went on from before its damage does.
    pub reads: bool,
    /// The state of the chain: whether it leads to the link in the head.
    pub chain: Chain,
}

/// The state of the chain of a log's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Chain {
    /// The thread's records are not chained.
    None,
    /// It holds from the record after this position on: from the first one, or from where the log was cut off.
    Holds(Position),
    /// It does not lead to the link that stands for the records up to this position: one of them was changed, taken out or put
    /// in, by somebody who made the checksums fit.
    Broken(Position),
    /// The key that it was made with is not given.
    NoKey(KeyId),
    /// Nothing can be said of it: a record is damaged, or was when it was cut off.
    Unchecked,
}

/// The first fault of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The position at which it begins.
    pub position: Position,
    /// The fault.
    pub reason: String,
    /// The newest position before it that reads: the thread can [go on](Log::rewind) from there. The start when there is
    /// none.
    pub last_good: Position,
}

impl Verified {
    /// Checks whether nothing is damaged, snapshots included.
    pub fn is_whole(&self) -> bool {
        let holds = !matches!(self.chain, Chain::Broken(_));
        self.damage.is_none() && self.bad_snapshots.is_empty() && holds
    }
}

impl Log {
    /// Reads every record and every snapshot: checksums, parents, the fold on every branch, and whether each snapshot says
    /// what the records before it say. `None` for a thread that has none. It holds the log in memory, and changes nothing.
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
    /// let verified = log.verify().await?.ok_or("no log")?;
    /// assert!(verified.is_whole());
    /// assert_eq!((verified.records, verified.damage), (1, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// What the store says. Damage is part of the answer.
    pub async fn verify(&self) -> Result<Option<Verified>, CheckpointError> {
        let Some(opened) = self.store().open(self.thread(), None, Snapshots::Ignore).await? else {
            return Ok(None);
        };
        let (floor, head) = (opened.head.floor, opened.head);
        let mut damages = DamageScan { log: self, head: &head, first: None };
        let stands = match &opened.snapshot {
            None if floor == Position::START => Some(BaseState::of_nothing(head.link.is_some())),
            None => None,
            Some((at, bytes)) => self.unseal_base(head.life, *at, bytes).ok(),
        };
        let base = stands.as_ref().and_then(|stands| stands.to_fold(floor).ok());
        if base.is_none() {
            damages.note(floor, "what stands for the entries before it cannot be read".to_owned());
        }
        let entries = damages.read(&opened.records, head.position)?;
        let snapshots = self.sealed(&head).await?;
        let folds = damages.folds(&entries, base, &snapshots);
        let mut bad: Vec<_> = Vec::new();
        for (at, bytes) in &snapshots {
            let stored =
                self.unseal(head.life, *at, bytes).ok().map(|snapshot| snapshot.to_fold(*at));
            let fold = folds.get(at);
            if !stored.is_some_and(|stored| fold.is_none_or(|fold| same(&stored, fold))) {
                bad.push(*at);
            }
        }
        if damages.first.is_none()
            && let Err(CheckpointError::Corrupt { position, reason, .. }) = self.check_seal(&head)
        {
            damages.note(position.next(), reason);
        }
        let damage = match damages.first {
            None => None,
            Some((position, reason)) => {
                let last_good = self.last_good(position, floor).await?;
                Some(Damage { position, reason, last_good })
            }
        };
        let reads = readable(self.open(None).await)?;
        let (records, snapshots) = (entries.len(), snapshots.len() - bad.len());
        let chain = match (&damage, &stands) {
            (None, Some(stands)) => self.chain_of(&head, stands).await?,
            _ if head.link.is_none() => Chain::None,
            _ => Chain::Unchecked,
        };
        let bad_snapshots = bad;
        Ok(Some(Verified { head, records, snapshots, damage, bad_snapshots, reads, chain }))
    }

    /// Follows the chain of the log. Nothing that is encrypted is read but what stands for records that were cut off: so
    /// it can be checked without the key that encrypted the rest. `None` for a thread that has none.
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
    /// assert_eq!(log.chain().await?, Some(Chain::None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn chain(&self) -> Result<Option<Chain>, CheckpointError> {
        let Some(head) = self.store().head(self.thread()).await? else { return Ok(None) };
        let base = match head.floor {
            Position::START => BaseState::of_nothing(head.link.is_some()),
            _ => self.base_state(&head).await?,
        };
        self.chain_of(&head, &base).await.map(Some)
    }

    /// Follows the chain of a log: whether it leads to the link of its head, and on the way to that of its floor.
    async fn chain_of(&self, head: &Head, base: &BaseState) -> Result<Chain, CheckpointError> {
        let (Some(newest), (start, Some(mut link))) = (head.link, base.start) else {
            return Ok(if head.link.is_none() { Chain::None } else { Chain::Unchecked });
        };
        let parts = match self.parts(head.life, start, head.position).await {
            Ok(parts) => parts,
            // All records above the floor were whole: it is what is left of erased ones.
            Err(CheckpointError::Corrupt { .. }) => return Ok(Chain::Broken(head.floor)),
            Err(error) => return Err(error),
        };
        if start == head.floor && base.link != Some(link) {
            return Ok(Chain::Broken(head.floor));
        }
        for part in parts {
            link = match part.link(self.store().codec(), head.life, &link) {
                Ok(link) => link,
                Err(CodecError::NoKey(id)) => return Ok(Chain::NoKey(id)),
                Err(_) => return Ok(Chain::Unchecked),
            };
            if part.position == head.floor && base.link != Some(link) {
                return Ok(Chain::Broken(head.floor));
            }
        }
        Ok(if link == newest { Chain::Holds(start) } else { Chain::Broken(head.position) })
    }

    /// The snapshots above the floor, as they are stored.
    async fn sealed(
        &self,
        head: &Head,
    ) -> Result<BTreeMap<Position, bytes::Bytes>, CheckpointError> {
        let (mut all, mut at) = (BTreeMap::new(), head.position);
        while at > head.floor {
            let opened = self.store().open(self.thread(), Some(at), Snapshots::Use).await?;
            let Some((position, bytes)) = opened.and_then(|opened| opened.snapshot) else { break };
            if position <= head.floor {
                break;
            }
            all.insert(position, bytes);
            at = previous(position);
        }
        Ok(all)
    }

    /// The newest position before `damaged` that reads.
    async fn last_good(
        &self,
        damaged: Position,
        floor: Position,
    ) -> Result<Position, CheckpointError> {
        let mut at = previous(damaged);
        while at > Position::START && at >= floor {
            match self.open(Some(at)).await {
                Ok(_) => return Ok(at),
                Err(CheckpointError::Corrupt { last_good, .. }) if last_good < at => at = last_good,
                other => {
                    readable(other)?;
                    at = previous(at);
                }
            }
        }
        Ok(Position::START)
    }
}

/// Checks whether a log was read; an error that says nothing of the log is one of the call's.
fn readable<T>(read: Result<T, CheckpointError>) -> Result<bool, CheckpointError> {
    match read {
        Ok(_) => Ok(true),
        Err(CheckpointError::Corrupt { .. } | CheckpointError::Pruned { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Looks for the first damage of a log.
struct DamageScan<'a> {
    log: &'a Log,
    head: &'a Head,
    first: Option<(Position, String)>,
}

impl DamageScan<'_> {
    fn note(&mut self, position: Position, reason: String) {
        if self.first.as_ref().is_none_or(|(first, _)| position < *first) {
            self.first = Some((position, reason));
        }
    }

    /// The entries that are whole.
    fn read(
        &mut self,
        records: &[Record],
        head: Position,
    ) -> Result<Vec<LogEntry>, CheckpointError> {
        let mut entries = Vec::with_capacity(records.len());
        let mut due = self.head.floor.next();
        for record in records {
            if record.position != due {
                self.note(due, "it is missing".to_owned());
            }
            due = record.position.next();
            match self.log.read(self.head.life, record, previous(record.position)) {
                Ok((parent, entry)) if parent < record.position => {
                    entries.push(LogEntry { position: record.position, parent, entry });
                }
                Ok(_) => {
                    let reason = "its parent does not stand before it".to_owned();
                    self.note(record.position, reason);
                }
                Err(CheckpointError::Corrupt { position, reason, .. }) => {
                    self.note(position, reason);
                }
                Err(error) => return Err(error),
            }
        }
        if due <= head {
            self.note(due, "it is missing".to_owned());
        }
        Ok(entries)
    }

    /// Folds of the log at `positions`, on each branch that reads.
    fn folds<T>(
        &mut self,
        entries: &[LogEntry],
        base: Option<ThreadFold>,
        positions: &BTreeMap<Position, T>,
    ) -> BTreeMap<Position, ThreadFold> {
        // Most entries follow the one before; where a branch begins the fold is kept.
        let begins = entries.iter().filter(|entry| entry.parent.next() != entry.position);
        let mut begins: BTreeMap<_, _> = begins.map(|entry| (entry.parent, None)).collect();
        let mut folds = BTreeMap::new();
        let mut current = base;
        if let (Some(fold), Some(begin)) = (&current, begins.get_mut(&self.head.floor)) {
            *begin = Some(fold.clone());
        }
        for LogEntry { position, parent, entry } in entries {
            let follows = current.take().filter(|fold| fold.position == *parent);
            let fold = follows.or_else(|| begins.get(parent).cloned().flatten());
            let Some(mut fold) = fold else { continue };
            if let Err(error) = fold.apply(*position, entry) {
                self.note(*position, error.to_string());
                continue;
            }
            if let Some(begin) = begins.get_mut(position) {
                *begin = Some(fold.clone());
            }
            if positions.contains_key(position) {
                folds.insert(*position, fold.clone());
            }
            current = Some(fold);
        }
        folds
    }
}

/// Checks whether a snapshot says what the records say: the states, and what is due. How a run ended stands in entries that follow.
fn same(stored: &ThreadFold, fold: &ThreadFold) -> bool {
    let same = |a: &RunFold, b: &RunFold| {
        a.fields.to_stored() == b.fields.to_stored()
            && a.schema == b.schema
            && a.frontier == b.frontier
            && (a.turn, a.persistence) == (b.turn, b.persistence)
    };
    let mut runs = stored.runs.iter().zip(&fold.runs);
    stored.identity == fold.identity
        && stored.runs.len() == fold.runs.len()
        && runs.all(|(stored, fold)| stored.0 == fold.0 && same(stored.1, fold.1))
}
