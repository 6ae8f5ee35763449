//! `cargo xtask simulate`: builds the simulations and runs them.

use std::time::{Duration, Instant};

use crate::command::{Ended, Tool};
use crate::mutants;
use crate::result::Result;

const PACKAGE: [&str; 4] = ["--profile", "simulate", "--package", "hanok-simulations"];

/// How long the simulations of every test run may take, their build included.
const TIME: Duration = Duration::from_secs(120);

/// What is left for them at least, and how many there are at least.
const LEAST: (Duration, &str) = (Duration::from_secs(20), "10000");

/// How many there are when there is time.
const FULL: &str = "100000";

/// What has the tests of a team supervisor die twice in a row at every pair of appends, and run under 10,000 seeds.
const TEAMS: [&str; 10] = [
    "test",
    "--quiet",
    "--profile",
    "simulate",
    "--package",
    "hanok-supervisor",
    "--test",
    "it",
    "--",
    "team::simulated",
];

/// Runs what `arguments` say, for whoever looks on; says whether all promises were kept. `--teams` are the team supervisors.
///
/// # Errors
///
/// Cargo could not be started.
pub(crate) fn shown(arguments: &[String]) -> Result<bool> {
    if let [teams] = arguments
        && teams == "--teams"
    {
        return Tool::cargo().variable("HANOK_TEST_FULL", "1").arguments(TEAMS).shown();
    }
    Tool::cargo()
        .arguments(["run", "--quiet"])
        .arguments(PACKAGE)
        .arguments(["--"])
        .arguments(arguments)
        .shown()
}

/// Runs as many as there is time for: those that are run always, then others every time. The program is the one in which the
/// mutants run afterwards, with none of them: two builds of it take minutes.
///
/// # Errors
///
/// It does not build, or could not be started.
pub(crate) fn timed() -> Result<Ended> {
    let began = Instant::now();
    let simulator = mutants::simulator()?;
    let left = TIME.saturating_sub(began.elapsed()).max(LEAST.0).as_secs().to_string();
    Tool::named(simulator).arguments(["--seconds", &left, "--seeds", LEAST.1]).run()
}

/// Runs all of them: deaths at every write first.
///
/// # Errors
///
/// Cargo could not be started.
pub(crate) fn full() -> Result<Ended> {
    quiet(&["--everywhere", "--seeds", FULL])
}

fn quiet(arguments: &[&str]) -> Result<Ended> {
    Tool::cargo()
        .arguments(["run", "--quiet"])
        .arguments(PACKAGE)
        .arguments(["--"])
        .arguments(arguments)
        .run()
}

/// What is said of runs that all went well: their last line.
pub(crate) fn note(said: &str) -> String {
    said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_is_the_last_line_that_says_something() {
        let said = "15 runs, 3 Crash\n10000 runs of 42 scenarios in 9s, seeds from 7\n\n";
        assert_eq!(note(said), "10000 runs of 42 scenarios in 9s, seeds from 7");
        assert_eq!(note(""), "");
    }
}
