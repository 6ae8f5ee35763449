//! The invariants of this workspace that a program can see, without building anything.
//!
//! Every check is a function of values, and every fault of every check is reported at once.

mod floors;
mod guides;
mod hygiene;
mod licences;
mod manifests;
mod seams;
mod spdx;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::metadata::{Metadata, Package};

/// Something to mend: where it is, what it is, what to do.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    path: String,
    line: usize,
    what: String,
}

impl Fault {
    /// `what` says what is wrong and, after a comma, what to do about it.
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// A member of the workspace with the text of its manifest, for the line of a fault.
#[derive(Debug)]
struct Member<'m> {
    package: &'m Package,
    /// The manifest's path in the repository: `crates/hanok-core/Cargo.toml`.
    path: String,
    manifest: String,
    /// Whether the file that the manifest calls its readme is there.
    has_readme: bool,
}

impl Member<'_> {
    fn name(&self) -> &str {
        &self.package.name
    }

    /// A fault at the first line of the manifest that begins with `key`, or at its beginning.
    fn fault(&self, key: &str, what: impl Into<String>) -> Fault {
        let begins = |line: &str| {
            let rest = line.trim_start().strip_prefix(key);
            rest.is_some_and(|rest| rest.starts_with([' ', '.', '=', ']']))
        };
        let line = self.manifest.lines().position(begins).map_or(1, |index| index + 1);
        Fault::new(&self.path, line, what)
    }

    /// Whether the package is one of those that are published together.
    fn is_crate(&self) -> bool {
        self.path.starts_with("crates/")
    }
}

/// Everything that is wrong, in the order of the paths.
///
/// # Errors
///
/// A file or the tree of dependencies cannot be read.
pub(crate) fn faults(metadata: &Metadata) -> Result<Vec<Fault>> {
    let members = members(metadata)?;
    let lock = fs::read_to_string("Cargo.lock").unwrap_or_default();
    let mut faults = floors::check(&members);
    faults.extend(manifests::check(&members));
    faults.extend(manifests::check_root(&fs::read_to_string("Cargo.toml")?));
    faults.extend(licences::check(metadata, &lock));
    faults.extend(licences::check_lock(&lock));
    faults.extend(seams::check_features(metadata, &lock));
    faults.extend(seams::check_trees(&members, metadata)?);
    let files = files(Path::new("."))?;
    faults.extend(guides::check(&texts(&files, guides::is_guide)?, &compiled_guides()?));
    faults.extend(hygiene::check_files(&files)?);
    faults.sort();
    faults.dedup();
    Ok(faults)
}

/// The files whose paths `is_wanted` takes, each with its text.
pub(crate) fn texts(
    files: &[PathBuf],
    is_wanted: fn(&str) -> bool,
) -> Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    for file in files {
        let path = file.to_string_lossy().replace('\\', "/");
        let path = path.strip_prefix("./").unwrap_or(&path);
        if is_wanted(path) {
            texts.push((path.to_owned(), fs::read_to_string(file)?));
        }
    }
    Ok(texts)
}

/// The file that has the guides compiled, empty when it is gone.
fn compiled_guides() -> Result<String> {
    match fs::read_to_string(guides::COMPILED) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        read => Ok(read?),
    }
}

/// The faults in a word.
pub(crate) fn verdict(faults: &[Fault]) -> String {
    match faults.len() {
        0 => "no faults".to_owned(),
        1 => "1 fault".to_owned(),
        many => format!("{many} faults"),
    }
}

fn members(metadata: &Metadata) -> Result<Vec<Member<'_>>> {
    let mut members = Vec::new();
    for package in metadata.members() {
        let path = metadata.relative(&package.manifest_path);
        let manifest = fs::read_to_string(&package.manifest_path)?;
        let folder = package.manifest_path.parent().unwrap_or(Path::new("."));
        let has_readme =
            package.readme.as_ref().is_some_and(|readme| folder.join(readme).is_file());
        members.push(Member { package, path, manifest, has_readme });
    }
    Ok(members)
}

/// Every file below `folder`, without what Cargo and Git keep for themselves.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let kind = entry.file_type()?;
            if kind.is_file() {
                files.push(entry.path());
            } else if kind.is_dir() && name != ".git" && !name.starts_with("target") {
                folders.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The 1-based line of the package in a lock file.
fn lock_line(lock: &str, name: &str) -> usize {
    let entry = format!("name = \"{name}\"");
    lock.lines().position(|line| line == entry).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A member made from JSON as `cargo metadata` writes it.
    pub(super) fn package(json: serde_json::Value) -> Package {
        serde_json::from_value(json).unwrap()
    }

    /// A member of `crates/` with this package and manifest.
    pub(super) fn member<'m>(package: &'m Package, manifest: &str) -> Member<'m> {
        let path = format!("crates/{}/Cargo.toml", package.name);
        let has_readme = package.readme.is_some();
        Member { package, path, manifest: manifest.to_owned(), has_readme }
    }

    #[test]
    fn a_fault_points_at_the_line_of_its_key() {
        let package = package(serde_json::json!({ "name": "hanok-core" }));
        let member = member(
            &package,
            "[package]\nname = \"x\"\n\n[dependencies]\nserde.workspace = true\nserde_json = \"1\"\n",
        );
        for (key, line) in [("serde", 5), ("serde_json", 6), ("tokio", 1)] {
            let fault = member.fault(key, "wrong, mend it").to_string();
            assert_eq!(fault, format!("crates/hanok-core/Cargo.toml:{line}: wrong, mend it"));
        }
    }

    #[test]
    fn a_verdict_counts() {
        let fault = || Fault::new("a", 1, "b");
        assert_eq!(verdict(&[]), "no faults");
        assert_eq!(verdict(&[fault()]), "1 fault");
        assert_eq!(verdict(&[fault(), fault()]), "2 faults");
    }
}
