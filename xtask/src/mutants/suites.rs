//! The tests and the simulator, built from the copy, and run with one mutation switched on.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::Result;
use crate::command::{Ended, Tool};

use super::catalogue::{Finder, Mutation};
use super::tree::VARIABLE;

/// How long one suite may take. A mutation that makes it take longer, where it does not without, is caught as a hang.
const LIMIT: Duration = Duration::from_secs(240);

/// How long the simulator may take, which ends whatever does not come to its end by itself.
const SEARCH: Duration = Duration::from_secs(1_800);

/// How many seeds of each scenario the simulator runs where it has to find a mutation, and where tests have to.
const SEEDS: (&str, &str) = ("1000", "100");

/// What is built together, so that its dependencies are built once.
const PACKAGES: [&str; 5] =
    ["hanok-state", "hanok-checkpoint", "hanok-graph", "hanok-sqlite", SIMULATOR];

const SIMULATOR: &str = "hanok-simulations";

/// The suites that take long, which run after the others.
const SLOW: [&str; 3] = ["random", "kills", "processes"];

/// Whether, and by whom, a mutation was caught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Survived,
    /// The suite did not come to an end.
    Hang(String),
    /// The simulator failed; how.
    Simulated(String),
    /// Tests of a suite failed that pass without it.
    Failed {
        suite: String,
        tests: Vec<String>,
    },
}

/// What is built.
#[derive(Debug)]
pub(super) struct Suites {
    suites: Vec<Suite>,
    simulator: PathBuf,
    ends: PathBuf,
}

/// The tests of one program.
#[derive(Debug, PartialEq, Eq)]
struct Suite {
    package: String,
    name: String,
    program: PathBuf,
    /// Where its package is: tests read files beside them.
    folder: PathBuf,
}

/// What Cargo says about something that it has built, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Built {
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
    manifest_path: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Profile {
    test: bool,
}

impl Suites {
    /// Builds the simulator of `tree`, below `folder`, and the tests too if they are `tested`.
    ///
    /// # Errors
    ///
    /// It does not build, or the simulator fails without any mutation.
    pub(super) fn build(tree: &Path, folder: &Path, tested: bool) -> Result<Self> {
        // With a test of its package, a program is built as it is.
        let targets: &[&str] =
            if tested { &["--lib", "--bins", "--tests"] } else { &["--test", "promises"] };
        let built = Tool::cargo()
            .within(tree)
            .arguments(["test", "--no-run", "--profile", "simulate", "--all-features"])
            .arguments(targets)
            .arguments(["--message-format", "json-render-diagnostics"])
            .arguments(PACKAGES.iter().flat_map(|package| ["--package", package]))
            .variable("CARGO_TARGET_DIR", &folder.join("target").to_string_lossy())
            .text()?;
        let built = built.lines().filter_map(|line| serde_json::from_str::<Built>(line).ok());
        let (mut suites, mut simulator) = (Vec::new(), None);
        for built in built {
            let Some(program) = built.executable else { continue };
            let Some(folder) = built.manifest_path.parent() else { continue };
            let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match (built.profile.test, package.starts_with("hanok-")) {
                (false, _) if built.target.name == SIMULATOR => simulator = Some(program),
                (true, true) => suites.push(Suite {
                    package,
                    name: built.target.name,
                    program,
                    folder: folder.to_path_buf(),
                }),
                _ => {}
            }
        }
        let simulator = simulator.ok_or("cargo has built no simulator")?;
        let rank = |suite: &Suite| (SLOW.contains(&suite.name.as_str()), suite.name.clone());
        suites.sort_by_key(rank);
        let ends = folder.join("ends.json");
        let wrote = Tool::named(&simulator)
            .arguments(["--ends".as_ref(), ends.as_os_str()])
            .variable(VARIABLE, "0")
            .run()?;
        match wrote.succeeded() && fs::exists(&ends)? {
            true => Ok(Self { suites, simulator, ends }),
            false => Err(format!("without any mutation: {}", wrote.output).into()),
        }
    }

