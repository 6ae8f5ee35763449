//! Learners that die, and several at once.

use std::{future::Future, pin::pin, sync::atomic::Ordering, task::Poll};

use hanok_checkpoint::{SharedCheckpointer, SharedStore};
use hanok_learning::{Learned, Learner};
use hanok_testkit::Layered;

use crate::support::*;

/// What stands in a store after a quiet learner.
async fn quiet() -> std::collections::BTreeMap<String, hanok_core::Stored> {
    let store = memory();
    learn_all(&store, &dozen()).await;
    contents(&store).await
}

/// Threads whose turns are over, and a store where nothing is learned yet.
async fn taught() -> Vec<(SharedCheckpointer, SharedStore)> {
    let backends = backends().await;
    for (threads, _) in &backends {
        consumer(threads).register().await.unwrap();
        run_turns(threads, &dozen()).await;
    }
    backends
}

#[tokio::test]
async fn two_learners_at_once_count_once() {
    let want = quiet().await;
    for (threads, store) in taught().await {
        let busy = Busy::new(&store, usize::MAX);
        let shared = SharedStore::new(busy.clone());
        let learner = || Learner::new(consumer(&threads), memories(&shared));
        let (one, other) = (learner(), learner());
        let (one, other) = futures::join!(one.drain(NOW), other.drain(NOW));
        assert_eq!(one.unwrap().new + other.unwrap().new, 12);
        assert!(busy.conflicts.load(Ordering::SeqCst) > 0, "they never met");
        assert_eq!(contents(&store).await, want);
    }
}

/// Two learners of different evidence of the same record meet at its version.
#[tokio::test]
async fn two_learners_of_one_record_lose_nothing() {
    let want = quiet().await;
    let (store, all) = (memory(), dozen());
    let busy = Busy::new(&store, usize::MAX);
    let shared = SharedStore::new(busy.clone());
    let (front, back) = all.split_at(6);
    futures::join!(learn_all(&shared, front), learn_all(&shared, back));
    assert!(busy.conflicts.load(Ordering::SeqCst) > 0, "they never met");
    assert_eq!(contents(&store).await, want);
}

/// One id that two nodes use for two records counts once, even if both are learned at the same time.
#[tokio::test]
async fn one_id_of_two_records_counts_once() {
    for (_, store) in backends().await {
        let busy = SharedStore::new(Busy::new(&store, usize::MAX));
        let (tea, english) =
            (states("kim", "a", 1, "t", "drink=tea"), states("kim", "a", 1, "t", "language=en"));
        let (one, other) = (memories(&busy), memories(&busy));
        let (thread, lessons) = (key("t"), [tea.lesson(), english.lesson()]);
        let (one, other) = futures::join!(
            one.learn(&thread, &lessons[0], NOW),
            other.learn(&thread, &lessons[1], NOW)
        );
        let mut learned = [one.unwrap(), other.unwrap()];
        learned.sort_by_key(|learned| *learned != Learned::New);
        assert_eq!(learned, [Learned::New, Learned::Counted]);
        // The record, its evidence, and the names of its id and its turn.
        assert_eq!(contents(&store).await.len(), 4);
    }
}

#[tokio::test]
async fn a_learner_that_dies_at_any_batch_counts_once() {
    let want = quiet().await;
    for dies_at in 0..24 {
        for (threads, store) in taught().await {
            let dying = SharedStore::new(Busy::new(&store, dies_at));
            let learner = Learner::new(consumer(&threads), memories(&dying)).at_once(1);
            learner.drain(NOW).await.unwrap_err();
            let next = Learner::new(consumer(&threads), memories(&store));
            next.drain(NOW).await.unwrap();
            assert_eq!(contents(&store).await, want, "dies at {dies_at}");
        }
    }
}

#[tokio::test]
async fn a_learner_that_dies_before_it_acknowledges_counts_once() {
    let want = quiet().await;
    for dies_at in 0..12 {
        for (threads, store) in taught().await {
            let advances = Default::default();
            let dying = Unacknowledged { threads: threads.clone(), dies_at, advances };
            let dying = SharedCheckpointer::new(Layered(dying));
            let learner = Learner::new(consumer(&dying), memories(&store)).at_once(1);
            learner.drain(NOW).await.unwrap_err();
            let next = Learner::new(consumer(&threads), memories(&store));
            let drained = next.drain(NOW).await.unwrap();
            assert_eq!((drained.again, drained.new), (1, 11 - dies_at), "dies at {dies_at}");
            assert_eq!(contents(&store).await, want);
        }
    }
}

/// B130
///
/// A drain that is dropped after any number of polls.
#[tokio::test]
async fn a_learner_that_is_dropped_anywhere_counts_once() {
    let want = quiet().await;
    for polls in 1..48 {
        let (threads, store) = taught().await.remove(0);
        let busy = SharedStore::new(Busy::new(&store, usize::MAX));
        let learner = Learner::new(consumer(&threads), memories(&busy)).at_once(1);
        {
            let mut drain = pin!(learner.drain(NOW));
            for _ in 0..polls {
                let poll = std::future::poll_fn(|cx| Poll::Ready(drain.as_mut().poll(cx))).await;
                assert!(poll.is_pending(), "{polls} polls are enough");
                tokio::task::yield_now().await;
            }
        }
        Learner::new(consumer(&threads), memories(&store)).drain(NOW).await.unwrap();
        assert_eq!(contents(&store).await, want, "dropped after {polls}");
    }
}
