//! Random graphs under random schedules end in the state of a sequential model.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{collections::BTreeSet, time::Duration};

use futures::future::BoxFuture;
use hanok_checkpoint::Memory;
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{BoxError, Context, END, Graph, START, Snapshot};
use hanok_state::{List, State};
use proptest::prelude::*;

#[derive(State, Debug, Clone, Default, PartialEq)]
struct S {
    #[reduce(append)]
    log: List<String>,
}

/// For each node where it goes on, and how long it takes in its first, second, … run.
#[derive(Debug, Clone)]
struct Plan {
    ways: Vec<BTreeSet<usize>>,
    first: BTreeSet<usize>,
    delays: Vec<Vec<u64>>,
    /// Routers lead to the end once the log is this long.
    longest: usize,
}

fn name(node: usize) -> String {
    format!("n{node}")
}

fn plan() -> impl Strategy<Value = Plan> {
    (2usize..6).prop_flat_map(|nodes| {
        let some = move |least| proptest::collection::btree_set(0..nodes, least..=nodes.min(3));
        (
            proptest::collection::vec(some(0), nodes),
            some(1),
            proptest::collection::vec(proptest::collection::vec(0u64..40, 4), nodes),
            1usize..25,
        )
            .prop_map(|(ways, first, delays, longest)| Plan {
                ways,
                first,
                delays,
                longest,
            })
    })
}

/// What the engine has to do, one task after the other.
fn model(plan: &Plan) -> Vec<String> {
    let mut log = Vec::new();
    let mut due = plan.first.clone();
    while !due.is_empty() {
        // A router sees what was there before the step, and its own node's write.
        let goes_on = log.len() + 1 < plan.longest;
        let next = due.iter().filter(|_| goes_on).flat_map(|node| plan.ways[*node].clone());
        let next = next.collect();
        log.extend(due.iter().map(|node| name(*node)));
        due = next;
    }
    log
}

fn node(
    delays: Vec<u64>,
) -> impl Fn(Snapshot<S>, Context) -> BoxFuture<'static, Result<SUpdate, BoxError>> {
    move |state, cx| {
        let delay = delays[state.log.len() % delays.len()];
        Box::pin(async move {
            cx.runtime().clock.sleep(Duration::from_millis(delay)).await;
            Ok(S::update().push_log(cx.node().to_owned()))
        })
    }
}

fn graph(plan: &Plan) -> Graph<S> {
    let nodes = 0..plan.ways.len();
    let first: Vec<_> = plan.first.iter().map(|node| name(*node)).collect();
    let all: Vec<_> = nodes.clone().map(name).collect();
    let mut builder = Graph::<S>::builder("random");
    for i in nodes {
        let (ways, longest) = (plan.ways[i].clone(), plan.longest);
        let targets: Vec<_> = all.iter().cloned().chain([END.to_owned()]).collect();
        let router = move |state: &S| {
            let goes_on = state.log.len() < longest;
            let ways = ways.iter().filter(|_| goes_on);
            ways.map(|node| name(*node)).collect::<Vec<_>>()
        };
        builder =
            builder.node(&name(i), node(plan.delays[i].clone())).branch(&name(i), router, targets);
    }
    let start = first.clone();
    builder.branch(START, move |_: &S| start.clone(), all).recursion_limit(1_000).build().unwrap()
}

fn log(state: &S) -> Vec<String> {
    state.log.iter().cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// B11, B30, B34, P11
    #[test]
    fn any_graph_under_any_schedule_ends_where_a_sequential_model_ends(plan in plan()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        let want = model(&plan);
        runtime.block_on(async {
            let graph = graph(&plan);
            let state = graph.invoke(S::update(), ()).await.unwrap().done().unwrap();
            assert_eq!(log(&state), want);

            let key = ThreadKey::new(Tenant::default(), "t").unwrap();
            let thread = graph.checkpointer(Memory::new()).thread(key);
            let first = thread.invoke(S::update(), ()).await.unwrap().done().unwrap();
            assert_eq!(log(&first), want);
            // What is stored is what was run.
            assert_eq!(thread.state(None).await.unwrap().unwrap(), first);
        });
    }
}