    /// Runs what has to catch `mutation`, until something does.
    ///
    /// # Errors
    ///
    /// A program could not be started.
    pub(super) fn run(&self, mutation: &Mutation) -> Result<Verdict> {
        if let (Finder::Tests, Some(package)) = (&mutation.finder, &mutation.package) {
            let own = |suite: &&Suite| suite.package == *package;
            let (own, others): (Vec<_>, Vec<_>) = self.suites.iter().partition(own);
            for suite in own.into_iter().chain(others) {
                if let Some(verdict) = suite.run(mutation.number)? {
                    return Ok(verdict);
                }
            }
        }
        self.simulate(mutation)
    }

    fn simulate(&self, mutation: &Mutation) -> Result<Verdict> {
        let mut tool = Tool::named(&self.simulator)
            .arguments(["--search".as_ref(), self.ends.as_os_str()])
            .variable(VARIABLE, &mutation.number.to_string())
            .limit(SEARCH);
        let is_tested = mutation.finder == Finder::Tests;
        tool = tool.arguments(["--seeds", if is_tested { SEEDS.1 } else { SEEDS.0 }]);
        if let Finder::Store(name) = &mutation.finder {
            tool = tool.arguments(["--store", name]);
        }
        let ended = tool.run()?;
        if ended.late {
            return Ok(Verdict::Hang("the simulator".to_owned()));
        }
        if ended.succeeded() {
            return Ok(Verdict::Survived);
        }
        let last = ended.output.lines().rev().find(|line| !line.trim().is_empty());
        Ok(Verdict::Simulated(last.unwrap_or_default().trim().to_owned()))
    }
}

impl Suite {
    /// Runs the suite with the mutation `number`, and what failed again without it: `None` when nothing failed because of it.
    fn run(&self, number: u32) -> Result<Option<Verdict>> {
        let suite = match self.name.replace('_', "-") == self.package {
            true => self.package.clone(),
            false => format!("{} {}", self.package, self.name),
        };
        let ended = self.ended(number, &[])?;
        if ended.succeeded() {
            return Ok(None);
        }
        let tests = failed(&ended.output);
        if tests.is_empty() {
            return Ok(match ended.late {
                // On a busy machine it may take as long by itself.
                true if self.ended(0, &[])?.late => None,
                true => Some(Verdict::Hang(suite)),
                false => Some(Verdict::Failed { suite, tests }),
            });
        }
        let without = failed(&self.ended(0, &tests)?.output);
        let tests: Vec<_> = tests.into_iter().filter(|test| !without.contains(test)).collect();
        Ok((!tests.is_empty()).then_some(Verdict::Failed { suite, tests }))
    }

    fn ended(&self, number: u32, only: &[String]) -> Result<Ended> {
        let exact = (!only.is_empty()).then_some("--exact");
        Tool::named(&self.program)
            .within(&self.folder)
            .arguments(exact)
            .arguments(only)
            .variable(VARIABLE, &number.to_string())
            .variable("CARGO_MANIFEST_DIR", &self.folder.to_string_lossy())
            .variable("INSTA_UPDATE", "no")
            .variable("RUST_BACKTRACE", "0")
            .limit(LIMIT)
            .run()
    }
}

/// The tests that a program of tests says have failed.
fn failed(said: &str) -> Vec<String> {
    let name = |line: &str| {
        let name = line.trim().strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
        // A test that should panic says so.
        Some(name.strip_suffix(" - should panic").unwrap_or(name).to_owned())
    };
    said.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_that_failed_are_named() {
        let said = "running 3 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest d - should panic ... FAILED\n";
        assert_eq!(failed(said), ["a::c", "d"]);
        assert_eq!(failed("Killed"), Vec::<String>::new());
    }
}
