//! Code of a user that panics while values are written, read, merged or upgraded.

use std::{cell::Cell, time::Duration};

use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{BoxError, Fields, ThreadKey};
use hanok_graph::{App, Cache, Context, END, Graph, NodeExt, Outcome, RunError, START, Snapshot};
use hanok_state::State;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

thread_local! {
    /// What panics now.
    static BROKEN: Cell<Option<Seam>> = const { Cell::new(None) };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seam {
    Serialize,
    Deserialize,
    Upgrade,
    Key,
}

fn breaks(seam: Seam) {
    if BROKEN.get() == Some(seam) {
        panic!("broken {seam:?}");
    }
}

/// A number that panics while `BROKEN` says so and it is 13.
#[derive(Debug, Clone, Default, PartialEq)]
struct Number(u32);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0 == 13 {
            breaks(Seam::Serialize);
        }
        to.serialize_u32(self.0)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = u32::deserialize(from)?;
        if number == 13 {
            breaks(Seam::Deserialize);
        }
        Ok(Self(number))
    }
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct Sum {
    number: Number,
}

#[derive(State, Debug, Clone, Default, PartialEq)]
#[state(version = 2, upgrade = upgrade)]
struct Newer {
    number: Number,
}

fn upgrade(_: u32, _: &mut Fields) -> Result<(), BoxError> {
    breaks(Seam::Upgrade);
    Ok(())
}

/// Writes the number.
fn writes(number: u32) -> Graph<Sum> {
    let node = move |_: Snapshot<Sum>, _: Context| async move {
        Ok::<_, BoxError>(Sum::update().number(Number(number)))
    };
    Graph::builder("sum").node("a", node).edge(START, "a").edge("a", END).build().unwrap()
}

fn memory() -> SharedCheckpointer {
    SharedCheckpointer::new(InMemoryCheckpointer::new())
}

fn key() -> ThreadKey {
    ThreadKey::named("t").unwrap()
}

fn app<S: State>(graph: &Graph<S>, store: &SharedCheckpointer) -> App<S> {
    graph.checkpointer(store.clone())
}

fn told<T>(went: Result<T, RunError>) -> String {
    match went {
        Ok(_) => "done".to_owned(),
        Err(error) => hanok_core::Chain(&error).to_string(),
    }
}

/// P18: the run fails, and another app of the process goes on at once.
#[tokio::test]
async fn a_panic_while_a_nodes_write_is_stored_fails_the_run_alone() {
    let (store, input) = (memory(), Sum::update());
    BROKEN.set(Some(Seam::Serialize));
    let said = told(app(&writes(13), &store).thread(key()).invoke(input, ()).await);
    assert!(said.contains("broken Serialize"), "{said}");
    let next = app(&writes(1), &store).thread(key()).resume(()).await.unwrap();
    assert_eq!(next.done().unwrap().number, Number(1));
}

/// P18: the same before a node runs.
#[tokio::test]
async fn a_panic_while_an_input_is_stored_fails_the_run_alone() {
    let store = memory();
    BROKEN.set(Some(Seam::Serialize));
    let input = Sum::update().number(Number(13));
    let said = told(app(&writes(1), &store).thread(key()).invoke(input, ()).await);
    assert!(said.contains("broken Serialize"), "{said}");
    let next = app(&writes(1), &store).thread(key()).invoke(Sum::update(), ()).await;
    assert_eq!(next.unwrap().done().unwrap().number, Number(1));
}

/// P18: nothing is stored by a build that cannot read the state, and every way of reading it says so.
#[tokio::test]
async fn a_panic_while_a_state_is_read_is_an_error() {
    for seam in [Seam::Deserialize, Seam::Upgrade] {
        let store = memory();
        BROKEN.set(None);
        app(&writes(13), &store).thread(key()).invoke(Sum::update(), ()).await.unwrap();
        let newer = Graph::<Newer>::builder("sum");
        let newer =
            newer.node("a", |_: Snapshot<Newer>, _: Context| async { Ok::<_, BoxError>(()) });
        let newer = app(&newer.edge(START, "a").edge("a", END).build().unwrap(), &store);
        let thread = newer.thread(key());
        BROKEN.set(Some(seam));
        let wants = format!("broken {seam:?}");
        for said in [
            told(thread.invoke(Newer::update(), ()).await),
            told(thread.state(None).await),
            told(thread.edit(Newer::update()).await),
        ] {
            assert!(said.contains(&wants), "{said}");
        }
        BROKEN.set(None);
        assert_eq!(told(thread.invoke(Newer::update(), ()).await), "done");
    }
}

/// P18: the question stays open, and takes another answer.
#[tokio::test]
async fn an_answer_whose_reading_panics_is_not_taken() {
    let asks = |_: Snapshot<Sum>, cx: Context| async move {
        let number: Number = cx.interrupt("which?").await?;
        Ok::<_, BoxError>(Sum::update().number(number))
    };
    let graph = Graph::<Sum>::builder("sum").node("a", asks).edge(START, "a").edge("a", END);
    let thread = app(&graph.build().unwrap(), &memory()).thread(key());
    thread.invoke(Sum::update(), ()).await.unwrap();
    BROKEN.set(Some(Seam::Deserialize));
    let error = thread.reply(&13_u32, ()).await.unwrap_err();
    assert!(matches!(error, RunError::WrongAnswer { .. }), "{error:?}");
    let Outcome::Done(sum) = thread.reply(&14_u32, ()).await.unwrap() else { panic!("not done") };
    assert_eq!(sum.number, Number(14));
}

/// P18: whatever else of a user's panics within a run, in a task beside others too.
#[tokio::test]
async fn a_panic_anywhere_in_a_run_gives_the_thread_back() {
    for beside in [false, true] {
        let store = memory();
        let node = |_: Snapshot<Sum>, _: Context| async { Ok::<_, BoxError>(()) };
        let cache = Cache::new(Duration::from_secs(1), |_: &Sum, _: &()| breaks(Seam::Key));
        let graph = Graph::<Sum>::builder("sum").node("a", node.cache(cache)).node("b", node);
        let graph = graph.edge(START, "a").edge("a", END).edge("b", END);
        let graph = if beside { graph.edge(START, "b") } else { graph.edge("a", "b") };
        let graph = graph.build().unwrap();
        BROKEN.set(Some(Seam::Key));
        let said = told(app(&graph, &store).thread(key()).invoke(Sum::update(), ()).await);
        assert!(said.contains("broken Key"), "{said}");
        let said = told(graph.invoke(Sum::update(), ()).await);
        assert!(said.contains("broken Key"), "{said}");
        BROKEN.set(None);
        let next = app(&graph, &store).thread(key()).resume(()).await;
        assert_eq!(told(next), "done", "beside {beside}");
    }
}
