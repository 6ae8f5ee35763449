//! Writes, batches and their versions.

use std::thread;

use hanok_checkpoint::{
    Batch, Expect, FieldPath, Filter, Item, Namespaces, Put, Read, SharedStore, Store, Version,
    Within, Write, Written,
};
use hanok_core::{Stored, Timestamp};

use super::fixture::*;
use crate::block_on;

pub(crate) fn what_is_put_is_read_back(store: SharedStore) {
    let at = At(&store, NOW);
    let list = Json::List(vec![Json::Nil(()), Json::Bool(true), 1.5.into(), "한옥".into()]);
    for (n, value) in [
        map([("a", map([("b", list)])), ("", 7.into())]),
        Json::Nil(()),
        "글".into(),
        i64::MIN.into(),
        map([]),
    ]
    .into_iter()
    .enumerate()
    {
        let key = key("a/b", &n.to_string());
        assert_eq!(block_on(store.get(&key, NOW)).unwrap(), None);
        let value = stored(value);
        let version = at.put(&key, Put::new(value.clone())).unwrap();
        let item = block_on(store.get(&key, NOW)).unwrap();
        let (created, updated) = (NOW, NOW);
        let want = Item { key, value, version, created, updated, ttl: None, expires: None };
        assert_eq!(item, Some(want));
    }
    let (there, never) = (key("a/b", "0"), key("a/b", "never"));
    for (key, was_there) in [(&there, true), (&there, false), (&never, false)] {
        assert_eq!(block_on(store.remove(key, Expect::Any, NOW)).unwrap(), was_there);
        assert_eq!(at.shown(key), None);
    }
    assert_eq!(at.shown(&key("a/b", "2")).as_deref(), Some("\"글\""));
    assert_eq!(at.batch(Batch::default()), Ok(Default::default()));
}

pub(crate) fn a_value_of_any_depth_is_kept_and_harms_nothing(store: SharedStore) {
    let at = At(&store, NOW);
    // A map in a map in a map, and lists, as no JSON reader would take them.
    for (name, level) in [("map", &[0x81, 0xa1, b'a'][..]), ("list", &[0x91])] {
        let deep = [level.repeat(100_000), vec![0xa1, b'x']].concat();
        let value = Stored::from_bytes(deep).unwrap();
        at.put(&key("a", name), Put::new(value.clone())).unwrap();
        let item = block_on(store.get(&key("a", name), NOW)).unwrap().unwrap();
        assert!(item.value == value, "{name}");
        let this = Filter::And(vec![
            Filter::Exists("a".into()),
            Filter::Not(Box::new(Filter::Eq(FieldPath::default(), value))),
        ]);
        let found = at.keys(&within("a").filter(this));
        assert_eq!(found, ["map"], "{name}");
        at.hits(&within("a").text("x"));
    }
}

pub(crate) fn an_item_keeps_when_it_was_first_put(store: SharedStore) {
    let key = key("a", "x");
    let times = |item: Option<Item>| item.map(|item| (item.created.0, item.updated.0));
    for (now, want) in [(5, (5, 5)), (9, (5, 9)), (7, (5, 7))] {
        block_on(store.put(&key, put("v"), Timestamp(now))).unwrap();
        assert_eq!(times(block_on(store.get(&key, NOW)).unwrap()), Some(want));
    }
    block_on(store.remove(&key, Expect::Any, NOW)).unwrap();
    block_on(store.put(&key, put("v"), Timestamp(11))).unwrap();
    assert_eq!(times(block_on(store.get(&key, NOW)).unwrap()), Some((11, 11)));
}

pub(crate) fn of_two_writers_of_one_version_one_gets_a_conflict(store: SharedStore) {
    let (at, key) = (At(&store, NOW), key("a", "x"));
    let expect = |expect| put("other").only_if(expect);
    let there = || Err("conflict x true".to_owned());
    let gone = || Err("conflict x false".to_owned());

    assert_eq!(at.put(&key, expect(Expect::Version(Version(1)))), gone());
    let first = at.put(&key, put("first").only_if(Expect::Absent)).unwrap();
    assert_eq!(at.put(&key, expect(Expect::Absent)), there());
    let second = at.put(&key, put("second").only_if(Expect::Version(first))).unwrap();
    assert_eq!(at.put(&key, expect(Expect::Version(first))), there());
    assert_eq!(at.put(&key, expect(Expect::Version(Version(u64::MAX)))), there());
    let remove = |expect| block_on(store.remove(&key, expect, NOW)).map_err(in_words);
    assert_eq!(remove(Expect::Version(first)), Err("conflict x true".to_owned()));
    assert_eq!(remove(Expect::Absent), Err("conflict x true".to_owned()));
    assert_eq!(at.shown(&key).as_deref(), Some("\"second\""));
    assert_eq!(remove(Expect::Version(second)), Ok(true));
    assert_eq!(remove(Expect::Version(second)), Err("conflict x false".to_owned()));
    assert_eq!(remove(Expect::Absent), Ok(false));
}

