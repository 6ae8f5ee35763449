//! Running a graph: super-steps, routes, limits and failures.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use hanok_graph::{
    BoxError, Command, Context, END, Graph, Limit, NodeError, NodeExt, Outcome, RunError, START,
    SendTo, Snapshot,
};
use hanok_state::{List, State};

#[derive(State, Debug, Clone, Default)]
struct S {
    #[reduce(append)]
    log: List<String>,
    n: u32,
    plan: String,
}

fn log(state: &S) -> Vec<&str> {
    state.log.iter().map(String::as_str).collect()
}

fn says(text: impl Into<String>) -> SUpdate {
    S::update().push_log(text.into())
}

/// A node that appends its name after a while.
fn slow(
    ms: u64,
) -> impl Fn(Snapshot<S>, Context) -> futures::future::BoxFuture<'static, Result<SUpdate, BoxError>>
{
    move |_, cx| {
        Box::pin(async move {
            cx.runtime().clock.sleep(Duration::from_millis(ms)).await;
            Ok(says(cx.node()))
        })
    }
}

async fn nothing(_: Snapshot<S>, _: Context) -> Result<(), BoxError> {
    Ok(())
}

async fn count(state: Snapshot<S>, _: Context) -> Result<SUpdate, BoxError> {
    Ok(S::update().n(state.n + 1))
}

/// B11: whoever is first, the order is the tasks'.
#[tokio::test(start_paused = true)]
async fn what_parallel_nodes_write_is_merged_in_the_order_of_their_names() {
    let graph = Graph::<S>::builder("fan")
        .node("src", nothing)
        .node("a", slow(30))
        .node("b", slow(20))
        .node("c", slow(10))
        .node("end", slow(0))
        .edge(START, "src")
        .edge("src", "c")
        .edge("src", "a")
        .edge("src", "b")
        .edge("a", "end")
        .edge("b", "end")
        .edge("c", "end")
        .edge("end", END)
        .build()
        .unwrap();
    for _ in 0..20 {
        let state = graph.invoke(S::update(), ()).await.unwrap().done().unwrap();
        assert_eq!(log(&state), ["a", "b", "c", "end"]);
    }
}

/// B30: siblings run together.
#[tokio::test(start_paused = true)]
async fn siblings_run_together() {
    let graph = Graph::<S>::builder("fan")
        .node("a", slow(100))
        .node("b", slow(100))
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", END)
        .edge("b", END)
        .build()
        .unwrap();
    let before = tokio::time::Instant::now();
    graph.invoke(S::update(), ()).await.unwrap();
    assert!(before.elapsed() < Duration::from_millis(150));
}

/// B10: named, and nothing applied.
#[tokio::test]
async fn two_writers_of_one_value_fail_the_run_and_are_named() {
    async fn plan(_: Snapshot<S>, cx: Context) -> Result<SUpdate, BoxError> {
        Ok(S::update().plan(cx.node().to_owned()).push_log("x"))
    }
    let graph = Graph::<S>::builder("two")
        .node("a", plan)
        .node("b", plan)
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", END)
        .edge("b", END)
        .build()
        .unwrap();
    let RunError::Reduce { source, .. } = graph.invoke(S::update(), ()).await.unwrap_err() else {
        panic!("another error");
    };
    assert_eq!(source.field, "plan");
    assert_eq!(source.nodes, [Arc::from("a"), Arc::from("b")]);
}

/// B34: a router sees its own node's writes.
#[tokio::test]
async fn a_router_sees_what_its_own_node_wrote() {
    let graph = Graph::<S>::builder("loop")
        .node("count", count)
        .edge(START, "count")
        .branch("count", |s: &S| if s.n < 5 { "count" } else { END }, ["count", END])
        .build()
        .unwrap();
    assert_eq!(graph.invoke(S::update(), ()).await.unwrap().done().unwrap().n, 5);
}

/// B35: several targets, none, and END among others.
#[tokio::test]
async fn a_router_may_name_several_targets_or_none() {
    let graph = Graph::<S>::builder("several")
        .node("a", nothing)
        .node("b", slow(0))
        .node("c", slow(0))
        .edge(START, "a")
        .branch("a", |_: &S| vec!["c", END, "b"], ["b", "c", END])
        .branch("b", |_: &S| Vec::<String>::new(), [END])
        .edge("c", END)
        .build()
        .unwrap();
    let state = graph.invoke(S::update(), ()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["b", "c"]);
}

