//! The stages of `cargo xtask test`, in three tiers. A failing stage does not hide the later ones.

use std::path::Path;
use std::thread;
use std::time::Instant;

use postgres_for_tests::{Installation, Server};

use crate::behaviours::Comparison;
use crate::changes::{self, Changes};
use crate::command::Tool;
use crate::metadata::Metadata;
use crate::report::{self, Finished, Outcome, Tier, Work, faultless, passed};
use crate::result::Result;
use crate::{
    dependencies, examples, fuzz, guides, mutants, needs, neighbours, options, peers, publish,
    servers, simulate, tidy, wheel,
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
    run: Run,
}

type Run = fn(&Work) -> Result<Outcome>;

const fn stage(tier: Tier, name: &'static str, run: Run, about: &'static str) -> Stage {
    Stage { name, about, tier, run }
}

/// Every stage, in the order they run: cheap ones first, then those that share their build.
pub(crate) const ALL: &[Stage] = &[
    stage(Tier::Work, "fmt", fmt, "cargo fmt --check"),
    stage(Tier::Work, "tidy", tidy, "floors, manifests, licences, hygiene"),
    stage(Tier::Work, "behaviours", behaviours, "the lists in docs/ against the tests"),
    stage(Tier::Work, "dependencies", dependencies::stage, "packages per crate, and of rag"),
    stage(Tier::Work, "test", test, "all tests, sweeps sampled"),
    stage(Tier::Work, "examples", examples::stage, "examples and the first guide, run"),
    stage(Tier::Land, "clippy", clippy, "all targets, warnings denied"),
    stage(Tier::Land, "features", features, "the parser without its feature"),
    stage(Tier::Land, "wasm", wasm, "what runs in a browser"),
    stage(Tier::Land, "doc", doc, "cargo doc, warnings denied"),
    stage(Tier::Land, "doctest", doctest, "documentation and guides"),
    stage(Tier::Land, "guides", guides::stage, "guides, each with what it adds"),
    stage(Tier::Land, "publish", publish::stage, "packages of changed manifests"),
    stage(Tier::Land, "simulate", simulate::stage, "schedules of crashes, 30 seconds"),
    stage(Tier::Land, "mutants", mutants::stage, "bugs that tests have to find"),
    stage(Tier::Land, "fuzz", fuzz::stage, "libFuzzer, 10 seconds a target"),
    stage(Tier::Land, "neighbours", neighbours::stage, "beside sqlx and others"),
    stage(Tier::Full, "deny", deny, "licences, advisories: cargo-deny"),
    stage(Tier::Full, "machete", machete, "unused dependencies"),
    stage(Tier::Full, "servers", servers::stage, "the parser behind servers' traits"),
    stage(Tier::Full, "wheel", wheel::stage, "the parser as a Python package"),
];

/// Those that run at the same time: each of them keeps little more than one core busy.
const BESIDE: [&str; 3] = ["doctest", "guides", "publish"];

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|stage| stage.name)
}

impl Options {
    pub(crate) fn read(arguments: &[String]) -> Result<Self> {
        let (base, only) = (("--base", "a commit, as `main`"), ("--only", "the name of a stage"));
        let mut read = Self::default();
        for (name, value) in
            options::only(arguments, &[("--full", ""), ("--land", ""), base, only])?
        {
            match name.as_str() {
                "--full" => read.full = true,
                "--land" => read.land = true,
                "--base" => read.base = Some(value),
                _ => read.only.extend(value.split(',').map(str::to_owned)),
            }
        }
        match read.only.iter().find(|name| !names().any(|known| known == *name)) {
            Some(name) => Err(options::misuse(format!("no stage `{name}`"))),
            None => Ok(read),
        }
    }

