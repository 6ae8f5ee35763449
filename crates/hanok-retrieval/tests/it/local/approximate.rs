//! A store that compares the best of its vectors by estimate.

use std::{collections::BTreeSet, path::Path};

use hanok_checkpoint::Vector;
use hanok_retrieval::{
    Approximate, DocumentStore, LocalOptions, LocalStore, Mode, Passage, Query, RetrievalError,
    Retriever, Splitter,
};
use hanok_testkit::block_on;

use crate::local::support::*;

hanok_testkit::document_store_conforms!(
    in_folder(LocalOptions::new().approximate(Approximate::new())).await
);

fn options() -> LocalOptions {
    LocalOptions::new().approximate(Approximate::new())
}

fn opened(folder: &Path, options: LocalOptions) -> LocalStore {
    block_on(LocalStore::open(folder, options)).unwrap()
}

/// A vector of 64 numbers that follows from `seed`.
fn random(seed: u64) -> Vector {
    let mut seed = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut numbers = [0.0; 64];
    for _ in 0..4 {
        for number in &mut numbers {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            *number = (seed >> 40) as f32 / (1 << 23) as f32 - 1.0;
        }
    }
    Vector::new(&numbers).unwrap().made_by("random")
}

/// Passages of which every sixth document is of another team.
fn passages(numbers: impl Iterator<Item = u64>, version: u64) -> Vec<Passage> {
    let passage = |number: u64| {
        let source = format!("{}/{number}.md", number % 6);
        let text = format!("규정 {number}의 {version}판");
        let document = hanok_retrieval::Document::new(source, text);
        let mut passages = Splitter::new().split(&document);
        passages[0].vector = Some(random(number | version << 32));
        passages
    };
    numbers.flat_map(passage).collect()
}

fn recall(store: &LocalStore, exact: &LocalStore, query: &Query) -> f64 {
    let mut both = 0;
    for number in 0..30 {
        let query = query.clone().vector(random(1 << 50 | number)).mode(Mode::Vector).limit(10);
        let [found, want] = [store, exact].map(|store| {
            let hits = hits(store, &query);
            assert_eq!(hits.len(), 10);
            hits.into_iter().map(|hit| (hit.passage.source, hit.passage.text)).collect()
        });
        let (found, want): (BTreeSet<_>, BTreeSet<_>) = (found, want);
        both += found.intersection(&want).count();
    }
    both as f64 / 300.0
}

/// Of the last commit, and whoever reads it, it finds what a scan finds; nothing is in a file of its own.
#[test]
fn what_is_estimated_goes_with_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = opened(folder.path(), options());
    block_on(store.upsert(passages(0..6_000, 0))).unwrap();
    let exact = read(folder.path()).unwrap();
    let all = Query::new("규정");
    let found = recall(&store, &exact, &all);
    assert!((0.95..).contains(&found), "{found}");
    let few = all.clone().under("3");
    assert_eq!(recall(&store, &exact, &few), 1.0, "a thousand are all compared");
    drop(store);

    let store = opened(folder.path(), options());
    block_on(store.upsert(passages(0..300, 1))).unwrap();
    for number in 300..310 {
        assert!(block_on(store.remove(&format!("{}/{number}.md", number % 6))).unwrap());
    }
    let reader = opened(folder.path(), options().read_only(true));
    let check = |store: &LocalStore, what: &str| {
        let found = recall(store, &exact, &all);
        assert!(found >= 0.95, "{what}: {found}");
        for number in (0..320).step_by(10) {
            let query = |version: u64| {
                let query = Query::new("판").vector(random(number | version << 32)).limit(1);
                hits(store, &query.mode(Mode::Vector)).remove(0)
            };
            let text = |hit: &hanok_retrieval::Hit| hit.passage.text.clone();
            let (old, new) = (text(&query(0)), text(&query(1)));
            assert_eq!(new == format!("규정 {number}의 1판"), number < 300, "{what}: {new}");
            assert_eq!(old == format!("규정 {number}의 0판"), number >= 310, "{what}: {old}");
        }
    };
    check(&store, "changed");
    check(&reader, "read");
    drop(store);
    check(&opened(folder.path(), options()), "opened");
    let plain = open(folder.path()).unwrap();
    assert_eq!(recall(&plain, &exact, &all), 1.0);
}

/// A search that misses some shows that estimates are asked, by both parts of a search by both.
#[test]
fn few_candidates_miss_what_more_find() {
    let folder = tempfile::tempdir().unwrap();
    block_on(opened(folder.path(), options()).upsert(passages(0..6_000, 0))).unwrap();
    let exact = read(folder.path()).unwrap();
    let narrow = LocalOptions::new().approximate(Approximate::new().breadth(16)).read_only(true);
    let narrow = opened(folder.path(), narrow);
    let few = |store| recall(store, &exact, &Query::new("규정"));
    let broad = opened(folder.path(), options().read_only(true));
    let found = [few(&narrow), few(&broad)];
    assert!(found[0] < 1.0 && found[0] < found[1], "{found:?}");
    let both = |number| {
        let query = Query::new(format!("규정 {number}")).vector(random(number)).limit(5);
        query.mode(Mode::Hybrid)
    };
    for number in (0..6_000).step_by(400) {
        let [found, want] = [&broad, &exact].map(|store| hits(store, &both(number)));
        assert_eq!(found[0], want[0], "{number}");
    }
}

/// Vectors of another model are another space, and no vector of one is asked for the other.
#[test]
fn another_space_is_told_and_nothing_is_compared() {
    let folder = tempfile::tempdir().unwrap();
    let store = opened(folder.path(), options());
    block_on(store.upsert(passages(0..5_000, 0))).unwrap();
    let other = random(3).made_by("another");
    let query = Query::new("규정").vector(other.clone()).mode(Mode::Vector);
    let refused = block_on(store.search(&query)).unwrap_err();
    assert!(matches!(refused, RetrievalError::Space { .. }), "{refused}");
    let mut mixed = passages(9_000..9_001, 0);
    mixed[0].vector = Some(other);
    block_on(store.upsert(mixed.clone())).unwrap();
    let found = hits(&store, &query);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].passage.text, mixed[0].text);
}
