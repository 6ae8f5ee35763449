//! The programs of the guides, compiled and run with what each page tells its reader to add, and with nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::metadata::Metadata;
use crate::neighbours;
use crate::report::Outcome;
use crate::result::Result;
use crate::stages::cargo_test_counts;

/// The folder of the guides.
const GUIDES: &str = "docs/guides";

/// A package that a page adds, and its features.
pub(crate) type Added = (String, Vec<String>);

/// The guides that add `hanok` with the same features, and what they add beside it.
#[derive(Debug, Default)]
struct Group {
    guides: Vec<PathBuf>,
    beside: BTreeMap<String, BTreeSet<String>>,
}

/// Makes one package for each line by which guides add `hanok`, and tests the programs of its guides there.
pub(crate) fn stage(metadata: &Metadata) -> Result<Outcome> {
    let mut groups: BTreeMap<Vec<String>, Group> = BTreeMap::new();
    let mut pages: Vec<_> = fs::read_dir(metadata.workspace_root.join(GUIDES))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    pages.sort();
    for page in pages {
        let mut added: BTreeMap<_, _> =
            additions(&fs::read_to_string(&page)?).into_iter().collect();
        let Some(features) = added.remove("hanok") else {
            return Ok(Outcome::Failed(format!("{}: it does not add hanok", page.display())));
        };
        let group = groups.entry(features).or_default();
        group.guides.push(page);
        for (package, features) in added {
            group.beside.entry(package).or_default().extend(features);
        }
    }
    let mut notes = Vec::new();
    for (features, group) in &groups {
        let folder = package(metadata, features, group)?;
        let tests = Tool::cargo()
            .arguments(["test", "--doc", "--no-fail-fast", "--manifest-path"])
            .arguments([folder.join("Cargo.toml")])
            .variable("CARGO_TARGET_DIR", &metadata.target_directory);
        let ended = tests.run()?;
        if !ended.succeeded() {
            return Ok(Outcome::Failed(format!("with {features:?}:\n{}", ended.output)));
        }
        notes.push(format!("{} guides, {}", group.guides.len(), cargo_test_counts(&ended.output)));
    }
    Ok(Outcome::Passed(format!("{} lines: {}", groups.len(), notes.join("; "))))
}

/// What a page adds, in its order.
fn additions(page: &str) -> Vec<Added> {
    page.lines().filter_map(added).flatten().collect()
}

/// The packages that a line of a terminal adds: `$ cargo add tokio -F macros,time`.
pub(crate) fn added(line: &str) -> Option<Vec<Added>> {
    let added = line.strip_prefix("$ cargo add ")?.split('#').next()?.trim_end();
    let (packages, features) = added.split_once(" -F ").unwrap_or((added, ""));
    let features: Vec<_> = features.split_terminator(',').map(str::to_owned).collect();
    let packages = packages.split_whitespace().filter(|word| !word.starts_with("--"));
    Some(packages.map(|package| (package.to_owned(), features.clone())).collect())
}

/// The line of a manifest that adds a package.
pub(crate) fn dependency(added: &Added) -> String {
    let (package, features) = added;
    match package.starts_with("hanok") {
        true => neighbours::dependency(package, &format!(", features = {features:?}")),
        false => format!("{package} = {{ version = \"*\", features = {features:?} }}"),
    }
}

/// Makes the package anew, with the lock of the workspace.
fn package(metadata: &Metadata, features: &[String], group: &Group) -> Result<PathBuf> {
    let name = format!("guides-{}", features.join("-"));
    let beside = group
        .beside
        .iter()
        .map(|(name, features)| dependency(&(name.clone(), features.iter().cloned().collect())));
    let mut dependencies = vec![dependency(&("hanok".to_owned(), features.to_vec()))];
    dependencies.extend(beside);
    let dependencies = dependencies.join("\n");
    let modules: String =
        group.guides.iter().enumerate().map(|(at, page)| module(at, page)).collect();
    let (source, tree) = (("lib.rs", modules.as_str()), &metadata.workspace_root);
    neighbours::locked_program(metadata, &name, &dependencies, source, tree)
}

/// An item whose documentation is the page.
fn module(at: usize, page: &Path) -> String {
    format!("#[doc = include_str!({page:?})]\npub struct Guide{at};\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_terminal_add_packages() {
        let one = |name: &str, features: &[&str]| {
            (name.to_owned(), features.iter().map(|feature| (*feature).to_owned()).collect())
        };
        for (line, want) in [
            ("$ cargo add hanok", Some(vec![one("hanok", &[])])),
            ("$ cargo add hanok -F a,b  # why", Some(vec![one("hanok", &["a", "b"])])),
            ("$ cargo add x y", Some(vec![one("x", &[]), one("y", &[])])),
            ("$ cargo add --dev hanok-testkit -F s", Some(vec![one("hanok-testkit", &["s"])])),
            ("$ cargo run", None),
            ("cargo add x", None),
        ] {
            assert_eq!(added(line), want, "{line}");
        }
    }

    #[test]
    fn a_dependency_on_hanok_is_one_on_this_workspace() {
        let text = |text: &str| text.to_owned();
        let tokio = (text("tokio"), vec![text("macros")]);
        assert_eq!(dependency(&tokio), r#"tokio = { version = "*", features = ["macros"] }"#);
        assert!(dependency(&(text("hanok-testkit"), Vec::new())).contains("path = "));
    }
}
