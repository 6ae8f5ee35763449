//! Files of data that are damaged: each is read, or refused with a line that it has.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::fs;

use proptest::prelude::*;
use real_estate::data::{Data, DataError};

const FILES: [(&str, &str); 5] = [
    ("market.csv", include_str!("../../../real-estate/data/market.csv")),
    ("market_risk.toml", include_str!("../../../real-estate/data/market_risk.toml")),
    ("listings.jsonl", include_str!("../../../real-estate/data/listings.jsonl")),
    ("loans.jsonl", include_str!("../../../real-estate/data/loans.jsonl")),
    ("policies.json", include_str!("../../../real-estate/data/policies.json")),
];

fn open(name: &str, text: &str) -> Result<Data, DataError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    Data::open(folder.path())
}

#[test]
fn the_shipped_files_are_read_from_a_folder_as_they_are_bundled() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let (opened, bundled) = (Data::open(folder.path()).unwrap(), Data::bundled().unwrap());
    assert_eq!(opened.market, bundled.market);
    assert_eq!(opened.risk, bundled.risk);
    assert_eq!(opened.listings, bundled.listings);
    assert_eq!(opened.loans, bundled.loans);
    assert_eq!(opened.policies, bundled.policies);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_damaged_file_is_read_or_refused_with_its_line(
        file in 0..FILES.len(),
        at in any::<prop::sample::Index>(),
        length in 0..40_usize,
        put in "[\\PC\n\r\0,\"{}\\[\\]:0-9-]{0,12}",
    ) {
        let (name, text) = FILES[file];
        let chars: Vec<char> = text.chars().collect();
        let start = at.index(chars.len());
        let end = (start + length).min(chars.len());
        let damaged: String =
            chars[..start].iter().copied().chain(put.chars()).chain(chars[end..].iter().copied()).collect();
        match open(name, &damaged) {
            Ok(data) => prop_assert!(!data.market.districts().is_empty()),
            Err(error) => {
                prop_assert!(error.file.ends_with(name), "{}", error);
                prop_assert!(!error.reason.is_empty());
                let lines = damaged.matches('\n').count() + 1;
                prop_assert!(error.line.is_none_or(|line| (1..=lines).contains(&line)), "{}", error);
            }
        }
    }
}
