//! A store that makes its vectors itself.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]
#![cfg(feature = "store")]

use std::{
    collections::BTreeMap,
    error::Error,
    sync::{Arc, Mutex},
};

use hanok_checkpoint::{
    Batch, FieldPath, InMemoryStore, Index, Put, Search, SharedStore, Store, StoreError, Vector,
    Write,
};
use hanok_core::{Call, Cancellation, ItemKey, Labels, Stored, Tenant, Timestamp};
use hanok_model::{Embedder, HashEmbedder, ModelError, Semantic, SharedEmbedder};

use crate::clock;

const NOW: Timestamp = Timestamp(1_000);

/// Embeds by hash, notes what it was asked, and fails or forgets when it is told to.
#[derive(Debug, Clone)]
struct Watched {
    name: &'static str,
    embedded: Arc<Mutex<Vec<String>>>,
    forgets: bool,
}

impl Watched {
    fn new(name: &'static str) -> Self {
        Self { name, embedded: Arc::default(), forgets: false }
    }

    fn embedded(&self) -> Vec<String> {
        std::mem::take(&mut *self.embedded.lock().unwrap())
    }
}

impl Embedder for Watched {
    fn name(&self) -> &str {
        self.name
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, texts: &[String], call: &Call) -> Result<Vec<Vec<f32>>, ModelError> {
        self.embedded.lock().unwrap().push(texts.join(" | "));
        let mut vectors = HashEmbedder::new(64).embed(texts, call).await?;
        if self.forgets {
            vectors.pop();
        }
        Ok(vectors)
    }
}

fn semantic(store: &SharedStore, embedder: &Watched) -> Semantic {
    Semantic::new(store.clone(), SharedEmbedder::new(embedder.clone()), clock::call())
}

fn key(name: &str) -> ItemKey {
    ItemKey::new(Tenant::default(), Labels::new(["notes"]).unwrap(), name).unwrap()
}

fn put(title: &str, body: &str) -> Put {
    let value = BTreeMap::from([("title", title), ("body", body)]);
    Put::new(Stored::encode(&value).unwrap())
}

fn meaning(text: &str) -> Search {
    Search::all(Tenant::default()).text(text).weight(1.0)
}

async fn search_keys(store: &impl Store, search: Search) -> Vec<String> {
    let page = store.search(&search, NOW).await.unwrap();
    page.hits.iter().map(|hit| hit.item.key.key().to_owned()).collect()
}

/// B108
#[tokio::test]
async fn items_and_searches_get_their_vectors() {
    let (store, embedder) = (SharedStore::new(InMemoryStore::new()), Watched::new("m"));
    let it = semantic(&store, &embedder);
    it.put(&key("leave"), put("휴가", "연차휴가는 15일"), NOW).await.unwrap();
    it.put(&key("lunch"), put("점심", "식당은 지하"), NOW).await.unwrap();
    it.put(&key("off"), put("휴가", "휴가").index(Index::Off), NOW).await.unwrap();
    assert_eq!(embedder.embedded(), ["연차휴가는 15일\n휴가", "식당은 지하\n점심"]);

    assert_eq!(search_keys(&it, meaning("연차휴가")).await, ["leave", "lunch"]);
    assert_eq!(search_keys(&it, meaning("지하 식당")).await, ["lunch", "leave"]);
    assert_eq!(embedder.embedded(), ["연차휴가", "지하 식당"]);
    // By its words alone nobody asks the embedder.
    assert_eq!(search_keys(&it, meaning("식당").weight(0.0)).await, ["lunch"]);
    assert_eq!(search_keys(&it, Search::all(Tenant::default())).await, ["leave", "lunch", "off"]);
    assert_eq!(search_keys(&it, meaning("  ")).await, [""; 0]);
    assert_eq!(embedder.embedded(), [""; 0]);
    // By both.
    let page = it.search(&meaning("식당").weight(0.5), NOW).await.unwrap();
    let scores: Vec<_> = page.hits.iter().map(|hit| (hit.text, hit.similarity)).collect();
    assert!(matches!(scores[..], [(Some(_), Some(_)), (None, Some(_))]), "{scores:?}");
}

