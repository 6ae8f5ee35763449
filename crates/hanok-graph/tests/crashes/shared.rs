//! Subgraphs that share their caller's state: the caller gets what they added, once, whatever happens on the way.

use hanok_checkpoint::SharedCheckpointer;
use hanok_graph::{
    BoxError, Command, Context, END, Graph, GraphBuilder, Outcome, Persistence, START, Snapshot,
    Subgraph,
};
use hanok_state::{List, Map, Message, Messages, State};
use hanok_testkit::sampled;

use crate::asking::{
    Ledger,
    dying::{Dies, Dying},
    key, lost, memory,
};
use crate::support::numbered;

fn sum(value: &u32, write: u32) -> u32 {
    value + write
}

/// One field of each rule.
#[derive(State, Debug, Clone, Default, PartialEq)]
struct All {
    messages: Messages,
    #[reduce(append)]
    log: List<String>,
    #[reduce(merge)]
    map: Map<String, String>,
    #[reduce(with = sum)]
    sum: u32,
    last: String,
}

/// Writes to every field: what is new and what is there already.
async fn writes(state: Snapshot<All>, cx: Context<Ledger>) -> Result<AllUpdate, BoxError> {
    cx.services().note(cx.node());
    let node = cx.node().to_owned();
    Ok(All::update()
        .message(Message::assistant(node.clone()))
        .message(Message::user(format!("edited by {node}")).with_id("kept"))
        .push_log(node.clone())
        .map([(node.clone(), state.log.len().to_string()), ("both".to_owned(), node.clone())])
        .sum(1)
        .last(node))
}

fn plain(graph: GraphBuilder<All, Ledger>) -> Graph<All, Ledger> {
    graph.runtime(crate::asking::clock::runtime()).build().unwrap()
}

/// Two parallel nodes, but for the last value, and two after them.
fn inner() -> Graph<All, Ledger> {
    async fn side(_: Snapshot<All>, cx: Context<Ledger>) -> Result<AllUpdate, BoxError> {
        cx.services().note(cx.node());
        let node = cx.node().to_owned();
        Ok(All::update().message(node.clone()).push_log(node).sum(10))
    }
    let graph = Graph::builder("inner").node("x", writes).node("side", side).node("y", writes);
    let graph = graph.node("z", writes).edge(START, "x").edge(START, "side");
    plain(graph.join(["x", "side"], "y").edge("y", "z").edge("z", END))
}

/// The same nodes in the graph itself.
fn flat() -> Graph<All, Ledger> {
    async fn side(_: Snapshot<All>, cx: Context<Ledger>) -> Result<AllUpdate, BoxError> {
        let node = cx.node().to_owned();
        Ok(All::update().message(node.clone()).push_log(node).sum(10))
    }
    let graph = Graph::builder("flat").node("a", writes).node("x", writes).node("side", side);
    let graph = graph.node("y", writes).node("z", writes).node("end", writes).edge(START, "a");
    let graph = graph.edge("a", "x").edge("a", "side").join(["x", "side"], "y");
    plain(graph.edge("y", "z").edge("z", "end").edge("end", END))
}

fn nested(levels: u32, persistence: Persistence) -> Graph<All, Ledger> {
    let mut graph = inner();
    for level in 0..levels {
        let subgraph = Subgraph::shared(graph).persistence(persistence);
        let outer = Graph::builder("outer").subgraph("call", subgraph);
        graph = if level + 1 < levels {
            plain(outer.edge(START, "call").edge("call", END))
        } else {
            let outer = outer.node("a", writes).node("end", writes).edge(START, "a");
            plain(outer.edge("a", "call").edge("call", "end").edge("end", END))
        };
    }
    graph
}

fn input() -> AllUpdate {
    let input = All::update().message(Message::user("first").with_id("kept"));
    input.push_log("in").sum(100).last("in".to_owned())
}

/// What a state says, with ids only where they were given.
fn said(state: &All) -> String {
    let messages: Vec<_> = state
        .messages
        .iter()
        .map(|message| format!("{} {}", message.role(), message.text()))
        .collect();
    let log: Vec<_> = state.log.iter().collect();
    let map: Vec<_> = state.map.iter().collect();
    format!("{messages:?} {log:?} {map:?} {} {}", state.sum, state.last)
}

async fn finished(graph: &Graph<All, Ledger>, store: &SharedCheckpointer) -> (All, Ledger) {
    let ledger = Ledger::default();
    let on = graph.checkpointer(store.clone()).thread(key("t"));
    let outcome = on.invoke(input(), ledger.clone()).await.unwrap();
    let Outcome::Done(state) = outcome else { panic!("another outcome: {outcome:?}") };
    assert_eq!(on.state(None).await.unwrap().unwrap(), state);
    (state, ledger)
}

