//! Tools are found by their names, their words and their meaning, and written when they change.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use hanok_agent::{
    IndexedTool, RecommendedTools, ToolExperience, ToolIndex, ToolIndexError, ToolQuery,
};
use hanok_checkpoint::{
    Batch, Batched, InMemoryStore, Namespaces, Page, Search, SharedStore, Store, StoreError, Write,
};
use hanok_core::{Call, Labels, Timestamp};
use hanok_model::{Embedder, ModelError, SharedEmbedder, ToolSpec};
use serde_json::json;

const NOW: Timestamp = Timestamp(0);

/// Knows three meanings: messages, dates and everything else. Notes what it is asked, and fails when it is told to.
#[derive(Debug, Clone, Default)]
struct Meanings {
    model: &'static str,
    texts: Arc<Mutex<Vec<String>>>,
    fails: Arc<AtomicBool>,
}

impl Meanings {
    fn of(model: &'static str) -> Self {
        Self { model, ..Self::default() }
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.texts.lock().unwrap())
    }
}

impl Embedder for Meanings {
    fn name(&self) -> &str {
        self.model
    }

    fn dimensions(&self) -> Option<usize> {
        Some(3)
    }

    async fn embed(&self, texts: &[String], _: &Call) -> Result<Vec<Vec<f32>>, ModelError> {
        self.texts.lock().unwrap().extend(texts.iter().cloned());
        if self.fails.load(Ordering::SeqCst) {
            return Err(ModelError::Other("down".into()));
        }
        let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
        let meaning = |text: &String| match text.to_lowercase() {
            text if has(&text, &["message", "letter", "편지"]) => vec![1.0, 0.0, 0.1],
            text if has(&text, &["event", "appointment", "약속"]) => vec![0.0, 1.0, 0.1],
            _ => vec![0.0, 0.0, 1.0],
        };
        Ok(texts.iter().map(meaning).collect())
    }
}

fn tool(name: &str, about: &str) -> IndexedTool {
    let schema =
        json!({"properties": {"toAddress": {"type": "string", "description": "who gets it"}}});
    IndexedTool::new(ToolSpec::new(name, about, schema).unwrap())
}

fn tools() -> Vec<IndexedTool> {
    vec![
        tool("mail__send", "Sends a message"),
        tool("calendar__create", "Creates an event").aliases(["book_meeting", "회의 예약"]),
        tool("units__convert", "Converts kilometres to miles"),
        tool("clock__now", "Tells the time").pinned(),
    ]
}

fn in_memory() -> SharedStore {
    SharedStore::new(InMemoryStore::new())
}

fn index(store: &SharedStore) -> ToolIndex {
    ToolIndex::new(store.clone(), &Labels::new(["catalogue"]).unwrap()).unwrap()
}

fn with_meaning(store: &SharedStore, meanings: &Meanings) -> ToolIndex {
    index(store).embedder(SharedEmbedder::new(meanings.clone()), Call::detached())
}

fn names(recommended: &RecommendedTools) -> Vec<&str> {
    recommended.tools.iter().map(|tool| tool.name()).collect()
}

async fn recommend(index: &ToolIndex, text: &str) -> RecommendedTools {
    index.recommend(&ToolQuery::new(text), NOW).await.unwrap()
}

/// B135
#[tokio::test]
async fn what_changed_is_written_and_embedded_and_nothing_else() {
    let (store, meanings) = (in_memory(), Meanings::of("first"));
    let index = with_meaning(&store, &meanings);
    let first = index.update(&tools(), NOW).await.unwrap();
    assert_eq!((first.written, first.embedded, first.removed), (4, 4, 0));
    assert_eq!(meanings.taken().len(), 4);

    let same = index.update(&tools(), NOW).await.unwrap();
    assert_eq!((same.written, same.embedded, same.removed), (0, 0, 0));
    assert_eq!(meanings.taken(), [""; 0]);

    let mut changed = tools();
    changed[2] = tool("units__convert", "Converts miles to leagues");
    changed.retain(|tool| tool.spec().name() != "mail__send");
    let second = index.update(&changed, NOW).await.unwrap();
    assert_eq!((second.written, second.embedded, second.removed), (1, 1, 1));
    assert_eq!(meanings.taken(), ["Converts miles to leagues. units convert"]);
    assert_eq!(names(&recommend(&index, "leagues").await)[0], "units__convert");
    // What is gone is found by nothing: not by its name, its words or its meaning.
    let all = recommend(&index, "mail__send a message").await;
    assert!(!names(&all).contains(&"mail__send"), "{all:?}");
}

