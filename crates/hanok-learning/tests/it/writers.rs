//! Many writers of the same records.

use std::{
    collections::BTreeMap,
    sync::Arc,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use hanok_checkpoint::{
    Batch, Batched, Namespaces, Page, Search, SharedCheckpointer, SharedStore, Store, StoreError,
};
use hanok_core::{Labels, Stored, Timestamp};
use hanok_learning::{Learned, Learner};
use hanok_sqlite::Sqlite;
use hanok_testkit::{Layer, Layered};

use crate::support::*;

const WRITERS: usize = 16;
const DELIVERIES: usize = 50;
const PIECES: usize = 200;

/// Evidence of two users: four records of preferences and ten turns of each.
fn pieces() -> Vec<Taught> {
    let one = |i: usize| {
        let (user, thread, at) = (["kim", "lee"][i % 2], format!("t{}", i % 5), (i % 40) as u64);
        match i % 3 {
            0 => answered(user, &format!("a{i}"), at % 20, &thread, &format!("{i}일입니다.")),
            _ => states(user, &format!("e{i}"), at, &thread, &format!("k{}=v{i}", i % 4)),
        }
    };
    (0..PIECES).map(one).collect()
}

/// The pieces that each writer delivers: all of them, four times over, in an order that has no pattern.
fn deliveries() -> Vec<Vec<usize>> {
    let mut all: Vec<usize> = (0..WRITERS * DELIVERIES).map(|at| at % PIECES).collect();
    let mut dice = 0x2545_f491_4f6c_dd1d_u64;
    for at in (1..all.len()).rev() {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        all.swap(at, (dice % (at as u64 + 1)) as usize);
    }
    all.chunks(DELIVERIES).map(<[usize]>::to_vec).collect()
}

/// B130
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_writers_in_any_order_with_duplicates_are_exact() {
    let all = Arc::new(pieces());
    let want = {
        let store = memory();
        learn_all(&store, all.iter()).await;
        contents(&store).await
    };
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::open(folder.path().join("records.db")).await.unwrap();
    let mut stores = vec![("memory", memory()), ("SQLite", SharedStore::new(sqlite))];
    stores.extend(postgres().await.map(|store| ("PostgreSQL", store)));
    for (name, store) in stores {
        let writers = deliveries().into_iter().map(|delivered| {
            let (store, all) = (store.clone(), all.clone());
            tokio::spawn(async move {
                let mut new = 0;
                for at in delivered {
                    let (memories, taught) = (memories(&store), &all[at]);
                    let thread = key(&taught.source().thread);
                    let learned = memories.learn(&thread, &taught.lesson(), NOW).await.unwrap();
                    new += usize::from(learned == Learned::New);
                }
                new
            })
        });
        let writers: Vec<_> = writers.collect();
        assert_eq!(writers.len(), WRITERS);
        let mut new = 0;
        for writer in writers {
            new += writer.await.unwrap();
        }
        assert_eq!(new, PIECES, "{name}");
        assert!(contents(&store).await == want, "{name}");
    }
}

/// B130
///
/// Learners of one outbox, with batches of several sizes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn learners_of_one_outbox_with_batches_of_any_size_are_exact() {
    let all: Vec<_> = pieces().into_iter().take(60).collect();
    let want = {
        let store = memory();
        learn_all(&store, all.iter()).await;
        contents(&store).await
    };
    for (threads, store) in all_backends().await {
        consumer(&threads).register().await.unwrap();
        run_turns(&threads, &all).await;
        let busy = Busy::new(&store, usize::MAX);
        let shared = SharedStore::new(busy.clone());
        let learners = [1, 2, 7, 25, 100].map(|at_once| {
            let learner = Learner::new(consumer(&threads), memories(&shared)).at_once(at_once);
            tokio::spawn(async move { learner.drain(NOW).await.unwrap().new })
        });
        let mut new = 0;
        for learner in learners {
            new += learner.await.unwrap();
        }
        assert_eq!(new, all.len());
        assert_eq!(contents(&store).await, want);
    }
}

/// A store that fails once, at its `at`th operation: before it is done, or when it is.
#[derive(Debug)]
struct FailsOnce {
    store: SharedStore,
    at: usize,
    done: bool,
    operations: AtomicUsize,
    failed: Arc<AtomicBool>,
}

impl FailsOnce {
    fn fails(&self) -> bool {
        let fails = self.operations.fetch_add(1, Ordering::SeqCst) == self.at;
        self.failed.fetch_or(fails, Ordering::SeqCst);
        fails
    }
}

impl Store for FailsOnce {
    async fn batch(&self, batch: Batch, now: Timestamp) -> Result<Batched, StoreError> {
        match (self.fails(), self.done) {
            (false, _) => self.store.batch(batch, now).await,
            (true, false) => Err(gone().into()),
            (true, true) => {
                self.store.batch(batch, now).await?;
                Err(gone().into())
            }
        }
    }

    async fn search(&self, search: &Search, now: Timestamp) -> Result<Page, StoreError> {
        if self.fails() { Err(gone().into()) } else { self.store.search(search, now).await }
    }

