//! Graphs within graphs: how long their state lives, what the caller gets, and where they go on.

use std::{sync::Arc, time::Duration};

use hanok_core::Cancellation;
use hanok_graph::{
    BoxError, Context, END, Graph, GraphBuilder, Input, Limit, NodeError, NodeExt, Outcome,
    Persistence, RunError, START, SendTo, Snapshot, Subgraph, SubgraphError, Target,
};
use hanok_state::{Message, State};

use crate::asking::{
    Ledger, S, SUpdate, asked, built, key, log, lost, memory, payloads, says, thread, work,
};

/// A state of its own: what the subgraph has seen so far, in `log` and `n`.
async fn count(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("count");
    tokio::task::yield_now().await;
    Ok(S::update().n(state.n + 1).push_log(format!("{} calls", state.n + 1)))
}

fn counting(name: &str) -> GraphBuilder<S, Ledger> {
    let graph = Graph::builder(name).node("count", count).node("last", work);
    graph.edge(START, "count").edge("count", "last").edge("last", END)
}

fn called(persistence: Persistence) -> Graph<S, Ledger> {
    let subgraph = Subgraph::new(
        built(counting("inner")),
        |_: &S| S::update().push_log("in"),
        |inner: &S| S::update().n(inner.n).push_log(log(inner).join(" ")),
    );
    let graph = Graph::builder("outer").subgraph("call", subgraph.persistence(persistence));
    built(graph.node("end", work).edge(START, "call").edge("call", "end").edge("end", END))
}

/// B94: what each call begins with, over three turns, each in another process, and what is stored of the subgraph.
#[tokio::test]
async fn a_subgraphs_state_lives_as_long_as_it_says() {
    for (persistence, last, stored) in [
        (Persistence::PerCall, "in 1 calls last", 0),
        (Persistence::PerThread, "in 1 calls last in 2 calls last in 3 calls last", 1),
        (Persistence::None, "in 1 calls last", 0),
    ] {
        let (graph, store, ledger) = (called(persistence), memory(), Ledger::default());
        let mut state = S::default();
        for _ in 0..3 {
            let outcome = thread(&graph, &store).invoke(S::update(), ledger.clone()).await;
            state = outcome.unwrap().done().unwrap();
        }
        assert_eq!(log(&state)[4], last, "{persistence:?}");
        let on = thread(&graph, &store);
        assert_eq!(on.views(None).await.unwrap().len(), 1 + stored, "{persistence:?}");
        let inner = crate::asking::entries(&on).await;
        let inner = inner.iter().filter(|entry| !entry.entry.namespace.is_root()).count();
        assert_eq!(inner > 0, persistence != Persistence::None, "{persistence:?}");
        // Without a store each run is the first.
        let state = graph.invoke(S::update(), ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&state)[0], "in 1 calls last", "{persistence:?}");
    }
}

/// B94: a crash in the middle of a call: it goes on where it was, or, if nothing is stored, begins anew.
#[tokio::test(start_paused = true)]
async fn a_call_that_crashed_goes_on_or_begins_anew() {
    for (persistence, counted) in
        [(Persistence::PerCall, 1), (Persistence::PerThread, 1), (Persistence::None, 2)]
    {
        let (graph, store, ledger) = (called(persistence), memory(), Ledger::default());
        ledger.hang(&["last"]);
        let on = thread(&graph, &store);
        let run = on.invoke(S::update(), ledger.clone());
        tokio::time::timeout(Duration::from_secs(1), run).await.unwrap_err();
        lost(&store, &key("t")).await;
        ledger.hang(&[]);
        let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&state), ["in 1 calls last", "end"], "{persistence:?}");
        assert_eq!(ledger.counts(["count", "last", "end"]), [counted, 2, 1], "{persistence:?}");
        // The state of the thread's subgraph was not counted twice.
        let state = thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap();
        let calls = if persistence == Persistence::PerThread { 2 } else { 1 };
        assert_eq!(state.done().unwrap().n, calls, "{persistence:?}");
    }
}