/// B96: each rule gives the caller what the subgraph added and nothing twice, one and three levels deep, with a store and
/// without: the state is that of the same nodes without a subgraph.
#[tokio::test]
async fn the_caller_gets_only_what_a_subgraph_added() {
    let want = said(&finished(&flat(), &memory()).await.0);
    assert!(want.contains(r#"["in", "a", "side", "x", "y", "z", "end"]"#), "{want}");
    for levels in [1, 3] {
        for persistence in [Persistence::PerCall, Persistence::PerThread, Persistence::None] {
            let graph = nested(levels, persistence);
            let (state, ledger) = finished(&graph, &memory()).await;
            assert_eq!(said(&state), want, "{levels} levels, {persistence:?}");
            assert_eq!(ledger.counts(["a", "x", "side", "y", "z", "end"]), [1; 6]);
            let outcome = graph.invoke(input(), Ledger::default()).await.unwrap();
            assert_eq!(said(&outcome.done().unwrap()), want, "{levels} levels, no store");
        }
    }
}

/// B96, P1: whichever write the run dies at, before or after it is stored, the caller gets the same, and nothing that was
/// stored runs again.
#[tokio::test]
async fn a_crash_anywhere_in_a_shared_subgraph_adds_nothing_twice() {
    for levels in [1, 2] {
        let graph = nested(levels, Persistence::PerCall);
        let want = finished(&graph, &memory()).await.0;
        let quiet = hanok_testkit::Dying::at(memory(), usize::MAX, false);
        finished(&graph, &quiet.shared()).await;
        let appends = quiet.appends();
        assert!(appends >= 10, "{appends}");
        let ways = [Dies::Before, Dies::After];
        for (nth, dies) in sampled((1..=appends).flat_map(|nth| ways.map(|dies| (nth, dies)))) {
            let (store, ledger) = (memory(), Ledger::default());
            let dying = Dying::new(&store, (nth, dies), |_| true);
            let on = graph.checkpointer(dying.shared()).thread(key("t"));
            let first = on.invoke(input(), ledger.clone()).await;
            assert!(dying.died(), "{nth} of {appends}");
            first.unwrap_err();
            lost(&store, &key("t")).await;
            let on = graph.checkpointer(store.clone()).thread(key("t"));
            let outcome = match on.state(None).await.unwrap() {
                Some(_) => on.resume(ledger.clone()).await,
                None => on.invoke(input(), ledger.clone()).await,
            };
            let state = outcome.unwrap().done().unwrap();
            let told = |state: &All| All { messages: numbered(&state.messages), ..state.clone() };
            assert_eq!(told(&state), told(&want), "{levels} levels, died at {nth} {dies:?}");
            let again = ["a", "x", "side", "y", "z", "end"].map(|node| ledger.of(node));
            // What was lost with the write that it died at, and nothing else.
            let twice = again.iter().filter(|times| **times > 1).count();
            assert!(again.iter().all(|times| (1..=2).contains(times)) && twice <= 2, "{again:?}");
        }
    }
}

/// B39, B96: a command to the caller loses nothing of what the subgraph's nodes wrote to the state that they share.
#[tokio::test]
async fn a_command_to_the_caller_comes_after_what_was_written() {
    async fn commands(_: Snapshot<All>, _: Context<Ledger>) -> Result<Command<All>, BoxError> {
        let said = All::update().push_log("commanded").sum(10).last("commanded");
        Ok(Command::new()
            .update(All::update().push_log("own").sum(5))
            .parent(Command::<All>::new().update(said).goto("after").only()))
    }
    let inner = Graph::builder("inner")
        .node("writes", writes)
        .node("commands", commands)
        .edge(START, "writes")
        .edge("writes", "commands")
        .edge("commands", END);
    let outer = Graph::builder("outer")
        .subgraph("inner", Subgraph::shared(plain(inner)).goto(["after"]))
        .node("after", writes)
        .edge(START, "inner")
        .edge("inner", END)
        .edge("after", END);
    let (outer, store, ledger) = (plain(outer), memory(), Ledger::default());
    let input = All::update().message(Message::user("hi").with_id("kept")).push_log("in");
    let thread = outer.checkpointer(store).thread(key("t"));
    let kept = thread.invoke(input.clone(), ledger.clone()).await.unwrap().done().unwrap();
    let log: Vec<_> = kept.log.iter().map(String::as_str).collect();
    assert_eq!(log, ["in", "writes", "own", "commanded", "after"]);
    assert_eq!((kept.sum, kept.last.as_str()), (1 + 5 + 10 + 1, "after"));
    assert_eq!(thread.state(None).await.unwrap().unwrap(), kept);
    assert_eq!(outer.invoke(input, ledger).await.unwrap().done().unwrap().log, kept.log);
}
