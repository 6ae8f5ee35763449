//! `cargo xtask mutants`: whether the tests fail when a line of the engine is wrong.
//!
//! All mutations are put into one copy of the tree, each behind a question that the environment answers; that is built once,
//! and the tests and the simulator run once per mutation, until one of them fails.

mod catalogue;
mod suites;
mod table;
mod tree;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::Result;
use crate::behaviours::Comparison;
use crate::command::Tool;
use crate::metadata::Metadata;
use crate::report::Outcome;
use catalogue::{Finder, Mutation};
use suites::{Suites, Verdict};
use table::Table;

/// How many of those that tests have to find run by default, in turn.
const IN_TURN: usize = 10;

/// For how long the default goes on to others. What is left then has its turn with another commit.
const TIME: Duration = Duration::from_secs(240);

/// Which mutations are wanted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Only to be printed.
    pub(crate) list: bool,
    /// All of them.
    pub(crate) full: bool,
    /// Those that the simulator has to find.
    pub(crate) simulated: bool,
    /// Those of these numbers.
    pub(crate) only: Vec<u32>,
}

/// Runs the mutations that are wanted, prints who caught each, and says whether all were caught.
///
/// # Errors
///
/// A mutation does not apply, the copy does not build, or a file cannot be written.
pub(crate) fn run(wanted: &Wanted) -> Result<bool> {
    let all = catalogue::read()?;
    if wanted.list {
        all.iter().for_each(|mutation| println!("{}", mutation.line()));
        return Ok(true);
    }
    Ok(measured(&all, wanted)?.is_good())
}

/// The stage: those that the simulator has to find, as many as there is time for.
pub(crate) fn stage(_: &Metadata) -> Result<Outcome> {
    outcome(&Wanted { simulated: true, ..Wanted::default() })
}

/// The stage where everything is wanted.
pub(crate) fn stage_of_all(_: &Metadata) -> Result<Outcome> {
    outcome(&Wanted { full: true, ..Wanted::default() })
}

fn outcome(wanted: &Wanted) -> Result<Outcome> {
    let table = measured(&catalogue::read()?, wanted)?;
    Ok(match table.is_good() {
        true => Outcome::Passed(table.summary()),
        false => Outcome::Failed(table.summary()),
    })
}

fn measured(all: &[Mutation], wanted: &Wanted) -> Result<Table> {
    let folder = folder()?;
    let tree = tree::copied(&folder, all)?;
    let mut chosen = chosen(all, wanted)?;
    chosen.retain(|mutation| mutation.finder != Finder::Nobody);
    let tested = chosen.iter().any(|mutation| mutation.finder == Finder::Tests);
    let began = Instant::now();
    let suites = Suites::build(&tree, &folder, tested)?;
    println!("mutants: {} in one build, which took {:.0?}", all.len(), began.elapsed());
    let began = Instant::now();
    let is_timed = !wanted.full && wanted.only.is_empty();
    let mut table = Table::new(Comparison::read()?);
    for mutation in chosen {
        if is_timed && began.elapsed() >= TIME {
            table.left_out(mutation);
            continue;
        }
        let verdict = suites.run(mutation)?;
        table.add(mutation, verdict);
    }
    println!("{}", table.summary());
    Ok(table)
}

/// Where the copy stands, and is built.
fn folder() -> Result<PathBuf> {
    Ok(Metadata::read()?.target_directory.join("mutants"))
}

fn chosen<'a>(all: &'a [Mutation], wanted: &Wanted) -> Result<Vec<&'a Mutation>> {
    if wanted.full {
        return Ok(all.iter().collect());
    }
    if !wanted.only.is_empty() {
        let named = |number: &u32| all.iter().find(|mutation| mutation.number == *number);
        let found = wanted.only.iter().map(|number| {
            named(number).ok_or_else(|| format!("no mutant {number}; `--list` shows them").into())
        });
        return found.collect();
    }
    let (mut simulated, tested): (Vec<_>, Vec<_>) =
        all.iter().partition(|mutation| !matches!(mutation.finder, Finder::Tests | Finder::Nobody));
    let tested: Vec<_> =
        tested.into_iter().filter(|mutation| mutation.finder == Finder::Tests).collect();
    if wanted.simulated {
        return Ok(simulated);
    }
    let commits = Tool::named("git").arguments(["rev-list", "--count", "HEAD"]).text()?;
    let commits: usize = commits.trim().parse()?;
    println!("mutants: the turn of those that tests find is that of {commits} commits");
    simulated.extend(turn(&tested, commits));
    Ok(simulated)
}

/// Ten of `all`, in turn: with every number the ten after those of the number before.
fn turn<'a>(all: &[&'a Mutation], number: usize) -> Vec<&'a Mutation> {
    let from = number.wrapping_mul(IN_TURN);
    let at = |index: usize| all.get(from.wrapping_add(index).checked_rem(all.len())?).copied();
    (0..IN_TURN.min(all.len())).filter_map(at).collect()
}

/// How a mutation was caught, for the table.
fn catchers(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Survived => "SURVIVED".to_owned(),
        Verdict::Hang(suite) => format!("hang of {suite}"),
        Verdict::Simulated(how) => format!("the simulator: {how}"),
        Verdict::Failed { suite, tests } if tests.is_empty() => format!("{suite}: it broke off"),
        Verdict::Failed { suite, tests } => format!("{suite}: {}", tests.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mutation_that_tests_find_has_its_turn() {
        let all = catalogue::read().unwrap();
        let tested: Vec<_> = all.iter().collect();
        let mut numbers: Vec<_> = (100..100 + tested.len().div_ceil(IN_TURN))
            .flat_map(|number| turn(&tested, number))
            .map(|mutation| mutation.number)
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), tested.len());
        assert_eq!(turn(&[], 3), Vec::<&Mutation>::new());
    }
}
