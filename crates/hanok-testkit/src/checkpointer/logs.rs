//! The log of a thread, as it is read from any store.

use hanok_checkpoint::{
    AppendId, Body, CheckpointError, Checkpointer, Log, Persistence, RunFold, SharedCheckpointer,
    Snapshot, ThreadFold,
};
use hanok_core::{Namespace, Position, ThreadKey, Timestamp};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use super::script::{Script, events, plain};
use crate::block_on;

pub(super) fn each<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, holds: impl Fn(T)) {
    let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&strategy, |case| {
        holds(case);
        Ok(())
    });
    result.unwrap();
}

pub(crate) fn a_log_reads_at_any_position_as_its_records_say(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each(events(), |events| {
        let script = Script::played(&store, &events);
        if script.end() == Position::START {
            assert!(block_on(script.log.open(None)).unwrap().is_none());
            return;
        }
        script.assert_reads(None);
        (0..=script.end().0).for_each(|at| script.assert_reads(Some(Position(at))));
    });
}

pub(crate) fn pages_of_history_hold_every_entry_once(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each((events(), 1..7usize), |(events, limit)| {
        let script = Script::played(&store, &events);
        let (mut read, mut before) = (Vec::new(), None);
        loop {
            let page = block_on(script.log.history(before, limit)).unwrap();
            assert!(page.len() <= limit);
            let Some(oldest) = page.last() else { break };
            before = Some(oldest.position);
            read.extend(page);
        }
        read.reverse();
        assert_eq!(read, script.entries);
    });
}

pub(crate) fn a_fork_outlives_its_origin(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each((events(), any::<u8>()), |(events, share)| {
        let script = Script::played(&store, &events);
        if script.end() == Position::START {
            return;
        }
        let (origin, at) = (script.log.thread(), script.place(share).max(Position(1)));
        let to = ThreadKey::new(origin.tenant().clone(), &format!("{} fork", origin.thread()));
        let fork = Log::new(store.clone(), to.unwrap());
        let make = |id| block_on(script.log.fork(Some(at), fork.thread(), id, Timestamp(9)));
        assert_eq!(make(AppendId(1)).unwrap(), at);
        let again = make(AppendId(2)).unwrap_err();
        assert!(matches!(again, CheckpointError::ThreadExists(_)), "{again}");

        let state = Snapshot::of(&script.folds[at.0 as usize]).to_fold(Position(1));
        // Its tasks are its own, though those of its origin may have been another's.
        let want = ThreadFold { identity: None, ..state };
        let assert_reads = || {
            let open = block_on(fork.open(None)).unwrap().unwrap();
            assert_eq!(plain(&open.fold), plain(&want));
            let history = block_on(fork.history(None, 9)).unwrap();
            assert_eq!(history.len(), 1);
            let Body::Origin(named) = &history[0].entry.body else { panic!("no origin") };
            assert_eq!((named.thread.as_str(), named.position), (origin.thread(), at));
        };
        assert_reads();
        script.assert_reads(None);
        assert!(block_on(store.delete(origin, None)).unwrap());
        assert_reads();
        assert!(block_on(store.delete(fork.thread(), None)).unwrap());
        let gone = script.log.fork(None, fork.thread(), AppendId(3), Timestamp(9));
        assert!(matches!(block_on(gone), Err(CheckpointError::NoSuchThread(_))));
    });
}

pub(crate) fn a_rewind_goes_back_and_keeps_what_it_leaves(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each((events(), any::<u8>(), events()), |(events, share, later)| {
        let mut script = Script::played(&store, &events);
        if script.end() == Position::START {
            return;
        }
        let (to, left) = (script.place(share).max(Position(1)), script.end());
        script.rewind(to);
        let mut then = plain(&script.folds[to.0 as usize]);
        // What is due is due anew, under the position of the rewind; what belonged to the tasks that were due is not.
        // A subgraph stays if it outlives its call, and so does every one around it; what it was at is over.
        let runs = then.runs.clone();
        let outlives = |path: &Namespace| runs[path].persistence == Persistence::PerThread;
        then.runs.retain(|path, _| {
            let around = std::iter::successors(Some(path.clone()), Namespace::parent);
            around
                .take_while(|path| !path.is_root())
                .all(|path| runs.contains_key(&path) && outlives(&path))
        });
        let since = block_on(script.log.history(None, 1)).unwrap()[0].entry.at;
        then.runs.iter_mut().for_each(|(path, run)| {
            if !path.is_root() && !run.frontier.is_done() {
                (run.frontier, run.paused) = (Default::default(), false);
            }
            // Whoever rewinds knows more than the runs that were lost.
            let takeovers = if path.is_root() { 0 } else { run.takeovers };
            *run = RunFold {
                turn: script.end(),
                since,
                takeovers,
                records: Default::default(),
                ..run.clone()
            };
        });
        let open = block_on(script.log.open(None)).unwrap().unwrap();
        assert_eq!(plain(&open.fold).runs, then.runs);
        script.assert_reads(Some(left));
        for event in &later {
            if let super::script::LogStep::Append(entries) = event {
                script.append(entries);
            }
        }
        script.assert_reads(None);
        script.assert_reads(Some(left));
        script.put_snapshot(script.end());
        script.assert_reads(None);
    });
}

pub(crate) fn a_position_that_is_not_in_the_log_is_named_and_no_damage(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    let script = super::damage::small(&store);
    let (log, end) = (&script.log, script.end());
    let told = |error: CheckpointError| match error {
        CheckpointError::NoSuchPosition { position, end, .. } => (position, end),
        error => panic!("{error}"),
    };
    for at in [end.next(), Position(u64::MAX)] {
        assert_eq!(told(block_on(log.open(Some(at))).unwrap_err()), (at, end));
        let rewound = block_on(log.rewind(at, None, AppendId(99), Timestamp(0)));
        assert_eq!(told(rewound.unwrap_err()), (at, end));
    }
    let to_the_start = block_on(log.rewind(Position::START, None, AppendId(99), Timestamp(0)));
    assert_eq!(told(to_the_start.unwrap_err()), (Position::START, end));
    script.assert_reads(None);
}
