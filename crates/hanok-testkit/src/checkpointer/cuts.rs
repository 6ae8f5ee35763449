//! Cutting logs off, writing them anew, and erasing threads.

use std::collections::BTreeSet;

use hanok_checkpoint::{
    AppendId, Body, CheckpointError, Checkpointer, Forks, Guard, Keep, Log, SharedCheckpointer,
    Snapshots, Trim,
};
use hanok_core::{Position, Spent, ThreadKey, Timestamp};
use proptest::prelude::*;

use super::{
    contract::{append, in_words, key, texts},
    logs::each,
    retained::cut,
    script::{LogStep, Script, events, plain},
};
use crate::block_on;

impl Script {
    /// The positions that lead from `from` to the beginning, newest first.
    pub(super) fn branch(&self, from: Position) -> Vec<Position> {
        let there = |at: Position| (at > Position::START).then_some(at);
        let parent = |at: &Position| there(self.entries[at.0 as usize - 1].parent);
        std::iter::successors(there(from), parent).collect()
    }

    /// The checkpoints of the thread's own graph on the branch that it is on, newest first.
    pub(super) fn checkpoints(&self) -> Vec<Position> {
        let is = |at: &Position| {
            let entry = &self.entries[at.0 as usize - 1].entry;
            entry.namespace.is_root()
                && match &entry.body {
                    Body::Begin(begin) => begin.frontier.is_some(),
                    Body::Commit(_) | Body::Edit(_) | Body::Origin(_) => true,
                    _ => false,
                }
        };
        self.branch(self.end()).into_iter().filter(is).collect()
    }

    /// The position at which the log has to be cut off to keep the checkpoints from `oldest` on.
    fn floor(&self, oldest: Option<Position>) -> Option<Position> {
        let quiet = |at: &Position| self.folds[at.0 as usize].is_quiet();
        self.checkpoints().into_iter().find(|at| Some(*at) <= oldest && quiet(at))
    }

    /// Asserts that the log reads as it did from `floor` on, and that what is before is told to be gone.
    pub(super) fn assert_cut(&self, floor: Position) {
        for at in 1..=self.end().0 {
            let at = Position(at);
            if at == floor || self.branch(at).contains(&floor) {
                self.assert_reads(Some(at));
            } else {
                // A later snapshot may still know what a branch amounted to that left before.
                match block_on(self.log.open(Some(at))) {
                    Err(CheckpointError::Pruned { .. }) => {}
                    Ok(_) => self.assert_reads(Some(at)),
                    Err(error) => panic!("{at} of {floor}: {error:?}"),
                }
            }
        }
        self.assert_reads(None);
    }
}

fn keep() -> impl Strategy<Value = Keep> {
    prop_oneof![
        Just(Keep::Newest),
        (0..5usize).prop_map(Keep::Last),
        any::<u64>().prop_map(|at| Keep::Since(Timestamp(at))),
    ]
}

pub(crate) fn what_a_cut_keeps_reads_as_it_did(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each((events(), keep(), events()), |(events, keep, later)| {
        let mut script = Script::played(&store, &events);
        let all = script.checkpoints();
        let oldest = match keep {
            Keep::Newest => all.first().copied(),
            Keep::Last(n) => all.get(n.max(1) - 1).copied(),
            Keep::Since(since) => {
                let late = |at: &&Position| script.entries[at.0 as usize - 1].entry.at >= since;
                all.iter().rfind(late).or(all.first()).copied()
            }
        };
        let want = script.floor(oldest);
        assert_eq!(block_on(script.log.prune(keep)).unwrap(), want, "{keep:?}");
        let Some(floor) = want else { return };
        script.assert_cut(floor);
        // It goes on as any other, and can be cut again.
        for event in &later {
            if let LogStep::Append(entries) = event {
                script.append(entries);
            }
        }
        script.assert_cut(floor);
        let newest = script.floor(script.checkpoints().first().copied());
        let again = block_on(script.log.prune(Keep::Newest)).unwrap();
        assert_eq!(again, newest.filter(|newest| *newest > floor));
        script.assert_cut(again.unwrap_or(floor));
        let rewound = script.log.rewind(floor, None, AppendId(999), Timestamp(0));
        match (block_on(rewound), again) {
            (Ok(_), None) => {}
            (Err(CheckpointError::Pruned { .. }), Some(_)) => {}
            other => panic!("{other:?}"),
        }
    });
}

