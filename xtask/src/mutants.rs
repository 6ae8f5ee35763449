//! `cargo xtask mutants`: whether the tests fail when a line of the engine is wrong.
//!
//! All mutations are put into one copy of the tree, each behind a question that the environment answers; that is built once,
//! and the tests and the simulator run once per mutation, until one of them fails.

mod catalogue;
mod suites;
mod tree;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use crate::changes::{self, Changes};
use crate::metadata::Metadata;
use crate::options::{self, misuse};
use crate::report::{Outcome, Work};
use crate::result::Result;
use catalogue::{Finder, Mutation};
use suites::Suites;

/// How many run by default, in turn.
const IN_TURN: usize = 10;

/// How many of those in files that changed run besides, at most.
const CHANGED: usize = 20;

/// The command: ten mutations in turn; with `--full` all, with `--only` those of these numbers, with `--list` none, printed. Prints
/// what caught each. Returns true if all were caught.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let known = [("--list", ""), ("--full", ""), ("--only", "the numbers of mutants")];
    let options = options::only(arguments, &known)?;
    let all = catalogue::read()?;
    let chosen = match options.first().map(|(name, value)| (name.as_str(), value)) {
        None => turn(&all, changes::commits()),
        Some(("--full", _)) => all.iter().collect(),
        Some(("--only", numbers)) => {
            let named = |number: &str| all.iter().find(|it| it.number.to_string() == number.trim());
            let of = |number| named(number).ok_or_else(|| misuse(format!("no mutant {number}")));
            numbers.split(',').map(of).collect::<Result<_>>()?
        }
        Some(_) => {
            all.iter().for_each(|mutation| println!("{}", mutation.line()));
            return Ok(true);
        }
    };
    Ok(measured(&all, chosen)?.0)
}

/// The stage: for a landing ten in turn and those of files that changed, as many as one build has; else all.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    let all = catalogue::read()?;
    let (chosen, left) = match work.is_full() {
        true => (all.iter().collect(), 0),
        false => landing(&all, &work.changes, changes::commits())?,
    };
    let (is_good, mut summary) = measured(&all, chosen)?;
    if left > 0 {
        summary += &format!("; {left} of changed files left out (`cargo xtask mutants --full`)");
    }
    Ok(if is_good { Outcome::Passed(summary) } else { Outcome::Failed(summary) })
}

/// The simulator of the copy. None of its mutations is switched on unless [the environment](tree::VARIABLE) says so, so it does for
/// the simulations of every test run what one of the tree itself would, and is built for both.
pub(crate) fn simulator() -> Result<PathBuf> {
    let folder = folder()?;
    suites::simulator(&tree::copied(&folder, &catalogue::read()?)?, &folder)
}

/// Runs the chosen mutations. Returns true if all were caught, and how many were.
fn measured(all: &[Mutation], mut chosen: Vec<&Mutation>) -> Result<(bool, String)> {
    let folder = folder()?;
    let tree = tree::copied(&folder, all)?;
    chosen.retain(|mutation| mutation.finder != Finder::Nobody);
    let named = chosen.iter().filter_map(|mutation| match &mutation.finder {
        Finder::Tests(test) => Some(test.clone()),
        Finder::Simulator | Finder::Store(_) | Finder::Nobody => None,
    });
    let began = Instant::now();
    let suites = Suites::build(&tree, &folder, &named.collect())?;
    println!("mutants: {} in one build, which took {:.0?}", all.len(), began.elapsed());
    let mut survivors = Vec::new();
    for mutation in &chosen {
        let caught = suites.run(mutation)?;
        println!("{}\n      {}", mutation.line(), caught.as_deref().unwrap_or("SURVIVED"));
        survivors.extend(caught.is_none().then(|| mutation.number.to_string()));
    }
    let mut summary = format!("mutants: {} caught", chosen.len() - survivors.len());
    if !survivors.is_empty() {
        summary += &format!("; SURVIVED: {}", survivors.join(", "));
    }
    println!("{summary}");
    Ok((survivors.is_empty(), summary))
}

/// Where the copy stands, and is built.
fn folder() -> Result<PathBuf> {
    Ok(Metadata::read()?.target_directory.join("mutants"))
}

/// Ten of `all`, in turn by `number`, which one package or the simulator finds: one package is built sooner than several.
fn turn(all: &[Mutation], number: usize) -> Vec<&Mutation> {
    let mut by_finder: BTreeMap<_, Vec<&Mutation>> = BTreeMap::new();
    for mutation in all.iter().filter(|mutation| mutation.finder != Finder::Nobody) {
        by_finder.entry(mutation.finder.package()).or_default().push(mutation);
    }
    let turns: Vec<_> = by_finder.values().flat_map(|of_one| of_one.chunks(IN_TURN)).collect();
    let turn = number.checked_rem(turns.len()).and_then(|turn| turns.get(turn));
    turn.map(|turn| turn.to_vec()).unwrap_or_default()
}

/// Those whose turn it is, and of the mutations in files that changed at most [`CHANGED`] which the same package or the simulator
/// finds, in turn too; and how many of these are left out. Without a commit to compare with, only the turn counts.
fn landing<'a>(
    all: &'a [Mutation],
    changes: &Changes,
    number: usize,
) -> Result<(Vec<&'a Mutation>, usize)> {
    let mut chosen = turn(all, number);
    if *changes == Changes::All {
        return Ok((chosen, 0));
    }
    let built = chosen.first().and_then(|mutation| mutation.finder.package());
    let places = tree::places(all)?;
    let is_changed = |mutation: &&Mutation| {
        let place = places.iter().find(|(number, _)| *number == mutation.number);
        let is_new = mutation.finder != Finder::Nobody && !chosen.contains(mutation);
        is_new && place.is_some_and(|(_, file)| changes.any(|path| path == file))
    };
    let changed: Vec<_> = all.iter().filter(is_changed).collect();
    let is_built = |package: Option<&str>| package.is_none() || package == built;
    let mut found = changed.clone();
    found.retain(|mutation| is_built(mutation.finder.package()));
    let first = number.saturating_mul(CHANGED).checked_rem(found.len()).unwrap_or_default();
    found.rotate_left(first);
    found.truncate(CHANGED);
    let left = changed.len() - found.len();
    chosen.extend(found);
    Ok((chosen, left))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_mutation_has_its_turn() {
        let all = catalogue::read().unwrap();
        let has_turn = |mutation: &&Mutation| mutation.finder != Finder::Nobody;
        let want: Vec<_> = all.iter().filter(has_turn).map(|mutation| mutation.number).collect();
        let mut numbers = BTreeSet::new();
        for number in 100..100 + all.len() {
            let turn = turn(&all, number);
            assert!((1..=IN_TURN).contains(&turn.len()));
            numbers.extend(turn.iter().map(|mutation| mutation.number));
        }
        assert_eq!(numbers.into_iter().collect::<Vec<_>>(), want);
        assert_eq!(turn(&[], 3), Vec::<&Mutation>::new());
        // Without changes to compare with, none is added to the turn.
        assert_eq!(landing(&all, &Changes::All, 3).unwrap(), (turn(&all, 3), 0));
    }
}
