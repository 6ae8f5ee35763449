//! Copies of logs, and logs that are exported and taken in.

use hanok_checkpoint::{
    AppendId, Body, CheckpointError, Checkpointer, Forks, ImportError, Keep, Log,
    SharedCheckpointer, ThreadLife,
};
use hanok_core::{Position, ThreadKey, Timestamp};
use proptest::prelude::*;

use super::{
    contract::key,
    logs::each,
    script::{LIFE, LogStep, Script, events, plain},
};
use crate::block_on;

/// The log under another name, and what it has to hold.
fn assert_same(script: &Script, copy: &Log, floor: Position) {
    let mut read = block_on(copy.history(None, usize::MAX)).unwrap();
    read.reverse();
    let last = read.pop().expect("an entry that says where they come from");
    assert_eq!((last.position, last.parent), (script.end().next(), script.end()));
    let Body::Copied(copied) = &last.entry.body else { panic!("{last:?}") };
    let from = ThreadLife { thread: script.log.thread().clone(), life: LIFE };
    assert_eq!(copied.from, from);
    let open = block_on(copy.open(None)).unwrap().unwrap();
    let identity = script.folds[script.end().0 as usize].identity.clone();
    assert_eq!(open.fold.identity, identity.or(Some(from)));
    assert_eq!(read, script.entries[floor.0 as usize..]);
    for at in floor.0.max(1)..=script.end().0 {
        let at = Position(at);
        if floor > Position::START && at != floor && !script.branch(at).contains(&floor) {
            continue;
        }
        let open = block_on(copy.open(Some(at))).unwrap().unwrap();
        assert_eq!(plain(&open.fold), plain(&script.folds[at.0 as usize]), "at {at}");
    }
}

/// The log that `events` make, cut off if `cut` says so, and its floor; `None` for one with nothing in it.
fn played(store: &SharedCheckpointer, events: &[LogStep], cut: bool) -> Option<(Script, Position)> {
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
        assert!(matches!(again, Err(CheckpointError::ThreadExists(_))), "{again:?}");
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
            let doubled = [&lines[..], &lines[last..]].concat();
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
