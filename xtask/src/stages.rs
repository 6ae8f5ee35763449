//! The stages of `cargo xtask test`. A failing stage does not hide the later ones.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use postgres_for_tests::{Installation, Server};

use crate::behaviours::Comparison;
use crate::chains;
use crate::command::{Ended, Tool, coloured};
use crate::dependencies;
use crate::examples::{RUNS, Run};
use crate::fuzz;
use crate::getting_started;
use crate::guides;
use crate::jail;
use crate::metadata::Metadata;
use crate::mutants;
use crate::neighbours;
use crate::peers;
use crate::publish;
use crate::report::{self, Finished, Outcome};
use crate::result::Result;
use crate::simulate;
use crate::tidy;

/// One check.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    run: fn(&Metadata) -> Result<Outcome>,
}

/// Every stage, in the order they run: cheap ones first, then those that share their build.
/// `clippy` and `doc` read the same checked dependencies, the later ones the same built ones.
pub(crate) const ALL: &[Stage] = &[
    Stage { name: "fmt", about: "cargo fmt --check", run: fmt },
    Stage { name: "tidy", about: "floors, rooms, manifests, licences, hygiene", run: tidy },
    Stage {
        name: "behaviours",
        about: "the numbered lists in docs/ against the tests",
        run: behaviours,
    },
    Stage { name: "dependencies", about: "outside crates per crate, against limits", run: count },
    Stage {
        name: "neighbours",
        about: "beside sqlx, with the lowest rusqlite, and with serde_json's features",
        run: neighbours::stage,
    },
    Stage { name: "clippy", about: "all targets and features, warnings denied", run: clippy },
    Stage {
        name: "features",
        about: "the parser without its feature, as clippy reads it",
        run: features,
    },
    Stage { name: "wasm", about: "what runs in a browser, checked for it", run: wasm },
    Stage { name: "doc", about: "cargo doc, warnings denied", run: doc },
    Stage { name: "test", about: "all tests (nextest if present)", run: test },
    Stage { name: "simulate", about: "graphs under schedules of crashes", run: simulate },
    Stage { name: "mutants", about: "bugs that the simulator has to find", run: mutants::stage },
    Stage {
        name: "fuzz",
        about: "the parser's claims under libFuzzer, 45 seconds each",
        run: fuzz::run,
    },
    Stage { name: "doctest", about: "the examples in the documentation", run: doctest },
    Stage { name: "guides", about: "the guides, each with what it adds", run: guides::stage },
    Stage {
        name: "publish",
        about: "every crate as a package, checked by itself",
        run: publish::stage,
    },
    Stage { name: "examples", about: "the example programs end to end", run: examples },
    Stage {
        name: "getting-started",
        about: "the first guide, followed to the letter",
        run: getting_started::stage,
    },
];

/// Those that run at the same time: documentation is built and tested one crate after the other, on little more than one core, and
/// so is what is checked package by package.
const BESIDE: [&str; 3] = ["doctest", "guides", "publish"];

/// What takes the place of a stage of its name when everything is wanted.
const FULL: &[Stage] = &[
    Stage { name: "neighbours", about: "", run: neighbours::resolve_and_test },
    Stage { name: "test", about: "", run: test_all },
    Stage { name: "simulate", about: "", run: simulate_all },
    Stage { name: "mutants", about: "", run: mutants::stage_of_all },
    Stage { name: "fuzz", about: "", run: fuzz::long },
];

/// The variable by which tests are told to try more, if it is not empty.
const MORE: &str = "HANOK_TEST_FULL";

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|stage| stage.name)
}

/// Runs the stages named in `only`, all when it is empty, and says whether none failed.
///
/// # Errors
///
/// The workspace itself cannot be read.
pub(crate) fn run(only: &[String], full: bool) -> Result<bool> {
    let metadata = Metadata::read()?;
    let is_wanted = |stage: &&Stage| only.is_empty() || only.iter().any(|name| name == stage.name);
    let thorough = |stage| FULL.iter().find(|other| full && other.name == stage);
    let stages = ALL.iter().filter(is_wanted).map(|it| thorough(it.name).unwrap_or(it));
    let stages: Vec<&Stage> = stages.collect();
    let (started, mut finished) = (Instant::now(), Vec::new());
    let is_beside = |stage: &Stage| BESIDE.contains(&stage.name);
    for some in stages.chunk_by(|one, next| is_beside(one) && is_beside(next)) {
        finished.extend(at_once(some, &metadata));
    }
    let took = started.elapsed();
    // Whichever stages ran: the counts belong to every summary.
    let counts = dependencies::counts(&metadata).map(lines).unwrap_or_default();
    Ok(report::summary(&finished, took, &counts))
}

