//! Appends: the entries of a run sealed as records, under the guard of its claim.

use crate::journal::{
    durability::Durability,
    journal::{HeldEntries, Journal, LogEnd, lock},
};
use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Claim, Codec, CodecError, Entry, Guard, Outgoing,
    Record, Safety, SharedCheckpointer, Tip,
};
use hanok_core::{Namespace, Position, Timestamp};

/// The state of the claim after an append.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ClaimAfter {
    #[default]
    Held,
    Released,
}

/// The options of an append, by default under the run's claim.
#[derive(Default)]
pub(super) struct AppendOptions {
    /// The claim with which it takes the thread.
    pub(super) take: Option<Box<Claim>>,
    pub(super) claim_after: ClaimAfter,
    pub(super) safety: Safety,
    /// True if it, and all before it, has to be safe before the run continues.
    pub(super) barrier: bool,
    /// The earlier position that the first entry follows, if it is not the log's end.
    pub(super) back: Option<Position>,
}

impl AppendOptions {
    /// True if the run waits until the append is safe, whatever is appended.
    pub(super) fn waits(&self) -> bool {
        self.barrier || self.claim_after == ClaimAfter::Released || self.safety == Safety::Machine
    }
}

/// The contents of one append.
pub(super) struct Sealed {
    /// The end of the log after it.
    pub(super) tip: Tip,
    pub(super) records: Vec<Record>,
    pub(super) outbox: Vec<Outgoing>,
    /// The held entries whose callbacks receive their positions.
    pub(super) held: Vec<HeldEntries>,
}

/// True if an entry, and all before it, has to be safe before the run continues.
pub(super) fn is_barrier(body: &Body) -> bool {
    matches!(
        body,
        Body::Intent(_) | Body::Answer(_) | Body::Rebase(_) | Body::Extend(_) | Body::Edit(_)
    )
}

impl Journal {
    /// The contents of the next append: the entries that wait for the run's end, those that are held, then these.
    pub(super) fn seal(
        &self,
        store: &SharedCheckpointer,
        at: &mut LogEnd,
        now: Timestamp,
        entries: Vec<(Namespace, Body)>,
        back: Option<Position>,
    ) -> Result<Sealed, CheckpointError> {
        let (after, tip) = (at.tip.position, at.tip);
        let mut held = std::mem::take(&mut at.held);
        // How many entries follow each, for where its last one stands.
        let mut follow = entries.len() as u64;
        for held in held.iter_mut().rev() {
            held.follow = follow;
            follow += held.entries.len() as u64;
        }
        let before = held.iter_mut().flat_map(|held| {
            let entries = std::mem::take(&mut held.entries).into_iter();
            entries.map(|(path, body)| (held.at, path, body))
        });
        let entries = before.chain(entries.into_iter().map(|(path, body)| (now, path, body)));
        let sealed = match self.options.durability {
            Durability::Exit => {
                let entries = at.waiting.flush(after, entries);
                self.records(store.codec(), (tip, back), entries.into_iter())
            }
            _ => self.records(store.codec(), (tip, back), entries),
        };
        let (tip, records, outbox) =
            sealed.map_err(|error| CheckpointError::Encode(error.into()))?;
        self.snapshots.add(records.iter().map(|record| record.bytes.len()).sum());
        Ok(Sealed { tip, records, outbox, held })
    }

    /// The tip after `entries`, which follow `tip` (the first of them an earlier position, if there is one), with their records and
    /// their outbox items.
    fn records(
        &self,
        codec: &Codec,
        (mut tip, mut back): (Tip, Option<Position>),
        entries: impl Iterator<Item = (Timestamp, Namespace, Body)>,
    ) -> Result<(Tip, Vec<Record>, Vec<Outgoing>), CodecError> {
        let (mut records, mut outbox) = (Vec::new(), Vec::new());
        for (at, namespace, body) in entries {
            let before = back.take().unwrap_or(tip.position);
            let entry = Entry { at, namespace, body };
            records.push(tip.push(codec, self.thread(), before, &entry)?);
            if let Body::Commit(commit) = &entry.body {
                for item in &commit.outbox {
                    outbox.push(item.outgoing(codec, self.thread(), tip.life, tip.position)?);
                }
            }
        }
        Ok((tip, records, outbox))
    }

    /// The append of `records`, which end at `tip`, with the claim and the labels after it.
    pub(super) fn guarded(
        &self,
        store: &SharedCheckpointer,
        at: &mut LogEnd,
        now: Timestamp,
        how: AppendOptions,
        tip: Tip,
        records: Vec<Record>,
    ) -> Append {
        let ends = how.take.is_some() || how.claim_after == ClaimAfter::Released;
        let guard = match (how.take, how.claim_after) {
            (Some(claim), _) => Guard::Take(*claim),
            (None, ClaimAfter::Released) => Guard::Release(at.epoch),
            (None, ClaimAfter::Held) => Guard::Hold(at.epoch),
        };
        let expires =
            self.options.ttl.filter(|_| ends).map(|ttl| self.parts.runtime.clock.now().plus(ttl));
        let id = match at.append {
            // In the high half, where ids that are drawn one after the other do not meet it.
            Some(before) => before.wrapping_add(1 << 64),
            None => self.parts.runtime.ids.id(),
        };
        at.append = Some(id);
        let labels = match ends {
            true => {
                let mut relabel = lock(&self.labels);
                let next = relabel.next.take();
                let changes = next.as_ref().map(|next| next.since(relabel.stored.as_ref()));
                relabel.stored = next.or(relabel.stored.take());
                changes.unwrap_or_default()
            }
            false => Vec::new(),
        };
        let (id, before) = (AppendId(id), at.tip.position);
        let append = tip.append(store.codec(), self.thread(), id, before, guard, records);
        Append { safety: how.safety, expires, updated: Some(now), labels, ..append }
    }
}