/// B94 (none): nobody can be asked where nothing is stored, and the error says so.
#[tokio::test]
async fn nobody_can_be_asked_in_a_subgraph_that_stores_nothing() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("well?").await?))
    }
    let inner = Graph::builder("inner").node("ask", ask).edge(START, "ask").edge("ask", END);
    let subgraph = Subgraph::shared(built(inner)).persistence(Persistence::None);
    let graph = Graph::builder("outer").subgraph("call", subgraph);
    let graph = built(graph.edge(START, "call").edge("call", END));
    let error = thread(&graph, &memory()).invoke(S::update(), Ledger::default()).await;
    let error = error.unwrap_err();
    let said = format!("{error:?}");
    assert!(matches!(error, RunError::Node { source: NodeError::Failed(_), .. }), "{said}");
    assert!(said.contains("Nobody") && said.contains("needs a checkpointer"), "{said}");
}

/// B95: two graphs that one node calls, one of them twice, and the same graph in another node: five states.
#[tokio::test]
async fn the_states_of_subgraphs_do_not_mix() {
    async fn calls(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let mut said = Vec::new();
        for graph in ["one", "two", "one"] {
            let graph = built(counting(graph));
            let input = S::update().push_log(cx.node().to_owned());
            let services = cx.services().clone();
            let ended = cx.run_as(Persistence::PerThread, &graph, input, services).await?.done()?;
            said.push(format!("{} {}", ended.n, ended.log.len()));
        }
        Ok(says(format!("{}: {}", cx.node(), said.join(", "))))
    }
    let graph = Graph::builder("outer").node("a", calls).node("b", calls);
    let graph = built(graph.edge(START, "a").edge("a", "b").edge("b", END));
    let (store, ledger) = (memory(), Ledger::default());
    for turn in 1..=3 {
        let on = thread(&graph, &store);
        let state = on.invoke(S::update(), ledger.clone()).await.unwrap().done().unwrap();
        let each = format!("{turn} {}", 3 * turn);
        for (i, node) in ["a", "b"].into_iter().enumerate() {
            let want = format!("{node}: {each}, {each}, {each}");
            assert_eq!(log(&state)[2 * (turn - 1) + i], want);
        }
        assert_eq!(on.views(None).await.unwrap().len(), 1 + 6);
    }
}

/// B94: two tasks of one node cannot share one state at the same time; one after the other they can.
#[tokio::test]
async fn two_tasks_at_once_cannot_share_a_state() {
    async fn each(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let (graph, services) = (built(counting("one")), cx.services().clone());
        let called = cx.run_as(Persistence::PerThread, &graph, S::update(), services).await;
        match called {
            Err(SubgraphError::Busy { graph }) => Ok(says(format!("{graph} is busy"))),
            called => Ok(says(format!("{} calls", called?.done()?.n))),
        }
    }
    let sends =
        |_: &S| (0..3u32).map(|n| Target::from(SendTo::new("each", &n))).collect::<Vec<_>>();
    let graph = Graph::builder("sends").node("each", each);
    let graph = graph.branch(START, sends, ["each"]).edge("each", END);
    let (store, ledger) = (memory(), Ledger::default());
    let at_once = built(graph);
    let state = thread(&at_once, &store).invoke(S::update(), ledger.clone()).await.unwrap();
    let state = state.done().unwrap();
    let busy = log(&state).iter().filter(|line| **line == "one is busy").count();
    assert_eq!(busy, 2, "{:?}", log(&state));

    let graph = Graph::builder("sends").node("each", each.concurrency(1));
    let (in_turn, store) =
        (built(graph.branch(START, sends, ["each"]).edge("each", END)), memory());
    let state = thread(&in_turn, &store).invoke(S::update(), ledger).await.unwrap();
    let state = state.done().unwrap();
    let mut said = log(&state);
    said.sort_unstable();
    assert_eq!(said, ["1 calls", "2 calls", "3 calls"]);
}

