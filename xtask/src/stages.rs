//! The stages of `cargo xtask test`, in three tiers. A failing stage does not hide the later ones.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use postgres_for_tests::{Installation, Server};

use crate::behaviours::Comparison;
use crate::changes::{self, Changes};
use crate::command::{Tool, coloured};
use crate::metadata::Metadata;
use crate::report::{self, Finished, Outcome};
use crate::result::Result;
use crate::work::{Tier, Work, faultless, passed};
use crate::{
    dependencies, examples, fuzz, guides, mutants, needs, neighbours, peers, publish, simulate,
    tidy,
};

/// The options of `cargo xtask test`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// The names of the stages to run; empty: those of the tier.
    pub(crate) only: Vec<String>,
    pub(crate) land: bool,
    pub(crate) full: bool,
    /// The commit with which `--land` compares.
    pub(crate) base: Option<String>,
}

/// One check.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The first tier that runs it; `--full` runs all.
    tier: Tier,
    run: fn(&Work) -> Result<Outcome>,
}

type Run = fn(&Work) -> Result<Outcome>;

const fn work(name: &'static str, run: Run, about: &'static str) -> Stage {
    Stage { name, about, tier: Tier::Work, run }
}

const fn land(name: &'static str, run: Run, about: &'static str) -> Stage {
    Stage { name, about, tier: Tier::Land, run }
}

const fn full(name: &'static str, run: Run, about: &'static str) -> Stage {
    Stage { name, about, tier: Tier::Full, run }
}

/// Every stage, in the order they run: cheap ones first, then those that share their build.
pub(crate) const ALL: &[Stage] = &[
    work("fmt", fmt, "cargo fmt --check"),
    work("tidy", tidy, "floors, manifests, licences, hygiene"),
    work("behaviours", behaviours, "the numbered lists in docs/ against the tests"),
    work("dependencies", dependencies::stage, "packages of crates and of the first command"),
    work("test", test, "all tests (nextest if present), sweeps sampled"),
    work("examples", examples::stage, "the examples and the first guide, end to end"),
    land("clippy", clippy, "all targets and features, warnings denied"),
    land("features", features, "the parser without its feature, as clippy reads it"),
    land("wasm", wasm, "what runs in a browser, checked for it"),
    land("doc", doc, "cargo doc, warnings denied"),
    land("doctest", doctest, "the examples in the documentation and the guides"),
    land("guides", guides::stage, "the guides, each with what it adds, if features changed"),
    land("publish", publish::stage, "packages, each checked if its manifest changed"),
    land("simulate", simulate::stage, "graphs under schedules of crashes, 30 seconds"),
    land("mutants", mutants::stage, "bugs that tests and the simulator have to find"),
    land("fuzz", fuzz::stage, "targets whose crate changed under libFuzzer, 10 seconds each"),
    land("neighbours", neighbours::stage, "beside sqlx and others, if a manifest changed"),
    full("deny", deny, "licences, sources and advisories by cargo-deny"),
    full("machete", machete, "unused dependencies by cargo-machete"),
];

/// Those that run at the same time: each of them keeps little more than one core busy.
const BESIDE: [&str; 3] = ["doctest", "guides", "publish"];

/// The variable by which tests are told to try everything, if it is not empty.
const EVERYTHING: &str = "HANOK_TEST_FULL";

/// The variable with the number of commits, by which a sweep chooses the part of it that has its turn.
const TURN: &str = "HANOK_TEST_TURN";

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|stage| stage.name)
}

impl Options {
    fn tier(&self) -> Tier {
        match (self.full, self.land) {
            (true, _) => Tier::Full,
            (false, true) => Tier::Land,
            (false, false) => Tier::Work,
        }
    }

    /// The stages that are to run.
    fn stages(&self) -> Vec<&'static Stage> {
        let tier = self.tier();
        let is_wanted = |stage: &&Stage| match self.only.is_empty() {
            true => tier == Tier::Full || stage.tier == tier,
            false => self.only.iter().any(|name| name == stage.name),
        };
        ALL.iter().filter(is_wanted).collect()
    }

    /// A sentence on what this run leaves out, each with the command that runs it.
    fn not_run(&self) -> String {
        let of = |tier| {
            let stages = ALL.iter().filter(|stage| stage.tier == tier).map(|stage| stage.name);
            stages.collect::<Vec<_>>().join(", ")
        };
        let full = format!(
            "{}, all seeds, mutants, sweeps and packages (`cargo xtask test --full`)",
            of(Tier::Full)
        );
        match (self.only.is_empty(), self.tier()) {
            (false, _) => "not run: the stages that were not named".to_owned(),
            (true, Tier::Work) => {
                format!("not run: {} (`cargo xtask test --land`); {full}", of(Tier::Land))
            }
            (true, Tier::Land) => {
                format!("not run: {} (`cargo xtask test`); {full}", of(Tier::Work))
            }
            (true, Tier::Full) => "nothing was left out".to_owned(),
        }
    }
}

