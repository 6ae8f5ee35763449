//! What the command line asks for.

use std::path::PathBuf;

use crate::{
    WORSE, against,
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
    /// Measure several beside another build.
    Against(against::Ask),
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

/// How many pairs of processes there are of each row, when it is compared.
const PAIRS: usize = 8;

/// The fewest that can show that a row is worse.
const FEWEST_PAIRS: usize = 3;

/// What was said, before it is known what it makes together.
#[derive(Debug, Default)]
struct CommandLine {
    names: Vec<String>,
    by: Option<By>,
    rounds: Option<usize>,
    pairs: Option<usize>,
    python: Option<PathBuf>,
    peers: Option<PathBuf>,
    against: Option<PathBuf>,
    called: Option<String>,
    json: Option<PathBuf>,
}

/// Reads the arguments after the program's name.
///
/// # Errors
///
/// A sentence about the first argument that makes no sense here.
pub(crate) fn read(arguments: impl IntoIterator<Item = String>) -> Result<Request, String> {
    let mut arguments = arguments.into_iter();
    let mut line = CommandLine::default();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--help" | "-h" => return Ok(Request::Help),
            "--measure" => line.by = Some(By::named(&value()?)?),
            "--rounds" => line.rounds = Some(rounds(&value()?)?),
            "--pairs" => line.pairs = Some(pairs(&value()?)?),
            "--python" => line.python = Some(value()?.into()),
            "--peers" => line.peers = Some(value()?.into()),
            "--against" => line.against = Some(value()?.into()),
            "--called" => line.called = Some(value()?),
            "--json" => line.json = Some(value()?.into()),
            option if option.starts_with('-') => return Err(format!("no option `{option}`")),
            name => line.names.push(name.to_owned()),
        }
    }
    line.request()
}

impl CommandLine {
    /// What all of it asks for.
    fn request(mut self) -> Result<Request, String> {
        if let Some(program) = self.against.take() {
            return self.comparison(program).map(Request::Against);
        }
        if self.pairs.is_some() {
            return Err("`--pairs` is for `--against`".to_owned());
        }
        let rounds = self.rounds.unwrap_or(ROUNDS);
        let work = |name: &String| works::named(name).ok_or(format!("no row `{name}`"));
        let works = self.names.iter().map(work).collect::<Result<Vec<_>, _>>()?;
        let works = match (self.by, works.as_slice()) {
            (Some(by), [work]) => return Ok(Request::One { work, by, rounds }),
            (Some(_), _) => return Err("`--measure` is for one row".to_owned()),
            (None, []) => ALL.iter().collect(),
            (None, _) => works,
        };
        let Self { python, peers, json, .. } = self;
        Ok(Request::Table(Ask { works, rounds, python, peers, json }))
    }

    /// The comparison with `program`. Its rows are named, and not looked up: it may have others.
    fn comparison(self, program: PathBuf) -> Result<against::Ask, String> {
        if self.by.is_some() {
            return Err("`--measure` and `--against` do not go together".to_owned());
        }
        Ok(against::Ask {
            names: self.names,
            rounds: self.rounds.unwrap_or(ROUNDS),
            pairs: self.pairs.unwrap_or(PAIRS),
            program,
            called: self.called.unwrap_or_else(|| "the other".to_owned()),
            json: self.json,
        })
    }
}

fn rounds(value: &str) -> Result<usize, String> {
    let rounds = value.parse().ok().filter(|rounds| *rounds > 0);
    rounds.ok_or(format!("`{value}` is no number of rounds"))
}

fn pairs(value: &str) -> Result<usize, String> {
    let pairs = value.parse().ok().filter(|pairs| *pairs >= FEWEST_PAIRS);
    pairs.ok_or(format!(
        "`{value}` is no number of pairs: {FEWEST_PAIRS} are the fewest that show something"
    ))
}

/// What `--help` prints.
pub(crate) fn usage() -> String {
    let rows = ALL.iter().map(|work| format!("  {:<17}{}", work.name, work.about));
    format!(
        "usage: cargo xtask bench [ROW]... [--rounds N] [--json FILE] [--no-langgraph] [--peers]
       cargo xtask bench [ROW]... --against REV [--pairs N] [--rounds N] [--json FILE]
       cargo xtask bench --parsers

  ROW             what to measure; all rows if none is named
  --rounds N      rounds of each row besides a warm-up, of which the median counts; {ROUNDS} if it is not said
  --json FILE     writes the rows there, too
  --against REV   builds that commit, too, and says which rows are worse than there by more than 5 %, without the others
  --pairs N       pairs of processes of each row, one of REV and one of this tree; {PAIRS} if it is not said
  --no-langgraph  leaves LangGraph out, and Python
  --peers         builds other engines for Rust, too, which takes minutes, and has them do what they can
  --parsers       a table of its own: our parser of tool calls and others, which are hundreds of crates to build

rows:
{}

exit: 0 measured, 1 something failed, 2 wrong usage, {WORSE} a row is worse than in REV",
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
            ("loop --mesure hanok", "no option `--mesure`".to_owned()),
            ("loop --against old", "the other in old: loop, 8 pairs by 5".to_owned()),
            (
                "--against old --called 1a2b3c4 lop --pairs 3 --rounds 1",
                "1a2b3c4 in old: lop, 3 pairs by 1".to_owned(),
            ),
            ("--against", "`--against` needs a value".to_owned()),
            (
                "--against old --pairs 2",
                "`2` is no number of pairs: 3 are the fewest that show something".to_owned(),
            ),
            ("--pairs 3", "`--pairs` is for `--against`".to_owned()),
            (
                "loop --against old --measure hanok",
                "`--measure` and `--against` do not go together".to_owned(),
            ),
        ] {
            let read = match read(line.split_whitespace().map(str::to_owned)) {
                Ok(Request::Help) => "help".to_owned(),
                Ok(Request::One { work, rounds, .. }) => format!("{} by {rounds}", work.name),
                Ok(Request::Table(ask)) => {
                    format!("table of {} by {}", ask.works.len(), ask.rounds)
                }
                Ok(Request::Against(ask)) => {
                    let (called, program) = (&ask.called, ask.program.display());
                    let rows = ask.names.join(" ");
                    format!("{called} in {program}: {rows}, {} pairs by {}", ask.pairs, ask.rounds)
                }
                Err(wrong) => wrong,
            };
            assert_eq!(read, want, "{line:?}");
        }
    }
}
