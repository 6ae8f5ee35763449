//! What the command line asks for.

use std::path::PathBuf;

use crate::{
    peer::By,
    works::{self, ALL, Work},
};

/// One invocation.
#[derive(Debug)]
pub(crate) enum Request {
    /// Print the usage.
    Help,
    /// Measure one work in this process.
    One { work: &'static Work, by: By, rounds: usize },
    /// Measure several, each in a process of its own, and print the table.
    Table(Ask),
}

/// Which table.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) works: Vec<&'static Work>,
    pub(crate) rounds: usize,
    /// The Python that has LangGraph.
    pub(crate) python: Option<PathBuf>,
    /// The program that has other engines do the work.
    pub(crate) peers: Option<PathBuf>,
    /// Where the rows are written as JSON.
    pub(crate) json: Option<PathBuf>,
}

/// How many rounds there are besides the warm-up.
const ROUNDS: usize = 5;

/// Reads the arguments after the program's name.
///
/// # Errors
///
/// A sentence about the first argument that makes no sense here.
pub(crate) fn read(arguments: impl IntoIterator<Item = String>) -> Result<Request, String> {
    let mut arguments = arguments.into_iter();
    let mut by = None;
    let mut ask = Ask { works: Vec::new(), rounds: ROUNDS, python: None, peers: None, json: None };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--help" | "-h" => return Ok(Request::Help),
            "--measure" => by = Some(By::named(&value()?)?),
            "--rounds" => ask.rounds = rounds(&value()?)?,
            "--python" => ask.python = Some(value()?.into()),
            "--peers" => ask.peers = Some(value()?.into()),
            "--json" => ask.json = Some(value()?.into()),
            name => ask.works.push(works::named(name).ok_or(format!("no row `{name}`"))?),
        }
    }
    match (by, ask.works.as_slice()) {
        (Some(by), [work]) => Ok(Request::One { work, by, rounds: ask.rounds }),
        (Some(_), _) => Err("`--measure` is for one row".to_owned()),
        (None, []) => Ok(Request::Table(Ask { works: ALL.iter().collect(), ..ask })),
        (None, _) => Ok(Request::Table(ask)),
    }
}

fn rounds(value: &str) -> Result<usize, String> {
    let rounds = value.parse().ok().filter(|rounds| *rounds > 0);
    rounds.ok_or(format!("`{value}` is no number of rounds"))
}

/// What `--help` prints.
pub(crate) fn usage() -> String {
    let rows = ALL.iter().map(|work| format!("  {:<16}{}", work.name, work.about));
    format!(
        "usage: cargo xtask bench [ROW]... [--rounds N] [--json FILE] [--no-langgraph] [--peers]
       cargo xtask bench --parsers

  ROW             what to measure; all rows if none is named
  --rounds N      rounds of each row besides a warm-up, of which the median counts; {ROUNDS} if it is not said
  --json FILE     writes the rows there, too
  --no-langgraph  leaves LangGraph out, and Python
  --peers         builds other engines for Rust, too, which takes minutes, and has them do what they can
  --parsers       a table of its own: our parser of tool calls and others, which are hundreds of crates to build

rows:
{}

exit: 0 measured, 1 something failed, 2 wrong usage",
        rows.collect::<Vec<_>>().join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_to_be_measured_and_names_what_it_does_not_know() {
        for (line, want) in [
            ("", format!("table of {} by 5", ALL.len())),
            ("loop --rounds 9", "table of 1 by 9".to_owned()),
            ("loop --measure hanok", "loop by 5".to_owned()),
            ("--help", "help".to_owned()),
            ("lop", "no row `lop`".to_owned()),
            ("--rounds 0", "`0` is no number of rounds".to_owned()),
            ("--rounds", "`--rounds` needs a value".to_owned()),
            ("--measure hanok", "`--measure` is for one row".to_owned()),
            ("loop --measure django", "nobody is called `django`".to_owned()),
        ] {
            let read = match read(line.split_whitespace().map(str::to_owned)) {
                Ok(Request::Help) => "help".to_owned(),
                Ok(Request::One { work, rounds, .. }) => format!("{} by {rounds}", work.name),
                Ok(Request::Table(ask)) => {
                    format!("table of {} by {}", ask.works.len(), ask.rounds)
                }
                Err(wrong) => wrong,
            };
            assert_eq!(read, want, "{line:?}");
        }
    }
}
