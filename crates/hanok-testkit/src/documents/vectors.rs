//! Searches by meaning, and the neighbours of a passage.

use hanok_checkpoint::Vector;
use hanok_retrieval::{
    Document, DocumentStore, Fusion, Hit, Mode, Passage, Query, RetrievalError, Retriever,
    SharedDocumentStore, Splitter,
};

use super::fixture::*;
use crate::block_on;

/// A vector of the model `small`.
fn vector(numbers: [f32; 3]) -> Vector {
    Vector::new(&numbers).unwrap().made_by("small")
}

/// The document of a name and a text, as one passage with that vector.
fn put(store: &SharedDocumentStore, name: &str, text: &str, vector: Option<Vector>) {
    let mut passages = split(&Document::new(name, text).with("name", name));
    passages[0].vector = vector;
    block_on(store.upsert(passages)).unwrap();
}

/// Three documents, each with its own direction.
fn three(store: &SharedDocumentStore) {
    put(store, "x/a.md", "연차휴가는 연 15일이다.", Some(vector([1.0, 0.0, 0.0])));
    put(store, "x/b.md", "회의실은 3층에 있다.", Some(vector([0.8, 0.6, 0.0])));
    put(store, "y/c.md", "출장비는 실비이다.", Some(vector([0.0, 0.0, 1.0])));
}

fn near(numbers: [f32; 3]) -> Query {
    Query::new("").mode(Mode::Vector).vector(vector(numbers)).limit(10)
}

fn sources(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.passage.source.as_str()).collect()
}

pub(crate) fn what_is_near_is_found_by_its_vector(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    assert_eq!(shelf.hits(&near([1.0, 0.0, 0.0])), [], "nothing is near in an empty store");
    three(&store);
    let hits = shelf.hits(&near([10.0, 1.0, 0.0]));
    assert_eq!(sources(&hits), ["x/a.md", "x/b.md", "y/c.md"]);
    for (hit, want) in hits.iter().zip([0.995_04, 0.855_73, 0.0]) {
        assert!((hit.score - want).abs() < 1e-3, "{hit:?}");
        assert!(matches!(hit.parts[..], [part] if part.by == Mode::Vector));
        assert!((hit.parts[0].score - want).abs() < 1e-3);
        assert_eq!(hit.passage.vector, None);
    }
    assert_eq!(hits.iter().map(|hit| hit.parts[0].rank).collect::<Vec<_>>(), [1, 2, 3]);
    let few = shelf.hits(&near([10.0, 1.0, 0.0]).limit(1));
    assert_eq!(sources(&few), ["x/a.md"]);
    let like = shelf.hits(&near([10.0, 1.0, 0.0]).min_similarity(0.5));
    assert_eq!(sources(&like), ["x/a.md", "x/b.md"]);
    assert_eq!(shelf.hits(&near([-1.0, -1.0, -1.0]).min_similarity(0.5)), []);
}

pub(crate) fn a_vector_goes_with_its_passage(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    three(&store);
    put(&store, "x/a.md", "연차휴가는 연 16일이다.", Some(vector([0.0, 1.0, 0.0])));
    let hits = shelf.hits(&near([0.0, 1.0, 0.0]));
    assert_eq!(sources(&hits), ["x/a.md", "x/b.md", "y/c.md"]);
    assert!(hits[0].passage.text.contains("16일"));
    put(&store, "x/a.md", "연차휴가는 연 17일이다.", None);
    assert_eq!(sources(&shelf.hits(&near([0.0, 1.0, 0.0]))), ["x/b.md", "y/c.md"]);
    assert!(shelf.remove("x/b.md"));
    assert_eq!(sources(&shelf.hits(&near([0.0, 1.0, 0.0]))), ["y/c.md"]);
    assert_eq!(shelf.sources_of(Query::new("휴가")), ["x/a.md"], "its words are there");
}

pub(crate) fn filters_hold_for_vectors_too(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    three(&store);
    let ask = || near([1.0, 0.0, 0.0]);
    assert_eq!(sources(&shelf.hits(&ask().under("y"))), ["y/c.md"]);
    assert_eq!(sources(&shelf.hits(&ask().only("name", "x/b.md").limit(1))), ["x/b.md"]);
    assert_eq!(shelf.hits(&ask().only("name", "x")), []);
    let both = ask().mode(Mode::Hybrid).under("y");
    assert_eq!(sources(&shelf.hits(&both)), ["y/c.md"]);
}