    async fn namespaces(
        &self,
        query: &Namespaces,
        now: Timestamp,
    ) -> Result<Vec<Labels>, StoreError> {
        self.store.namespaces(query, now).await
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
        self.store.sweep(now, limit).await
    }
}

/// A store of threads that fails once at its `at`th call of the outbox: before it is done, or when it is.
#[derive(Debug)]
struct OutboxFails {
    threads: SharedCheckpointer,
    at: usize,
    done: bool,
    calls: AtomicUsize,
    failed: Arc<AtomicBool>,
}

impl OutboxFails {
    fn fails(&self) -> bool {
        let fails = self.calls.fetch_add(1, Ordering::SeqCst) == self.at;
        self.failed.fetch_or(fails, Ordering::SeqCst);
        fails
    }
}

impl Layer for OutboxFails {
    fn inner(&self) -> &SharedCheckpointer {
        &self.threads
    }

    async fn outbox(
        &self,
        consumer: &str,
        topic: &str,
        limit: usize,
    ) -> Result<Vec<hanok_checkpoint::OutboxItem>, hanok_checkpoint::CheckpointError> {
        use hanok_checkpoint::Checkpointer;
        if self.fails() { Err(gone()) } else { self.threads.outbox(consumer, topic, limit).await }
    }

    async fn advance(
        &self,
        consumer: &str,
        topic: &str,
        to: hanok_checkpoint::Cursor,
    ) -> Result<(), hanok_checkpoint::CheckpointError> {
        use hanok_checkpoint::Checkpointer;
        match (self.fails(), self.done) {
            (false, _) => self.threads.advance(consumer, topic, to).await,
            (true, false) => Err(gone()),
            (true, true) => {
                self.threads.advance(consumer, topic, to).await?;
                Err(gone())
            }
        }
    }
}

/// B130
///
/// Whichever operation fails, of the records or of the outbox, before it is done or after: a learner that goes on loses nothing and
/// counts nothing twice, however many pieces it takes at once.
#[tokio::test]
async fn a_failure_of_any_operation_neither_loses_nor_doubles() {
    let want: BTreeMap<String, Stored> = {
        let store = memory();
        learn_all(&store, &dozen()).await;
        contents(&store).await
    };
    for (at_once, done) in [(1, false), (1, true), (5, false), (5, true), (100, false), (100, true)]
    {
        for of_records in [true, false] {
            for at in 0.. {
                let (threads, store) = backends().await.remove(at % 2);
                consumer(&threads).register().await.unwrap();
                run_turns(&threads, &dozen()).await;
                let failed: Arc<AtomicBool> = Arc::default();
                let (shared, outbox) = if of_records {
                    let (store, operations) = (store.clone(), AtomicUsize::new(0));
                    let fails = FailsOnce { store, at, done, operations, failed: failed.clone() };
                    (SharedStore::new(fails), threads)
                } else {
                    let calls = AtomicUsize::new(0);
                    let fails = OutboxFails { threads, at, done, calls, failed: failed.clone() };
                    (store.clone(), SharedCheckpointer::new(Layered(fails)))
                };
                let learner = Learner::new(consumer(&outbox), memories(&shared)).at_once(at_once);
                let mut failures = 0;
                while learner.drain(NOW).await.is_err() {
                    failures += 1;
                }
                assert_eq!(contents(&store).await, want, "{at} of {at_once}");
                assert_eq!(failures, usize::from(failed.load(Ordering::SeqCst)));
                if failures == 0 {
                    assert!(at >= 2, "only {at} operations");
                    break;
                }
            }
        }
    }
}

/// B131
///
/// Whatever fails while a thread is forgotten, another call goes on, and the thread was never there.
#[tokio::test]
async fn a_failure_while_a_thread_is_forgotten_leaves_whole_records() {
    let want = {
        let store = memory();
        let rest = dozen().into_iter().filter(|taught| taught.source().thread != "thread-1");
        learn_all(&store, &rest.collect::<Vec<_>>()).await;
        contents(&store).await
    };
    for done in [false, true] {
        for at in 0.. {
            let (_, store) = backends().await.remove(at % 2);
            learn_all(&store, &dozen()).await;
            let failed: Arc<AtomicBool> = Arc::default();
            let (inner, operations) = (store.clone(), AtomicUsize::new(0));
            let fails = FailsOnce { store: inner, at, done, operations, failed: failed.clone() };
            let forgetful = memories(&SharedStore::new(fails));
            while forgetful.forget_thread(&key("thread-1"), NOW).await.is_err() {
                // Whole records, in between as well.
                let kim = memories(&store).of(hanok_core::Tenant::default(), "kim");
                let before = contents(&store).await;
                kim.rebuild(NOW).await.unwrap();
                assert_eq!(contents(&store).await, before, "{at}");
            }
            assert_eq!(contents(&store).await, want, "{at}");
            if !failed.load(Ordering::SeqCst) {
                assert!(at > 4, "only {at} operations");
                break;
            }
        }
    }
}
