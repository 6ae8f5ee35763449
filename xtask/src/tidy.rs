//! The invariants of this workspace that a program can see without building anything. All faults are reported at once.

pub(crate) mod floors;
mod guides;
mod hygiene;
mod licences;
mod manifests;
mod member;
mod seams;

use std::fs;
use std::path::Path;

use crate::fault::Fault;
use crate::files::{files, texts};
use crate::metadata::Metadata;
use crate::result::Result;

/// Everything that is wrong, in the order of the paths.
pub(crate) fn faults(metadata: &Metadata) -> Result<Vec<Fault>> {
    let members = member::members(metadata)?;
    let lock = fs::read_to_string("Cargo.lock").unwrap_or_default();
    let mut faults = floors::check(&members);
    faults.extend(manifests::check(&members));
    faults.extend(manifests::check_root(&fs::read_to_string("Cargo.toml")?));
    faults.extend(manifests::check_packages(&members));
    let deny = fs::read_to_string("deny.toml")?;
    faults.extend(licences::Rules::read(&deny).check(metadata, &lock));
    faults.extend(seams::check_features(metadata, &lock));
    faults.extend(seams::check_trees(&members, metadata)?);
    let files = files(Path::new("."))?;
    let guides = texts(&files, guides::is_guide)?;
    let index = fs::read_to_string(guides::INDEX)?;
    faults.extend(guides::check(&guides, &index));
    faults.extend(hygiene::check_files(&files)?);
    faults.sort();
    faults.dedup();
    Ok(faults)
}
