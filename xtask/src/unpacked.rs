//! What an earlier dry run of publishing left unpacked.
//!
//! Cargo verifies each package against the others in a registry that it makes below the target folder. It unpacks them under
//! a name that depends on that folder's path alone, and never again where something stands already: a clone at a path where
//! an earlier one stood would be verified against the earlier one's crates.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::metadata::Metadata;

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
    forget_below(&home.join("registry/src"), &packages)
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
}
