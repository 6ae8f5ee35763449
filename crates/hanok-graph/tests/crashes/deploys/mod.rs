//! A build with another state goes on with the threads of the one before: what is stored, live and read again is the same.

mod at_once;
mod crashes;
mod dynamic;
mod leaf;
mod pending;
mod rolling;
mod subgraphs;

use std::fmt::Debug;

use hanok_checkpoint::{Forks, SharedCheckpointer};
use hanok_core::Namespace;
use hanok_graph::{
    BoxError, Context, END, EditStep, Graph, Outcome, RunError, START, Snapshot, Thread,
};
use hanok_state::State;

use crate::support::{Ledger, chain, key, memory};
use leaf::{Leaf, Tree, added, base, recast, removed, renamed, retyped};

/// A graph of one node that writes nothing.
fn idle<S: State>() -> Graph<S, Ledger> {
    let graph = Graph::builder("idle").formerly("w").formerly("outer").node("a", nothing::<S>);
    let graph = graph.edge(START, "a").edge("a", END);
    graph.build().unwrap()
}

async fn nothing<S: State>(_: Snapshot<S>, _: Context<Ledger>) -> Result<(), BoxError> {
    Ok(())
}

/// Asks a person, and writes nothing.
async fn asks<S: State>(_: Snapshot<S>, cx: Context<Ledger>) -> Result<(), BoxError> {
    let _: String = cx.interrupt("go on?").await?;
    Ok(())
}

/// A thread as a process that has just begun sees it.
fn fresh<S: State>(graph: &Graph<S, Ledger>, store: &SharedCheckpointer) -> Thread<S, Ledger> {
    graph.checkpointer(store.clone()).thread(key("t"))
}

async fn turn<S: State + Debug>(thread: &Thread<S, Ledger>, update: S::Update) -> S {
    thread.invoke(update, Ledger::default()).await.unwrap().done().unwrap()
}

async fn read<S: State>(graph: &Graph<S, Ledger>, store: &SharedCheckpointer) -> S {
    fresh(graph, store).state(None).await.unwrap().unwrap()
}

/// The kinds of entries of the thread, oldest first.
async fn kinds(store: &SharedCheckpointer) -> Vec<&'static str> {
    let history = fresh(&idle::<base::One>(), store).history(None, 999).await.unwrap();
    history.iter().rev().map(|entry| entry.entry.body.kind().as_str()).collect()
}

/// What the log amounts to, as JSON.
async fn fields(store: &SharedCheckpointer) -> String {
    let log = fresh(&idle::<base::One>(), store).log();
    let fold = log.open(None).await.unwrap().unwrap().fold;
    fold.run(&Namespace::root()).unwrap().fields.to_string()
}

/// Deploys `New` onto threads of `Old` that wait for nothing; returns the leaf after the deploy and a turn.
async fn deployed<Old: Tree, New: Tree>() -> String {
    let store = memory();
    let old = idle::<Old>();
    turn(&fresh(&old, &store), Old::of(Old::Leaf::first())).await;
    let new = idle::<New>();
    let before = read(&new, &store).await;

    // Of the same process, and of one that is begun anew after each turn.
    let thread = fresh(&new, &store);
    let unchanged = turn(&thread, New::update()).await;
    assert_eq!(unchanged, before, "a deploy alone changes nothing");
    let live = turn(&thread, New::of(New::Leaf::later())).await;
    assert_eq!(read(&new, &store).await, live, "read again");
    assert_eq!(turn(&fresh(&new, &store), New::update()).await, live, "after a restart");
    assert_eq!(turn(&thread, New::update()).await, live, "in the process of before");
    let log = thread.log();
    assert!(log.verify().await.unwrap().unwrap().is_whole());
    let opened = log.open(None).await.unwrap().unwrap();
    log.put_snapshot(opened.head.life, &opened.fold).await.unwrap();
    assert_eq!(read(&new, &store).await, live, "by a snapshot");
    assert_eq!(turn(&fresh(&new, &store), New::update()).await, live, "on a snapshot");
    format!("{:?}", live.leaf())
}