pub(crate) fn vectors_of_another_model_are_not_compared(store: SharedDocumentStore) {
    three(&store);
    let ask = |vector: Vector| {
        let query = Query::new("휴가").limit(10).mode(Mode::Vector).vector(vector);
        block_on(store.search(&query))
    };
    let other = || Vector::new(&[1.0, 0.0, 0.0]).unwrap().made_by("other");
    for (vector, words) in [(other(), "`other`"), (Vector::new(&[1.0]).unwrap(), "1 numbers")] {
        let error = ask(vector).unwrap_err();
        assert!(matches!(error, RetrievalError::Space { .. }), "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
    }
    put(&store, "z.md", "주차장은 지하에 있다.", Some(other()));
    assert_eq!(sources(&ask(other()).unwrap()), ["z.md"]);
    assert_eq!(ask(vector([0.0, 0.0, 1.0])).unwrap().len(), 3);
}

pub(crate) fn a_question_without_its_vector_is_an_error(store: SharedDocumentStore) {
    three(&store);
    for mode in [Mode::Vector, Mode::Hybrid] {
        let error = block_on(store.search(&Query::new("휴가").mode(mode))).unwrap_err();
        assert!(matches!(error, RetrievalError::NoVector { mode: told } if told == mode));
    }
    // One that is not needed is no harm.
    let query = Query::new("휴가").vector(vector([0.0, 0.0, 1.0]));
    assert_eq!(sources(&Shelf(&store).hits(&query)), ["x/a.md"]);
}

pub(crate) fn both_parts_are_joined_and_told(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    three(&store);
    let ask =
        |text: &str, numbers| Query::new(text).mode(Mode::Hybrid).vector(vector(numbers)).limit(10);
    let hits = shelf.hits(&ask("회의실", [0.1, 0.0, 1.0]).min_similarity(0.05));
    let shown: Vec<_> = hits
        .iter()
        .map(|hit| {
            let parts: Vec<_> =
                hit.parts.iter().map(|part| format!("{}{}", part.by, part.rank)).collect();
            (hit.passage.source.as_str(), parts.join(" "))
        })
        .collect();
    let want = [("x/b.md", "keyword1 vector3"), ("y/c.md", "vector1"), ("x/a.md", "vector2")];
    let want: Vec<_> = want.map(|(source, parts)| (source, parts.to_owned())).into();
    // Of a and b the vectors are 0.0995 and 0.0796 like the question's.
    assert_eq!(shown, want);
    assert!((hits[0].score - (1.0 / 61.0 + 1.0 / 63.0)).abs() < 1e-6, "{}", hits[0].score);
    assert_eq!((hits[0].coverage, hits[1].coverage), (1.0, 0.0));
    assert!(!hits[0].matched.is_empty() && hits[1].matched.is_empty());
    let by_vector = Fusion::new().k(0.0).weights(0.1, 1.0);
    let hits = shelf.hits(&ask("회의실", [0.1, 0.0, 1.0]).fusion(by_vector).limit(1));
    assert_eq!(sources(&hits), ["y/c.md"]);
    // Words that are nowhere leave what the vectors found.
    assert_eq!(sources(&shelf.hits(&ask("zebra", [0.0, 0.0, 1.0]).limit(1))), ["y/c.md"]);
}

pub(crate) fn the_model_of_the_vectors_is_listed(store: SharedDocumentStore) {
    let shelf = Shelf(&store);
    three(&store);
    put(&store, "none.md", "주차장은 지하에 있다.", None);
    let documents = shelf.documents();
    let models: Vec<_> = documents.iter().map(|document| document.model.as_deref()).collect();
    assert_eq!(models, [None, Some("small"), Some("small"), Some("small")]);
    let version = |store: &SharedDocumentStore| Shelf(store).documents().swap_remove(0).version;
    let before = version(&store);
    put(&store, "none.md", "주차장은 지하에 있다.", Some(vector([1.0, 1.0, 1.0])));
    assert_eq!(version(&store), before, "a vector is no part of the version");
    assert_eq!(shelf.documents()[0].model.as_deref(), Some("small"));
    let mut passages = split(&rule("two.md", 15));
    passages[0].vector = Some(vector([1.0, 1.0, 1.0]));
    block_on(store.upsert(passages)).unwrap();
    assert_eq!(shelf.documents()[1].model, None, "one passage of two has a vector");
}

pub(crate) fn passages_are_read_with_their_neighbours(store: SharedDocumentStore) {
    let text: String = (0..6).map(|n| format!("## 제{n}조(휴가)\n{n}호이다.\n\n")).collect();
    let document = Document::new("a/b.md", text);
    let passages: Vec<Passage> = Splitter::new().split(&document);
    assert_eq!(passages.len(), 6);
    block_on(store.upsert(passages.clone())).unwrap();
    block_on(store.upsert(split(&rule("a/b.md2", 15)))).unwrap();
    let around = |at: usize, by| block_on(store.neighbours(&passages[at], by)).unwrap();
    for (at, by, want) in
        [(0, 1, 0..2), (3, 1, 2..5), (5, 2, 3..6), (2, 0, 2..3), (1, usize::MAX, 0..6)]
    {
        assert_eq!(around(at, by), passages[want], "{at} {by}");
    }
    assert_eq!(block_on(store.passages("a/b.md", 4..4)).unwrap(), []);
    assert_eq!(block_on(store.passages("a/b.md", 6..99)).unwrap(), []);
    assert_eq!(block_on(store.passages("a", 0..99)).unwrap(), []);
}
