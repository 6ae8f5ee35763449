//! `cargo xtask bench`: builds the measurements and what they are compared with, and runs them.

mod base;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::command::Tool;
use crate::options::misuse;
use crate::result::Result;
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

impl Bench {
    /// Reads what is measured beside this tree; all other arguments are for the measurements.
    pub(crate) fn read(arguments: &[String]) -> Result<Self> {
        let (mut langgraph, mut peers, mut parsers, mut commit) = (true, false, false, None);
        let (mut others, mut rest) = (Vec::new(), arguments.iter());
        while let Some(word) = rest.next() {
            match word.as_str() {
                "--no-langgraph" => langgraph = false,
                "--peers" => peers = true,
                "--parsers" => parsers = true,
                "--against" => {
                    let name = rest.next().filter(|name| !name.starts_with('-'));
                    let wrong = "`--against` needs a commit, as `HEAD` or `main~3`";
                    commit = Some(name.ok_or_else(|| misuse(wrong))?.clone());
                }
                _ => others.push(word.clone()),
            }
        }
        let wants_help = others.iter().any(|word| word == "--help" || word == "-h");
        let beside = match commit {
            // Nothing is built for the sake of a page of help.
            _ if wants_help => Beside::Engines { langgraph: false, peers: false },
            None if !parsers => Beside::Engines { langgraph, peers },
            None if !peers && others.is_empty() => Beside::Parsers,
            Some(commit) if !peers && !parsers => Beside::Commit(commit),
            _ => return Err(misuse("`--against` and `--parsers` are asked for alone")),
        };
        Ok(Self { arguments: others, beside })
    }
}

const PACKAGE: [&str; 4] = ["--release", "--quiet", "--package", "hanok-bench"];

/// Other engines and parsers, in packages of hundreds of crates.
const PEERS: [&str; 3] = ["benches/peers/Cargo.toml", "hanok-bench-peers", "target/peers"];
const PARSERS: [&str; 3] =
    ["benches/peers-parse/Cargo.toml", "hanok-bench-parsers", "target/peers-parse"];

/// Measures and prints the table. Returns the exit code of the measurements.
pub(crate) fn run(bench: &Bench) -> Result<ExitCode> {
    match &bench.beside {
        Beside::Parsers => Ok(ExitCode::from(u8::from(!parsers()?))),
        Beside::Engines { langgraph, peers } => beside_engines(bench, *langgraph, *peers),
        Beside::Commit(name) => beside_commit(bench, name),
    }
}

fn beside_engines(bench: &Bench, wants_langgraph: bool, wants_peers: bool) -> Result<ExitCode> {
    if !is_built()? {
        return Ok(ExitCode::FAILURE);
    }
    let peers = wants_peers.then(|| needs::apart(PEERS)).transpose()?;
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
    let program = needs::apart(PARSERS)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_measured_beside_is_read_and_all_else_handed_on() {
        let read = |line: &str| {
            let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            Bench::read(&words).map(|bench| (bench.arguments.join(" "), bench.beside))
        };
        let engines = |langgraph, peers| Beside::Engines { langgraph, peers };
        for (line, others, beside) in [
            ("", "", engines(true, false)),
            ("loop --no-langgraph --rounds 9 --peers", "loop --rounds 9", engines(false, true)),
            ("--against HEAD~3 loop", "loop", Beside::Commit("HEAD~3".to_owned())),
            ("--against HEAD~3 --help", "--help", engines(false, false)),
            ("--parsers", "", Beside::Parsers),
        ] {
            assert_eq!(read(line).unwrap(), (others.to_owned(), beside));
        }
        for wrong in ["--against", "--against --help", "--against HEAD --peers", "--parsers loop"] {
            assert!(read(wrong).unwrap_err().is::<crate::options::Misuse>(), "{wrong}");
        }
    }
}
