//! The guide of errors has a row for every code, under the name of its error and with its status, and none that is not there.

use std::collections::BTreeSet;

use hanok::{
    RunError,
    checkpoint::{CheckpointError, StoreError},
};
use hanok_server::{Problem, ServeError};

const GUIDE: &str = include_str!("../../../docs/guides/errors.md");

#[test]
fn the_guide_says_what_to_do_about_every_code() {
    let types = [
        ("CheckpointError", CheckpointError::CODES, CheckpointError::STATUSES),
        ("StoreError", StoreError::CODES, StoreError::STATUSES),
        ("RunError", RunError::CODES, RunError::STATUSES),
        ("ServeError", ServeError::CODES, ServeError::STATUSES),
    ];
    let mut coded = BTreeSet::new();
    let mut codes = BTreeSet::new();
    for (kind, of_kind, statuses) in types {
        assert_eq!(of_kind.len(), statuses.len());
        for (code, status) in of_kind.iter().zip(statuses) {
            assert!(codes.insert(*code), "twice: {code}");
            assert!((400..600).contains(status), "{code} is a failure");
            coded.insert((*code, kind, status.to_string()));
        }
    }

    for (code, status) in Problem::CODES {
        assert!(codes.insert(*code), "twice: {code}");
        coded.insert((*code, "an answer", status.to_string()));
    }

    let mut told = BTreeSet::new();
    // The command's own codes are held by a test of the command.
    let is_library = |line: &&str| line.starts_with("| `HNK-") && !line.starts_with("| `HNK-3");
    for line in GUIDE.lines().filter(is_library) {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [code, error, status, happened, to_do] = cells.as_slice() else {
            panic!("five cells: {line}")
        };
        let kind = error.trim_matches('`').split("::").next().unwrap();
        assert!(!happened.is_empty() && !to_do.is_empty(), "{line}");
        assert!(told.insert((code.trim_matches('`'), kind, status.to_string())), "twice: {line}");
    }
    assert_eq!(told, coded);
}