    fn tier(&self) -> Tier {
        let land = if self.land { Tier::Land } else { Tier::Work };
        if self.full { Tier::Full } else { land }
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

    /// What this run leaves out, and the command that runs it.
    fn not_run(&self) -> String {
        let of = |tier, command: &str| {
            let stages = ALL.iter().filter(|stage| stage.tier == tier).map(|stage| stage.name);
            format!("{} (`cargo xtask test{command}`)", stages.collect::<Vec<_>>().join(", "))
        };
        let other = match self.tier() {
            _ if !self.only.is_empty() => {
                return "not run: the stages that were not named".to_owned();
            }
            Tier::Work => of(Tier::Land, " --land"),
            Tier::Land => of(Tier::Work, ""),
            Tier::Full => return "nothing was left out".to_owned(),
        };
        format!(
            "not run: {other}; all seeds, mutants, sweeps, packages, {}",
            of(Tier::Full, " --full")
        )
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
    let (started, mut finished) = (Instant::now(), Vec::new());
    let is_beside = |stage: &Stage| BESIDE.contains(&stage.name);
    for some in options.stages().chunk_by(|one, next| is_beside(one) && is_beside(next)) {
        finished.extend(at_once(some, &work));
    }
    Ok(report::summary(&finished, started.elapsed(), &options.not_run()))
}

/// Runs `stages` at the same time. Each is printed when it and those before it have ended.
fn at_once(stages: &[&Stage], work: &Work) -> Vec<Finished> {
    let names: Vec<_> = stages.iter().map(|stage| stage.name).collect();
    println!("{} …", names.join(", "));
    let run = |stage: &Stage| {
        let started = Instant::now();
        let outcome = (stage.run)(work).unwrap_or_else(|error| Outcome::Failed(error.to_string()));
        Finished { name: stage.name, outcome, took: started.elapsed() }
    };
    thread::scope(|scope| {
        let runs: Vec<_> = stages.iter().map(|stage| scope.spawn(move || run(stage))).collect();
        let ended = runs.into_iter().map(|run| {
            let end = run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            end.print();
            end
        });
        ended.collect()
    })
}

fn cargo(arguments: &[&str]) -> Result<Outcome> {
    passed(Tool::cargo().arguments(arguments).run()?, |_| String::new())
}

fn fmt(_: &Work) -> Result<Outcome> {
    component("rustfmt", &["fmt", "--all", "--check"])
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
    let all = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    component("clippy", &all)
}

/// The crates that know no runtime and no system: names, states, the fold of a log, and the parser.
const FOR_BROWSERS: [&str; 4] = ["hanok-core", "hanok-state", "hanok-checkpoint", "hanok-parse"];

/// A feature that another crate of the workspace switches on is off here, so a missing `cfg` is found.
fn features(_: &Work) -> Result<Outcome> {
    let parser = ["clippy", "--package", "hanok-parse", "--lib", "--no-default-features"];
    cargo(&[&parser[..], &["--", "-D", "warnings"]].concat())
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

/// Where the tool that runs Python looks for its jail.
const BUBBLEWRAP: &str = "/usr/bin/bwrap";

fn test(work: &Work) -> Result<Outcome> {
    let full = work.is_full();
    let (server, mut note) = database();
    // The check of exported chains needs a Python that knows BLAKE3.
    let python = needs::python(&work.metadata.target_directory.join("chains"), &["blake3>=1.0,<2"]);
    if let Err(why) = &python {
        note += &format!("; exported chains are not checked in Python: {why}");
    }
    if !Path::new(BUBBLEWRAP).exists() {
        note += "; Python's jail is not tested: bubblewrap is not installed";
    }
    let (peers, without_peers) = peers::servers(full);
    note += &without_peers;
    note += if full { "" } else { "; a tenth of each sweep (all: `--only test --full`)" };
    // A sweep takes everything if the first is not empty, else the part whose turn it is by the second. Tests look for a server
    // themselves where none is named.
    let cargo = Tool::cargo()
        .variable("HANOK_TEST_FULL", if full { "1" } else { "" })
        .variable("HANOK_TEST_TURN", changes::commits().to_string())
        .variable("HANOK_TEST_PYTHON", python.unwrap_or_default())
        .variable(peers::PEERS, peers.unwrap_or_default());
    let cargo = match &server {
        Some(server) => cargo.variable(postgres_for_tests::URL, server.url("postgres")),
        None => cargo,
    };
    let all = ["--workspace", "--all-features", "--no-fail-fast"];
    if Tool::cargo().arguments(["nextest", "--version"]).text().is_ok() {
        let profile = ["--profile", if full { "full" } else { "default" }];
        let ended = cargo.arguments(["nextest", "run"]).arguments(profile).arguments(all).run()?;
        return passed(ended, |output| nextest_counts(output).to_owned() + &note);
    }
    // Not `--all-targets`, which runs benches too; naming kinds leaves the doctests out.
    let kinds = ["--lib", "--bins", "--tests", "--examples"];
    passed(cargo.arguments(["test"]).arguments(all).arguments(kinds).run()?, |output| {
        format!("{} (cargo test: nextest is not installed){note}", cargo_test_counts(output))
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

/// The examples in the documentation of all that changed, or that stands on what changed.
fn doctest(work: &Work) -> Result<Outcome> {
    let wanted: Vec<&str> = match work.is_full() {
        true => work.metadata.members().iter().map(|member| member.name.as_str()).collect(),
        false => work.changes.reached(&work.metadata).into_iter().collect(),
    };
    if wanted.is_empty() {
        return Ok(Outcome::Skipped("no crate changed; all: `--full --only doctest`".to_owned()));
    }
    let left = work.metadata.members().len() - wanted.len();
    let note = if left > 0 { format!("; {left} packages are as they were") } else { String::new() };
    let packages = wanted.iter().flat_map(|name| ["--package", name]);
    let run = ["test", "--doc", "--all-features", "--no-fail-fast"];
    passed(Tool::cargo().arguments(run).arguments(packages).run()?, |output| {
        cargo_test_counts(output) + &note
    })
}

fn deny(_: &Work) -> Result<Outcome> {
    other_tool("deny", &["--all-features", "check", "advisories", "bans", "licenses", "sources"])
}

fn machete(_: &Work) -> Result<Outcome> {
    other_tool("machete", &[])
}

/// Runs a subcommand of Cargo that others keep, where it is installed.
fn other_tool(name: &str, arguments: &[&str]) -> Result<Outcome> {
    if Tool::cargo().arguments([name, "--version"]).text().is_err() {
        return Ok(Outcome::Skipped(format!("not installed: `cargo install cargo-{name}`")));
    }
    cargo(&[&[name], arguments].concat())
}

/// Runs a subcommand of Cargo that is a component of the toolchain, which is installed where it is missing.
fn component(name: &str, arguments: &[&str]) -> Result<Outcome> {
    let version = || Tool::cargo().arguments(arguments.first()).arguments(["--version"]).text();
    if version().is_err() {
        drop(Tool::named("rustup").arguments(["component", "add", name]).run());
    }
    match version() {
        Ok(_) => cargo(arguments),
        Err(_) => {
            Ok(Outcome::Skipped(format!("{name} is not installed, and rustup could not add it")))
        }
    }
}

/// The counts in nextest's closing line: `Summary [   1.2s] 41 tests run: 41 passed, 0 skipped`.
fn nextest_counts(output: &str) -> &str {
    let line = output.lines().rev().find(|line| line.trim_start().starts_with("Summary"));
    line.and_then(|line| line.split_once(']')).map_or("", |(_, counts)| counts.trim())
}

/// The sums over what every binary of `cargo test` prints: `test result: ok. 3 passed; 0 failed; …`.
pub(crate) fn cargo_test_counts(output: &str) -> String {
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
        let nextest = "   Compiling x\n     Summary [   0.123s] 12 tests run: 12 passed\n";
        assert_eq!(nextest_counts(nextest), "12 tests run: 12 passed");

        let cargo = "test result: ok. 3 passed; 0 failed; 1 ignored\n\ntest result: ok. 4 passed; 0 ignored\n";
        assert_eq!(cargo_test_counts(cargo), "7 passed, 1 ignored");
    }

    #[test]
    fn each_stage_belongs_to_one_tier_and_full_runs_all() {
        let stages = |line: &str| {
            let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            let stages = Options::read(&words).map(|options| options.stages());
            stages.map(|stages| stages.iter().map(|stage| stage.name).collect::<Vec<_>>())
        };
        let (work, land) = (stages("").unwrap(), stages("--land --base main").unwrap());
        assert_eq!(work, ["fmt", "tidy", "behaviours", "dependencies", "test", "examples"]);
        assert!(land.contains(&"mutants") && !land.iter().any(|name| work.contains(name)));
        assert_eq!(stages("--full").unwrap(), names().collect::<Vec<_>>());
        assert_eq!(stages("--only fuzz,fmt --only doc --full").unwrap(), ["fmt", "doc", "fuzz"]);
        assert_eq!(stages("--only lint").unwrap_err().to_string(), "no stage `lint`");
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
