//! Stores, evidence, and what stands in a store.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hanok_checkpoint::{
    Batch, Batched, CheckpointError, Checkpointer, Consumer, Cursor, InMemoryCheckpointer,
    InMemoryStore, Namespaces, Page, Search, SharedCheckpointer, SharedStore, Store, StoreError,
};
use hanok_core::{Labels, Stored, Tenant, ThreadKey, Timestamp};
use hanok_graph::{BoxError, Context, END, Graph, START, Snapshot};
use hanok_learning::{
    Actor, Episode, EpisodeReport, Evidence, EvidenceSource, Memories, MemoryKind, Preference,
    PreferenceStatement, teach,
};
use hanok_postgres::{Config, Postgres};
use hanok_sqlite::Sqlite;
use hanok_state::{Message, State};
use hanok_testkit::Layer;
use serde::{Deserialize, Serialize};

pub(crate) const NOW: Timestamp = Timestamp(1_000_000);
pub(crate) const TOPIC: &str = "memory";

/// The backends that need nothing outside of the process: a store of threads and one of records.
pub(crate) async fn backends() -> Vec<(SharedCheckpointer, SharedStore)> {
    let (threads, records) =
        (Sqlite::in_memory().await.unwrap(), Sqlite::in_memory().await.unwrap());
    vec![
        (SharedCheckpointer::new(InMemoryCheckpointer::new()), memory()),
        (SharedCheckpointer::new(threads), SharedStore::new(records)),
    ]
}

/// The same, and PostgreSQL for records where it is: not for tests whose clock stands still.
pub(crate) async fn all_backends() -> Vec<(SharedCheckpointer, SharedStore)> {
    let records = postgres().await;
    let threads = SharedCheckpointer::new(InMemoryCheckpointer::new());
    backends().await.into_iter().chain(records.map(|records| (threads, records))).collect()
}

/// A store in PostgreSQL, of a schema of its own; `None`, and the reason is said, where there is no server.
#[allow(clippy::print_stderr, reason = "whoever runs it has to know that it was skipped")]
pub(crate) async fn postgres() -> Option<SharedStore> {
    let url = match (postgres_for_tests::url(), postgres_for_tests::Installation::newest()) {
        (Ok(url), _) => url,
        // One that is there and does not start is no reason to skip a test.
        (Err(why), Ok(_)) => panic!("{why}"),
        (Err(why), Err(_)) => {
            eprintln!("skipped: {why}");
            return None;
        }
    };
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // The tests of `hanok-postgres` sweep schemas of this name when they are old.
    let schema = format!("hanok_test_{now}_{}_{count}", std::process::id());
    let config = Config::new(url).schema(schema).connections(8);
    let store = Postgres::connect(config.retry_for(Duration::from_secs(60))).await.unwrap();
    Some(SharedStore::new(store))
}

pub(crate) fn memory() -> SharedStore {
    SharedStore::new(InMemoryStore::new())
}

pub(crate) fn memories(store: &SharedStore) -> Memories {
    Memories::new(store.clone()).kind::<Preference>().kind::<Episode>()
}

pub(crate) fn consumer(threads: &SharedCheckpointer) -> Consumer {
    Consumer::new(threads.clone(), "learner", TOPIC)
}

pub(crate) fn key(thread: &str) -> ThreadKey {
    ThreadKey::new(Tenant::default(), thread).unwrap()
}

/// Evidence of either kind, and the thread that taught it.
#[derive(Debug, Clone)]
pub(crate) enum Taught {
    Preference(Evidence<PreferenceStatement>),
    Episode(Evidence<EpisodeReport>),
}

/// What a node hands out, as it is stored.
#[derive(Serialize)]
struct Lesson<'a, B> {
    kind: &'a str,
    evidence: &'a Evidence<B>,
}

impl Taught {
    pub(crate) fn source(&self) -> &EvidenceSource {
        match self {
            Self::Preference(evidence) => &evidence.source,
            Self::Episode(evidence) => &evidence.source,
        }
    }

    pub(crate) fn lesson(&self) -> Stored {
        match self {
            Self::Preference(evidence) => lesson(Preference::NAME, evidence),
            Self::Episode(evidence) => lesson(Episode::NAME, evidence),
        }
    }

    pub(crate) fn hand_out(&self, context: &Context) -> Result<(), BoxError> {
        match self {
            Self::Preference(evidence) => teach::<Preference, _>(context, TOPIC, evidence)?,
            Self::Episode(evidence) => teach::<Episode, _>(context, TOPIC, evidence)?,
        }
        Ok(())
    }
}

pub(crate) fn lesson<B: Serialize>(kind: &str, evidence: &Evidence<B>) -> Stored {
    Stored::encode(&Lesson { kind, evidence }).unwrap()
}

fn source(thread: &str, message: &str) -> EvidenceSource {
    let [thread, message] = [thread, message].map(str::to_owned);
    EvidenceSource { thread, task: "t".to_owned(), message, ..EvidenceSource::default() }
}

/// `user` states `name` to be `value`, in a message of `thread`.
pub(crate) fn states(user: &str, id: &str, at: u64, thread: &str, said: &str) -> Taught {
    let message = Message::user(said);
    let (name, value) = said.split_once('=').unwrap();
    let body = PreferenceStatement::new(name, value, said, &message).unwrap();
    let (id, user) = (id.to_owned(), user.to_owned());
    let source = source(thread, &format!("m{at}"));
    Taught::Preference(Evidence { id, user, at: Timestamp(at), actor: Actor::User, source, body })
}

