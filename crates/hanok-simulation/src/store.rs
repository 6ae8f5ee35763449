//! The store as one process sees it, with all that goes wrong.

use std::{collections::BTreeSet, fmt, future::pending, sync::Arc, time::Duration};

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
    seams::{Yield, sleep},
};
use hanok_testkit::Layer;

type Answer<T> = Result<T, CheckpointError>;

/// The store of one process.
pub(crate) struct Store {
    core: Arc<Core>,
    process: Process,
    beneath: SharedCheckpointer,
}

impl Store {
    pub(crate) fn new(core: &Arc<Core>, process: Process) -> Self {
        let beneath = core.inner().disk.store();
        Self { core: Arc::clone(core), process, beneath }
    }

    /// A call of the store takes a while; whether it fails, and whether its answer is late.
    async fn call(&self, what: &'static str, kinds: &[Fault]) -> Answer<Option<Fault>> {
        let (fault, wait) = {
            let mut inner = self.core.inner();
            let fault = inner.fate.call(what, kinds);
            if let Some(fault) = fault {
                inner.befell(self.process, fault);
            }
            let process = u64::from(self.process);
            inner.note(what, [process, 0, 0], String::new);
            let slow = if what == "snapshot" { LATE } else { SLOW };
            (fault, wait(&mut inner, fault, slow))
        };
        self.wait(wait).await;
        match fault {
            Some(Fault::Refused) => Err(unavailable()),
            fault => Ok(fault),
        }
    }

    async fn wait(&self, wait: Wait) {
        match wait {
            Wait::Turns(turns) => {
                for _ in 0..turns {
                    Yield::default().await;
                }
            }
            Wait::Time(time) => sleep(&self.core, time).await,
        }
    }

    /// Damages one of `records`; returns where it stands.
    fn damage(&self, records: &mut [Record]) -> Option<Position> {
        let mut inner = self.core.inner();
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

/// The time that a call of the store may take, in milliseconds.
const SLOW: usize = 15_000;

/// The time that a snapshot may take: others write, and delete, meanwhile.
const LATE: usize = 120_000;

enum Wait {
    Turns(usize),
    Time(Duration),
}

fn wait(inner: &mut WorldState, fault: Option<Fault>, slow: usize) -> Wait {
    match fault {
        Some(Fault::Slow) => Wait::Time(Duration::from_millis(inner.schedule.below(slow) as u64)),
        _ => Wait::Turns(inner.schedule.below(3)),
    }
}

fn unavailable() -> CheckpointError {
    CheckpointError::Unavailable { reason: "the simulation says so", source: "a fault".into() }
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
        f.debug_tuple("Store").field(&self.process).finish()
    }
}

impl Layer for Store {
    fn inner(&self) -> &SharedCheckpointer {
        &self.beneath
    }

    async fn head(&self, thread: &ThreadKey) -> Answer<Option<Head>> {
        let fault = self.call("head", &[Fault::Refused, Fault::Stale, Fault::Slow]).await?;
        let head = self.beneath.head(thread).await?;
        Ok(if fault == Some(Fault::Stale) { head.and_then(stale) } else { head })
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Answer<()> {
        let (fault, wait) = {
            let mut inner = self.core.inner();
            let fault = inner.fate.append();
            if let Some((fault, _)) = fault {
                inner.befell(self.process, fault);
            }
            (fault, wait(&mut inner, fault.map(|(fault, _)| fault), SLOW))
        };
        self.wait(wait).await;
        let store = |append: Append| {
            let mut inner = self.core.inner();
            let (expected, count) = (append.expected.0, append.records.len() as u64);
            let stored = inner.disk.append(self.process, thread, append.clone());
            let numbers = [u64::from(self.process), expected + 1, expected + count];
            inner.note(if stored.is_ok() { "append" } else { "append refused" }, numbers, || {
                summary(thread, &append, stored.as_ref().err())
            });
            stored
        };
        let answer = match fault {
            Some((Fault::Crash, stored)) => {
                if stored {
                    // Nobody is left to be told.
                    drop(store(append));
                }
                self.core.inner().dying.insert(self.process);
                return pending().await;
            }
            Some((Fault::Refused, _)) => Err(unavailable()),
            Some((Fault::Full, _)) => Err(CheckpointError::Full("the simulation says so".into())),
            Some((Fault::LostAnswer, _)) => store(append).and(Err(unavailable())),
            _ => store(append),
        };
        let wait = Wait::Turns(self.core.inner().schedule.below(2));
        self.wait(wait).await;
        answer
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Answer<Option<Opened>> {
        let fault = self.call("open", &Fault::OF_READS).await?;
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
                    self.core.inner().misread.insert(self.process);
                }
                if let (None, Some((_, bytes))) = (damage, &mut opened.snapshot) {
                    *bytes = damaged(bytes, &mut self.core.inner().schedule);
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
        let fault = self.call("history", &Fault::OF_READS).await?;
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
        self.call("snapshot", &Fault::OF_CALLS).await?;
        self.core.inner().disk.put_snapshot(thread, life, position, snapshot)
    }

    async fn beat(
        &self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> Answer<()> {
        self.call("beat", &Fault::OF_CALLS).await?;
        self.core.inner().disk.beat(thread, life, epoch, now)
    }

    async fn delete(&self, thread: &ThreadKey, expected: Option<&Head>) -> Answer<bool> {
        let fault = self.call("delete", &Fault::OF_CUTS).await?;
        let deleted = self.core.inner().disk.delete(thread, expected);
        if fault == Some(Fault::LostAnswer) { deleted.and(Err(unavailable())) } else { deleted }
    }

    async fn trim(&self, thread: &ThreadKey, trim: Trim) -> Answer<()> {
        let fault = self.call("trim", &Fault::OF_CUTS).await?;
        let trimmed = self.core.inner().disk.trim(self.process, thread, trim);
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
