//! What changed since a commit: it chooses the checks of a landing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::metadata::{Metadata, Package};
use crate::result::Result;

/// Without `--base`, the changes of so many commits count.
const WINDOW: usize = 40;

/// The files that differ from a commit, uncommitted and new files included.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    /// Everything: there is no git, or the history is shorter than [`WINDOW`].
    All,
    Since {
        folder: PathBuf,
        base: String,
        paths: BTreeSet<String>,
    },
}

/// The number of commits up to this one, which chooses what has its turn; 0 without git.
pub(crate) fn commits() -> usize {
    let count = Tool::named("git").arguments(["rev-list", "--count", "HEAD"]).text();
    count.ok().and_then(|count| count.trim().parse().ok()).unwrap_or_default()
}

impl Changes {
    /// The changes of the repository at `folder` since `base`. Default: since [`WINDOW`] commits ago.
    pub(crate) fn since(folder: &Path, base: Option<&str>) -> Result<Self> {
        let git =
            |arguments: &[&str]| Tool::named("git").within(folder).arguments(arguments).text();
        let name = base.map_or_else(|| format!("HEAD~{WINDOW}"), str::to_owned);
        let hash = git(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]);
        let base = match (hash, base) {
            (Ok(hash), _) => hash.trim().to_owned(),
            (Err(_), Some(name)) => return Err(format!("`--base {name}` names no commit").into()),
            (Err(_), None) => return Ok(Self::All),
        };
        let tracked = git(&["diff", "--name-only", "--relative", "-z", &base])?;
        let new = git(&["ls-files", "--others", "--exclude-standard", "-z"])?;
        let paths = tracked.split('\0').chain(new.split('\0')).filter(|path| !path.is_empty());
        let paths = paths.map(str::to_owned).collect();
        Ok(Self::Since { folder: folder.to_owned(), base, paths })
    }

    /// True if a file changed whose path `is_wanted` takes.
    pub(crate) fn any(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::All => true,
            Self::Since { paths, .. } => paths.iter().any(|path| is_wanted(path)),
        }
    }

    /// True if a manifest or the lock file changed.
    pub(crate) fn has_manifest(&self) -> bool {
        self.any(|path| path.ends_with("Cargo.toml") || path.ends_with("Cargo.lock"))
    }

    /// The members of the workspace of which a file changed, and those that are built with such, however far, or whose tests have one
    /// themselves. Packages outside `crates/` have the pages of `docs/` and the README among their examples.
    pub(crate) fn reached<'m>(&self, metadata: &'m Metadata) -> BTreeSet<&'m str> {
        let members = metadata.members();
        let is_page = |path: &str| path.starts_with("docs/") || path == "README.md";
        let has_changed = |member: &&&Package| {
            let manifest = metadata.relative(&member.manifest_path);
            let folder = manifest.trim_end_matches("Cargo.toml");
            self.any(|path| {
                path.starts_with(folder) || !folder.starts_with("crates/") && is_page(path)
            })
        };
        let name = |member: &&'m Package| member.name.as_str();
        let changed: BTreeSet<&str> = members.iter().filter(has_changed).map(name).collect();
        let mut reached = changed.clone();
        loop {
            let stands_on = |member: &&&Package| {
                member.dependencies.iter().any(|it| match it.kind.as_deref() {
                    Some("dev") => changed.contains(it.name.as_str()),
                    _ => reached.contains(it.name.as_str()),
                })
            };
            let further: BTreeSet<_> = members.iter().filter(stands_on).map(name).collect();
            if further.is_subset(&reached) {
                return reached;
            }
            reached.extend(further);
        }
    }

    /// True if the manifest of `package` changed, or a line of it that includes a file outside of its folder.
    pub(crate) fn has_manifest_of(&self, package: &Package, metadata: &Metadata) -> bool {
        let manifest = metadata.relative(&package.manifest_path);
        let folder = manifest.trim_end_matches("Cargo.toml");
        let includes = |path: &str| {
            let is_source = path.starts_with(folder) && path.ends_with(".rs");
            is_source && self.has_line(path, "!(\"../../")
        };
        self.any(|path| path == manifest || includes(path))
    }

    /// True if what decides which features a program of a guide needs changed: a `cargo add` of a guide, a table of features,
    /// or a line of code that asks for a feature.
    pub(crate) fn has_features(&self) -> bool {
        self.any(|path| match path.rsplit_once('.') {
            Some((_, "md")) => path.starts_with("docs/guides/") && self.has_line(path, "cargo add"),
            Some((_, "rs")) => path.starts_with("crates/") && self.has_line(path, "(feature = "),
            // No guide adds an example or a test.
            Some(("Cargo", "toml")) => self.has_feature_table(path),
            Some((_, "toml")) => path.starts_with("crates/") && self.has_feature_table(path),
            _ => false,
        })
    }

    /// True if a line with `mark` differs in the file at `path`; of a new file, all lines do.
    fn has_line(&self, path: &str, mark: &str) -> bool {
        let Self::Since { folder, base, .. } = self else { return true };
        let diff = Tool::named("git").within(folder).arguments(["diff", "-U0", base, "--", path]);
        let diff = diff.text().unwrap_or_default();
        let is_change = |line: &str| line.starts_with(['+', '-']) && line.contains(mark);
        match diff.is_empty() {
            true => fs::read_to_string(folder.join(path)).unwrap_or_default().contains(mark),
            false => diff.lines().any(is_change),
        }
    }

    /// True if the `[features]` of the manifest at `path` differ.
    fn has_feature_table(&self, path: &str) -> bool {
        let Self::Since { folder, base, .. } = self else { return true };
        let before =
            Tool::named("git").within(folder).arguments(["show", &format!("{base}:./{path}")]);
        let now = fs::read_to_string(folder.join(path)).unwrap_or_default();
        features(&before.text().unwrap_or_default()) != features(&now)
    }
}

