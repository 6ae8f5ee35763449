//! The stage `publish`: every crate as a package, and whether each package compiles by itself.
//!
//! Cargo's own dry run builds each package. A check finds what a build would, takes a third of the time, and shares with clippy what
//! is checked of others' crates.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::files;
use crate::metadata::Package;
use crate::report::{Outcome, Work};
use crate::result::Result;

/// Packs every published crate as for a registry, and checks the packages of those whose manifest changed: each by itself, with the
/// features that it names, and with the packages of the others.
pub(crate) fn stage(work: &Work) -> Result<Outcome> {
    let metadata = &work.metadata;
    let members = metadata.members().into_iter();
    let published: Vec<_> = members.filter(|package| package.is_published()).collect();
    let is_wanted = |package: &&&Package| work.changes.has_manifest_of(package, metadata);
    let wanted: Vec<_> = published.iter().filter(is_wanted).collect();
    if wanted.is_empty() {
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
    let root = fs::read_to_string(metadata.workspace_root.join("Cargo.toml"))?;
    unpack(&published, &metadata.target_directory.join("package"), &folder, &root)?;
    fs::copy(metadata.workspace_root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let mut faults = Vec::new();
    for package in &published {
        let folder = folder.join(archive(package));
        let name = |file: PathBuf| {
            file.strip_prefix(&folder).unwrap_or(&file).to_string_lossy().into_owned()
        };
        let files: Vec<_> = files::files(&folder)?.into_iter().map(name).collect();
        faults.extend(listed_faults(&package.name, &files));
    }
    if !faults.is_empty() {
        return Ok(Outcome::Failed(faults.join("\n")));
    }
    for package in &wanted {
        // Features of other packages are not unified with those of one that is named.
        let check = Tool::cargo()
            .arguments(["check", "--package", &package.name, "--manifest-path"])
            .arguments([folder.join("Cargo.toml")])
            .variable("CARGO_TARGET_DIR", &metadata.target_directory);
        let ended = check.run()?;
        if !ended.succeeded() {
            return Ok(Outcome::Failed(format!("{}:\n{}", package.name, ended.output)));
        }
    }
    let all = if wanted.len() < published.len() { " (all: `--only publish`)" } else { "" };
    let note = if dirty { ", with changes that are not committed" } else { "" };
    let (packed, checked) = (published.len(), wanted.len());
    Ok(Outcome::Passed(format!("{packed} packed, {checked} checked{all}{note}")))
}

/// The name of a package's archive, and of the folder in it.
fn archive(package: &Package) -> String {
    format!("{}-{}", package.name, package.version)
}

/// Unpacks the packages in `archives` below `folder`, anew, as one workspace with the profiles of `root`, in which each takes the
/// others in the place of the registry's.
fn unpack(published: &[&Package], archives: &Path, folder: &Path, root: &str) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut manifest =
        "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n\n[patch.crates-io]\n".to_owned();
    for package in published {
        let name = archive(package);
        let path = archives.join(format!("{name}.crate"));
        Tool::named("tar").arguments(["-xzf".as_ref(), path.as_os_str()]).within(folder).text()?;
        // Writing to a string cannot fail.
        let _ = writeln!(manifest, "{} = {{ path = {name:?} }}", package.name);
    }
    fs::write(folder.join("Cargo.toml"), manifest + &profiles(root))?;
    Ok(())
}

/// The tables of profiles in a manifest.
fn profiles(manifest: &str) -> String {
    let mut inside = false;
    let is_wanted = |line: &&str| {
        inside = if line.starts_with('[') { line.starts_with("[profile.") } else { inside };
        inside
    };
    manifest.lines().filter(is_wanted).map(|line| format!("{line}\n")).collect()
}

/// The files that every package has to hold.
const PACKAGED: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// What is wrong with the files of a package.
fn listed_faults(name: &str, files: &[String]) -> Vec<String> {
    let lacks = PACKAGED.iter().filter(|file| !files.iter().any(|it| it == *file));
    let lacks = lacks
        .map(|file| format!("the package `{name}` has no `{file}`; put it beside its manifest"));
    let is_hidden = |file: &&String| {
        file.split('/').any(|part| part.starts_with('.')) && *file != ".cargo_vcs_info.json"
    };
    let hidden = files.iter().filter(is_hidden);
    let hidden = hidden
        .map(|file| format!("the package `{name}` has the hidden file `{file}`; take it out"));
    lacks.chain(hidden).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_package_lacks_is_named() {
        let mut files = PACKAGED.map(str::to_owned).to_vec();
        files.push(".cargo_vcs_info.json".to_owned());
        assert_eq!(listed_faults("a", &files), [""; 0]);
        files.retain(|file| file != "LICENSE-MIT");
        files.push("src/.notes".to_owned());
        let faults = listed_faults("a", &files).join("\n");
        assert!(
            faults.contains("has no `LICENSE-MIT`") && faults.contains("`src/.notes`"),
            "{faults}"
        );
    }

    #[test]
    fn profiles_are_taken() {
        let manifest = "[workspace]\n\n[profile.dev]\ndebug = 1\n[lints]\n[profile.dev.package.\"*\"]\ndebug = 0\n";
        let want = "[profile.dev]\ndebug = 1\n[profile.dev.package.\"*\"]\ndebug = 0\n";
        assert_eq!(profiles(manifest), want);
    }
}
