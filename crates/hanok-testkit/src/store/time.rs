//! Times to live.

use std::time::Duration;

use hanok_checkpoint::{Batch, Expect, Namespaces, Read, Refresh, SharedStore, Store, Ttl, Within};
use hanok_core::{ItemKey, Timestamp};

use super::fixture::*;
use crate::block_on;

/// Put at [`NOW`], it is there up to 99 ms later and not at 100 ms.
const TTL: Ttl = Ttl::After(Duration::from_millis(100));

fn after(millis: u64) -> Timestamp {
    Timestamp(NOW.0 + millis)
}

pub(crate) fn what_has_expired_is_not_seen_before_it_is_swept(store: SharedStore) {
    let (timed, kept) = (key("timed", "timed"), key("kept", "kept"));
    let it = || put("글").vector(vector(&[1.0, 0.0]));
    let version = At(&store, NOW).put(&timed, it().ttl(TTL)).unwrap();
    At(&store, NOW).put(&kept, it()).unwrap();
    let quiet = || everywhere().refresh(Refresh::No);
    let seen = |now: Timestamp| {
        let at = At(&store, now);
        let searches = [
            quiet(),
            quiet().text("글"),
            quiet().vector(vector(&[1.0, 0.0])),
            quiet().text("글").vector(vector(&[1.0, 0.0])),
        ];
        let mut found = searches.map(|search| at.keys(&search).join(" ")).to_vec();
        let names = Namespaces::new(tenant("t"), Within::All);
        let names = block_on(store.namespaces(&names, now)).unwrap();
        found.push(names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
        let read = Read { key: timed.clone(), refresh: Refresh::No };
        let got = at.batch(Batch { reads: vec![read], ..Batch::default() }).unwrap().items;
        (found, got[0].is_some())
    };
    assert_eq!(seen(after(99)), (vec!["kept timed".to_owned(); 5], true));
    assert_eq!(seen(after(100)), (vec!["kept".to_owned(); 5], false));

    // It is as if it were not there: nobody can expect it, and who expects nothing may write.
    let at = At(&store, after(100));
    let gone = Err("conflict timed false".to_owned());
    assert_eq!(at.put(&timed, it().only_if(Expect::Version(version))).map(drop), gone);
    let remove = |expect| block_on(store.remove(&timed, expect, after(100))).map_err(in_words);
    assert_eq!(remove(Expect::Any), Ok(false));
    at.put(&timed, it().ttl(TTL).only_if(Expect::Absent)).unwrap();
    let item = block_on(store.get(&timed, after(101))).unwrap().unwrap();
    assert_eq!((item.created, item.updated), (after(100), after(100)));
}

pub(crate) fn what_is_read_lives_on(store: SharedStore) {
    let it = |name: &str| key("a", name);
    for name in ["got", "listed", "looked at", "searched"] {
        At(&store, NOW).put(&it(name), put(name).ttl(TTL)).unwrap();
    }
    let there = |name: &str, now: Timestamp| {
        let read = Read { key: it(name), refresh: Refresh::No };
        let batch = Batch { reads: vec![read], ..Batch::default() };
        At(&store, now).batch(batch).unwrap().items[0].as_ref().map(|item| item.expires)
    };
    let got = block_on(store.get(&it("got"), after(60))).unwrap().unwrap();
    assert_eq!(got.expires, Some(after(160)));
    let version = got.version;
    assert!(there("looked at", after(60)).is_some());
    let hits = At(&store, after(70)).hits(&within("a").text("searched"));
    assert_eq!(hits[0].item.expires, Some(after(170)));
    // A page refreshes what is on it, and nothing else.
    let listed = within("a").limit(2);
    assert_eq!(At(&store, after(80)).keys(&listed), ["got", "listed"]);
    for (name, expires) in [("got", 180), ("listed", 180), ("searched", 170), ("looked at", 100)] {
        assert_eq!(there(name, after(expires - 1)), Some(Some(after(expires))), "{name}");
        assert_eq!(there(name, after(expires)), None, "{name}");
    }
    // A clock that goes back takes no time away, and a read is no write.
    let got = block_on(store.get(&it("got"), after(10))).unwrap().unwrap();
    assert_eq!((got.expires, got.version, got.updated), (Some(after(180)), version, NOW));
    // A write begins the time anew, by its own rule.
    At(&store, after(90)).put(&it("got"), put("x")).unwrap();
    assert_eq!(there("got", Timestamp(u64::MAX / 4)), Some(None));
}

pub(crate) fn a_time_of_its_own_comes_before_the_default(store: SharedStore) {
    let timed = store.clone().default_ttl(Duration::from_millis(50));
    for (name, ttl) in [("default", Ttl::Default), ("its own", TTL), ("never", Ttl::Never)] {
        At(&timed, NOW).put(&key("a", name), put("v").ttl(ttl)).unwrap();
    }
    At(&store, NOW).put(&key("a", "no default"), put("v")).unwrap();
    let quiet = within("a").refresh(Refresh::No);
    for (millis, want) in [
        (49, "default its own never no default"),
        (50, "its own never no default"),
        (100, "never no default"),
        (1_000_000_000, "never no default"),
    ] {
        assert_eq!(At(&timed, after(millis)).keys(&quiet).join(" "), want, "{millis}");
    }
}

pub(crate) fn what_is_swept_is_counted(store: SharedStore) {
    for n in 0..7 {
        let of = ItemKey::new(tenant(["t", "u"][n % 2]), labels(&["a"]), &n.to_string()).unwrap();
        let it = put("글").ttl(TTL).vector(vector(&[1.0, 0.0]));
        At(&store, NOW).put(&of, it).unwrap();
    }
    At(&store, NOW).put(&key("a", "kept"), put("글")).unwrap();
    let sweep = |millis, limit| block_on(store.sweep(after(millis), limit)).unwrap();
    assert_eq!(sweep(99, ALL), 0);
    assert_eq!([sweep(100, 3), sweep(100, 0), sweep(100, 3), sweep(100, ALL)], [3, 0, 3, 1]);
    assert_eq!(sweep(100, ALL), 0);
    // It is gone and not only hidden: an earlier time does not bring it back, and its vectors bind nobody.
    assert_eq!(At(&store, NOW).keys(&everywhere().text("글")), ["kept"]);
    let other = put("글").vector(vector(&[1.0, 0.0, 0.0]));
    At(&store, NOW).put(&key("a", "other"), other).unwrap();
}
