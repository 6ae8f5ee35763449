//! How many tasks run at once: of a node, a graph, a run, and in all.

use std::time::Duration;

use hanok_graph::{
    END, Graph, GraphBuilder, NodeSettings, Persistence, Runtime, START, SendTo, Slots, Subgraph,
    Target,
};
use hanok_state::State;
use tokio::time::Instant;

use crate::support::{Ledger, S, builder, done, key, log, memory, runtime, slow};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// `count` tasks of `a` at once, 10 ms each.
fn many(count: u64) -> GraphBuilder<S, Ledger> {
    let sends =
        move |_: &S| (0..count).map(|n| Target::from(SendTo::new("a", &n))).collect::<Vec<_>>();
    builder().node("a", slow(10)).branch(START, sends, ["a"]).edge("a", END)
}

/// B46: never more than so many, all of them, and as many as may.
#[tokio::test(start_paused = true)]
async fn never_more_tasks_run_at_once_than_may() {
    for limit in [1, 2, 3, 7, 20, 100] {
        let by_node =
            many(20).configure("a", NodeSettings::new().concurrency(limit)).build().unwrap();
        let by_graph = many(20).max_concurrency(limit).build().unwrap();
        let slots = Runtime { slots: Some(Slots::new(limit)), ..runtime() };
        let by_process = many(20).runtime(slots).build().unwrap();
        for graph in [&by_node, &by_graph, &by_process] {
            for kept in [false, true] {
                let (ledger, before) = (Ledger::default(), Instant::now());
                let state = if kept {
                    let thread = graph.checkpointer(memory()).thread(key("t"));
                    done(thread.invoke(S::update(), ledger.clone()).await)
                } else {
                    done(graph.invoke(S::update(), ledger.clone()).await)
                };
                assert_eq!((state.log.len(), ledger.of("a")), (20, 20));
                assert_eq!(ledger.most(), limit.min(20));
                let rounds = 20_u64.div_ceil(limit as u64);
                assert_eq!(before.elapsed(), ms(10 * rounds), "{limit}");
            }
        }
        let (ledger, graph) = (Ledger::default(), many(20).build().unwrap());
        let thread = graph.checkpointer(memory()).thread(key("t")).max_concurrency(limit);
        done(thread.invoke(S::update(), ledger.clone()).await);
        assert_eq!((ledger.most(), ledger.of("a")), (limit.min(20), 20));
    }
}

/// B46: the slots of a graph are those of all its runs; those of a thread are its own; those of a process are everyone's.
#[tokio::test(start_paused = true)]
async fn slots_are_shared_by_those_who_share_them() {
    let slots = || Runtime { slots: Some(Slots::new(3)), ..runtime() };
    let process = slots();
    let one = many(10).build().unwrap();
    let node = many(10).configure("a", NodeSettings::new().concurrency(3)).build().unwrap();
    let graph = many(10).max_concurrency(3).build().unwrap();
    let (first, second) = (many(10).runtime(process.clone()), many(10).runtime(process));
    let (first, second) = (first.build().unwrap(), second.build().unwrap());
    for (a, b, own, most) in [
        (&node, &node, 10, 3),
        (&graph, &graph, 10, 3),
        (&first, &second, 10, 3),
        (&one, &one, 3, 6),
    ] {
        let ledger = Ledger::default();
        let run = |graph: &Graph<S, Ledger>, name| {
            let thread = graph.checkpointer(memory()).thread(key(name)).max_concurrency(own);
            let ledger = ledger.clone();
            async move { done(thread.invoke(S::update(), ledger).await) }
        };
        tokio::join!(run(a, "a"), run(b, "b"));
        assert_eq!((ledger.most(), ledger.of("a")), (most, 20));
    }
}

/// The graph as a node of another, so many levels deep, each with room for one task at a time.
fn nested(levels: usize, persistence: Persistence, runtime: &Runtime) -> Graph<S, Ledger> {
    let inner = many(4).max_concurrency(1).runtime(runtime.clone()).build().unwrap();
    (0..levels).fold(inner, |graph, _| {
        let again = graph.clone();
        builder()
            .runtime(runtime.clone())
            .subgraph("one", Subgraph::shared(graph).persistence(persistence).concurrency(1))
            .subgraph("two", Subgraph::shared(again).persistence(persistence))
            .edge(START, "one")
            .edge(START, "two")
            .edge("one", END)
            .edge("two", END)
            .max_concurrency(1)
            .build()
            .unwrap()
    })
}

/// B46: a task that waits for its subgraph does not keep the subgraph's tasks from running, however deep and narrow.
#[tokio::test(start_paused = true)]
async fn nested_graphs_do_not_wait_for_the_slots_of_those_who_call_them() {
    for persistence in [Persistence::PerCall, Persistence::None] {
        for levels in 0..4 {
            let one = Runtime { slots: Some(Slots::new(1)), ..runtime() };
            let (graph, ledger) = (nested(levels, persistence, &one), Ledger::default());
            let thread = graph.checkpointer(memory()).thread(key("t")).max_concurrency(1);
            let run = thread.invoke(S::update(), ledger.clone());
            let state = done(tokio::time::timeout(ms(60_000), run).await.unwrap());
            assert_eq!(log(&state).len(), 4 << levels);
            assert_eq!(one.slots.unwrap().free(), 1, "all are given back");
        }
    }
}

/// B46: a graph that runs by itself and as a node of another at the same time, where both want the process's one slot and
/// the graph's one: neither waits for what the other holds.
#[tokio::test(start_paused = true)]
async fn a_graph_in_use_twice_does_not_lock_itself_out() {
    let one = Runtime { slots: Some(Slots::new(1)), ..runtime() };
    let inner = many(4).max_concurrency(1).runtime(one.clone()).build().unwrap();
    let outer = builder()
        .runtime(one.clone())
        .subgraph("sub", Subgraph::shared(inner.clone()))
        .edge(START, "sub")
        .edge("sub", END)
        .build()
        .unwrap();
    for alone_first in [true, false] {
        let ledger = Ledger::default();
        let alone = async {
            if !alone_first {
                tokio::time::sleep(ms(1)).await;
            }
            inner.invoke(S::update(), ledger.clone()).await
        };
        let within = async {
            if alone_first {
                tokio::time::sleep(ms(1)).await;
            }
            outer.invoke(S::update(), ledger.clone()).await
        };
        let all = async { tokio::join!(alone, within) };
        let (alone, within) = tokio::time::timeout(ms(60_000), all).await.expect("no deadlock");
        assert_eq!((done(alone).log.len(), done(within).log.len()), (4, 4));
    }
}

/// B46: who waits for a slot waits in the order in which they came, and a failed or stopped task gives its slot back.
#[tokio::test(start_paused = true)]
async fn a_slot_is_given_back_however_a_task_ends() {
    let slots = Slots::new(2);
    let runtime = Runtime { slots: Some(slots.clone()), ..runtime() };
    let graph = many(6)
        .runtime(runtime)
        .configure("a", NodeSettings::new().timeout(ms(15)))
        .build()
        .unwrap();
    let ledger = Ledger::default();
    ledger.fail("a", 3);
    graph.invoke(S::update(), ledger.clone()).await.unwrap_err();
    assert_eq!((ledger.of("a"), slots.free()), (6, 2));
    let run = graph.invoke(S::update(), ledger.clone());
    tokio::time::timeout(ms(5), run).await.unwrap_err();
    tokio::task::yield_now().await;
    assert_eq!(slots.free(), 2);
    assert_eq!(done(graph.invoke(S::update(), ledger.clone()).await).log.len(), 6);
}
