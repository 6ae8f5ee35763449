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
    /// Run stages.
    Test(stages::Options),
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
    let command = arguments.next().ok_or("which command?")?;
    let rest: Vec<String> = arguments.collect();
    let wants_help = rest.iter().any(|argument| is_help(argument));
    let mut words = rest.into_iter();
    match command.as_str() {
        // Their arguments, help among them, are for the programs that they start.
        "simulate" => Ok(Request::Simulate(words.collect())),
        "questions" => Ok(Request::Questions(words.collect())),
        "evaluate" => Ok(Request::Evaluate(words.collect())),
        "bench" => read_bench(words).map(Request::Bench),
        "test" | "tidy" | "house" | "behaviours" | "mutants" | "fixtures" | "weigh"
            if wants_help =>
        {
            Ok(Request::Help)
        }
        "help" | "--help" | "-h" => Ok(Request::Help),
        "test" => read_test(words).map(Request::Test),
        "tidy" => none(words, Request::Tidy),
        "house" => match words.next().as_deref() {
            None => Ok(Request::House(house::Ask::Draw)),
            Some("--files") => {
                let name = value(&mut words, "`--files` needs the name of a crate")?;
                none(words, Request::House(house::Ask::Files(name)))
            }
            Some(other) => Err(meaningless(other)),
        },
        "behaviours" => match words.next().as_deref() {
            None => Ok(Request::Behaviours(Ask::Check)),
            Some("--list") => none(words, Request::Behaviours(Ask::List)),
            Some(other) => Err(meaningless(other)),
        },
        "mutants" => read_mutants(words).map(Request::Mutants),
        "fixtures" => Ok(Request::Fixtures(words.collect())),
        "weigh" => read_weigh(words).map(Request::Weigh),
        other => Err(format!("no command `{other}`")),
    }
}

fn is_help(argument: &str) -> bool {
    argument == "--help" || argument == "-h"
}

fn meaningless(argument: &str) -> String {
    format!("`{argument}` means nothing here")
}

/// `request`, if nothing follows.
fn none(mut words: impl Iterator<Item = String>, request: Request) -> Result<Request, String> {
    words.next().map_or(Ok(request), |other| Err(meaningless(&other)))
}

/// The value of an option, which begins with no dash; else `wrong`.
fn value(words: &mut impl Iterator<Item = String>, wrong: &str) -> Result<String, String> {
    words.next().filter(|value| !value.starts_with('-')).ok_or_else(|| wrong.to_owned())
}

fn read_test(mut words: impl Iterator<Item = String>) -> Result<stages::Options, String> {
    let mut options = stages::Options::default();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--full" => options.full = true,
            "--land" => options.land = true,
            "--base" => {
                options.base = Some(value(&mut words, "`--base` needs a commit, as `main`")?)
            }
            "--only" => {
                let names = value(&mut words, "`--only` needs the name of a stage")?;
                for name in names.split(',') {
                    if !stages::names().any(|known| known == name) {
                        return Err(format!("no stage `{name}`"));
                    }
                    options.only.push(name.to_owned());
                }
            }
            other => return Err(meaningless(other)),
        }
    }
    Ok(options)
}

fn read_mutants(mut words: impl Iterator<Item = String>) -> Result<Selection, String> {
    let mut selection = Selection::default();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--list" => selection.list = true,
            "--full" => selection.full = true,
            "--named" => selection.named = true,
            "--only" => {
                let numbers = value(&mut words, "`--only` needs the numbers of mutants")?;
                for number in numbers.split(',') {
                    let read = number.trim().parse();
                    let read = read.map_err(|_no_number| format!("`{number}` is no number"))?;
                    selection.only.push(read);
                }
            }
            other => return Err(meaningless(other)),
        }
    }
    Ok(selection)
}

fn read_weigh(mut words: impl Iterator<Item = String>) -> Result<Weigh, String> {
    let mut weigh = Weigh::default();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--release" => weigh.release = true,
            "--tree" => {
                weigh.tree = Some(value(&mut words, "`--tree` needs the folder of a checkout")?)
            }
            other if other.starts_with('-') => return Err(meaningless(other)),
            _ => weigh.only.push(word),
        }
    }
    Ok(weigh)
}