/// Runs `stages` at the same time. Each is printed when it and those before it have ended.
fn at_once(stages: &[&Stage], metadata: &Metadata) -> Vec<Finished> {
    let names: Vec<_> = stages.iter().map(|stage| stage.name).collect();
    report::announce(&names.join(", "));
    thread::scope(|scope| {
        let runs: Vec<_> =
            stages.iter().map(|stage| scope.spawn(|| finished(stage, metadata))).collect();
        let ended = runs.into_iter().zip(names).map(|(run, name)| {
            let end = run.join().unwrap_or_else(|_panic| {
                let outcome = Outcome::Failed("it panicked".to_owned());
                Finished { name, outcome, took: Duration::ZERO }
            });
            end.print();
            end
        });
        ended.collect()
    })
}

fn finished(stage: &Stage, metadata: &Metadata) -> Finished {
    let started = Instant::now();
    let outcome = (stage.run)(metadata).unwrap_or_else(|error| Outcome::Failed(error.to_string()));
    Finished { name: stage.name, outcome, took: started.elapsed() }
}

fn fmt(_: &Metadata) -> Result<Outcome> {
    if let Some(reason) = missing_component("fmt", "rustfmt") {
        return Ok(Outcome::Skipped(reason));
    }
    // rustfmt does not hear of Cargo's colours.
    let colour = if coloured() { "always" } else { "never" };
    let fmt = Tool::cargo().arguments(["fmt", "--all", "--check", "--", "--color", colour]);
    passed(fmt.run()?, |_| String::new())
}

fn tidy(metadata: &Metadata) -> Result<Outcome> {
    let faults = tidy::faults(metadata)?;
    let verdict = tidy::verdict(&faults);
    if faults.is_empty() {
        Ok(Outcome::Passed(verdict))
    } else {
        Ok(Outcome::Failed(lines(faults)))
    }
}

fn behaviours(_: &Metadata) -> Result<Outcome> {
    let comparison = Comparison::read()?;
    let faults = comparison.faults();
    if faults.is_empty() {
        Ok(Outcome::Passed(comparison.verdict()))
    } else {
        Ok(Outcome::Failed(lines(faults)))
    }
}

fn count(metadata: &Metadata) -> Result<Outcome> {
    let counts = dependencies::counts(metadata)?;
    let limited = counts.iter().filter(|count| count.limit.is_some()).count();
    let too_many: Vec<_> = counts.into_iter().filter(dependencies::Count::is_too_many).collect();
    if too_many.is_empty() {
        return Ok(Outcome::Passed(format!("{limited} crates within their limits")));
    }
    Ok(Outcome::Failed(lines(too_many)))
}

fn clippy(_: &Metadata) -> Result<Outcome> {
    if let Some(reason) = missing_component("clippy", "clippy") {
        return Ok(Outcome::Skipped(reason));
    }
    let clippy = Tool::cargo()
        .arguments(["clippy", "--workspace", "--all-targets", "--all-features"])
        .arguments(["--", "-D", "warnings"]);
    passed(clippy.run()?, |_| String::new())
}

/// The crates that know no runtime and no system: names, states, the fold of a log, and the parser.
const FOR_BROWSERS: [&str; 4] = ["hanok-core", "hanok-state", "hanok-checkpoint", "hanok-parse"];

/// What another crate of the workspace switches on is off here: a crate that forgets a `cfg` is found by itself alone.
fn features(_: &Metadata) -> Result<Outcome> {
    let clippy = Tool::cargo().arguments(["clippy", "--package", "hanok-parse", "--lib"]);
    let clippy = clippy.arguments(["--no-default-features", "--", "-D", "warnings"]);
    passed(clippy.run()?, |_| "hanok-parse".to_owned())
}

/// The target of browsers.
const WASM: &str = "wasm32-unknown-unknown";

