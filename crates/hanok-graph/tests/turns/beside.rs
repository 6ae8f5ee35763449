//! Values too large for a state, which stand beside the log and go with it.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use hanok_checkpoint::{
    CheckpointError, Checkpointer as _, Forks, InMemoryStore, Search, SharedCheckpointer,
    SharedStore, Store as _, ThreadInfo, Trim, Which,
};
use hanok_core::{Stored, Tenant, ThreadKey, Timestamp};
use hanok_graph::{
    BoxError, Context, END, Graph, Persistence, RunError, START, Snapshot, Subgraph, Thread,
};
use hanok_state::{Message, Role, State};
use hanok_testkit::{Layer, Layered};

use crate::asking::{Ledger, S, SUpdate, app, built, key, memory};

/// A message of this id.
fn says(id: &str, text: &str) -> SUpdate {
    S::update().message(Message::user(text).with_id(id))
}

/// Removes messages.
fn without(ids: &[&str]) -> SUpdate {
    ids.iter().fold(S::update(), |update, id| update.remove_message(*id))
}

/// Stores a value of this name, and writes the name.
async fn keep(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let name = format!("{}{}", cx.node(), state.n);
    let items = cx.items().ok_or("a run with a store")?;
    let last = state.messages.iter().rev().find(|it| it.role() == Role::User);
    let value = format!("{name} belongs to {}", last.map(Message::text).unwrap_or_default());
    items.put(&name, &Stored::encode(&value)?, cx.now()).await?;
    Ok(S::update().message(Message::assistant("it is stored").with_id(&*name)).n(state.n + 1))
}

fn graph() -> Graph<S, Ledger> {
    let inner = Graph::builder("inner").node("below", keep).edge(START, "below");
    let inner = built(inner.edge("below", END));
    let below = Subgraph::new(inner, |_: &S| says("1", "hong"), |_: &S| S::update());
    let below = below.persistence(Persistence::PerThread);
    let graph = Graph::builder("outer").node("keep", keep).subgraph("inside", below);
    built(graph.edge(START, "keep").edge("keep", "inside").edge("inside", END))
}

async fn names(memory: &SharedStore) -> Vec<String> {
    let all = Search::all(Tenant::default()).limit(100);
    let hits = memory.search(&all, Timestamp(0)).await.unwrap().hits;
    let mut names: Vec<_> = hits.iter().map(|hit| hit.item.key.key().to_owned()).collect();
    names.sort();
    names
}

struct World {
    thread: Thread<S, Ledger>,
    memory: SharedStore,
}

async fn world() -> World {
    let (store, memory) = (memory(), SharedStore::new(InMemoryStore::new()));
    let thread = app(&graph(), &store).remembering(memory.clone()).thread(key("t"));
    for said in ["kim", "lee"] {
        thread.invoke(says(said, said), Ledger::default()).await.unwrap().done().unwrap();
    }
    World { thread, memory }
}

/// B146: an erasure takes what holds an erased word, and what nothing names any more: in the states of subgraphs too.
#[tokio::test]
async fn an_erasure_takes_what_holds_the_word_and_what_nobody_names() {
    let World { thread, memory } = world().await;
    assert_eq!(names(&memory).await, ["below0", "below1", "keep0", "keep1"]);
    // Nothing says "lee" any more, so what was made of it goes, though its name stays.
    thread.erase(without(&["lee"]), "the officer", Forks::Too).await.unwrap();
    assert_eq!(names(&memory).await, ["below0", "below1", "keep0"]);
    thread.erase(without(&["keep0"]), "the officer", Forks::Too).await.unwrap();
    assert_eq!(names(&memory).await, ["below0", "below1"]);
}

/// B146: a fork has what its state names, and keeps it; a thread begun anew under the same name has nothing of the one before.
#[tokio::test]
async fn a_fork_has_what_it_names() {
    let World { thread, memory } = world().await;
    let first = thread.turn_ends().await.unwrap().first().unwrap().position;
    let app = thread.app().clone();
    thread.fork(Some(first), &key("fork")).await.unwrap();
    assert_eq!(names(&memory).await, ["below0", "below0", "below1", "keep0", "keep0", "keep1"]);
    let gone = without(&["keep0", "keep1"]);
    thread.erase(gone, "the officer", Forks::Keep).await.unwrap();
    assert_eq!(names(&memory).await, ["below0", "below0", "below1", "keep0"]);
    assert!(thread.delete().await.unwrap());
    assert_eq!(names(&memory).await, ["below0", "keep0"]);
    thread.invoke(says("choi", "choi"), Ledger::default()).await.unwrap().done().unwrap();
    let life = app.store().head(&key("fork")).await.unwrap().unwrap().life;
    assert!(app.thread(key("fork")).delete().await.unwrap());
    assert_eq!(names(&memory).await, ["below0", "keep0"]);
    assert_ne!(Some(life), app.store().head(&key("t")).await.unwrap().map(|head| head.life));
}

