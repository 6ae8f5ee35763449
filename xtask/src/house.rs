//! The house: which file of a crate may import which, in which words, and how it is drawn.
//!
//! Every file of `crates/*/src` and `xtask/src` is read with `syn`, without its tests. An *arrow* goes from a file to the file
//! that defines a name it uses; declaring a module or re-exporting a name is none. Arrows go down from room to room
//! ([`plan`]) and form no circle of more than three files. What a crate had against the rules when they were made is in its
//! *debts*, which only shrink.

mod circles;
mod debts;
mod drawing;
mod examples;
mod finding;
mod items;
mod length;
mod listing;
mod modules;
mod paths;
mod plan;
mod rooms;
mod source;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::fault::Fault;
use crate::files;
use crate::metadata::Metadata;
use crate::result::Result;
use debts::Debts;
use finding::Finding;
use modules::Crate;
use plan::{PLAN, Rooms};
use source::Source;

/// The work of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Print the pictures.
    Draw,
    /// Bring the debts and the pictures in the docs up to date.
    Write,
    /// Print the circles and the imports of a crate by file.
    Files(String),
    /// Print what is left of each example, in lines.
    Examples,
}

/// The crates as they are.
#[derive(Debug, Default)]
struct House {
    crates: Vec<Crate>,
    /// The files that are no Rust.
    faults: Vec<Fault>,
}

impl House {
    /// Reads the sources among `files`.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    fn read(files: &[PathBuf]) -> Result<Self> {
        let texts = files::texts(files, |path| package(path).is_some())?;
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let chunk = texts.len().div_ceil(workers).max(1);
        let sources = std::thread::scope(|scope| {
            let workers: Vec<_> = texts
                .chunks(chunk)
                .map(|texts| {
                    let read = |(path, text): &(String, String)| read(path, text);
                    scope.spawn(move || texts.iter().map(read).collect::<Vec<_>>())
                })
                .collect();
            let joined = workers.into_iter().map(|worker| match worker.join() {
                Ok(sources) => sources,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.flatten().collect()
        });
        Ok(Self::new(sources))
    }

    fn new(sources: Vec<Result<Source, Fault>>) -> Self {
        let mut house = Self::default();
        let mut crates: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
        for source in sources {
            match source {
                Ok(source) => {
                    let package = package(&source.path).unwrap_or_default().to_owned();
                    let path = modules::path_in_src(&source.path).to_owned();
                    crates.entry(package).or_default().insert(path, source);
                }
                Err(fault) => house.faults.push(fault),
            }
        }
        let crates = crates.into_iter().map(|(name, sources)| Crate::new(&name, sources));
        house.crates = crates.collect();
        house
    }

    /// Everything against the rules, by crate.
    fn findings(&self, plan: &[Rooms]) -> Vec<Finding> {
        let mut findings = Vec::new();
        for of in &self.crates {
            let rooms = rooms_of(plan, &of.name);
            findings.extend(circles::check(of, rooms));
            findings.extend(rooms.into_iter().flat_map(|rooms| rooms::upward(of, rooms)));
            findings.extend(of.files.iter().flat_map(|file| items::check(&of.name, file)));
        }
        findings
    }

    /// The faults that no crate may owe.
    fn faults(self, plan: &[Rooms]) -> Vec<Fault> {
        let mut faults = self.faults;
        for of in &self.crates {
            let rooms = rooms_of(plan, &of.name);
            faults.extend(rooms.into_iter().flat_map(|rooms| rooms::check_plan(of, rooms)));
            faults.extend(of.files.iter().flat_map(items::check_openings));
        }
        faults
    }

    fn pictures(&self, plan: &[Rooms], floors: &[&[&str]], metadata: &Metadata) -> String {
        let mut pictures = "The crates, without the arrows that follow from others:\n\n".to_owned();
        pictures += &drawing::crates(floors, &arrows(metadata));
        for of in &self.crates {
            if let Some(rooms) = rooms_of(plan, &of.name) {
                pictures +=
                    &format!("\nThe rooms of `{}`, with the number of imports:\n\n", of.name);
                pictures += &drawing::rooms(of, rooms);
            }
        }
        pictures
    }
}

fn rooms_of<'p>(plan: &'p [Rooms], package: &str) -> Option<&'p Rooms> {
    plan.iter().find(|rooms| rooms.package == package)
}