/// B67: a question three levels deep comes up with its path, and the answer goes on there; what was done on the way, on
/// each level, is not done again.
#[tokio::test]
async fn a_question_three_levels_deep_is_answered_there() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("ask");
        Ok(says(cx.interrupt::<String>("deep?").await?))
    }
    fn level(name: &str, below: Option<Graph<S, Ledger>>) -> Graph<S, Ledger> {
        let (before, after) = (format!("{name} before"), format!("{name} after"));
        let graph = Graph::builder(name).node(&before, work).node(&after, work);
        let graph = match below {
            Some(below) => graph.subgraph("call", Subgraph::shared(below)),
            None => graph.node("call", ask),
        };
        let graph = graph.edge(START, &before).edge(&before, "call");
        built(graph.edge("call", &after).edge(&after, END))
    }
    let graph = level("0", Some(level("1", Some(level("2", Some(level("3", None)))))));
    let (store, ledger) = (memory(), Ledger::default());
    let asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!(payloads(&asking), ["deep?"]);
    assert_eq!((asking[0].node.as_str(), asking[0].path.depth()), ("call", 3));
    let views = thread(&graph, &store).views(None).await.unwrap();
    let next: Vec<_> = views.iter().map(|view| (view.path.depth(), view.next.join(","))).collect();
    assert_eq!(next, (0..4).map(|depth| (depth, "call".to_owned())).collect::<Vec<_>>());

    let state = thread(&graph, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    let want = [
        "0 before", "1 before", "2 before", "3 before", "yes", "3 after", "2 after", "1 after",
        "0 after",
    ];
    assert_eq!(log(&state), want);
    for node in want.iter().filter(|node| **node != "yes") {
        assert_eq!(ledger.of(node), 1, "{node}");
    }
    assert_eq!(ledger.of("ask"), 2);
}

/// B97: a paused subgraph shows its values, what is next and what it asks; its path alone is enough to edit its state,
/// and what it then does counts on that.
#[tokio::test]
async fn a_paused_subgraph_can_be_looked_at_and_edited() {
    async fn ask(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let said: String = cx.interrupt("well?").await?;
        Ok(says(format!("{said} {}", state.n)))
    }
    let inner = || {
        let inner = Graph::builder("inner").node("first", work).node("ask", ask);
        built(inner.edge(START, "first").edge("first", "ask").edge("ask", END))
    };
    let subgraph = Subgraph::new(
        inner(),
        |_: &S| S::update().n(1),
        |inner: &S| S::update().log(inner.log.iter().cloned()),
    );
    let graph = Graph::builder("outer").subgraph("call", subgraph);
    let graph = built(graph.edge(START, "call").edge("call", END));
    let (store, ledger) = (memory(), Ledger::default());
    let asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let on = thread(&graph, &store);
    let view = on.views(None).await.unwrap().pop().unwrap();
    assert_eq!((view.next.as_slice(), &view.requests), (["ask".to_owned()].as_slice(), &asking));
    assert_eq!(view.values.to_string(), r#"{"log":["first"],"messages":[],"n":1}"#);
    assert_eq!(view.path, asking[0].path);

    let update = S::update().n(42).push_log("edited");
    let at = on.edit_subgraph(&view.path, &inner(), update).await.unwrap();
    let view = on.views(Some(at)).await.unwrap().pop().unwrap();
    assert_eq!(view.values.to_string(), r#"{"log":["first","edited"],"messages":[],"n":42}"#);
    assert_eq!(view.requests, asking);
    let nowhere = view.path.child("x").unwrap();
    let error = on.edit_subgraph(&nowhere, &inner(), S::update()).await.unwrap_err();
    assert!(matches!(error, RunError::NoSuchSubgraph { path, .. } if path == nowhere));
    let state = on.reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["first", "edited", "yes 42"]);
    assert_eq!(ledger.of("first"), 1);
}

/// B98: a cancellation, a drain and the thread's limit of super-steps reach a subgraph, which goes on where it was.
#[tokio::test(start_paused = true)]
async fn a_subgraph_stops_and_goes_on_with_its_run() {
    for by in ["cancelled", "drained", "limit"] {
        let (graph, store, ledger) = (called(Persistence::PerCall), memory(), Ledger::default());
        let stop = Cancellation::default();
        let on = thread(&graph, &store);
        let on = match by {
            "cancelled" => on.cancellation(stop.clone()),
            "drained" => on.drain(stop.clone()),
            _ => on.recursion_limit(1),
        };
        if by == "cancelled" {
            ledger.hang(&["last"]);
        }
        let slow = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            stop.cancel();
        };
        if by == "drained" {
            stop.cancel();
        }
        let (ended, ()) = tokio::join!(on.invoke(S::update(), ledger.clone()), slow);
        match (by, ended) {
            ("cancelled", Ok(Outcome::Cancelled(_))) | ("drained", Ok(Outcome::Drained(_))) => {}
            ("limit", Err(RunError::Node { source: NodeError::Failed(source), .. })) => {
                assert!(source.to_string().contains("limit of 1 super-step,"), "{source}");
            }
            (_, other) => panic!("{by}: {other:?}"),
        }
        let before = if by == "drained" { 0 } else { 1 };
        assert_eq!(ledger.of("count"), before, "{by}");
        ledger.hang(&[]);
        let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&state), ["in 1 calls last", "end"], "{by}");
        assert_eq!(ledger.of("count"), 1, "{by}");
    }
}

