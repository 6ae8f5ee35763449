//! A store in memory.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    task::Waker,
};

use bytes::Bytes;
use hanok_core::{Position, ThreadKey, Timestamp};

use crate::{
    Append, AppendId, CheckpointError, Checkpointer, Claim, Cursor, Epoch, Head, Opened,
    OutboxItem, Record, Snapshots, ThreadInfo, Trim, Which,
};

/// A store in memory: for tests, and for threads that need not outlive their process.
///
/// **Nothing survives the process.** A thread that is to be there after a restart needs a durable store.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    threads: BTreeMap<ThreadKey, Thread>,
    outbox: Outboxes,
    /// Who waits for the head of a thread to move.
    waiting: BTreeMap<ThreadKey, Vec<Waker>>,
}

#[derive(Debug, Default)]
struct Thread {
    /// The position up to which records were cut off.
    floor: Position,
    /// The record at position `floor + n` is at index `n - 1`.
    records: Vec<(AppendId, Bytes)>,
    snapshots: BTreeMap<Position, Bytes>,
    epoch: Epoch,
    claim: Option<Claim>,
    origin: Option<String>,
    expires: Option<Timestamp>,
}

/// The items for others, by topic.
#[derive(Debug, Default)]
struct Outboxes {
    last: Cursor,
    items: BTreeMap<String, BTreeMap<Cursor, OutboxItem>>,
    /// By topic and consumer, what it is done with.
    done: BTreeMap<String, BTreeMap<String, Cursor>>,
}

impl Memory {
    /// A store with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn append(&mut self, thread: &ThreadKey, mut append: Append) -> Result<(), CheckpointError> {
        let items = std::mem::take(&mut append.outbox);
        let stored = if let Some(known) = self.threads.get_mut(thread) {
            known.append(thread, append)?
        } else {
            let mut new = Thread { origin: append.origin.take(), ..Thread::default() };
            let stored = new.append(thread, append)?;
            self.threads.insert(thread.clone(), new);
            stored
        };
        if stored {
            for item in items {
                let cursor = Cursor(self.outbox.last.0.saturating_add(1));
                self.outbox.last = cursor;
                let (thread, position, bytes) = (thread.clone(), item.position, item.bytes);
                let items = self.outbox.items.entry(item.topic).or_default();
                items.insert(cursor, OutboxItem { cursor, thread, position, bytes });
            }
            self.wake(thread);
        }
        Ok(())
    }

    fn wake(&mut self, thread: &ThreadKey) {
        self.waiting.remove(thread).into_iter().flatten().for_each(Waker::wake);
    }
}

impl Outboxes {
    /// Removes what all known consumers of `topic` are done with.
    fn clear(&mut self, topic: &str) {
        let done = self.done.get(topic).and_then(|done| done.values().min());
        if let (Some(done), Some(items)) = (done, self.items.get_mut(topic)) {
            items.retain(|cursor, _| cursor > done);
        }
    }
}

impl Thread {
    fn head(&self) -> Head {
        let (position, floor, epoch) = (self.position(), self.floor, self.epoch);
        Head { position, floor, epoch, claim: self.claim.clone() }
    }

    fn position(&self) -> Position {
        Position(self.floor.0 + self.records.len() as u64)
    }

    /// The append that put the record at `position` there.
    fn appended(&self, position: Position) -> Option<AppendId> {
        let index = position.0.checked_sub(self.floor.0 + 1)?;
        self.records.get(usize::try_from(index).ok()?).map(|(id, _)| *id)
    }

    /// Says whether anything was stored: an append that stands there already is not made again.
    fn append(&mut self, thread: &ThreadKey, append: Append) -> Result<bool, CheckpointError> {
        let (expected, actual) = (append.expected, self.position());
        if expected != actual {
            if self.appended(Position(expected.0.saturating_add(1))) == Some(append.id) {
                return Ok(false);
            }
            return Err(CheckpointError::Conflict { thread: thread.clone(), expected, actual });
        }
        (self.epoch, self.claim) = append.guard.admit(thread, self.epoch, self.claim.clone())?;
        self.expires = append.expires.or(self.expires);
        self.records.extend(append.records.into_iter().map(|record| (append.id, record.bytes)));
        Ok(true)
    }

    fn trim(&mut self, floor: Position, base: Bytes) {
        let cut = usize::try_from(floor.0 - self.floor.0).unwrap_or(usize::MAX);
        self.records.drain(..cut.min(self.records.len()));
        self.records.shrink_to_fit();
        self.floor = floor;
        self.snapshots.retain(|position, _| *position > floor);
        self.snapshots.insert(floor, base);
    }

