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
    Help,
    Test(stages::Options),
    Tidy,
    House(house::Ask),
    Behaviours(Ask),
    /// The arguments are for the simulations.
    Simulate(Vec<String>),
    Mutants(Selection),
    /// The families of fixtures, all when there is none.
    Fixtures(Vec<String>),
    Bench(Bench),
    Weigh(Weigh),
    /// The arguments are for the program that measures.
    Evaluate(Vec<String>),
    Questions(Vec<String>),
}

/// Options and their values (a flag has none), and the other words.
type Taken = (Vec<(String, Option<String>)>, Vec<String>);

/// Reads the arguments after the program's name.
pub(crate) fn read(arguments: impl IntoIterator<Item = String>) -> Result<Request, String> {
    let mut arguments = arguments.into_iter();
    let command = arguments.next().ok_or("which command?")?;
    let rest: Vec<String> = arguments.collect();
    let wants_help = rest.iter().any(|argument| is_help(argument));
    match command.as_str() {
        // Their arguments, help among them, are for the programs that they start.
        "simulate" => Ok(Request::Simulate(rest)),
        "questions" => Ok(Request::Questions(rest)),
        "evaluate" => Ok(Request::Evaluate(rest)),
        "bench" => read_bench(rest).map(Request::Bench),
        "help" | "--help" | "-h" => Ok(Request::Help),
        "test" | "tidy" | "house" | "behaviours" | "mutants" | "fixtures" | "weigh"
            if wants_help =>
        {
            Ok(Request::Help)
        }
        "test" => read_test(rest),
        "tidy" => only_options(rest, &[]).map(|_none| Request::Tidy),
        "house" => {
            let options = only_options(rest, &[("--files", "the name of a crate")])?;
            let name = options.into_iter().find_map(|(_, name)| name);
            Ok(Request::House(name.map_or(house::Ask::Draw, house::Ask::Files)))
        }
        "behaviours" => {
            let lists = !only_options(rest, &[("--list", "")])?.is_empty();
            Ok(Request::Behaviours(if lists { Ask::List } else { Ask::Check }))
        }
        "mutants" => read_mutants(rest),
        "fixtures" => Ok(Request::Fixtures(rest)),
        "weigh" => {
            let (options, only) = options(rest, &[("--release", "")])?;
            Ok(Request::Weigh(Weigh { only, release: !options.is_empty() }))
        }
        other => Err(format!("no command `{other}`")),
    }
}

fn is_help(argument: &str) -> bool {
    argument == "--help" || argument == "-h"
}

/// Takes the options that are `known` out of `rest`: each with what its value has to be, which for a flag is nothing.
fn options(rest: Vec<String>, known: &[(&str, &str)]) -> Result<Taken, String> {
    let (mut options, mut words, mut rest) = (Vec::new(), Vec::new(), rest.into_iter());
    while let Some(word) = rest.next() {
        match known.iter().find(|(name, _)| *name == word) {
            Some((_, "")) => options.push((word, None)),
            Some((name, needed)) => {
                let value = rest.next().filter(|value| !value.starts_with('-'));
                let value = value.ok_or_else(|| format!("`{name}` needs {needed}"))?;
                options.push((word, Some(value)));
            }
            None if word.starts_with('-') => return Err(format!("`{word}` means nothing here")),
            None => words.push(word),
        }
    }
    Ok((options, words))
}

/// The same where there are no other words.
fn only_options(
    rest: Vec<String>,
    known: &[(&str, &str)],
) -> Result<Vec<(String, Option<String>)>, String> {
    let (options, words) = options(rest, known)?;
    match words.first() {
        Some(word) => Err(format!("`{word}` means nothing here")),
        None => Ok(options),
    }
}

fn read_test(rest: Vec<String>) -> Result<Request, String> {
    let (base, only) = (("--base", "a commit, as `main`"), ("--only", "the name of a stage"));
    let mut test = stages::Options::default();
    for (name, value) in only_options(rest, &[("--full", ""), ("--land", ""), base, only])? {
        match (name.as_str(), value) {
            ("--full", _) => test.full = true,
            ("--land", _) => test.land = true,
            ("--base", value) => test.base = value,
            (_, value) => {
                test.only.extend(value.iter().flat_map(|it| it.split(',')).map(str::to_owned))
            }
        }
    }
    match test.only.iter().find(|name| !stages::names().any(|known| known == *name)) {
        Some(name) => Err(format!("no stage `{name}`")),
        None => Ok(Request::Test(test)),
    }
}

fn read_mutants(rest: Vec<String>) -> Result<Request, String> {
    let known =
        [("--list", ""), ("--full", ""), ("--named", ""), ("--only", "the numbers of mutants")];
    let mut selection = Selection::default();
    for (name, value) in only_options(rest, &known)? {
        match name.as_str() {
            "--list" => selection.list = true,
            "--full" => selection.full = true,
            "--named" => selection.named = true,
            _ => {
                for number in value.iter().flat_map(|value| value.split(',')) {
                    let read = number.trim().parse();
                    let read = read.map_err(|_no_number| format!("`{number}` is no number"))?;
                    selection.only.push(read);
                }
            }
        }
    }
    Ok(Request::Mutants(selection))
}

