//! The contract of a store, call by call.

use std::thread;

use bytes::Bytes;
use hanok_checkpoint::{
    Append, AppendId, CheckpointError, Checkpointer, Claim, Epoch, Guard, Head, Holder, Life,
    Opened, Record, Safety, Snapshots, Which,
};
use hanok_core::{Position, RunId, Tenant, ThreadKey, Timestamp};

use crate::block_on;

const ALL: usize = usize::MAX;

pub(super) fn key(tenant: &str, thread: &str) -> ThreadKey {
    ThreadKey::new(Tenant::new(tenant).unwrap(), thread).unwrap()
}

fn holder() -> Holder {
    Holder {
        host: "한옥 'host'".into(),
        boot: "b".into(),
        pid: u32::MAX,
        started: u64::MAX,
        instance: u128::MAX - 1,
    }
}

pub(super) fn claim(epoch: u64) -> Claim {
    Claim { run: RunId(u128::MAX), holder: holder(), epoch: Epoch(epoch), beat: Timestamp(1_000) }
}

/// An append of `texts` after `expected`. A store never looks into a record, so these are no entries.
pub(super) fn texts(id: u128, expected: u64, guard: Guard, texts: &[&str]) -> Append {
    let records = (expected + 1..).zip(texts);
    let records = records.map(|(at, text)| record(at, text)).collect();
    Append::new(AppendId(id), Position(expected), guard, records)
}

/// The head of a thread of no life, without a chain.
pub(super) fn head(position: u64, epoch: u64, claim: Option<Claim>) -> Head {
    let (life, position, floor) = (Life::default(), Position(position), Position::START);
    Head { life, position, floor, epoch: Epoch(epoch), claim, link: None, seal: None }
}

pub(super) fn record(at: u64, text: &str) -> Record {
    Record { position: Position(at), bytes: Bytes::copy_from_slice(text.as_bytes()) }
}

/// The threads of the tenant of `thread`.
pub(super) fn of_tenant(thread: &ThreadKey) -> Which {
    Which::Of(thread.tenant().clone())
}

pub(super) fn append(
    store: &impl Checkpointer,
    thread: &ThreadKey,
    it: Append,
) -> Result<(), String> {
    block_on(store.append(thread, it)).map_err(in_words)
}

/// An error in few words, to compare with.
pub(super) fn in_words(error: CheckpointError) -> String {
    match error {
        CheckpointError::Conflict { expected, actual, .. } => {
            format!("conflict {expected} {actual}")
        }
        CheckpointError::Fenced { expected, actual, .. } => format!("fenced {expected} {actual}"),
        CheckpointError::OtherLife { expected, actual, .. } => {
            let number = |life: Life| u128::from_be_bytes(life.to_bytes());
            format!("other life {} {}", number(expected), number(actual))
        }
        error => error.to_string(),
    }
}

pub(super) fn history(store: &impl Checkpointer, thread: &ThreadKey) -> Vec<Record> {
    let page = block_on(store.history(thread, None, ALL)).unwrap();
    page.map(|page| page.records).unwrap_or_default()
}

pub(super) fn opened(
    store: &impl Checkpointer,
    thread: &ThreadKey,
    at: Option<u64>,
    snapshots: Snapshots,
) -> (Option<(u64, String)>, Vec<u64>) {
    let opened = block_on(store.open(thread, at.map(Position), snapshots)).unwrap().unwrap();
    let Opened { snapshot, records, .. } = opened;
    let snapshot = snapshot.map(|(at, bytes)| (at.0, String::from_utf8(bytes.to_vec()).unwrap()));
    (snapshot, records.iter().map(|record| record.position.0).collect())
}

pub(crate) fn what_is_appended_is_read_back(store: impl Checkpointer) {
    let thread = key("t", "a");
    for (id, safety) in [(1, Safety::Process), (2, Safety::Machine), (3, Safety::Process)] {
        let at = 2 * (id as u64 - 1);
        let it = texts(id, at, Guard::Unclaimed, &["하나", ""]);
        append(&store, &thread, Append { safety, ..it }).unwrap();
    }
    let want = [(1, "하나"), (2, ""), (3, "하나"), (4, ""), (5, "하나"), (6, "")];
    let want = want.map(|(at, text)| record(at, text));
    let head = head(6, 0, None);

    for (at, upto) in [(None, 6), (Some(0), 0), (Some(1), 1), (Some(4), 4), (Some(6), 6)] {
        let opened = block_on(store.open(&thread, at.map(Position), Snapshots::Use));
        let opened = opened.unwrap().unwrap();
        assert_eq!(opened.head, head, "at {at:?}");
        assert_eq!(opened.snapshot, None);
        assert_eq!(opened.records, want[..upto], "at {at:?}");
    }
    assert_eq!(block_on(store.head(&thread)).unwrap(), Some(head));
    let newest_first: Vec<_> = want.iter().rev().cloned().collect();
    assert_eq!(history(&store, &thread), newest_first);
}