/// B98: drained in the middle of a subgraph, the run ends after the subgraph's super-step.
#[tokio::test]
async fn a_drain_ends_the_run_after_the_super_step_of_the_subgraph() {
    async fn drains(
        _: Snapshot<S>,
        cx: Context<(Ledger, Cancellation)>,
    ) -> Result<SUpdate, BoxError> {
        cx.services().0.note(cx.node());
        cx.services().1.cancel();
        Ok(says(cx.node()))
    }
    let inner = Graph::<S, (Ledger, Cancellation)>::builder("inner").node("x", drains);
    let inner = inner.node("y", drains).edge(START, "x").edge("x", "y").edge("y", END);
    let subgraph = Subgraph::shared(inner.build().unwrap());
    let graph = Graph::builder("outer").subgraph("call", subgraph);
    let graph = graph.edge(START, "call").edge("call", END).build().unwrap();
    let (store, services) = (memory(), (Ledger::default(), Cancellation::default()));
    let on = graph.checkpointer(store.clone()).thread(key("t")).drain(services.1.clone());
    let outcome = on.invoke(S::update(), services.clone()).await.unwrap();
    assert!(matches!(outcome, Outcome::Drained(_)));
    assert_eq!(services.0.counts(["x", "y"]), [1, 0]);
    let on = graph.checkpointer(store).thread(key("t"));
    let state = on.resume(services.clone()).await.unwrap().done().unwrap();
    assert_eq!((log(&state), services.0.counts(["x", "y"])), (vec!["x", "y"], [1, 1]));
}

/// Calls itself until it is so deep.
fn nest(
    state: Snapshot<S>,
    cx: Context<Ledger>,
) -> futures::future::BoxFuture<'static, Result<SUpdate, BoxError>> {
    Box::pin(async move {
        cx.services().note("nest");
        if state.n == 0 {
            return Ok(says("ground"));
        }
        let graph = Graph::<S, Ledger>::builder("nest").node("nest", nest);
        let graph = built(graph.edge(START, "nest").edge("nest", END));
        let below = cx.run(&graph, S::update().n(state.n - 1), cx.services().clone()).await?;
        Ok(S::update().log(below.done()?.log.iter().cloned()).n(state.n))
    })
}

/// P22: sixteen graphs deep, on a thread with a usual stack; one more is a typed error.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn graphs_nest_sixteen_deep_and_no_deeper() {
    for store in [true, false] {
        for (depth, fits) in [(16, true), (17, false), (500, false)] {
            let graph = Graph::<S, Ledger>::builder("nest").node("nest", nest);
            let graph = built(graph.edge(START, "nest").edge("nest", END));
            let ledger = Ledger::default();
            let of_run = ledger.clone();
            let ended = tokio::spawn(async move {
                match store {
                    true => thread(&graph, &memory()).invoke(S::update().n(depth), of_run).await,
                    false => graph.invoke(S::update().n(depth), of_run).await,
                }
            });
            match ended.await.unwrap() {
                Ok(outcome) => {
                    assert!(fits);
                    assert_eq!(log(&outcome.done().unwrap()), ["ground"]);
                }
                Err(error) => {
                    assert!(!fits, "{error:?}");
                    let deepest =
                        std::iter::successors(Some(&error as &dyn std::error::Error), |e| {
                            e.source()
                        })
                        .last();
                    assert!(deepest.unwrap().to_string().contains("more than 16 graphs deep"));
                }
            }
            assert_eq!(ledger.of("nest"), 17);
        }
    }
}

