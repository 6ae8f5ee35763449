//! Logs with damaged records: they read as the error, never as another value.

use bytes::Bytes;
use hanok_checkpoint::{
    AppendId, Begin, Body, CheckpointError, Checkpointer, Codec, Commit, Due, Entry, Epoch,
    Frontier, GraphId, Guard, Persistence, Record, SharedCheckpointer, Snapshots, Tip,
};
use hanok_core::{
    Change, Changes, Namespace, Position, RunId, Spent, Stored, StoredSchema, Timestamp,
};

use super::{contract::key, script::Script};
use crate::block_on;

/// A small log: a run of three super-steps.
pub(crate) fn small(store: &SharedCheckpointer) -> Script {
    let mut script = Script::named(store, key("damage", "thread"));
    let frontier = |step| Frontier { step, due: vec![Due::node("n")], ..Frontier::default() };
    let said = |text: &str| {
        let mut changes = Changes::default();
        changes.push("said", Change::Append(vec![Stored::encode(text).unwrap()]));
        changes
    };
    let begin = Body::Begin(Begin {
        run: RunId(5),
        epoch: Epoch(0),
        parent: None,
        persistence: Persistence::PerCall,
        shared: false,
        input: said("안녕"),
        frontier: Some(frontier(0)),
        schema: Some(StoredSchema::default().into()),
        graph: GraphId { name: Some("count".into()), fingerprint: 78 },
        takeovers: 0,
        tags: Default::default(),
    });
    let commit = |step: u32| {
        Body::Commit(Commit {
            step,
            nodes: vec!["n".into()],
            folds: Vec::new(),
            changes: said(&format!("step {step}")),
            frontier: frontier(step + 1),
            spent: Spent::default(),
            outbox: Vec::new(),
        })
    };
    for body in [begin, commit(0), commit(1), commit(2)] {
        script.append(&[Entry { at: Timestamp(1), namespace: Namespace::root(), body }]);
    }
    script
}

impl Script {
    pub(super) fn records(&self) -> Vec<Record> {
        let opened = self.log.store().open(self.log.thread(), None, Snapshots::Ignore);
        block_on(opened).unwrap().unwrap().records
    }

    /// Puts `records` in the place of the log's.
    pub(super) fn replace(&self, records: Vec<Record>) {
        let (store, thread) = (self.log.store(), self.log.thread());
        block_on(store.delete(thread, None)).unwrap();
        let (id, before) = (AppendId(1), Position::START);
        let append = self.tip.append(store.codec(), thread, id, before, Guard::Unclaimed, records);
        block_on(store.append(thread, append)).unwrap();
    }

    /// Asserts that damage at `position` is told, that what precedes it reads, and that reading changes nothing.
    fn assert_told(&self, position: Position, case: &str) {
        let before = Position(position.0 - 1);
        let stored = self.records();
        for at in [None, Some(position)] {
            match block_on(self.log.open(at)) {
                Err(CheckpointError::Corrupt { thread, position: told, last_good, .. }) => {
                    assert_eq!((told, last_good), (position, before), "{case}");
                    assert_eq!(&thread, self.log.thread());
                }
                other => panic!("{case}: {other:?}"),
            }
        }
        let history = block_on(self.log.history(None, usize::MAX));
        assert!(matches!(history, Err(CheckpointError::Corrupt { .. })), "{case}: {history:?}");
        self.assert_reads(Some(before));
        assert_eq!(self.records(), stored);
    }
}

pub(super) fn flipped(bytes: &Bytes, at: usize, bits: u8) -> Bytes {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= bits;
    bytes.into()
}

/// `whole` with other bytes in the record `n`.
pub(super) fn with(whole: &[Record], n: usize, bytes: Bytes) -> Vec<Record> {
    let mut records = whole.to_vec();
    records[n].bytes = bytes;
    records
}

pub(crate) fn a_flipped_bit_is_told_with_the_last_good_position(store: impl Checkpointer) {
    let script = small(&SharedCheckpointer::new(store));
    let whole = script.records();
    for (n, record) in whole.iter().enumerate() {
        for at in 0..record.bytes.len() {
            for bits in [1, 0x80, 0xff] {
                script.replace(with(&whole, n, flipped(&record.bytes, at, bits)));
                script.assert_told(record.position, &format!("byte {at} of record {n} ^ {bits}"));
            }
        }
    }
}

pub(crate) fn a_record_cut_at_any_length_is_told_with_the_last_good_position(
    store: impl Checkpointer,
) {
    let script = small(&SharedCheckpointer::new(store));
    let whole = script.records();
    for (n, record) in whole.iter().enumerate() {
        for len in 0..record.bytes.len() {
            script.replace(with(&whole, n, record.bytes.slice(..len)));
            script.assert_told(record.position, &format!("{len} bytes of record {n}"));
        }
        script.replace(with(&whole, n, [&record.bytes[..], &[0]].concat().into()));
        script.assert_told(record.position, &format!("record {n} and a byte more"));
    }
}

pub(crate) fn a_record_that_belongs_elsewhere_is_told(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    let script = small(&store);
    let (whole, entries) = (script.records(), &script.entries);
    for (from, to) in [(0, 1), (1, 2), (2, 1), (3, 2), (1, 0)] {
        let mut records = whole.clone();
        records[to].bytes = whole[from].bytes.clone();
        script.replace(records);
        script.assert_told(Position(to as u64 + 1), &format!("record {from} in the place of {to}"));
    }
    for other in [key("damage", "threaD"), key("damag", "ethread"), key("other", "thread")] {
        let mut records = whole.clone();
        let mut tip = Tip { position: Position(2), ..script.tip };
        let forged = tip.push(&Codec::default(), &other, Position(2), &entries[2].entry);
        records[2] = forged.unwrap();
        script.replace(records);
        script.assert_told(Position(3), &format!("a record of {other}"));
    }
}

pub(crate) fn a_damaged_snapshot_is_passed_over(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    let script = small(&store);
    let (whole, thread) = (script.records(), script.log.thread());
    block_on(script.log.put_snapshot(script.tip.life, &script.folds[3])).unwrap();
    let opened = block_on(store.open(thread, None, Snapshots::Use)).unwrap().unwrap();
    let (at, snapshot) = opened.snapshot.unwrap();
    assert_eq!(at, Position(3));

    let assert_passed_over = |at: Position, bytes: Bytes| {
        script.replace(whole.clone());
        block_on(store.put_snapshot(thread, script.tip.life, at, bytes)).unwrap();
        script.assert_reads(None);
        script.assert_reads(Some(at));
    };
    for n in 0..snapshot.len() {
        assert_passed_over(at, flipped(&snapshot, n, 1));
        assert_passed_over(at, snapshot.slice(..n));
    }
    // So is a whole one of another position or of another thread.
    assert_passed_over(Position(2), snapshot);
    let mut other = Script::named(&store, key("damage", "other"));
    other.append(&[script.entries[0].entry.clone()]);
    block_on(other.log.put_snapshot(other.tip.life, &script.folds[3])).unwrap();
    let others = block_on(store.open(other.log.thread(), Some(at), Snapshots::Use));
    assert_passed_over(at, others.unwrap().unwrap().snapshot.unwrap().1);
}
