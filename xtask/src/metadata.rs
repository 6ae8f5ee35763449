//! The part of `cargo metadata` that the checks read.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::command::Tool;
use crate::result::Result;

/// Every package that a build of this workspace may use, with all features on all platforms.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) workspace_members: Vec<String>,
    pub(crate) workspace_root: PathBuf,
    pub(crate) target_directory: PathBuf,
    /// Each package as it is built: with the features that somebody turned on.
    pub(crate) resolve: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    /// `None` for a package on this disk.
    pub(crate) source: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) keywords: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) readme: Option<String>,
    pub(crate) metadata: Value,
    /// `Some` of nothing for a package that is never published.
    pub(crate) publish: Option<Vec<String>>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) req: String,
    /// `None` for a normal one, else `dev` or `build`.
    pub(crate) kind: Option<String>,
    pub(crate) features: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
}

impl Metadata {
    pub(crate) fn read() -> Result<Self> {
        let metadata = ["metadata", "--format-version", "1", "--all-features"];
        Ok(serde_json::from_str(&Tool::cargo().arguments(metadata).text()?)?)
    }

    /// The packages of this workspace, by name.
    pub(crate) fn members(&self) -> Vec<&Package> {
        let mut members: Vec<_> =
            self.packages.iter().filter(|package| self.is_member(package)).collect();
        members.sort_by_key(|package| &package.name);
        members
    }

    pub(crate) fn is_member(&self, package: &Package) -> bool {
        self.workspace_members.contains(&package.id)
    }

    /// `path` as it is written in this repository: from its root, with slashes.
    pub(crate) fn relative(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.workspace_root).unwrap_or(path);
        path.to_string_lossy().replace('\\', "/")
    }
}

impl Target {
    fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|is| is == kind)
    }
}

impl Package {
    pub(crate) fn is_published(&self) -> bool {
        self.publish.as_ref().is_none_or(|registries| !registries.is_empty())
    }

    /// Whether the package has a target of this kind: `lib`, `example`, `custom-build`, …
    pub(crate) fn has(&self, kind: &str) -> bool {
        self.targets.iter().any(|target| target.is(kind))
    }
}
