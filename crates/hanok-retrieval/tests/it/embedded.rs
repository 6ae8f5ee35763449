//! A store that embeds what is put and what is asked.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_core::{BoxFuture, Call, CallKey, Clock, Timestamp};
use hanok_model::{Embedder, HashEmbedder, ModelError, SharedEmbedder};
use hanok_retrieval::{
    Document, DocumentStore, Embedded, MemoryStore, Mode, Query, RetrievalError, Retriever,
    SharedDocumentStore, Splitter, sync,
};
use hanok_testkit::block_on;

/// An embedder of some name that notes what it is asked, and gives what is wrong if it is told to.
#[derive(Debug, Clone, Default)]
struct Noting {
    name: &'static str,
    asked: Arc<Mutex<Vec<Vec<String>>>>,
    wrong: Option<Vec<Vec<f32>>>,
}

impl Noting {
    fn texts(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Embedder for Noting {
    fn name(&self) -> &str {
        self.name
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, texts: &[String], call: &Call) -> Result<Vec<Vec<f32>>, ModelError> {
        self.asked.lock().unwrap().push(texts.to_vec());
        match &self.wrong {
            Some(wrong) => Ok(wrong.clone()),
            None => HashEmbedder::new(256).embed(texts, call).await,
        }
    }
}

/// A clock that stands still.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(pending())
    }
}

fn call() -> Call {
    Call::new(CallKey::new("retrieval"), Arc::new(Still))
}

fn embedded(store: &SharedDocumentStore, embedder: &Noting) -> Embedded<SharedDocumentStore> {
    Embedded::new(store.clone(), SharedEmbedder::new(embedder.clone()), call())
}

fn documents() -> [Document; 2] {
    let rules =
        "# 인사규정\n\n## 제12조(연차휴가)\n연 15일이다.\n\n## 제13조(병가)\n진단서를 낸다.\n";
    [Document::new("규정.md", rules), Document::new("회의실.md", "회의실은 3층에 있다.")]
}

#[test]
fn what_is_put_and_asked_is_embedded_with_its_headings_and_prefixes() {
    let (inner, embedder) = (
        SharedDocumentStore::new(MemoryStore::default()),
        Noting { name: "a", ..Noting::default() },
    );
    let store = embedded(&inner, &embedder).prefixes("passage: ", "query: ");
    block_on(sync(&store, &Splitter::new(), &documents())).unwrap();
    let put = embedder.texts();
    assert_eq!(put.len(), 1, "one call for all");
    assert_eq!(put[0].len(), 3);
    assert_eq!(
        put[0][0],
        "passage: 인사규정 > 제12조(연차휴가)\n# 인사규정\n\n## 제12조(연차휴가)\n연 15일이다."
    );

    for mode in [Mode::Vector, Mode::Hybrid] {
        let hits = block_on(store.search(&Query::new("병가 진단서").mode(mode))).unwrap();
        assert!(hits[0].passage.text.contains("병가"), "{mode}");
        assert_eq!(embedder.texts(), [["query: 병가 진단서"]]);
    }
    block_on(store.search(&Query::new("병가"))).unwrap();
    assert_eq!(block_on(store.search(&Query::new(" \n").mode(Mode::Vector))).unwrap(), []);
    assert!(embedder.texts().is_empty(), "keywords and nothing need no vector");
}

#[test]
fn documents_that_another_model_embedded_are_put_anew() {
    let inner = SharedDocumentStore::new(MemoryStore::default());
    let (one, two) =
        (Noting { name: "a", ..Noting::default() }, Noting { name: "b", ..Noting::default() });
    let bring = |embedder: &Noting| {
        let changes = block_on(sync(&embedded(&inner, embedder), &Splitter::new(), &documents()));
        let changes = changes.unwrap();
        (changes.added, changes.changed, changes.unchanged)
    };
    block_on(sync(&inner, &Splitter::new(), &documents())).unwrap();
    assert_eq!(bring(&one), (0, 2, 0), "they had no vectors");
    assert_eq!(bring(&one), (0, 0, 2));
    assert_eq!(one.texts().len(), 1);
    assert_eq!(bring(&two), (0, 2, 0));
    let ask = Query::new("병가").mode(Mode::Vector);
    assert!(!block_on(embedded(&inner, &two).search(&ask)).unwrap().is_empty());
    let error = block_on(embedded(&inner, &one).search(&ask)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the store's vectors are of `b` with 256 numbers, the question's is of `a` with 256 numbers; \
         embed the documents with the model that embeds questions"
    );
}

#[test]
fn an_embedder_that_gives_nonsense_puts_nothing() {
    for wrong in
        [vec![], vec![vec![1.0]; 2], vec![vec![]; 3], vec![vec![0.0]; 3], vec![vec![f32::NAN]; 3]]
    {
        let inner = SharedDocumentStore::new(MemoryStore::default());
        let embedder = Noting { name: "a", wrong: Some(wrong), ..Noting::default() };
        let store = embedded(&inner, &embedder);
        let error = block_on(sync(&store, &Splitter::new(), &documents())).unwrap_err();
        assert!(matches!(error, RetrievalError::Embedding(ModelError::Protocol { .. })));
        assert_eq!(block_on(inner.documents()).unwrap(), []);
    }
}
