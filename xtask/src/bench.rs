//! `cargo xtask bench`: builds the measurements and what they are compared with, and runs them.

mod base;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::command::Tool;
use crate::result::{Result, code};
use crate::{fixtures, needs};
use base::Commit;

/// What is wanted of the table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bench {
    /// For the measurements.
    pub(crate) arguments: Vec<String>,
    pub(crate) beside: Beside,
}

/// What is measured beside this tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// LangGraph, unless it is left out, and other engines for Rust, which are built, if they are asked for.
    Engines { langgraph: bool, peers: bool },
    /// The tree of another commit, as git names it.
    Commit(String),
    /// Other parsers, beside the parser alone.
    Parsers,
}

const PACKAGE: [&str; 4] = ["--release", "--quiet", "--package", "hanok-bench"];

/// Other engines and parsers, in packages of hundreds of crates.
const PEERS: [&str; 3] = ["benches/peers/Cargo.toml", "hanok-bench-peers", "target/peers"];
const PARSERS: [&str; 3] =
    ["benches/peers-parse/Cargo.toml", "hanok-bench-parsers", "target/peers-parse"];

/// Measures and prints the table. Returns the exit code of the measurements.
pub(crate) fn run(bench: &Bench) -> Result<ExitCode> {
    match &bench.beside {
        Beside::Parsers => parsers().map(code),
        Beside::Engines { langgraph, peers } => beside_engines(bench, *langgraph, *peers),
        Beside::Commit(name) => beside_commit(bench, name),
    }
}

fn beside_engines(bench: &Bench, wants_langgraph: bool, wants_peers: bool) -> Result<ExitCode> {
    if !is_built()? {
        return Ok(ExitCode::FAILURE);
    }
    let [manifest, program, folder] = PEERS;
    let peers = match wants_peers {
        true => Some(needs::apart(manifest, program, folder)?),
        false => None,
    };
    let mut wanted = vec!["--upgrade", "--requirement", "benches/langgraph/requirements.txt"];
    if wants_peers {
        wanted.extend(["--requirement", "benches/langgraph/peers.txt"]);
    }
    let python = wants_langgraph.then(|| python("langgraph", &wanted)).flatten();
    let measurements = option(measurements(bench), "--python", python);
    Ok(exit(option(measurements, "--peers", peers).shown_code()?))
}

/// Measures this tree and that of the commit `name`. A name or an option that means nothing is an error before the commit is built.
fn beside_commit(bench: &Bench, name: &str) -> Result<ExitCode> {
    let commit = Commit::named(name)?;
    if !is_built()? {
        return Ok(ExitCode::FAILURE);
    }
    // Options are read in their order, so this is help only if those before it mean something.
    let understood = measurements(bench).arguments(["--help"]).run()?;
    if !understood.succeeded() {
        eprint!("{}", understood.output);
        return Ok(exit(understood.code));
    }
    let base = commit.built()?;
    let against = [Path::new("--against"), &base.program];
    let measurements =
        measurements(bench).arguments(against).arguments(["--called", &commit.short]);
    Ok(exit(measurements.shown_code()?))
}

/// Measures the parser beside others. Returns false if it failed.
fn parsers() -> Result<bool> {
    let [manifest, program, folder] = PARSERS;
    let program = needs::apart(manifest, program, folder)?;
    let wanted = ["--upgrade", "--requirement", "benches/peers-parse/requirements.txt"];
    let python = python("parsers", &wanted);
    let cases = fixtures::cases_for_others();
    let cases = cases.map_err(|error| eprintln!("bench: without fixtures: {error}")).ok();
    eprintln!(
        "bench: without the parsers of vLLM, SGLang and llama.cpp, which are parts of servers and no packages"
    );
    option(option(Tool::named(program), "--python", python), "--cases", cases).shown()
}

/// A Python with `wanted`; `None` where there can be none.
fn python(name: &str, wanted: &[&str]) -> Option<PathBuf> {
    let python = needs::cache(name).and_then(|folder| needs::python(&folder, wanted));
    python.map_err(|error| eprintln!("bench: without {name}: {error}")).ok()
}

fn option(tool: Tool, name: &str, path: Option<PathBuf>) -> Tool {
    tool.arguments(path.iter().flat_map(|path| [Path::new(name), path.as_path()]))
}

/// Returns true if this tree's measurements could be built.
fn is_built() -> Result<bool> {
    Tool::cargo().arguments(["build"]).arguments(PACKAGE).shown()
}

fn measurements(bench: &Bench) -> Tool {
    let run = Tool::cargo().arguments(["run"]).arguments(PACKAGE);
    run.arguments(["--"]).arguments(&bench.arguments)
}

/// The exit code of a program as this one's own.
fn exit(code: Option<i32>) -> ExitCode {
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}
