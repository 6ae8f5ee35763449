//! A learner that dies at every write, of the records and of the outbox.

use hanok_checkpoint::{SharedCheckpointer, SharedStore};
use hanok_learning::Learner;
use hanok_testkit::Layered;

use super::reports::*;
use crate::support::{Busy, NOW, Unacknowledged, backends, consumer, contents, memory};

/// Three pieces of each kind.
fn fifteen() -> Vec<Piece> {
    (0..15).map(any_piece).collect()
}

/// B137
#[tokio::test]
async fn a_learner_that_dies_at_any_batch_counts_every_kind_once() {
    let innocent = memory();
    learn(&innocent, &fifteen()).await;
    let want = contents(&innocent).await;
    // A piece takes a batch that reads and one that writes.
    for dies_at in 0..30 {
        for (threads, store) in backends().await {
            consumer(&threads).register().await.unwrap();
            turns(&threads, &fifteen()).await;
            let dying = SharedStore::new(Busy::new(&store, dies_at));
            let learner = Learner::new(consumer(&threads), memories(&dying)).at_once(1);
            learner.drain(NOW).await.unwrap_err();
            Learner::new(consumer(&threads), memories(&store)).drain(NOW).await.unwrap();
            assert_eq!(contents(&store).await, want, "dies at {dies_at}");
        }
    }
}

/// B137
#[tokio::test]
async fn a_learner_that_dies_before_it_acknowledges_counts_every_kind_once() {
    let innocent = memory();
    learn(&innocent, &fifteen()).await;
    let want = contents(&innocent).await;
    for dies_at in 0..15 {
        for (threads, store) in backends().await {
            consumer(&threads).register().await.unwrap();
            turns(&threads, &fifteen()).await;
            let advances = Default::default();
            let dying = Unacknowledged { threads: threads.clone(), dies_at, advances };
            let dying = SharedCheckpointer::new(Layered(dying));
            let learner = Learner::new(consumer(&dying), memories(&store)).at_once(1);
            learner.drain(NOW).await.unwrap_err();
            let next = Learner::new(consumer(&threads), memories(&store));
            let drained = next.drain(NOW).await.unwrap();
            assert_eq!((drained.again, drained.new), (1, 14 - dies_at), "dies at {dies_at}");
            assert_eq!(contents(&store).await, want);
        }
    }
}
