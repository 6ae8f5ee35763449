//! Who caught what.

use crate::behaviours::Comparison;

use super::catalogue::Mutation;
use super::catchers;
use super::suites::Verdict;

/// The simulator's own test, whose documentation names the promises that the simulator checks.
const SIMULATED: &str = "every_scenario_keeps_the_promises_under_any_schedule";

/// The rows so far.
pub(super) struct Table {
    tests: Comparison,
    caught: usize,
    weak: Vec<u32>,
    survivors: Vec<u32>,
}

impl Table {
    pub(super) fn new(tests: Comparison) -> Self {
        Self { tests, caught: 0, weak: Vec::new(), survivors: Vec::new() }
    }

    /// Adds, and prints, what became of `mutation`.
    pub(super) fn add(&mut self, mutation: &Mutation, verdict: Verdict) {
        let mut note = "";
        if verdict == Verdict::Survived {
            self.survivors.push(mutation.number);
        } else {
            self.caught += 1;
            if !self.names(mutation, &verdict) {
                self.weak.push(mutation.number);
                note = "weak: no test of the promise; ";
            }
        }
        println!("{}\n      {note}{}", mutation.line(), catchers(&verdict));
    }

    /// Whether one of the tests that caught `mutation` names a promise that it breaks, if it breaks any.
    fn names(&self, mutation: &Mutation, verdict: &Verdict) -> bool {
        let broken = |test: &str| {
            mutation.promises.iter().any(|promise| self.tests.is_held_by(promise, test))
        };
        mutation.promises.is_empty()
            || match verdict {
                Verdict::Survived | Verdict::Hang(_) => false,
                Verdict::Simulated(_) => broken(SIMULATED),
                Verdict::Failed { test, .. } => broken(test.rsplit("::").next().unwrap_or(test)),
            }
    }

    /// Whether all were caught.
    pub(super) fn is_good(&self) -> bool {
        self.survivors.is_empty()
    }

    /// How many were caught, and the numbers of the others.
    pub(super) fn summary(&self) -> String {
        let mut summary = format!("mutants: {} caught", self.caught);
        for (what, numbers) in [("weak", &self.weak), ("SURVIVED", &self.survivors)] {
            if !numbers.is_empty() {
                let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
                summary.push_str(&format!("; {what}: {}", numbers.join(", ")));
            }
        }
        summary
    }
}