pub(crate) fn a_thread_without_a_record_is_not_there(store: impl Checkpointer) {
    let thread = key("t", "a");
    // Neither a refused append nor a snapshot makes a thread.
    append(&store, &thread, texts(1, 1, Guard::Unclaimed, &["a"])).unwrap_err();
    append(&store, &thread, texts(1, 0, Guard::Hold(Epoch(0)), &["a"])).unwrap_err();
    block_on(store.put_snapshot(&thread, Life::default(), Position(1), Bytes::from_static(b"s")))
        .unwrap();

    assert_eq!(block_on(store.head(&thread)).unwrap(), None);
    assert!(block_on(store.open(&thread, None, Snapshots::Use)).unwrap().is_none());
    assert!(block_on(store.open(&thread, Some(Position(3)), Snapshots::Use)).unwrap().is_none());
    assert_eq!(history(&store, &thread), []);
    assert_eq!(block_on(store.threads(of_tenant(&thread), None, ALL)).unwrap(), []);
    assert!(!block_on(store.delete(&thread, None)).unwrap());
}

pub(crate) fn of_two_appends_to_one_position_one_gets_a_conflict(store: impl Checkpointer) {
    let thread = key("t", "a");
    append(&store, &thread, texts(1, 0, Guard::Unclaimed, &["a", "b"])).unwrap();
    for (expected, want) in [(0, "conflict 0 2"), (1, "conflict 1 2"), (3, "conflict 3 2")] {
        let it = texts(2, expected, Guard::Unclaimed, &["lost", "lost"]);
        assert_eq!(append(&store, &thread, it), Err(want.to_owned()));
    }
    assert_eq!(history(&store, &thread), [record(2, "b"), record(1, "a")]);
    assert_eq!(
        append(&store, &key("t", "new"), texts(3, 1, Guard::Unclaimed, &["c"])),
        Err("conflict 1 0".to_owned())
    );
}

pub(crate) fn appends_from_many_threads_never_interleave(store: impl Checkpointer) {
    const EACH: usize = 25;
    let thread = key("t", "a");
    let write = |writer: usize| {
        for n in 0..EACH {
            let (id, text) = ((writer * EACH + n) as u128, format!("{writer} {n}"));
            loop {
                let head = block_on(store.head(&thread)).unwrap();
                let at = head.map_or(0, |head| head.position.0);
                // Two records each: nobody's stand between them.
                match append(&store, &thread, texts(id, at, Guard::Unclaimed, &[&text, &text])) {
                    Ok(()) => break,
                    Err(error) => assert!(error.starts_with("conflict"), "{error}"),
                }
            }
        }
    };
    thread::scope(|scope| (0..4).for_each(|writer| drop(scope.spawn(move || write(writer)))));

    let mut stored = history(&store, &thread);
    stored.reverse();
    let mut seen = Vec::new();
    for pair in stored.chunks(2) {
        assert_eq!(pair[0].bytes, pair[1].bytes);
        seen.push(String::from_utf8(pair[0].bytes.to_vec()).unwrap());
    }
    for writer in 0..4 {
        let of_writer: Vec<_> =
            seen.iter().filter(|text| text.starts_with(&format!("{writer} "))).collect();
        let want: Vec<_> = (0..EACH).map(|n| format!("{writer} {n}")).collect();
        assert_eq!(of_writer, want.iter().collect::<Vec<_>>());
    }
}

pub(crate) fn an_append_whose_answer_was_lost_is_stored_once(store: impl Checkpointer) {
    let thread = key("t", "a");
    let first = || texts(1, 0, Guard::Take(claim(1)), &["a", "b"]);
    let last = || texts(2, 2, Guard::Release(Epoch(1)), &["c"]);
    append(&store, &thread, first()).unwrap();
    append(&store, &thread, first()).unwrap();
    append(&store, &thread, last()).unwrap();
    // Others have appended since, and the claim is not what it was: it is found all the same.
    append(&store, &thread, texts(3, 3, Guard::Unclaimed, &["d"])).unwrap();
    for again in [first(), last()] {
        append(&store, &thread, Append { safety: Safety::Machine, ..again }).unwrap();
    }
    for again in [first(), last()] {
        append(&store, &thread, again).unwrap();
    }
    // The same position under another id, and the same id for another position, are others' appends.
    let other = Append { id: AppendId(9), ..first() };
    assert_eq!(append(&store, &thread, other), Err("conflict 0 4".to_owned()));
    let elsewhere = Append { expected: Position(2), ..first() };
    assert_eq!(append(&store, &thread, elsewhere), Err("conflict 2 4".to_owned()));

    let want = [(4, "d"), (3, "c"), (2, "b"), (1, "a")].map(|(at, text)| record(at, text));
    assert_eq!(history(&store, &thread), want);
}

