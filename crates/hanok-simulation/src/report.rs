//! The report of a simulation.

use std::{collections::BTreeMap, fmt};

use thiserror::Error;

use crate::{
    faults::Fault,
    play::{Played, Score},
};

/// The number of lines of a failed run's trace that are shown.
const TAIL: usize = 60;

/// The outcome of all runs of a simulation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The number of runs.
    pub seeds: u64,
    /// The number of polls of tasks, in all runs.
    pub polls: u64,
    /// The number of times that each fault befell them.
    pub faults: BTreeMap<Fault, u64>,
    /// A digest of all that happened: equal for equal seeds, whenever and wherever they are run.
    pub digest: u64,
}

impl Report {
    pub(crate) fn add(&mut self, played: &Played) {
        self.seeds += 1;
        self.polls += played.polls;
        for (fault, _) in &played.faults {
            *self.faults.entry(*fault).or_default() += 1;
        }
        self.digest = self.digest.wrapping_add(played.digest);
    }

    /// Adds what came of others.
    pub fn join(&mut self, other: &Self) {
        self.seeds += other.seeds;
        self.polls += other.polls;
        for (fault, count) in &other.faults {
            *self.faults.entry(*fault).or_default() += count;
        }
        self.digest = self.digest.wrapping_add(other.digest);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} runs, {} polls", self.seeds, self.polls)?;
        for (fault, count) in &self.faults {
            write!(f, ", {count} {fault:?}")?;
        }
        Ok(())
    }
}

/// A run that broke a promise.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub struct Failure {
    /// The seed: [`Simulation::trace`](super::Simulation::trace) or [`Cluster::trace`](super::Cluster::trace) tells all of it.
    pub seed: u64,
    /// The broken promise.
    pub why: String,
    /// The faults that befell the run, in order.
    pub faults: Vec<String>,
    /// The last of its trace, one thing a line.
    pub tail: Vec<String>,
}

impl Failure {
    pub(crate) fn of(score: &Score, played: Played, why: &str) -> Self {
        let error = played.ended.err().unwrap_or_default();
        let why = [error, why.to_owned()].into_iter().filter(|part| !part.is_empty());
        let faults =
            played.faults.into_iter().map(|(fault, place)| format!("{fault:?} at {place}"));
        let skip = played.lines.len().saturating_sub(TAIL);
        Self {
            seed: score.seed,
            why: why.collect::<Vec<_>>().join(", "),
            faults: faults.collect(),
            tail: played.lines.into_iter().skip(skip).collect(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}: {}\nwhat befell it: {}", self.seed, self.why, self.faults.join("; "))?;
        self.tail.iter().try_for_each(|line| write!(f, "\n{line}"))
    }
}