fn wasm(_: &Metadata) -> Result<Outcome> {
    let libraries = ["--print", "target-libdir", "--target", WASM];
    let libraries = Tool::named("rustc").arguments(libraries).text()?;
    if !Path::new(libraries.trim()).is_dir() {
        let why = format!("the target is not installed: `rustup target add {WASM}`");
        return Ok(Outcome::Skipped(why));
    }
    let packages = FOR_BROWSERS.iter().flat_map(|name| ["--package", name]);
    let check = Tool::cargo().arguments(["check", "--target", WASM]).arguments(packages);
    passed(check.run()?, |_| FOR_BROWSERS.join(", "))
}

fn doc(_: &Metadata) -> Result<Outcome> {
    let doc = Tool::cargo()
        .arguments(["doc", "--workspace", "--no-deps", "--all-features"])
        .variable("RUSTDOCFLAGS", "-Dwarnings");
    passed(doc.run()?, |_| String::new())
}

fn test(metadata: &Metadata) -> Result<Outcome> {
    tests(metadata, "")
}

/// With the tests that try more where they are told to.
fn test_all(metadata: &Metadata) -> Result<Outcome> {
    tests(metadata, "1")
}

fn tests(metadata: &Metadata, full: &str) -> Result<Outcome> {
    let (server, note) = database();
    let (python, without) = chains::python(&metadata.target_directory);
    let (peers, without_peers) = peers::servers(!full.is_empty());
    let note = note + jail::note() + &without + &without_peers;
    let peers = peers.map(|peers| peers.to_string_lossy().into_owned()).unwrap_or_default();
    let python = python.map(|python| python.to_string_lossy().into_owned()).unwrap_or_default();
    // Tests look for a server themselves where none is named.
    let cargo = || {
        let cargo = Tool::cargo().variable(chains::PYTHON, &python).variable(MORE, full);
        let cargo = cargo.variable(peers::PEERS, &peers);
        match &server {
            Some(server) => cargo.variable(postgres_for_tests::URL, server.url("postgres")),
            None => cargo,
        }
    };
    if Tool::cargo().arguments(["nextest", "--version"]).text().is_ok() {
        let run = ["nextest", "run", "--workspace", "--all-features", "--no-fail-fast"];
        let ended = cargo().arguments(run).run()?;
        return passed(ended, |said| format!("{}{note}", nextest_counts(said)));
    }
    let run = ["test", "--workspace", "--all-features", "--no-fail-fast"];
    // Not `--all-targets`, which runs benches too; naming kinds leaves the doctests out.
    let kinds = ["--lib", "--bins", "--tests", "--examples"];
    passed(cargo().arguments(run).arguments(kinds).run()?, |said| {
        format!("{} (cargo test: nextest is not installed){note}", cargo_test_counts(said))
    })
}

/// The server that the tests of this run share, until it is dropped, and a note on it. None is started where the caller
/// names one.
fn database() -> (Option<Server>, String) {
    if std::env::var_os(postgres_for_tests::URL).is_some_and(|url| !url.is_empty()) {
        return (None, "; PostgreSQL of the caller's".to_owned());
    }
    let started = Installation::newest().and_then(|installation| {
        let version = installation.version()?;
        Ok((Server::start(&installation, &[])?, version))
    });
    match started {
        Ok((server, version)) => (Some(server), format!("; {version}")),
        Err(why) => (None, format!("; PostgreSQL's tests are skipped: {why}")),
    }
}

fn simulate(_: &Metadata) -> Result<Outcome> {
    passed(simulate::timed()?, simulate::note)
}

fn simulate_all(_: &Metadata) -> Result<Outcome> {
    passed(simulate::full()?, simulate::note)
}

fn doctest(metadata: &Metadata) -> Result<Outcome> {
    if !metadata.members().iter().any(|package| package.is_library()) {
        return Ok(Outcome::Skipped("no library in the workspace yet".into()));
    }
    let run = ["test", "--doc", "--workspace", "--all-features", "--no-fail-fast"];
    passed(Tool::cargo().arguments(run).run()?, cargo_test_counts)
}

