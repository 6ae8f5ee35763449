//! Records, snapshots and threads that a store keeps, and those that it cuts off or deletes.

use bytes::Bytes;
use hanok_checkpoint::{Append, Checkpointer, Epoch, Guard, Life, Snapshots, Trim, Which};
use hanok_core::{Position, ThreadKey, Timestamp};

use super::contract::{append, claim, head, in_words, key, texts};
use crate::block_on;

const ALL: usize = usize::MAX;

fn trim(store: &impl Checkpointer, thread: &ThreadKey, floor: u64, base: &str) -> Trimmed {
    block_on(store.trim(thread, cut(floor, base))).map_err(in_words)
}

/// A cut of a thread of no life, wherever it is.
pub(super) fn cut(floor: u64, base: &str) -> Trim {
    let (floor, base) = (Position(floor), Bytes::copy_from_slice(base.as_bytes()));
    let (life, envelopes) = (Life::default(), Vec::new());
    Trim { life, floor, base, expected: None, envelopes, then: None }
}

type Trimmed = Result<(), String>;

/// A read in short: the base or snapshot, and the positions of the records.
fn read(
    store: &impl Checkpointer,
    thread: &ThreadKey,
    at: Option<u64>,
    snapshots: Snapshots,
) -> (Option<(u64, String)>, Vec<u64>) {
    let opened = block_on(store.open(thread, at.map(Position), snapshots)).unwrap().unwrap();
    let snapshot = opened.snapshot.map(|(at, bytes)| {
        (at.0, String::from_utf8(bytes.to_vec()).expect("the text that was put there"))
    });
    (snapshot, opened.records.iter().map(|record| record.position.0).collect())
}

fn base(at: u64, text: &str) -> Option<(u64, String)> {
    Some((at, text.to_owned()))
}

pub(super) fn what_is_cut_off_is_gone_and_what_follows_reads_from_the_base(
    store: impl Checkpointer,
) {
    let (thread, other) = (key("t", "a"), key("t", "b"));
    for thread in [&thread, &other] {
        append(&store, thread, texts(1, 0, Guard::Unclaimed, &["1", "2", "3", "4", "5"])).unwrap();
        for at in [2, 4] {
            let text = Bytes::from(format!("snapshot {at}"));
            block_on(store.put_snapshot(thread, Life::default(), Position(at), text)).unwrap();
        }
    }
    trim(&store, &thread, 3, "base").unwrap();

    assert_eq!(block_on(store.head(&thread)).unwrap().unwrap().floor, Position(3));
    assert_eq!(read(&store, &thread, None, Snapshots::Use), (base(4, "snapshot 4"), vec![5]));
    assert_eq!(read(&store, &thread, None, Snapshots::Ignore), (base(3, "base"), vec![4, 5]));
    assert_eq!(read(&store, &thread, Some(3), Snapshots::Use), (base(3, "base"), vec![]));
    assert_eq!(read(&store, &thread, Some(2), Snapshots::Use), (None, vec![]));
    let history = block_on(store.history(&thread, None, ALL)).unwrap().unwrap().records;
    assert_eq!(history.iter().map(|record| record.position.0).collect::<Vec<_>>(), [5, 4]);
    // What comes late for what is gone is not kept.
    block_on(store.put_snapshot(
        &thread,
        Life::default(),
        Position(1),
        Bytes::from_static(b"late"),
    ))
    .unwrap();
    block_on(store.put_snapshot(
        &thread,
        Life::default(),
        Position(3),
        Bytes::from_static(b"late"),
    ))
    .unwrap();
    assert_eq!(read(&store, &thread, Some(3), Snapshots::Use), (base(3, "base"), vec![]));
    assert_eq!(read(&store, &thread, Some(1), Snapshots::Use), (None, vec![]));
    // It goes on as any other.
    append(&store, &thread, texts(2, 5, Guard::Unclaimed, &["6"])).unwrap();
    append(&store, &thread, texts(2, 5, Guard::Unclaimed, &["6"])).unwrap();
    assert_eq!(read(&store, &thread, None, Snapshots::Ignore), (base(3, "base"), vec![4, 5, 6]));
    assert_eq!(
        read(&store, &other, None, Snapshots::Use),
        (base(4, "snapshot 4"), vec![5]),
        "the other thread is whole"
    );
    assert_eq!(read(&store, &other, None, Snapshots::Ignore), (None, vec![1, 2, 3, 4, 5]));
}

