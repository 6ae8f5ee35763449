//! What an app does for many threads, of which the row of one cannot be read.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::time::Duration;

use hanok_checkpoint::{CheckpointError, Holder, Keep};
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{App, BoxError, Context, END, Graph, RunError, START, Snapshot};
use hanok_sqlite::Sqlite;
use hanok_state::State;
use rusqlite::Connection;

#[derive(State, Debug, Clone, Default, PartialEq)]
struct S {
    n: u32,
}

/// Whoever asks for it waits for ever, unless there is something to go on with.
async fn work(state: Snapshot<S>, cx: Context<bool>) -> Result<SUpdate, BoxError> {
    if *cx.services() {
        std::future::pending::<()>().await;
    }
    Ok(S::update().n(state.n + 1))
}

fn app(store: Sqlite) -> App<S, bool> {
    let graph = Graph::<S, bool>::builder("works").node("work", work).edge(START, "work");
    let app = graph.edge("work", END).build().unwrap().checkpointer(store);
    app.keep_for(Duration::from_millis(1))
}

fn key(thread: &str) -> ThreadKey {
    ThreadKey::new(Tenant::default(), thread).unwrap()
}

/// P7: what is lost is finished, what is over is removed and what is old is cut, and the thread of the damaged row is told
/// where it may be one of these, and stays.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_row_holds_up_no_other_thread() {
    for damage in ["head = -7", "life = x'01'", "run = x'00112233'", "holder = x'00'"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("threads.db");
        let store = Sqlite::open(&file).await.unwrap();
        // All runs are lost, as those of a process that is gone.
        for thread in ["a", "bad", "c"] {
            let thread = app(store.clone()).thread(key(thread));
            thread.invoke(S::update(), false).await.unwrap();
            let run = thread.invoke(S::update(), true);
            tokio::time::timeout(Duration::from_millis(300), run).await.unwrap_err();
        }
        store.close().await.unwrap();
        let raw = Connection::open(&file).unwrap();
        let gone = Holder { pid: u32::MAX >> 1, started: 1, ..Holder::this_process(1) };
        raw.execute("UPDATE threads SET holder = ?1", [gone.to_bytes()]).unwrap();
        raw.execute_batch(&format!("UPDATE threads SET {damage} WHERE thread = 'bad'")).unwrap();

        let app = app(Sqlite::open(&file).await.unwrap());
        let recovered = app.recover(|_| Some(false)).await.unwrap();
        let threads: Vec<_> = recovered.iter().map(|(thread, _)| thread.thread()).collect();
        assert_eq!(threads, ["a", "bad", "c"], "{damage}");
        for (thread, ended) in recovered {
            let is_corrupt =
                matches!(ended, Err(RunError::Checkpoint(CheckpointError::Corrupt { .. })));
            assert_eq!(is_corrupt, thread.thread() == "bad", "{damage}: {ended:?}");
            assert!(is_corrupt || ended.unwrap().done().unwrap().n == 2);
        }
        let pruned = app.prune(&Tenant::default(), Keep::Last(1)).await.unwrap();
        let cut: Vec<_> = pruned.iter().filter(|(_, cut)| cut.is_ok()).collect();
        assert_eq!(cut.len(), 2, "{damage}: {pruned:?}");

        tokio::time::sleep(Duration::from_millis(20)).await;
        let swept = app.sweep().await.unwrap();
        assert_eq!(swept, [key("a"), key("c")], "{damage}");
        let left = "SELECT group_concat(thread) FROM threads";
        let left: String = raw.query_row(left, (), |row| row.get(0)).unwrap();
        assert_eq!(left, "bad", "{damage}");
    }
}