pub(crate) fn an_append_without_the_claim_is_fenced(store: impl Checkpointer) {
    let thread = key("t", "a");
    let ok = || Ok(());
    let fenced = |expected: u64, actual: u64| Err(format!("fenced {expected} {actual}"));
    let mut at = 0;
    for (guard, want, case) in [
        (Guard::Hold(Epoch(0)), fenced(0, 0), "nobody has claimed it"),
        (Guard::Hold(Epoch(1)), fenced(1, 0), "that claim never was"),
        (Guard::Release(Epoch(0)), fenced(0, 0), "there is nothing to release"),
        (Guard::Take(claim(0)), fenced(0, 0), "a claim has a new epoch"),
        (Guard::Unclaimed, ok(), "nobody owns it"),
        (Guard::Take(claim(1)), ok(), "the first claim"),
        (Guard::Unclaimed, fenced(0, 1), "somebody owns it"),
        (Guard::Hold(Epoch(1)), ok(), "the claim holds"),
        (Guard::Hold(Epoch(2)), fenced(2, 1), "a later epoch"),
        (Guard::Take(claim(1)), fenced(1, 1), "that epoch is taken"),
        (Guard::Take(claim(2)), ok(), "a takeover"),
        (Guard::Hold(Epoch(1)), fenced(1, 2), "the old holder"),
        (Guard::Release(Epoch(1)), fenced(1, 2), "the old holder cannot release"),
        (Guard::Release(Epoch(2)), ok(), "the last append under the claim"),
        (Guard::Hold(Epoch(2)), fenced(2, 2), "it was released"),
        (Guard::Release(Epoch(2)), fenced(2, 2), "it was released already"),
        (Guard::Unclaimed, ok(), "nobody owns it again"),
        (Guard::Take(claim(2)), fenced(2, 2), "a released epoch is used up"),
        (Guard::Take(claim(3)), ok(), "the next run"),
    ] {
        let id = at as u128 + 1;
        let got = append(&store, &thread, texts(id, at, guard, &[case]));
        assert_eq!(got, want, "{case}");
        at += u64::from(got.is_ok());
        let stored = history(&store, &thread).len() as u64;
        assert_eq!(stored, at, "{case}");
    }
}

pub(crate) fn a_claim_and_its_beat_are_seen_in_the_head(store: impl Checkpointer) {
    let thread = key("t", "a");
    let head = |position, epoch, claim| Some(self::head(position, epoch, claim));
    let now = || block_on(store.head(&thread)).unwrap();

    append(&store, &thread, texts(1, 0, Guard::Take(claim(1)), &["a"])).unwrap();
    assert_eq!(now(), head(1, 1, Some(claim(1))));

    block_on(store.beat(&thread, Life::default(), Epoch(1), Timestamp(2_000))).unwrap();
    let beaten = || Some(Claim { beat: Timestamp(2_000), ..claim(1) });
    assert_eq!(now(), head(1, 1, beaten()));

    append(&store, &thread, texts(2, 1, Guard::Hold(Epoch(1)), &["b"])).unwrap();
    assert_eq!(now(), head(2, 1, beaten()));
    let listed = block_on(store.threads(of_tenant(&thread), None, ALL)).unwrap();
    assert_eq!(listed.first().map(|info| &info.head), now().as_ref());

    append(&store, &thread, texts(3, 2, Guard::Release(Epoch(1)), &["c"])).unwrap();
    assert_eq!(now(), head(3, 1, None));
    let opened = block_on(store.open(&thread, Some(Position(1)), Snapshots::Use)).unwrap();
    assert_eq!(opened.map(|opened| opened.head), now());
}

pub(crate) fn a_beat_without_the_claim_is_fenced(store: impl Checkpointer) {
    let thread = key("t", "a");
    let beat = |epoch| {
        block_on(store.beat(&thread, Life::default(), Epoch(epoch), Timestamp(2_000)))
            .map_err(in_words)
    };
    let fenced = |expected: u64, actual: u64| Err(format!("fenced {expected} {actual}"));

    assert_eq!(beat(0), fenced(0, 0), "there is no thread");
    append(&store, &thread, texts(1, 0, Guard::Unclaimed, &["a"])).unwrap();
    assert_eq!(beat(0), fenced(0, 0), "there is no claim");
    append(&store, &thread, texts(2, 1, Guard::Take(claim(1)), &["a"])).unwrap();
    assert_eq!(beat(2), fenced(2, 1), "another epoch");
    append(&store, &thread, texts(3, 2, Guard::Take(claim(2)), &["a"])).unwrap();
    assert_eq!(beat(1), fenced(1, 2), "it was taken over");
    append(&store, &thread, texts(4, 3, Guard::Release(Epoch(2)), &["a"])).unwrap();
    assert_eq!(beat(2), fenced(2, 2), "it was released");
}