    /// The records after `from` up to `to`.
    fn range(&self, from: Position, to: Position) -> impl DoubleEndedIterator<Item = Record> {
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
    /// Whether `key` is one of the threads that are listed.
    fn names(&self, key: &ThreadKey, thread: &Thread) -> bool {
        match self {
            Self::Of(tenant) => key.tenant() == tenant,
            Self::ForksOf(origin) => {
                key.tenant() == origin.tenant() && thread.origin.as_deref() == Some(origin.thread())
            }
            Self::Claimed => thread.claim.is_some(),
            Self::Expired(now) => {
                thread.claim.is_none() && thread.expires.is_some_and(|expires| expires <= *now)
            }
            Self::All => true,
        }
    }
}

impl Checkpointer for Memory {
    async fn head(&self, thread: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        Ok(self.kept().threads.get(thread).map(Thread::head))
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        self.kept().append(thread, append)
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        let kept = self.kept();
        let Some(thread) = kept.threads.get(thread) else { return Ok(None) };
        let to = at.unwrap_or(thread.position());
        let newest = match snapshots {
            Snapshots::Use => to,
            Snapshots::Ignore => thread.floor.min(to),
        };
        let snapshot = thread.snapshots.range(..=newest).next_back();
        let snapshot = snapshot
            .filter(|(position, _)| snapshots == Snapshots::Use || **position == thread.floor)
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
        let kept = self.kept();
        let Some(thread) = kept.threads.get(thread) else { return Ok(Vec::new()) };
        let to = before.map_or(thread.position(), |before| Position(before.0.saturating_sub(1)));
        Ok(thread.range(Position::START, to).rev().take(limit).collect())
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        position: Position,
        snapshot: Bytes,
    ) -> Result<(), CheckpointError> {
        if let Some(thread) = self.kept().threads.get_mut(thread)
            && position > thread.floor
        {
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
        let mut kept = self.kept();
        let known = kept.threads.get_mut(thread);
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

    async fn delete(
        &self,
        thread: &ThreadKey,
        expected: Option<Position>,
    ) -> Result<bool, CheckpointError> {
        let mut kept = self.kept();
        let Some(known) = kept.threads.get(thread) else { return Ok(false) };
        let actual = known.position();
        if let Some(expected) = expected.filter(|expected| *expected != actual) {
            return Err(CheckpointError::Conflict { thread: thread.clone(), expected, actual });
        }
        kept.threads.remove(thread);
        kept.outbox.items.values_mut().for_each(|items| {
            items.retain(|_, item| item.thread != *thread);
        });
        Ok(true)
    }

    async fn trim(&self, thread: &ThreadKey, trim: Trim) -> Result<(), CheckpointError> {
        let mut kept = self.kept();
        let known = kept.threads.get(thread);
        let (head, floor) = known.map_or(Default::default(), |it| (it.position(), it.floor));
        if let Some(expected) = trim.refused_at(head) {
            let (thread, actual) = (thread.clone(), head);
            return Err(CheckpointError::Conflict { thread, expected, actual });
        }
        if let Some(append) = trim.then {
            kept.append(thread, append)?;
        }
        if let Some(known) = kept.threads.get_mut(thread).filter(|_| trim.floor > floor) {
            known.trim(trim.floor, trim.base);
        }
        Ok(())
    }

    async fn threads(
        &self,
        which: Which,
        after: Option<&ThreadKey>,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let kept = self.kept();
        let following = kept.threads.iter().filter(|(key, _)| after.is_none_or(|a| *key > a));
        let named = following.filter(|(key, thread)| which.names(key, thread));
        let infos = named.map(|(key, thread)| ThreadInfo {
            thread: key.clone(),
            head: thread.head(),
            origin: thread.origin.clone(),
            expires: thread.expires,
        });
        Ok(infos.take(limit).collect())
    }

    async fn beyond(
        &self,
        thread: &ThreadKey,
        after: Position,
    ) -> Result<Position, CheckpointError> {
        std::future::poll_fn(|context| {
            let mut kept = self.kept();
            let head = kept.threads.get(thread).map_or(Position::START, Thread::position);
            if head > after {
                return std::task::Poll::Ready(Ok(head));
            }
            let waiting = kept.waiting.entry(thread.clone()).or_default();
            if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                waiting.push(context.waker().clone());
            }
            std::task::Poll::Pending
        })
        .await
    }

    async fn outbox(
        &self,
        consumer: &str,
        topic: &str,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, CheckpointError> {
        let kept = self.kept();
        let done = kept.outbox.done.get(topic).and_then(|done| done.get(consumer));
        let done = done.copied().unwrap_or_default();
        let items = kept.outbox.items.get(topic).into_iter().flatten();
        let items = items.filter(|(cursor, _)| **cursor > done);
        Ok(items.take(limit).map(|(_, item)| item.clone()).collect())
    }

    async fn advance(
        &self,
        consumer: &str,
        topic: &str,
        to: Cursor,
    ) -> Result<(), CheckpointError> {
        let mut kept = self.kept();
        let done = kept.outbox.done.entry(topic.to_owned()).or_default();
        let known = done.entry(consumer.to_owned()).or_default();
        *known = to.max(*known);
        kept.outbox.clear(topic);
        Ok(())
    }
}