/// B36: node and target named.
#[tokio::test]
async fn a_target_that_was_not_declared_fails_the_step() {
    async fn jump(_: Snapshot<S>, _: Context) -> Result<Command<S>, BoxError> {
        Ok(Command::new().update(says("lost")).goto("b"))
    }
    let routed = Graph::<S>::builder("routed")
        .node("a", nothing)
        .node("b", nothing)
        .edge(START, "a")
        .branch("a", |_: &S| "c", ["b", END])
        .edge("b", END)
        .build()
        .unwrap();
    let error = routed.invoke(S::update(), ()).await.unwrap_err();
    assert_eq!(error.to_string(), "node `a` failed in super-step 0");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(
        source,
        "it goes on to `c`; declared are `b`, END; add it to the targets of the branch, or to the node's `.goto([…])`"
    );

    let commanded = Graph::<S>::builder("commanded")
        .node("a", jump.goto([END]))
        .node("b", nothing)
        .edge(START, "a")
        .edge(START, "b")
        .edge("b", END)
        .build()
        .unwrap();
    let RunError::Node { node, source: NodeError::UnknownTarget { target, .. }, .. } =
        commanded.invoke(S::update(), ()).await.unwrap_err()
    else {
        panic!("another error");
    };
    assert_eq!((node.as_ref(), target.as_str()), ("a", "b"));
}

