//! Breakpoints: where a run stops for somebody to look, and that it goes on exactly once.

use std::time::Duration;

use hanok_core::Namespace;
use hanok_graph::{
    BoxError, Breakpoint, Context, END, Graph, GraphBuilder, NewInput, Outcome, Persistence,
    RunError, START, Snapshot, Subgraph, Unfinished,
};
use hanok_state::State;

use crate::asking::{Ledger, S, SUpdate, asked, built, key, log, lost, memory, says, thread, work};

fn chain() -> GraphBuilder<S, Ledger> {
    let graph = Graph::builder("chain").node("a", work).node("b", work).node("c", work);
    graph.edge(START, "a").edge("a", "b").edge("b", "c").edge("c", END)
}

fn stopped(outcome: Result<Outcome<S>, RunError>) -> Breakpoint<S> {
    match outcome.unwrap() {
        Outcome::Breakpoint(at) => at,
        other => panic!("another outcome: {other:?}"),
    }
}

/// B66: where it stops, what is next there, what had run, and what runs after it; each resume passes one stop.
#[tokio::test]
async fn a_run_stops_before_and_after_nodes_and_a_resume_passes_once() {
    // (before, after, the stops: nodes, next, log)
    type Stops = Vec<(Vec<&'static str>, Vec<&'static str>, Vec<&'static str>)>;
    let table: Vec<(Vec<&str>, Vec<&str>, Stops)> = vec![
        (vec!["a"], vec![], vec![(vec!["a"], vec!["a"], vec![])]),
        (vec!["b"], vec![], vec![(vec!["b"], vec!["b"], vec!["a"])]),
        (vec![], vec!["b"], vec![(vec!["b"], vec!["c"], vec!["a", "b"])]),
        (vec!["b"], vec!["a"], vec![(vec!["a", "b"], vec!["b"], vec!["a"])]),
        (vec![], vec!["c"], vec![]),
        (
            vec!["b", "c"],
            vec![],
            vec![(vec!["b"], vec!["b"], vec!["a"]), (vec!["c"], vec!["c"], vec!["a", "b"])],
        ),
    ];
    for (before, after, stops) in table {
        let graph = built(chain().interrupt_before(&before).interrupt_after(&after));
        let (store, ledger) = (memory(), Ledger::default());
        let mut outcome = thread(&graph, &store).invoke(S::update(), ledger.clone()).await;
        for (nodes, next, had) in stops {
            let at = stopped(outcome);
            assert_eq!((at.nodes, at.next, at.path.depth()), (owned(&nodes), owned(&next), 0));
            assert_eq!(log(&at.state), had);
            outcome = thread(&graph, &store).resume(ledger.clone()).await;
        }
        assert_eq!(log(&outcome.unwrap().done().unwrap()), ["a", "b", "c"], "{before:?} {after:?}");
        assert_eq!(ledger.counts(["a", "b", "c"]), [1, 1, 1]);
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// B66: without a store a run stops too, and nothing of what is behind the stop has run.
#[tokio::test]
async fn a_run_without_a_store_stops_at_its_breakpoint() {
    let ledger = Ledger::default();
    let graph = built(chain().interrupt_before(["b"]));
    let at = stopped(graph.invoke(S::update(), ledger.clone()).await);
    assert_eq!((at.nodes, log(&at.state)), (owned(&["b"]), vec!["a"]));
    assert_eq!(ledger.counts(["a", "b", "c"]), [1, 0, 0]);
}

/// B66: the state may be edited where a run stopped; the edit is what the next node sees, and it is passed once.
#[tokio::test]
async fn the_state_may_be_edited_where_a_run_stopped() {
    async fn doubles(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("b");
        Ok(S::update().n(state.n * 2).push_log("b"))
    }
    let graph = Graph::builder("edited").node("a", work).node("b", doubles);
    let graph = graph.edge(START, "a").edge("a", "b").edge("b", END).interrupt_before(["b"]);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    stopped(thread(&graph, &store).invoke(S::update().n(1), ledger.clone()).await);
    thread(&graph, &store).edit(S::update().n(21).push_log("edited")).await.unwrap();
    thread(&graph, &store).edit(S::update().push_log("twice")).await.unwrap();
    let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!((state.n, log(&state)), (42, vec!["a", "edited", "twice", "b"]));
    assert_eq!(ledger.counts(["a", "b"]), [1, 1]);
}

/// B66: in a loop the run stops in each round.
#[tokio::test]
async fn a_loop_stops_in_each_round() {
    async fn count(state: Snapshot<S>, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(S::update().n(state.n + 1))
    }
    let graph = Graph::builder("loop").node("count", count).edge(START, "count");
    let router = |s: &S| if s.n < 4 { "count" } else { END };
    let graph = graph.branch("count", router, ["count", END]).interrupt_before(["count"]);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let mut outcome = thread(&graph, &store).invoke(S::update(), ledger.clone()).await;
    for round in 0..4 {
        assert_eq!(stopped(outcome).state.n, round);
        outcome = thread(&graph, &store).resume(ledger.clone()).await;
    }
    assert_eq!(outcome.unwrap().done().unwrap().n, 4);
}

/// B66: a stop that was passed is not made again by what happens behind it: a crash, a failure, a question.
#[tokio::test(start_paused = true)]
async fn a_breakpoint_that_was_passed_stays_passed() {
    async fn asks(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        if cx.services().note("b") == 1 {
            cx.interrupt::<String>("b?").await?;
        }
        Ok(says(cx.interrupt::<String>("b?").await?))
    }
    for behind in ["crash", "failure", "question"] {
        let graph = match behind {
            "question" => {
                let graph = Graph::builder("asks").node("a", work).node("b", asks).node("c", work);
                graph.edge(START, "a").edge("a", "b").edge("b", "c").edge("c", END)
            }
            _ => chain(),
        };
        let graph = built(graph.interrupt_before(["b"]));
        let (store, ledger) = (memory(), Ledger::default());
        stopped(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
        let on = thread(&graph, &store);
        match behind {
            "crash" => {
                ledger.hang(&["b"]);
                let run = on.resume(ledger.clone());
                tokio::time::timeout(Duration::from_secs(1), run).await.unwrap_err();
                lost(&store, &key("t")).await;
                ledger.hang(&[]);
            }
            "failure" => {
                ledger.fail(&["b"]);
                on.resume(ledger.clone()).await.unwrap_err();
                ledger.fail(&[]);
            }
            _ => {
                asked(on.resume(ledger.clone()).await);
            }
        }
        let on = thread(&graph, &store);
        let outcome = match behind {
            "question" => on.reply("b", ledger.clone()).await,
            _ => on.resume(ledger.clone()).await,
        };
        assert_eq!(log(&outcome.unwrap().done().unwrap()), ["a", "b", "c"], "{behind}");
        assert_eq!(ledger.counts(["a", "b", "c"]), [1, 2, 1], "{behind}");
    }
}

/// B66: a crash between the stop and the resume changes nothing: the stop is in the log.
#[tokio::test]
async fn a_breakpoint_is_kept_for_another_process() {
    let (store, ledger) = (memory(), Ledger::default());
    let graph = built(chain().interrupt_before(["b"]));
    stopped(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let views = thread(&graph, &store).views(None).await.unwrap();
    assert_eq!(views[0].next, ["b"]);
    let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["a", "b", "c"]);
    assert_eq!(ledger.counts(["a", "b", "c"]), [1, 1, 1]);
}

/// B66, B68: a new input for a thread that stopped is refused, or takes the turn's place.
#[tokio::test]
async fn a_new_input_for_a_thread_that_stopped_is_refused_or_replaces() {
    let (store, ledger) = (memory(), Ledger::default());
    let graph = built(chain().interrupt_before(["b"]));
    stopped(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let refused = thread(&graph, &store).invoke(says("new"), ledger.clone()).await.unwrap_err();
    let RunError::Unfinished { why: Unfinished::Breakpoint(next), .. } = refused else {
        panic!("another error: {refused}");
    };
    assert_eq!(next, ["b"]);
    let replacing = thread(&graph, &store).new_input(NewInput::Replace);
    let at = stopped(replacing.invoke(says("new"), ledger.clone()).await);
    assert_eq!(log(&at.state), ["a", "new", "a"]);
    assert_eq!(ledger.counts(["a", "b"]), [2, 0]);
}

fn nested(persistence: Persistence) -> Graph<S, Ledger> {
    let inner = Graph::builder("inner").node("x", work).node("y", work);
    let inner = inner.edge(START, "x").edge("x", "y").edge("y", END).interrupt_before(["y"]);
    let subgraph = Subgraph::new(
        built(inner),
        |state: &S| S::update().n(state.n),
        |inner: &S| S::update().log(inner.log.iter().cloned()),
    );
    let graph = Graph::builder("outer").node("a", work);
    let graph = graph.subgraph("call", subgraph.persistence(persistence)).node("c", work);
    built(graph.edge(START, "a").edge("a", "call").edge("call", "c").edge("c", END))
}

/// B66, B67: a breakpoint of a subgraph stops the whole run, says where, and is passed once; the subgraph's state may be
/// edited there.
#[tokio::test]
async fn a_breakpoint_of_a_subgraph_stops_the_whole_run() {
    for persistence in [Persistence::PerCall, Persistence::PerThread] {
        let (graph, store, ledger) = (nested(persistence), memory(), Ledger::default());
        let at = stopped(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
        assert_eq!((at.nodes, at.next), (owned(&["y"]), owned(&["y"])));
        assert_eq!(at.path.depth(), 1);
        assert_eq!(log(&at.state), ["a"]);
        assert_eq!(ledger.counts(["a", "x", "y", "c"]), [1, 1, 0, 0]);

        let views = thread(&graph, &store).views(None).await.unwrap();
        assert_eq!(
            (views[0].path.clone(), views[0].next.clone()),
            (Namespace::root(), owned(&["call"]))
        );
        assert_eq!(
            (views[1].path.clone(), views[1].next.clone()),
            (at.path.clone(), owned(&["y"]))
        );
        let inner = Graph::<S, Ledger>::builder("inner").node("x", work).edge(START, "x");
        let inner = inner.edge("x", END).build().unwrap();
        let edited = thread(&graph, &store).edit_subgraph(&at.path, &inner, says("edited")).await;
        edited.unwrap();
        let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&state), ["a", "x", "edited", "y", "c"]);
        assert_eq!(ledger.counts(["a", "x", "y", "c"]), [1, 1, 1, 1]);
        // The next turn stops there again.
        stopped(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    }
}

/// B66, B94 (none): a subgraph that stores nothing has nowhere to stop, so a run goes past its breakpoints.
#[tokio::test]
async fn a_subgraph_that_stores_nothing_does_not_stop() {
    let (graph, store, ledger) = (nested(Persistence::None), memory(), Ledger::default());
    let state = thread(&graph, &store).invoke(S::update(), ledger.clone()).await;
    assert_eq!(log(&state.unwrap().done().unwrap()), ["a", "x", "y", "c"]);
}

/// B66: the breakpoints of a handle are those of its runs alone, beside those of the graph; a name that is no node's is refused
/// before anything is stored.
#[tokio::test]
async fn a_run_has_breakpoints_of_its_own() {
    let (graph, store, ledger) =
        (built(chain().interrupt_before(["c"])), memory(), Ledger::default());
    let on = || thread(&graph, &store);
    let unknown = on().interrupt_after(["d"]).invoke(S::update(), ledger.clone()).await;
    assert!(matches!(unknown, Err(RunError::NoSuchNode { node, .. }) if node == "d"));
    assert!(on().state(None).await.unwrap().is_none());
    let at = stopped(on().interrupt_after(["a"]).invoke(S::update(), ledger.clone()).await);
    assert_eq!((at.nodes, at.next), (owned(&["a"]), owned(&["b"])));
    let at = stopped(on().interrupt_before(["b"]).resume(ledger.clone()).await);
    assert_eq!(
        (at.nodes, log(&at.state)),
        (owned(&["c"]), vec!["a", "b"]),
        "the stop is passed once"
    );
    assert_eq!(log(&on().resume(ledger.clone()).await.unwrap().done().unwrap()), ["a", "b", "c"]);
    assert_eq!(ledger.counts(["a", "b", "c"]), [1, 1, 1]);
}

/// B66: a stop at all nodes, of the graph or of a run, is one before, or after, each super-step; nodes of a subgraph are those
/// of its own graph.
#[tokio::test]
async fn a_run_stops_at_all_nodes() {
    for of_graph in [true, false] {
        for before in [true, false] {
            let graph = match (of_graph, before) {
                (true, true) => chain().interrupt_before_all(),
                (true, false) => chain().interrupt_after_all(),
                (false, _) => chain(),
            };
            let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
            let on = || match (of_graph, before) {
                (true, _) => thread(&graph, &store),
                (false, true) => thread(&graph, &store).interrupt_before_all(),
                (false, false) => thread(&graph, &store).interrupt_after_all(),
            };
            let mut outcome = on().invoke(S::update(), ledger.clone()).await;
            let mut stops = Vec::new();
            while let Ok(Outcome::Breakpoint(at)) = &outcome {
                stops.push(at.nodes.join("+"));
                outcome = on().resume(ledger.clone()).await;
            }
            assert_eq!(stops, if before { vec!["a", "b", "c"] } else { vec!["a", "b"] });
            assert_eq!(log(&outcome.unwrap().done().unwrap()), ["a", "b", "c"]);
        }
    }
}