/// Everything in which the house differs from its rules, its debts and its pictures.
///
/// # Errors
///
/// A file cannot be read.
pub(crate) fn faults(
    files: &[PathBuf],
    floors: &[&[&str]],
    metadata: &Metadata,
) -> Result<Vec<Fault>> {
    let house = House::read(files)?;
    let pictures = house.pictures(PLAN, floors, metadata);
    let debts = Debts::read(&fs::read_to_string(debts::PATH)?);
    let mut faults = debts.settle(house.findings(PLAN));
    faults.extend(house.faults(PLAN));
    faults.extend(drawing::check(&fs::read_to_string(drawing::DOCUMENT)?, &pictures));
    Ok(faults)
}

/// Does what was asked for, and returns what is to be printed.
///
/// # Errors
///
/// A file cannot be read or written, or there is no such crate.
pub(crate) fn run(
    ask: &Ask,
    files: &[PathBuf],
    floors: &[&[&str]],
    metadata: &Metadata,
) -> Result<String> {
    let house = House::read(files)?;
    match ask {
        Ask::Examples => examples::table(files),
        Ask::Draw => Ok(house.pictures(PLAN, floors, metadata)),
        Ask::Write => {
            let debts = Debts::read(&fs::read_to_string(debts::PATH)?);
            fs::write(debts::PATH, debts.lowered(&house.findings(PLAN)))?;
            let document = fs::read_to_string(drawing::DOCUMENT)?;
            let shown = drawing::shown(&document, &house.pictures(PLAN, floors, metadata));
            fs::write(drawing::DOCUMENT, shown.map_err(|fault| fault.to_string())?)?;
            Ok(String::new())
        }
        Ask::Files(name) => {
            let of = house.crates.iter().find(|of| of.name == *name);
            let mut listing = listing::listing(of.ok_or_else(|| format!("no crate `{name}`"))?);
            listing += "\nagainst the rules, debts too\n";
            for finding in house.findings(PLAN).iter().filter(|finding| finding.package == *name) {
                listing += &format!("  {}\n", finding.fault);
            }
            Ok(listing)
        }
    }
}

fn read(path: &str, text: &str) -> Result<Source, Fault> {
    Source::read(path, text).map_err(|(line, wrong)| {
        Fault::new(path, line, format!("cannot be read as Rust ({wrong}), mend it"))
    })
}

/// The package of a source file, if it is of one whose house is checked.
fn package(path: &str) -> Option<&str> {
    let (package, inside) = path.strip_prefix("crates/").unwrap_or(path).split_once('/')?;
    let is_ours = path.starts_with("crates/") || package == "xtask";
    (is_ours && inside.starts_with("src/") && path.ends_with(".rs")).then_some(package)
}

/// The crates that each crate is built with, without its tests.
fn arrows(metadata: &Metadata) -> BTreeSet<(String, String)> {
    let members = metadata.members();
    let crates: BTreeSet<_> = members
        .iter()
        .filter(|package| package.is_published())
        .map(|package| package.name.as_str())
        .collect();
    let mut arrows = BTreeSet::new();
    for package in members.iter().filter(|package| crates.contains(package.name.as_str())) {
        let built_with = package.dependencies.iter().filter(|other| other.kind.is_none());
        for other in built_with.filter(|other| crates.contains(other.name.as_str())) {
            arrows.insert((package.name.clone(), other.name.clone()));
        }
    }
    arrows
}
