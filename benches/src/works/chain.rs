//! Many nodes in a row that do nothing.

use hanok_checkpoint::Memory;
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_state::{Messages, State};

use super::thread;
use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

const NODES: usize = 1000;

#[derive(State, Clone, Default)]
struct Talk {
    messages: Messages,
}

async fn nothing(_: Snapshot<Talk>, _: Context) -> Result<()> {
    Ok(())
}

fn graph() -> Result<Graph<Talk>> {
    let names: Vec<_> = (0..NODES).map(|i| format!("n{i}")).collect();
    let mut graph = Graph::<Talk>::builder("chain").recursion_limit(u32::MAX);
    let mut before = START;
    for name in &names {
        graph = graph.node(name, nothing).edge(before, name);
        before = name;
    }
    Ok(graph.edge(before, END).build()?)
}

pub(super) fn hollow(rounds: usize) -> Result<Vec<f64>> {
    let graph = graph()?;
    medians(rounds, async || {
        let cpu = Cpu::start();
        let state = graph.invoke(Talk::update(), ()).await?.done()?;
        let took = cpu.millis();
        ensure(state.messages.is_empty(), "the messages")?;
        Ok([took])
    })
}

pub(super) fn kept(rounds: usize) -> Result<Vec<f64>> {
    let graph = graph()?;
    medians(rounds, async || {
        let thread = graph.checkpointer(Memory::new()).thread(thread("t")?);
        let cpu = Cpu::start();
        let state = thread.invoke(Talk::update(), ()).await?.done()?;
        let took = cpu.millis();
        ensure(state.messages.is_empty(), "the messages")?;
        let commits = thread.history(None, usize::MAX).await?.len();
        ensure(commits >= NODES, "the log")?;
        Ok([took])
    })
}