pub(crate) fn a_page_of_history_is_newest_first(store: impl Checkpointer) {
    let thread = key("t", "a");
    append(&store, &thread, texts(1, 0, Guard::Unclaimed, &["a", "b", "c", "d"])).unwrap();
    for (before, limit, want) in [
        (None, ALL, &[4, 3, 2, 1][..]),
        (None, 2, &[4, 3]),
        (None, 0, &[]),
        (Some(5), 2, &[4, 3]),
        (Some(3), 9, &[2, 1]),
        (Some(3), 1, &[2]),
        (Some(1), 9, &[]),
        (Some(0), 9, &[]),
    ] {
        let page = block_on(store.history(&thread, before.map(Position), limit)).unwrap().unwrap();
        let page: Vec<_> = page.records.iter().map(|record| record.position.0).collect();
        assert_eq!(page, want, "before {before:?}, at most {limit}");
    }
}

pub(crate) fn a_read_begins_at_the_newest_snapshot_that_is_not_too_new(store: impl Checkpointer) {
    let (thread, other) = (key("t", "a"), key("t", "b"));
    for thread in [&thread, &other] {
        append(&store, thread, texts(1, 0, Guard::Unclaimed, &["a", "b", "c", "d", "e"])).unwrap();
    }
    let put = |at, text: &'static str| {
        block_on(store.put_snapshot(
            &thread,
            Life::default(),
            Position(at),
            Bytes::from_static(text.as_bytes()),
        ))
        .unwrap();
    };
    put(4, "four");
    // Late, and twice: neither changes what is read.
    put(2, "two");
    put(4, "other");
    for (at, snapshots, want) in [
        (None, Snapshots::Use, (Some((4, "four")), &[5][..])),
        (Some(5), Snapshots::Use, (Some((4, "four")), &[5])),
        (Some(4), Snapshots::Use, (Some((4, "four")), &[])),
        (Some(3), Snapshots::Use, (Some((2, "two")), &[3])),
        (Some(2), Snapshots::Use, (Some((2, "two")), &[])),
        (Some(1), Snapshots::Use, (None, &[1])),
        (Some(0), Snapshots::Use, (None, &[])),
        (None, Snapshots::Ignore, (None, &[1, 2, 3, 4, 5])),
        (Some(3), Snapshots::Ignore, (None, &[1, 2, 3])),
    ] {
        let (snapshot, records) = want;
        let want = (snapshot.map(|(at, text)| (at, text.to_owned())), records.to_vec());
        assert_eq!(opened(&store, &thread, at, snapshots), want, "at {at:?}, {snapshots:?}");
    }
    assert_eq!(opened(&store, &other, None, Snapshots::Use), (None, vec![1, 2, 3, 4, 5]));
}

pub(crate) fn deleting_a_thread_leaves_nothing_of_it_and_all_of_the_others(
    store: impl Checkpointer,
) {
    let (thread, others) = (key("t", "a"), [key("t", "b"), key("u", "a")]);
    for thread in [&thread, &others[0], &others[1]] {
        let it = texts(1, 0, Guard::Take(claim(1)), &["a", "b"]);
        append(&store, thread, it).unwrap();
        block_on(store.put_snapshot(
            thread,
            Life::default(),
            Position(1),
            Bytes::from_static(b"s"),
        ))
        .unwrap();
    }
    assert!(block_on(store.delete(&thread, None)).unwrap());
    assert!(!block_on(store.delete(&thread, None)).unwrap());

    assert_eq!(block_on(store.head(&thread)).unwrap(), None);
    assert_eq!(history(&store, &thread), []);
    // A new thread of that name begins at the beginning, with no snapshot and no epoch left.
    append(&store, &thread, texts(1, 0, Guard::Take(claim(1)), &["new"])).unwrap();
    assert_eq!(opened(&store, &thread, None, Snapshots::Use), (None, vec![1]));
    for other in &others {
        let want = (Some((1, "s".to_owned())), vec![2]);
        assert_eq!(opened(&store, other, None, Snapshots::Use), want);
        assert_eq!(history(&store, other).len(), 2);
    }
}
