//! The names of files that are written.

use proptest::prelude::*;
use real_estate::documents::{call_stem, file_stem};

/// Whether a name is two parts of small letters, digits, `-` and `_`, which every file system takes.
fn is_safe(stem: &str) -> bool {
    let is_part = |part: &str| {
        let is_safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        !part.is_empty() && part.chars().all(is_safe)
    };
    let parts = stem.split_once('.');
    stem.len() < 250 && parts.is_some_and(|(name, number)| is_part(name) && is_part(number))
}

proptest! {
    #[test]
    fn names_are_safe_and_differ(one in ".{0,60}", other in ".{0,60}", step in 0..4_u64, next in 0..4_u64) {
        let (a, b) = (file_stem(&one, step), file_stem(&other, next));
        prop_assert!(is_safe(&a) && is_safe(&call_stem(&one)));
        prop_assert_eq!(a == b, one == other && step == next);
    }
}