pub(crate) fn a_version_never_comes_twice(store: SharedStore) {
    let at = At(&store, NOW);
    let mut last = None;
    for name in ["x", "y", "x", "z", "x"] {
        let key = key("a", name);
        let version = at.put(&key, put("v")).unwrap();
        assert!(last < Some(version), "{last:?} {version:?}");
        last = Some(version);
        // Who knew the item before it was removed does not take the new one for it.
        block_on(store.remove(&key, Expect::Version(version), NOW)).unwrap();
        let anew = at.put(&key, put("anew")).unwrap();
        assert!(last < Some(anew), "{last:?} {anew:?}");
        last = Some(anew);
    }
}

pub(crate) fn many_writers_lose_no_update(store: SharedStore) {
    const EACH: i64 = 25;
    let key = key("a", "count");
    let count = |value: &Stored| value.decode::<i64>().unwrap();
    let add_one = || {
        loop {
            let item = block_on(store.get(&key, NOW)).unwrap();
            let (expect, n) = item.map_or((Expect::Absent, 0), |item| {
                (Expect::Version(item.version), count(&item.value))
            });
            match At(&store, NOW).put(&key, put(n + 1).only_if(expect)) {
                Ok(_) => break,
                Err(error) => assert!(error.starts_with("conflict"), "{error}"),
            }
        }
    };
    thread::scope(|scope| {
        (0..4).for_each(|_| drop(scope.spawn(|| (0..EACH).for_each(|_| add_one()))));
    });
    let item = block_on(store.get(&key, NOW)).unwrap().unwrap();
    assert_eq!(count(&item.value), 4 * EACH);
}

pub(crate) fn transfers_in_opposite_orders_lose_nothing_and_all_end(store: SharedStore) {
    const EACH: i64 = 4;
    let at = At(&store, NOW);
    let keys = ["x", "y", "z"].map(|name| key("a", name));
    let count = |item: Option<Item>| item.unwrap().value.decode::<i64>().unwrap();
    for key in &keys {
        at.put(key, put(0)).unwrap();
    }
    // Writer `n` moves one from a counter to the next, in the order of the keys or in the opposite one.
    let move_one = |n: usize| {
        let mut changes = [(&keys[n % 3], -1), (&keys[(n + 1) % 3], 1)];
        if n % 2 == 1 {
            changes.reverse();
        }
        loop {
            let reads = changes.map(|(key, _)| Read::new(key.clone())).to_vec();
            let items = at.batch(Batch { reads, ..Batch::default() }).unwrap().items;
            let change = |((key, by), item): ((_, i64), Option<Item>)| {
                let version = item.as_ref().unwrap().version;
                write(key, put(count(item) + by).only_if(Expect::Version(version)))
            };
            match at.write(changes.into_iter().zip(items).map(change).collect()) {
                Ok(_) => break,
                Err(error) => assert!(error.starts_with("conflict"), "{error}"),
            }
        }
    };
    thread::scope(|scope| {
        let move_one = &move_one;
        (0..16).for_each(|n| drop(scope.spawn(move || (0..EACH).for_each(|_| move_one(n)))));
    });
    let counts = keys.map(|key| count(block_on(store.get(&key, NOW)).unwrap()));
    // Six writers take from the first counter, five from each of the others.
    assert_eq!(counts, [-EACH, EACH, 0]);
}

