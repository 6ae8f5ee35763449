//! A thread in memory.

use std::collections::BTreeMap;

use bytes::Bytes;
use hanok_core::{Position, ThreadKey, Timestamp};

use crate::{
    backend::append::{Append, AppendId},
    backend::head::Head,
    backend::threads::{DEADLINE, Which, deadline_label},
    chain::{HeadSeal, Link},
    claim::{Claim, Epoch},
    error::CheckpointError,
    format::record::Record,
    life::Life,
};

#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) life: Life,
    pub(super) link: Option<Link>,
    pub(super) seal: Option<HeadSeal>,
    /// Envelopes of erased records, up to the floor.
    pub(super) envelopes: BTreeMap<Position, Bytes>,
    /// The position up to which records were cut off.
    pub(super) floor: Position,
    /// The record at position `floor + n` is at index `n - 1`.
    pub(super) records: Vec<(AppendId, Bytes)>,
    pub(super) snapshots: BTreeMap<Position, Bytes>,
    pub(super) epoch: Epoch,
    pub(super) claim: Option<Claim>,
    pub(super) origin: Option<String>,
    pub(super) expires: Option<Timestamp>,
    pub(super) updated: Option<Timestamp>,
    /// In no order: there are few.
    pub(super) labels: Vec<(String, String)>,
}

impl Thread {
    pub(super) fn head(&self) -> Head {
        let (life, link, seal) = (self.life, self.link, self.seal);
        let (position, floor, epoch) = (self.position(), self.floor, self.epoch);
        Head { life, position, floor, epoch, claim: self.claim.clone(), link, seal }
    }

    pub(super) fn position(&self) -> Position {
        Position(self.floor.0 + self.records.len() as u64)
    }

    /// The append that put the record at `position` there.
    pub(super) fn appended(&self, position: Position) -> Option<AppendId> {
        let index = position.0.checked_sub(self.floor.0 + 1)?;
        self.records.get(usize::try_from(index).ok()?).map(|(id, _)| *id)
    }

    /// Says whether anything was stored: an append that stands there already is not made again.
    pub(super) fn append(
        &mut self,
        thread: &ThreadKey,
        append: Append,
    ) -> Result<bool, CheckpointError> {
        let first = Position(append.follows().0.saturating_add(1));
        let is_here = self.life == append.life && append.expected != self.position();
        if is_here && (append.is_base_of(self.life) || self.appended(first) == Some(append.id)) {
            return Ok(false);
        }
        append.admit(thread, self.life, self.position())?;
        append.guard.admit(thread, &mut self.epoch, &mut self.claim)?;
        self.expires = append.expires.or(self.expires);
        self.updated = append.updated.or(self.updated);
        (self.link, self.seal) = (append.link, append.seal);
        for (name, value) in append.labels {
            self.labels.retain(|(own, _)| *own != name);
            self.labels.extend(value.map(|value| (name, value)));
        }
        self.records.extend(append.records.into_iter().map(|record| (append.id, record.bytes)));
        Ok(true)
    }

    pub(super) fn trim(&mut self, floor: Position, base: Bytes, envelopes: Vec<Record>) {
        self.envelopes = envelopes.into_iter().map(|it| (it.position, it.bytes)).collect();
        let cut = usize::try_from(floor.0 - self.floor.0).unwrap_or(usize::MAX);
        self.records.drain(..cut.min(self.records.len()));
        self.records.shrink_to_fit();
        self.floor = floor;
        self.snapshots.retain(|position, _| *position > floor);
        self.snapshots.insert(floor, base);
    }

    /// The records after `from` up to `to`.
    pub(super) fn range(
        &self,
        from: Position,
        to: Position,
    ) -> impl DoubleEndedIterator<Item = Record> {
        let index = |position: Position| position.0.saturating_sub(self.floor.0) as usize;
        let (from, to) = (index(from), index(to).min(self.records.len()));
        let (floor, records) = (self.floor.0, self.records.get(from..to.max(from)));
        records.unwrap_or_default().iter().enumerate().map(move |(i, (_, bytes))| Record {
            position: Position(floor + (from + i + 1) as u64),
            bytes: bytes.clone(),
        })
    }
}

impl Which {
    /// Checks whether `key` is one of the threads that are listed.
    pub(super) fn names(&self, key: &ThreadKey, thread: &Thread) -> bool {
        match self {
            Self::Of(tenant) => key.tenant() == tenant,
            Self::ForksOf(origin) => {
                key.tenant() == origin.tenant() && thread.origin.as_deref() == Some(origin.thread())
            }
            Self::Labelled { tenant, name, value } => {
                let is_it = |(own, is): &(String, String)| own == name && is == value;
                key.tenant() == tenant && thread.labels.iter().any(is_it)
            }
            Self::Claimed => thread.claim.is_some(),
            Self::Expired(now) => {
                thread.claim.is_none() && thread.expires.is_some_and(|expires| expires <= *now)
            }
            Self::Waiting(before) => {
                let before = deadline_label(*before);
                thread.labels.iter().any(|(name, value)| name == DEADLINE && *value <= before)
            }
            Self::All => true,
        }
    }
}
