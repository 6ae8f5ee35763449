//! What the command line asks for.

use crate::behaviours::Ask;
use crate::bench::{Bench, Beside};
use crate::house;
use crate::mutants::Selection;
use crate::stages;
use crate::weigh::Weigh;

/// One invocation of `cargo xtask`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Print the usage.
    Help,
    /// Run the stages named in `only`, all of them when it is empty; `full` takes the time that it takes.
    Test { only: Vec<String>, full: bool },
    /// Run the checks that need no build.
    Tidy,
    /// Draw the house, or look into it.
    House(house::Ask),
    /// Compare the numbered lists in the docs with the tests.
    Behaviours(Ask),
    /// Run graphs under schedules of crashes. What that is told is its own to understand.
    Simulate(Vec<String>),
    /// See whether the tests fail when a line is wrong.
    Mutants(Selection),
    /// Replay what models wrote: the named families, all when there is none.
    Fixtures(Vec<String>),
    /// Measure what the engine costs.
    Bench(Bench),
    /// Weigh what hanok brings into a program.
    Weigh(Weigh),
    /// Measure how documents are found. What that is told is its own to understand.
    Evaluate(Vec<String>),
    /// Ask an example its questions. What that is told is its own to understand.
    Questions(Vec<String>),
}

/// Reads the arguments after the program's name.
///
/// # Errors
///
/// A sentence about the first argument that makes no sense here.
pub(crate) fn read(arguments: impl IntoIterator<Item = String>) -> Result<Request, String> {
    let mut arguments = arguments.into_iter();
    let request = match arguments.next().as_deref() {
        Some("test") => return read_test(arguments),
        Some("tidy") => Request::Tidy,
        Some("house") => return read_house(arguments),
        Some("behaviours") => return read_behaviours(arguments),
        Some("simulate") => return Ok(Request::Simulate(arguments.collect())),
        Some("mutants") => return read_mutants(arguments),
        Some("fixtures") => return Ok(read_fixtures(arguments)),
        Some("bench") => return read_bench(arguments).map(Request::Bench),
        Some("questions") => return Ok(Request::Questions(arguments.collect())),
        Some("evaluate") => return Ok(Request::Evaluate(arguments.collect())),
        Some("weigh") => return read_weigh(arguments),
        Some("help" | "--help" | "-h") => Request::Help,
        Some(other) => return Err(format!("no command `{other}`")),
        None => return Err("which command?".to_owned()),
    };
    match arguments.next().as_deref() {
        None => Ok(request),
        Some("--help" | "-h") => Ok(Request::Help),
        Some(other) => Err(format!("`{other}` means nothing here")),
    }
}

fn read_house(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let ask = match arguments.next().as_deref() {
        None => house::Ask::Draw,
        Some("--write") => house::Ask::Write,
        Some("--examples") => house::Ask::Examples,
        Some("--files") => {
            house::Ask::Files(arguments.next().ok_or("`--files` needs the name of a crate")?)
        }
        Some("--help" | "-h") => return Ok(Request::Help),
        Some(other) => return Err(format!("`{other}` means nothing here")),
    };
    match arguments.next() {
        None => Ok(Request::House(ask)),
        Some(other) => Err(format!("`{other}` means nothing here")),
    }
}

fn read_behaviours(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let ask = match arguments.next().as_deref() {
        None => Ask::Check,
        Some("--list") => Ask::List,
        Some("--write") => Ask::Write,
        Some("--help" | "-h") => return Ok(Request::Help),
        Some(other) => return Err(format!("`{other}` means nothing here")),
    };
    match arguments.next() {
        None => Ok(Request::Behaviours(ask)),
        Some(other) => Err(format!("`{other}` means nothing here")),
    }
}

fn read_mutants(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut selection = Selection::default();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--help" | "-h" => return Ok(Request::Help),
            "--list" => selection.list = true,
            "--full" => selection.full = true,
            "--named" => selection.named = true,
            "--only" => {
                let numbers = arguments.next().ok_or("`--only` needs the numbers of mutants")?;
                for number in numbers.split(',') {
                    let read = number.trim().parse();
                    selection
                        .only
                        .push(read.map_err(|_no_number| format!("`{number}` is no number"))?);
                }
            }
            other => return Err(format!("`{other}` means nothing here")),
        }
    }
    Ok(Request::Mutants(selection))
}

fn read_weigh(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut weigh = Weigh::default();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--help" | "-h" => return Ok(Request::Help),
            "--release" => weigh.release = true,
            "--tree" => {
                weigh.tree =
                    Some(arguments.next().ok_or("`--tree` needs the folder of a checkout")?);
            }
            other if other.starts_with('-') => return Err(format!("`{other}` means nothing here")),
            _ => weigh.only.push(argument),
        }
    }
    Ok(Request::Weigh(weigh))
}

