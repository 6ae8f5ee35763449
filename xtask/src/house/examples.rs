//! What is left of each example, in lines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::files;
use crate::result::Result;

/// The lines of an example: its programs, and its library with the unit tests in it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Lines {
    programs: usize,
    library: usize,
}

/// The example that a file is of, and whether the file is of its library; `None` for tests, data and everything else.
fn part(path: &str) -> Option<(&str, bool)> {
    let (example, inside) = path.strip_prefix("examples/")?.split_once('/')?;
    let is_program = !inside.contains('/');
    let is_ours = inside.ends_with(".rs") && (is_program || inside.starts_with("src/"));
    is_ours.then_some((example, !is_program))
}

/// The table of those among `files`.
///
/// # Errors
///
/// A file cannot be read.
pub(super) fn table(files: &[PathBuf]) -> Result<String> {
    let mut examples: BTreeMap<String, Lines> = BTreeMap::new();
    for (path, text) in files::texts(files, |path| part(path).is_some())? {
        let Some((example, is_library)) = part(&path) else { continue };
        let lines = text.lines().count();
        let of = examples.entry(example.to_owned()).or_default();
        *(if is_library { &mut of.library } else { &mut of.programs }) += lines;
    }
    let mut table =
        "| example | lines of its programs | of its library |\n| --- | --- | --- |\n".to_owned();
    for (example, Lines { programs, library }) in examples {
        table += &format!("| {example} | {programs} | {library} |\n");
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn programs_and_libraries_are_told_apart_and_tests_left_out() {
        for (path, want) in [
            ("examples/rag/main.rs", Some(("rag", false))),
            ("examples/rag/src/directory/rooms.rs", Some(("rag", true))),
            ("examples/tests/tests/rag/program.rs", None),
            ("examples/rag/Cargo.toml", None),
            ("crates/hanok/src/lib.rs", None),
        ] {
            assert_eq!(part(path), want, "{path}");
        }
    }
}
