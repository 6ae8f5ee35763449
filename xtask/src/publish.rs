//! The stage `publish`: every crate as a package, and whether each package compiles by itself.
//!
//! Cargo's own dry run builds each package. A check finds what a build would, takes a third of the time, and shares with clippy what
//! is checked of others' crates.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::Tool;
use crate::metadata::{Metadata, Package};
use crate::profile;
use crate::report::Outcome;
use crate::result::Result;

/// Packs every published crate as for a registry, and checks what was packed: each package by itself, with the features that it names,
/// and with the packages of the others.
pub(crate) fn stage(metadata: &Metadata) -> Result<Outcome> {
    let members = metadata.members();
    let published: Vec<_> =
        members.iter().copied().filter(|package| package.is_published()).collect();
    if published.is_empty() {
        return Ok(Outcome::Skipped("no crate to publish yet".into()));
    }
    let lacking = lacking_files(&published)?;
    if !lacking.is_empty() {
        return Ok(Outcome::Failed(lacking.join("\n")));
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
    // A package leaves the profile of the workspace behind. With the same settings it shares what the stages before have checked.
    let manifest = fs::read_to_string(metadata.workspace_root.join("Cargo.toml"))?;
    let is_member = |name: &str| members.iter().any(|package| package.name == name);
    let settings: Vec<_> = profile::settings(&manifest, is_member)
        .into_iter()
        .chain(unpacked.iter().map(Unpacked::patch))
        .flat_map(|setting| ["--config".to_owned(), setting])
        .collect();
    for package in &unpacked {
        let check = Tool::cargo()
            .arguments(["check", "--manifest-path"])
            .arguments([package.folder.join("Cargo.toml")])
            .arguments(&settings)
            .variable("CARGO_TARGET_DIR", &metadata.target_directory);
        let ended = check.run()?;
        if !ended.succeeded() {
            return Ok(Outcome::Failed(format!("{}:\n{}", package.name, ended.output)));
        }
    }
    let note = if dirty { ", with changes that are not committed" } else { "" };
    Ok(Outcome::Passed(format!("{} crates{note}{}", unpacked.len(), unfilled(&members))))
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

/// What packages do not hold of that, and what they hold that is nobody's business.
fn lacking_files(published: &[&Package]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for package in published {
        let name = package.name.as_str();
        let list =
            Tool::cargo().arguments(["package", "--list", "--allow-dirty", "--package", name]);
        faults.extend(listed_faults(name, &list.text()?));
    }
    Ok(faults)
}

/// What is wrong with the files of a package, as `cargo package --list` names them.
fn listed_faults(name: &str, list: &str) -> Vec<String> {
    let files: Vec<&str> = list.lines().map(str::trim).collect();
    let lacks = PACKAGED.iter().filter(|file| !files.contains(*file));
    let lacks = lacks
        .map(|file| format!("the package `{name}` has no `{file}`; put it beside its manifest"));
    let hidden = |file: &&&str| {
        file.split('/').any(|part| part.starts_with('.')) && **file != ".cargo_vcs_info.json"
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
        let whole =
            ".cargo_vcs_info.json\nCargo.toml\nLICENSE-APACHE\nLICENSE-MIT\nREADME.md\nsrc/lib.rs";
        assert_eq!(listed_faults("a", whole), [""; 0]);
        let lacking = whole.replace("LICENSE-MIT\n", "") + "\nsrc/.notes";
        assert_eq!(
            listed_faults("a", &lacking),
            [
                "the package `a` has no `LICENSE-MIT`; put it beside its manifest",
                "the package `a` has the hidden file `src/.notes`; take it out",
            ]
        );
    }
}