/// What is measured beside this tree is read here; all else is for the measurements.
fn read_bench(rest: Vec<String>) -> Result<Bench, String> {
    let (mut langgraph, mut peers, mut parsers, mut commit) = (true, false, false, None);
    let (mut others, mut rest) = (Vec::new(), rest.into_iter());
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--no-langgraph" => langgraph = false,
            "--peers" => peers = true,
            "--parsers" => parsers = true,
            "--against" => {
                let name = rest.next().filter(|name| !name.starts_with('-'));
                commit = Some(name.ok_or("`--against` needs a commit, as `HEAD` or `main~3`")?);
            }
            _ => others.push(word),
        }
    }
    let wants_help = others.iter().any(|argument| is_help(argument));
    let beside = match commit {
        // Nothing is built for the sake of a page of help.
        _ if wants_help => Beside::Engines { langgraph: false, peers: false },
        None if !parsers => Beside::Engines { langgraph, peers },
        None if peers || !others.is_empty() => {
            return Err("`--parsers` is asked for alone".to_owned());
        }
        None => Beside::Parsers,
        Some(_) if peers || parsers => {
            return Err("`--against` compares this tree with a commit and nothing else".to_owned());
        }
        Some(commit) => Beside::Commit(commit),
    };
    Ok(Bench { arguments: others, beside })
}

/// What `--help` prints.
pub(crate) fn usage() -> String {
    let stages = stages::ALL.iter().map(|stage| format!("  {:<14}{}\n", stage.name, stage.about));
    let stages: String = stages.collect();
    format!(
        "usage: cargo xtask COMMAND [OPTION]...

  test                     tier 1: what a change is tried with
    --land [--base REV]    tier 2: what a submission needs besides, for what changed since REV (HEAD~40)
    --full                 all tiers, as long as each takes
    --only STAGE,…         these stages, on everything
  tidy                     the checks that need no build
  house [--files CRATE]    the crates and rooms as pictures (Mermaid), or the imports of a crate by file
  behaviours [--list]      the numbered lists in docs/ against the tests, or every number with its tests
  simulate [OPTION]...     graphs under schedules of crashes; `--help`; `--teams`: team supervisors that die twice in a row
  mutants                  whether tests fail when a line is wrong: ten, in turn
    --full, --named        all of them, or those that tests find
    --only N,M, --list     those of these numbers; prints them
  fixtures [FAMILY]...     what models wrote, recorded by others, through the parser
  bench [ROW]...           what the engine costs, beside LangGraph; `--help`
    --against REV          beside itself at another commit: which rows are worse
  weigh rag                the README's first command: packages, units, CPU seconds
  weigh [ROW]...           packages and first build of programs, beside rig and LangGraph
    --release              release builds, too
  evaluate [OPTION]...     how well and fast documents are found; `--help`
  evaluate TABLE           `team`, `law`, `figures`, `memory` or `tools`
  questions EXAMPLE        what `rag`, `chat`, `contract`, `real-estate` or `orchestrator` answers to its questions
    --held-out             those for which no rule was made, as a table alone
    --model [--cache FOLDER]   a sample by the server of OPENAI_BASE_URL and OPENAI_MODEL; its replies are kept

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
        let test = |only: &[&str], land, full, base: Option<&str>| {
            let only = only.iter().map(|name| (*name).to_owned()).collect();
            let base = base.map(str::to_owned);
            Ok(Request::Test(stages::Options { only, land, full, base }))
        };
        let mutants = |only| Ok(Request::Mutants(Selection { only, ..Selection::default() }));
        for (line, want) in [
            ("test", test(&[], false, false, None)),
            ("test --land --base main", test(&[], true, false, Some("main"))),
            ("test --only fmt,doc --only tidy", test(&["fmt", "doc", "tidy"], false, false, None)),
            ("test --help", Ok(Request::Help)),
            ("test --base", Err("`--base` needs a commit, as `main`")),
            ("test --only lint", Err("no stage `lint`")),
            ("test now", Err("`now` means nothing here")),
            ("tidy", Ok(Request::Tidy)),
            ("--help", Ok(Request::Help)),
            ("house --files hanok", Ok(Request::House(house::Ask::Files("hanok".into())))),
            ("house --files", Err("`--files` needs the name of a crate")),
            ("behaviours --list", Ok(Request::Behaviours(Ask::List))),
            ("simulate --help", Ok(Request::Simulate(vec!["--help".into()]))),
            ("mutants", mutants(vec![])),
            ("mutants --only 3,41", mutants(vec![3, 41])),
            ("mutants --only x", Err("`x` is no number")),
            (
                "bench loop --no-langgraph --rounds 9 --peers",
                Ok(bench(
                    &["loop", "--rounds", "9"],
                    Beside::Engines { langgraph: false, peers: true },
                )),
            ),
            ("bench --against HEAD~3 loop", Ok(bench(&["loop"], Beside::Commit("HEAD~3".into())))),
            ("bench --against --help", Err("`--against` needs a commit, as `HEAD` or `main~3`")),
            (
                "bench --against HEAD --peers",
                Err("`--against` compares this tree with a commit and nothing else"),
            ),
            ("bench --parsers", Ok(bench(&[], Beside::Parsers))),
            ("bench --parsers loop", Err("`--parsers` is asked for alone")),
            ("", Err("which command?")),
            ("tset", Err("no command `tset`")),
        ] {
            assert_eq!(read_line(line), want.map_err(str::to_owned), "{line:?}");
        }
    }
}
