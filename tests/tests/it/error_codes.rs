//! The guide of errors has a row for every code, under the name of its error, and none that is not there.

use std::collections::BTreeSet;

use hanok::{
    RunError,
    checkpoint::{CheckpointError, StoreError},
};

const GUIDE: &str = include_str!("../../../docs/guides/errors.md");

#[test]
fn the_guide_says_what_to_do_about_every_code() {
    let types = [
        ("CheckpointError", CheckpointError::CODES),
        ("StoreError", StoreError::CODES),
        ("RunError", RunError::CODES),
    ];
    let coded: BTreeSet<_> = types
        .iter()
        .flat_map(|(kind, codes)| codes.iter().map(move |code| (*code, *kind)))
        .collect();
    assert_eq!(
        coded.len(),
        types.iter().map(|(_, codes)| codes.len()).sum::<usize>(),
        "no code twice"
    );

    let mut told = BTreeSet::new();
    // The command's own codes are held by a test of the command.
    let is_library = |line: &&str| line.starts_with("| `HNK-") && !line.starts_with("| `HNK-3");
    for line in GUIDE.lines().filter(is_library) {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [code, error, happened, to_do] = cells.as_slice() else { panic!("four cells: {line}") };
        let kind = error.trim_matches('`').split("::").next().unwrap();
        assert!(!happened.is_empty() && !to_do.is_empty(), "{line}");
        assert!(told.insert((code.trim_matches('`'), kind)), "twice: {line}");
    }
    assert_eq!(told, coded);
}
