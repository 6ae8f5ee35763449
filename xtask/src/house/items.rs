//! The rules for what stands in one file: its names, its parameters, its length, what a `lib.rs` lets out.

use super::finding::{Check, Finding};
use super::length::LONGEST;
use super::source::{Opening, Source};
use crate::fault::Fault;

/// Words of ours alone: as the whole name of something they do not say what it is.
const REFUSED: [&str; 17] = [
    "told", "said", "asked", "given", "found", "kept", "came", "begun", "way", "who", "known",
    "wanted", "left", "seen", "over", "here", "today",
];

/// Finds what a file of the crate `package` has against the rules, as far as it can be a debt.
pub(super) fn check(package: &str, source: &Source) -> Vec<Finding> {
    let finding = |check, line: usize, what: String| {
        Finding::new(package, check, Fault::new(&source.path, line, what))
    };
    let refused = source.names.iter().filter(|(_, name)| is_refused(name));
    let mut findings: Vec<_> = refused
        .map(|(line, name)| {
            let what = format!("`{name}` as a name, say in the field's words what it is");
            finding(Check::Words, *line, what)
        })
        .collect();
    findings.extend(source.tuples.iter().map(|(line, function)| {
        let what = format!(
            "`{function}` takes a tuple apart as a parameter, name what it is or pass its parts"
        );
        finding(Check::Tuples, *line, what)
    }));
    if source.code_lines > LONGEST && !source.has_length_reason {
        let what = format!(
            "{} lines of code, at most {LONGEST}: split it by idea, or say at its head why not (`//! Long: …`)",
            source.code_lines,
        );
        findings.push(finding(Check::Length, 1, what));
    }
    findings
}

/// Compares a name with the refused words, in whichever case.
fn is_refused(name: &str) -> bool {
    REFUSED.contains(&name.replace('_', "").to_lowercase().as_str())
}

/// The names that leave a crate without being listed in its `lib.rs`.
pub(super) fn check_openings(source: &Source) -> impl Iterator<Item = Fault> {
    source.open.iter().map(|(line, opening)| {
        let what = match opening {
            Opening::PublicModule => {
                "`pub mod` in lib.rs, keep the module private and re-export by name"
            }
            Opening::GlobReexport => "a glob re-export, re-export by name",
        };
        Fault::new(&source.path, *line, what)
    })
}
