//! The store of logs as one process sees it, with all that goes wrong.

use std::{collections::BTreeSet, fmt, sync::Arc};

use bytes::Bytes;
use hanok_checkpoint::{
    Append, CheckpointError, Checkpointer, Codec, Epoch, Head, Life, Opened, Record,
    SharedCheckpointer, Snapshots, Trim,
};
use hanok_core::{Position, ThreadKey, Timestamp};

use crate::{
    core::{Core, WorldState},
    dice::Dice,
    faults::Fault,
    numbers::Process,
    store_calls::{StoreCalls, unavailable},
};
use hanok_testkit::Layer;

type Answer<T> = Result<T, CheckpointError>;

/// The store of logs of one process.
pub(crate) struct Store {
    calls: StoreCalls,
    beneath: SharedCheckpointer,
}

impl Store {
    pub(crate) fn new(core: &Arc<Core>, process: Process) -> Self {
        let beneath = core.inner().disk.store();
        Self { calls: StoreCalls::new(core, process), beneath }
    }

    /// Damages one of `records`; returns where it stands.
    fn damage(&self, records: &mut [Record]) -> Option<Position> {
        let mut inner = self.calls.core.inner();
        let count = records.len();
        let dice = &mut inner.schedule;
        let record = records.get_mut(dice.below(count))?;
        record.bytes = damaged(&record.bytes, dice);
        Some(record.position)
    }
}

/// The positions of `records` that lead to the last of them: what a rewind left behind is not read.
fn branch(thread: &ThreadKey, life: Life, records: &[Record]) -> BTreeSet<Position> {
    let (mut branch, mut at) = (BTreeSet::new(), records.last().map(|record| record.position));
    while let Some(position) = at {
        branch.insert(position);
        let found = records.iter().find(|record| record.position == position);
        let parent = found
            .and_then(|record| record.open(&Codec::default(), thread, life).ok())
            .map(|(parent, _)| parent);
        at = parent.filter(|parent| *parent < position);
    }
    branch
}

fn damaged(bytes: &Bytes, dice: &mut Dice) -> Bytes {
    let mut bytes = bytes.to_vec();
    let at = dice.below(bytes.len());
    if dice.one_in(3) {
        bytes.truncate(at);
    } else if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << dice.below(8);
    }
    bytes.into()
}

/// A head that has not seen the newest record: what another node of a store may say.
fn stale(head: Head) -> Option<Head> {
    let position = Position(head.position.0.saturating_sub(1));
    let epoch = Epoch(head.epoch.0.saturating_sub(1));
    (position > head.floor).then_some(Head { position, epoch, claim: None, ..head })
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.calls.process).finish()
    }
}

impl Layer for Store {
    fn inner(&self) -> &SharedCheckpointer {
        &self.beneath
    }

    async fn head(&self, thread: &ThreadKey) -> Answer<Option<Head>> {
        let fault = self.calls.call("head", &[Fault::Refused, Fault::Stale, Fault::Slow]).await?;
        let head = self.beneath.head(thread).await?;
        Ok(if fault == Some(Fault::Stale) { head.and_then(stale) } else { head })
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Answer<()> {
        let process = self.calls.process;
        let store = |world: &mut WorldState| {
            let (expected, count) = (append.expected.0, append.records.len() as u64);
            let stored = world.disk.append(process, thread, append.clone());
            let numbers = [u64::from(process), expected + 1, expected + count];
            world.note(if stored.is_ok() { "append" } else { "append refused" }, numbers, || {
                summary(thread, &append, stored.as_ref().err())
            });
            stored
        };
        self.calls.write(store).await
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Answer<Option<Opened>> {
        let fault = self.calls.call("open", &Fault::OF_READS).await?;
        let opened = self.beneath.open(thread, at, snapshots).await?;
        let Some(mut opened) = opened else { return Ok(None) };
        match fault {
            Some(Fault::Stale) if at.is_none() => {
                let Some(head) = stale(opened.head) else { return Ok(None) };
                let older = self.beneath.open(thread, Some(head.position), snapshots).await?;
                Ok(older.map(|older| Opened { head, ..older }))
            }
            Some(Fault::Damage) => {
                let read = branch(thread, opened.head.life, &opened.records);
                let damage = self.damage(&mut opened.records);
                // Whoever only catches up with events has been told that some are missing.
                if damage.is_some_and(|position| read.contains(&position)) && at.is_none() {
                    self.calls.core.inner().misread.insert(self.calls.process);
                }
                if let (None, Some((_, bytes))) = (damage, &mut opened.snapshot) {
                    *bytes = damaged(bytes, &mut self.calls.core.inner().schedule);
                }
                Ok(Some(opened))
            }
            _ => Ok(Some(opened)),
        }
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Answer<Option<Opened>> {
        let fault = self.calls.call("history", &Fault::OF_READS).await?;
        let mut page = self.beneath.history(thread, before, limit).await?;
        if let (Some(Fault::Damage), Some(page)) = (fault, &mut page) {
            self.damage(&mut page.records);
        }
        Ok(page)
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> Answer<()> {
        self.calls.call("snapshot", &Fault::OF_CALLS).await?;
        self.calls.core.inner().disk.put_snapshot(thread, life, position, snapshot)
    }

    async fn beat(
        &self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> Answer<()> {
        self.calls.call("beat", &Fault::OF_CALLS).await?;
        self.calls.core.inner().disk.beat(thread, life, epoch, now)
    }

    async fn delete(&self, thread: &ThreadKey, expected: Option<&Head>) -> Answer<bool> {
        let fault = self.calls.call("delete", &Fault::OF_CUTS).await?;
        let deleted = self.calls.core.inner().disk.delete(thread, expected);
        if fault == Some(Fault::LostAnswer) { deleted.and(Err(unavailable())) } else { deleted }
    }

    async fn trim(&self, thread: &ThreadKey, trim: Trim) -> Answer<()> {
        let fault = self.calls.call("trim", &Fault::OF_CUTS).await?;
        let trimmed = self.calls.core.inner().disk.trim(self.calls.process, thread, trim);
        if fault == Some(Fault::LostAnswer) { trimmed.and(Err(unavailable())) } else { trimmed }
    }
}

/// An append, for people.
fn summary(thread: &ThreadKey, append: &Append, refused: Option<&CheckpointError>) -> String {
    let kinds = append.records.iter().map(|record| {
        match record.open(&Codec::default(), thread, append.life) {
            Ok((_, entry)) => {
                let body = format!("{:?}", entry.body);
                let word = body.split(['(', ' ']).next().unwrap_or_default().to_owned();
                match entry.namespace.is_root() {
                    true => word,
                    false => format!("{word} in {}", entry.namespace),
                }
            }
            Err(error) => error.to_string(),
        }
    });
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    match refused {
        None => kinds,
        Some(error) => format!("{kinds}: {error}"),
    }
}