pub(crate) fn a_batch_is_made_as_a_whole_or_not_at_all(store: SharedStore) {
    let at = At(&store, NOW);
    let (a, b, c) = (key("a", "a"), key("a/b", "b"), key("c", "c"));
    let version = at.put(&a, put("a")).unwrap();
    at.put(&c, put("c").vector(vector(&[1.0, 0.0]))).unwrap();

    let refused = |n| match n {
        0 => write(&b, put("b").only_if(Expect::Version(version))),
        1 => removal(&c, Expect::Absent),
        _ => write(&b, put("b").vector(vector(&[1.0]))),
    };
    for (n, want) in ["conflict b false", "conflict c true", "dimensions 2 1"].iter().enumerate() {
        for first in [true, false] {
            let mut writes = vec![
                write(&a, put("lost")),
                Write::Put(key("new", "n"), put("lost")),
                removal(&c, Expect::Any),
            ];
            // A vector that is removed no longer says how long they are.
            if want.starts_with("dimensions") {
                writes.pop();
            }
            writes.insert(if first { 0 } else { writes.len() }, refused(n));
            assert_eq!(at.write(writes), Err((*want).to_owned()));
            assert_eq!(at.keys(&everywhere()), ["a", "c"]);
            assert_eq!(at.shown(&a).as_deref(), Some("\"a\""));
        }
    }
    let writes = vec![
        write(&a, put("kept").only_if(Expect::Version(version))),
        Write::Put(b, put("b").only_if(Expect::Absent)),
        Write::Remove(c, Expect::Any),
    ];
    at.write(writes).unwrap();
    assert_eq!(at.keys(&everywhere()), ["a", "b"]);
    assert_eq!(at.shown(&a).as_deref(), Some("\"kept\""));
}

pub(crate) fn of_several_writes_of_one_item_the_last_counts_and_reads_see_what_was_before(
    store: SharedStore,
) {
    let at = At(&store, NOW);
    let (a, b, c) = (key("a", "a"), key("a", "b"), key("a", "c"));
    let old = at.put(&a, put("old")).unwrap();
    let batch = Batch {
        reads: [&a, &b, &c, &a].map(|key| Read::new(key.clone())).to_vec(),
        writes: vec![
            write(&b, put("b")),
            write(&a, put("lost 잃은").vector(vector(&[1.0, 0.0]))),
            removal(&b, Expect::Any),
            // What it expects was there before the batch, whatever stands above.
            write(&a, put("new").only_if(Expect::Version(old))),
            removal(&c, Expect::Any),
            write(&c, put("c").only_if(Expect::Absent)),
        ],
        ..Batch::default()
    };
    let done = at.batch(batch).unwrap();

    let read: Vec<_> =
        done.items.iter().map(|item| item.as_ref().map(|item| item.value.to_string())).collect();
    assert_eq!(read, [Some("\"old\"".to_owned()), None, None, Some("\"old\"".to_owned())]);
    let after = |key| block_on(store.get(key, NOW)).unwrap().map(|item| item.version);
    assert!(after(&a) > Some(old));
    let of_a = Written { before: Some(old), after: after(&a) };
    let of_b = Written { before: None, after: None };
    let of_c = Written { before: None, after: after(&c) };
    assert_eq!(done.written, [of_b, of_a, of_b, of_a, of_c, of_c]);
    assert_eq!(
        [&a, &b, &c].map(|key| at.shown(key)),
        [Some("\"new\"".to_owned()), None, Some("\"c\"".to_owned())]
    );
    // Nothing of the write that did not count is left in an index.
    assert_eq!(at.keys(&within("a").text("잃은")), [""; 0]);
    assert_eq!(at.keys(&within("a").vector(vector(&[1.0, 0.0]))), [""; 0]);
}

pub(crate) fn what_is_removed_or_replaced_is_found_by_nothing(store: SharedStore) {
    let at = At(&store, NOW);
    let everything = || {
        let searches = [
            within("a"),
            within("a").text("비밀번호"),
            within("a").vector(vector(&[1.0, 0.0])),
            within("a").text("비밀번호").vector(vector(&[1.0, 0.0])),
        ];
        searches.map(|search| at.keys(&search).join(" "))
    };
    let secret = || put("내 비밀번호는").vector(vector(&[1.0, 0.0]));
    for name in ["kept", "removed", "replaced"] {
        at.put(&key("a/b", name), secret()).unwrap();
    }
    assert_eq!(everything(), ["kept removed replaced"; 4]);
    block_on(store.remove(&key("a/b", "removed"), Expect::Any, NOW)).unwrap();
    at.put(&key("a/b", "replaced"), put("다른 말")).unwrap();
    assert_eq!(everything(), ["kept replaced", "kept", "kept", "kept"]);

    block_on(store.remove(&key("a/b", "kept"), Expect::Any, NOW)).unwrap();
    block_on(store.remove(&key("a/b", "replaced"), Expect::Any, NOW)).unwrap();
    assert_eq!(everything(), [""; 4]);
    let all = Namespaces::new(tenant("t"), Within::All);
    assert_eq!(block_on(store.namespaces(&all, NOW)).unwrap(), []);
}
