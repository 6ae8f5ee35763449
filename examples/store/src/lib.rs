//! A store of threads on maps behind a mutex: the whole contract of a [`Checkpointer`], with nothing in the way.
//!
//! Take it as the place to begin with a store of your own. Each method is one transaction; where this one holds the mutex,
//! yours begins one. `examples/tests/tests/small/store.rs` checks it as yours should be checked.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use hanok::{
    Position, ThreadKey,
    checkpoint::{
        Append, AppendId, CheckpointError, Checkpointer, Claim, Cursor, DEADLINE, Epoch, Head,
        HeadSeal, Life, Link, Opened, OutboxItem, Record, Snapshots, ThreadInfo, Trim, Which,
        deadline_label,
    },
    core::Timestamp,
};
use tokio::sync::watch;

/// A store of threads on maps. Clones are the same store.
#[derive(Debug, Clone, Default)]
pub struct Maps {
    data: Arc<Mutex<Data>>,
    /// Changes whenever a head moves, for those who wait.
    moved: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Data {
    threads: BTreeMap<ThreadKey, Log>,
    /// Items for others, in the order in which they are handed out, each with its topic.
    outbox: BTreeMap<Cursor, (String, OutboxItem)>,
    last: Cursor,
    /// By topic and consumer: what it is done with.
    done: BTreeMap<(String, String), Cursor>,
}

/// One thread. The records that belong together were put there by one append.
#[derive(Debug, Default)]
struct Log {
    life: Life,
    position: Position,
    floor: Position,
    epoch: Epoch,
    claim: Option<Claim>,
    link: Option<Link>,
    seal: Option<HeadSeal>,
    records: BTreeMap<Position, (AppendId, Bytes)>,
    /// What is left of erased records, at or below the floor.
    envelopes: BTreeMap<Position, Bytes>,
    /// The base stands at the floor, snapshots above it.
    snapshots: BTreeMap<Position, Bytes>,
    origin: Option<String>,
    expires: Option<Timestamp>,
    updated: Option<Timestamp>,
    labels: BTreeMap<String, String>,
}

impl Log {
    fn head(&self) -> Head {
        Head {
            life: self.life,
            position: self.position,
            floor: self.floor,
            epoch: self.epoch,
            claim: self.claim.clone(),
            link: self.link,
            seal: self.seal,
        }
    }

    /// Whether `append` stands here already: then a lost answer is asked for again.
    fn has(&self, append: &Append) -> bool {
        let first = self.records.range(after(append.follows())..).next();
        self.life == append.life
            && append.expected != self.position
            && (append.is_base_of(self.life) || first.is_some_and(|(_, (id, _))| *id == append.id))
    }

