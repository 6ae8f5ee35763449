//! What the simulations show, in small: `cargo xtask simulate` runs more of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::process::Command;

use hanok_simulation::{Fault, Faults, Report};
use hanok_simulations::{Scenario, WrongStore, all, ends, found};
use hanok_testkit::{is_full, sampled};

fn run(of: impl Fn(&Scenario) -> Result<Report, hanok_simulation::Failure>) -> Report {
    run_of(all(), of)
}

fn run_of(
    scenarios: Vec<Scenario>,
    of: impl Fn(&Scenario) -> Result<Report, hanok_simulation::Failure>,
) -> Report {
    let mut all_of = Report::default();
    for scenario in scenarios {
        match of(&scenario) {
            Ok(report) => all_of.join(&report),
            Err(failure) => panic!("{}: {failure}", scenario.name),
        }
    }
    all_of
}

/// P1, P2, P3, P4, P7, P9, P10, P11, P14, P15, P54, B71, B73, B76: whatever befalls a run, it keeps what is promised, and
/// comes to the end of a run in which nothing goes wrong.
#[test]
fn every_scenario_keeps_the_promises_under_any_schedule() {
    let report = run(|scenario| scenario.simulation.clone().seeds(0..25).run());
    assert!(report.seeds >= 1_000, "{report}");
    // Nothing is left out.
    assert_eq!(report.faults.len(), 14, "{report}");
}

/// P1, P2: wherever the process dies, and wherever the one that takes over dies.
#[test]
fn a_run_that_dies_at_any_write_and_again_at_any_other_is_finished() {
    let small = ["chain", "a question", "a call that is not repeated", "within, shared"];
    let report = run_of(sampled(all()), |scenario| {
        let twice = small.contains(&scenario.name);
        scenario.simulation.crash_everywhere(twice)
    });
    let least = if is_full() { 1_000 } else { 40 };
    assert!(report.seeds > least && report.faults[&Fault::Crash] > least, "{report}");
}

/// P54: an append that is stored and not heard of, because its answer is lost or its task is stopped, is no gap for whoever
/// watches: they are told that something is missing, and read it in the log.
#[test]
fn what_is_stored_and_not_heard_of_is_told() {
    let faults = Faults::none().with(Fault::LostAnswer).with(Fault::Slow).most(4);
    let report = run(|scenario| {
        // Where inputs race, one that is cancelled is over.
        let race = scenario.name.starts_with("two inputs");
        let faults = if race { faults.clone() } else { faults.clone().with(Fault::Cancel) };
        scenario.simulation.clone().faults(faults).seeds(0..20).run()
    });
    assert!(report.faults[&Fault::LostAnswer] > 100, "{report}");
}

/// P15: wherever the caller drops the run.
#[test]
fn a_run_that_is_dropped_at_any_poll_is_finished() {
    let report = run_of(sampled(all()), |scenario| scenario.simulation.everywhere(Fault::Drop));
    assert!(report.faults[&Fault::Drop] > if is_full() { 500 } else { 50 }, "{report}");
}

/// P11: eight schedules of one graph end in the same bytes.
#[test]
fn any_schedule_ends_in_the_same_bytes() {
    for Scenario { name, simulation } in all().iter().filter(|it| it.simulation.has_one_end()) {
        let ends = (0..8).map(|seed| simulation.quiet_end(seed).unwrap());
        let ends: std::collections::BTreeSet<_> = ends.collect();
        assert_eq!(ends.len(), 1, "{name}: {ends:?}");
    }
}

/// What hundreds of runs do, told by those who ran them.
fn digest() -> u64 {
    let report = run(|scenario| scenario.simulation.clone().seeds(40..46).run());
    assert!(report.seeds > 200, "{report}");
    report.digest
}

/// The same seed gives the same run, in any process.
#[test]
fn a_seed_replays_one_run() {
    if std::env::var_os("DIGEST").is_some() {
        println!("digest: {}", digest());
        return;
    }
    let here = digest();
    let mut again = Command::new(std::env::current_exe().unwrap());
    let test = ["--exact", "a_seed_replays_one_run", "--nocapture"];
    let said = again.args(test).env("DIGEST", "").output().unwrap().stdout;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains(&format!("digest: {here}\n")), "{here} is not in {said}");
    let other = run(|scenario| scenario.simulation.clone().seeds(46..52).run());
    assert_ne!(here, other.digest);
}

/// Each wrong store is found in at most a thousand seeds; on a right one, the seed that found it is fine.
#[test]
fn every_wrong_store_is_found() {
    let ends = ends().unwrap();
    for wrong in WrongStore::ALL {
        let Some((_, Scenario { name, .. }, failure)) = found(&ends, Some(wrong), 1_000, 1) else {
            panic!("{wrong:?} is not found");
        };
        let right = all().into_iter().find(|scenario| scenario.name == name).unwrap();
        if let Err(failure) = right.simulation.seeds(failure.seed..failure.seed + 1).run() {
            panic!("without {wrong:?} `{name}` fails too: {failure}");
        }
    }
    assert!(found(&ends, None, 3, 1).is_none());
}

/// A failure names its seed, what befell the run and what it did last; and the trace of that seed ends with it.
#[test]
fn a_failure_can_be_told_and_repeated() {
    let scenario = all().into_iter().find(|scenario| scenario.name == "chain").unwrap();
    let faults = Faults::all().without(Fault::Damage);
    let simulation = scenario.simulation.faults(faults).any_end().seeds(3..500);
    let simulation = simulation.layer(|store| WrongStore::AppendDropped.of(store));
    let failure = simulation.run().unwrap_err();
    let trace = simulation.trace(failure.seed);
    let said = failure.to_string();
    assert!(said.starts_with(&format!("seed {}: ", failure.seed)), "{said}");
    let last = trace.last().unwrap();
    assert!(last.starts_with("WRONG: ") && last.contains(&failure.why), "{last}");
    assert_eq!(failure.tail.last(), trace.iter().rev().nth(1));
}