pub(super) fn a_floor_only_rises_and_never_above_the_head(store: impl Checkpointer) {
    let thread = key("t", "a");
    assert_eq!(trim(&store, &thread, 1, "x").unwrap_err(), "conflict 1 0");
    append(&store, &thread, texts(1, 0, Guard::Unclaimed, &["1", "2", "3"])).unwrap();
    assert_eq!(trim(&store, &thread, 4, "x").unwrap_err(), "conflict 4 3");
    trim(&store, &thread, 2, "two").unwrap();
    trim(&store, &thread, 1, "one").unwrap();
    trim(&store, &thread, 2, "again").unwrap();
    assert_eq!(read(&store, &thread, None, Snapshots::Use), (base(2, "two"), vec![3]));
    trim(&store, &thread, 3, "three").unwrap();
    assert_eq!(read(&store, &thread, None, Snapshots::Use), (base(3, "three"), vec![]));
    assert_eq!(block_on(store.head(&thread)).unwrap().unwrap().position, Position(3));
}

pub(super) fn a_cut_moves_no_head_unless_it_appends(store: impl Checkpointer) {
    let thread = key("t", "a");
    append(&store, &thread, texts(1, 0, Guard::Take(claim(1)), &["1", "2"])).unwrap();
    trim(&store, &thread, 1, "one").unwrap();
    // The run goes on.
    append(&store, &thread, texts(2, 2, Guard::Hold(Epoch(1)), &["3"])).unwrap();

    let with = |id, expected, guard| {
        let then = Some(texts(id, expected, guard, &["erased"]));
        let trim = Trim { then, ..cut(3, "three") };
        block_on(store.trim(&thread, trim)).map_err(in_words)
    };
    assert_eq!(with(3, 3, Guard::Unclaimed).unwrap_err(), "fenced 0 1");
    assert_eq!(with(3, 2, Guard::Hold(Epoch(1))).unwrap_err(), "conflict 2 3");
    let whole = (base(1, "one"), vec![2, 3]);
    assert_eq!(read(&store, &thread, None, Snapshots::Use), whole, "all or nothing");
    with(3, 3, Guard::Hold(Epoch(1))).unwrap();
    assert_eq!(read(&store, &thread, None, Snapshots::Use), (base(3, "three"), vec![4]));
}

pub(super) fn threads_are_listed_by_what_they_are(store: impl Checkpointer) {
    let plain = |id| texts(id, 0, Guard::Unclaimed, &["x"]);
    let of = |origin: &str| Append { origin: Some(origin.to_owned()), ..plain(1) };
    let until = |at| Append { expires: Some(Timestamp(at)), ..plain(1) };
    let held = Append { guard: Guard::Take(claim(1)), ..until(5) };
    for (tenant, thread, first) in [
        ("t", "a", plain(1)),
        ("t", "b", of("a")),
        ("t", "c", Append { guard: Guard::Take(claim(1)), ..of("b") }),
        ("u", "b", of("a")),
        ("u", "d", until(10)),
        ("u", "e", until(20)),
        ("u", "f", held),
    ] {
        append(&store, &key(tenant, thread), first).unwrap();
    }
    let list = |which: Which, after: Option<&ThreadKey>, limit| {
        let listed = block_on(store.threads(which, after, limit)).unwrap();
        let name = |key: &ThreadKey| format!("{}{}", key.tenant().as_str(), key.thread());
        listed.iter().map(|info| name(&info.thread)).collect::<Vec<_>>().join(" ")
    };
    for (which, want) in [
        (Which::All, "ta tb tc ub ud ue uf"),
        (Which::Of(key("t", "x").tenant().clone()), "ta tb tc"),
        (Which::ForksOf(key("t", "a")), "tb"),
        (Which::ForksOf(key("u", "a")), "ub"),
        (Which::ForksOf(key("t", "b")), "tc"),
        (Which::ForksOf(key("t", "c")), ""),
        (Which::Claimed, "tc uf"),
        (Which::Expired(Timestamp(4)), ""),
        (Which::Expired(Timestamp(10)), "ud"),
        (Which::Expired(Timestamp(99)), "ud ue"),
    ] {
        assert_eq!(list(which.clone(), None, ALL), want, "{which:?}");
    }
    assert_eq!(list(Which::All, Some(&key("t", "bb")), 3), "tc ub ud");
    assert_eq!(list(Which::Claimed, Some(&key("t", "c")), ALL), "uf");

    let info = |which| block_on(store.threads(which, None, 1)).unwrap().remove(0);
    assert_eq!(info(Which::ForksOf(key("t", "a"))).origin.as_deref(), Some("a"));
    assert_eq!(info(Which::Expired(Timestamp(10))).expires, Some(Timestamp(10)));
    // An append that says nothing of it leaves it as it was.
    append(&store, &key("u", "d"), texts(2, 1, Guard::Unclaimed, &["y"])).unwrap();
    assert_eq!(info(Which::Expired(Timestamp(10))).expires, Some(Timestamp(10)));
    let later = Append { expires: Some(Timestamp(30)), ..texts(3, 2, Guard::Unclaimed, &["z"]) };
    append(&store, &key("u", "d"), later).unwrap();
    assert_eq!(list(Which::Expired(Timestamp(20)), None, ALL), "ue");
}

