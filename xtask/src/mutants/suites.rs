//! The tests and the simulator, built from the copy, and run with one mutation switched on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::command::{Ended, Tool};
use crate::metadata::Metadata;
use crate::result::Result;

use super::catalogue::{Finder, Mutation, Test};
use super::tree::VARIABLE;

/// How long one suite may take. A mutation that makes it take longer, where it does not without, is caught as a hang.
const LIMIT: Duration = Duration::from_secs(240);

/// How long a test may take that runs alone.
const ALONE: Duration = Duration::from_secs(60);

/// How long the simulator may take, which ends whatever does not come to its end by itself.
const SEARCH: Duration = Duration::from_secs(1_800);

/// How many seeds of each scenario the simulator runs where it has to find a mutation, and where tests have to.
const SEEDS: (&str, &str) = ("1000", "100");

/// What is built together, so that its dependencies are built once.
const PACKAGES: [&str; 4] = ["hanok-state", "hanok-checkpoint", "hanok-graph", "hanok-sqlite"];

const SIMULATOR: &str = "hanok-simulations";

/// The suites that take long, which run after the others.
const SLOW: [&str; 1] = ["crashes"];

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

/// Which tests are built.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Programs {
    /// All, which run until one catches a mutation.
    All,
    /// Those of these tests, which alone run.
    Of(BTreeSet<Test>),
}

/// What is built.
#[derive(Debug)]
pub(super) struct Suites {
    /// Only the test runs that a mutation names.
    named: bool,
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
    /// Builds the simulator of `tree`, and these `programs` of tests; `folder` is for what they share.
    ///
    /// # Errors
    ///
    /// It does not build, or the simulator fails without any mutation.
    pub(super) fn build(tree: &Path, folder: &Path, programs: &Programs) -> Result<Self> {
        let simulator = simulator(tree, folder)?;
        let target = folder.join("target");
        let build = |arguments: &[&str]| build(tree, &target, arguments);
        let mut suites = Vec::new();
        for arguments in programs.arguments() {
            seeded(&target, "debug")?;
            let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
            for built in build(&arguments)?.into_iter().filter(|built| built.profile.test) {
                let Some(program) = built.executable else { continue };
                let Some(folder) = built.manifest_path.parent() else { continue };
                let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let (name, folder) = (built.target.name, folder.to_path_buf());
                suites.push(Suite { package, name, program, folder });
            }
        }
        let rank = |suite: &Suite| (SLOW.contains(&suite.name.as_str()), suite.name.clone());
        suites.sort_by_key(rank);
        let ends = folder.join("ends.json");
        let wrote = Tool::named(&simulator)
            .arguments(["--ends".as_ref(), ends.as_os_str()])
            .variable(VARIABLE, "0")
            .run()?;
        match wrote.succeeded() && fs::exists(&ends)? {
            true => Ok(Self { named: *programs != Programs::All, suites, simulator, ends }),
            false => Err(format!("without any mutation: {}", wrote.output).into()),
        }
    }

    /// Runs what has to catch `mutation`, until something does.
    ///
    /// # Errors
    ///
    /// A program could not be started.
    pub(super) fn run(&self, mutation: &Mutation) -> Result<Verdict> {
        if let Finder::Tests(test) = &mutation.finder {
            let of_test = self.suites.iter().find(|suite| suite.has(test));
            let suite = of_test.ok_or_else(|| format!("there is no program of {test:?}"))?;
            let only = [test.name.clone()];
            if let Some(verdict) = suite.verdict(mutation.number, &only)? {
                return Ok(verdict);
            }
            if self.named {
                return Ok(Verdict::Survived);
            }
            let own = |suite: &&Suite| mutation.package.as_ref() == Some(&suite.package);
            let (own, others): (Vec<_>, Vec<_>) = self.suites.iter().partition(own);
            for suite in own.into_iter().chain(others) {
                if let Some(verdict) = suite.verdict(mutation.number, &[])? {
                    return Ok(verdict);
                }
            }
        }
        self.simulate(mutation)
    }