/// Whatever is done to a type, at whatever depth, a thread of the build before reads the same live, after a restart and from
/// a snapshot.
#[tokio::test]
async fn a_state_of_another_build_is_the_same_live_and_read() {
    macro_rules! case {
        ($build:ident, $want:literal) => {
            assert_eq!(deployed::<base::One, $build::One>().await, $want, "alone");
            assert_eq!(deployed::<base::Two, $build::Two>().await, $want, "nested");
            assert_eq!(deployed::<base::Three, $build::Three>().await, $want, "nested twice");
        };
    }
    case!(renamed, r#"One { known: ["a", "c"], total: 1, by: {"k": 1, "m": 3} }"#);
    case!(
        added,
        r#"One { facts: ["a", "c"], count: 1, by: {"k": 1, "m": 3}, rules: ["be polite", "be brief"], mood: "calm" }"#
    );
    case!(retyped, r#"One { facts: ["a", "c"], count: "1", by: {"k": 1, "m": 3} }"#);
    case!(recast, r#"One { known: ["a", "c"], cents: 100, by: {"k": 1, "m": 3} }"#);
    case!(removed, r#"One { facts: ["a", "c"], by: {"k": 1, "m": 3} }"#);
}

/// What a build has removed rides along for the one before.
#[tokio::test]
async fn a_removed_field_is_there_again_for_a_build_that_knows_it() {
    let store = memory();
    turn(&fresh(&idle::<base::Three>(), &store), base::Three::of(base::One::first())).await;
    let newer = fresh(&idle::<removed::Three>(), &store);
    turn(&newer, removed::Three::of(removed::One::later())).await;
    turn(&newer, removed::Three::update().overwrite_middle(removed::Two::default())).await;
    let state = read(&idle::<base::Three>(), &store).await;
    assert_eq!(
        format!("{:?}", state.leaf()),
        r#"One { facts: [], count: 1, by: {} }"#,
        "a build that does not know a field takes none away, even with a whole state around it"
    );
}

/// A state that is written anew keeps what the build that does so does not know.
#[tokio::test]
async fn what_a_rebase_does_not_know_rides_along() {
    let store = memory();
    turn(&fresh(&idle::<added::Two>(), &store), added::Two::of(added::One::first())).await;
    turn(&fresh(&idle::<retyped::Two>(), &store), retyped::Two::update()).await;
    assert_eq!(
        fields(&store).await,
        r#"{"beside":0,"leaf":{"by":{"k":1},"count":"1","facts":["a"],"mood":"calm","rules":["be polite"]}}"#
    );
}

/// A stored version that is newer than the build's is refused at every depth, and the error says where it is.
#[tokio::test]
async fn a_newer_version_of_a_nested_state_is_refused() {
    let store = memory();
    turn(&fresh(&idle::<retyped::Three>(), &store), retyped::Three::of(retyped::One::first()))
        .await;
    let older = fresh(&idle::<base::Three>(), &store);
    let error = older.invoke(base::Three::update(), Ledger::default()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the state `middle.leaf` was stored in version 2 of its type, and this build has version 1; it takes a build that has version 2"
    );
    let position = older.log().open(None).await.unwrap().unwrap().head.position;
    turn(&fresh(&idle::<retyped::Three>(), &store), retyped::Three::update()).await;
    let entries = older.history(None, 999).await.unwrap();
    assert!(entries.iter().any(|entry| entry.position == position.next()), "nothing was written");
}

mod defaults {
    use super::*;

    #[derive(State, Debug, Clone, PartialEq)]
    pub(super) struct Polite {
        pub(super) tone: String,
    }

    impl Default for Polite {
        fn default() -> Self {
            Self { tone: "polite".to_owned() }
        }
    }

    #[derive(State, Debug, Clone, PartialEq)]
    pub(super) struct Rude {
        pub(super) tone: String,
        pub(super) mood: String,
    }

    impl Default for Rude {
        fn default() -> Self {
            Self { tone: "rude".to_owned(), mood: "calm".to_owned() }
        }
    }

    #[derive(State, Debug, Clone, PartialEq)]
    pub(super) struct Angry {
        pub(super) tone: String,
        pub(super) mood: String,
    }

    impl Default for Angry {
        fn default() -> Self {
            Self { tone: "angry".to_owned(), mood: "angry".to_owned() }
        }
    }
}

/// A value that nothing has written is that of the build that began the thread, or that knew its field first; a default that
/// changes later changes neither the present nor the past.
#[tokio::test]
async fn a_default_that_changes_does_not_change_what_a_thread_holds() {
    use defaults::{Angry, Polite, Rude};
    let store = memory();
    turn(&fresh(&idle::<Polite>(), &store), Polite::update()).await;
    let begun = fresh(&idle::<Polite>(), &store).log().open(None).await.unwrap().unwrap();
    let state = turn(&fresh(&idle::<Rude>(), &store), Rude::update()).await;
    assert_eq!((state.tone.as_str(), state.mood.as_str()), ("polite", "calm"));
    let thread = fresh(&idle::<Angry>(), &store);
    let state = turn(&thread, Angry::update()).await;
    assert_eq!((state.tone.as_str(), state.mood.as_str()), ("polite", "calm"));
    let past = thread.state(Some(begun.head.position)).await.unwrap().unwrap();
    assert_eq!(past.tone, "polite");
    assert_eq!(fields(&store).await, r#"{"mood":"calm","tone":"polite"}"#);
    let kinds = kinds(&store).await;
    let of = |kind: &str| kinds.iter().filter(|one| **one == kind).count();
    assert_eq!((of("extend"), of("rebase")), (1, 0), "a new field is no new schema: {kinds:?}");
}

/// A stored value that the build's type cannot be read from is an error, and nothing is written over it.
#[tokio::test]
async fn a_value_of_another_shape_is_an_error_and_stays() {
    #[derive(State, Debug, Clone, Default, PartialEq)]
    struct Wrong {
        facts: u32,
    }
    let store = memory();
    turn(&fresh(&idle::<base::One>(), &store), base::One::of(base::One::first())).await;
    let before = kinds(&store).await;
    let thread = fresh(&idle::<Wrong>(), &store);
    let error = thread.invoke(Wrong::update(), Ledger::default()).await.unwrap_err();
    insta::assert_snapshot!(chain(&error), @r#"thread `default/t`: the state that graph `idle` stored does not fit the state of this build / field `facts` cannot be read / the stored value ["a"] is no `u32` / a list stands where something else should"#);
    assert_eq!(kinds(&store).await, before, "nothing is written over what cannot be read");
}

/// A thread is of the graph that began it: another one is told so, whether their states fit or not, until it says that it had
/// that name.
#[tokio::test]
async fn a_thread_is_of_the_graph_that_began_it() {
    let store = memory();
    let named = |name| {
        let graph = Graph::builder(name).node("a", nothing::<base::One>).edge(START, "a");
        graph.edge("a", END)
    };
    let first = named("first").build().unwrap();
    turn(&fresh(&first, &store), base::One::of(base::One::first())).await;
    let (before, second) = (kinds(&store).await, named("second").build().unwrap());
    let thread = fresh(&second, &store);
    let ways = [
        thread.invoke(base::One::update(), Ledger::default()).await.map(drop),
        thread.resume(Ledger::default()).await.map(drop),
        thread.state(None).await.map(drop),
        thread.edit(base::One::update()).await.map(drop),
        thread.edits(vec![EditStep::Input(base::One::update())]).await.map(drop),
        thread.erase(base::One::update(), "me", Forks::Keep).await.map(drop),
    ];
    for refused in ways {
        let error = refused.unwrap_err();
        assert!(matches!(error, RunError::OtherGraph { .. }), "{error:?}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(chain(&error), @r#"thread `default/t` is of graph `first`, and this is graph `second`; if it had that name once, say `.formerly("first")`"#);
        }
    }
    assert_eq!(kinds(&store).await, before, "nothing was stored");

    let renamed = named("second").formerly("first").build().unwrap();
    turn(&fresh(&renamed, &store), base::One::update()).await;
    // From now on it is a thread of the second name.
    assert!(fresh(&second, &store).state(None).await.unwrap().is_some());
    assert!(fresh(&first, &store).state(None).await.is_err());
}

fn is_waiting<S: State>(outcome: &Outcome<S>) -> bool {
    matches!(outcome, Outcome::Interrupted(_))
}
