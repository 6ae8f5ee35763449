//! What threads keep, what goes, and what is taken elsewhere.

use std::collections::BTreeSet;

use hanok_checkpoint::{
    AppendId, Body, CheckpointError, Checkpointer, Forks, ImportError, Keep, Kind, Log, LogEntry,
    Select, SharedCheckpointer, Snapshots, ThreadFold, Trim,
};
use hanok_core::{Namespace, Position, Spent, ThreadKey, Timestamp};
use proptest::prelude::*;

use super::{
    contract::{append, key, texts, told},
    logs::each,
    retained::cut,
    script::{Event, Script, events, plain},
};
use crate::block_on;

impl Script {
    /// The positions that lead from `from` to the beginning, newest first.
    fn branch(&self, from: Position) -> Vec<Position> {
        let there = |at: Position| (at > Position::START).then_some(at);
        let parent = |at: &Position| there(self.entries[at.0 as usize - 1].parent);
        std::iter::successors(there(from), parent).collect()
    }

    /// The checkpoints of the thread's own graph on the branch that it is on, newest first.
    fn checkpoints(&self) -> Vec<Position> {
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

    /// Where the log has to be cut off to keep the checkpoints from `oldest` on.
    fn floor(&self, oldest: Option<Position>) -> Option<Position> {
        let quiet = |at: &Position| self.folds[at.0 as usize].is_quiet();
        self.checkpoints().into_iter().find(|at| Some(*at) <= oldest && quiet(at))
    }

    /// Asserts that the log reads as it did from `floor` on, and that what is before is told to be gone.
    fn assert_cut(&self, floor: Position) {
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
            if let Event::Append(entries) = event {
                script.append(entries);
            }
        }
        script.assert_cut(floor);
        let newest = script.floor(script.checkpoints().first().copied());
        let again = block_on(script.log.prune(Keep::Newest)).unwrap();
        assert_eq!(again, newest.filter(|newest| *newest > floor));
        script.assert_cut(again.unwrap_or(floor));
        let rewound = script.log.rewind(floor, AppendId(999), Timestamp(0));
        match (block_on(rewound), again) {
            (Ok(_), None) => {}
            (Err(CheckpointError::Pruned { .. }), Some(_)) => {}
            other => panic!("{other:?}"),
        }
    });
}

pub(crate) fn a_cut_is_made_where_it_is_expected(store: impl Checkpointer) {
    let thread = key("t", "a");
    append(&store, &thread, texts(1, 0, hanok_checkpoint::Guard::Unclaimed, &["1", "2"])).unwrap();
    let trim = |at| {
        let trim = Trim { expected: Some(Position(at)), ..cut(1, "base") };
        block_on(store.trim(&thread, trim)).map_err(told)
    };
    assert_eq!(trim(1).unwrap_err(), "conflict 1 2");
    assert_eq!(block_on(store.head(&thread)).unwrap().unwrap().floor, Position::START);
    trim(2).unwrap();
    assert_eq!(block_on(store.head(&thread)).unwrap().unwrap().floor, Position(1));
}

/// The log under another name, and what it has to hold.
fn assert_same(script: &Script, copy: &Log, floor: Position) {
    let mut read = block_on(copy.history(None, usize::MAX)).unwrap();
    read.reverse();
    if copy.thread() != script.log.thread() {
        let last = read.pop().expect("an entry that says where they come from");
        assert_eq!((last.position, last.parent), (script.end().next(), script.end()));
        let Body::Copied(copied) = &last.entry.body else { panic!("{last:?}") };
        assert_eq!(&copied.from, script.log.thread());
        let open = block_on(copy.open(None)).unwrap().unwrap();
        let identity = script.folds[script.end().0 as usize].identity.clone();
        assert_eq!(open.fold.identity, identity.or(Some(script.log.thread().clone())));
    }
    assert_eq!(read, script.entries[floor.0 as usize..]);
    for at in floor.0.max(1)..=script.end().0 {
        let at = Position(at);
        if floor > Position::START && at != floor && !script.branch(at).contains(&floor) {
            continue;
        }
        let open = block_on(copy.open(Some(at))).unwrap().unwrap();
        let (want, found) = (plain(&script.folds[at.0 as usize]), plain(&open.fold));
        assert_eq!(found, want, "at {at}");
    }
}

/// The log that `events` make, cut off if `cut` says so, and its floor; `None` for one with nothing in it.
fn played(store: &SharedCheckpointer, events: &[Event], cut: bool) -> Option<(Script, Position)> {
    let script = Script::played(store, events);
    if script.end() == Position::START {
        return None;
    }
    let pruned = cut.then(|| block_on(script.log.prune(Keep::Newest)).unwrap()).flatten();
    Some((script, pruned.unwrap_or(Position::START)))
}