/// B135
#[tokio::test]
async fn a_tool_that_is_named_stands_first_whatever_else_fits() {
    let store = in_memory();
    let index = index(&store);
    let mut all = tools();
    all.extend(
        (0..30).map(|i| tool(&format!("mail__list_{i}"), "Lists each message, message by message")),
    );
    index.update(&all, NOW).await.unwrap();
    for text in [
        "message message units__convert",
        "UNITS__CONVERT the message",
        "`units__convert`: message",
    ] {
        assert_eq!(names(&recommend(&index, text).await)[0], "units__convert", "{text}");
    }
    assert_eq!(
        names(&recommend(&index, "이 message로 회의  예약 해 줘").await)[0],
        "calendar__create"
    );
    assert_eq!(names(&recommend(&index, "Book_Meeting").await)[0], "calendar__create");
    // An alias that is gone names nothing any more.
    all[1] = tool("calendar__create", "Creates an event");
    index.update(&all, NOW).await.unwrap();
    assert_eq!(recommend(&index, "book_meeting").await.tools, []);
}

#[tokio::test]
async fn words_in_names_parameters_and_aliases_find_a_tool() {
    let store = in_memory();
    let index = index(&store);
    let spec =
        json!({"properties": {"targetCurrency": {"type": "string", "description": "바꿀 통화"}}});
    let exchange = ToolSpec::new("bank.exchangeRate", "Rates", spec).unwrap();
    let mut all = tools();
    all.push(IndexedTool::new(exchange));
    index.update(&all, NOW).await.unwrap();
    for text in ["exchange", "which currency", "통화를 알려 줘", "rates"] {
        assert_eq!(names(&recommend(&index, text).await)[0], "bank.exchangeRate", "{text}");
    }
}

/// B135
#[tokio::test]
async fn pinned_tools_are_always_there_and_denied_ones_never() {
    let store = in_memory();
    let index = index(&store);
    index.update(&tools(), NOW).await.unwrap();
    for text in ["", "send a message", "nothing that anybody has"] {
        let recommended = recommend(&index, text).await;
        assert_eq!(recommended.pinned.len(), 1, "{text}");
        assert_eq!(recommended.pinned[0].name(), "clock__now");
    }
    let query =
        ToolQuery::new("mail__send clock__now").deny(["mail__send", "clock__now"]).limit(50);
    let recommended = index.recommend(&query, NOW).await.unwrap();
    assert!(recommended.specs().all(|spec| !["mail__send", "clock__now"].contains(&spec.name())));
    let one = index.recommend(&ToolQuery::new("message event").limit(1), NOW).await.unwrap();
    assert_eq!((one.tools.len(), one.pinned.len()), (1, 1));
}

#[tokio::test]
async fn parts_add_up_and_experience_reorders() {
    let (store, meanings) = (in_memory(), Meanings::of("first"));
    let index = with_meaning(&store, &meanings);
    let twins = ["a__send", "b__send"].map(|name| tool(name, "Sends a message"));
    index.update(&twins, NOW).await.unwrap();
    let query = ToolQuery::new("a letter, as a message");
    let without = index.recommend(&query, NOW).await.unwrap();
    assert_eq!(names(&without), ["a__send", "b__send"]);
    let good = ToolExperience { successes: 40, failures: 0 };
    let bad = ToolExperience { successes: 0, failures: 40 };
    let query = query.experience("b__send", good).experience("a__send", bad);
    let with = index.recommend(&query, NOW).await.unwrap();
    assert_eq!(names(&with), ["b__send", "a__send"]);
    for tool in without.tools.iter().chain(&with.tools) {
        let score = tool.score;
        let sum = score.exact + score.keywords + score.meaning + score.experience;
        assert!((score.total() - sum).abs() < 1e-12, "{score:?}");
        assert!(score.keywords > 0.0 && score.meaning > 0.0, "{score:?}");
    }
    assert!(
        (with.tools[0].score.experience - 0.3 * (good.lower_bound().unwrap() - 0.5)).abs() < 1e-12
    );
    // No experience gives no part, and not that of a tool that always fails.
    assert!(without.tools.iter().all(|tool| tool.score.experience == 0.0));
}

#[tokio::test]
async fn meaning_finds_what_words_do_not() {
    let (store, meanings) = (in_memory(), Meanings::of("first"));
    let index = with_meaning(&store, &meanings);
    index.update(&tools(), NOW).await.unwrap();
    let recommended = recommend(&index, "편지 한 통").await;
    assert_eq!(names(&recommended)[0], "mail__send");
    assert_eq!(recommended.tools[0].score.keywords, 0.0);
    assert!(recommended.without_meaning.is_none());
}

#[tokio::test]
async fn an_embedder_that_fails_leaves_the_words_and_is_made_up_for() {
    let (store, meanings) = (in_memory(), Meanings::of("first"));
    let index = with_meaning(&store, &meanings);
    meanings.fails.store(true, Ordering::SeqCst);
    let update = index.update(&tools(), NOW).await.unwrap();
    assert_eq!((update.written, update.embedded), (4, 0));
    assert!(update.not_embedded.is_some());
    let recommended = recommend(&index, "a message").await;
    assert_eq!(names(&recommended), ["mail__send"]);
    assert!(recommended.without_meaning.is_some());
    // It still fails: nothing is written again.
    let again = index.update(&tools(), NOW).await.unwrap();
    assert_eq!((again.written, again.embedded, again.removed), (0, 0, 0));
    assert_eq!(names(&recommend(&index, "book_meeting").await), ["calendar__create"]);

    meanings.fails.store(false, Ordering::SeqCst);
    let update = index.update(&tools(), NOW).await.unwrap();
    assert_eq!((update.written, update.embedded), (0, 4));
    assert!(update.not_embedded.is_none());
    assert_eq!(names(&recommend(&index, "편지").await)[0], "mail__send");
}

