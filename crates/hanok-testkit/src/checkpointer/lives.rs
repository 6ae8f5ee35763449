//! The lives of a thread, the chain of its records, and its labels.

use bytes::Bytes;
use hanok_checkpoint::{
    Append, AppendId, Base, Body, Chain, CheckpointError, Checkpointer, Codec, DEADLINE, Entry,
    Epoch, Forks, Guard, Head, HeadSeal, Life, Link, Log, Opened, Record, SharedCheckpointer,
    Snapshots, Tip, Trim, Which, deadline_label,
};
use hanok_core::{Position, Timestamp};

use super::{
    contract::{append, claim, head, in_words, key, of_tenant, texts},
    logs::each,
    retained::cut,
    script::{Script, events},
};
use crate::block_on;

const ALL: usize = usize::MAX;

fn of(life: u128, append: Append) -> Append {
    Append { life: Life::new(life), ..append }
}

pub(super) fn what_belongs_to_another_life_is_refused(store: impl Checkpointer) {
    let thread = key("t", "a");
    let begin = |life: u128| {
        let first = texts(life, 0, Guard::Take(claim(1)), &["1", "2"]);
        append(&store, &thread, of(life, first)).unwrap();
    };
    begin(7);
    let before = block_on(store.head(&thread)).unwrap().unwrap();
    assert_eq!(before.life, Life::new(7));
    assert!(block_on(store.delete(&thread, None)).unwrap());
    begin(8);
    let now = block_on(store.head(&thread)).unwrap().unwrap();
    // The thread is where it was before, claimed under the same epoch: only the life tells them apart.
    assert_eq!(Head { life: Life::new(7), ..now.clone() }, before);
    let refused = Err("other life 7 8".to_owned());

    let late = || texts(9, 2, Guard::Hold(Epoch(1)), &["late"]);
    assert_eq!(append(&store, &thread, of(7, late())), refused);
    let takes = texts(9, 2, Guard::Take(claim(2)), &["late"]);
    assert_eq!(append(&store, &thread, of(7, takes)), refused);
    // What an earlier life stored does not stand here, under whatever id.
    let again = texts(8, 1, Guard::Hold(Epoch(1)), &["2"]);
    assert_eq!(append(&store, &thread, of(7, again)), refused);
    let again = texts(8, 0, Guard::Take(claim(1)), &["1", "2"]);
    assert_eq!(append(&store, &thread, of(7, again)), Err("conflict 0 2".to_owned()));
    let snapshot =
        store.put_snapshot(&thread, Life::new(7), Position(1), Bytes::from_static(b"late"));
    assert_eq!(block_on(snapshot).map_err(in_words), refused);
    let beat = store.beat(&thread, Life::new(7), Epoch(1), Timestamp(9));
    assert_eq!(block_on(beat).map_err(in_words), refused);
    let trim = Trim { life: Life::new(7), ..cut(1, "late") };
    assert_eq!(block_on(store.trim(&thread, trim)).map_err(in_words), refused);
    assert_eq!(
        block_on(store.delete(&thread, Some(&before))).map_err(in_words),
        refused.map(|()| true)
    );

    let opened = block_on(store.open(&thread, None, Snapshots::Use)).unwrap().unwrap();
    assert_eq!((&opened.head, opened.snapshot, opened.records.len()), (&now, None, 2));
    append(&store, &thread, of(8, late())).unwrap();
    assert!(block_on(store.delete(&thread, Some(&Head { position: Position(3), ..now }))).unwrap());
}

pub(super) fn a_head_holds_the_newest_link_and_its_seal(store: impl Checkpointer) {
    let thread = key("t", "a");
    let marked = |it: Append, byte: u8| Append {
        link: Some(Link([byte; 32])),
        seal: Some(HeadSeal([byte + 1; 32])),
        updated: Some(Timestamp(u64::from(byte))),
        ..it
    };
    append(&store, &thread, marked(texts(1, 0, Guard::Unclaimed, &["a"]), 1)).unwrap();
    append(&store, &thread, marked(texts(2, 1, Guard::Unclaimed, &["b"]), 7)).unwrap();
    // What is refused, or stands there already, changes nothing.
    append(&store, &thread, marked(texts(3, 1, Guard::Unclaimed, &["c"]), 9)).unwrap_err();
    append(&store, &thread, marked(texts(1, 0, Guard::Unclaimed, &["a"]), 9)).unwrap();
    let (link, seal) = (Some(Link([7; 32])), Some(HeadSeal([8; 32])));
    let want = Head { link, seal, ..head(2, 0, None) };
    assert_eq!(block_on(store.head(&thread)).unwrap().as_ref(), Some(&want));
    let [info] = &block_on(store.threads(Which::All, None, ALL)).unwrap()[..] else {
        panic!("one thread")
    };
    assert_eq!((&info.head, info.updated), (&want, Some(Timestamp(7))));
}

