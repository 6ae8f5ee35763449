//! A store in memory.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::Waker,
};

use bytes::Bytes;
use hanok_core::{Position, ThreadKey, Timestamp};

use crate::{
    backend::append::{Append, AppendId, Trim},
    backend::checkpointer::{Checkpointer, Opened, Snapshots},
    backend::head::Head,
    backend::threads::{ThreadInfo, Which},
    chain::{HeadSeal, Link},
    claim::{Claim, Epoch},
    entry::outbox::{Cursor, OutboxItem},
    error::CheckpointError,
    format::record::Record,
    life::Life,
};

/// A store in memory: for tests, and for threads that need not outlive their process.
///
/// **Nothing survives the process.** A thread that is to be there after a restart needs a durable store. Records are not
/// [chained](Memory::chained) unless that is asked for: nobody else gets at them.
#[derive(Debug, Default)]
pub struct Memory {
    threads: Mutex<Kept>,
    is_chained: bool,
}

#[derive(Debug, Default)]
struct Kept {
    /// In boxes: half of the places in such a map are empty.
    threads: BTreeMap<ThreadKey, Box<Thread>>,
    outbox: Outboxes,
    /// Who waits for the head of a thread to move.
    waiting: BTreeMap<ThreadKey, Vec<Waiting>>,
}

/// A reader that waits.
#[derive(Debug)]
struct Waiting {
    /// Gone with the reader.
    reader: Weak<()>,
    waker: Waker,
}

#[derive(Debug, Default)]
struct Thread {
    life: Life,
    link: Option<Link>,
    seal: Option<HeadSeal>,
    /// What is left of erased records, up to the floor.
    envelopes: BTreeMap<Position, Bytes>,
    /// The position up to which records were cut off.
    floor: Position,
    /// The record at position `floor + n` is at index `n - 1`.
    records: Vec<(AppendId, Bytes)>,
    snapshots: BTreeMap<Position, Bytes>,
    epoch: Epoch,
    claim: Option<Claim>,
    origin: Option<String>,
    expires: Option<Timestamp>,
    updated: Option<Timestamp>,
    /// In no order: there are few.
    labels: Vec<(String, String)>,
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

    /// A store with nothing in it, whose records are chained.
    pub fn chained() -> Self {
        Self { is_chained: true, ..Self::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn append(&mut self, thread: &ThreadKey, mut append: Append) -> Result<(), CheckpointError> {
        let items = std::mem::take(&mut append.outbox);
        let stored = if let Some(known) = self.threads.get_mut(thread) {
            known.append(thread, append)?
        } else {
            let (life, origin) = (append.life, append.origin.take());
            let mut new = Thread { life, origin, ..Thread::default() };
            let base = append.base.take().filter(|_| append.expected == Position::START);
            let stored = new.append(thread, append)?;
            if let Some(base) = base {
                new.floor = base.floor;
                new.snapshots.insert(base.floor, base.bytes);
            }
            self.threads.insert(thread.clone(), Box::new(new));
            stored
        };
        if stored {
            let life = self.threads.get(thread).map(|known| known.life).unwrap_or_default();
            for item in items {
                let cursor = Cursor(self.outbox.last.0.saturating_add(1));
                self.outbox.last = cursor;
                let (thread, position, bytes) = (thread.clone(), item.position, item.bytes);
                let items = self.outbox.items.entry(item.topic).or_default();
                items.insert(cursor, OutboxItem { cursor, thread, life, position, bytes });
            }
            self.wake(thread);
        }
        Ok(())
    }

    fn wake(&mut self, thread: &ThreadKey) {
        let waiting = self.waiting.remove(thread).into_iter().flatten();
        waiting.for_each(|waiting| waiting.waker.wake());
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
        let (life, link, seal) = (self.life, self.link, self.seal);
        let (position, floor, epoch) = (self.position(), self.floor, self.epoch);
        Head { life, position, floor, epoch, claim: self.claim.clone(), link, seal }
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

    fn trim(&mut self, floor: Position, base: Bytes, envelopes: Vec<Record>) {
        self.envelopes = envelopes.into_iter().map(|it| (it.position, it.bytes)).collect();
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
            Self::Labelled { tenant, name, value } => {
                let is_it = |(own, is): &(String, String)| own == name && is == value;
                key.tenant() == tenant && thread.labels.iter().any(is_it)
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
        Ok(self.kept().threads.get(thread).map(|thread| thread.head()))
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
    ) -> Result<Option<Opened>, CheckpointError> {
        let kept = self.kept();
        let Some(thread) = kept.threads.get(thread) else { return Ok(None) };
        let to = before.map_or(thread.position(), |before| Position(before.0.saturating_sub(1)));
        let envelopes = thread.envelopes.range(..=to).rev();
        let envelopes =
            envelopes.map(|(position, bytes)| Record { position: *position, bytes: bytes.clone() });
        let records = thread.range(Position::START, to).rev().chain(envelopes).take(limit);
        let (head, snapshot) = (thread.head(), None);
        Ok(Some(Opened { head, snapshot, records: records.collect() }))
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> Result<(), CheckpointError> {
        let mut kept = self.kept();
        let Some(known) = kept.threads.get_mut(thread) else { return Ok(()) };
        known.life.admit(thread, life)?;
        if position > known.floor {
            known.snapshots.entry(position).or_insert(snapshot);
        }
        Ok(())
    }

    async fn beat(
        &self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let mut kept = self.kept();
        let known = kept.threads.get_mut(thread);
        known.as_ref().map_or(Ok(()), |known| known.life.admit(thread, life))?;
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
        expected: Option<&Head>,
    ) -> Result<bool, CheckpointError> {
        let mut kept = self.kept();
        let Some(known) = kept.threads.get(thread) else { return Ok(false) };
        if let Some(expected) = expected {
            expected.admit(thread, known.life, known.position())?;
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
        let (life, head, floor) = known
            .map_or((trim.life, Default::default(), Default::default()), |known| {
                (known.life, known.position(), known.floor)
            });
        trim.admit(thread, life, head)?;
        if let Some(append) = trim.then {
            kept.append(thread, append)?;
        }
        if let Some(known) = kept.threads.get_mut(thread).filter(|_| trim.floor > floor) {
            known.trim(trim.floor, trim.base, trim.envelopes);
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
            updated: thread.updated,
            labels: thread.labels.iter().cloned().collect(),
            damage: None,
        });
        Ok(infos.take(limit).collect())
    }

    async fn beyond(
        &self,
        thread: &ThreadKey,
        after: Position,
    ) -> Result<Position, CheckpointError> {
        let reader = Arc::new(());
        std::future::poll_fn(|context| {
            let mut kept = self.kept();
            let head = kept.threads.get(thread).map_or(Position::START, |known| known.position());
            if head > after {
                return std::task::Poll::Ready(Ok(head));
            }
            let waiting = kept.waiting.entry(thread.clone()).or_default();
            // Of readers that are gone nothing stays.
            waiting.retain(|waiting| {
                let is_this = std::ptr::eq(waiting.reader.as_ptr(), Arc::as_ptr(&reader));
                waiting.reader.strong_count() > 0 && !is_this
            });
            let (reader, waker) = (Arc::downgrade(&reader), context.waker().clone());
            waiting.push(Waiting { reader, waker });
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

    fn is_chained(&self) -> bool {
        self.is_chained
    }
}
