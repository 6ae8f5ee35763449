//! This build beside another one: a row at a time, in pairs of processes.
//!
//! The other program may be older than this file. All that is asked of it is what every one knows: `--help`, which lists its rows,
//! and `ROW --measure hanok --rounds N`, which prints a list of numbers.

mod judgement;
mod pairs;
mod report;
mod rows;

use std::{path::PathBuf, process::Command};

use crate::{
    Result,
    peer::figures,
    works::{self, Work},
};
use judgement::{Judged, Quartiles};
use pairs::{Build, Pair};
use report::{Entry, Report, Skipped};
use rows::Presence;

/// Which comparison.
#[derive(Debug)]
pub(crate) struct Ask {
    /// The rows that are named, all if none is.
    pub(crate) names: Vec<String>,
    /// How many rounds each process does.
    pub(crate) rounds: usize,
    /// How many pairs of processes there are of each row.
    pub(crate) pairs: usize,
    /// The other build.
    pub(crate) program: PathBuf,
    /// What the table calls it.
    pub(crate) called: String,
    /// Where the rows are written as JSON.
    pub(crate) json: Option<PathBuf>,
}

/// Compares what `ask` names, in the order of the table.
///
/// # Errors
///
/// The other build does not say which rows it has, or none of the two has one that is named. A row that cannot be measured is part
/// of the report, and no error.
pub(crate) fn run(ask: &Ask) -> Result<Report> {
    let here: Vec<_> = works::ALL.iter().map(|work| work.name).collect();
    let there = rows::of_program(&ask.program)?;
    let rows = rows::selected(&ask.names, &here, &there, &ask.called)?;
    let entries = rows.into_iter().map(|(name, presence)| ask.entry(&name, presence));
    Ok(Report { base: ask.called.clone(), entries: entries.collect() })
}

impl Ask {
    /// What becomes of the row `name`.
    fn entry(&self, name: &str, presence: Presence) -> Entry {
        let skipped = |why| Entry::Skipped { row: name.to_owned(), why };
        match (works::named(name), presence) {
            (_, Presence::Base) => skipped(Skipped::OnlyBase),
            (None, _) | (_, Presence::Tree) => skipped(Skipped::OnlyTree),
            (Some(work), Presence::Both) => {
                let compared = compared(work, self.pairs, |build| self.measured(build, work));
                match compared {
                    Ok(judged) => Entry::Compared { work, judged },
                    Err(why) => skipped(why),
                }
            }
        }
    }

    /// Measures `work` in a process of `build`.
    fn measured(&self, build: Build, work: &Work) -> Result<Vec<f64>> {
        let program = match build {
            Build::Base => self.program.clone(),
            Build::Tree => std::env::current_exe()?,
        };
        let rounds = self.rounds.to_string();
        let arguments = [work.name, "--measure", "hanok", "--rounds", &rounds];
        figures(Command::new(program).args(arguments))
    }
}

/// Compares the figures of `work`. If one of them is above the bound, the work is measured again with twice the pairs, and each figure
/// that was above is judged by these alone: what noise has lifted above the bound falls back, and what is worse stays there.
fn compared(
    work: &Work,
    pairs: usize,
    mut measure: impl FnMut(Build) -> Result<Vec<f64>>,
) -> Result<Vec<Judged>, Skipped> {
    eprintln!("bench: {}, {pairs} pairs", work.name);
    let first = judged(work, pairs, &mut measure)?;
    if !first.iter().any(Quartiles::is_above) {
        return Ok(first.into_iter().map(Judged::once).collect());
    }
    let more = 2 * pairs;
    eprintln!("bench: {} again, {more} pairs: it seems to be worse", work.name);
    let again = judged(work, more, &mut measure)?;
    Ok(first.into_iter().zip(again).map(|(first, again)| Judged::twice(first, again)).collect())
}

/// The figures of `work`, from so many pairs.
fn judged(
    work: &Work,
    pairs: usize,
    measure: &mut impl FnMut(Build) -> Result<Vec<f64>>,
) -> Result<Vec<Quartiles>, Skipped> {
    let failed = |error: crate::BoxError| Skipped::Failed(error.to_string());
    let pairs = pairs::measured(pairs, measure).map_err(failed)?;
    let differs = |pair: &&Pair| pair.base.len() != pair.tree.len();
    if let Some(pair) = pairs.iter().find(differs) {
        return Err(Skipped::Figures { base: pair.base.len(), tree: pair.tree.len() });
    }
    let figures = work.figures.iter().enumerate();
    let of = |(place, figure): (usize, &works::Figure)| {
        let pairs = pairs.iter().map(|pair| Some((*pair.base.get(place)?, *pair.tree.get(place)?)));
        let pairs: Option<Vec<_>> = pairs.collect();
        let pairs = pairs.ok_or_else(|| Skipped::Failed("it gives too few figures".to_owned()))?;
        Ok(Quartiles::of(&pairs, figure.better))
    };
    figures.map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::works::{Better, Figure};

    const WORK: Work = Work {
        name: "storage",
        about: "",
        figures: &[
            Figure { name: "file", unit: "MB", goal: None, better: Better::Less },
            Figure { name: "rate", unit: "MB/s", goal: None, better: Better::More },
        ],
        hand_written: None,
        hanok: |_| Ok(Vec::new()),
    };

    /// Compares in three pairs: the base gives `[1, 10]`, and this tree what `tree` has, one after the other.
    fn against(tree: &[[f64; 2]]) -> Result<Vec<(f64, usize, bool)>, Skipped> {
        let mut tree = tree.iter();
        let judged = compared(&WORK, 3, |build| match build {
            Build::Base => Ok(vec![1.0, 10.0]),
            Build::Tree => Ok(tree.next().ok_or("no figure is left")?.to_vec()),
        })?;
        assert_eq!(tree.next(), None, "all are measured");
        let short = |judged: &Judged| (judged.figure.tree, judged.figure.pairs, judged.is_worse());
        Ok(judged.iter().map(short).collect())
    }

    #[test]
    fn a_figure_is_worse_if_it_is_above_the_bound_twice() {
        let (same, big, slow) = ([1.0, 10.0], [1.5, 10.0], [1.0, 5.0]);
        let cases: [(&[[f64; 2]], _); 4] = [
            (&[same; 3], [(1.0, 3, false), (10.0, 3, false)]),
            (&[big; 9], [(1.5, 6, true), (10.0, 3, false)]),
            (&[slow; 9], [(1.0, 3, false), (5.0, 6, true)]),
            (
                &[big, big, big, slow, slow, slow, slow, slow, slow],
                [(1.0, 6, false), (10.0, 3, false)],
            ),
        ];
        for (tree, want) in cases {
            assert_eq!(against(tree), Ok(want.to_vec()), "{tree:?}");
        }
    }

    #[test]
    fn builds_whose_figures_differ_are_not_compared_and_a_failure_is_told() {
        let differ = compared(&WORK, 3, |build| match build {
            Build::Base => Ok(vec![1.0]),
            Build::Tree => Ok(vec![1.0, 10.0]),
        });
        assert_eq!(differ, Err(Skipped::Figures { base: 1, tree: 2 }));
        let failed = compared(&WORK, 3, |_| Err("no room on the disk".into()));
        assert_eq!(failed, Err(Skipped::Failed("no room on the disk".to_owned())));
        let few = compared(&WORK, 3, |_| Ok(vec![1.0]));
        assert_eq!(few, Err(Skipped::Failed("it gives too few figures".to_owned())));
    }
}