/// Runs the stages that `options` choose. Returns true if none failed.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let metadata = Metadata::read()?;
    let changes = match options.land || options.base.is_some() {
        true => Changes::since(&metadata.workspace_root, options.base.as_deref())?,
        false => Changes::All,
    };
    let work = Work { metadata, tier: options.tier(), changes };
    let stages = options.stages();
    let (started, mut finished) = (Instant::now(), Vec::new());
    let is_beside = |stage: &Stage| BESIDE.contains(&stage.name);
    for some in stages.chunk_by(|one, next| is_beside(one) && is_beside(next)) {
        finished.extend(at_once(some, &work));
    }
    Ok(report::summary(&finished, started.elapsed(), &options.not_run()))
}

/// Runs `stages` at the same time. Each is printed when it and those before it have ended.
fn at_once(stages: &[&Stage], work: &Work) -> Vec<Finished> {
    let names: Vec<_> = stages.iter().map(|stage| stage.name).collect();
    report::announce(&names.join(", "));
    thread::scope(|scope| {
        let runs: Vec<_> =
            stages.iter().map(|stage| scope.spawn(|| finished(stage, work))).collect();
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

fn finished(stage: &Stage, work: &Work) -> Finished {
    let started = Instant::now();
    let outcome = (stage.run)(work).unwrap_or_else(|error| Outcome::Failed(error.to_string()));
    Finished { name: stage.name, outcome, took: started.elapsed() }
}

fn fmt(_: &Work) -> Result<Outcome> {
    if let Some(reason) = missing_component("fmt", "rustfmt") {
        return Ok(Outcome::Skipped(reason));
    }
    // rustfmt does not read Cargo's setting of colours.
    let colour = if coloured() { "always" } else { "never" };
    let fmt = Tool::cargo().arguments(["fmt", "--all", "--check", "--", "--color", colour]);
    passed(fmt.run()?, |_| String::new())
}

fn tidy(work: &Work) -> Result<Outcome> {
    let faults = tidy::faults(&work.metadata)?;
    Ok(faultless(&faults, "no faults".to_owned()))
}

fn behaviours(_: &Work) -> Result<Outcome> {
    let comparison = Comparison::read()?;
    Ok(faultless(&comparison.faults(), comparison.verdict()))
}

fn clippy(_: &Work) -> Result<Outcome> {
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

/// A feature that another crate of the workspace switches on is off here, so a missing `cfg` is found.
fn features(_: &Work) -> Result<Outcome> {
    let clippy = Tool::cargo().arguments(["clippy", "--package", "hanok-parse", "--lib"]);
    let clippy = clippy.arguments(["--no-default-features", "--", "-D", "warnings"]);
    passed(clippy.run()?, |_| "hanok-parse".to_owned())
}

/// The target of browsers.
const WASM: &str = "wasm32-unknown-unknown";

fn wasm(_: &Work) -> Result<Outcome> {
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

fn doc(_: &Work) -> Result<Outcome> {
    let doc = Tool::cargo()
        .arguments(["doc", "--workspace", "--no-deps", "--all-features"])
        .variable("RUSTDOCFLAGS", "-Dwarnings");
    passed(doc.run()?, |_| String::new())
}

/// The variable that names the Python of the check of exported chains, and what it needs.
const CHAINS: &str = "HANOK_TEST_PYTHON";
const BLAKE3: &str = "blake3>=1.0,<2";

/// Where the tool that runs Python looks for its jail.
const BUBBLEWRAP: &str = "/usr/bin/bwrap";

fn test(work: &Work) -> Result<Outcome> {
    let (server, mut note) = database();
    let python = needs::python(&work.metadata.target_directory.join("chains"), &[BLAKE3]);
    if let Err(why) = &python {
        note += &format!("; exported chains are not checked in Python: {why}");
    }
    if !Path::new(BUBBLEWRAP).exists() {
        note += "; Python's jail is not tested: bubblewrap is not installed";
    }
    let (peers, without_peers) = peers::servers(work.is_full());
    note += &without_peers;
    if !work.is_full() {
        note += "; a tenth of each sweep (all: `--only test --full`)";
    }
    let cargo = Tool::cargo()
        .variable(CHAINS, python.unwrap_or_default())
        .variable(peers::PEERS, peers.unwrap_or_default())
        .variable(EVERYTHING, if work.is_full() { "1" } else { "" })
        .variable(TURN, changes::commits().to_string())
        .variable("CARGO_TERM_COLOR", "never");
    // Tests look for a server themselves where none is named.
    let cargo = match &server {
        Some(server) => cargo.variable(postgres_for_tests::URL, server.url("postgres")),
        None => cargo,
    };
    if Tool::cargo().arguments(["nextest", "--version"]).text().is_ok() {
        let run = ["nextest", "run", "--workspace", "--all-features", "--no-fail-fast"];
        return passed(cargo.arguments(run).run()?, |said| {
            format!("{}{note}", nextest_counts(said))
        });
    }
    let run = ["test", "--workspace", "--all-features", "--no-fail-fast"];
    // Not `--all-targets`, which runs benches too; naming kinds leaves the doctests out.
    let kinds = ["--lib", "--bins", "--tests", "--examples"];
    passed(cargo.arguments(run).arguments(kinds).run()?, |said| {
        format!("{} (cargo test: nextest is not installed){note}", cargo_test_counts(said))
    })
}

/// The PostgreSQL server that the tests of this run share, until it is dropped, and a note on it. None is started where the
/// caller names one.
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

fn doctest(_: &Work) -> Result<Outcome> {
    let run = ["test", "--doc", "--workspace", "--all-features", "--no-fail-fast"];
    let test = Tool::cargo().arguments(run).variable("CARGO_TERM_COLOR", "never");
    passed(test.run()?, cargo_test_counts)
}

fn deny(_: &Work) -> Result<Outcome> {
    let check = ["--all-features", "check", "advisories", "bans", "licenses", "sources"];
    other_tool("deny", &check, "`tidy` has checked licences and sources")
}

fn machete(_: &Work) -> Result<Outcome> {
    other_tool("machete", &[], "nothing else looks for unused dependencies")
}

/// Runs a subcommand of Cargo that others keep, where it is installed.
fn other_tool(name: &str, arguments: &[&str], without: &str) -> Result<Outcome> {
    if Tool::cargo().arguments([name, "--version"]).text().is_err() {
        let reason = format!("not installed: `cargo install cargo-{name}`; {without}");
        return Ok(Outcome::Skipped(reason));
    }
    passed(Tool::cargo().arguments([name]).arguments(arguments).run()?, |_| String::new())
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
fn nextest_counts(output: &str) -> String {
    let line = output.lines().rev().find(|line| line.trim_start().starts_with("Summary"));
    line.and_then(|line| line.split_once(']')).map_or("", |(_, counts)| counts.trim()).to_owned()
}

/// The sums over what every binary of `cargo test` prints: `test result: ok. 3 passed; 0 failed; …`.
fn cargo_test_counts(output: &str) -> String {
    let sum = |what: &str| -> usize {
        let results = output.lines().filter(|line| line.starts_with("test result:"));
        let counts = results.flat_map(|line| line.split([';', '.']));
        counts.filter_map(|part| part.trim().strip_suffix(what)?.trim().parse::<usize>().ok()).sum()
    };
    format!("{} passed, {} ignored", sum("passed"), sum("ignored"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_both_runners_are_found_in_their_output() {
        let nextest =
            "   Compiling x\n     Summary [   0.123s] 12 tests run: 12 passed, 1 skipped\n";
        assert_eq!(nextest_counts(nextest), "12 tests run: 12 passed, 1 skipped");

        let cargo = "test a ... ok\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\ntest result: ok. 4 passed; 0 failed; 0 ignored; 0 measured\n";
        assert_eq!(cargo_test_counts(cargo), "7 passed, 1 ignored");
    }

    #[test]
    fn each_stage_belongs_to_one_tier_and_full_runs_all() {
        let stages = |line: &[&str]| {
            let mut options = Options::default();
            for word in line {
                match *word {
                    "--land" => options.land = true,
                    "--full" => options.full = true,
                    name => options.only.push(name.to_owned()),
                }
            }
            options.stages().iter().map(|stage| stage.name).collect::<Vec<_>>()
        };
        let (work, land) = (stages(&[]), stages(&["--land"]));
        assert_eq!(work, ["fmt", "tidy", "behaviours", "dependencies", "test", "examples"]);
        assert!(land.contains(&"mutants") && !land.iter().any(|name| work.contains(name)));
        assert_eq!(stages(&["--full"]), names().collect::<Vec<_>>());
        assert_eq!(stages(&["fuzz", "--full"]), ["fuzz"]);
        assert_eq!(stages(&["fuzz"]), ["fuzz"]);
    }

    /// The table in `CONTRIBUTING.md` names every stage once, in its tier.
    #[test]
    fn the_contributors_table_has_every_stage_in_its_tier() {
        let page = include_str!("../../CONTRIBUTING.md");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
        let rows: Vec<_> = rows
            .filter_map(|(name, rest)| Some((name, rest.split(' ').next()?.parse::<u8>().ok()?)))
            .collect();
        let want: Vec<_> = ALL.iter().map(|stage| (stage.name, stage.tier as u8 + 1)).collect();
        assert_eq!(rows, want);
    }
}
