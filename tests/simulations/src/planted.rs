//! Bugs that are planted, and how many seeds it takes to find them.

use hanok_graph::{Planted, plant};
use hanok_testkit::{Failure, Simulation};

use crate::{Scenario, WrongStore, all};

/// One bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// The engine is wrong.
    Engine(Planted),
    /// The store is wrong.
    Store(WrongStore),
}

/// All bugs that are planted.
pub const BUGS: [Bug; 23] = [
    Bug::Engine(Planted::AnswerTwice),
    Bug::Engine(Planted::BudgetAnew),
    Bug::Engine(Planted::ChildAnew),
    Bug::Engine(Planted::ClaimKept),
    Bug::Engine(Planted::CompletionOrder),
    Bug::Engine(Planted::DeferredEarly),
    Bug::Engine(Planted::DoubtIgnored),
    Bug::Engine(Planted::EndForgotten),
    Bug::Engine(Planted::InputForgotten),
    Bug::Engine(Planted::IntentForgotten),
    Bug::Engine(Planted::JoinForgotten),
    Bug::Engine(Planted::MemoForgotten),
    Bug::Engine(Planted::MemoRenamed),
    Bug::Engine(Planted::RetryForgets),
    Bug::Engine(Planted::SnapshotEarly),
    Bug::Engine(Planted::TaskIdsAnew),
    Bug::Engine(Planted::VoidForgotten),
    Bug::Engine(Planted::WriteForgotten),
    Bug::Store(WrongStore::EpochUnchecked),
    Bug::Store(WrongStore::AppendTorn),
    Bug::Store(WrongStore::AppendDropped),
    Bug::Store(WrongStore::AppendRepeated),
    Bug::Store(WrongStore::MachineForgotten),
];

/// Runs all scenarios with `bug`, seed after seed, until one fails: how many runs that took, and how it failed. Nothing if
/// none of `seeds` runs of each scenario fails.
pub fn found(bug: Bug, seeds: u64) -> Option<(u64, Scenario, Failure)> {
    // The end that is right is that of the engine as it is.
    let expecting = |scenario: Scenario| match scenario.simulation.quiet_end(0) {
        Ok(end) if scenario.simulation.has_one_end() => {
            let simulation = scenario.simulation.model(move |_| end.clone());
            Scenario { simulation, ..scenario }
        }
        _ => scenario,
    };
    let scenarios: Vec<_> = all().into_iter().map(expecting).collect();
    let mut runs = 0;
    for seed in 0..seeds {
        for Scenario { name, simulation } in &scenarios {
            runs += 1;
            let simulation = simulation.clone().seeds(seed..seed + 1);
            let simulation = match bug {
                Bug::Engine(_) => simulation,
                Bug::Store(wrong) => simulation.layer(move |store| wrong.of(store)),
            };
            if let Err(failure) = run(bug, &simulation) {
                return Some((runs, Scenario { name, simulation }, failure));
            }
        }
    }
    None
}

fn run(bug: Bug, simulation: &Simulation<crate::S, hanok_testkit::Effects>) -> Result<(), Failure> {
    if let Bug::Engine(bug) = bug {
        plant(Some(bug));
    }
    let ran = simulation.run();
    plant(None);
    ran.map(|_| ())
}
