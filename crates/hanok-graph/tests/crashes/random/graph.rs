//! The graph that a plan describes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::BoxFuture;
use hanok_core::TaskId;
use hanok_graph::{
    BoxError, Context, END, Graph, GraphBuilder, Lint, NodeSettings, Persistence, Retry, Runtime,
    START, SendTo, Snapshot, Subgraph, Target,
};
use hanok_state::{List, State};

use crate::random::plan::{Fault, Kind, Node, Plan, name};

#[derive(State, Debug, Clone, Default, PartialEq)]
pub(crate) struct S {
    #[reduce(append)]
    pub(crate) log: List<String>,
}

/// What outlives the processes: how often each task was run, and how often it failed.
#[derive(Debug, Clone, Default)]
pub(crate) struct World(Arc<Mutex<BTreeMap<TaskId, Runs>>>);

#[derive(Debug, Clone, Copy, Default)]
struct Runs {
    run: u32,
    failed: u32,
}

impl World {
    /// Notes that `task` is run; whether it fails this time, if it is to fail so many times.
    fn fails(&self, task: TaskId, times: u32) -> bool {
        let mut tasks = self.0.lock().unwrap();
        let runs = tasks.entry(task).or_default();
        let fails = runs.failed < times;
        runs.run += 1;
        runs.failed += u32::from(fails);
        fails
    }

    /// How often `task` was run.
    pub(crate) fn ran(&self, task: TaskId) -> u32 {
        self.0.lock().unwrap().get(&task).map_or(0, |runs| runs.run)
    }
}

type Running = BoxFuture<'static, Result<SUpdate, BoxError>>;

/// A node that takes a while, does what its fault says, and says what it saw.
fn works(
    fault: Fault,
    delays: Vec<u64>,
    sleeps: bool,
) -> impl Fn(Snapshot<S>, Context<World>) -> Running {
    move |state, cx| {
        let delay = delays[state.log.len() % delays.len()];
        Box::pin(async move {
            if sleeps {
                cx.runtime().clock.sleep(Duration::from_millis(delay)).await;
            } else {
                for _ in 0..delay / 4 {
                    tokio::task::yield_now().await;
                }
            }
            let failures = match fault {
                Fault::Retried(times) => times,
                Fault::Resumed => 1,
                Fault::None | Fault::Asks(_) => 0,
            };
            if cx.services().fails(cx.task(), failures) {
                return Err("not this time".into());
            }
            let mut answers = String::new();
            if let Fault::Asks(count) = fault {
                for n in 0..count {
                    let answer: String = cx.interrupt(&format!("{n}?")).await?;
                    answers.push_str(&answer);
                }
            }
            let input: Option<u64> = cx.input()?;
            let input = input.map_or_else(String::new, |input| format!("#{input}"));
            let seen = state.log.len();
            Ok(S::update().push_log(format!("{}{input}{answers}@{seen}", cx.node())))
        })
    }
}

fn retried(
    graph: GraphBuilder<S, World>,
    node: &str,
    fault: Fault,
    sleeps: bool,
) -> GraphBuilder<S, World> {
    let graph = graph.retry_budget(u32::MAX);
    match fault {
        Fault::Retried(_) => graph.configure(
            node,
            NodeSettings::new()
                .retry(Retry::attempts(4).first(Duration::from_millis(7 * u64::from(sleeps)))),
        ),
        _ => graph,
    }
}

/// `x`, then `y`.
fn two(node: &Node, sleeps: bool) -> Graph<S, World> {
    let graph = Graph::builder("two")
        .node("x", works(node.fault, node.delays.clone(), sleeps))
        .node("y", works(Fault::None, node.delays.clone(), sleeps))
        .edge(START, "x")
        .edge("x", "y")
        .edge("y", END);
    retried(graph, "x", node.fault, sleeps).build().unwrap()
}

fn subgraph(i: usize, node: &Node, sleeps: bool) -> Option<Subgraph<S, World>> {
    let put_in = |_: &S| S::update().push_log("in");
    let inner = two(node, sleeps);
    Some(match node.kind {
        Kind::Plain => return None,
        Kind::Shared => Subgraph::shared(inner),
        Kind::PerCall | Kind::Nowhere => {
            let persistence = match node.kind {
                Kind::Nowhere => Persistence::None,
                _ => Persistence::PerCall,
            };
            let lines = move |state: &S| {
                let added = state.log.iter().skip(1);
                S::update().log(added.map(|said| format!("{}/{said}", name(i))))
            };
            Subgraph::new(inner, put_in, lines).persistence(persistence)
        }
        Kind::PerThread => {
            let last = move |state: &S| {
                let (len, last) = (state.log.len(), state.log.iter().last().unwrap());
                S::update().push_log(format!("{}/{len}/{last}", name(i)))
            };
            Subgraph::new(inner, put_in, last).persistence(Persistence::PerThread)
        }
    })
}

pub(crate) fn graph(plan: &Plan, runtime: Runtime) -> Graph<S, World> {
    let all: Vec<_> = (0..plan.nodes.len()).map(name).collect();
    let first: Vec<_> = plan.first.iter().map(|node| name(*node)).collect();
    let mut graph = Graph::builder("random").runtime(runtime);
    for (i, node) in plan.nodes.iter().enumerate() {
        let (ways, sends, longest) = (node.ways.clone(), node.sends.clone(), plan.longest);
        let router = move |state: &S| {
            if state.log.len() >= longest {
                return Vec::new();
            }
            let nodes = ways.iter().map(|to| Target::from(name(*to)));
            let sends = (0_u64..).zip(&sends).map(|(n, to)| SendTo::new(&name(*to), &n).into());
            nodes.chain(sends).collect()
        };
        let here = name(i);
        graph = match subgraph(i, node, plan.sleeps) {
            Some(subgraph) => graph.subgraph(&here, subgraph),
            None => {
                let works = works(node.fault, node.delays.clone(), plan.sleeps);
                retried(graph.node(&here, works), &here, node.fault, plan.sleeps)
            }
        };
        graph = graph.branch(&here, router, all.iter().cloned().chain([END.to_owned()]));
        if node.deferred {
            graph = graph.configure(&here, NodeSettings::new().defer());
        }
        graph = graph.configure(&here, NodeSettings::new().allow(Lint::Unreachable));
    }
    for (sources, target) in &plan.joins {
        graph = graph.join(sources.iter().map(|node| name(*node)), &name(*target));
    }
    graph.branch(START, move |_: &S| first.clone(), all).recursion_limit(1_000).build().unwrap()
}
