//! A store in memory.

mod thread;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::Waker,
};

use bytes::Bytes;
use hanok_core::{Position, ThreadKey, Timestamp};

use self::thread::Thread;
use crate::{
    backend::append::{Append, Trim},
    backend::checkpointer::{Checkpointer, Opened, Snapshots},
    backend::head::Head,
    backend::threads::{ThreadInfo, Which},
    claim::Epoch,
    entry::outbox::{Cursor, OutboxItem},
    error::CheckpointError,
    format::record::Record,
    life::Life,
};

/// A store in memory: for tests, and for threads that need not outlive their process.
///
/// **Nothing survives the process.** A thread that is to be there after a restart needs a durable store. Records are not
/// [chained](InMemoryCheckpointer::chained) unless that is asked for: nobody else gets at them.
#[derive(Debug, Default)]
pub struct InMemoryCheckpointer {
    state: Mutex<State>,
    is_chained: bool,
}

#[derive(Debug, Default)]
struct State {
    /// In boxes: half of the places in such a map are empty.
    threads: BTreeMap<ThreadKey, Box<Thread>>,
    outbox: Outboxes,
    /// Readers that wait for the head of a thread to move.
    waiting: BTreeMap<ThreadKey, Vec<Waiting>>,
}

/// A reader that waits.
#[derive(Debug)]
struct Waiting {
    /// Gone with the reader.
    reader: Weak<()>,
    waker: Waker,
}

/// The items for others, by topic.
#[derive(Debug, Default)]
struct Outboxes {
    last: Cursor,
    items: BTreeMap<String, BTreeMap<Cursor, OutboxItem>>,
    /// By topic and consumer, what it is done with.
    done: BTreeMap<String, BTreeMap<String, Cursor>>,
}

impl InMemoryCheckpointer {
    /// A store with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// A store with nothing in it, whose records are chained.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// assert!(InMemoryCheckpointer::chained().is_chained());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chained() -> Self {
        Self { is_chained: true, ..Self::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn append(&mut self, thread: &ThreadKey, mut append: Append) -> Result<(), CheckpointError> {
        let items = std::mem::take(&mut append.outbox);
        let stored = if let Some(log) = self.threads.get_mut(thread) {
            log.append(thread, append)?
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
            let life = self.threads.get(thread).map(|log| log.life).unwrap_or_default();
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

impl Checkpointer for InMemoryCheckpointer {
    async fn head(&self, thread: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        Ok(self.lock().threads.get(thread).map(|thread| thread.head()))
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        self.lock().append(thread, append)
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        let state = self.lock();
        let Some(thread) = state.threads.get(thread) else { return Ok(None) };
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
        let state = self.lock();
        let Some(thread) = state.threads.get(thread) else { return Ok(None) };
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
        let mut state = self.lock();
        let Some(log) = state.threads.get_mut(thread) else { return Ok(()) };
        log.life.admit(thread, life)?;
        if position > log.floor {
            log.snapshots.entry(position).or_insert(snapshot);
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
        let mut state = self.lock();
        let log = state.threads.get_mut(thread);
        log.as_ref().map_or(Ok(()), |log| log.life.admit(thread, life))?;
        let actual = log.as_ref().map(|log| log.epoch).unwrap_or_default();
        match log.and_then(|log| log.claim.as_mut()).filter(|claim| claim.epoch == epoch) {
            Some(claim) => {
                claim.beat = now;
                Ok(())
            }
            None => Err(CheckpointError::fenced(thread, epoch, actual)),
        }
    }

    async fn delete(
        &self,
        thread: &ThreadKey,
        expected: Option<&Head>,
    ) -> Result<bool, CheckpointError> {
        let mut state = self.lock();
        let Some(log) = state.threads.get(thread) else { return Ok(false) };
        if let Some(expected) = expected {
            expected.admit(thread, log.life, log.position())?;
        }
        state.threads.remove(thread);
        state.outbox.items.values_mut().for_each(|items| {
            items.retain(|_, item| item.thread != *thread);
        });
        Ok(true)
    }

    async fn trim(&self, thread: &ThreadKey, trim: Trim) -> Result<(), CheckpointError> {
        let mut state = self.lock();
        let log = state.threads.get(thread);
        let (life, head, floor) = log
            .map_or((trim.life, Default::default(), Default::default()), |log| {
                (log.life, log.position(), log.floor)
            });
        trim.admit(thread, life, head)?;
        if let Some(append) = trim.then {
            state.append(thread, append)?;
        }
        if let Some(log) = state.threads.get_mut(thread).filter(|_| trim.floor > floor) {
            log.trim(trim.floor, trim.base, trim.envelopes);
        }
        Ok(())
    }

    async fn threads(
        &self,
        which: Which,
        after: Option<&ThreadKey>,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let state = self.lock();
        let following = state.threads.iter().filter(|(key, _)| after.is_none_or(|a| *key > a));
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
            let mut state = self.lock();
            let head = state.threads.get(thread).map_or(Position::START, |log| log.position());
            if head > after {
                return std::task::Poll::Ready(Ok(head));
            }
            let waiting = state.waiting.entry(thread.clone()).or_default();
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
        let state = self.lock();
        let done = state.outbox.done.get(topic).and_then(|done| done.get(consumer));
        let done = done.copied().unwrap_or_default();
        let items = state.outbox.items.get(topic).into_iter().flatten();
        let items = items.filter(|(cursor, _)| **cursor > done);
        Ok(items.take(limit).map(|(_, item)| item.clone()).collect())
    }

    async fn advance(
        &self,
        consumer: &str,
        topic: &str,
        to: Cursor,
    ) -> Result<(), CheckpointError> {
        let mut state = self.lock();
        let done = state.outbox.done.entry(topic.to_owned()).or_default();
        let last = done.entry(consumer.to_owned()).or_default();
        *last = to.max(*last);
        state.outbox.clear(topic);
        Ok(())
    }

    fn is_chained(&self) -> bool {
        self.is_chained
    }
}