pub(super) fn a_log_may_begin_at_a_floor(store: impl Checkpointer) {
    let thread = key("t", "a");
    let first = || Append {
        records: vec![Record { position: Position(1 << 40).next(), bytes: "x".into() }],
        base: Some(Base { floor: Position(1 << 40), bytes: Bytes::from_static(b"base") }),
        ..texts(1, 0, Guard::Unclaimed, &[])
    };
    append(&store, &thread, first()).unwrap();
    append(&store, &thread, first()).unwrap();
    let Opened { head, snapshot, records } =
        block_on(store.open(&thread, None, Snapshots::Use)).unwrap().unwrap();
    assert_eq!((head.floor, head.position), (Position(1 << 40), Position((1 << 40) + 1)));
    assert_eq!(snapshot, Some((Position(1 << 40), Bytes::from_static(b"base"))));
    assert_eq!(records.len(), 1);
    append(&store, &thread, texts(2, (1 << 40) + 1, Guard::Unclaimed, &["y"])).unwrap();
    let page = block_on(store.history(&thread, None, ALL)).unwrap().unwrap();
    assert_eq!(page.records.len(), 2);
}

pub(super) fn what_is_left_of_erased_records_stands_in_the_history_alone(store: impl Checkpointer) {
    let thread = key("t", "a");
    append(&store, &thread, texts(1, 0, Guard::Unclaimed, &["1", "2", "3"])).unwrap();
    let envelope = |at, text: &str| Record {
        position: Position(at),
        bytes: Bytes::copy_from_slice(text.as_bytes()),
    };
    let envelopes = vec![envelope(1, "i"), envelope(2, "ii")];
    block_on(store.trim(&thread, Trim { envelopes, ..cut(2, "base") })).unwrap();
    let page = |before: Option<u64>, limit| {
        let page = block_on(store.history(&thread, before.map(Position), limit)).unwrap().unwrap();
        let texts = page.records.iter().map(|it| String::from_utf8(it.bytes.to_vec()).unwrap());
        texts.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        (page(None, ALL), page(Some(3), 1), page(Some(2), 9)),
        ("3 ii i".into(), "ii".into(), "i".into())
    );
    for snapshots in [Snapshots::Use, Snapshots::Ignore] {
        let opened = block_on(store.open(&thread, None, snapshots)).unwrap().unwrap();
        assert_eq!(opened.records, [envelope(3, "3")], "{snapshots:?}");
    }
    // Another cut takes them away.
    block_on(store.trim(&thread, cut(3, "later"))).unwrap();
    assert_eq!(page(None, ALL), "");
}