pub(crate) fn a_copy_is_the_same_log_under_another_name(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each((events(), any::<bool>()), |(events, cut)| {
        let Some((script, floor)) = played(&store, &events, cut) else { return };
        let from = script.log.thread();
        let name = format!("{} copy", from.thread());
        let copy = Log::new(store.clone(), ThreadKey::new(from.tenant().clone(), &name).unwrap());
        let make = || block_on(script.log.copy(copy.thread(), AppendId(1), Timestamp(9)));
        make().unwrap();
        assert_same(&script, &copy, floor);
        let again = block_on(script.log.copy(copy.thread(), AppendId(2), Timestamp(9)));
        assert!(matches!(again, Err(CheckpointError::Conflict { .. })), "{again:?}");
        match floor {
            Position::START => script.assert_reads(None),
            floor => script.assert_cut(floor),
        }
        // Each is a thread of its own.
        assert_eq!(
            block_on(script.log.erase_thread(Forks::Too)).unwrap(),
            std::slice::from_ref(from)
        );
        assert_same(&script, &copy, floor);
        assert_eq!(
            block_on(copy.erase_thread(Forks::Too)).unwrap(),
            std::slice::from_ref(copy.thread())
        );
    });
}

pub(crate) fn an_exported_log_is_taken_in_as_it_was(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each((events(), any::<bool>(), any::<usize>()), |(events, cut, damage)| {
        let Some((script, floor)) = played(&store, &events, cut) else { return };
        let lines = block_on(script.log.export()).unwrap();
        let import = |log: &Log, lines: &[String]| {
            let lines = lines.iter().map(String::as_str);
            block_on(log.import(lines, AppendId(3), Timestamp(9)))
        };
        // Lines that were lost, changed or doubled are told, and nothing is stored.
        if script.end() > floor {
            let other = Log::new(store.clone(), key("script", "not whole"));
            let last = lines.len() - 1;
            let mut changed = lines.clone();
            let digits = changed[last].rfind(",\"stored\":\"").unwrap() + 11;
            let at = digits + damage % (changed[last].len() - digits - 2);
            let digit = if changed[last].as_bytes()[at] == b'0' { "1" } else { "0" };
            changed[last].replace_range(at..=at, digit);
            let mut doubled = lines.clone();
            doubled.push(lines[last].clone());
            for wrong in [changed, doubled, lines[1..].to_vec(), Vec::new()] {
                let refused = import(&other, &wrong);
                assert!(refused.is_err(), "{wrong:?}");
                assert!(!matches!(refused, Err(ImportError::Checkpoint(_))), "{refused:?}");
            }
            if last > 1 {
                let lost = [&lines[..1], &lines[2..]].concat();
                assert!(matches!(import(&other, &lost), Err(ImportError::Order { .. })));
            }
            assert!(block_on(other.open(None)).unwrap().is_none());
        }
        assert!(matches!(import(&script.log, &lines), Err(ImportError::Checkpoint(_))));
        assert!(block_on(store.delete(script.log.thread(), None)).unwrap());
        import(&script.log, &lines).unwrap();
        assert_same(&script, &script.log, floor);
    });
}

pub(crate) fn a_history_holds_what_was_asked_for(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    let asked = (any::<u8>(), 0..9usize, 1..5usize, any::<u8>(), any::<bool>());
    each((events(), asked), |(events, (share, limit, size, kinds, root))| {
        let script = Script::played(&store, &events);
        let before = script.place(share).next();
        let kinds: BTreeSet<_> =
            Kind::ALL.iter().copied().filter(|kind| kinds >> (*kind as u8 % 8) & 1 == 1).collect();
        let mut select = Select::all().before(before).limit(limit);
        for kind in &kinds {
            select = select.kind(*kind);
        }
        if root {
            select = select.path(Namespace::root());
        }
        let fits = |entry: &&LogEntry| {
            entry.position < before
                && (kinds.is_empty() || kinds.contains(&entry.entry.body.kind()))
                && (!root || entry.entry.namespace.is_root())
        };
        let want: Vec<_> = script.entries.iter().rev().filter(fits).take(limit).cloned().collect();
        let (mut pages, mut read) = (script.log.pages(select, size), Vec::new());
        while let Some(page) = block_on(pages.next()).unwrap() {
            assert!(page.len() == size || read.len() + page.len() == want.len());
            read.extend(page);
        }
        assert_eq!(read, want);
    });
}

