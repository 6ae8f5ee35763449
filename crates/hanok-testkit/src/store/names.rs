//! Names: whose items are found, and where.

use hanok_checkpoint::{Expect, Namespaces, Search, SharedStore, Store, StoreError, Ttl, Within};
use hanok_core::{ItemKey, Labels, Timestamp};
use std::time::Duration;

use super::fixture::*;
use crate::{
    block_on,
    checkpointer::names::{hostile, sorted},
};

pub(crate) fn hostile_names_stay_apart_and_read_back_as_they_were_written(store: SharedStore) {
    let at = At(&store, NOW);
    let names = hostile();
    let undotted = || names.iter().filter(|name| !name.contains('.'));
    // Every name once as a tenant, once as a label alone and below others, and once as a key.
    let mut keys: Vec<ItemKey> = Vec::new();
    for name in undotted() {
        keys.push(ItemKey::new(tenant("t"), labels(&[name]), "k").unwrap());
        keys.push(ItemKey::new(tenant("t"), labels(&["a", name]), "k").unwrap());
    }
    for name in &names {
        keys.push(ItemKey::new(tenant(name), labels(&["n"]), "k").unwrap());
        keys.push(key("keys", name));
    }
    keys.extend([key("a:b/c", "k"), key("ab/c", "k"), key("a/bc", "k"), key("a/b:c", "k")]);
    let longest: Vec<_> = (0..8u8).map(|n| char::from(b'a' + n).to_string().repeat(256)).collect();
    let longest = Labels::new(longest).unwrap();
    keys.push(ItemKey::new(tenant(&"t".repeat(256)), longest, &"🙂".repeat(64)).unwrap());
    for key in &keys {
        at.put(key, put(&*key.to_string())).unwrap();
    }
    for key in &keys {
        let item = block_on(store.get(key, NOW)).unwrap().unwrap();
        assert_eq!((item.value.as_str().unwrap(), &item.key), (&*key.to_string(), key));
        // Exactly this one is found under this name, and those below it.
        let search = Search::within(key.tenant().clone(), key.labels().clone()).limit(ALL);
        let mut want: Vec<_> = keys
            .iter()
            .filter(|other| {
                other.tenant() == key.tenant()
                    && other.labels().iter().zip(key.labels().iter()).all(|(a, b)| a == b)
                    && other.labels().depth() >= key.labels().depth()
            })
            .cloned()
            .collect();
        want.sort();
        let found: Vec<_> = at.hits(&search).into_iter().map(|hit| hit.item.key).collect();
        assert_eq!(found, want, "{key}");
    }
    assert_eq!(at.keys(&within("keys")).iter().collect::<Vec<_>>(), sorted(&names));

    // Each goes alone.
    for (n, key) in keys.iter().enumerate() {
        assert!(block_on(store.remove(key, Expect::Any, NOW)).unwrap(), "{key}");
        assert_eq!(at.shown(key), None);
        assert!(keys[n + 1..].first().is_none_or(|next| at.shown(next).is_some()), "{key}");
    }
}

pub(crate) fn a_prefix_matches_whole_labels(store: SharedStore) {
    let at = At(&store, NOW);
    let paths = ["acme", "acme/users", "acme/users/kim", "acme-corp/users", "acme2", "a", "users"];
    for path in paths {
        let it = put("공통 words").vector(vector(&[1.0, 2.0]));
        at.put(&key(path, path), it).unwrap();
    }
    for (prefix, want) in [
        ("acme", &["acme", "acme/users", "acme/users/kim"][..]),
        ("acme/users", &["acme/users", "acme/users/kim"]),
        ("acme/user", &[]),
        ("acme/users/kim/x", &[]),
        ("acm", &[]),
        ("a", &["a"]),
        ("acme-corp", &["acme-corp/users"]),
        ("%", &[]),
    ] {
        let by_vector = || within(prefix).vector(vector(&[1.0, 2.0]));
        assert_eq!(at.keys(&within(prefix)), want, "{prefix}");
        assert_eq!(at.keys(&within(prefix).text("공통")), want, "{prefix} by text");
        assert_eq!(at.keys(&by_vector()), want, "{prefix} by meaning");
        assert_eq!(at.keys(&by_vector().text("words")), want, "{prefix} by both");
        let named = Namespaces::new(tenant("t"), within(prefix).within);
        let named: Vec<_> = block_on(store.namespaces(&named, NOW)).unwrap();
        assert_eq!(named.iter().map(Labels::to_string).collect::<Vec<_>>(), want, "{prefix} names");
    }
    assert_eq!(at.keys(&everywhere()).len(), paths.len());
}

