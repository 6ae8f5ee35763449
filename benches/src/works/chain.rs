//! Many nodes in a row that do nothing.

use hanok_checkpoint::InMemoryCheckpointer;
use hanok_graph::{Context, Durability, END, Graph, START, Snapshot};
use hanok_state::{Messages, State};

use super::{DURABILITIES, thread};
use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

const NODES: usize = if cfg!(test) { 100 } else { 1000 };

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
        let mut took = [0.0; 3];
        for (durability, took) in DURABILITIES.into_iter().zip(&mut took) {
            let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(thread("t")?);
            let thread = thread.durability(durability);
            let cpu = Cpu::start();
            let state = thread.invoke(Talk::update(), ()).await?.done()?;
            *took = cpu.millis();
            ensure(state.messages.is_empty(), "the messages")?;
            let commits = thread.history(None, usize::MAX).await?.len();
            ensure(commits >= NODES || durability == Durability::Exit, "the log")?;
        }
        Ok(took)
    })
}
