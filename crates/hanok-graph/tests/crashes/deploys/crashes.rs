//! A build that dies somewhere in a turn, and another that goes on with it and may die too.

use hanok_graph::{Command, Subgraph};
use hanok_testkit::sampled;

use super::*;
use crate::support::Dying;

async fn later<S: Tree>(_: Snapshot<S>, _: Context<Ledger>) -> Result<S::Update, BoxError> {
    Ok(S::of(S::Leaf::later()))
}

/// A super-step of a plain write, a subgraph that shares the state and one that commands its caller, and one after it.
fn wide<S: Tree>() -> Graph<S, Ledger> {
    #[derive(State, Debug, Clone, Default, PartialEq)]
    struct Child {
        n: u32,
    }
    async fn commands<S: Tree>(
        _: Snapshot<Child>,
        _: Context<Ledger>,
    ) -> Result<Command<Child>, BoxError> {
        Ok(Command::new().parent(Command::<S>::new().update(S::of(S::Leaf::pending()))))
    }
    let child = Graph::builder("child").node("commands", commands::<S>);
    let child = child.edge(START, "commands").edge("commands", END).build().unwrap();
    let child = Subgraph::new(child, |_: &S| Child::update(), |_: &Child| S::update());
    let shared = Graph::builder("shared").node("one", later::<S>).node("two", later::<S>);
    let shared = shared.edge(START, "one").edge("one", "two").edge("two", END).build().unwrap();
    let graph = Graph::builder("wide").node("flat", later::<S>).node("after", later::<S>);
    let graph = graph.subgraph("shared", Subgraph::shared(shared)).subgraph("child", child);
    let graph = graph.edge(START, "flat").edge(START, "shared").edge(START, "child");
    graph.join(["flat", "shared", "child"], "after").edge("after", END).build().unwrap()
}

/// Goes on with whatever is left of the turn.
async fn go_on<S: Tree>(store: &SharedCheckpointer) -> Result<S, hanok_graph::RunError> {
    let thread = fresh(&wide::<S>(), store);
    let outcome = match thread.state(None).await? {
        Some(_) => thread.resume(Ledger::default()).await?,
        None => thread.invoke(S::of(S::Leaf::first()), Ledger::default()).await?,
    };
    Ok(outcome.done().unwrap())
}

/// Has `Old` die at each append, before it is stored and after it, and `New` at each of its first ones.
async fn crashed<Old: Tree, New: Tree>() {
    let store = memory();
    let want = turn(&fresh(&wide::<New>(), &store), New::of(New::Leaf::first())).await;
    let old = wide::<Old>();
    let quiet = Dying::at(memory(), usize::MAX, false);
    turn(&fresh(&old, &quiet.shared()), Old::of(Old::Leaf::first())).await;
    let appends = quiet.appends();
    assert!(appends > 8, "{appends}");
    let ways = [(false, 9), (true, 9), (true, 0), (true, 1), (true, 2)];
    for (nth, (stored, second)) in sampled((0..appends).flat_map(|nth| ways.map(|way| (nth, way))))
    {
        let store = memory();
        let dying = Dying::at(store.clone(), nth, stored);
        let thread = fresh(&old, &dying.shared());
        drop(thread.invoke(Old::of(Old::Leaf::first()), Ledger::default()).await);
        assert!(dying.is_dead(), "{nth} of {appends}");
        let store = dying.after_death(&key("t")).await.unwrap();
        let again = Dying::at(store.clone(), second, nth % 2 == 0);
        let mut state = go_on::<New>(&again.shared()).await;
        if again.is_dead() {
            state = go_on::<New>(&again.after_death(&key("t")).await.unwrap()).await;
        }
        let place = format!("died at {nth}, stored {stored}, and at {second}");
        assert_eq!(state.unwrap_or_else(|error| panic!("{place}: {error:?}")), want, "{place}");
        assert_eq!(read(&wide::<New>(), &store).await, want, "{place}");
        let log = fresh(&wide::<New>(), &store).log();
        assert!(log.verify().await.unwrap().unwrap().is_whole(), "{place}");
    }
}

/// P1: wherever a build dies, another one ends the turn as if it had run all of it, and so it does if it dies while it takes
/// over: pending writes, what subgraphs added and what they command are read in the new schema.
#[tokio::test]
async fn a_turn_that_a_build_left_is_ended_by_another() {
    crashed::<base::One, renamed::One>().await;
    crashed::<base::Two, renamed::Two>().await;
    crashed::<base::One, retyped::One>().await;
    crashed::<base::Two, recast::Two>().await;
    crashed::<base::Two, removed::Two>().await;
}