pub(crate) fn a_cut_is_made_where_it_is_expected(store: impl Checkpointer) {
    let thread = key("t", "a");
    append(&store, &thread, texts(1, 0, Guard::Unclaimed, &["1", "2"])).unwrap();
    let trim = |at| {
        let trim = Trim { expected: Some(Position(at)), ..cut(1, "base") };
        block_on(store.trim(&thread, trim)).map_err(in_words)
    };
    assert_eq!(trim(1).unwrap_err(), "conflict 1 2");
    assert_eq!(block_on(store.head(&thread)).unwrap().unwrap().floor, Position::START);
    trim(2).unwrap();
    assert_eq!(block_on(store.head(&thread)).unwrap().unwrap().floor, Position(1));
}

pub(crate) fn what_is_written_anew_holds_nothing_of_before(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each((events(), any::<bool>()), |(events, cut)| {
        let script = Script::played(&store, &events);
        if script.end() == Position::START {
            return;
        }
        if cut {
            block_on(script.log.prune(Keep::Newest)).unwrap();
        }
        let open = block_on(script.log.open(None)).unwrap().unwrap();
        let write = |fold, id| {
            let head = block_on(store.head(script.log.thread())).unwrap().unwrap();
            block_on(script.log.rewrite(&head, fold, "me", AppendId(id), Timestamp(5))).unwrap()
        };
        // Twice: the second finds a log that is cut off where it ends but for one entry.
        for id in [40, 50] {
            let at = write(open.fold.clone(), id);
            let history = block_on(script.log.history(None, usize::MAX)).unwrap();
            assert_eq!(history.len(), 1);
            assert_eq!(history[0].position, at);
            assert!(matches!(&history[0].entry.body, Body::Erased(erased) if erased.by == "me"));
            let read = block_on(script.log.open(None)).unwrap().unwrap().fold;
            assert_eq!(read.position, at);
            // What is pending stays so; whoever writes anew knows more than the runs that were lost.
            let mut before = open.fold.clone();
            for (path, run) in &mut before.runs {
                run.takeovers = read.runs[path].takeovers;
                run.records
                    .failures
                    .values_mut()
                    .for_each(|failed| failed.spent = Spent::default());
            }
            assert_eq!(plain(&read).runs, plain(&before).runs);
        }
        // A log that ends where it is cut off is written anew as well.
        let end = block_on(store.head(script.log.thread())).unwrap().unwrap().position;
        let base = bytes::Bytes::from_static(b"what was there");
        let (life, envelopes) = (script.tip.life, Vec::new());
        let trim = Trim { life, floor: end, base, expected: None, envelopes, then: None };
        block_on(store.trim(script.log.thread(), trim)).unwrap();
        write(open.fold, 60);
        let opened = block_on(store.open(script.log.thread(), None, Snapshots::Use));
        let (_, base) = opened.unwrap().unwrap().snapshot.unwrap();
        assert_ne!(&base[..], b"what was there");
        assert!(block_on(script.log.open(None)).unwrap().is_some());
    });
}

pub(crate) fn a_thread_is_erased_with_its_forks_unless_they_are_to_stay(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    let make = || {
        let script = super::damage::small(&store);
        for (origin, to) in [("thread", "one"), ("one", "two"), ("thread", "three")] {
            let from = Log::new(store.clone(), key("damage", origin));
            let to = key("damage", to);
            block_on(from.fork(None, &to, AppendId(1), Timestamp(1))).unwrap();
        }
        let other = key("other", "one");
        block_on(script.log.copy(&other, AppendId(1), Timestamp(1))).unwrap();
        script.log
    };
    let names = |keys: Vec<ThreadKey>| -> BTreeSet<String> {
        keys.iter().map(|key| key.thread().to_owned()).collect()
    };
    let there = |tenant, name| block_on(store.head(&key(tenant, name))).unwrap().is_some();
    let set = |names: &[&str]| names.iter().map(ToString::to_string).collect::<BTreeSet<_>>();

    let log = make();
    assert_eq!(names(block_on(log.forks()).unwrap()), set(&["one", "two", "three"]));
    let gone = names(block_on(log.erase_thread(Forks::Keep)).unwrap());
    assert_eq!(gone, set(&["thread"]));
    assert!(there("damage", "one") && there("damage", "two") && there("damage", "three"));
    // What was begun can be finished, though the thread itself is gone.
    let gone = names(block_on(log.erase_thread(Forks::Too)).unwrap());
    assert_eq!(gone, set(&["one", "two", "three"]));
    block_on(store.delete(&key("other", "one"), None)).unwrap();

    let log = make();
    let gone = names(block_on(log.erase_thread(Forks::Too)).unwrap());
    assert_eq!(gone, set(&["thread", "one", "two", "three"]));
    assert!(there("other", "one"), "a copy is a thread of its own");
    assert!(block_on(log.erase_thread(Forks::Too)).unwrap().is_empty());
}
