//! The stage `publish`: every crate as a package, and whether each package compiles by itself.
//!
//! Cargo's own dry run builds each package. A check finds what a build would, takes a third of the time, and shares with clippy what
//! is checked of others' crates.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::files;
use crate::metadata::{Metadata, Package};
use crate::profile;
use crate::report::Outcome;
use crate::result::Result;
use crate::work::Work;

/// Packs every published crate as for a registry, and checks the packages of those whose manifest changed: each by itself, with the
/// features that it names, and with the packages of the others.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    let metadata = &work.metadata;
    let members = metadata.members();
    let published: Vec<_> =
        members.iter().copied().filter(|package| package.is_published()).collect();
    let is_wanted = |name: &str| {
        let package = published.iter().find(|package| package.name == name);
        package.is_some_and(|package| work.changes.has_manifest_of(package, metadata))
    };
    if !published.iter().any(|package| is_wanted(&package.name)) {
        let why = "no crate's manifest changed; all: `--only publish`";
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    // Cargo refuses to package files that are not committed. Away from CI they are the rule.
    let changes = Tool::named("git").arguments(["status", "--porcelain"]).text();
    let dirty = changes.is_ok_and(|changes| !changes.trim().is_empty());
    let packed = Tool::cargo()
        .arguments(["package", "--no-verify"])
        .arguments(published.iter().flat_map(|package| ["--package", &package.name]))
        .arguments(dirty.then_some("--allow-dirty"))
        .run()?;
    if !packed.succeeded() {
        return Ok(Outcome::Failed(packed.output));
    }
    let folder = metadata.target_directory.join("published");
    let unpacked = unpacked(metadata, &published, &folder)?;
    let mut faults = Vec::new();
    for package in &unpacked {
        faults.extend(listed_faults(&package.name, &files(&package.folder)?));
    }
    if !faults.is_empty() {
        return Ok(Outcome::Failed(faults.join("\n")));
    }
    // A package leaves the profile of the workspace behind. With the same settings it shares what earlier stages have checked.
    let manifest = fs::read_to_string(metadata.workspace_root.join("Cargo.toml"))?;
    let is_member = |name: &str| members.iter().any(|package| package.name == name);
    let settings: Vec<_> = profile::settings(&manifest, is_member)
        .into_iter()
        .chain(unpacked.iter().map(Unpacked::patch))
        .flat_map(|setting| ["--config".to_owned(), setting])
        .collect();
    let mut checked = 0;
    for package in unpacked.iter().filter(|package| is_wanted(&package.name)) {
        let check = Tool::cargo()
            .arguments(["check", "--manifest-path"])
            .arguments([package.folder.join("Cargo.toml")])
            .arguments(&settings)
            .variable("CARGO_TARGET_DIR", &metadata.target_directory);
        let ended = check.run()?;
        if !ended.succeeded() {
            return Ok(Outcome::Failed(format!("{}:\n{}", package.name, ended.output)));
        }
        checked += 1;
    }
    let all = if checked < unpacked.len() { " (all: `--only publish`)" } else { "" };
    let note = if dirty { ", with changes that are not committed" } else { "" };
    let packed = unpacked.len();
    Ok(Outcome::Passed(format!(
        "{packed} packed, {checked} checked{all}{note}{}",
        unfilled(&members)
    )))
}

/// A package as whoever depends on it has it.
struct Unpacked {
    name: String,
    folder: PathBuf,
}

impl Unpacked {
    /// What has Cargo take it in the place of the registry's.
    fn patch(&self) -> String {
        format!("patch.crates-io.{}.path={:?}", self.name, self.folder)
    }
}

/// Unpacks the packages below `folder`, anew, each as a workspace of its own with the lock of this one.
fn unpacked(metadata: &Metadata, published: &[&Package], folder: &Path) -> Result<Vec<Unpacked>> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut all = Vec::new();
    for package in published {
        let name = format!("{}-{}", package.name, package.version);
        let archive = metadata.target_directory.join("package").join(format!("{name}.crate"));
        let tar =
            Tool::named("tar").arguments(["-xzf".as_ref(), archive.as_os_str()]).within(folder);
        let ended = tar.run()?;
        if !ended.succeeded() {
            return Err(format!("{}: {}", archive.display(), ended.output).into());
        }
        let unpacked = Unpacked { name: package.name.clone(), folder: folder.join(name) };
        let manifest = unpacked.folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)?;
        fs::write(&manifest, text + "\n[workspace]\n")?;
        fs::copy(metadata.workspace_root.join("Cargo.lock"), unpacked.folder.join("Cargo.lock"))?;
        all.push(unpacked);
    }
    Ok(all)
}

/// Says which addresses of the published packages a maintainer has still to fill in.
fn unfilled(members: &[&Package]) -> String {
    let published = || members.iter().filter(|package| package.is_published());
    let is_empty =
        |address: &Option<String>| address.as_ref().is_none_or(|it| it.trim().is_empty());
    let addresses = [
        ("repository", published().any(|package| is_empty(&package.repository))),
        ("homepage", published().any(|package| is_empty(&package.homepage))),
    ];
    let names: Vec<_> =
        addresses.iter().filter(|(_, empty)| *empty).map(|(name, _)| *name).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(", `{}` empty in the root's manifest", names.join("` and `")),
    }
}

/// What every package has to hold.
const PACKAGED: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// The files of an unpacked package, by their paths in it.
fn files(folder: &Path) -> Result<Vec<String>> {
    let files = files::files(folder)?.into_iter();
    Ok(files
        .map(|file| file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().replace('\\', "/"))
        .collect())
}

/// What is wrong with the files of a package.
fn listed_faults(name: &str, files: &[String]) -> Vec<String> {
    let lacks = PACKAGED.iter().filter(|file| !files.iter().any(|it| it == *file));
    let lacks = lacks
        .map(|file| format!("the package `{name}` has no `{file}`; put it beside its manifest"));
    let hidden = |file: &&String| {
        file.split('/').any(|part| part.starts_with('.')) && *file != ".cargo_vcs_info.json"
    };
    let hidden = files.iter().filter(hidden);
    let hidden = hidden
        .map(|file| format!("the package `{name}` has the hidden file `{file}`; take it out"));
    lacks.chain(hidden).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_empty_are_named() {
        let package = |repository: &str| Package {
            repository: Some(repository.to_owned()),
            homepage: Some("https://example.org".to_owned()),
            ..Package::default()
        };
        assert_eq!(unfilled(&[&package("https://example.org/hanok")]), "");
        assert_eq!(unfilled(&[&package("")]), ", `repository` empty in the root's manifest");
    }

    #[test]
    fn what_a_package_lacks_is_named() {
        let mut files = PACKAGED.map(str::to_owned).to_vec();
        files.push(".cargo_vcs_info.json".to_owned());
        assert_eq!(listed_faults("a", &files), [""; 0]);
        files.retain(|file| file != "LICENSE-MIT");
        files.push("src/.notes".to_owned());
        assert_eq!(
            listed_faults("a", &files),
            [
                "the package `a` has no `LICENSE-MIT`; put it beside its manifest",
                "the package `a` has the hidden file `src/.notes`; take it out",
            ]
        );
    }
}