pub(crate) fn a_tenant_sees_its_own_items_only(store: SharedStore) {
    let at = At(&store, NOW);
    let of = |name| ItemKey::new(tenant(name), labels(&["n"]), "k").unwrap();
    let (mine, theirs) = (of("acme"), of("acme-corp"));
    let secret = || put("a secret").vector(vector(&[1.0, 0.0]));
    let version = at.put(&theirs, secret()).unwrap();

    let searches = || {
        let all = || Search::all(tenant("acme")).limit(ALL);
        let meaning = || all().vector(vector(&[1.0, 0.0]));
        [all(), all().text("secret"), meaning(), meaning().text("secret")]
    };
    for search in searches() {
        assert_eq!(at.hits(&search), []);
    }
    let names = Namespaces::new(tenant("acme"), Within::All);
    assert_eq!(block_on(store.namespaces(&names, NOW)).unwrap(), []);
    assert!(!block_on(store.remove(&mine, Expect::Any, NOW)).unwrap());
    let stolen = put("x").only_if(Expect::Version(version));
    assert!(at.put(&mine, stolen).unwrap_err().starts_with("conflict"));
    // Their vectors say nothing about the length of mine.
    at.put(&mine, put("mine").vector(vector(&[1.0, 0.0, 0.0]))).unwrap();
    assert_eq!(at.shown(&mine).as_deref(), Some("\"mine\""));
    assert_eq!(at.shown(&theirs).as_deref(), Some("\"a secret\""));
}

pub(crate) fn namespaces_are_listed_to_a_depth_page_by_page(store: SharedStore) {
    let at = At(&store, NOW);
    for path in ["b", "a/x/1", "a/x/2", "a/y", "a", "ab/x", "a/x"] {
        at.put(&key(path, "k"), put("v")).unwrap();
        at.put(&key(path, "l"), put("v")).unwrap();
    }
    at.put(&key("gone", "k"), put("v").ttl(Ttl::After(Duration::ZERO))).unwrap();
    let ask = |query: &Namespaces| {
        let names = block_on(store.namespaces(query, NOW)).unwrap();
        names.iter().map(Labels::to_string).collect::<Vec<_>>()
    };
    let all = || Namespaces::new(tenant("t"), Within::All);
    let below = |path: &[&str]| Namespaces::new(tenant("t"), Within::Labels(labels(path)));
    let whole = ["a", "a/x", "a/x/1", "a/x/2", "a/y", "ab/x", "b"];
    for (query, want) in [
        (all(), &whole[..]),
        (all().depth(9), &whole),
        (all().depth(2), &["a", "a/x", "a/y", "ab/x", "b"]),
        (all().depth(1), &["a", "ab", "b"]),
        (all().depth(0), &["a", "ab", "b"]),
        (below(&["a"]), &whole[..5]),
        (below(&["a", "x"]).depth(2), &["a/x"]),
        (all().limit(0), &[]),
    ] {
        assert_eq!(ask(&query), want, "{query:?}");
        // Page by page it is the same.
        for limit in 1..4 {
            let (mut paged, mut after) = (Vec::new(), None);
            loop {
                let page = query.clone().after(after).limit(limit.min(query.limit));
                let page = block_on(store.namespaces(&page, NOW)).unwrap();
                assert!(page.len() <= limit);
                paged.extend(page.iter().map(Labels::to_string));
                after = page.into_iter().next_back();
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(paged, want, "{query:?} by {limit}");
        }
    }
}

pub(crate) fn any_number_a_caller_names_is_answered(store: SharedStore) {
    let at = At(&store, NOW);
    let end = Timestamp(u64::MAX);
    let last = key("a", "last");
    for (now, ttl) in [
        (Timestamp(0), Ttl::After(Duration::MAX)),
        (NOW, Ttl::After(Duration::from_millis(u64::MAX))),
        (Timestamp(i64::MAX as u64), Ttl::Never),
        (Timestamp(0), Ttl::After(Duration::from_nanos(1))),
    ] {
        // A number may be too large to be stored; then it is told.
        match block_on(store.put(&last, put("v").ttl(ttl), now)) {
            Ok(_) | Err(StoreError::Storage(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    at.put(&key("a", "x"), put("v")).unwrap();
    for now in [Timestamp(0), NOW, end] {
        for limit in [0, 1, ALL] {
            let found = At(&store, now).hits(&within("a").limit(limit));
            assert!(found.len() <= limit.min(2));
            let by_text = At(&store, now).hits(&within("a").text("v").limit(limit));
            assert!(by_text.len() <= limit.min(2));
        }
        let weight = |weight| within("a").text("v").vector(vector(&[1.0])).weight(weight);
        for search in [f64::NAN, f64::INFINITY, -1.0].map(weight) {
            block_on(store.search(&search, now)).unwrap();
        }
    }
    assert!(block_on(store.sweep(NOW, 0)).unwrap() == 0);
    block_on(store.sweep(end, ALL)).unwrap();
    assert_eq!(at.shown(&key("a", "x")).as_deref(), Some("\"v\""));
}
