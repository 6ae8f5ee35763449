//! `cargo xtask mutants`: whether the tests fail when a line of the engine is wrong.
//!
//! All mutations are put into one copy of the tree, each behind a question that the environment answers; that is built once,
//! and the tests and the simulator run once per mutation, until one of them fails.

mod catalogue;
mod suites;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

use crate::changes::{self, Changes};
use crate::metadata::Metadata;
use crate::options;
use crate::report::Outcome;
use crate::result::Result;
use crate::work::Work;
use catalogue::{Finder, Mutation};
use suites::Suites;

/// How many run by default, in turn.
const IN_TURN: usize = 10;

/// How many of those in files that changed run besides, at most.
const CHANGED: usize = 20;

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
    /// Those of these numbers, besides the ones in turn.
    pub(crate) also: Vec<u32>,
}

impl Selection {
    pub(crate) fn read(arguments: &[String]) -> Result<Self> {
        let only = ("--only", "the numbers of mutants");
        let mut read = Self::default();
        for (name, value) in
            options::only(arguments, &[("--list", ""), ("--full", ""), ("--named", ""), only])?
        {
            match name.as_str() {
                "--list" => read.list = true,
                "--full" => read.full = true,
                "--named" => read.named = true,
                _ => {
                    for number in value.split(',') {
                        let number = number.trim().parse().map_err(|_no_number| number);
                        let number =
                            number.map_err(|it| options::misuse(format!("`{it}` is no number")));
                        read.only.push(number?);
                    }
                }
            }
        }
        Ok(read)
    }
}

/// Runs the mutations that are wanted, prints who caught each, and says whether all were caught.
pub(crate) fn run(selection: &Selection) -> Result<bool> {
    let all = catalogue::read()?;
    if selection.list {
        all.iter().for_each(|mutation| println!("{}", mutation.line()));
        return Ok(true);
    }
    Ok(measured(&all, selection)?.0)
}

/// The stage: for a landing those of files that changed and ten others in turn, else all.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    let all = catalogue::read()?;
    let mut left = 0;
    let selection = match work.is_full() {
        true => Selection { full: true, ..Selection::default() },
        false => {
            let (changed, others) = changed(&all, &work.changes, changes::commits())?;
            left = others;
            Selection { also: changed, ..Selection::default() }
        }
    };
    let (is_good, mut summary) = measured(&all, &selection)?;
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
fn measured(all: &[Mutation], selection: &Selection) -> Result<(bool, String)> {
    let folder = folder()?;
    let tree = tree::copied(&folder, all)?;
    let mut chosen = chosen(all, selection)?;
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
    if selection.named {
        let is_tested = |mutation: &&Mutation| matches!(mutation.finder, Finder::Tests(_));
        return Ok(all.iter().filter(is_tested).collect());
    }
    let commits = changes::commits();
    println!("mutants: the turn is that of {commits} commits");
    let turn: BTreeSet<_> = turn(all, commits).iter().map(|mutation| mutation.number).collect();
    let is_chosen = |number| turn.contains(&number) || selection.also.contains(&number);
    Ok(all.iter().filter(|mutation| is_chosen(mutation.number)).collect())
}

/// Ten of `all`, in turn by `number`, which one package or the simulator finds: one package is built sooner than several.
fn turn(all: &[Mutation], number: usize) -> Vec<&Mutation> {
    let mut by_finder: BTreeMap<&str, Vec<&Mutation>> = BTreeMap::new();
    for mutation in all {
        let finder = match &mutation.finder {
            Finder::Tests(test) => test.package.as_str(),
            Finder::Simulator | Finder::Store(_) => "the simulator",
            Finder::Nobody => continue,
        };
        by_finder.entry(finder).or_default().push(mutation);
    }
    let turns: Vec<_> = by_finder.values().flat_map(|of_one| of_one.chunks(IN_TURN)).collect();
    let turn = number.checked_rem(turns.len()).and_then(|turn| turns.get(turn));
    turn.map(|turn| turn.to_vec()).unwrap_or_default()
}

/// The mutations in files that changed, at most [`CHANGED`], in turn by `number`, and how many there are more.
fn changed(all: &[Mutation], changes: &Changes, number: usize) -> Result<(Vec<u32>, usize)> {
    if *changes == Changes::All {
        // Without a commit to compare with, only the turn counts.
        return Ok((Vec::new(), 0));
    }
    let places = tree::places(all)?;
    let is_changed = |place: &&(u32, String)| changes.any(|path| path == place.1);
    let mut numbers: Vec<_> = places.iter().filter(is_changed).map(|(number, _)| *number).collect();
    let left = numbers.len().saturating_sub(CHANGED);
    let first = number.saturating_mul(CHANGED).checked_rem(numbers.len()).unwrap_or_default();
    numbers.rotate_left(first);
    numbers.truncate(CHANGED);
    Ok((numbers, left))
}

#[cfg(test)]
mod tests {
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
        assert_eq!(changed(&all, &Changes::All, 3).unwrap(), (Vec::new(), 0));
    }
}
