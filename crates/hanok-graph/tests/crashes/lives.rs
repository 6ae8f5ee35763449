//! A thread that is deleted and begun anew under the same name is another thread: nothing of the one before reaches it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use hanok_checkpoint::{
    AppendId, CheckpointError, Checkpointer, InMemoryCheckpointer, Life, SharedCheckpointer,
    Snapshots,
};
use hanok_core::{Position, ThreadKey, Timestamp};
use hanok_graph::{BoxError, Context, END, Graph, RunError, START, Snapshot};
use hanok_sqlite::Sqlite;
use hanok_state::{List, State};
use hanok_testkit::{Layer, Layered};
use tokio::sync::Semaphore;

use crate::support::key;

#[derive(State, Debug, Clone, Default, PartialEq)]
struct S {
    #[reduce(append)]
    log: List<String>,
    /// Written whole each turn, so that a snapshot is soon worth its bytes.
    text: String,
}

fn graph() -> Graph<S, ()> {
    async fn fills(_: Snapshot<S>, _: Context<()>) -> Result<SUpdate, BoxError> {
        Ok(S::update().text("x".repeat(80_000)))
    }
    let graph = Graph::builder("g").node("fills", fills).edge(START, "fills").edge("fills", END);
    graph.build().unwrap()
}

fn says(text: &str) -> SUpdate {
    S::update().push_log(text.to_owned())
}

/// A store whose snapshots come as late as the test wants.
#[derive(Debug)]
struct Late {
    store: SharedCheckpointer,
    gate: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
}

impl Layer for Late {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> Result<(), CheckpointError> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        let put = self.store.put_snapshot(thread, life, position, snapshot).await;
        if matches!(put, Err(CheckpointError::OtherLife { .. })) {
            self.refused.fetch_add(1, Ordering::SeqCst);
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        put
    }
}

/// P1, P57: what a snapshot of the thread before says is not read as the state of the one that is there now.
#[tokio::test]
async fn a_snapshot_that_comes_late_is_none_of_the_next_life() {
    let folder = tempfile::tempdir().unwrap();
    let file = Sqlite::open(folder.path().join("threads.db")).await.unwrap();
    let (gate, waiting, refused) =
        (Arc::new(Semaphore::new(0)), Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let late = Late {
        store: SharedCheckpointer::new(file),
        gate: gate.clone(),
        waiting: waiting.clone(),
        refused: refused.clone(),
    };
    let store = SharedCheckpointer::new(Layered(late));
    let thread = graph().checkpointer(store.clone()).thread(key("t"));
    for n in 0..6 {
        thread.invoke(says(&format!("SECRET {n}")), ()).await.unwrap();
    }
    // A snapshot is on its way as soon as its task has had a turn.
    while waiting.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    thread.delete().await.unwrap();
    for n in 0..6 {
        thread.invoke(says(&format!("new {n}")), ()).await.unwrap();
    }
    gate.add_permits(1_000);
    while waiting.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    assert!(refused.load(Ordering::SeqCst) > 0, "the late one was not refused as what it is");

    let live = thread.invoke(says("last"), ()).await.unwrap().done().unwrap();
    let again = graph().checkpointer(store.clone()).thread(key("t"));
    assert_eq!(again.state(None).await.unwrap().unwrap(), live);
    let opened = store.open(&key("t"), None, Snapshots::Use).await.unwrap().unwrap();
    let snapshot = opened.snapshot.map(|(_, bytes)| bytes).unwrap_or_default();
    assert!(!snapshot.windows(6).any(|window| window == b"SECRET"));
}

/// P1, P57: an app that remembers how it left a thread does not go on from that in another life of it, though both are at
/// the same position and nobody has claimed either.
#[tokio::test]
async fn a_state_that_is_remembered_is_none_of_a_thread_that_was_put_back() {
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let (here, there) = (graph().checkpointer(store.clone()), graph().checkpointer(store.clone()));
    let template = there.thread(key("template"));
    template.invoke(says("template"), ()).await.unwrap();
    template.fork(None, &key("t")).await.unwrap();
    here.thread(key("t")).invoke(says("SECRET"), ()).await.unwrap();
    let before = store.head(&key("t")).await.unwrap().unwrap();
    there.thread(key("t")).delete().await.unwrap();
    template.log().copy(&key("t"), AppendId(7), Timestamp(1)).await.unwrap();
    let now = store.head(&key("t")).await.unwrap().unwrap();
    assert_eq!((now.position, now.epoch.0), (before.position, 0), "only the life tells them apart");

    let live = here.thread(key("t")).invoke(says("hello"), ()).await.unwrap().done().unwrap();
    assert!(!live.log.iter().any(|text| text == "SECRET"), "{live:?}");
    let read = there.thread(key("t")).state(None).await.unwrap().unwrap();
    assert_eq!(live, read);
}

/// P54: a reader who comes back with the id of an event of the thread before is told that it is another one.
#[tokio::test]
async fn the_id_of_an_event_names_nothing_in_another_life() {
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let thread = graph().checkpointer(store.clone()).thread(key("t"));
    thread.invoke(says("one"), ()).await.unwrap();
    let seen = thread.events(None).await.unwrap().last().unwrap().id;
    assert_eq!(thread.events(seen).await.unwrap().len(), 0);
    thread.delete().await.unwrap();
    for _ in 0..3 {
        thread.invoke(says("two"), ()).await.unwrap();
    }
    let error = thread.events(seen).await.unwrap_err();
    let other = matches!(error, RunError::Checkpoint(CheckpointError::OtherLife { .. }));
    assert!(other, "{error:?}");
}
