//! Any order, any number of times; and a server that nobody ever heard of.

use std::{collections::BTreeSet, time::Duration};

use hanok_checkpoint::{Search, SharedStore, Store};
use hanok_core::{Stored, Tenant};
use hanok_learning::{Forget, Learner};
use hanok_testkit::block_on;
use proptest::prelude::*;

use super::reports::*;
use crate::support::{NOW, backends, consumer, contents, key, memory};

/// Numbers of pieces, and an order in which each comes one to three times.
fn deliveries() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
    let numbers = proptest::collection::btree_set(0..600_u64, 1..40);
    let repeated = |numbers: BTreeSet<u64>| {
        let numbers: Vec<_> = numbers.into_iter().collect();
        let times = proptest::collection::vec(1..=3_usize, numbers.len());
        (Just(numbers), times).prop_flat_map(|(numbers, times)| {
            let often = numbers.iter().zip(times);
            let often = often.flat_map(|(n, times)| std::iter::repeat_n(*n, times));
            let often: Vec<_> = often.collect();
            (Just(numbers), Just(often).prop_shuffle())
        })
    };
    numbers.prop_flat_map(repeated)
}

fn pieces(numbers: &[u64]) -> Vec<Piece> {
    numbers.iter().map(|n| any_piece(*n)).collect()
}

/// Every item at a time when nothing remembers what was forgotten, with nothing left out.
async fn everything_later(store: &SharedStore) -> Vec<(String, Stored)> {
    let later = NOW.plus(Duration::from_secs(31 * 24 * 60 * 60));
    store.sweep(later, 10_000).await.unwrap();
    let search = Search::all(Tenant::default()).limit(10_000);
    let hits = store.search(&search, later).await.unwrap().hits;
    let mut items: Vec<_> =
        hits.into_iter().map(|hit| (hit.item.key.to_string(), hit.item.value)).collect();
    items.sort_by(|a, b| a.0.cmp(&b.0));
    items
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// B137: any order and any duplicates give the same bytes.
    #[test]
    fn reports_in_any_order_and_any_number_of_times_give_the_same_bytes((numbers, order) in deliveries()) {
        block_on(async {
            let (once, often) = (memory(), memory());
            learn(&once, &pieces(&numbers)).await;
            assert_eq!(learn(&often, &pieces(&order)).await, numbers.len());
            assert_eq!(contents(&often).await, contents(&once).await);
        });
    }

    /// B131, B137: unlearning a server is never having heard of it, byte by byte, and after 30 days not even ids remain.
    #[test]
    fn a_server_that_is_unlearned_was_never_heard_of((numbers, order) in deliveries(), at in any::<prop::sample::Index>()) {
        block_on(async {
            let (innocent, store) = (memory(), memory());
            let unhostile: Vec<_> = pieces(&numbers).into_iter().filter(|one| !one.hostile).collect();
            learn(&innocent, &unhostile).await;
            // It is unlearned in the middle, too: what it teaches under a new id afterwards goes with the second call.
            let delivered = pieces(&order);
            let (before, after) = delivered.split_at(at.index(delivered.len()));
            let (memories, tenant) = (memories(&store), Tenant::default());
            learn(&store, before).await;
            let first = memories.forget_server(&tenant, HOSTILE, NOW).await.unwrap().evidence;
            learn(&store, after).await;
            let second = memories.forget_server(&tenant, HOSTILE, NOW).await.unwrap().evidence;
            assert_eq!(first + second, numbers.len() - unhostile.len());
            assert_eq!(contents(&store).await, contents(&innocent).await);
            assert_eq!(everything_later(&store).await, everything_later(&innocent).await);
        });
    }

    /// B131
    #[test]
    fn a_turn_that_is_forgotten_was_never_there((numbers, order) in deliveries()) {
        block_on(async {
            let (without, store) = (memory(), memory());
            learn(&store, &pieces(&order)).await;
            // The fields of a piece's source are made of its number.
            let of_turn = |n: &u64| n / 5 % 4 == 1 && n / 5 % 3 == 2;
            let rest: Vec<_> = numbers.iter().copied().filter(|n| !of_turn(n)).collect();
            learn(&without, &pieces(&rest)).await;
            let gone = memories(&store).forget_turn(&key("t1"), "m2", NOW).await.unwrap();
            assert_eq!(gone.evidence, numbers.len() - rest.len());
            assert_eq!(contents(&store).await, contents(&without).await);
        });
    }
}

/// B131: what a hostile server taught goes out of the outbox, too, of all users, in every store; of one user alone where that is
/// asked for.
#[tokio::test]
async fn what_a_server_taught_and_waits_is_unlearned_too() {
    let all: Vec<_> = (0..60).map(any_piece).collect();
    let hostile = all.iter().filter(|one| one.hostile).count();
    assert!(hostile > 10, "only {hostile}");
    let innocent = memory();
    learn(&innocent, all.iter().filter(|one| !one.hostile)).await;
    for (threads, store) in backends().await {
        let learner = Learner::new(consumer(&threads), memories(&store));
        learner.register().await.unwrap();
        turns(&threads, &all[..30]).await;
        learner.drain(NOW).await.unwrap();
        turns(&threads, &all[30..]).await;
        let of_kim = memories(&store).of(Tenant::default(), "kim");
        let kims = of_kim.forget(&Forget::Server(HOSTILE.to_owned()), NOW).await.unwrap();
        let rest = learner.forget_server(&Tenant::default(), HOSTILE, NOW).await.unwrap();
        assert_eq!(kims.evidence + rest.evidence, hostile);
        assert!(kims.evidence > 0 && rest.evidence > 0);
        assert_eq!(contents(&store).await, contents(&innocent).await);
    }
}
