//! Fields that live as long as the run.

use hanok_checkpoint::{Checkpointer, InMemoryCheckpointer, SharedCheckpointer};
use hanok_graph::{
    BoxError, Context, END, Graph, GraphBuilder, Outcome, START, SendTo, Sent, Snapshot, Thread,
};
use hanok_state::{List, State};
use serde::{Deserialize, Serialize};

use crate::support::{key, runtime};

fn builder() -> GraphBuilder<Session> {
    Graph::builder("test").runtime(runtime())
}

fn memory() -> SharedCheckpointer {
    SharedCheckpointer::new(InMemoryCheckpointer::new())
}

fn thread(graph: &Graph<Session>, store: &SharedCheckpointer) -> Thread<Session> {
    graph.checkpointer(store.clone()).thread(key("t"))
}

/// What cannot be stored, and must not be.
#[derive(Debug, Clone, Default, PartialEq)]
struct Handle(String);

#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Session {
    #[reduce(append)]
    log: List<String>,
    #[state(transient)]
    #[serde(skip)]
    handle: Handle,
}

const SECRET: &str = "sk-0123456789abcdef";

/// Every byte that a store has of a thread.
async fn stored(store: &SharedCheckpointer) -> Vec<u8> {
    let page = store.history(&key("t"), None, usize::MAX).await.unwrap();
    let records = page.unwrap().records;
    let snapshots = store.open(&key("t"), None, Default::default()).await.unwrap().unwrap();
    let snapshot = snapshots.snapshot.map(|(_, bytes)| bytes.to_vec()).unwrap_or_default();
    records.iter().flat_map(|record| record.bytes.to_vec()).chain(snapshot).collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// B19: it is there while the run lives, unset in the run that goes on, and in no stored byte: not in a write, a `SendTo`'s
/// payload that is the whole state, a commit or a file.
#[tokio::test]
async fn a_transient_field_is_stored_nowhere_and_unset_after_a_restart() {
    async fn opens(_: Snapshot<Session>, _: Context) -> Result<SessionUpdate, BoxError> {
        Ok(Session::update().handle(Handle(SECRET.into())).push_log("opened"))
    }
    async fn works(
        state: Snapshot<Session>,
        sent: Sent<Session>,
        cx: Context,
    ) -> Result<SessionUpdate, BoxError> {
        let seen = format!("{:?} {:?} {}", state.handle.0, sent.handle.0, sent.log.len());
        let said: String = cx.interrupt(&sent.log.len()).await?;
        Ok(Session::update().push_log(format!("{seen} {said}")))
    }
    async fn looks(state: Snapshot<Session>, _: Context) -> Result<SessionUpdate, BoxError> {
        Ok(Session::update().push_log(format!("sees {}", state.handle.0.len())))
    }
    let graph = builder()
        .node("opens", opens)
        .node("looks", looks)
        .node("works", works)
        .edge(START, "opens")
        .edge("opens", "looks")
        .branch("looks", |state: &Session| SendTo::new("works", state), ["works"])
        .edge("works", END)
        .build()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let sqlite = hanok_sqlite::Sqlite::open(&file).await.unwrap();
    for store in [memory(), SharedCheckpointer::new(sqlite)] {
        let outcome = thread(&graph, &store).invoke(Session::update(), ()).await.unwrap();
        assert!(matches!(outcome, Outcome::Interrupted(_)), "{outcome:?}");
        let bytes = stored(&store).await;
        assert!(holds(&bytes, "opened") && !holds(&bytes, SECRET));
        let state = thread(&graph, &store).reply("yes", ()).await.unwrap().done().unwrap();
        let want = ["opened", &format!("sees {}", SECRET.len()), r#""" "" 2 yes"#];
        assert_eq!(state.log.iter().collect::<Vec<_>>(), want);
        assert_eq!(state.handle, Handle::default());
    }
}

/// B19: the next turn finds it unset, in the process that has set it as in any other.
#[tokio::test]
async fn a_transient_field_is_unset_in_the_next_turn() {
    async fn looks(state: Snapshot<Session>, _: Context) -> Result<SessionUpdate, BoxError> {
        let seen = format!("sees {}", state.handle.0.len());
        Ok(Session::update().handle(Handle(SECRET.into())).push_log(seen))
    }
    let graph = builder().node("looks", looks).edge(START, "looks").edge("looks", END);
    let graph = graph.build().unwrap();
    let app = graph.checkpointer(memory());
    for turns in 1..=3 {
        let outcome = app.thread(key("t")).invoke(Session::update(), ()).await.unwrap();
        assert_eq!(
            outcome.done().unwrap().log.iter().collect::<Vec<_>>(),
            ["sees 0"].repeat(turns)
        );
    }
}