    fn simulate(&self, mutation: &Mutation) -> Result<Verdict> {
        let mut tool = Tool::named(&self.simulator)
            .arguments(["--search".as_ref(), self.ends.as_os_str()])
            .variable(VARIABLE, mutation.number.to_string())
            .limit(SEARCH);
        let is_tested = matches!(mutation.finder, Finder::Tests(_));
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

/// Builds the simulator of `tree`.
///
/// # Errors
///
/// It does not build.
pub(super) fn simulator(tree: &Path, folder: &Path) -> Result<PathBuf> {
    let target = folder.join("target");
    seeded(&target, "simulate")?;
    let built = build(tree, &target, &["build", "--profile", "simulate", "--package", SIMULATOR])?;
    let program = built.into_iter().find_map(|built| built.executable);
    Ok(program.ok_or("cargo has built no simulator")?)
}

impl Programs {
    /// With what Cargo builds them: once for each package, or once for all.
    fn arguments(&self) -> Vec<Vec<String>> {
        let begin = |packages: &[&str]| {
            let arguments = ["test", "--no-run", "--all-features"].into_iter();
            let packages = packages.iter().flat_map(|package| ["--package", package]);
            arguments.chain(packages).map(str::to_owned).collect::<Vec<_>>()
        };
        let tests = match self {
            Self::All => {
                let targets = ["--lib", "--tests"].map(str::to_owned);
                return vec![begin(&PACKAGES).into_iter().chain(targets).collect()];
            }
            Self::Of(tests) => tests,
        };
        let mut programs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for test in tests {
            programs.entry(&test.package).or_default().insert(&test.program);
        }
        let target = |program: &str| match program {
            "lib" => vec!["--lib".to_owned()],
            _ => vec!["--test".to_owned(), program.to_owned()],
        };
        let of_one = |(package, programs): (&str, BTreeSet<&str>)| {
            begin(&[package]).into_iter().chain(programs.into_iter().flat_map(target)).collect()
        };
        programs.into_iter().map(of_one).collect()
    }
}

impl Suite {
    /// Whether `test` is one of its tests.
    fn has(&self, test: &Test) -> bool {
        let name = match test.program.as_str() {
            "lib" => test.package.replace('-', "_"),
            program => program.to_owned(),
        };
        self.package == test.package && self.name == name
    }

    /// Runs `only` these tests of the suite, or all, with the mutation `number`, and what failed again without it: `None` when
    /// nothing failed because of it.
    fn verdict(&self, number: u32, only: &[String]) -> Result<Option<Verdict>> {
        let suite = match self.name.replace('_', "-") == self.package {
            true => self.package.clone(),
            false => format!("{} {}", self.package, self.name),
        };
        let ended = self.ended(number, only)?;
        if !only.is_empty() && ended.output.contains("running 0 tests") {
            return Err(format!("{suite} has no test {}", only.join(", ")).into());
        }
        if ended.succeeded() {
            return Ok(None);
        }
        let tests = failed(&ended.output);
        if tests.is_empty() {
            return Ok(match ended.late {
                // On a busy machine it may take as long by itself.
                true if self.ended(0, only)?.late => None,
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
            .variable(VARIABLE, number.to_string())
            .variable("CARGO_MANIFEST_DIR", &self.folder)
            .variable("INSTA_UPDATE", "no")
            .variable("RUST_BACKTRACE", "0")
            // A test that runs alone takes all its points: a sample might miss what it is to find.
            .variable("HANOK_TEST_FULL", if only.is_empty() { "" } else { "1" })
            .limit(if only.is_empty() { LIMIT } else { ALONE })
            .run()
    }
}

/// Builds with Cargo in `tree`; what came of it.
fn build(tree: &Path, target: &Path, arguments: &[&str]) -> Result<Vec<Built>> {
    let built = Tool::cargo()
        .within(tree)
        .arguments(arguments)
        .arguments(["--message-format", "json-render-diagnostics"])
        .variable("CARGO_TARGET_DIR", target)
        .text()?;
    Ok(built.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// Copies to `target` what is built already of what hanok depends on, by `profile`. Cargo takes the tree for hanok itself,
/// so nothing of hanok's own is copied, and nothing is built where hanok is.
fn seeded(target: &Path, profile: &str) -> Result<()> {
    let to = target.join(profile);
    if fs::exists(&to)? {
        return Ok(());
    }
    let from = Metadata::read()?.target_directory.join(profile);
    for part in ["build", ".fingerprint"] {
        copy(&from.join(part), &to.join(part), |from, to| fs::copy(from, to).map(drop))?;
    }
    // A compiler puts what it makes anew in the place of what was there, which stays where it is linked to.
    copy(&from.join("deps"), &to.join("deps"), |from, to| fs::hard_link(from, to))
}

/// Copies a folder, if it is there, but for what is of hanok and for programs.
fn copy(from: &Path, to: &Path, file: fn(&Path, &Path) -> std::io::Result<()>) -> Result<()> {
    if !fs::exists(from)? {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let is_program = to.ends_with("deps") && path.extension().is_none();
        if is_program || name.to_string_lossy().contains("hanok") {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => copy(&path, &to.join(name), file)?,
            false => file(&path, &to.join(name))?,
        }
    }
    Ok(())
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

    #[test]
    fn only_what_holds_the_tests_is_built() {
        let test = |package: &str, program: &str| Test {
            package: package.to_owned(),
            program: program.to_owned(),
            name: "a".to_owned(),
        };
        let tests = [test("x", "lib"), test("x", "t"), test("y", "t")];
        let arguments = Programs::Of(tests.into_iter().collect()).arguments();
        let lines: Vec<_> = arguments.iter().map(|arguments| arguments.join(" ")).collect();
        assert_eq!(
            lines,
            [
                "test --no-run --all-features --package x --lib --test t",
                "test --no-run --all-features --package y --test t",
            ]
        );
    }
}
