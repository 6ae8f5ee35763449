//! `cargo xtask fixtures`: what models wrote, recorded by others, replayed through the example `parse`.
//!
//! The fixtures are those of PyPI's `canitoolcall`, which is installed below the target folder; nothing of it is kept here.

mod judge;
mod recorded;
mod table;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use judge::{Reply, faults};
use recorded::Fixture;

use crate::command::Tool;
use crate::metadata::Metadata;
use crate::python;
use crate::result::Result;

/// The newest that the reasons in `theirs.tsv` were written for.
const WANTED: &str = "canitoolcall==0.1.1";

/// Failures that are not ours: a fixture's id and why, a line each.
const THEIRS: &str = include_str!("fixtures/theirs.tsv");

const PACKAGE: [&str; 5] = ["--release", "--package", "parse", "--example", "parse"];

/// A way to have a text read. The result has to be the same in all of them.
#[derive(Debug, Clone, Copy)]
struct ReadMode {
    name: &'static str,
    /// Whether the parser is told the format.
    hinted: bool,
    arguments: &'static [&'static str],
}

const READ_MODES: [ReadMode; 4] = [
    ReadMode { name: "detected", hinted: false, arguments: &[] },
    ReadMode { name: "detected, byte by byte", hinted: false, arguments: &["--split", "1"] },
    ReadMode { name: "detected, 7 bytes at a time", hinted: false, arguments: &["--split", "7"] },
    ReadMode { name: "hinted", hinted: true, arguments: &[] },
];

/// What is wrong, and in which ways of reading.
type Faults = BTreeMap<String, Vec<&'static str>>;

/// What came of one fixture.
#[derive(Debug)]
pub(crate) struct Replayed {
    id: String,
    family: String,
    faults: Faults,
    /// Why it is not ours to mend.
    theirs: Option<&'static str>,
}

/// Replays the fixtures of `families`, of all when it is empty, and says whether none failed that is ours.
///
/// # Errors
///
/// Python or the package cannot be had, or the example does not build.
pub(crate) fn run(families: &[String]) -> Result<bool> {
    let folder = Metadata::read()?.target_directory.join("canitoolcall");
    let fixtures = recorded::read(&installed(&folder)?, families)?;
    if fixtures.is_empty() {
        return Err("no fixture of these families".into());
    }
    let mut found = vec![Faults::new(); fixtures.len()];
    for mode in READ_MODES {
        let replies = replies(&fixtures, mode, &folder)?;
        for ((fixture, reply), found) in fixtures.iter().zip(&replies).zip(&mut found) {
            for fault in faults(fixture, reply) {
                found.entry(fault).or_default().push(mode.name);
            }
        }
    }
    let results: Vec<_> =
        fixtures.iter().zip(found).map(|(fixture, faults)| of(fixture, faults)).collect();
    print!("{}", table::drawn(&results));
    Ok(!results.iter().any(Replayed::is_ours))
}

/// The fixtures as cases for other parsers, a line each, in a file.
///
/// # Errors
///
/// Python or the package cannot be had.
pub(crate) fn cases_for_others() -> Result<PathBuf> {
    let folder = Metadata::read()?.target_directory.join("canitoolcall");
    let fixtures = recorded::read(&installed(&folder)?, &[])?;
    let file = folder.join("others.jsonl");
    let lines = fixtures.iter().map(|fixture| fixture.case_for_others().to_string() + "\n");
    fs::write(&file, lines.collect::<String>())?;
    Ok(file)
}

fn of(fixture: &Fixture, faults: Faults) -> Replayed {
    let theirs = theirs(THEIRS).find(|(id, _)| *id == fixture.id).map(|(_, reason)| reason);
    Replayed { id: fixture.id.clone(), family: fixture.family.clone(), faults, theirs }
}

fn theirs(table: &str) -> impl Iterator<Item = (&str, &str)> {
    table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
}

impl Replayed {
    fn passed(&self) -> bool {
        self.faults.is_empty()
    }

    fn is_ours(&self) -> bool {
        !self.passed() && self.theirs.is_none()
    }
}

/// The folder of the fixtures, in a virtual environment in `folder` that is made when it is not there.
fn installed(folder: &Path) -> Result<PathBuf> {
    let python = python::with(&folder.join("venv"), &[WANTED])?;
    let place = "import canitoolcall, pathlib; print(pathlib.Path(canitoolcall.__file__).parent / '_data' / 'fixtures')";
    Ok(Tool::named(&python).arguments(["-c", place]).text()?.trim().into())
}

/// What the example says to each fixture, in their order.
fn replies(fixtures: &[Fixture], mode: ReadMode, folder: &Path) -> Result<Vec<Reply>> {
    let cases = folder.join("cases.jsonl");
    let lines = fixtures.iter().map(|fixture| fixture.case(mode.hinted).to_string() + "\n");
    fs::write(&cases, lines.collect::<String>())?;
    let said = Tool::cargo()
        .arguments(["run", "--quiet"])
        .arguments(PACKAGE)
        .arguments(["--", "--jsonl", "--whole"])
        .arguments(mode.arguments)
        .arguments([&cases])
        .text()?;
    let replies: Vec<Reply> =
        said.lines().map(serde_json::from_str).collect::<Result<_, serde_json::Error>>()?;
    if replies.len() != fixtures.len() {
        return Err(format!("{} results for {} cases", replies.len(), fixtures.len()).into());
    }
    Ok(replies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_that_is_not_ours_has_its_reason() {
        for line in THEIRS.lines().filter(|line| !line.starts_with('#')) {
            let (id, reason) = line.split_once('\t').unwrap();
            assert!(id.contains('/') && reason.len() > 20, "{line}");
        }
        let table = "# id\twhy\na/b\tbecause\n";
        assert_eq!(theirs(table).collect::<Vec<_>>(), [("a/b", "because")]);
    }
}
