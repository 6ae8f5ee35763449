//! The packages of the workspace, for the checks of their manifests.

use std::fs;
use std::path::Path;

use crate::fault::Fault;
use crate::metadata::{Metadata, Package};
use crate::result::Result;

/// A member of the workspace with the text of its manifest, for the line of a fault.
#[derive(Debug)]
pub(super) struct Member<'m> {
    pub(super) package: &'m Package,
    /// The manifest's path in the repository: `crates/hanok-core/Cargo.toml`.
    pub(super) path: String,
    pub(super) manifest: String,
    /// True if the file that the manifest calls its readme is there.
    pub(super) has_readme: bool,
    /// True if the texts of its licences stand beside the manifest: a package has no others.
    pub(super) has_licences: bool,
}

/// The files with the texts of the licences.
pub(super) const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

impl Member<'_> {
    pub(super) fn name(&self) -> &str {
        &self.package.name
    }

    /// A fault at the first line of the manifest that begins with `key`, or at its beginning.
    pub(super) fn fault(&self, key: &str, what: impl Into<String>) -> Fault {
        let begins = |line: &str| {
            let rest = line.trim_start().strip_prefix(key);
            rest.is_some_and(|rest| rest.starts_with([' ', '.', '=', ']']))
        };
        let line = self.manifest.lines().position(begins).map_or(1, |index| index + 1);
        Fault::new(&self.path, line, what)
    }

    /// True for the packages that are published together.
    pub(super) fn is_crate(&self) -> bool {
        self.path.starts_with("crates/")
    }
}

/// The members with their manifests.
pub(super) fn members(metadata: &Metadata) -> Result<Vec<Member<'_>>> {
    let mut members = Vec::new();
    for package in metadata.members() {
        let path = metadata.relative(&package.manifest_path);
        let manifest = fs::read_to_string(&package.manifest_path)?;
        let folder = package.manifest_path.parent().unwrap_or(Path::new("."));
        let has_readme =
            package.readme.as_ref().is_some_and(|readme| folder.join(readme).is_file());
        let licence = |name: &str| {
            let text = |folder: &Path| fs::read(folder.join(name)).ok();
            let own = text(folder);
            own.is_some() && own == text(&metadata.workspace_root)
        };
        let has_licences = LICENCES.iter().all(|name| licence(name));
        members.push(Member { package, path, manifest, has_readme, has_licences });
    }
    Ok(members)
}

/// The line of a package in a lock file.
pub(super) fn lock_line(lock: &str, name: &str) -> usize {
    let entry = format!("name = \"{name}\"");
    lock.lines().position(|line| line == entry).map_or(1, |index| index + 1)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A member made from JSON as `cargo metadata` writes it.
    pub(in crate::tidy) fn package(json: serde_json::Value) -> Package {
        serde_json::from_value(json).unwrap()
    }

    /// A member of `crates/` with this package and manifest.
    pub(in crate::tidy) fn member<'m>(package: &'m Package, manifest: &str) -> Member<'m> {
        let path = format!("crates/{}/Cargo.toml", package.name);
        let has_readme = package.readme.is_some();
        let manifest = manifest.to_owned();
        Member { package, path, manifest, has_readme, has_licences: true }
    }

    #[test]
    fn a_fault_points_at_the_line_of_its_key() {
        let package = package(serde_json::json!({ "name": "hanok-core" }));
        let manifest = "[package]\nname = \"x\"\n\n[dependencies]\nserde.workspace = true\nserde_json = \"1\"\n";
        let member = member(&package, manifest);
        for (key, line) in [("serde", 5), ("serde_json", 6), ("tokio", 1)] {
            let fault = member.fault(key, "wrong").to_string();
            assert_eq!(fault, format!("crates/hanok-core/Cargo.toml:{line}: wrong"));
        }
    }
}
