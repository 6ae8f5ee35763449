//! `cargo xtask bench`: builds the measurements, finds LangGraph a place, and runs them.

mod base;
mod parsers;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::apart::Apart;
use crate::caches;
use crate::command::Tool;
use crate::python;
use crate::result::{Result, code};
use base::Commit;

/// What is wanted of the table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bench {
    /// Handed on as it is.
    pub(crate) arguments: Vec<String>,
    /// Who is measured beside this tree.
    pub(crate) beside: Beside,
}

/// Who is measured beside this tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// LangGraph, unless it is left out, and other engines for Rust, which are built, if they are asked for.
    Engines { langgraph: bool, peers: bool },
    /// The tree of another commit, as git names it.
    Commit(String),
    /// The parser alone, beside other parsers.
    Parsers,
}

/// Other engines.
const PEERS: Apart = Apart {
    manifest: "benches/peers/Cargo.toml",
    program: "hanok-bench-peers",
    folder: "target/peers",
};

const PACKAGE: [&str; 4] = ["--release", "--quiet", "--package", "hanok-bench"];
const WANTED: &str = "benches/langgraph/requirements.txt";

/// What `--peers` adds to it.
const WANTED_PEERS: &str = "benches/langgraph/peers.txt";

/// Measures and prints the table; the exit code is the measurements' own.
///
/// # Errors
///
/// Cargo could not be started, or the commit cannot be built. That LangGraph cannot be had is said, and no error.
pub(crate) fn run(bench: &Bench) -> Result<ExitCode> {
    match &bench.beside {
        Beside::Parsers => parsers::run().map(code),
        Beside::Engines { langgraph, peers } => beside_engines(bench, *langgraph, *peers),
        Beside::Commit(name) => beside_commit(bench, name),
    }
}

/// This tree and other engines.
fn beside_engines(bench: &Bench, wants_langgraph: bool, wants_peers: bool) -> Result<ExitCode> {
    if !is_built()? {
        return Ok(ExitCode::FAILURE);
    }
    let peers = if wants_peers { Some(peers()?) } else { None };
    let peers = peers.iter().flat_map(|peers| [Path::new("--peers"), peers.as_path()]);
    let python = if wants_langgraph { langgraph(wants_peers) } else { None };
    let python = python.iter().flat_map(|python| [Path::new("--python"), python.as_path()]);
    measured(program(bench).arguments(python).arguments(peers))
}

/// This tree and that of the commit `name`. A name or an option that means nothing is told before the commit is built.
fn beside_commit(bench: &Bench, name: &str) -> Result<ExitCode> {
    let commit = Commit::named(name)?;
    if !is_built()? {
        return Ok(ExitCode::FAILURE);
    }
    // Options are read in their order, so this is help only if those before it mean something.
    let understood = program(bench).arguments(["--help"]).run()?;
    if !understood.succeeded() {
        eprint!("{}", understood.output);
        return Ok(exit(understood.code));
    }
    let base = commit.built()?;
    let against = [Path::new("--against"), &base.program];
    measured(program(bench).arguments(against).arguments(["--called", &commit.short]))
}

/// Whether this tree's measurements could be built.
fn is_built() -> Result<bool> {
    Tool::cargo().arguments(["build"]).arguments(PACKAGE).shown()
}

/// This tree's measurements, about to be run.
fn program(bench: &Bench) -> Tool {
    Tool::cargo()
        .arguments(["run"])
        .arguments(PACKAGE)
        .arguments(["--"])
        .arguments(&bench.arguments)
}

/// Runs the measurements to their end.
fn measured(program: Tool) -> Result<ExitCode> {
    Ok(exit(program.shown_code()?))
}

/// The exit code of a program as this one's own.
fn exit(code: Option<i32>) -> ExitCode {
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The program that has other engines do the work, built.
fn peers() -> Result<PathBuf> {
    eprintln!("bench: other engines are built, which takes minutes at first");
    let built = PEERS.built()?;
    Ok(built.ok_or("the other engines could not be built; leave `--peers` away")?)
}

/// A Python that has the newest LangGraph, and LangChain if there are to be `peers`; `None` where there can be none.
fn langgraph(peers: bool) -> Option<PathBuf> {
    let Some(cache) = caches::folder() else {
        eprintln!("bench: without LangGraph: there is no folder for caches");
        return None;
    };
    let folder = cache.join("hanok").join("langgraph");
    let more: &[&str] = if peers { &["--requirement", WANTED_PEERS] } else { &[] };
    let packages: Vec<_> =
        ["--upgrade", "--requirement", WANTED].iter().chain(more).copied().collect();
    match python::with(&folder, &packages) {
        Ok(python) => Some(python),
        Err(error) => {
            eprintln!("bench: without LangGraph: {error}");
            None
        }
    }
}