/// When another process runs the thread while it is erased.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Meanwhile {
    /// After the erasure has read it.
    Read,
    /// After the items went, and before the log is written anew.
    Removed,
}

/// A store in whose midst another process runs the thread, once, or that is gone.
#[derive(Debug, Clone)]
struct Beside {
    store: SharedCheckpointer,
    memory: SharedStore,
    at: Option<Meanwhile>,
    went: Arc<Mutex<Option<Result<u32, String>>>>,
    /// How often the log cannot be written anew.
    gone: Arc<AtomicUsize>,
}

impl Beside {
    async fn runs(&self, at: Meanwhile) {
        if Some(at) != self.at || self.went.lock().unwrap().is_some() {
            return;
        }
        let other = app(&graph(), &self.store).remembering(self.memory.clone()).thread(key("t"));
        let went = other.invoke(says("choi", "choi"), Ledger::default()).await;
        let went =
            went.map(|outcome| outcome.done().unwrap().n).map_err(|error| format!("{error:?}"));
        *self.went.lock().unwrap() = Some(went);
    }
}

impl Layer for Beside {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn threads(
        &self,
        which: Which,
        after: Option<&ThreadKey>,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, CheckpointError> {
        self.runs(Meanwhile::Read).await;
        self.store.threads(which, after, limit).await
    }

    async fn trim(&self, thread: &ThreadKey, trim: Trim) -> Result<(), CheckpointError> {
        self.runs(Meanwhile::Removed).await;
        let left = |left: usize| left.checked_sub(1);
        if self.gone.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok() {
            return Err(CheckpointError::Unavailable { reason: "gone", source: "gone".into() });
        }
        self.store.trim(thread, trim).await
    }
}

async fn beside(at: Option<Meanwhile>, gone: usize) -> (Beside, Thread<S, Ledger>, SharedStore) {
    let (store, memory) = (memory(), SharedStore::new(InMemoryStore::new()));
    let thread = app(&graph(), &store).remembering(memory.clone()).thread(key("t"));
    for said in ["kim", "lee"] {
        thread.invoke(says(said, said), Ledger::default()).await.unwrap().done().unwrap();
    }
    let (went, gone) = (Arc::default(), Arc::new(gone.into()));
    let beside = Beside { store, memory: memory.clone(), at, went, gone };
    let store = SharedCheckpointer::new(Layered(beside.clone()));
    let thread = app(&graph(), &store).remembering(memory.clone()).thread(key("t"));
    (beside, thread, memory)
}

/// B146, P10: a run that begins while its thread is erased loses nothing that it stores: either it is first, and nothing is erased, or it is
/// refused.
#[tokio::test]
async fn a_run_that_begins_beside_an_erasure_keeps_what_it_stores() {
    let (run, thread, memory) = beside(Some(Meanwhile::Read), 0).await;
    let refused = thread.erase(without(&["lee"]), "the officer", Forks::Keep).await.unwrap_err();
    assert!(matches!(refused, RunError::Conflict { .. }), "{refused:?}");
    assert_eq!(run.went.lock().unwrap().take(), Some(Ok(3)));
    let all = ["below0", "below1", "below2", "keep0", "keep1", "keep2"];
    assert_eq!(names(&memory).await, all);

    let (run, thread, memory) = beside(Some(Meanwhile::Removed), 0).await;
    thread.erase(without(&["lee"]), "the officer", Forks::Keep).await.unwrap();
    let went = run.went.lock().unwrap().take().unwrap();
    assert!(went.as_ref().is_err_and(|error| error.starts_with("Conflict")), "{went:?}");
    assert_eq!(names(&memory).await, ["below0", "below1", "keep0"]);
    let state = thread.invoke(says("choi", "choi"), Ledger::default()).await.unwrap();
    assert_eq!(state.done().unwrap().n, 3);
}

/// P57: an erasure that breaks off between the items and the log leaves the thread free, and a second one erases what is left.
#[tokio::test]
async fn an_erasure_that_breaks_off_is_made_again() {
    let (_, thread, memory) = beside(None, 1).await;
    let is_there = async || {
        let state = thread.state(None).await.unwrap().unwrap();
        state.messages.iter().any(|message| message.text() == "lee")
    };
    let first = thread.erase(without(&["lee"]), "the officer", Forks::Too).await.unwrap_err();
    assert!(matches!(first, RunError::Checkpoint(_)) && is_there().await, "{first:?}");
    thread.erase(without(&["lee"]), "the officer", Forks::Too).await.unwrap();
    assert!(!is_there().await);
    assert_eq!(names(&memory).await, ["below0", "below1", "keep0"]);
}
