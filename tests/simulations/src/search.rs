//! How many seeds it takes to find what is wrong with an engine, or with a store.

use std::collections::BTreeMap;

use hanok_simulation::Failure;

use crate::{Scenario, WrongStore, all};

/// How many seeds of a scenario run before the next scenario, once the first seeds have found nothing.
const ROUND: u64 = 20;

/// How the scenarios that have one end come to it when nothing goes wrong, by their names.
pub type Ends = BTreeMap<String, String>;

/// How the scenarios end with the engine as it is built.
///
/// # Errors
///
/// The name of the first scenario that breaks a promise although nothing goes wrong, with how.
pub fn ends() -> Result<Ends, (&'static str, Failure)> {
    let ended = |scenario: &Scenario| scenario.simulation.quiet_end(0);
    let one = all().into_iter().filter(|scenario| scenario.simulation.has_one_end());
    one.map(|scenario| match ended(&scenario) {
        Ok(end) => Ok((scenario.name.to_owned(), end)),
        Err(failure) => Err((scenario.name, failure)),
    })
    .collect()
}

/// Runs all scenarios, on `wrong` if there is one, round after round of seeds, until one fails or does not come to its end:
/// how many runs that took, and how it failed. Nothing if none of `seeds` runs of each scenario fails.
pub fn found(
    ends: &Ends,
    wrong: Option<WrongStore>,
    seeds: u64,
    threads: usize,
) -> Option<(u64, Scenario, Failure)> {
    let expecting = |Scenario { name, simulation }: Scenario| {
        let simulation = match ends.get(name).cloned() {
            Some(end) => simulation.model(move |_| end.clone()),
            None => simulation,
        };
        let simulation = match wrong {
            Some(wrong) => simulation.layer(move |store| wrong.of(store)),
            None => simulation,
        };
        Scenario { name, simulation: simulation.threads(threads) }
    };
    let scenarios: Vec<_> = all().into_iter().map(expecting).collect();
    let (mut runs, mut next) = (0, 0);
    while next < seeds {
        // What is badly wrong shows in the first seeds.
        let upto = seeds.min(if next < ROUND { next + 1 } else { next + ROUND });
        for Scenario { name, simulation } in &scenarios {
            runs += upto - next;
            if let Err(failure) = simulation.clone().seeds(next..upto).run() {
                let simulation = simulation.clone();
                return Some((runs, Scenario { name, simulation }, failure));
            }
        }
        next = upto;
    }
    None
}
