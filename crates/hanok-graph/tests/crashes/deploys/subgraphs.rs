//! Deploys while subgraphs are under way, or between their calls.

use hanok_graph::{Command, Persistence, Subgraph};

use super::*;

async fn writes<S: Tree>(_: Snapshot<S>, cx: Context<Ledger>) -> Result<S::Update, BoxError> {
    cx.services().note("writes");
    Ok(S::of(S::Leaf::pending()))
}

/// Writes, and then asks.
fn inner<S: Tree>() -> Graph<S, Ledger> {
    let graph = Graph::builder("inner").node("writes", writes::<S>).node("asks", asks::<S>);
    graph.edge(START, "writes").edge("writes", "asks").edge("asks", END).build().unwrap()
}

fn calls<S: State>(subgraph: Subgraph<S, Ledger>) -> Graph<S, Ledger> {
    let graph = Graph::builder("outer").subgraph("call", subgraph);
    graph.edge(START, "call").edge("call", END).build().unwrap()
}

/// A subgraph that shares its caller's state has committed before the deploy: the caller gets what it added.
#[tokio::test]
async fn what_a_shared_subgraph_added_outlives_a_deploy() {
    async fn deployed<Old: Tree, New: Tree>() -> String {
        let (store, ledger) = (memory(), Ledger::default());
        let old = fresh(&calls(Subgraph::shared(calls(Subgraph::shared(inner::<Old>())))), &store);
        let outcome = old.invoke(Old::of(Old::Leaf::first()), ledger.clone()).await.unwrap();
        assert!(is_waiting(&outcome));
        let new = calls(Subgraph::shared(calls(Subgraph::shared(inner::<New>()))));
        let live = fresh(&new, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(ledger.of("writes"), 1, "a committed super-step is not made again");
        assert_eq!(read(&new, &store).await, live);
        assert!(fresh(&new, &store).log().verify().await.unwrap().unwrap().is_whole());
        format!("{:?}", live.leaf())
    }
    macro_rules! case {
        ($build:ident, $want:literal) => {
            assert_eq!(deployed::<base::One, $build::One>().await, $want, "alone");
            assert_eq!(deployed::<base::Three, $build::Three>().await, $want, "nested twice");
        };
    }
    case!(renamed, r#"One { known: ["a", "b"], total: 7, by: {"k": 1, "l": 2} }"#);
    case!(
        added,
        r#"One { facts: ["a", "b"], count: 7, by: {"k": 1, "l": 2}, rules: ["be polite"], mood: "calm" }"#
    );
    case!(retyped, r#"One { facts: ["a", "b"], count: "7", by: {"k": 1, "l": 2} }"#);
    case!(recast, r#"One { known: ["a", "b"], cents: 700, by: {"k": 1, "l": 2} }"#);
}

/// What a shared subgraph added and this build cannot hold is not lost with it: the call is made anew.
#[tokio::test]
async fn a_shared_subgraph_of_a_newer_build_is_called_anew_by_an_older_one() {
    let (store, ledger) = (memory(), Ledger::default());
    let newer = fresh(&calls(Subgraph::shared(inner::<base::Two>())), &store);
    let outcome = newer.invoke(base::Two::of(base::One::first()), ledger.clone()).await.unwrap();
    assert!(is_waiting(&outcome));
    let older = calls(Subgraph::shared(inner::<removed::Two>()));
    let thread = fresh(&older, &store);
    let outcome = thread.reply("yes", ledger.clone()).await.unwrap();
    assert!(is_waiting(&outcome), "it asks anew");
    let live = thread.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(format!("{:?}", live.leaf()), r#"One { facts: ["a", "b"], by: {"k": 1, "l": 2} }"#);
    assert_eq!(ledger.of("writes"), 2);
    assert_eq!(read(&older, &store).await, live);
    assert_eq!(read(&idle::<base::Two>(), &store).await.leaf().count, 1);
}

/// A subgraph with a state of its own, nested or not, goes on in the new build's schema: with its call, and with the next
/// one if it outlives it.
#[tokio::test]
async fn a_subgraphs_own_state_outlives_a_deploy() {
    #[derive(State, Debug, Clone, Default, PartialEq)]
    struct Outer {
        #[reduce(append)]
        leaves: hanok_state::List<String>,
    }
    fn graph<S: Tree>(persistence: Persistence) -> Graph<Outer, Ledger> {
        let subgraph = Subgraph::new(
            inner::<S>(),
            |_: &Outer| S::of(S::Leaf::first()),
            |state: &S| Outer::update().push_leaves(format!("{:?}", state.leaf())),
        );
        calls(subgraph.persistence(persistence))
    }
    for persistence in [Persistence::PerCall, Persistence::PerThread] {
        let (store, ledger) = (memory(), Ledger::default());
        let old = fresh(&graph::<base::Three>(persistence), &store);
        assert!(is_waiting(&old.invoke(Outer::update(), ledger.clone()).await.unwrap()));
        let new = graph::<renamed::Three>(persistence);
        let thread = fresh(&new, &store);
        thread.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
        assert!(is_waiting(&thread.invoke(Outer::update(), ledger.clone()).await.unwrap()));
        let thread = fresh(&new, &store);
        let live = thread.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
        let first = r#"One { known: ["a", "b"], total: 7, by: {"k": 1, "l": 2} }"#;
        let second = match persistence {
            Persistence::PerThread => {
                r#"One { known: ["a", "b", "a", "b"], total: 7, by: {"k": 1, "l": 2} }"#
            }
            _ => first,
        };
        assert_eq!(live.leaves.iter().collect::<Vec<_>>(), [first, second], "{persistence:?}");
        assert_eq!(read(&new, &store).await, live);
        assert!(thread.log().verify().await.unwrap().unwrap().is_whole());
    }
}

/// A command to the caller, stored before the deploy, is the caller's in its new schema.
#[tokio::test]
async fn a_stored_command_to_a_parent_outlives_a_deploy() {
    #[derive(State, Debug, Clone, Default, PartialEq)]
    struct Child {
        n: u32,
    }
    fn graph<S: Tree>() -> Graph<S, Ledger> {
        async fn commands<S: Tree>(
            _: Snapshot<Child>,
            cx: Context<Ledger>,
        ) -> Result<Command<Child>, BoxError> {
            cx.services().note("commands");
            Ok(Command::new().parent(Command::<S>::new().update(S::of(S::Leaf::pending()))))
        }
        async fn fails<S: Tree>(state: Snapshot<S>, cx: Context<Ledger>) -> Result<(), BoxError> {
            drop(state);
            Ok(cx.services().ran("fails")?)
        }
        let child = Graph::builder("child").node("commands", commands::<S>);
        let child = child.edge(START, "commands").edge("commands", END).build().unwrap();
        let child = Subgraph::new(child, |_: &S| Child::update(), |_: &Child| S::update());
        let graph = Graph::builder("outer").subgraph("call", child).node("wait", asks::<S>);
        let graph = graph.edge(START, "call").edge(START, "wait").edge("wait", "fails");
        graph.node("fails", fails::<S>).edge("call", END).edge("fails", END).build().unwrap()
    }
    let (store, ledger) = (memory(), Ledger::default());
    let old = fresh(&graph::<base::Two>(), &store);
    let first = base::Two::of(base::One::first());
    assert!(is_waiting(&old.invoke(first, ledger.clone()).await.unwrap()));
    let new = graph::<renamed::Two>();
    let live = fresh(&new, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(
        format!("{:?}", live.leaf()),
        r#"One { known: ["a", "b"], total: 7, by: {"k": 1, "l": 2} }"#
    );
    assert_eq!(ledger.of("commands"), 1);
    assert_eq!(read(&new, &store).await, live);
}

/// A command to the caller that is pending beside a question of the subgraph is voided when the caller's schema makes another
/// of it, and its task runs again.
#[tokio::test]
async fn a_pending_command_to_a_parent_is_made_again_in_the_new_schema() {
    #[derive(State, Debug, Clone, Default, PartialEq)]
    struct Child {
        n: u32,
    }
    fn graph<S: Tree>() -> Graph<S, Ledger> {
        async fn commands<S: Tree>(
            _: Snapshot<Child>,
            cx: Context<Ledger>,
        ) -> Result<Command<Child>, BoxError> {
            cx.services().note("commands");
            Ok(Command::new().parent(Command::<S>::new().update(S::of(S::Leaf::pending()))))
        }
        let child = Graph::builder("child").node("commands", commands::<S>);
        let child = child.node("asks", asks::<Child>).edge(START, "commands").edge(START, "asks");
        let child = child.edge("commands", END).edge("asks", END).build().unwrap();
        calls(Subgraph::new(child, |_: &S| Child::update(), |_: &Child| S::update()))
    }
    for (renames, made) in [(false, 1), (true, 2)] {
        let (store, ledger) = (memory(), Ledger::default());
        let old = fresh(&graph::<base::Two>(), &store);
        let first = base::Two::of(base::One::first());
        assert!(is_waiting(&old.invoke(first, ledger.clone()).await.unwrap()));
        let leaf = if renames {
            let new = fresh(&graph::<renamed::Two>(), &store);
            let live = new.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
            (live.leaf().known.clone(), live.leaf().total)
        } else {
            let live = old.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
            (live.leaf().facts.clone(), live.leaf().count)
        };
        assert_eq!(
            (leaf.0.iter().map(String::as_str).collect::<Vec<_>>(), leaf.1),
            (vec!["a", "b"], 7)
        );
        assert_eq!(ledger.of("commands"), made, "renamed: {renames}");
    }
}
