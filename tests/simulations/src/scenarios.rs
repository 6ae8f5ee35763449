//! Small graphs, one for each thing that a graph can do.

mod deploys;
mod effects;
mod flow;
mod history;
mod lives;
mod people;
mod random;
mod retained;
mod within;

use hanok_core::Stored;
use hanok_graph::{BoxError, BuildError, Graph, GraphBuilder, Pending};
use hanok_simulation::{Effects, Simulation, World};
use hanok_state::State;

use crate::nodes::S;

pub(crate) type Builder = GraphBuilder<S, Effects>;

/// One graph, what is said to it, and how it has to end.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What it shows.
    pub name: &'static str,
    /// How it is run.
    pub simulation: Simulation<S, Effects>,
}

/// All scenarios.
pub fn all() -> Vec<Scenario> {
    let own = [flow::all(), effects::all(), people::all(), within::all(), random::all()];
    let past = [history::all(), lives::all(), retained::all(), deploys::all()];
    own.into_iter().chain(past).flatten().collect()
}

/// A simulation of what `build` builds, without an input.
fn silent(build: fn(Builder) -> Builder) -> Simulation<S, Effects> {
    Simulation::of(move |world| {
        let graph = build(Graph::builder("simulated")).retry_budget(u32::MAX);
        Ok((graph.runtime(world.runtime()).build()?, world.effects()))
    })
    .answer(answer)
}

/// A scenario of what `build` builds, with one input.
fn scenario(name: &'static str, build: fn(Builder) -> Builder) -> Scenario {
    of(name, silent(build).input(S::update()))
}

fn of(name: &'static str, simulation: Simulation<S, Effects>) -> Scenario {
    Scenario { name, simulation }
}

/// A graph within another one.
fn inner(build: fn(Builder) -> Builder) -> Result<Graph<S, Effects>, BuildError> {
    build(Graph::builder("inner")).build()
}

/// What people say: it follows from what they are asked.
fn answer(pending: &Pending, _: &World) -> Result<Stored, BoxError> {
    let asked: String = pending.payload()?;
    Ok(Stored::encode(&format!("yes to {asked}"))?)
}