fn read_fixtures(arguments: impl Iterator<Item = String>) -> Request {
    let families: Vec<_> = arguments.collect();
    let help = families.iter().any(|argument| argument == "--help" || argument == "-h");
    if help { Request::Help } else { Request::Fixtures(families) }
}

/// What the measurements are told is theirs to understand, but who is to be measured beside this tree.
fn read_bench(mut arguments: impl Iterator<Item = String>) -> Result<Bench, String> {
    let (mut langgraph, mut peers, mut parsers, mut commit) = (true, false, false, None);
    let mut others = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--no-langgraph" => langgraph = false,
            "--peers" => peers = true,
            "--parsers" => parsers = true,
            "--against" => commit = Some(revision(arguments.next())?),
            _ => others.push(argument),
        }
    }
    let wants_help = others.iter().any(|argument| argument == "--help" || argument == "-h");
    let beside = match commit {
        // Nothing is built for the sake of a page of help.
        _ if wants_help => Beside::Engines { langgraph: false, peers: false },
        None if !parsers => Beside::Engines { langgraph, peers },
        None if peers || !others.is_empty() => {
            return Err("`--parsers` is asked for alone".to_owned());
        }
        None => Beside::Parsers,
        Some(_) if peers || parsers => {
            return Err(
                "`--against` compares this tree with a commit, and with nobody else".to_owned()
            );
        }
        Some(commit) => Beside::Commit(commit),
    };
    Ok(Bench { arguments: others, beside })
}

/// The commit that is compared with.
fn revision(value: Option<String>) -> Result<String, String> {
    let value = value.filter(|value| !value.starts_with('-'));
    value.ok_or_else(|| "`--against` needs a commit, as `HEAD` or `main~3`".to_owned())
}

fn read_test(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let (mut only, mut full) = (Vec::new(), false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--help" | "-h" => return Ok(Request::Help),
            "--full" => full = true,
            "--only" => {
                let name = arguments.next().ok_or("`--only` needs the name of a stage")?;
                if !stages::names().any(|known| known == name) {
                    return Err(format!("no stage `{name}`"));
                }
                only.push(name);
            }
            other => return Err(format!("`{other}` means nothing here")),
        }
    }
    Ok(Request::Test { only, full })
}

