//! The tests and the simulator, built from the copy, and run with one mutation switched on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::command::{Ended, Tool};
use crate::metadata::Metadata;
use crate::result::Result;

use super::catalogue::{Finder, Mutation, Test};
use super::tree::VARIABLE;

/// How long a test may take. A mutation that makes it take longer, where it does not without, is caught as a hang.
const LIMIT: Duration = Duration::from_secs(60);

/// How long the simulator may take, which ends whatever does not come to its end by itself.
const SEARCH: Duration = Duration::from_secs(1_800);

/// How many seeds of each scenario the simulator runs.
const SEEDS: &str = "1000";

const SIMULATOR: &str = "hanok-simulations";

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

impl Suites {
    /// Builds the simulator of `tree`, and the programs of these `tests`; `folder` is for what they share.
    pub(super) fn build(tree: &Path, folder: &Path, tests: &BTreeSet<Test>) -> Result<Self> {
        let simulator = simulator(tree, folder)?;
        let target = folder.join("target");
        let mut suites = Vec::new();
        for arguments in builds(tests) {
            seeded(&target, "debug")?;
            suites.extend(build(tree, &target, &arguments)?.iter().filter_map(Suite::built));
        }
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

    /// Runs the test or the simulator that has to catch `mutation`. Returns what caught it.
    pub(super) fn run(&self, mutation: &Mutation) -> Result<Option<String>> {
        if let Finder::Tests(test) = &mutation.finder {
            let of_test = self.suites.iter().find(|suite| suite.has(test));
            let suite = of_test.ok_or_else(|| format!("there is no program of {test:?}"))?;
            return suite.verdict(mutation.number, &test.name);
        }
        let mut tool = Tool::named(&self.simulator)
            .arguments(["--search".as_ref(), self.ends.as_os_str()])
            .arguments(["--seeds", SEEDS])
            .variable(VARIABLE, mutation.number.to_string())
            .limit(SEARCH);
        if let Finder::Store(name) = &mutation.finder {
            tool = tool.arguments(["--store", name]);
        }
        let ended = tool.run()?;
        if ended.succeeded() {
            return Ok(None);
        }
        let last = ended.output.lines().rev().find(|line| !line.trim().is_empty());
        let how = if ended.late { "it hung" } else { last.unwrap_or_default().trim() };
        Ok(Some(format!("the simulator: {how}")))
    }
}

/// Builds the simulator of `tree`.
pub(super) fn simulator(tree: &Path, folder: &Path) -> Result<PathBuf> {
    let target = folder.join("target");
    seeded(&target, "simulate")?;
    let built = build(tree, &target, &["build", "--profile", "simulate", "--package", SIMULATOR])?;
    let program = built.iter().find_map(|built| built.pointer("/executable")?.as_str());
    Ok(program.ok_or("cargo has built no simulator")?.into())
}

/// The arguments with which Cargo builds the programs of `tests`: once for each package.
fn builds(tests: &BTreeSet<Test>) -> Vec<Vec<&str>> {
    let mut programs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for test in tests {
        programs.entry(&test.package).or_default().insert(&test.program);
    }
    let target = |program| match program {
        "lib" => vec!["--lib"],
        program => vec!["--test", program],
    };
    let of_one = |(package, programs): (_, BTreeSet<_>)| {
        let begin = ["test", "--no-run", "--all-features", "--package", package];
        begin.into_iter().chain(programs.into_iter().flat_map(target)).collect()
    };
    programs.into_iter().map(of_one).collect()
}

impl Suite {
    /// The program of tests that a message of Cargo's is about.
    fn built(message: &Value) -> Option<Self> {
        let text = |at| message.pointer(at)?.as_str();
        let folder = Path::new(text("/manifest_path")?).parent()?.to_path_buf();
        let package = folder.file_name()?.to_string_lossy().into_owned();
        let (name, program) = (text("/target/name")?.to_owned(), text("/executable")?.into());
        let is_test = message.pointer("/profile/test")?.as_bool()?;
        is_test.then_some(Self { package, name, program, folder })
    }

    /// Whether `test` is one of its tests.
    fn has(&self, test: &Test) -> bool {
        let name = match test.program.as_str() {
            "lib" => test.package.replace('-', "_"),
            program => program.to_owned(),
        };
        self.package == test.package && self.name == name
    }

    /// Runs the test `name` with the mutation `number`, and again without if it fails.
    fn verdict(&self, number: u32, name: &str) -> Result<Option<String>> {
        let ended = self.ended(number, name)?;
        if ended.output.contains("running 0 tests") {
            return Err(format!("{} {} has no test {name}", self.package, self.name).into());
        }
        // On a busy machine it may fail or take as long by itself.
        if ended.succeeded() || !self.ended(0, name)?.succeeded() {
            return Ok(None);
        }
        let how = if ended.late { "hang of " } else { "" };
        Ok(Some(format!("{how}{} {}: {name}", self.package, self.name)))
    }

    fn ended(&self, number: u32, name: &str) -> Result<Ended> {
        Tool::named(&self.program)
            .within(&self.folder)
            .arguments(["--exact", name])
            .variable(VARIABLE, number.to_string())
            .variable("CARGO_MANIFEST_DIR", &self.folder)
            .variable("INSTA_UPDATE", "no")
            .variable("RUST_BACKTRACE", "0")
            // A sample of its points might miss what the test is to find.
            .variable("HANOK_TEST_FULL", "1")
            .limit(LIMIT)
            .run()
    }
}

/// Builds with Cargo in `tree`. Returns its messages.
fn build(tree: &Path, target: &Path, arguments: &[&str]) -> Result<Vec<Value>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_holds_the_tests_is_built() {
        let tests = [("x", "lib"), ("x", "t"), ("y", "t")].map(|(package, program)| {
            let (package, program) = (package.to_owned(), program.to_owned());
            Test { package, program, name: "a".to_owned() }
        });
        let tests = tests.into_iter().collect();
        let lines: Vec<_> = builds(&tests).iter().map(|arguments| arguments.join(" ")).collect();
        let begin = "test --no-run --all-features --package";
        assert_eq!(lines, [format!("{begin} x --lib --test t"), format!("{begin} y --test t")]);
    }
}
