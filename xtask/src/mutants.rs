//! `cargo xtask mutants`: whether the tests fail when a line of the engine is wrong.
//!
//! All mutations are put into one copy of the tree, each behind a question that the environment answers; that is built once,
//! and the tests and the simulator run once per mutation, until one of them fails.

mod catalogue;
mod suites;
mod table;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::behaviours::Comparison;
use crate::command::Tool;
use crate::metadata::Metadata;
use crate::report::Outcome;
use crate::result::Result;
use catalogue::{Finder, Mutation};
use suites::{Programs, Suites, Verdict};
use table::Table;

/// How many of those that tests have to find run by default, in turn.
const IN_TURN: usize = 10;

/// For how long the default goes on to others. What is left then has its turn with another commit.
const TIME: Duration = Duration::from_secs(240);

/// Which mutations are wanted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Only to be printed.
    pub(crate) list: bool,
    /// All of them.
    pub(crate) full: bool,
    /// Those that tests have to find, each by the test that is named.
    pub(crate) named: bool,
    /// Those of these numbers.
    pub(crate) only: Vec<u32>,
}

/// Runs the mutations that are wanted, prints who caught each, and says whether all were caught.
///
/// # Errors
///
/// A mutation does not apply, the copy does not build, or a file cannot be written.
pub(crate) fn run(selection: &Selection) -> Result<bool> {
    let all = catalogue::read()?;
    if selection.list {
        all.iter().for_each(|mutation| println!("{}", mutation.line()));
        return Ok(true);
    }
    Ok(measured(&all, selection)?.is_good())
}

/// The stage: those that the simulator has to find and ten others in turn, as many as there is time for.
pub(crate) fn stage(_: &Metadata) -> Result<Outcome> {
    outcome(&Selection::default())
}

/// The stage where everything is wanted.
pub(crate) fn stage_of_all(_: &Metadata) -> Result<Outcome> {
    outcome(&Selection { full: true, ..Selection::default() })
}

/// The simulator of the copy. None of its mutations is switched on unless [the environment](tree::VARIABLE) says so, so it does for
/// the simulations of every test run what one of the tree itself would, and is built for both.
pub(crate) fn simulator() -> Result<PathBuf> {
    let folder = folder()?;
    suites::simulator(&tree::copied(&folder, &catalogue::read()?)?, &folder)
}

fn outcome(selection: &Selection) -> Result<Outcome> {
    let table = measured(&catalogue::read()?, selection)?;
    Ok(match table.is_good() {
        true => Outcome::Passed(table.summary()),
        false => Outcome::Failed(table.summary()),
    })
}

fn measured(all: &[Mutation], selection: &Selection) -> Result<Table> {
    let folder = folder()?;
    let tree = tree::copied(&folder, all)?;
    let mut chosen = chosen(all, selection)?;
    chosen.retain(|mutation| mutation.finder != Finder::Nobody);
    let tested = |mutation: &&Mutation| match &mutation.finder {
        Finder::Tests(test) => Some(test.clone()),
        Finder::Simulator | Finder::Store(_) | Finder::Nobody => None,
    };
    let named: BTreeSet<_> = chosen.iter().filter_map(tested).collect();
    let programs = match selection.full || !selection.only.is_empty() {
        true if named.is_empty() => Programs::Of(named),
        true => Programs::All,
        false => Programs::Of(named),
    };
    let began = Instant::now();
    let suites = Suites::build(&tree, &folder, &programs)?;
    println!("mutants: {} in one build, which took {:.0?}", all.len(), began.elapsed());
    let began = Instant::now();
    let mut table = Table::new(Comparison::read()?);
    for mutation in chosen {
        if programs != Programs::All && !selection.named && began.elapsed() >= TIME {
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

fn chosen<'a>(all: &'a [Mutation], selection: &Selection) -> Result<Vec<&'a Mutation>> {
    if selection.full {
        return Ok(all.iter().collect());
    }
    if !selection.only.is_empty() {
        let named = |number: &u32| all.iter().find(|mutation| mutation.number == *number);
        let found = selection.only.iter().map(|number| {
            named(number).ok_or_else(|| format!("no mutant {number}; `--list` shows them").into())
        });
        return found.collect();
    }
    let (tested, others): (Vec<_>, Vec<_>) =
        all.iter().partition(|mutation| matches!(mutation.finder, Finder::Tests(_)));
    if selection.named {
        return Ok(tested);
    }
    let commits = Tool::named("git").arguments(["rev-list", "--count", "HEAD"]).text()?;
    let commits: usize = commits.trim().parse()?;
    println!("mutants: the turn of those that tests find is that of {commits} commits");
    // What is quick first: what takes long has the time that is left.
    Ok(turn(tested, commits).into_iter().chain(others).collect())
}

/// Ten of `all`, in turn by `number`, which one package finds: one package is built sooner than several.
fn turn(all: Vec<&Mutation>, number: usize) -> Vec<&Mutation> {
    let mut by_package: BTreeMap<&str, Vec<&Mutation>> = BTreeMap::new();
    for mutation in all {
        if let Finder::Tests(test) = &mutation.finder {
            by_package.entry(&test.package).or_default().push(mutation);
        }
    }
    let turns: Vec<_> = by_package.values().flat_map(|of_one| of_one.chunks(IN_TURN)).collect();
    let turn = number.checked_rem(turns.len()).and_then(|turn| turns.get(turn));
    turn.map(|turn| turn.to_vec()).unwrap_or_default()
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
        let is_tested = |mutation: &&Mutation| matches!(mutation.finder, Finder::Tests(_));
        let tested: Vec<_> = all.iter().filter(is_tested).collect();
        let mut numbers: Vec<_> = (100..100 + tested.len())
            .flat_map(|number| {
                let turn = turn(tested.clone(), number);
                assert!((1..=IN_TURN).contains(&turn.len()));
                turn
            })
            .map(|mutation| mutation.number)
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), tested.len());
        assert_eq!(turn(Vec::new(), 3), Vec::<&Mutation>::new());
    }
}