pub(super) fn threads_that_wait_are_listed_by_their_deadline(store: impl Checkpointer) {
    for (tenant, name, deadline) in
        [("t", "a", Some(90)), ("t", "b", Some(1_000)), ("t", "c", None), ("u", "a", Some(7))]
    {
        let deadline = deadline.map(|deadline| deadline_label(Timestamp(deadline)));
        let labels = vec![("other".to_owned(), Some("0".to_owned())), (DEADLINE.into(), deadline)];
        let waiting = Append { labels, ..texts(1, 0, Guard::Unclaimed, &["a"]) };
        append(&store, &key(tenant, name), waiting).unwrap();
    }
    let listed = |now| {
        let listed = block_on(store.threads(Which::Waiting(Timestamp(now)), None, ALL)).unwrap();
        listed.iter().map(|info| info.thread.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!([6, 7, 89, 90, 999].map(listed), ["", "u/a", "u/a", "t/a u/a", "t/a u/a"]);
    assert_eq!([1_000, u64::MAX].map(listed), ["t/a t/b u/a"; 2]);
    let answered =
        Append { labels: vec![(DEADLINE.into(), None)], ..texts(2, 1, Guard::Unclaimed, &["b"]) };
    append(&store, &key("t", "a"), answered).unwrap();
    assert_eq!(listed(1_000), "t/b u/a");
}

pub(super) fn labels_change_with_an_append_or_not_at_all(store: impl Checkpointer) {
    let thread = key("t", "a");
    let labelled = |it: Append, labels: &[(&str, Option<&str>)]| Append {
        labels: labels.iter().map(|(name, to)| ((*name).into(), to.map(str::to_owned))).collect(),
        ..it
    };
    let status = || Which::Labelled {
        tenant: thread.tenant().clone(),
        name: "status".into(),
        value: "한 '옥'".into(),
    };
    let listed = |which: Which| {
        let listed = block_on(store.threads(which, None, ALL)).unwrap();
        let text = |info: &hanok_checkpoint::ThreadInfo| {
            let labels = info.labels.iter().map(|(name, value)| format!(" {name}={value}"));
            info.thread.thread().to_owned() + &labels.collect::<String>()
        };
        listed.iter().map(text).collect::<Vec<_>>().join(", ")
    };
    let labels = [("status", Some("한 '옥'")), ("graph", Some("g"))];
    append(&store, &thread, labelled(texts(1, 0, Guard::Unclaimed, &["a"]), &labels)).unwrap();
    append(&store, &key("t", "b"), labelled(texts(1, 0, Guard::Unclaimed, &["a"]), &labels[1..]))
        .unwrap();
    append(&store, &key("u", "c"), labelled(texts(1, 0, Guard::Unclaimed, &["a"]), &labels))
        .unwrap();
    assert_eq!(listed(status()), "a graph=g status=한 '옥'");
    assert_eq!(listed(of_tenant(&thread)), "a graph=g status=한 '옥', b graph=g");

    let refused = labelled(texts(2, 0, Guard::Unclaimed, &["b"]), &[("graph", None)]);
    append(&store, &thread, refused).unwrap_err();
    assert_eq!(listed(status()), "a graph=g status=한 '옥'");
    let changed = [("status", Some("done")), ("graph", None), ("new", Some(""))];
    append(&store, &thread, labelled(texts(2, 1, Guard::Unclaimed, &["b"]), &changed)).unwrap();
    assert_eq!(listed(status()), "");
    assert_eq!(listed(of_tenant(&thread)), "a new= status=done, b graph=g");
    assert!(block_on(store.delete(&thread, None)).unwrap());
    append(&store, &thread, texts(1, 0, Guard::Unclaimed, &["a"])).unwrap();
    assert_eq!(listed(of_tenant(&thread)), "a, b graph=g");
}

pub(super) fn the_chain_of_a_log_leads_to_its_head(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    each((events(), proptest::bool::ANY, proptest::bool::ANY), |(events, cut, erase)| {
        let mut script = Script::played(&store, &events);
        if script.end() == Position::START {
            return;
        }
        let mut from = Position::START;
        if cut {
            let floor = block_on(script.log.prune(hanok_checkpoint::Keep::Last(2))).unwrap();
            from = floor.unwrap_or_default();
        }
        let chain = |log: &Log| block_on(log.verify()).unwrap().unwrap().chain;
        assert_eq!(chain(&script.log), Chain::Holds(from));
        if erase {
            let opened = block_on(script.log.open(None)).unwrap().unwrap();
            let rewritten =
                script.log.rewrite(&opened.head, opened.fold, "me", AppendId(99), Timestamp(5));
            block_on(rewritten).unwrap();
            // What was erased still has its place in the chain.
            assert_eq!(chain(&script.log), Chain::Holds(from));
        }
        let copy = Log::new(store.clone(), key("script", "copy"));
        block_on(script.log.copy(copy.thread(), AppendId(5), Timestamp(5))).unwrap();
        if store.is_chained() {
            assert!(matches!(chain(&copy), Chain::Holds(_)));
        }
        block_on(copy.erase_thread(Forks::Too)).unwrap();
        script.tip = Tip::of(&block_on(store.head(script.log.thread())).unwrap().unwrap());
    });
}

pub(super) fn a_record_that_somebody_made_anew_breaks_the_chain(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    let script = super::damage::small(&store);
    let whole = script.records();
    for (n, entry) in script.entries.iter().enumerate() {
        let mut tip = Tip { position: entry.parent, ..Tip::new(script.tip.life, true) };
        let changed = Entry { at: Timestamp(entry.entry.at.0 + 1), ..entry.entry.clone() };
        // The checksum fits, and the record reads.
        let record = tip.push(&Codec::default(), script.log.thread(), entry.parent, &changed);
        script.replace(super::damage::with(&whole, n, record.unwrap().bytes));
        let found = block_on(script.log.verify()).unwrap().unwrap();
        assert_eq!(found.damage, None);
        assert_eq!((found.chain, found.is_whole()), (Chain::Broken(script.end()), false), "{n}");
    }
    // A tail that was cut off, with the head put back: the link is that of another record.
    script.replace(whole[..3].to_vec());
    let cut = block_on(script.log.verify()).unwrap().unwrap();
    assert_eq!((cut.damage, cut.chain), (None, Chain::Broken(Position(3))));
}

pub(super) fn a_fork_and_a_copy_say_which_log_they_come_from(store: impl Checkpointer) {
    let store = SharedCheckpointer::new(store);
    let script = super::damage::small(&store);
    let log = &script.log;
    let fork = Log::new(store.clone(), key("damage", "fork"));
    block_on(log.fork(Some(Position(2)), fork.thread(), AppendId(21), Timestamp(1))).unwrap();
    let copy = Log::new(store.clone(), key("damage", "copy"));
    block_on(log.copy(copy.thread(), AppendId(22), Timestamp(1))).unwrap();
    for (log, life) in [(&fork, 21), (&copy, 22)] {
        let ancestor = block_on(log.ancestor()).unwrap().expect("where it comes from");
        assert_eq!((ancestor.life, ancestor.link), (script.tip.life, script.tip.link));
        let head = block_on(store.head(log.thread())).unwrap().unwrap();
        assert_eq!(head.life, Life::new(life));
        // A state that was remembered of one is none of another, wherever both are.
        let late = log.put_snapshot(script.tip.life, &script.folds[3]);
        assert!(matches!(block_on(late), Err(CheckpointError::OtherLife { .. })));
    }
    assert_eq!(block_on(log.ancestor()).unwrap(), None);
    let body = &block_on(copy.history(None, 1)).unwrap()[0].entry.body;
    assert!(matches!(body, Body::Copied(_)));
}
