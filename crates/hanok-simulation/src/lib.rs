#![doc = include_str!("../README.md")]

mod act;
mod beside;
mod build;
mod calls;
mod cast;
mod client;
mod cluster;
mod core;
mod dice;
mod disk;
mod effects;
mod executor;
mod faults;
mod finished;
mod invariants;
mod items;
mod ledger;
mod numbers;
mod play;
mod report;
mod script;
mod seams;
mod simulation;
mod stage;
mod store;
mod store_calls;
mod trace;
mod world;

// The crates whose types stand in what this one says.
pub use hanok_checkpoint as checkpoint;
pub use hanok_graph as graph;

pub use simulation::Simulation;
pub use {
    cast::Cast,
    cluster::Cluster,
    effects::Effects,
    faults::{Fault, Faults},
    finished::FinishedRun,
    report::{Failure, Report},
    world::World,
};