pub(crate) fn a_checkpoint_tells_what_leads_to_it(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each(events(), |events| {
        let script = Script::played(&store, &events);
        let select = Select::all().path(Namespace::root());
        let listed = block_on(script.log.checkpoints(select)).unwrap();
        assert!(listed.windows(2).all(|pair| pair[0].position > pair[1].position));
        let positions: BTreeSet<_> = listed.iter().map(|it| it.position).collect();
        assert!(script.checkpoints().iter().all(|at| positions.contains(at)));
        for checkpoint in listed {
            let before = script.branch(checkpoint.position);
            let parent = before[1..].iter().copied().find(|at| positions.contains(at));
            assert_eq!(checkpoint.parent, parent, "{checkpoint:?}");
            let fold: &ThreadFold = &script.folds[checkpoint.position.0 as usize];
            let frontier = fold.run(&Namespace::root()).map(|run| run.frontier.clone());
            let frontier = frontier.unwrap_or_default();
            let due: Vec<_> = frontier.due.iter().map(|due| due.node.to_string()).collect();
            assert_eq!((checkpoint.step, checkpoint.next), (frontier.step, due));
            let begins = before.iter().find_map(|at| match &script.entries[at.0 as usize - 1] {
                LogEntry { entry, .. } if entry.namespace.is_root() => match &entry.body {
                    Body::Begin(begin) => Some((Some(begin.run), begin.tags.clone())),
                    _ => None,
                },
                _ => None,
            });
            assert_eq!((checkpoint.run, checkpoint.tags), begins.unwrap_or_default());
        }
    });
}

pub(crate) fn a_whole_log_is_found_whole(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each((events(), any::<bool>()), |(events, cut)| {
        let script = Script::played(&store, &events);
        if script.end() == Position::START {
            assert_eq!(block_on(script.log.verify()).unwrap(), None);
            return;
        }
        let mut floor = Position::START;
        if cut {
            floor = block_on(script.log.prune(Keep::Last(2))).unwrap().unwrap_or_default();
        }
        let found = block_on(script.log.verify()).unwrap().unwrap();
        assert!(found.is_whole() && found.reads, "{found:?}");
        assert_eq!(found.records as u64, script.end().0 - floor.0);
    });
}

pub(crate) fn damage_is_found_and_a_log_goes_on_from_before_it(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    let script = super::damage::small(&store);
    let (log, whole) = (&script.log, script.records());
    for (n, record) in whole.iter().enumerate() {
        let mut records = whole.clone();
        let mut bytes = record.bytes.to_vec();
        bytes[20] ^= 4;
        records[n].bytes = bytes.into();
        script.replace(records);
        let found = block_on(log.verify()).unwrap().unwrap();
        let damage = found.damage.clone().expect("the damage");
        let good = Position(n as u64);
        assert_eq!((damage.position, damage.last_good), (good.next(), good), "{found:?}");
        assert_eq!((found.records, found.reads), (whole.len() - 1, false));
        if good == Position::START {
            continue;
        }
        // It goes on from there, and the damage stays on the branch that was left.
        let rewound = block_on(log.rewind(good, AppendId(7), Timestamp(3))).unwrap();
        let open = block_on(log.open(None)).unwrap().unwrap();
        let fields = |fold: &ThreadFold| plain(fold).runs[&Namespace::root()].fields.clone();
        assert_eq!(open.fold.position, rewound);
        assert_eq!(fields(&open.fold), fields(&script.folds[n]));
        let found = block_on(log.verify()).unwrap().unwrap();
        assert_eq!((found.damage, found.reads), (Some(damage), true));
        let branch = block_on(log.branch(Position::START)).unwrap().unwrap();
        assert_eq!(branch.places.len(), n + 1);
        // What is on its branch can be cut, and the damage goes with it.
        let floor = block_on(log.prune(Keep::Newest)).unwrap();
        assert_eq!(floor, Some(good));
        assert!(block_on(log.open(None)).unwrap().is_some());
    }
}

pub(crate) fn a_damaged_snapshot_is_found_and_no_loss(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    let script = super::damage::small(&store);
    let (log, whole) = (&script.log, script.records());
    block_on(log.put_snapshot(script.tip.life, &script.folds[3])).unwrap();
    let opened = block_on(store.open(log.thread(), None, Snapshots::Use)).unwrap().unwrap();
    let mut snapshot = opened.snapshot.unwrap().1.to_vec();
    snapshot[9] ^= 1;
    script.replace(whole.clone());
    block_on(store.put_snapshot(log.thread(), script.tip.life, Position(3), snapshot.into()))
        .unwrap();
    block_on(log.put_snapshot(script.tip.life, &script.folds[2])).unwrap();
    let found = block_on(log.verify()).unwrap().unwrap();
    assert_eq!((found.damage.clone(), found.reads), (None, true));
    assert_eq!((found.snapshots, &found.bad_snapshots[..]), (1, &[Position(3)][..]));
    // A whole one that says something else than the records is as bad.
    script.replace(whole);
    let other = ThreadFold { position: Position(4), ..script.folds[1].clone() };
    block_on(log.put_snapshot(script.tip.life, &other)).unwrap();
    let found = block_on(log.verify()).unwrap().unwrap();
    assert_eq!((found.snapshots, &found.bad_snapshots[..]), (0, &[Position(4)][..]));
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
        write(open.fold.clone(), 60);
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