    fn is(&self, key: &ThreadKey, which: &Which) -> bool {
        match which {
            Which::Of(tenant) => key.tenant() == tenant,
            Which::ForksOf(origin) => {
                key.tenant() == origin.tenant() && self.origin.as_deref() == Some(origin.thread())
            }
            Which::Labelled { tenant, name, value } => {
                key.tenant() == tenant && self.labels.get(name) == Some(value)
            }
            Which::Claimed => self.claim.is_some(),
            Which::Expired(now) => {
                self.claim.is_none() && self.expires.is_some_and(|expires| expires <= *now)
            }
            Which::Waiting(before) => {
                self.labels.get(DEADLINE).is_some_and(|it| *it <= deadline_label(*before))
            }
            Which::All => true,
        }
    }
}

fn after(position: Position) -> Position {
    Position(position.0.saturating_add(1))
}

fn record((position, bytes): (&Position, &Bytes)) -> Record {
    Record { position: *position, bytes: bytes.clone() }
}

impl Data {
    fn append(&mut self, key: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        if self.threads.get(key).is_some_and(|log| log.has(&append)) {
            return Ok(());
        }
        // The position is looked at before the claim, and a refused append leaves no thread behind.
        let mut new = Log { life: append.life, origin: append.origin.clone(), ..Log::default() };
        let log = self.threads.get_mut(key);
        let is_new = log.is_none();
        let log = log.unwrap_or(&mut new);
        append.admit(key, log.life, log.position)?;
        append.guard.admit(key, &mut log.epoch, &mut log.claim)?;
        if let Some(base) = append.base.filter(|_| is_new) {
            (log.floor, log.position) = (base.floor, base.floor);
            log.snapshots.insert(base.floor, base.bytes);
        }
        for record in append.records {
            log.position = record.position;
            log.records.insert(record.position, (append.id, record.bytes));
        }
        (log.link, log.seal) = (append.link, append.seal);
        log.expires = append.expires.or(log.expires);
        log.updated = append.updated.or(log.updated);
        for (name, value) in append.labels {
            log.labels.remove(&name);
            log.labels.extend(value.map(|value| (name, value)));
        }
        let life = log.life;
        for item in append.outbox {
            let cursor = Cursor(self.last.0 + 1);
            self.last = cursor;
            let (thread, position, bytes) = (key.clone(), item.position, item.bytes);
            let item_of = (item.topic, OutboxItem { cursor, thread, life, position, bytes });
            self.outbox.insert(cursor, item_of);
        }
        if is_new {
            self.threads.insert(key.clone(), new);
        }
        Ok(())
    }
}

impl Maps {
    /// A store with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    fn data(&self) -> MutexGuard<'_, Data> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Checkpointer for Maps {
    async fn head(&self, thread: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        Ok(self.data().threads.get(thread).map(Log::head))
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        self.data().append(thread, append)?;
        self.moved.send_replace(());
        Ok(())
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        let data = self.data();
        let Some(log) = data.threads.get(thread) else { return Ok(None) };
        let to = at.unwrap_or(log.position);
        let newest = if snapshots == Snapshots::Use { to } else { to.min(log.floor) };
        let snapshot = log.snapshots.range(..=newest).next_back();
        let snapshot = snapshot.map(|(position, bytes)| (*position, bytes.clone()));
        let from = snapshot.as_ref().map_or(Position::START, |(position, _)| *position);
        let records = log.records.range(after(from)..);
        let records = records.take_while(|(position, _)| **position <= to);
        let records = records.map(|(position, (_, bytes))| record((position, bytes))).collect();
        Ok(Some(Opened { head: log.head(), snapshot, records }))
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Option<Opened>, CheckpointError> {
        let data = self.data();
        let Some(log) = data.threads.get(thread) else { return Ok(None) };
        let records = log.records.iter().map(|(position, (_, bytes))| (position, bytes));
        let all = log.envelopes.iter().chain(records).rev().map(record);
        let all = all.filter(|record| before.is_none_or(|before| record.position < before));
        let records = all.take(limit).collect();
        Ok(Some(Opened { head: log.head(), snapshot: None, records }))
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> Result<(), CheckpointError> {
        let mut data = self.data();
        let Some(log) = data.threads.get_mut(thread) else { return Ok(()) };
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
        let mut data = self.data();
        let fenced =
            |actual| CheckpointError::Fenced { thread: thread.clone(), expected: epoch, actual };
        let log = data.threads.get_mut(thread).ok_or_else(|| fenced(Epoch::default()))?;
        log.life.admit(thread, life)?;
        let actual = log.epoch;
        let claim = log.claim.as_mut().filter(|claim| claim.epoch == epoch);
        claim.ok_or_else(|| fenced(actual))?.beat = now;
        Ok(())
    }

    async fn delete(
        &self,
        thread: &ThreadKey,
        expected: Option<&Head>,
    ) -> Result<bool, CheckpointError> {
        let mut data = self.data();
        let Some(log) = data.threads.get(thread) else { return Ok(false) };
        expected.map_or(Ok(()), |expected| expected.admit(thread, log.life, log.position))?;
        data.threads.remove(thread);
        data.outbox.retain(|_, (_, item)| item.thread != *thread);
        Ok(true)
    }

    async fn trim(&self, thread: &ThreadKey, trim: Trim) -> Result<(), CheckpointError> {
        let mut data = self.data();
        let at = data.threads.get(thread).map(|log| (log.life, log.position));
        let (life, position) = at.unwrap_or((trim.life, Position::START));
        trim.admit(thread, life, position)?;
        trim.then.map_or(Ok(()), |append| data.append(thread, append))?;
        if let Some(log) = data.threads.get_mut(thread).filter(|log| log.floor < trim.floor) {
            log.floor = trim.floor;
            log.records.retain(|position, _| *position > trim.floor);
            log.snapshots.retain(|position, _| *position > trim.floor);
            log.snapshots.insert(trim.floor, trim.base);
            let envelopes = trim.envelopes.into_iter();
            log.envelopes = envelopes.map(|record| (record.position, record.bytes)).collect();
        }
        drop(data);
        self.moved.send_replace(());
        Ok(())
    }

    async fn threads(
        &self,
        which: Which,
        after: Option<&ThreadKey>,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let data = self.data();
        let following = data.threads.iter().filter(|(key, _)| after.is_none_or(|it| *key > it));
        let named = following.filter(|(key, log)| log.is(key, &which)).take(limit);
        let infos = named.map(|(key, log)| ThreadInfo {
            thread: key.clone(),
            head: log.head(),
            origin: log.origin.clone(),
            expires: log.expires,
            updated: log.updated,
            labels: log.labels.clone(),
            damage: None,
        });
        Ok(infos.collect())
    }

    async fn beyond(
        &self,
        thread: &ThreadKey,
        after: Position,
    ) -> Result<Position, CheckpointError> {
        let mut moved = self.moved.subscribe();
        loop {
            moved.borrow_and_update();
            let position = self.head(thread).await?.map_or(Position::START, |head| head.position);
            // It cannot fail: this store has the sender.
            if position > after || moved.changed().await.is_err() {
                return Ok(position);
            }
        }
    }

    async fn outbox(
        &self,
        consumer: &str,
        topic: &str,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, CheckpointError> {
        let data = self.data();
        let done = data.done.get(&(topic.to_owned(), consumer.to_owned())).copied();
        let items = data.outbox.range(Cursor(done.unwrap_or_default().0 + 1)..);
        let items = items.filter(|(_, (of, _))| of == topic).map(|(_, (_, item))| item.clone());
        Ok(items.take(limit).collect())
    }

    async fn advance(
        &self,
        consumer: &str,
        topic: &str,
        to: Cursor,
    ) -> Result<(), CheckpointError> {
        let mut data = self.data();
        let done = data.done.entry((topic.to_owned(), consumer.to_owned())).or_default();
        *done = to.max(*done);
        let all = data.done.iter().filter(|((of, _), _)| of == topic).map(|(_, done)| *done).min();
        data.outbox.retain(|cursor, (of, _)| of != topic || Some(*cursor) > all);
        Ok(())
    }
}