/// What `--help` prints.
pub(crate) fn usage() -> String {
    let stages = stages::ALL
        .iter()
        .map(|stage| format!("  {:<14}{}", stage.name, stage.about))
        .collect::<Vec<_>>()
        .join("\n");
    format!(
        "usage: cargo xtask test [--only STAGE]...   every check, or only the named stages
                        [--full]             as many simulations as count, and not as fit
       cargo xtask tidy                     the checks that need no build
       cargo xtask house                    the crates and rooms as pictures (Mermaid)
                         --files CRATE      what imports what in a crate, and its circles
                         --examples         what is left of each example, in lines
                         --write            lowers the debts, and draws docs/ARCHITECTURE.md
       cargo xtask behaviours               the numbered lists in docs/ against the tests
                              --list        every number with its tests
                              --write       brings the lists of what is open up to date
       cargo xtask simulate [OPTION]...     graphs under schedules of crashes; `simulate --help`
                           [--teams]        team supervisors, dying twice in a row at every pair of appends
       cargo xtask mutants                  whether tests fail when a line is wrong: those of the
                                            simulator, and ten others in turn
                           [--full]         all of them: by all tests, where the named one is not enough
                           [--named]        those that tests find, each by the test it names
                           [--only N,M]     those of these numbers
                           [--list]         prints them
       cargo xtask fixtures [FAMILY]...     what models wrote, recorded by others, through the parser
       cargo xtask bench [ROW]...           what the engine costs, beside LangGraph; `bench --help`
                         --against REV      beside itself at another commit: which rows are worse
       cargo xtask weigh [ROW]...           packages, first build and program size, beside rig and LangGraph
                         --tree FOLDER      beside another checkout
                         --release          release builds, too
       cargo xtask evaluate [OPTION]...     how well and fast documents are found; `evaluate --help`
       cargo xtask evaluate team            which tools are chosen for 80 questions, and how surely; or
                                            `law`, `figures`, and `tools`: those found among 500
                           [--model]        for 15 of them, or 40 of `tools`, by the server of OPENAI_BASE_URL and
                                            OPENAI_MODEL
                           [--cache FOLDER] its replies, so that a second run asks nothing
       cargo xtask questions EXAMPLE        what `rag`, `chat`, `contract`, `real-estate` or
                                            `orchestrator` answers to its questions, offline
                           [--held-out]     to those for which no rule was made, as a table alone
                           [--model]        to a sample of them by the server's model; `--cache` as above

stages, in the order they run:
{stages}

exit: 0 all passed, 1 something failed, 2 wrong usage, 3 `bench --against`: a row is worse"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(line: &str) -> Result<Request, String> {
        read(line.split_whitespace().map(str::to_owned))
    }

    fn bench(arguments: &[&str], beside: Beside) -> Request {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Request::Bench(Bench { arguments, beside })
    }

    #[test]
    fn reads_every_command_and_names_what_it_does_not_know() {
        for (line, want) in [
            ("test", Ok(Request::Test { only: vec![], full: false })),
            ("test --full", Ok(Request::Test { only: vec![], full: true })),
            ("simulate --seeds 9", Ok(Request::Simulate(vec!["--seeds".into(), "9".into()]))),
            (
                "test --only fmt --only tidy",
                Ok(Request::Test { only: vec!["fmt".into(), "tidy".into()], full: false }),
            ),
            ("test --help", Ok(Request::Help)),
            ("tidy", Ok(Request::Tidy)),
            ("tidy -h", Ok(Request::Help)),
            ("--help", Ok(Request::Help)),
            ("house", Ok(Request::House(house::Ask::Draw))),
            ("house --examples", Ok(Request::House(house::Ask::Examples))),
            ("house --write", Ok(Request::House(house::Ask::Write))),
            ("house --files hanok", Ok(Request::House(house::Ask::Files("hanok".into())))),
            ("house --files", Err("`--files` needs the name of a crate")),
            ("house --all", Err("`--all` means nothing here")),
            ("house -h", Ok(Request::Help)),
            ("behaviours", Ok(Request::Behaviours(Ask::Check))),
            ("behaviours --list", Ok(Request::Behaviours(Ask::List))),
            ("behaviours --write", Ok(Request::Behaviours(Ask::Write))),
            ("behaviours -h", Ok(Request::Help)),
            ("mutants", Ok(Request::Mutants(Selection::default()))),
            (
                "mutants --only 3,41",
                Ok(Request::Mutants(Selection { only: vec![3, 41], ..Selection::default() })),
            ),
            ("mutants --only x", Err("`x` is no number")),
            ("mutants --all", Err("`--all` means nothing here")),
            ("fixtures", Ok(Request::Fixtures(vec![]))),
            ("fixtures glm kimi", Ok(Request::Fixtures(vec!["glm".into(), "kimi".into()]))),
            ("fixtures -h", Ok(Request::Help)),
            ("evaluate --fusion", Ok(Request::Evaluate(vec!["--fusion".into()]))),
            ("bench", Ok(bench(&[], Beside::Engines { langgraph: true, peers: false }))),
            (
                "bench loop --no-langgraph --rounds 9 --peers",
                Ok(bench(
                    &["loop", "--rounds", "9"],
                    Beside::Engines { langgraph: false, peers: true },
                )),
            ),
            ("bench --against --help", Err("`--against` needs a commit, as `HEAD` or `main~3`")),
            (
                "bench --against HEAD~3 loop --pairs 2",
                Ok(bench(&["loop", "--pairs", "2"], Beside::Commit("HEAD~3".into()))),
            ),
            (
                "bench --against HEAD~3 --help",
                Ok(bench(&["--help"], Beside::Engines { langgraph: false, peers: false })),
            ),
            ("bench --against", Err("`--against` needs a commit, as `HEAD` or `main~3`")),
            (
                "bench --against HEAD --peers",
                Err("`--against` compares this tree with a commit, and with nobody else"),
            ),
            ("bench --parsers", Ok(bench(&[], Beside::Parsers))),
            ("bench --parsers loop", Err("`--parsers` is asked for alone")),
            ("behaviours --all", Err("`--all` means nothing here")),
            ("behaviours --list now", Err("`now` means nothing here")),
            ("", Err("which command?")),
            ("tset", Err("no command `tset`")),
            ("tidy now", Err("`now` means nothing here")),
            ("test now", Err("`now` means nothing here")),
            ("test --only", Err("`--only` needs the name of a stage")),
            ("test --only lint", Err("no stage `lint`")),
        ] {
            assert_eq!(read_line(line), want.map_err(str::to_owned), "{line:?}");
        }
    }

    #[test]
    fn usage_names_every_stage() {
        let usage = usage();
        for name in stages::names() {
            assert!(usage.contains(name), "{name}");
        }
    }
}
