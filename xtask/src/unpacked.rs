//! What an earlier dry run of publishing left unpacked.
//!
//! Cargo verifies each package against the others in a registry that it makes below the target folder. It unpacks them under
//! a name that depends on that folder's path alone, and never again where something stands already: a clone at a path where
//! an earlier one stood would be verified against the earlier one's crates. What it has built of them it takes for fresh as
//! well: what it unpacks is as old as everything else that it has ever packed.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::metadata::Metadata;
use crate::result::Result;

/// Removes the published packages of this workspace from where cargo unpacks them for such a registry. A registry that has
/// a host is not touched.
pub(crate) fn forget(metadata: &Metadata) -> Result<()> {
    let Some(home) = cargo_home() else { return Ok(()) };
    let packages: Vec<_> = metadata
        .members()
        .into_iter()
        .filter(|package| package.is_published())
        .map(|package| format!("{}-{}", package.name, package.version))
        .collect();
    forget_below(&home.join("registry/src"), &packages)?;
    forget_built(&metadata.target_directory.join("debug"))
}

/// Has cargo build anew in `folder` what it has built there from a registry without a host. The list of sources that a compiler
/// leaves beside a crate says where they were.
fn forget_built(folder: &Path) -> Result<()> {
    let unpacked = Path::new("registry").join("src").join("-").to_string_lossy().into_owned();
    let mut gone = BTreeSet::new();
    for list in entries(&folder.join("deps"))?.iter().filter(|it| has_extension(it, "d")) {
        if fs::read_to_string(list)?.contains(&unpacked) {
            gone.extend(hash(list));
        }
    }
    for fingerprint in entries(&folder.join(".fingerprint"))? {
        if hash(&fingerprint).is_some_and(|hash| gone.contains(&hash)) {
            fs::remove_dir_all(fingerprint)?;
        }
    }
    Ok(())
}

/// What is in a folder, which need not be there.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|it| it == extension)
}

/// The hash at the end of a name that cargo has given.
fn hash(path: &Path) -> Option<String> {
    let (_, hash) = path.file_stem()?.to_str()?.rsplit_once('-')?;
    Some(hash.to_owned())
}

fn cargo_home() -> Option<PathBuf> {
    let home = || env::home_dir().map(|home| home.join(".cargo"));
    env::var_os("CARGO_HOME").map(PathBuf::from).or_else(home)
}

fn forget_below(unpacked: &Path, packages: &[String]) -> Result<()> {
    let Ok(registries) = fs::read_dir(unpacked) else { return Ok(()) };
    for registry in registries {
        let registry = registry?;
        // A registry's folder is `host-hash`; one on this disk has no host.
        if !registry.file_name().to_string_lossy().starts_with('-') {
            continue;
        }
        for package in packages {
            let package = registry.path().join(package);
            if package.is_dir() {
                fs::remove_dir_all(package)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_packages_of_registries_without_a_host_are_forgotten() {
        let folder = env::temp_dir().join(format!("hanok-unpacked-{}", std::process::id()));
        let kept = ["-0a1b/other-0.1.0", "crates.example-0a1b/ours-0.1.0", "-0a1b/ours-0.2.0"];
        for path in kept.iter().chain(&["-0a1b/ours-0.1.0/src", "-ffff/ours-0.1.0"]) {
            fs::create_dir_all(folder.join(path)).unwrap();
        }
        forget_below(&folder, &["ours-0.1.0".to_owned()]).unwrap();
        assert!(kept.iter().all(|path| folder.join(path).is_dir()));
        assert!(!folder.join("-0a1b/ours-0.1.0").exists());
        assert!(!folder.join("-ffff/ours-0.1.0").exists());
        fs::remove_dir_all(folder).unwrap();
        forget_below(Path::new("/nowhere/at/all"), &[]).unwrap();
    }

    #[test]
    fn what_was_built_of_them_is_forgotten_and_nothing_else() {
        let folder = env::temp_dir().join(format!("hanok-built-{}", std::process::id()));
        for (hash, source) in [
            ("0a", "/home/kim/.cargo/registry/src/-0a1b/ours-0.1.0/src/lib.rs"),
            ("0b", "/home/kim/.cargo/registry/src/crates.example-0a1b/other-0.1.0/src/lib.rs"),
            ("0c", "crates/ours/src/lib.rs"),
        ] {
            fs::create_dir_all(folder.join(format!(".fingerprint/ours-{hash}"))).unwrap();
            fs::create_dir_all(folder.join("deps")).unwrap();
            let list = folder.join(format!("deps/ours-{hash}.d"));
            fs::write(list, format!("deps/libours-{hash}.rmeta: {source}\n")).unwrap();
        }
        forget_built(&folder).unwrap();
        let left = ["0a", "0b", "0c"]
            .map(|hash| fs::exists(folder.join(format!(".fingerprint/ours-{hash}"))).unwrap());
        assert_eq!(left, [false, true, true]);
        forget_built(&folder.join("nowhere")).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
}
