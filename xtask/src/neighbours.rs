//! The stage `neighbours`: programs of other people, as packages of `tests/neighbours`: what they have beside hanok, and with which
//! SQLite they are built then.

use std::fs;
use std::path::Path;

use crate::command::Tool;
use crate::report::{Outcome, Work};
use crate::result::Result;

const FOLDER: &str = "tests/neighbours";

/// The packages that have to resolve with one SQLite.
const RESOLVED: [&str; 3] = ["sqlx-sqlite", "sqlx-postgres", LOWEST];

/// The packages with tests of ours: what is stored, with the features of serde_json, and hanok-sqlite with the lowest rusqlite.
const FEATURES: &str = "serde-json-features";
const LOWEST: &str = "rusqlite-lowest";

/// If a manifest or the lock file changed, resolves each package and runs the tests of [`FEATURES`], under `--full` those of
/// [`LOWEST`] too.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    if !work.changes.has_manifest() {
        let why = "no manifest and no lock file changed; anyway: `--only neighbours`";
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    let mut notes = Vec::new();
    for name in RESOLVED {
        let folder = Path::new(FOLDER).join(name);
        let resolve = Tool::cargo().arguments(["generate-lockfile", "--manifest-path"]);
        let resolved = resolve.arguments([folder.join("Cargo.toml")]).run()?;
        if !resolved.succeeded() {
            return Ok(Outcome::Failed(format!("{name}: {}", resolved.output)));
        }
        let lock = fs::read_to_string(folder.join("Cargo.lock"))?;
        match versions(&lock, "libsqlite3-sys").as_slice() {
            [sqlite] => notes.push(format!("{name} with libsqlite3-sys {sqlite}")),
            other => {
                let fault = format!("{name}: libsqlite3-sys is there as {other:?}");
                return Ok(Outcome::Failed(fault));
            }
        }
    }
    // The packages of others are built as for the workspace.
    let target = &work.metadata.target_directory;
    let mut tested = vec![(FEATURES, target.clone())];
    if work.is_full() {
        tested.push((LOWEST, target.join("neighbours")));
    }
    for (name, target) in tested {
        let tests = Tool::cargo()
            .arguments(["test", "--no-fail-fast", "--manifest-path"])
            .arguments([Path::new(FOLDER).join(name).join("Cargo.toml")])
            .variable("CARGO_TARGET_DIR", target)
            .variable("INSTA_UPDATE", "no")
            .variable("INSTA_WORKSPACE_ROOT", std::path::absolute(Path::new(FOLDER).join(name))?);
        let ended = tests.run()?;
        if !ended.succeeded() {
            return Ok(Outcome::Failed(format!("{name}:\n{}", ended.output)));
        }
        notes.push(format!("tests of {name}"));
    }
    let left = if work.is_full() { "" } else { " (with the lowest rusqlite: `--full`)" };
    Ok(Outcome::Passed(format!("{}{left}", notes.join(", "))))
}

/// The versions of the package `name` in a lock.
fn versions<'a>(lock: &'a str, name: &str) -> Vec<&'a str> {
    let entry = format!("name = \"{name}\"\n");
    let packages = lock.split("[[package]]").filter(|package| package.contains(&entry));
    let versions =
        packages.filter_map(|package| package.split("version = \"").nth(1)?.split('"').next());
    versions.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_a_lock() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
        assert_eq!(versions(lock, "b"), ["2.0.0"]);
        assert_eq!(versions(lock, "c"), [""; 0]);
    }
}
