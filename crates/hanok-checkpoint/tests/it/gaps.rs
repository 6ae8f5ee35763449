//! A store that lost a record: the log tells where.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use futures::executor::block_on;
use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Entry, Guard, InMemoryCheckpointer, Log,
    Opened, Record, Rewind, SharedCheckpointer, Snapshots,
};
use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
use hanok_testkit::{Layer, Layered};

type Answer<T> = Result<T, CheckpointError>;

/// A store that does not find one of its records any more.
#[derive(Debug)]
struct Lossy {
    store: SharedCheckpointer,
    lost: Position,
}

impl Layer for Lossy {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Answer<Option<Opened>> {
        let mut opened = self.store.open(thread, at, snapshots).await?;
        opened.iter_mut().for_each(|it| it.records.retain(|record| record.position != self.lost));
        Ok(opened)
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Answer<Option<Opened>> {
        let mut page = self.store.history(thread, before, usize::MAX).await?;
        page.iter_mut().for_each(|page| {
            page.records.retain(|record| record.position != self.lost);
            page.records.truncate(limit);
        });
        Ok(page)
    }
}

/// A log of `len` entries in a store that lost the one at `lost`.
fn log(lost: u64, len: u64) -> Log {
    let store =
        Lossy { store: SharedCheckpointer::new(InMemoryCheckpointer::new()), lost: Position(lost) };
    let thread = ThreadKey::new(Tenant::default(), "t").unwrap();
    let record = |at| {
        let entry = Entry {
            at: Timestamp(at),
            namespace: Namespace::root(),
            body: Body::Rewind(Rewind::default()),
        };
        Record::new(&thread, Position(at), Position(at - 1), &entry)
    };
    let records = (1..=len).map(record).collect();
    let append = Append::new(AppendId(1), Position::START, Guard::Unclaimed, records);
    block_on(store.append(&thread, append)).unwrap();
    Log::new(SharedCheckpointer::new(Layered(store)), thread)
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
    block_on(log.put_snapshot(before.head.life, &before.fold)).unwrap();
    assert_eq!(told(block_on(log.open(None))), (4, 3));
}