#[tokio::test]
async fn another_embedder_makes_all_vectors_anew() {
    let (store, first, second) = (in_memory(), Meanings::of("first"), Meanings::of("second"));
    with_meaning(&store, &first).update(&tools(), NOW).await.unwrap();
    let index = with_meaning(&store, &second);
    // Until then, its vectors cannot be compared with those of the other.
    let before = recommend(&index, "a letter, as a message").await;
    assert_eq!(names(&before), ["mail__send"]);
    assert!(before.without_meaning.is_some());
    assert_eq!(index.update(&tools(), NOW).await.unwrap().embedded, 4);
    let after = recommend(&index, "편지").await;
    assert_eq!((names(&after)[0], after.without_meaning.is_none()), ("mail__send", true));
    let without = self::index(&store);
    without.update(&tools(), NOW).await.unwrap();
    assert_eq!(names(&recommend(&without, "message").await), ["mail__send"]);
}

#[tokio::test]
async fn names_that_two_tools_have_are_refused_and_nothing_is_written() {
    let store = in_memory();
    let index = index(&store);
    for twice in [
        vec![tool("a", ""), tool("a", "another")],
        vec![tool("a", "").aliases(["Send it"]), tool("b", "").aliases(["send  IT"])],
        vec![tool("a", ""), tool("b", "").aliases(["A"])],
    ] {
        let refused = index.update(&twice, NOW).await;
        assert!(matches!(refused, Err(ToolIndexError::Twice { .. })), "{refused:?}");
    }
    assert_eq!(recommend(&index, "a b send it").await.specs().count(), 0);
    // Its own name as an alias is none too many.
    index.update(&[tool("a", "").aliases(["a", "A"])], NOW).await.unwrap();
}

#[tokio::test]
async fn what_one_handle_indexed_another_finds_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.db");
    {
        let sqlite = hanok_sqlite::Sqlite::open(&file).await.unwrap();
        let store = SharedStore::new(sqlite);
        index(&store).update(&tools(), NOW).await.unwrap();
    }
    let sqlite = hanok_sqlite::Sqlite::open(&file).await.unwrap();
    let index = index(&SharedStore::new(sqlite));
    assert_eq!(index.update(&tools(), NOW).await.unwrap().written, 0);
    let recommended = recommend(&index, "kilometres").await;
    assert_eq!(names(&recommended), ["units__convert"]);
    assert_eq!(recommended.tools[0].spec, *tools()[2].spec());
}

/// A store that counts the items that are put, by the last of their labels.
#[derive(Debug, Clone, Default)]
struct Puts(Arc<InMemoryStore>, Arc<Mutex<BTreeMap<String, usize>>>);

impl Store for Puts {
    async fn batch(&self, batch: Batch, now: Timestamp) -> Result<Batched, StoreError> {
        for write in &batch.writes {
            if let Write::Put(key, _) = write {
                let label = key.labels().iter().last().unwrap().to_string();
                *self.1.lock().unwrap().entry(label).or_default() += 1;
            }
        }
        self.0.batch(batch, now).await
    }

    async fn search(&self, search: &Search, now: Timestamp) -> Result<Page, StoreError> {
        self.0.search(search, now).await
    }

    async fn namespaces(
        &self,
        query: &Namespaces,
        now: Timestamp,
    ) -> Result<Vec<Labels>, StoreError> {
        self.0.namespaces(query, now).await
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
        self.0.sweep(now, limit).await
    }
}

/// B135: of 500 tools, one that changed is one put, beside that of its name, and one text to the embedder.
#[tokio::test]
async fn one_changed_tool_of_500_is_one_put_and_one_embedding() {
    let (counting, meanings) = (Puts::default(), Meanings::of("first"));
    let index = with_meaning(&SharedStore::new(counting.clone()), &meanings);
    let mut all: Vec<_> = (0..500).map(|i| tool(&format!("t{i}"), &format!("Does {i}"))).collect();
    index.update(&all, NOW).await.unwrap();
    assert_eq!(meanings.taken().len(), 500);
    let puts = || std::mem::take(&mut *counting.1.lock().unwrap());
    assert_eq!(puts(), [("names".to_owned(), 500), ("tools".to_owned(), 500)].into());

    all[321] = tool("t321", "Does something else");
    let update = index.update(&all, NOW).await.unwrap();
    assert_eq!((update.written, update.embedded, update.removed), (1, 1, 0));
    assert_eq!(puts(), [("names".to_owned(), 1), ("tools".to_owned(), 1)].into());
    assert_eq!(meanings.taken(), ["Does something else. t321"]);
}