/// What is measured beside this tree is read here; all else is for the measurements.
fn read_bench(mut words: impl Iterator<Item = String>) -> Result<Bench, String> {
    let (mut langgraph, mut peers, mut parsers, mut commit) = (true, false, false, None);
    let mut others = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--no-langgraph" => langgraph = false,
            "--peers" => peers = true,
            "--parsers" => parsers = true,
            "--against" => {
                let wrong = "`--against` needs a commit, as `HEAD` or `main~3`";
                commit = Some(value(&mut words, wrong)?);
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
    let stages = stages::ALL
        .iter()
        .map(|stage| format!("  {:<14}{}", stage.name, stage.about))
        .collect::<Vec<_>>()
        .join("\n");
    format!(
        "usage: cargo xtask test                     the first tier: what a change is tried with
                        [--land]             the second: what a submission needs besides
                        [--base REV]         which compares with REV, and not with HEAD~40
                        [--full]             all tiers, and as long as each takes
                        [--only STAGE,…]     these stages, on everything
       cargo xtask tidy                     the checks that need no build
       cargo xtask house                    the crates and rooms as pictures (Mermaid)
                         --files CRATE      the imports of a crate by file
       cargo xtask behaviours               the numbered lists in docs/ against the tests
                              --list        every number with its tests
       cargo xtask simulate [OPTION]...     graphs under schedules of crashes; `simulate --help`
                           [--teams]        team supervisors, dying twice in a row at every pair of appends
       cargo xtask mutants                  whether tests fail when a line is wrong: ten, in turn
                           [--full]         all of them: by all tests, where the named one is not enough
                           [--named]        those that tests find, each by the test it names
                           [--only N,M]     those of these numbers
                           [--list]         prints them
       cargo xtask fixtures [FAMILY]...     what models wrote, recorded by others, through the parser
       cargo xtask bench [ROW]...           what the engine costs, beside LangGraph; `bench --help`
                         --against REV      beside itself at another commit: which rows are worse
       cargo xtask weigh rag                the README's first command: packages, units, CPU seconds
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
        let test = |only: &[&str], land, full, base: Option<&str>| {
            let only = only.iter().map(|name| (*name).to_owned()).collect();
            let base = base.map(str::to_owned);
            Ok(Request::Test(stages::Options { only, land, full, base }))
        };
        let mutants = |only| Ok(Request::Mutants(Selection { only, ..Selection::default() }));
        for (line, want) in [
            ("test", test(&[], false, false, None)),
            ("test --full", test(&[], false, true, None)),
            ("test --land --base main", test(&[], true, false, Some("main"))),
            ("test --only fmt,doc --only tidy", test(&["fmt", "doc", "tidy"], false, false, None)),
            ("test --help", Ok(Request::Help)),
            ("test --base", Err("`--base` needs a commit, as `main`")),
            ("test --only lint", Err("no stage `lint`")),
            ("test now", Err("`now` means nothing here")),
            ("tidy", Ok(Request::Tidy)),
            ("tidy now", Err("`now` means nothing here")),
            ("--help", Ok(Request::Help)),
            ("house", Ok(Request::House(house::Ask::Draw))),
            ("house --files hanok", Ok(Request::House(house::Ask::Files("hanok".into())))),
            ("house --files", Err("`--files` needs the name of a crate")),
            ("house --all", Err("`--all` means nothing here")),
            ("behaviours", Ok(Request::Behaviours(Ask::Check))),
            ("behaviours --list", Ok(Request::Behaviours(Ask::List))),
            ("behaviours --list now", Err("`now` means nothing here")),
            ("simulate --help", Ok(Request::Simulate(vec!["--help".into()]))),
            ("mutants", mutants(vec![])),
            ("mutants --only 3,41", mutants(vec![3, 41])),
            ("mutants --only x", Err("`x` is no number")),
            ("fixtures glm", Ok(Request::Fixtures(vec!["glm".into()]))),
            ("evaluate --fusion", Ok(Request::Evaluate(vec!["--fusion".into()]))),
            ("bench", Ok(bench(&[], Beside::Engines { langgraph: true, peers: false }))),
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

    #[test]
    fn usage_names_every_stage() {
        let usage = usage();
        for name in stages::names() {
            assert!(usage.contains(name), "{name}");
        }
    }
}
