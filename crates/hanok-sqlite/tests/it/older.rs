//! An older moment of a store in its place: who saw more is told so.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{fs, path::Path};

use hanok_checkpoint::CheckpointError;
use hanok_core::{BoxError, Tenant, ThreadKey};
use hanok_graph::{App, Context, END, EventId, Graph, RunError, START, Snapshot, Thread};
use hanok_sqlite::Sqlite;
use hanok_state::State;

#[derive(State, Debug, Clone, Default)]
struct Count {
    turns: u32,
}

async fn count(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, BoxError> {
    Ok(Count::update().turns(state.turns + 1))
}

async fn app(file: &Path) -> App<Count> {
    app_on(Sqlite::open(file).await.unwrap())
}

fn app_on(store: Sqlite) -> App<Count> {
    let graph = Graph::<Count>::builder("count").node("count", count);
    let graph = graph.edge(START, "count").edge("count", END).build().unwrap();
    graph.checkpointer(store)
}

fn thread(app: &App<Count>, name: &str) -> Thread<Count> {
    app.thread(ThreadKey::new(Tenant::default(), name).unwrap())
}

async fn turn(thread: &Thread<Count>) -> EventId {
    thread.invoke(Count::update(), ()).await.unwrap().done().unwrap();
    let events = thread.events(None).await.unwrap();
    events.iter().filter_map(|event| event.id).next_back().unwrap()
}

/// P5, P54: a copy of a file in use, without the write-ahead file beside it, lacks what was acknowledged. Who comes back with the
/// last event that it saw, or names a position, is told so and not that nothing has happened since.
#[tokio::test]
async fn who_saw_more_than_an_older_copy_holds_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let (file, copy) = (folder.path().join("threads.db"), folder.path().join("copy.db"));
    let store = Sqlite::open(&file).await.unwrap();
    let first = turn(&thread(&app_on(store.clone()), "t")).await;
    // A handle that is dropped is closed some time later.
    store.close().await.unwrap();
    let app_in_use = app(&file).await;
    let last = turn(&thread(&app_in_use, "t")).await;
    let of_other = turn(&thread(&app_in_use, "u")).await;
    fs::copy(&file, &copy).unwrap();

    let copied = app(&copy).await;
    let on = thread(&copied, "t");
    assert_eq!(on.state(None).await.unwrap().unwrap().turns, 1);
    assert!(on.events(Some(first)).await.unwrap().is_empty());
    let behind = on.events(Some(last)).await.unwrap_err();
    let is_behind = |error: &RunError| {
        matches!(error, RunError::Checkpoint(CheckpointError::Unavailable { reason, .. })
            if *reason == "it answers with what was before")
    };
    assert!(is_behind(&behind), "{behind:?}");
    let read = on.state(Some(last.position)).await.unwrap_err();
    assert!(matches!(read, RunError::Checkpoint(_)), "{read:?}");
    let gone = thread(&copied, "u").events(Some(of_other)).await.unwrap_err();
    assert!(matches!(gone, RunError::NoSuchThread(_)), "{gone:?}");
}
