//! An exported log is lines that any reader of JSON takes.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use futures::executor::block_on;
use hanok_checkpoint::{
    Append, AppendId, Checkpointer, Guard, InMemoryCheckpointer, Log, Record, SharedCheckpointer,
};
use hanok_core::{Position, Tenant, ThreadKey};
use hanok_testkit::any_entry;
use proptest::{collection::vec, prelude::*};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_line_is_an_object_and_tells_what_its_entry_is(entries in vec(any_entry(), 1..5)) {
        let thread = ThreadKey::new(Tenant::default(), "a \"b\" \\ 가").unwrap();
        let log = Log::new(SharedCheckpointer::new(InMemoryCheckpointer::new()), thread.clone());
        let at = |n: usize| Position(n as u64);
        let record = |(n, entry)| Record::new(&thread, at(n).next(), at(n), entry);
        let records = entries.iter().enumerate().map(record).collect();
        let append = Append::new(AppendId(1), Position::START, Guard::Unclaimed, records);
        block_on(log.store().append(&thread, append)).unwrap();
        let lines = block_on(log.export()).unwrap();
        prop_assert_eq!(lines.len(), entries.len() + 1);
        for (n, line) in lines.iter().enumerate() {
            prop_assert!(!line.contains(char::is_control), "{}", line);
            let read: serde_json::Value = serde_json::from_str(line).unwrap();
            if n == 0 {
                prop_assert_eq!(&read["thread"], "a \"b\" \\ 가");
                continue;
            }
            prop_assert_eq!(&read["position"], n);
            prop_assert_eq!(&read["kind"], entries[n - 1].body.kind().as_str());
        }
    }
}
