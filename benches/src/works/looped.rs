//! A node that goes on with itself.

use std::hint::black_box;

use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_state::State;

use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

const STEPS: u32 = if cfg!(test) { 100 } else { 1000 };

#[derive(State, Clone, Default)]
struct Count {
    n: u32,
}

async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate> {
    Ok(Count::update().n(state.n + 1))
}

fn next(state: &Count) -> &'static str {
    if state.n < STEPS { "add" } else { END }
}

pub(super) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    let graph = Graph::<Count>::builder("count")
        .node("add", add)
        .edge(START, "add")
        .branch("add", next, ["add", END])
        .recursion_limit(STEPS)
        .build()?;
    medians(rounds, async || {
        let cpu = Cpu::start();
        let state = graph.invoke(Count::update(), ()).await?.done()?;
        let took = cpu.micros();
        ensure(state.n == STEPS, "the count")?;
        Ok([took / f64::from(STEPS)])
    })
}

async fn add_by_hand(count: &mut Count) {
    count.n = black_box(count.n + 1);
}

pub(super) fn by_hand(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let cpu = Cpu::start();
        let mut count = Count::default();
        while count.n < STEPS {
            add_by_hand(black_box(&mut count)).await;
        }
        let took = cpu.micros();
        ensure(count.n == STEPS, "the count")?;
        Ok([took / f64::from(STEPS)])
    })
}