/// B94, invariant 4: the state that a subgraph keeps for the thread is there after a snapshot too, also when its last call
/// did not come to its end.
#[tokio::test]
async fn a_snapshot_keeps_the_state_of_a_subgraph_whose_call_did_not_end() {
    const LONG: usize = 100_000;
    async fn grow(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        if cx.services().fails("grow") {
            return Err("out of order".into());
        }
        Ok(S::update().n(state.n + 1))
    }
    async fn calls(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let graph = Graph::builder("grow").node("grow", grow).node("more", grow);
        let graph = built(graph.edge(START, "grow").edge("grow", "more").edge("more", END));
        let services = cx.services().clone();
        let said = match cx.run_as(Persistence::PerThread, &graph, S::update(), services).await {
            Ok(ended) => ended.done()?.n.to_string(),
            Err(_) => "failed".to_owned(),
        };
        Ok(S::update().push_log(said).message(Message::user("short").with_id("m")))
    }
    let graph = Graph::builder("outer").node("calls", calls).node("again", work);
    let graph = graph.edge(START, "calls").edge("calls", "again").edge("again", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    for turn in 0..6 {
        let failing: &[&str] = if turn == 2 || turn == 3 { &["grow"] } else { &[] };
        ledger.fail(failing);
        let on = thread(&graph, &store);
        // What makes a snapshot due in every turn: nothing of it stays.
        let long = Message::user("x".repeat(LONG)).with_id("m");
        on.invoke(S::update().message(long), ledger.clone()).await.unwrap().done().unwrap();
        // Snapshots are written beside the run.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }
    let opened = thread(&graph, &store).log().open(None).await.unwrap().unwrap();
    let (snapshot, since) = opened.sizes;
    assert!(snapshot > 0 && since < LONG, "no snapshot was written: {:?}", opened.sizes);
    let state = thread(&graph, &store).state(None).await.unwrap().unwrap();
    let said: Vec<_> = log(&state).into_iter().filter(|line| *line != "again").collect();
    assert_eq!(said, ["2", "4", "failed", "failed", "6", "8"]);
}

/// B61, B67: where subgraphs ask in parallel, each is answered for itself, and one that still waits does nothing again.
#[tokio::test]
async fn parallel_subgraphs_are_answered_one_by_one() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let path = cx.namespace().segments().next().unwrap_or_default().to_owned();
        let name = path.split('#').next().unwrap_or_default().to_owned();
        cx.services().note(&name);
        Ok(says(cx.interrupt::<String>(&name).await?))
    }
    let inner = || {
        let inner = Graph::builder("inner").node("ask", ask).edge(START, "ask").edge("ask", END);
        Subgraph::shared(built(inner))
    };
    let mut graph = Graph::builder("outer");
    for node in ["a", "b", "c"] {
        graph = graph.subgraph(node, inner()).edge(START, node).edge(node, END);
    }
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let mut asking = asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!(payloads(&asking), ["a", "b", "c"]);
    for (i, node) in ["c", "a", "b"].into_iter().enumerate() {
        let id = crate::asking::id_of(&asking, node);
        let input = Input::answer(id, &node.to_uppercase()).unwrap();
        let outcome = thread(&graph, &store).run(input, ledger.clone()).await;
        assert_eq!(ledger.of(node), 2);
        if i < 2 {
            asking = asked(outcome);
            assert_eq!(asking.len(), 2 - i);
        } else {
            assert_eq!(log(&outcome.unwrap().done().unwrap()), ["A", "B", "C"]);
        }
    }
    assert_eq!(ledger.counts(["a", "b", "c"]), [2, 2, 2]);
}

/// B94: each `SendTo` to a subgraph is a call of its own, with its own input.
#[tokio::test]
async fn each_send_to_a_node_that_calls_a_graph_is_a_call_of_its_own() {
    async fn each(_: Snapshot<S>, cx: Context<Arc<Graph<S, Ledger>>>) -> Result<SUpdate, BoxError> {
        let n: u32 = cx.input()?.unwrap_or_default();
        let inner = cx.services().clone();
        let ended = cx.run(&inner, S::update().n(n * 10), Ledger::default()).await?.done()?;
        Ok(says(ended.n.to_string()))
    }
    let sends =
        |_: &S| (0..4u32).map(|n| Target::from(SendTo::new("each", &n))).collect::<Vec<_>>();
    let graph = Graph::<S, Arc<Graph<S, Ledger>>>::builder("sends").node("each", each);
    let graph = graph.branch(START, sends, ["each"]).edge("each", END).build().unwrap();
    let on = graph.checkpointer(memory()).thread(key("t")).recursion_limit(2);
    let outcome = on.invoke(S::update(), Arc::new(built(counting("inner")))).await.unwrap();
    assert!(!matches!(outcome, Outcome::LimitReached { which: Limit::Steps(_), .. }));
    assert_eq!(log(&outcome.done().unwrap()), ["1", "11", "21", "31"]);
}
