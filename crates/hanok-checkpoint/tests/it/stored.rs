//! Every entry and every snapshot reads back as it was written, or not at all.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use hanok_checkpoint::{Entry, Record, Snapshot};
use hanok_core::{Position, Tenant, ThreadKey};
use hanok_testkit::{any_entry, any_snapshot};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// B85
    #[test]
    fn an_entry_reads_back_as_it_was_written(entry in any_entry()) {
        let bytes = entry.to_bytes();
        prop_assert_eq!(Entry::from_bytes(&bytes).unwrap(), entry.clone());
        prop_assert_eq!(entry.to_bytes(), bytes);
    }

    /// P7, B79
    #[test]
    fn an_entry_that_was_cut_or_goes_on_is_an_error(entry in any_entry()) {
        let bytes = entry.to_bytes();
        for len in 0..bytes.len() {
            prop_assert!(Entry::from_bytes(&bytes[..len]).is_err(), "{} bytes", len);
        }
        prop_assert!(Entry::from_bytes(&[&bytes[..], &[0xc0]].concat()).is_err());
    }

    /// P7, P59
    #[test]
    fn any_bytes_are_an_entry_or_an_error(bytes in any::<Vec<u8>>(), entry in any_entry(), at: usize, byte: u8) {
        drop(Entry::from_bytes(&bytes));
        drop(Snapshot::from_bytes(&bytes));
        let mut close = entry.to_bytes();
        let at = at % close.len();
        close[at] = byte;
        drop(Entry::from_bytes(&close));
    }

    /// B85
    #[test]
    fn a_snapshot_reads_back_as_it_was_written(snapshot in any_snapshot()) {
        let bytes = snapshot.to_bytes();
        prop_assert_eq!(Snapshot::from_bytes(&bytes).unwrap(), snapshot.clone());
        prop_assert_eq!(snapshot.to_bytes(), bytes);
    }

    /// P7, B79
    #[test]
    fn a_snapshot_that_was_cut_or_goes_on_is_an_error(snapshot in any_snapshot()) {
        let bytes = snapshot.to_bytes();
        for len in 0..bytes.len() {
            prop_assert!(Snapshot::from_bytes(&bytes[..len]).is_err(), "{} bytes", len);
        }
        prop_assert!(Snapshot::from_bytes(&[&bytes[..], &[0xc0]].concat()).is_err());
    }

    /// P7
    #[test]
    fn a_record_reads_where_it_was_written_and_nowhere_else(entry in any_entry(), at in 1..1_000_000u64) {
        let (position, parent) = (Position(at), Position(at / 2));
        let thread = |tenant, name| ThreadKey::new(Tenant::new(tenant).unwrap(), name).unwrap();
        let record = Record::new(&thread("ab", "c"), position, parent, &entry);
        prop_assert_eq!(record.read(&thread("ab", "c")).unwrap(), (parent, entry));
        prop_assert!(record.read(&thread("a", "bc")).is_err());
        let moved = Record { position: position.next(), bytes: record.bytes };
        prop_assert!(moved.read(&thread("ab", "c")).is_err());
    }
}
