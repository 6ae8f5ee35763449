//! What the command line asks for.

use std::{path::PathBuf, time::Duration};

use hanok_simulations::WrongStore;

/// What to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// How many runs, of all scenarios together.
    pub(crate) seeds: Option<u64>,
    /// The first seed.
    pub(crate) from: Option<u64>,
    /// For how long, at least.
    pub(crate) time: Option<Duration>,
    /// The one scenario.
    pub(crate) scenario: Option<String>,
    /// The one seed that is told.
    pub(crate) trace: Option<u64>,
    /// Whether processes die at every write first.
    pub(crate) everywhere: bool,
    /// The file that the ends of the scenarios are written to.
    pub(crate) ends: Option<PathBuf>,
    /// The file of the ends that every run is compared with, until one fails.
    pub(crate) search: Option<PathBuf>,
    /// The wrong store that is searched for a failure.
    pub(crate) store: Option<WrongStore>,
}

pub(crate) const USAGE: &str =
    "usage: cargo xtask simulate [OPTION]...   runs graphs under schedules of crashes

  --seeds N        so many runs, of all scenarios together; 10,000 if nothing else is said
  --seconds N      as many as fit in the time, and no fewer than `--seeds` says
  --from SEED      the first seed; 0, and later the time of day
  --scenario NAME  one scenario
  --everywhere     first, a crash at every write, and at every write of the next process
  --trace SEED     tells all of one seed
  --ends FILE      writes to FILE how the scenarios end when nothing goes wrong
  --search FILE    looks for a failure, or another end than FILE says, in 1,000 seeds of each scenario
  --store NAME     with `--search`: on a store that is wrong

exit: 0 all promises were kept, 1 one was broken, 2 wrong usage";

/// Reads the arguments; nothing if the usage is asked for.
///
/// # Errors
///
/// A sentence about the first argument that makes no sense.
pub(crate) fn read(
    arguments: impl IntoIterator<Item = String>,
) -> Result<Option<Arguments>, String> {
    let mut read = Arguments::default();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--help" | "-h" => return Ok(None),
            "--everywhere" => read.everywhere = true,
            "--ends" => read.ends = Some(value()?.into()),
            "--search" => read.search = Some(value()?.into()),
            "--store" => {
                let name = value()?;
                let store = WrongStore::named(&name).ok_or(format!("no wrong store `{name}`"))?;
                read.store = Some(store);
            }
            "--scenario" => read.scenario = Some(value()?),
            "--seeds" => read.seeds = Some(number(&value()?)?),
            "--from" => read.from = Some(number(&value()?)?),
            "--trace" => read.trace = Some(number(&value()?)?),
            "--seconds" => read.time = Some(Duration::from_secs(number(&value()?)?)),
            other => return Err(format!("`{other}` means nothing here")),
        }
    }
    Ok(Some(read))
}

fn number(text: &str) -> Result<u64, String> {
    let read = text.replace('_', "").parse();
    read.map_err(|error: std::num::ParseIntError| format!("`{text}` is no number: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_option_and_names_what_it_does_not_know() {
        let read = |line: &str| read(line.split_whitespace().map(str::to_owned));
        for (line, want) in [
            ("", Ok(Some(Arguments::default()))),
            ("--help", Ok(None)),
            (
                "--seeds 1_000 --from 7 --everywhere",
                Ok(Some(Arguments {
                    seeds: Some(1_000),
                    from: Some(7),
                    everywhere: true,
                    ..Arguments::default()
                })),
            ),
            (
                "--scenario chain --trace 9",
                Ok(Some(Arguments {
                    scenario: Some("chain".into()),
                    trace: Some(9),
                    ..Arguments::default()
                })),
            ),
            (
                "--search ends.json --store AppendTorn --seconds 5",
                Ok(Some(Arguments {
                    search: Some("ends.json".into()),
                    store: Some(WrongStore::AppendTorn),
                    time: Some(Duration::from_secs(5)),
                    ..Arguments::default()
                })),
            ),
            ("--store Right", Err("no wrong store `Right`")),
            ("--seeds", Err("`--seeds` needs a value")),
            ("--seeds many", Err("`many` is no number: invalid digit found in string")),
            ("now", Err("`now` means nothing here")),
        ] {
            assert_eq!(read(line), want.map_err(str::to_owned), "{line:?}");
        }
    }
}
