//! The works of `hanok-bench`, done by other engines: `hanok-bench-peers PEER WORK ROUNDS` prints a list with a number for
//! each figure of the table, or an empty one for work that the engine cannot do.
//!
//! Each engine is used as its documentation says, with its own in-memory or SQLite store where states are to be kept.

mod adk_graph;
#[path = "../../src/course.rs"]
mod course;
mod graph_flow;
mod juncture;
#[path = "../../src/measure.rs"]
#[allow(dead_code, reason = "these engines are measured by a part of it")]
mod measure;
mod talk;

use std::{error::Error, process::ExitCode};

/// Any failure of a measurement.
pub(crate) type Result<T, E = Box<dyn Error + Send + Sync>> = std::result::Result<T, E>;

/// How often the loops go round, and how wide the fan-out is.
pub(crate) const STEPS: u64 = 1000;
pub(crate) const WIDTH: u64 = 100;
pub(crate) const REPETITIONS: u32 = 100;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [peer, work, rounds] = arguments.as_slice() else {
        eprintln!("usage: hanok-bench-peers PEER WORK ROUNDS");
        return ExitCode::from(2);
    };
    match run(peer, work, rounds) {
        Ok(figures) => {
            println!("{figures:?}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{peer}: {work}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(peer: &str, work: &str, rounds: &str) -> Result<Vec<f64>> {
    let rounds = rounds.parse()?;
    match peer {
        "adk-graph" => adk_graph::run(work, rounds),
        "graph-flow" => graph_flow::run(work, rounds),
        "juncture" => juncture::run(work, rounds),
        other => Err(format!("no peer `{other}`").into()),
    }
}
