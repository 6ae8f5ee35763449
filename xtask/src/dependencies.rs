//! How many packages each crate of ours brings along, and the README's first command builds.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::command::Tool;
use crate::metadata::Metadata;
use crate::report::{Outcome, Work};
use crate::result::Result;

/// The README's first command is `cargo run` with these arguments.
pub(crate) const FIRST_COMMAND: [&str; 2] = ["--example", "rag"];

/// The most packages and units that the first command may build.
const FIRST_LIMIT: Build = Build { packages: 175, units: 225 };

/// What a build is made of. A unit is one run of the compiler or of a build script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Build {
    pub(crate) packages: usize,
    pub(crate) units: usize,
}

/// The most outside crates that a crate may need. A crate that is not here is only counted.
const LIMITS: [(&str, usize); 8] = [
    ("hanok-parse", 15),
    ("hanok-telemetry", 4),
    ("hanok-core", 15),
    ("hanok-state", 22),
    ("hanok-checkpoint", 24),
    ("hanok-model", 28),
    ("hanok-graph", 45),
    // The agent has 94; rmcp brings chrono, the rest is reqwest and rustls.
    ("hanok-mcp", 180),
];

/// The options of `cargo tree` for what a user gets, and for what a user could get.
const DEFAULT: &[&str] = &[];
pub(crate) const EVERYTHING: &[&str] = &["--all-features", "--target", "all"];

/// The stage: packages per published crate (normal edges, default features, this machine) and of the first command, against their
/// limits.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    let (mut table, mut is_good) = (String::new(), true);
    for package in work.metadata.members().into_iter().filter(|package| package.is_published()) {
        let outside = outside(&package.name, DEFAULT, &work.metadata)?.len();
        let (line, fits) = counted(&package.name, outside);
        table += &line;
        is_good &= fits;
    }
    let Build { packages, units } = first_command()?;
    is_good &= packages <= FIRST_LIMIT.packages && units <= FIRST_LIMIT.units;
    let limit = format!("at most {} and {}", FIRST_LIMIT.packages, FIRST_LIMIT.units);
    let first = format!("`cargo run --example rag`: {packages} packages, {units} units ({limit})");
    let text = format!("{first}\noutside crates per crate (normal edges, default features){table}");
    Ok(if is_good { Outcome::Passed(text) } else { Outcome::Failed(text) })
}

/// The line of a crate that needs so many outside crates, and false if it needs too many.
fn counted(name: &str, outside: usize) -> (String, bool) {
    let limit = LIMITS.iter().find(|(limited, _)| *limited == name).map(|(_, limit)| *limit);
    let fits = limit.is_none_or(|limit| outside <= limit);
    let of = limit.map(|limit| {
        format!("  {} {limit}", if fits { "of at most" } else { "TOO MANY, at most" })
    });
    (format!("\n{name:<18}{outside:>4}{}", of.unwrap_or_default()), fits)
}

/// The packages and units of the first command, as Cargo plans it: with the features that all members of the workspace want.
pub(crate) fn first_command() -> Result<Build> {
    // The plan is an unstable option of Cargo. Nothing is compiled with this variable.
    let plan = ["build", "--unit-graph", "-Zunstable-options"];
    let plan = Tool::cargo().arguments(plan).arguments(FIRST_COMMAND);
    Ok(build(&serde_json::from_str(&plan.variable("RUSTC_BOOTSTRAP", "1").text()?)?))
}

fn build(plan: &Value) -> Build {
    let units =
        plan.pointer("/units").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let packages: BTreeSet<_> =
        units.iter().filter_map(|unit| unit.pointer("/pkg_id")?.as_str()).collect();
    Build { packages: packages.len(), units: units.len() }
}

/// The outside crates that `package` reaches by normal edges, each as `name version`.
pub(crate) fn outside(
    package: &str,
    options: &[&str],
    metadata: &Metadata,
) -> Result<BTreeSet<String>> {
    let tree = ["tree", "-p", package, "-e", "normal", "--prefix", "none"];
    let tree = Tool::cargo().arguments(tree).arguments(options).text()?;
    let members = metadata.members();
    let is_ours = |name: &str| members.iter().any(|package| package.name == name);
    let outside = names(&tree).filter(|(name, _)| !is_ours(name));
    Ok(outside.map(|(name, version)| format!("{name} {version}")).collect())
}

/// The packages in what `cargo tree --prefix none` prints: `serde v1.0.0 (proc-macro) (*)`.
pub(crate) fn names(tree: &str) -> impl Iterator<Item = (&str, &str)> {
    tree.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?.strip_prefix('v')?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_read_without_its_marks_and_headings() {
        let tree = "serde v1.0.229\nserde_derive v1.0.229 (proc-macro)\n\n[dev-dependencies]\nserde v1.0.229 (*)\n";
        let serde = ("serde", "1.0.229");
        assert!(names(tree).eq([serde, ("serde_derive", "1.0.229"), serde]));
    }

    #[test]
    fn a_package_of_several_units_counts_once() {
        let plan = r#"{"version":1,"units":[{"pkg_id":"a","mode":"build"},{"pkg_id":"b"},{"pkg_id":"a"}],"roots":[2]}"#;
        assert_eq!(build(&serde_json::from_str(plan).unwrap()), Build { packages: 2, units: 3 });
    }

    #[test]
    fn a_count_has_its_limit_and_passes_it_or_not() {
        for (name, outside, text, fits) in [
            ("hanok-core", 15, "\nhanok-core          15  of at most 15", true),
            ("hanok-core", 16, "\nhanok-core          16  TOO MANY, at most 15", false),
            ("hanok-new", 99, "\nhanok-new           99", true),
        ] {
            assert_eq!(counted(name, outside), (text.to_owned(), fits));
        }
    }
}
