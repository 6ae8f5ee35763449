//! What is found, and in which order.

use hanok_retrieval::{Document, DocumentStore, Hit, LocalOptions, MemoryStore, Query, Terms};
use hanok_testkit::block_on;

use crate::local::support::*;

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
        (block_on(in_folder(LocalOptions::new())), MemoryStore::new(Terms::default()));
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
        assert_eq!(found(hits(&local, &query)), found(hits(&memory, &query)), "{query:?}");
    }
}

/// However the documents came, one at a time or all at once, replaced or merged, hits are the same to the last bit.
#[test]
fn hits_do_not_depend_on_how_the_documents_came() {
    let documents: Vec<Document> = (0..60).map(document).collect();
    let (once, slowly) =
        (block_on(in_folder(LocalOptions::new())), block_on(in_folder(LocalOptions::new())));
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
    for query in questions().iter().flat_map(in_every_way) {
        let want = hits(&once, &query);
        // Merges go on.
        for _ in 0..20 {
            assert_eq!(hits(&slowly, &query), want, "{query:?}");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

#[test]
fn of_equal_passages_the_same_are_found_every_time() {
    let store = block_on(in_folder(LocalOptions::new()));
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