fn examples(metadata: &Metadata) -> Result<Outcome> {
    let exists = |run: &&Run| {
        metadata.members().iter().any(|package| {
            package.targets.iter().any(|target| {
                target.name == run.example && target.kind.iter().any(|kind| kind == "example")
            })
        })
    };
    let (present, absent): (Vec<&Run>, Vec<&Run>) = RUNS.iter().partition(exists);
    let mut skipped: Vec<_> = absent.iter().map(|run| run.example).collect();
    skipped.dedup();
    let skipped = match skipped.as_slice() {
        [] => String::new(),
        names => format!("not there yet: {}", names.join(", ")),
    };
    if present.is_empty() {
        return Ok(Outcome::Skipped(skipped));
    }

    let mut failures = String::new();
    for run in &present {
        // The build has no time limit, the run has one.
        let built = Tool::cargo().arguments(["build", "--example", run.example]).run()?;
        if !built.succeeded() {
            failures.push_str(&format!("{run}: does not build\n{}\n", built.output));
            continue;
        }
        let ended = run.tool().run()?;
        let faults = run.faults(&ended);
        if !faults.is_empty() {
            failures.push_str(&format!("{run}: {}\n{}\n", faults.join("; "), ended.output));
        }
    }
    if !failures.is_empty() {
        return Ok(Outcome::Failed(failures));
    }
    let note = if skipped.is_empty() { skipped } else { format!("; {skipped}") };
    Ok(Outcome::Passed(format!("{} runs{note}", present.len())))
}

/// The outcome of a program: its whole output when it failed, else a note on it.
fn passed(ended: Ended, note: impl Fn(&str) -> String) -> Result<Outcome> {
    if ended.succeeded() {
        return Ok(Outcome::Passed(note(&ended.output)));
    }
    Ok(Outcome::Failed(ended.output))
}

/// Why a part of the toolchain cannot be used; `None` when it is there, or could be installed.
fn missing_component(command: &str, component: &str) -> Option<String> {
    let is_there = || Tool::cargo().arguments([command, "--version"]).text().is_ok();
    if is_there() {
        return None;
    }
    let install = Tool::named("rustup").arguments(["component", "add", component]).run();
    if install.is_ok_and(|ended| ended.succeeded()) && is_there() {
        return None;
    }
    Some(format!("{component} is not installed, and rustup could not add it"))
}

/// The counts in nextest's closing line: `Summary [   1.2s] 41 tests run: 41 passed, 0 skipped`.
fn nextest_counts(said: &str) -> String {
    let said = plain(said);
    let line = said.lines().rev().find(|line| line.trim_start().starts_with("Summary"));
    line.and_then(|line| line.split_once(']')).map_or("", |(_, counts)| counts.trim()).to_owned()
}

/// The sums over what every binary of `cargo test` says: `test result: ok. 3 passed; 0 failed; …`.
pub(crate) fn cargo_test_counts(said: &str) -> String {
    let said = plain(said);
    let results: Vec<_> = said.lines().filter(|line| line.starts_with("test result:")).collect();
    let sum = |what: &str| -> usize {
        let counts = results.iter().flat_map(|line| line.split([';', '.']));
        counts.filter_map(|part| part.trim().strip_suffix(what)?.trim().parse::<usize>().ok()).sum()
    };
    format!("{} passed, {} ignored", sum("passed"), sum("ignored"))
}

/// `said` without the escape sequences that colour it.
fn plain(said: &str) -> String {
    let mut parts = said.split("\x1b[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    text
}

fn lines<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_both_runners_are_found_in_their_output() {
        let nextest = "   Compiling x\n     \x1b[1mSummary\x1b[0m [   0.123s] 12 tests run: 12 passed, 1 skipped\n";
        assert_eq!(nextest_counts(nextest), "12 tests run: 12 passed, 1 skipped");

        let cargo = "test a ... ok\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\ntest result: ok. 4 passed; 0 failed; 0 ignored; 0 measured\n";
        assert_eq!(cargo_test_counts(cargo), "7 passed, 1 ignored");
    }

    #[test]
    fn a_failed_program_keeps_everything_it_said() {
        let ended = |code| Ended { output: "warning\nerror".into(), code: Some(code), late: false };
        assert_eq!(passed(ended(0), |_| "fine".into()).unwrap(), Outcome::Passed("fine".into()));
        assert_eq!(
            passed(ended(101), |_| "fine".into()).unwrap(),
            Outcome::Failed("warning\nerror".into())
        );
    }

    #[test]
    fn stages_have_names_of_their_own() {
        let mut seen: Vec<_> = names().collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), ALL.len());
    }
}
