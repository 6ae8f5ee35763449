//! Lines of an exported log that somebody made, with checksums that are right.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::thread;

use futures::executor::block_on;
use hanok_checkpoint::{
    Append, AppendId, Checkpointer, Guard, ImportError, InMemoryCheckpointer, Log, Record,
    SharedCheckpointer, Which,
};
use hanok_core::{Position, Tenant, ThreadKey, Timestamp};
use hanok_testkit::any_entry;
use proptest::{collection::vec, prelude::*, sample::Index};

/// The name of the last member of a line.
const STORED: &str = ",\"stored\":\"";

/// A stack as small as a program may give to a thread of its own.
const STACK: usize = 256 * 1024;

/// What is wrong with the bytes of a line.
#[derive(Debug, Clone)]
enum Wrong {
    /// One byte is another: another number, another length, another kind, no UTF-8.
    Byte(Index, u8),
    /// A value is nested this deep.
    Deep(Index, usize, u8),
    /// A number, or the length of a text, of bytes, of an array or of a map, is the largest that can be written.
    Huge(Index, u8),
    /// The bytes end early.
    Cut(Index),
    /// A part stands twice.
    Twice(Index, Index),
}

fn wrong() -> impl Strategy<Value = Wrong> {
    let at = any::<Index>;
    prop_oneof![
        4 => (at(), any::<u8>()).prop_map(|(at, byte)| Wrong::Byte(at, byte)),
        2 => (at(), 1..60_000_usize, prop_oneof![Just(0x91_u8), Just(0x81)])
            .prop_map(|(at, depth, byte)| Wrong::Deep(at, depth, byte)),
        2 => (at(), prop_oneof![Just(0xcf_u8), Just(0xdb), Just(0xc6), Just(0xdd), Just(0xdf)])
            .prop_map(|(at, kind)| Wrong::Huge(at, kind)),
        1 => at().prop_map(Wrong::Cut),
        1 => (at(), at()).prop_map(|(from, to)| Wrong::Twice(from, to)),
    ]
}

impl Wrong {
    fn done_to(&self, bytes: &mut Vec<u8>) {
        let len = bytes.len();
        match self {
            Self::Byte(at, byte) => bytes[at.index(len)] = *byte,
            Self::Deep(at, depth, byte) => {
                let at = at.index(len);
                bytes.splice(at..at, std::iter::repeat_n(*byte, *depth));
            }
            Self::Huge(at, kind) => {
                let at = at.index(len);
                let size = if *kind == 0xcf { 8 } else { 4 };
                let huge = std::iter::once(*kind).chain(std::iter::repeat_n(0xff, size));
                bytes.splice(at..=at, huge);
            }
            Self::Cut(at) => bytes.truncate(at.index(len)),
            Self::Twice(from, to) => {
                let (from, to) = (from.index(len), to.index(len));
                let part = bytes[from.min(to)..from.max(to)].to_vec();
                bytes.splice(from..from, part);
            }
        }
    }
}

/// The bytes that a line holds.
fn bytes(line: &str) -> Vec<u8> {
    let digits = line.trim_end_matches("\"}").rsplit_once(STORED).unwrap().1.as_bytes();
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.skip(4).map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

/// A line of these bytes, with their checksum.
fn line(bytes: &[u8]) -> String {
    let sum = crc32c::crc32c(bytes).to_be_bytes();
    let digits: String = sum.iter().chain(bytes).map(|byte| format!("{byte:02x}")).collect();
    format!("{{\"line\":1{STORED}{digits}\"}}")
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 400,
        ..ProptestConfig::default()
    })]

    /// P7, P8: whatever the lines hold, they are refused with a reason and leave nothing in the store, or they are taken and can be read
    /// or are told to be damaged. Nothing ends the process, and nothing takes as much memory as a number says.
    #[test]
    fn lines_that_somebody_made_are_refused_or_read(
        entries in vec(any_entry(), 1..4),
        faults in vec((any::<Index>(), wrong()), 1..3),
    ) {
        let work = move || {
            let key = ThreadKey::new(Tenant::default(), "t").unwrap();
            let log = Log::new(SharedCheckpointer::new(InMemoryCheckpointer::new()), key.clone());
            let at = |n: usize| Position(n as u64);
            let record = |(n, entry)| Record::new(&key, at(n).next(), at(n), entry);
            let records = entries.iter().enumerate().map(record).collect();
            let append = Append::new(AppendId(1), Position::START, Guard::Unclaimed, records);
            block_on(log.store().append(&key, append)).unwrap();
            let mut lines = block_on(log.export()).unwrap();
            for (which, fault) in &faults {
                let which = which.index(lines.len());
                let mut changed = bytes(&lines[which]);
                if !changed.is_empty() {
                    fault.done_to(&mut changed);
                }
                lines[which] = line(&changed);
            }
            let other = Log::new(SharedCheckpointer::new(InMemoryCheckpointer::new()), key);
            let lines = lines.iter().map(String::as_str);
            match block_on(other.import(lines, AppendId(2), Timestamp(9))) {
                Ok(()) => {
                    // As any log that may be damaged.
                    drop(block_on(other.open(None)));
                    drop(block_on(other.history(None, 99)));
                    block_on(other.verify()).unwrap();
                }
                Err(_) => {
                    let left = block_on(other.store().threads(Which::All, None, 9)).unwrap();
                    assert!(left.is_empty(), "{left:?}");
                }
            }
        };
        thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap();
    }
}

/// P7: lines in another order, and one that stands twice, are told by their number.
#[test]
fn lines_in_another_order_are_told() {
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let log = Log::new(store.clone(), key.clone());
    let entry = |at| hanok_checkpoint::Entry {
        at: Timestamp(at),
        namespace: hanok_core::Namespace::root(),
        body: hanok_checkpoint::Body::Rewind(hanok_checkpoint::Rewind::default()),
    };
    let records = (0..3).map(|n| Record::new(&key, Position(n + 1), Position(n), &entry(n)));
    let append = Append::new(AppendId(1), Position::START, Guard::Unclaimed, records.collect());
    block_on(store.append(&key, append)).unwrap();
    let lines = block_on(log.export()).unwrap();
    for (order, told) in [
        (vec![0, 2, 1, 3], Some(2)),
        (vec![0, 1, 1, 2, 3], Some(3)),
        (vec![0, 1, 2, 3, 3], Some(5)),
        (vec![0, 0, 1, 2, 3], None),
        (vec![1, 2, 3], None),
        (vec![0, 1, 2], None),
    ] {
        let other = SharedCheckpointer::new(InMemoryCheckpointer::new());
        let import = order.iter().map(|n: &usize| lines[*n].as_str());
        let into = Log::new(other.clone(), key.clone());
        let import = into.import(import, AppendId(2), Timestamp(9));
        match (block_on(import).unwrap_err(), told) {
            (ImportError::Order { line, .. }, Some(told)) => assert_eq!(line, told, "{order:?}"),
            (
                ImportError::Line { .. } | ImportError::Cut { .. } | ImportError::Format { .. },
                None,
            ) => {}
            (error, _) => unreachable!("{order:?}: {error:?}"),
        }
        assert!(block_on(other.head(&key)).unwrap().is_none(), "{order:?}");
    }
}
