//! Values too large for a state, which stand beside the log and go with it.

use hanok_checkpoint::{Checkpointer as _, Forks, InMemoryStore, Search, SharedStore, Store as _};
use hanok_core::{Stored, Tenant, Timestamp};
use hanok_graph::{BoxError, Context, END, Graph, Persistence, START, Snapshot, Subgraph, Thread};
use hanok_state::{Message, Role, State};

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
