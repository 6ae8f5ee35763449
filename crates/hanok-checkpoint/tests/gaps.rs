//! A store that lost a record: the log tells where.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use bytes::Bytes;
use futures::executor::block_on;
use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Entry, Epoch, Guard, Head, Log, Memory,
    Opened, Record, Safety, SharedCheckpointer, Snapshots, ThreadInfo,
};
use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};

type Answer<T> = Result<T, CheckpointError>;

/// A store that does not find one of its records any more.
#[derive(Debug)]
struct Lossy {
    inner: Memory,
    lost: Position,
}

impl Checkpointer for Lossy {
    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Answer<Option<Opened>> {
        let mut opened = self.inner.open(thread, at, snapshots).await?;
        opened.iter_mut().for_each(|it| it.records.retain(|record| record.position != self.lost));
        Ok(opened)
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Answer<Vec<Record>> {
        let mut records = self.inner.history(thread, before, usize::MAX).await?;
        records.retain(|record| record.position != self.lost);
        records.truncate(limit);
        Ok(records)
    }

    async fn head(&self, thread: &ThreadKey) -> Answer<Option<Head>> {
        self.inner.head(thread).await
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Answer<()> {
        self.inner.append(thread, append).await
    }

    async fn put_snapshot(&self, thread: &ThreadKey, at: Position, bytes: Bytes) -> Answer<()> {
        self.inner.put_snapshot(thread, at, bytes).await
    }

    async fn beat(&self, thread: &ThreadKey, epoch: Epoch, now: Timestamp) -> Answer<()> {
        self.inner.beat(thread, epoch, now).await
    }

    async fn delete(&self, thread: &ThreadKey) -> Answer<bool> {
        self.inner.delete(thread).await
    }

    async fn threads(
        &self,
        tenant: &Tenant,
        after: Option<&str>,
        limit: usize,
    ) -> Answer<Vec<ThreadInfo>> {
        self.inner.threads(tenant, after, limit).await
    }
}

/// A log of `len` entries in a store that lost the one at `lost`.
fn log(lost: u64, len: u64) -> Log {
    let store = Lossy { inner: Memory::new(), lost: Position(lost) };
    let thread = ThreadKey::new(Tenant::default(), "t").unwrap();
    let record = |at| {
        let entry = Entry { at: Timestamp(at), namespace: Namespace::root(), body: Body::Rewind };
        Record::new(&thread, Position(at), Position(at - 1), &entry)
    };
    let append = Append {
        id: AppendId(1),
        expected: Position::START,
        guard: Guard::Unclaimed,
        records: (1..=len).map(record).collect(),
        safety: Safety::Process,
    };
    block_on(store.append(&thread, append)).unwrap();
    Log::new(SharedCheckpointer::new(store), thread)
}

fn told<T: std::fmt::Debug>(answer: Answer<T>) -> (u64, u64) {
    match answer {
        Err(CheckpointError::Corrupt { position, last_good, .. }) => (position.0, last_good.0),
        other => panic!("{other:?}"),
    }
}

/// P7
#[test]
fn a_lost_record_is_told_with_the_last_good_position() {
    for lost in 1..=5 {
        let log = log(lost, 5);
        assert_eq!(told(block_on(log.open(None))), (lost, lost - 1));
        let before = block_on(log.open(Some(Position(lost - 1)))).unwrap().unwrap();
        assert_eq!(before.fold.position, Position(lost - 1));
        // A page of history that reaches the gap; without the log's end, nothing says that its last record is gone.
        if lost < 5 {
            assert_eq!(told(block_on(log.history(None, 5))), (lost, lost - 1));
            let newer = block_on(log.history(None, 5 - lost as usize)).unwrap();
            assert_eq!(newer.len() as u64, 5 - lost);
        }
    }
}

/// P7
#[test]
fn a_snapshot_does_not_hide_a_lost_record_that_follows_it() {
    let log = log(4, 5);
    let before = block_on(log.open(Some(Position(2)))).unwrap().unwrap();
    block_on(log.put_snapshot(&before.fold)).unwrap();
    assert_eq!(told(block_on(log.open(None))), (4, 3));
}
