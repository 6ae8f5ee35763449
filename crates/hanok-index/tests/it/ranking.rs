//! What is found, and in which order.

use hanok_index::IndexOptions;
use hanok_retrieval::{Document, DocumentStore, Hit, MemoryStore, Query, Terms};
use hanok_testkit::block_on;

use crate::support::*;

fn questions() -> Vec<Query> {
    let texts = [
        "휴가",
        "병가 승인",
        "VPN 접속 보안 규정",
        "부서장 보고",
        "연차휴가 15일 근속자 급여",
        "zebra 휴가",
    ];
    let plain = texts.into_iter().map(|text| Query::new(text).limit(7));
    let few = plain.clone().map(|query| query.only("team", "hr").under("규정/1"));
    let covered = plain.clone().map(|query| query.min_coverage(0.8));
    plain.clone().chain(few).chain(covered).chain([Query::new("휴가").limit(1_000)]).collect()
}

#[test]
fn coverage_and_terms_are_those_of_the_store_in_memory() {
    let documents: Vec<Document> = (0..60).map(document).collect();
    let (local, memory) =
        (block_on(in_folder(IndexOptions::new())), MemoryStore::new(Terms::default()));
    put(&local, &documents);
    put(&memory, &documents);
    let mut compared = 0;
    for query in questions() {
        let (local, all) = (hits(&local, &query), hits(&memory, &query.clone().limit(1_000)));
        assert_eq!(local.len(), all.len().min(query.max_hits()), "{query:?}");
        for hit in local {
            let same = all.iter().find(|other| other.passage == hit.passage).unwrap();
            assert_eq!(hit.matched, same.matched);
            assert!((hit.coverage - same.coverage).abs() < 1e-4, "{hit:?} {same:?}");
            // Tantivy rounds lengths.
            assert!((hit.score / same.score - 1.0).abs() < 0.1, "{hit:?} {same:?}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
    for query in questions() {
        let [_, query, _] = in_every_way(&query);
        let found = |hits: Vec<Hit>| {
            let scores = hits.iter().map(|hit| hit.score);
            scores.collect::<Vec<_>>()
        };
        let (local, memory) = (found(hits(&local, &query)), found(hits(&memory, &query)));
        assert_eq!(local.len(), memory.len());
        // A stored vector is made of length one again.
        let near = |(one, other): (&f32, &f32)| (one - other).abs() < 1e-6;
        assert!(local.iter().zip(&memory).all(near), "{query:?}: {local:?} {memory:?}");
    }
}

/// However the documents came, one at a time or all at once, replaced or merged, the same passages are found.
#[test]
fn what_is_found_does_not_depend_on_how_the_documents_came() {
    let documents: Vec<Document> = (0..60).map(document).collect();
    let (once, slowly) =
        (block_on(in_folder(IndexOptions::new())), block_on(in_folder(IndexOptions::new())));
    put(&once, &documents);
    let sources: Vec<String> = documents.iter().map(|document| document.source.clone()).collect();
    for (at, source) in sources.iter().enumerate().rev() {
        put(&slowly, &[Document::new(source, "휴가 병가 보안"), document(10_000 + at as u64)]);
    }
    for at in 0..sources.len() {
        block_on(slowly.remove(&document(10_000 + at as u64).source)).unwrap();
    }
    for documents in documents.chunks(3) {
        put(&slowly, documents);
    }
    assert_eq!(block_on(once.documents()).unwrap(), block_on(slowly.documents()).unwrap());
    let mut found = 0;
    for query in questions().into_iter().filter(|query| query.lowest_coverage() == 0.0) {
        for query in in_every_way(&query.limit(1_000)) {
            let ids = |store: &_| {
                let ids = hits(store, &query).into_iter().map(|hit| hit.passage.id);
                ids.collect::<std::collections::BTreeSet<_>>()
            };
            assert_eq!(ids(&slowly), ids(&once), "{query:?}");
            found += ids(&once).len();
        }
    }
    assert!(found > 100, "{found}");
}

#[test]
fn of_equal_passages_the_same_are_found_every_time() {
    let store = block_on(in_folder(IndexOptions::new()));
    let same = |at: u32| Document::new(format!("{at}.md"), "연차휴가는 15일이다.");
    for at in 0..40 {
        put(&store, &[same(at * 2), same(at * 2 + 1)]);
    }
    let all = hits(&store, &Query::new("휴가 15일").limit(100));
    assert_eq!(all.len(), 80);
    for limit in [1, 5, 33] {
        assert_eq!(hits(&store, &Query::new("휴가 15일").limit(limit)), all[..limit]);
    }
}
