//! A log that is written entry by entry, with what it has to amount to at each position.

use hanok_checkpoint::{
    AppendId, Body, Checkpointer, Entry, Guard, Life, Log, LogEntry, Rewind, SharedCheckpointer,
    ThreadFold, Tip,
};
use hanok_core::{Position, ThreadKey, Timestamp};
use proptest::{collection::vec, prelude::*};

use super::{
    contract::{key, of_tenant},
    entries,
};
use crate::block_on;

/// One thing that happens to a log. A place is a share of the log's length.
#[derive(Debug, Clone)]
pub(crate) enum LogStep {
    Append(Vec<Entry>),
    Rewind(u8),
    Snapshot(u8),
}

pub(crate) fn events() -> impl Strategy<Value = Vec<LogStep>> {
    let event = prop_oneof![
        4 => vec(entries::any_entry(), 1..4).prop_map(LogStep::Append),
        1 => any::<u8>().prop_map(LogStep::Rewind),
        3 => any::<u8>().prop_map(LogStep::Snapshot),
    ];
    vec(event, 1..12)
}

/// A log in a store, and beside it what it amounts to.
pub(crate) struct Script {
    pub(crate) log: Log,
    pub(crate) entries: Vec<LogEntry>,
    /// At index `n` what the log amounts to at position `n`, folded from the entries alone.
    pub(crate) folds: Vec<ThreadFold>,
    pub(super) tip: Tip,
    appends: u128,
}

/// The life of its thread.
pub(crate) const LIFE: Life = Life::new(u128::MAX - 77);

impl Script {
    /// A log with nothing in it, under a name that the store does not know yet.
    pub(crate) fn new(store: &SharedCheckpointer) -> Self {
        let threads = store.threads(of_tenant(&key("script", "x")), None, usize::MAX);
        let count = block_on(threads).unwrap().len();
        Self::named(store, key("script", &format!("thread {count}")))
    }

    pub(crate) fn named(store: &SharedCheckpointer, thread: ThreadKey) -> Self {
        let log = Log::new(store.clone(), thread);
        let (entries, folds) = (Vec::new(), vec![ThreadFold::default()]);
        // Chained, whether or not the store says that its threads are.
        let tip = Tip::new(LIFE, true);
        Self { log, entries, folds, tip, appends: 0 }
    }

    /// The log that `events` make.
    pub(crate) fn played(store: &SharedCheckpointer, events: &[LogStep]) -> Self {
        let mut script = Self::new(store);
        for event in events {
            match event {
                LogStep::Append(entries) => script.append(entries),
                LogStep::Rewind(share) if script.end() > Position::START => {
                    let to = script.place(*share).max(Position(1));
                    script.rewind(to);
                }
                LogStep::Rewind(_) => {}
                LogStep::Snapshot(share) => script.put_snapshot(script.place(*share)),
            }
        }
        script
    }

    pub(crate) fn end(&self) -> Position {
        Position(self.entries.len() as u64)
    }

    pub(crate) fn place(&self, share: u8) -> Position {
        Position(self.end().0 * u64::from(share) / u64::from(u8::MAX))
    }

    /// Appends those of `entries` that fit, all at once.
    pub(crate) fn append(&mut self, entries: &[Entry]) {
        let expected = self.end();
        let (mut records, codec) = (Vec::new(), self.log.store().codec().clone());
        for entry in entries {
            let (parent, position) = (self.end(), self.end().next());
            let before = &self.folds[self.folds.len() - 1];
            let mut fold = before.clone();
            if !fits(before, entry) || fold.apply(position, entry).is_err() {
                continue;
            }
            let record = self.tip.push(&codec, self.log.thread(), parent, entry);
            records.push(record.unwrap());
            self.keep(parent, entry.clone(), fold);
        }
        if !records.is_empty() {
            self.appends += 1;
            let (id, guard) = (AppendId(self.appends), Guard::Unclaimed);
            let append = self.tip.append(&codec, self.log.thread(), id, expected, guard, records);
            block_on(self.log.store().append(self.log.thread(), append)).unwrap();
        }
    }

    pub(crate) fn rewind(&mut self, to: Position) {
        self.appends += 1;
        let now = Timestamp(7);
        let at = block_on(self.log.rewind(to, None, AppendId(self.appends), now)).unwrap();
        assert_eq!(at, self.end().next());
        self.tip = Tip::of(&block_on(self.log.store().head(self.log.thread())).unwrap().unwrap());
        let entry = Entry {
            at: now,
            namespace: hanok_core::Namespace::root(),
            body: Body::Rewind(Rewind::default()),
        };
        let mut fold = self.folds[to.0 as usize].clone();
        fold.apply(at, &entry).unwrap();
        self.keep(to, entry, fold);
    }

    /// Keeps a snapshot at `at`, unless something is pending there.
    pub(crate) fn put_snapshot(&self, at: Position) {
        let fold = &self.folds[at.0 as usize];
        if at > Position::START && fold.is_quiet() {
            block_on(self.log.put_snapshot(self.tip.life, fold)).unwrap();
        }
    }

    fn keep(&mut self, parent: Position, entry: Entry, fold: ThreadFold) {
        self.entries.push(LogEntry { position: fold.position, parent, entry });
        self.folds.push(fold);
    }

    /// Asserts that the log reads at `at` as its entries say.
    pub(crate) fn assert_reads(&self, at: Option<Position>) {
        let open = block_on(self.log.open(at)).unwrap().expect("the thread is there");
        let want = &self.folds[at.unwrap_or(self.end()).0 as usize];
        assert_eq!(plain(&open.fold), plain(want), "at {at:?}");
        assert_eq!(open.head.position, self.end());
    }
}

/// The fold with its fields as they are read from a snapshot.
pub(crate) fn plain(fold: &ThreadFold) -> ThreadFold {
    let mut plain = fold.clone();
    plain.runs.values_mut().for_each(entries::as_stored);
    plain
}

/// True when an engine could write `entry` there: it answers only what was asked.
fn fits(before: &ThreadFold, entry: &Entry) -> bool {
    match &entry.body {
        Body::Answer(answer) => before
            .run(&entry.namespace)
            .is_some_and(|run| run.records.questions.iter().any(|asked| asked.id == answer.id)),
        Body::Rewind(_) => false,
        _ => true,
    }
}