/// `user` was answered `answer` in `thread`.
pub(crate) fn answered(user: &str, id: &str, at: u64, thread: &str, answer: &str) -> Taught {
    let body = EpisodeReport::new("며칠 남았지?", answer).team("hr").tool(answer).figure("15");
    let (id, user) = (id.to_owned(), user.to_owned());
    let source = source(thread, &format!("m{}", at / 2));
    Taught::Episode(Evidence { id, user, at: Timestamp(at), actor: Actor::Model, source, body })
}

/// A dozen pieces of evidence of one user in two threads.
pub(crate) fn dozen() -> Vec<Taught> {
    let one = |i: u64| {
        let (id, thread) = (format!("e{i}"), format!("thread-{}", i % 2));
        match i % 3 {
            0 => answered("kim", &id, i, &thread, &format!("answer {i}.")),
            1 => states("kim", &id, 20 - i, &thread, &format!("language=v{i}")),
            _ => states("kim", &id, 7, &thread, &format!("drink=v{i}")),
        }
    };
    (0..12).map(one).collect()
}

/// Learns all of `taught`, each in its thread.
pub(crate) async fn learn_all<'a>(
    store: &SharedStore,
    taught: impl IntoIterator<Item = &'a Taught>,
) {
    for taught in taught {
        let thread = key(&taught.source().thread);
        memories(store).learn(&thread, &taught.lesson(), NOW).await.unwrap();
    }
}

/// Every item of every tenant named, but for what only says that something was forgotten.
pub(crate) async fn contents(store: &SharedStore) -> BTreeMap<String, Stored> {
    let search = Search::all(Tenant::default()).limit(10_000);
    let hits = store.search(&search, NOW).await.unwrap().hits;
    let items = hits.into_iter().map(|hit| (hit.item.key.to_string(), hit.item.value));
    items.filter(|(_, value)| *value != Stored::nil()).collect()
}

#[derive(State, Clone, Default, Debug)]
pub(crate) struct Turn {
    #[reduce(append)]
    pub(crate) done: Vec<u32>,
}

/// Runs a turn on each thread that teaches what is taught there.
pub(crate) async fn run_turns(threads: &SharedCheckpointer, taught: &[Taught]) {
    for one in taught {
        let (one, thread) = (one.clone(), key(&one.source().thread));
        let node = move |_: Snapshot<Turn>, context: Context| {
            let handed = one.hand_out(&context);
            async move { handed.map(|()| Turn::update().done([1])) }
        };
        let graph = Graph::<Turn>::builder("turn").node("teach", node);
        let graph = graph.edge(START, "teach").edge("teach", END).build().unwrap();
        let thread = graph.checkpointer(threads.clone()).thread(thread);
        thread.invoke(Turn::update(), ()).await.unwrap().done().unwrap();
    }
}

/// A store that lets others go first before every batch, fails from its `dies_at`th batch on, and counts conflicts. The batch at which
/// it dies is made.
#[derive(Debug, Clone)]
pub(crate) struct Busy {
    pub(crate) store: SharedStore,
    pub(crate) batches: Arc<AtomicUsize>,
    pub(crate) conflicts: Arc<AtomicUsize>,
    /// The items that searches returned.
    pub(crate) returned: Arc<AtomicUsize>,
    pub(crate) dies_at: usize,
}

impl Busy {
    pub(crate) fn new(store: &SharedStore, dies_at: usize) -> Self {
        let (batches, conflicts, returned) = Default::default();
        Self { store: store.clone(), batches, conflicts, returned, dies_at }
    }
}

pub(crate) fn gone() -> CheckpointError {
    CheckpointError::Denied("the machine is gone".into())
}

impl Store for Busy {
    async fn batch(&self, batch: Batch, now: Timestamp) -> Result<Batched, StoreError> {
        tokio::task::yield_now().await;
        let number = self.batches.fetch_add(1, Ordering::SeqCst);
        if number > self.dies_at {
            return Err(gone().into());
        }
        let done = self.store.batch(batch, now).await;
        if matches!(done, Err(StoreError::Conflict { .. })) {
            self.conflicts.fetch_add(1, Ordering::SeqCst);
        }
        tokio::task::yield_now().await;
        if number == self.dies_at { Err(gone().into()) } else { done }
    }

    async fn search(&self, search: &Search, now: Timestamp) -> Result<Page, StoreError> {
        let page = self.store.search(search, now).await?;
        self.returned.fetch_add(page.hits.len(), Ordering::SeqCst);
        Ok(page)
    }

    async fn namespaces(
        &self,
        query: &Namespaces,
        now: Timestamp,
    ) -> Result<Vec<Labels>, StoreError> {
        self.store.namespaces(query, now).await
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
        self.store.sweep(now, limit).await
    }
}

/// A store of threads that dies when the `dies_at`th item is noted as done.
#[derive(Debug)]
pub(crate) struct Unacknowledged {
    pub(crate) threads: SharedCheckpointer,
    pub(crate) dies_at: usize,
    pub(crate) advances: AtomicUsize,
}

impl Layer for Unacknowledged {
    fn inner(&self) -> &SharedCheckpointer {
        &self.threads
    }

    async fn advance(
        &self,
        consumer: &str,
        topic: &str,
        cursor: Cursor,
    ) -> Result<(), CheckpointError> {
        match self.advances.fetch_add(1, Ordering::SeqCst) >= self.dies_at {
            true => Err(gone()),
            false => self.threads.advance(consumer, topic, cursor).await,
        }
    }
}

/// A line of an export, as far as tests read it.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    pub(crate) evidence: LineEvidence,
}

#[derive(Debug, Deserialize)]
pub(crate) struct LineEvidence {
    pub(crate) id: String,
    pub(crate) user: String,
}
