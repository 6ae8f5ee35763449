//! The documents and passages that a store holds.

use hanok_retrieval::{Document, DocumentStore, Query, SharedDocumentStore, Splitter, sync};

use super::fixture::*;
use crate::block_on;

pub(crate) fn passages_read_back_as_they_were_put(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    let odd = "휴가 'quoted\\' \"%_\" \u{0}\u{1F600} {\"a\": 1} -- ; DROP TABLE\u{200b}\n\ttail";
    let documents = [
        rule("규정/인사.md", 15).with("team", "hr").with("'%_\\", "\u{1F600}"),
        Document::new("a'b\\c%_.txt", odd),
    ];
    shelf.put(&documents);
    for document in &documents {
        for passage in split(document) {
            let query = Query::new(passage.text.clone()).under(&document.source).limit(10);
            let hit = shelf.hits(&query).into_iter().find(|hit| hit.passage.id == passage.id);
            assert_eq!(hit.unwrap().passage, passage);
        }
    }
}

pub(crate) fn a_document_is_replaced_as_a_whole(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    shelf.put(&[rule("a.md", 15), rule("b.md", 15)]);
    shelf.put(&[Document::new("a.md", "출장비는 실비이다.")]);
    assert_eq!(shelf.sources_of(Query::new("휴가")), ["b.md"]);
    assert_eq!(shelf.sources_of(Query::new("진단서")), ["b.md"]);
    assert_eq!(shelf.sources_of(Query::new("출장비")), ["a.md"]);
    assert_eq!(shelf.sources(), ["a.md", "b.md"]);
}

pub(crate) fn what_is_removed_is_found_by_nothing(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    shelf.put(&[rule("a.md", 15), rule("a", 15), rule("A.md", 15)]);
    assert!(shelf.remove("a.md"));
    assert!(!shelf.remove("a.md"), "it is gone");
    assert!(!shelf.remove("b.md"), "it never was");
    assert_eq!(shelf.sources_of(Query::new("휴가 진단서")), ["A.md", "a"]);
    assert_eq!(shelf.sources(), ["A.md", "a"]);
    shelf.put(&[rule("a.md", 16)]);
    assert_eq!(shelf.sources_of(Query::new("휴가")), ["A.md", "a", "a.md"]);
}

pub(crate) fn putting_the_same_again_changes_nothing(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    let documents = [rule("a.md", 15), rule("b.md", 16)];
    shelf.put(&documents);
    let query = Query::new("연차휴가 진단서").limit(10);
    let (listed, hits) = (shelf.documents(), shelf.hits(&query));
    assert_eq!(hits.len(), 4);
    shelf.put(&documents);
    assert_eq!(shelf.documents(), listed);
    assert_eq!(shelf.hits(&query), hits);
}

pub(crate) fn documents_are_listed_by_source_with_their_version(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    assert_eq!(shelf.documents(), []);
    shelf.put(&[rule("나.md", 15), rule("가.md", 15), rule("a/b.md", 15), rule("a.md", 15)]);
    assert_eq!(shelf.sources(), ["a.md", "a/b.md", "가.md", "나.md"]);
    let of = |source: &str| {
        shelf.documents().into_iter().find(|document| document.source == source).unwrap()
    };
    assert_eq!(of("가.md").passages, 2);
    let before = of("가.md").version;
    shelf.put(&[rule("가.md", 16)]);
    let edited = of("가.md").version;
    assert_ne!(before, edited);
    shelf.put(&[rule("가.md", 16).with("team", "hr")]);
    assert_ne!(of("가.md").version, edited);
    shelf.put(&[rule("가.md", 15)]);
    assert_eq!(of("가.md").version, before);
}

pub(crate) fn of_a_replaced_document_a_search_sees_one_version(store: SharedDocumentStore) {
    let version = |n: usize| {
        let text = (0..20).map(|at| format!("## 제{at}조(휴가)\n판 {n}호이다.\n\n"));
        Document::new("a.md", text.collect::<String>())
    };
    Shelf(&store).put(&[version(0)]);
    let writing = store.clone();
    let writer = std::thread::spawn(move || {
        for n in 1..30 {
            Shelf(&writing).put(&[version(n)]);
        }
    });
    let mut rounds = 0;
    while rounds < 30 || !writer.is_finished() {
        let hits = Shelf(&store).hits(&Query::new("휴가").limit(100));
        assert_eq!(hits.len(), 20);
        let first = hits[0].passage.document.clone();
        assert!(hits.iter().all(|hit| hit.passage.document == first), "two versions at once");
        rounds += 1;
    }
    writer.join().unwrap();
}

pub(crate) fn only_what_changed_is_put_again(store: SharedDocumentStore) {
    let bring = |documents: &[Document]| {
        let changes = block_on(sync(&store, &Splitter::new(), documents)).unwrap();
        (changes.added, changes.changed, changes.removed, changes.unchanged, changes.skipped)
    };
    let shelf = Shelf(&store);
    let mut documents = vec![rule("a.md", 15), rule("b.md", 15), Document::new("c.md", " ")];
    assert_eq!(bring(&documents), (2, 0, 0, 0, 1));
    assert_eq!(bring(&documents), (0, 0, 0, 2, 1));
    documents[0] = rule("a.md", 16);
    documents[1] = rule("d.md", 15);
    assert_eq!(bring(&documents), (1, 1, 1, 0, 1));
    assert_eq!(shelf.sources(), ["a.md", "d.md"]);
    documents[1] = Document::new("d.md", "\n");
    assert_eq!(bring(&documents), (0, 0, 1, 1, 2));
    assert_eq!(shelf.sources(), ["a.md"]);

    // Another way to split is another version.
    let small = Splitter::new().max_chars(16).overlap_chars(0);
    assert_eq!(block_on(sync(&store, &small, &documents)).unwrap().changed, 1);
    assert!(shelf.documents()[0].passages > 2);
    assert_eq!(block_on(store.documents()).unwrap(), shelf.documents());
}