/// B108
#[tokio::test]
async fn each_field_has_a_vector_and_an_item_may_name_its_own() {
    let (store, embedder) = (SharedStore::new(InMemoryStore::new()), Watched::new("m"));
    let it = semantic(&store, &embedder).fields(["title".into(), FieldPath::new(["none"])]);
    it.put(&key("title"), put("하나", "둘"), NOW).await.unwrap();
    let fields = Index::Fields(vec!["body".into(), "title".into()]);
    it.put(&key("both"), put("셋", "넷").index(fields), NOW).await.unwrap();
    it.put(&key("blank"), put(" ", "다섯"), NOW).await.unwrap();
    let own = HashEmbedder::new(64).embed(&["여섯".to_owned()], &clock::call()).await.unwrap();
    let own = Vector::new(&own.concat()).unwrap().made_by("m");
    it.put(&key("own"), put("일곱", "여덟").vector(own), NOW).await.unwrap();
    // In a batch all are made at once.
    let writes = ["a", "b"].map(|name| Write::Put(key(name), put(name, "x")));
    let batch = Batch { writes: writes.to_vec(), ..Batch::default() };
    it.batch(batch, NOW).await.unwrap();
    assert_eq!(embedder.embedded(), ["하나", "넷 | 셋", "a | b"]);
    for (text, first) in [("넷", "both"), ("셋", "both"), ("하나", "title"), ("여섯", "own")]
    {
        assert_eq!(search_keys(&it, meaning(text)).await[0], first, "{text}");
    }
    assert!(!search_keys(&it, meaning("다섯")).await.contains(&"blank".to_owned()));
}

#[tokio::test]
async fn an_embedder_that_fails_fails_the_put_and_nothing_is_stored() {
    let (store, embedder) = (SharedStore::new(InMemoryStore::new()), Watched::new("m"));
    let it = semantic(&store, &embedder);
    let stopped = Cancellation::default();
    stopped.cancel();
    let stopped = it.during(clock::call().cancellation(stopped));
    let forgetful = Watched { forgets: true, ..embedder };
    for (broken, cause) in [
        (stopped, "the call of the model was stopped"),
        (semantic(&store, &forgetful), "the embedder gave 0 vectors for 1 texts"),
    ] {
        let writes = vec![
            Write::Put(key("kept out"), put("x", "y").index(Index::Off)),
            Write::Put(key("k"), put("휴가", "")),
        ];
        let batch = Batch { writes, ..Batch::default() };
        let error = broken.batch(batch, NOW).await.unwrap_err();
        assert!(matches!(error, StoreError::Embedding(_)), "{error:?}");
        assert_eq!(error.source().unwrap().to_string(), cause);
        assert_eq!(search_keys(&store, Search::all(Tenant::default())).await, [""; 0]);
        let error = broken.search(&meaning("휴가"), NOW).await.unwrap_err();
        assert!(matches!(error, StoreError::Embedding(_)), "{error:?}");
    }
}

#[tokio::test]
async fn vectors_of_two_models_are_not_compared() {
    let store = SharedStore::new(InMemoryStore::new());
    let (old, new) = (Watched::new("old"), Watched::new("new"));
    semantic(&store, &old).put(&key("k"), put("휴가", ""), NOW).await.unwrap();
    let now = semantic(&store, &new);
    let error = now.search(&meaning("휴가"), NOW).await.unwrap_err();
    assert!(matches!(error, StoreError::Model { .. }), "{error:?}");
    now.put(&key("k"), put("휴가", ""), NOW).await.unwrap();
    assert_eq!(search_keys(&now, meaning("휴가")).await, ["k"]);
}