pub(super) fn a_thread_is_deleted_only_where_it_is_expected(store: impl Checkpointer) {
    let thread = key("t", "a");
    append(&store, &thread, texts(1, 0, Guard::Unclaimed, &["1", "2"])).unwrap();
    let delete = |at| block_on(store.delete(&thread, Some(&head(at, 0, None)))).map_err(in_words);
    assert_eq!(delete(1).unwrap_err(), "conflict 1 2");
    assert_eq!(read(&store, &thread, None, Snapshots::Use), (None, vec![1, 2]));
    assert_eq!(delete(2), Ok(true));
    assert_eq!(delete(2), Ok(false));
}

pub(super) fn an_epoch_only_rises(store: impl Checkpointer) {
    let thread = key("t", "a");
    let take =
        |id, at, epoch| append(&store, &thread, texts(id, at, Guard::Take(claim(epoch)), &["x"]));
    take(1, 0, 7).unwrap();
    assert_eq!(take(2, 1, 7).unwrap_err(), "fenced 7 7");
    assert_eq!(take(2, 1, 3).unwrap_err(), "fenced 3 7");
    take(2, 1, 9).unwrap();
    let held = texts(3, 2, Guard::Hold(Epoch(7)), &["late"]);
    assert_eq!(append(&store, &thread, held).unwrap_err(), "fenced 7 9");
}

pub(super) fn a_follower_hears_of_what_others_append(store: impl Checkpointer) {
    let (thread, other) = (key("t", "a"), key("t", "b"));
    let beyond = |at| store.beyond(&thread, Position(at));
    block_on(async {
        // It waits, whatever happens elsewhere.
        let early = beyond(0);
        let mut early = std::pin::pin!(early);
        let nothing = tokio::time::timeout(std::time::Duration::from_millis(30), early.as_mut());
        assert!(nothing.await.is_err(), "nothing happened yet");
        store.append(&other, texts(1, 0, Guard::Unclaimed, &["x"])).await.unwrap();
        let (heard, appended) = tokio::join!(early, async {
            tokio::task::yield_now().await;
            store.append(&thread, texts(1, 0, Guard::Unclaimed, &["1", "2"])).await
        });
        appended.unwrap();
        assert_eq!(heard.unwrap(), Position(2));
        assert_eq!(beyond(1).await.unwrap(), Position(2), "what is there already is told at once");
        // Whoever stops to wait is no trouble to the others.
        drop(beyond(2));
        let (heard, appended) =
            tokio::join!(beyond(2), store.append(&thread, texts(2, 2, Guard::Unclaimed, &["3"])));
        appended.unwrap();
        assert_eq!(heard.unwrap(), Position(3));
    });
}
