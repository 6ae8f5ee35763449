//! A store in memory.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use hanok_core::{Position, Tenant, ThreadKey, Timestamp};

use crate::{
    Append, AppendId, CheckpointError, Checkpointer, Claim, Epoch, Head, Opened, Record, Snapshots,
    ThreadInfo,
};

/// A store in memory: for tests, and for threads that need not outlive their process.
///
/// **Nothing survives the process.** A thread that is to be there after a restart needs a durable store.
#[derive(Debug, Default)]
pub struct Memory(Mutex<BTreeMap<ThreadKey, Thread>>);

#[derive(Debug, Default)]
struct Thread {
    /// The record at position `n` is at index `n - 1`.
    records: Vec<(AppendId, Bytes)>,
    snapshots: BTreeMap<Position, Bytes>,
    epoch: Epoch,
    claim: Option<Claim>,
}

impl Memory {
    /// A store with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    fn threads(&self) -> MutexGuard<'_, BTreeMap<ThreadKey, Thread>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Thread {
    fn head(&self) -> Head {
        Head { position: self.position(), epoch: self.epoch, claim: self.claim.clone() }
    }

    fn position(&self) -> Position {
        Position(self.records.len() as u64)
    }

    fn append(&mut self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        let (expected, actual) = (append.expected, self.position());
        if expected != actual {
            let next = usize::try_from(expected.0).ok().and_then(|at| self.records.get(at));
            if next.is_some_and(|(id, _)| *id == append.id) {
                return Ok(());
            }
            return Err(CheckpointError::Conflict { thread: thread.clone(), expected, actual });
        }
        (self.epoch, self.claim) = append.guard.admit(thread, self.epoch, self.claim.clone())?;
        self.records.extend(append.records.into_iter().map(|record| (append.id, record.bytes)));
        Ok(())
    }

    /// The records after `from` up to `to`.
    fn range(&self, from: Position, to: Position) -> impl DoubleEndedIterator<Item = Record> {
        let (from, to) = (from.0 as usize, (to.0 as usize).min(self.records.len()));
        let records = self.records.get(from..to.max(from)).unwrap_or_default();
        records.iter().enumerate().map(move |(i, (_, bytes))| Record {
            position: Position((from + i + 1) as u64),
            bytes: bytes.clone(),
        })
    }
}

impl Checkpointer for Memory {
    async fn head(&self, thread: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        Ok(self.threads().get(thread).map(Thread::head))
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        let mut threads = self.threads();
        if let Some(known) = threads.get_mut(thread) {
            return known.append(thread, append);
        }
        let mut new = Thread::default();
        new.append(thread, append)?;
        threads.insert(thread.clone(), new);
        Ok(())
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        let threads = self.threads();
        let Some(thread) = threads.get(thread) else { return Ok(None) };
        let to = at.unwrap_or(thread.position());
        let snapshot = match snapshots {
            Snapshots::Use => thread.snapshots.range(..=to).next_back(),
            Snapshots::Ignore => None,
        }
        .map(|(position, bytes)| (*position, bytes.clone()));
        let from = snapshot.as_ref().map_or(Position::START, |(position, _)| *position);
        let records = thread.range(from, to).collect();
        Ok(Some(Opened { head: thread.head(), snapshot, records }))
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Record>, CheckpointError> {
        let threads = self.threads();
        let Some(thread) = threads.get(thread) else { return Ok(Vec::new()) };
        let to = before.map_or(thread.position(), |before| Position(before.0.saturating_sub(1)));
        Ok(thread.range(Position::START, to).rev().take(limit).collect())
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        position: Position,
        snapshot: Bytes,
    ) -> Result<(), CheckpointError> {
        if let Some(thread) = self.threads().get_mut(thread) {
            thread.snapshots.entry(position).or_insert(snapshot);
        }
        Ok(())
    }

    async fn beat(
        &self,
        thread: &ThreadKey,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let mut threads = self.threads();
        let known = threads.get_mut(thread);
        let actual = known.as_ref().map(|known| known.epoch).unwrap_or_default();
        match known.and_then(|known| known.claim.as_mut()).filter(|claim| claim.epoch == epoch) {
            Some(claim) => {
                claim.beat = now;
                Ok(())
            }
            None => {
                Err(CheckpointError::Fenced { thread: thread.clone(), expected: epoch, actual })
            }
        }
    }

    async fn delete(&self, thread: &ThreadKey) -> Result<bool, CheckpointError> {
        Ok(self.threads().remove(thread).is_some())
    }

    async fn threads(
        &self,
        tenant: &Tenant,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let threads = self.threads();
        let of_tenant = threads.iter().filter(|(key, _)| key.tenant() == tenant);
        let following = of_tenant.filter(|(key, _)| after.is_none_or(|after| key.thread() > after));
        let infos =
            following.map(|(key, thread)| ThreadInfo { thread: key.clone(), head: thread.head() });
        Ok(infos.take(limit).collect())
    }
}
