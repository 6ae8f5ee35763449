//! Items for others.

use std::thread;

use bytes::Bytes;
use hanok_checkpoint::{Append, Checkpointer, Cursor, Epoch, Guard, OutboxItem, Outgoing};
use hanok_core::{Position, ThreadKey};

use super::contract::{append, claim, key, texts};
use crate::block_on;

const ALL: usize = usize::MAX;

/// An append of one record with items for others.
fn with(id: u128, at: u64, items: &[(&str, &str)]) -> Append {
    let outgoing = |(topic, item): &(&str, &str)| Outgoing {
        topic: (*topic).to_owned(),
        position: Position(at + 1),
        bytes: Bytes::copy_from_slice(item.as_bytes()),
    };
    Append {
        outbox: items.iter().map(outgoing).collect(),
        ..texts(id, at, Guard::Unclaimed, &["x"])
    }
}

fn items(store: &impl Checkpointer, consumer: &str, topic: &str, limit: usize) -> Vec<OutboxItem> {
    block_on(store.outbox(consumer, topic, limit)).unwrap()
}

fn joined(items: &[OutboxItem]) -> String {
    let texts = items.iter().map(|item| String::from_utf8_lossy(&item.bytes).into_owned());
    texts.collect::<Vec<_>>().join(" ")
}

fn advance(store: &impl Checkpointer, consumer: &str, topic: &str, to: Cursor) {
    block_on(store.advance(consumer, topic, to)).unwrap();
}

pub(super) fn items_for_others_come_with_their_append_or_not_at_all(store: impl Checkpointer) {
    let thread = key("t", "a");
    append(&store, &thread, with(1, 0, &[("memory", "m1"), ("hook", "h1")])).unwrap();
    // Its answer was lost: it is stored once.
    append(&store, &thread, with(1, 0, &[("memory", "m1"), ("hook", "h1")])).unwrap();
    append(&store, &thread, with(2, 0, &[("memory", "lost")])).unwrap_err();
    let late = Append { guard: Guard::Hold(Epoch(1)), ..with(3, 1, &[("memory", "fenced")]) };
    append(&store, &thread, late).unwrap_err();
    let taken = Append { guard: Guard::Take(claim(1)), ..with(4, 1, &[("memory", "m2")]) };
    append(&store, &thread, taken).unwrap();

    let memory = items(&store, "c", "memory", ALL);
    assert_eq!(joined(&memory), "m1 m2");
    let from = |item: usize| (&memory[item].thread, memory[item].position);
    assert_eq!(from(0), (&thread, Position(1)));
    assert_eq!(from(1), (&thread, Position(2)));
    assert_eq!(joined(&items(&store, "c", "hook", ALL)), "h1");
    assert_eq!(joined(&items(&store, "c", "nothing", ALL)), "");

    assert!(block_on(store.delete(&thread, None)).unwrap());
    assert_eq!(joined(&items(&store, "c", "memory", ALL)), "", "what is deleted is not handed out");
}

pub(super) fn items_are_handed_out_in_one_order_until_they_are_done(store: impl Checkpointer) {
    for (at, thread) in ["a", "b", "a", "c"].into_iter().enumerate() {
        let key = key(if thread == "c" { "u" } else { "t" }, thread);
        let expected = if at == 2 { 1 } else { 0 };
        append(&store, &key, with(at as u128, expected, &[("m", &at.to_string())])).unwrap();
    }
    advance(&store, "late", "m", Cursor::START);
    let all = items(&store, "c", "m", ALL);
    assert_eq!(joined(&all), "0 1 2 3");
    assert!(all.is_sorted_by(|one, next| one.cursor < next.cursor));
    assert_eq!(joined(&items(&store, "c", "m", 2)), "0 1");
    assert_eq!(joined(&items(&store, "c", "m", 2)), "0 1", "until they are done");
    advance(&store, "c", "m", all[1].cursor);
    assert_eq!(joined(&items(&store, "c", "m", ALL)), "2 3");
    advance(&store, "c", "m", all[0].cursor);
    assert_eq!(joined(&items(&store, "c", "m", ALL)), "2 3", "what is done stays done");
    assert_eq!(joined(&items(&store, "late", "m", ALL)), "0 1 2 3", "another has its own place");
    advance(&store, "late", "m", all[2].cursor);
    assert_eq!(joined(&items(&store, "late", "m", ALL)), "3");
    // Nobody who is known needs the first two any more: they are gone.
    assert_eq!(joined(&items(&store, "new", "m", ALL)), "2 3");
    advance(&store, "c", "m", all[3].cursor);
    append(&store, &key("t", "z"), with(9, 0, &[("m", "4")])).unwrap();
    assert_eq!(joined(&items(&store, "c", "m", ALL)), "4", "later items come later");
}

pub(super) fn topics_and_consumers_are_data(store: impl Checkpointer) {
    let names = ["m", "M", "m%", "m_", "m'; DROP TABLE outbox; --", "\"m\"", "m\\", "기억", "m.x"];
    for (at, topic) in (0..).zip(names) {
        append(&store, &key("t", &format!("{at}")), with(1, 0, &[(topic, topic)])).unwrap();
    }
    for (consumer, topic) in names.iter().flat_map(|it| names.map(|topic| (*it, topic))) {
        advance(&store, consumer, topic, Cursor::START);
    }
    for consumer in names {
        for topic in names {
            let found = items(&store, consumer, topic, ALL);
            assert_eq!(joined(&found), topic, "{consumer:?} reads {topic:?}");
        }
        advance(&store, consumer, consumer, Cursor(u128::MAX >> 1));
        assert_eq!(joined(&items(&store, consumer, consumer, ALL)), "");
    }
}

pub(super) fn items_of_many_writers_are_handed_out_once_each_in_order(store: impl Checkpointer) {
    const WRITERS: usize = 4;
    const EACH: u64 = 10;
    let store = &store;
    let write = |thread: &ThreadKey, writer: usize| {
        for at in 0..EACH {
            append(store, thread, with(u128::from(at), at, &[("m", &format!("{writer}:{at}"))]))
                .unwrap();
        }
    };
    let mut seen: Vec<String> = Vec::new();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let write = &write;
            scope.spawn(move || write(&key("t", &format!("w{writer}")), writer));
        }
        // Read while they write: whatever is handed out is done, so what appeared behind it would be lost.
        while seen.len() < WRITERS * EACH as usize {
            let page = items(store, "c", "m", 7);
            seen.extend(page.iter().map(|item| joined(std::slice::from_ref(item))));
            if let Some(last) = page.last() {
                advance(store, "c", "m", last.cursor);
            }
        }
    });
    for writer in 0..WRITERS {
        let prefix = format!("{writer}:");
        let of = seen.iter().filter(|item| item.starts_with(&prefix));
        let want: Vec<_> = (0..EACH).map(|at| format!("{writer}:{at}")).collect();
        assert_eq!(of.cloned().collect::<Vec<_>>(), want);
    }
    assert_eq!(items(store, "c", "m", ALL), []);
}
