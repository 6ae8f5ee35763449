//! Many runs at once that wait most of the time.

use std::time::Duration;

use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_state::State;
use tokio::task::JoinSet;

use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

const RUNS: u32 = 5000;
const NODES: u32 = 5;
const WAIT: Duration = Duration::from_millis(10);

#[derive(State, Clone, Default)]
struct Waits {
    n: u32,
}

async fn wait(state: Snapshot<Waits>, _: Context) -> Result<WaitsUpdate> {
    tokio::time::sleep(WAIT).await;
    Ok(Waits::update().n(state.n + 1))
}

pub(super) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    let graph = Graph::<Waits>::builder("waits");
    let graph = ["a", "b", "c", "d", "e"].into_iter().fold(graph, |g, name| g.node(name, wait));
    let ways = [(START, "a"), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", END)];
    let graph = ways.into_iter().fold(graph, |graph, (from, to)| graph.edge(from, to)).build()?;
    at_once(rounds, || {
        let graph = graph.clone();
        async move { Ok(graph.invoke(Waits::update(), ()).await?.done()?.n) }
    })
}

pub(super) fn by_hand(rounds: usize) -> Result<Vec<f64>> {
    at_once(rounds, || async {
        let mut n = 0;
        for _ in 0..NODES {
            tokio::time::sleep(WAIT).await;
            n += 1;
        }
        Ok(n)
    })
}

/// Runs per second of CPU time.
fn at_once<F: Future<Output = Result<u32>> + Send + 'static>(
    rounds: usize,
    run: impl Fn() -> F,
) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let cpu = Cpu::start();
        let mut runs: JoinSet<_> = (0..RUNS).map(|_| run()).collect();
        while let Some(n) = runs.join_next().await {
            ensure(n?? == NODES, "the nodes")?;
        }
        Ok([f64::from(RUNS) / cpu.seconds()])
    })
}