/// B37, B41: each `SendTo` is a task with its own input; results in the order of the sends; the successor once.
#[tokio::test(start_paused = true)]
async fn sends_run_one_task_each_and_their_results_keep_their_order() {
    async fn work(_: Snapshot<S>, cx: Context) -> Result<SUpdate, BoxError> {
        let n: u64 = cx.input()?.unwrap_or_default();
        cx.runtime().clock.sleep(Duration::from_millis(50 - n)).await;
        Ok(says(n.to_string()))
    }
    let graph = Graph::<S>::builder("map")
        .node("src", nothing)
        .node("work", work)
        .node("also", slow(0))
        .node("end", slow(0))
        .edge(START, "src")
        .branch(
            "src",
            |_: &S| {
                let sends = (0..20u64).map(|n| hanok_graph::Target::from(SendTo::new("work", &n)));
                sends.chain(["also".into()]).collect::<Vec<_>>()
            },
            ["work", "also"],
        )
        .edge("work", "end")
        .edge("also", END)
        .edge("end", END)
        .build()
        .unwrap();
    let state = graph.invoke(S::update(), ()).await.unwrap().done().unwrap();
    let numbers: Vec<_> = (0..20).map(|n| n.to_string()).collect();
    assert_eq!(log(&state)[0], "also");
    assert_eq!(&log(&state)[1..21], numbers.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(&log(&state)[21..], ["end"]);
}

/// B38: an update and where to go on; the node's own edges fire too.
#[tokio::test]
async fn a_command_goes_on_besides_the_nodes_edges() {
    async fn decide(_: Snapshot<S>, _: Context) -> Result<Command<S>, BoxError> {
        Ok(Command::new().update(says("decide")).goto("b"))
    }
    let graph = Graph::<S>::builder("command")
        .node("decide", decide.goto(["b", END]))
        .node("a", slow(0))
        .node("b", slow(0))
        .edge(START, "decide")
        .edge("decide", "a")
        .edge("a", END)
        .edge("b", END)
        .build()
        .unwrap();
    let state = graph.invoke(S::update(), ()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["decide", "a", "b"]);
}

/// B31: behind branches of unequal length the join runs once, after both; in a loop it works in each round.
#[tokio::test]
async fn a_join_runs_once_when_all_its_sources_are_done() {
    let graph = Graph::<S>::builder("join")
        .node("src", count)
        .node("short", slow(0))
        .node("long1", nothing)
        .node("long2", slow(0))
        .node("join", slow(0))
        .edge(START, "src")
        .edge("src", "short")
        .edge("src", "long1")
        .edge("long1", "long2")
        .join(["short", "long2"], "join")
        .branch("join", |s: &S| if s.n < 2 { "src" } else { END }, ["src", END])
        .build()
        .unwrap();
    let state = graph.invoke(S::update(), ()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["short", "long2", "join", "short", "long2", "join"]);
}

/// B45: a graph that needs exactly the limit finishes; one more step is an outcome of its own.
#[tokio::test]
async fn the_recursion_limit_is_exact_and_says_so() {
    let graph = |limit| {
        Graph::<S>::builder("loop")
            .node("count", count)
            .edge(START, "count")
            .branch("count", |s: &S| if s.n < 5 { "count" } else { END }, ["count", END])
            .recursion_limit(limit)
            .build()
            .unwrap()
    };
    assert!(matches!(
        graph(5).invoke(S::update(), ()).await.unwrap(),
        Outcome::Done(S { n: 5, .. })
    ));
    let outcome = graph(4).invoke(S::update(), ()).await.unwrap();
    let Outcome::LimitReached { which: Limit::Steps(4), state } = outcome else {
        panic!("another outcome");
    };
    assert_eq!(state.n, 4);
}

/// P18
#[tokio::test]
async fn a_panic_fails_its_run_and_nothing_else() {
    async fn broken(_: Snapshot<S>, _: Context) -> Result<(), BoxError> {
        panic!("no such {}", "thing")
    }
    let alone = Graph::<S>::builder("panic")
        .node("broken", broken)
        .edge(START, "broken")
        .edge("broken", END)
        .build()
        .unwrap();
    let together = Graph::<S>::builder("panic")
        .node("broken", broken)
        .node("fine", slow(0))
        .edge(START, "broken")
        .edge(START, "fine")
        .edge("broken", END)
        .edge("fine", END)
        .build()
        .unwrap();
    let router = Graph::<S>::builder("panic")
        .node("fine", slow(0))
        .edge(START, "fine")
        .branch("fine", |s: &S| if s.n > 9 { END } else { panic!("no such thing") }, [END])
        .build()
        .unwrap();
    for graph in [alone, together, router] {
        let error = graph.invoke(S::update(), ()).await.unwrap_err();
        let RunError::Node { source: NodeError::Panicked(said), .. } = error else {
            panic!("another error");
        };
        assert_eq!(said, "no such thing");
    }
}

/// P18: a reducer that panics, on the input, for a router and at the commit.
#[tokio::test]
async fn a_reducer_that_panics_fails_its_run_and_nothing_else() {
    fn broken(_: &u32, write: u32) -> u32 {
        if write > 0 { panic!("no such sum") } else { write }
    }
    #[derive(State, Debug, Clone, Default)]
    struct Sum {
        #[reduce(with = broken)]
        sum: u32,
    }
    async fn one(_: Snapshot<Sum>, _: Context) -> Result<SumUpdate, BoxError> {
        Ok(Sum::update().sum(1))
    }
    let graph = |routed: bool| {
        let graph = Graph::<Sum>::builder("sum").node("one", one).edge(START, "one");
        let graph =
            if routed { graph.branch("one", |_: &Sum| END, [END]) } else { graph.edge("one", END) };
        graph.build().unwrap()
    };
    let panicked = |error: RunError| match error {
        RunError::ReducerPanicked { message, .. } => message,
        RunError::Node { source: NodeError::Panicked(message), .. } => message,
        other => panic!("{other}"),
    };
    for (routed, input) in
        [(false, Sum::update().sum(1)), (true, Sum::update()), (false, Sum::update())]
    {
        let error = graph(routed).invoke(input, ()).await.unwrap_err();
        assert_eq!(panicked(error), "no such sum");
    }
}

/// A wide super-step without a runtime is an error, not a hang or a panic.
#[test]
fn without_a_runtime_a_wide_step_is_an_error() {
    let graph = Graph::<S>::builder("fan")
        .node("a", nothing)
        .node("b", nothing)
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", END)
        .edge("b", END)
        .build()
        .unwrap();
    let error = futures::executor::block_on(graph.invoke(S::update(), ())).unwrap_err();
    assert!(matches!(error, RunError::Node { source: NodeError::Lost, .. }));
}

/// B12: a node that returns nothing leaves the state, and its successors run.
#[tokio::test]
async fn services_reach_every_node() {
    struct Services {
        calls: Arc<AtomicUsize>,
    }
    async fn call(_: Snapshot<S>, cx: Context<Services>) -> Result<(), BoxError> {
        cx.services().calls.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
    let graph = Graph::<S, Services>::builder("services")
        .node("a", call)
        .node("b", call)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END)
        .build()
        .unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    graph.invoke(S::update(), Services { calls: calls.clone() }).await.unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}
