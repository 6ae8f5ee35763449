//! `cargo xtask simulate`: builds the simulations and runs them.

use crate::command::Tool;
use crate::mutants;
use crate::report::{Outcome, Work, passed};
use crate::result::Result;

const PACKAGE: [&str; 4] = ["--profile", "simulate", "--package", "hanok-simulations"];

/// How many seconds a landing simulates, and how many schedules it runs at least.
const SHORT: [&str; 4] = ["--seconds", "30", "--seeds", "10000"];

/// What `--full` runs: deaths at every write first, then so many schedules.
const FULL: [&str; 3] = ["--everywhere", "--seeds", "100000"];

/// Runs the simulations with `arguments`. Returns true if all promises were kept. `--teams`: the tests of a team supervisor, which
/// dies twice in a row at every pair of appends, under 10,000 seeds.
pub(crate) fn shown(arguments: &[String]) -> Result<bool> {
    if let [teams] = arguments
        && teams == "--teams"
    {
        let test = ["test", "--quiet", "--profile", "simulate", "--package", "hanok-team"];
        let tool = Tool::cargo().variable("HANOK_TEST_FULL", "1").arguments(test);
        return tool.arguments(["--test", "it", "--", "simulated::"]).shown();
    }
    simulations(arguments).shown()
}

/// The stage: for a landing 30 seconds of the program in which the mutants run afterwards, with none switched on (two builds of it
/// would take minutes); under `--full` all schedules of the tree itself.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    let ended = match work.is_full() {
        true => simulations(&FULL).run()?,
        false => Tool::named(mutants::simulator()?).arguments(SHORT).run()?,
    };
    passed(ended, |output| output.trim_end().lines().last().unwrap_or_default().to_owned())
}

fn simulations<A: AsRef<std::ffi::OsStr>>(arguments: &[A]) -> Tool {
    let run = Tool::cargo().arguments(["run", "--quiet"]).arguments(PACKAGE);
    run.arguments(["--"]).arguments(arguments)
}
