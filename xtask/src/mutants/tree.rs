//! The copy of the tree that holds all mutations.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::files;
use crate::result::Result;

use super::catalogue::Mutation;

/// The variable that switches one mutation on.
pub(super) const VARIABLE: &str = "HANOK_MUTANT";

/// Where the question is answered.
const SWITCH: (&str, &str) = (
    "crates/hanok-core/src/lib.rs",
    r#"
/// Whether the mutation of that number is switched on.
#[doc(hidden)]
pub fn mutated(number: u32) -> bool {
    static ON: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let read = || std::env::var("HANOK_MUTANT").ok().and_then(|on| on.parse().ok()).unwrap_or(0);
    *ON.get_or_init(read) == number
}
"#,
);

/// The file in which each of `mutations` applies, with its number.
pub(super) fn places(mutations: &[Mutation]) -> Result<Vec<(u32, String)>> {
    let texts = sources(&files::files(Path::new("."))?)?;
    let place = |mutation: &Mutation| {
        let source = format!("crates/{}/src/", mutation.package.as_ref()?);
        let mut texts = texts.iter().filter(|(path, _)| path.starts_with(&source));
        let (path, _) = texts.find(|(_, text)| text.contains(&mutation.before))?;
        Some((mutation.number, path.clone()))
    };
    Ok(mutations.iter().filter_map(place).collect())
}

/// The sources of the crates, by their paths.
fn sources(files: &[PathBuf]) -> Result<BTreeMap<String, String>> {
    let is_source = |path: &str| path.starts_with("crates/") && path.ends_with(".rs");
    Ok(files::texts(files, is_source)?.into_iter().collect())
}

/// The tree with all of `mutations`, below `folder`. What did not change since the last copy is not touched, so that it need
/// not be built again.
pub(super) fn copied(folder: &Path, mutations: &[Mutation]) -> Result<PathBuf> {
    let files = files::files(Path::new("."))?;
    let mut texts = sources(&files)?;
    mutate(&mut texts, mutations)?;
    let (path, switch) = SWITCH;
    texts.get_mut(path).ok_or_else(|| format!("{path} is missing"))?.push_str(switch);

    let tree = folder.join("tree");
    let mut wanted = BTreeMap::new();
    for file in &files {
        let name = file.strip_prefix(".").unwrap_or(file);
        let bytes = match texts.get(&*name.to_string_lossy()) {
            Some(text) => text.clone().into_bytes(),
            None => fs::read(file)?,
        };
        wanted.insert(tree.join(name), bytes);
    }
    remove_others(&tree, &wanted)?;
    for (path, bytes) in wanted {
        if fs::read(&path).is_ok_and(|there| there == bytes) {
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, bytes)?;
    }
    Ok(tree)
}

/// Puts every mutation into the one place of its crate's source where its text stands.
fn mutate(texts: &mut BTreeMap<String, String>, mutations: &[Mutation]) -> Result<()> {
    let mut faults = Vec::new();
    let mut places: BTreeMap<String, Vec<(usize, &Mutation)>> = BTreeMap::new();
    for mutation in mutations {
        let Mutation { number, package: Some(package), before, what, .. } = mutation else {
            continue;
        };
        let source = format!("crates/{package}/src/");
        let within = texts.iter().filter(|(path, _)| path.starts_with(&source));
        let found = within
            .flat_map(|(path, text)| text.match_indices(before).map(move |(at, _)| (path, at)));
        match found.collect::<Vec<_>>().as_slice() {
            [(path, at)] => places.entry((*path).clone()).or_default().push((*at, mutation)),
            several => {
                let places = several.len();
                faults.push(format!("mutant {number} ({what}) applies to {places} places of {source}, and has to apply to one"));
            }
        }
    }
    for (path, mut of_file) in places {
        of_file.sort_unstable_by_key(|(at, _)| *at);
        for pair in of_file.windows(2) {
            if let [(at, first), (next, second)] = pair
                && at + first.before.len() > *next
            {
                let (first, second) = (first.number, second.number);
                faults.push(format!("mutants {first} and {second} overlap in {path}"));
            }
        }
        let Some(text) = texts.get_mut(&path) else { continue };
        for (at, mutation) in of_file.into_iter().rev() {
            // The expression stands where a name can stand: a method may follow it.
            let question = format!("hanok_core::mutated({})", mutation.number);
            let after = mutation.after.replace("MUTATED", &question);
            text.replace_range(at..at + mutation.before.len(), &after);
        }
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults.join("\n").into()),
    }
}

/// Removes what a copy before had and this one has not: a test that is gone must not run.
fn remove_others(folder: &Path, wanted: &BTreeMap<PathBuf, Vec<u8>>) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, wanted)?;
        } else if !wanted.contains_key(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::catalogue;
    use super::*;

    fn mutation(number: u32, before: &str) -> Mutation {
        let block = format!("{number} a simulator\nwrong\n-{before}\n+{before} && MUTATED");
        catalogue::mutation(&block).unwrap()
    }

    fn mutated(mutations: &[Mutation]) -> Result<String, String> {
        let path = "crates/a/src/lib.rs".to_owned();
        let mut texts = BTreeMap::from([
            (path.clone(), "one two two".to_owned()),
            ("crates/b/src/lib.rs".to_owned(), "one".to_owned()),
        ]);
        mutate(&mut texts, mutations).map_err(|error| error.to_string())?;
        Ok(texts.remove(&path).unwrap_or_default())
    }

    #[test]
    fn a_mutation_has_one_place_in_its_crate_and_shares_it_with_none() {
        let want = "one && hanok_core::mutated(3) two two";
        assert_eq!(mutated(&[mutation(3, "one")]), Ok(want.to_owned()));
        for (mutations, want) in [
            (vec![mutation(3, "two")], "applies to 2 places of crates/a/src/"),
            (vec![mutation(4, "three")], "applies to 0 places of crates/a/src/"),
            (vec![mutation(5, "ne two t"), mutation(6, "one")], "mutants 6 and 5 overlap"),
        ] {
            let error = mutated(&mutations).unwrap_err();
            assert!(error.contains(want), "{error}");
        }
    }

    /// Every mutation of the catalogue applies to the source as it is.
    #[test]
    fn every_mutation_applies() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let files = files::files(&root.join("crates")).unwrap().into_iter();
        let sources =
            files.filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
        let name = |file: &PathBuf| file.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let text = |file: PathBuf| (name(&file), fs::read_to_string(file).unwrap());
        mutate(&mut sources.map(text).collect(), &catalogue::read().unwrap()).unwrap();
    }
}