/// The lines of the table `[features]`, without comments.
fn features(manifest: &str) -> Vec<&str> {
    let table = manifest.lines().map(str::trim).skip_while(|line| *line != "[features]").skip(1);
    let table = table.take_while(|line| !line.starts_with('['));
    table.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Dependency;

    #[test]
    fn what_changed_reaches_what_stands_on_it() {
        let need = |name: &&str| {
            let kind = name.starts_with("test").then(|| "dev".to_owned());
            Dependency { name: (*name).to_owned(), kind, ..Dependency::default() }
        };
        let package = |folder: &str, name: &str, needs: &[&str]| Package {
            id: name.to_owned(),
            name: name.to_owned(),
            manifest_path: format!("/house/{folder}/{name}/Cargo.toml").into(),
            dependencies: needs.iter().map(need).collect(),
            ..Package::default()
        };
        let packages = vec![
            package("crates", "core", &[]),
            package("crates", "graph", &["core", "serde", "testkit"]),
            package("crates", "agent", &["graph"]),
            package("examples", "rag", &["agent"]),
            package("crates", "parse", &[]),
            package("crates", "testkit", &["learning"]),
            package("crates", "learning", &[]),
        ];
        let metadata = Metadata {
            workspace_members: packages.iter().map(|it| it.id.clone()).collect(),
            packages,
            workspace_root: "/house".into(),
            ..Metadata::default()
        };
        for (path, want) in [
            ("crates/graph/src/lib.rs", &["agent", "graph", "rag"][..]),
            ("docs/guides/tools.md", &["rag"]),
            ("crates/graphs/src/lib.rs", &[]),
            ("crates/testkit/src/lib.rs", &["agent", "graph", "rag", "testkit"]),
            ("crates/learning/src/lib.rs", &["learning", "testkit"]),
        ] {
            let paths = BTreeSet::from([path.to_owned()]);
            let changes = Changes::Since { folder: "/house".into(), base: "x".into(), paths };
            assert_eq!(Vec::from_iter(changes.reached(&metadata)), want, "{path}");
        }
        assert_eq!(Changes::All.reached(&metadata).len(), 7);
    }

    #[test]
    fn what_changed_is_committed_uncommitted_or_new() {
        let folder = std::env::temp_dir().join(format!("xtask-changes-{}", std::process::id()));
        fs::create_dir_all(folder.join("docs/guides")).unwrap();
        fs::create_dir_all(folder.join("crates")).unwrap();
        let git = |arguments: &[&str]| {
            let author = ["-c", "user.name=Kim", "-c", "user.email=kim@localhost"];
            let git = Tool::named("git").within(&folder).arguments(author);
            git.arguments(arguments).text().unwrap();
        };
        let write = |path: &str, text: &str| fs::write(folder.join(path), text).unwrap();
        let commit = || {
            git(&["add", "--all"]);
            git(&["commit", "--quiet", "--no-gpg-sign", "--message", "x"]);
        };
        let changes = || Changes::since(&folder, Some("HEAD~1")).unwrap();
        git(&["init", "--quiet"]);
        for path in ["docs/guides/한.md", "a.rs", "Cargo.toml"] {
            write(path, "[features]\na = []\n");
        }
        commit();
        assert_eq!(Changes::since(&folder, None).unwrap(), Changes::All);
        assert!(Changes::since(&folder, Some("no-such")).is_err());

        write("a.rs", "fn a() {}\n");
        commit();
        let has = |name| changes().any(|path| path == name);
        assert!(has("a.rs") && !has("Cargo.toml"));
        assert!(!changes().has_features() && !changes().has_manifest());
        for (path, text) in [
            ("crates/new.rs", "#[cfg(feature = \"a\")]\n"),
            ("docs/guides/한.md", "$ cargo add hanok\n"),
            ("Cargo.toml", "[features]\na = []\nb = []\n"),
        ] {
            write(path, text);
            assert!(changes().has_features(), "{path}");
            write(path, "[features]\n# A.\na = []\n[x]\n");
            assert!(!changes().has_features(), "{path}");
        }
        assert!(changes().has_manifest());
        fs::remove_dir_all(folder).unwrap();
    }
}
