//! Searches with filters.

use std::{
    cmp::Ordering,
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use hanok_checkpoint::{FieldPath, Filter, Search, SharedStore};
use hanok_core::{ItemKey, Stored};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use super::fixture::*;

/// Makes a filter of a field and a value.
type Compare = fn(FieldPath, Stored) -> Filter;

const COMPARISONS: [(&str, Compare); 6] = [
    ("eq", Filter::Eq),
    ("ne", Filter::Ne),
    ("gt", Filter::Gt),
    ("gte", Filter::Gte),
    ("lt", Filter::Lt),
    ("lte", Filter::Lte),
];

pub(crate) fn every_comparison_works_on_nested_keys(store: SharedStore) {
    let at = At(&store, NOW);
    let deep = |value: Json| map([("meta", map([("n", value)])), ("n", 99.into())]);
    let list = |items: &[i64]| Json::List(items.iter().copied().map(Json::from).collect());
    for (name, value) in [
        ("1", deep(1.into())),
        ("2", deep(2.into())),
        ("2.0", deep(2.0.into())),
        ("2.5", deep(2.5.into())),
        ("a", deep("a".into())),
        ("b", deep("b".into())),
        ("big", deep(((1 << 53) + 1).into())),
        ("list", deep(list(&[1, 2]))),
        ("missing", map([("meta", map([])), ("n", 2.into())])),
        ("nan", deep(f64::NAN.into())),
        ("nil", deep(Json::Nil(()))),
        ("no map", map([("meta", 2.into())])),
        ("true", deep(Json::Bool(true))),
    ] {
        at.put(&key("a", name), put(value)).unwrap();
    }
    let all = "1 2 2.0 2.5 a b big list nan nil true";
    let but = |left_out: &[&str]| {
        let rest = all.split(' ').filter(|name| !left_out.contains(name));
        rest.collect::<Vec<_>>().join(" ")
    };
    for (with, want) in [
        (2.into(), ["2 2.0", &but(&["2", "2.0"]), "2.5 big", "2 2.0 2.5 big", "1", "1 2 2.0"]),
        (2.5.into(), ["2.5", &but(&["2.5"]), "big", "2.5 big", "1 2 2.0", "1 2 2.0 2.5"]),
        ("a".into(), ["a", &but(&["a"]), "b", "a b", "", "a"]),
        (
            Json::Float(9_007_199_254_740_992.0),
            ["", all, "big", "big", "1 2 2.0 2.5", "1 2 2.0 2.5"],
        ),
        (f64::NAN.into(), ["", all, "", "", "", ""]),
        (Json::Bool(true), ["true", &but(&["true"]), "", "", "", ""]),
        (Json::Nil(()), ["nil", &but(&["nil"]), "", "", "", ""]),
        (list(&[1, 2]), ["list", &but(&["list"]), "", "", "", ""]),
        (list(&[2, 1]), ["", all, "", "", "", ""]),
    ] {
        for ((name, compare), want) in COMPARISONS.into_iter().zip(want) {
            let path = FieldPath::new(["meta", "n"]);
            let filter = compare(path, Stored::encode(&with).unwrap());
            let found = at.keys(&within("a").filter(filter.clone())).join(" ");
            assert_eq!(found, want, "{name} {with:?}");
            let turned = at.keys(&within("a").filter(Filter::Not(Box::new(filter))));
            assert_eq!(turned.len() + want.split_whitespace().count(), 13, "not {name} {with:?}");
        }
    }
    let exists = Filter::Exists(FieldPath::new(["meta", "n"]));
    assert_eq!(at.keys(&within("a").filter(exists)).join(" "), all);
}

pub(crate) fn every_sign_in_a_filter_means_itself(store: SharedStore) {
    let at = At(&store, NOW);
    let signs = [
        "a",
        "A",
        "%",
        "_",
        "*",
        "'",
        "''",
        "\"",
        "\\",
        "\\\"",
        "a.b",
        "$.a",
        "$",
        "$gt",
        "$[0]",
        "#>>",
        "[a]",
        "a'; DROP TABLE items; --",
        "' OR '1'='1",
        "{\"$ne\": null}",
        "?1",
        ":a",
        "${a}",
        "\0",
        "\n",
        "null",
        "0",
        "é",
        "e\u{301}",
        "ß",
        "ss",
        "🙂",
        "",
    ];
    // Each sign as a key of a value and as its text, the key under another.
    for (n, sign) in signs.iter().enumerate() {
        let value = map([("under", map([(sign, (*sign).into())])), ("text", (*sign).into())]);
        at.put(&key("a", &format!("{n:02}")), put(value)).unwrap();
    }
    for (n, sign) in signs.iter().enumerate() {
        let one = [format!("{n:02}")];
        let here = || FieldPath::new(["under", sign]);
        for filter in [
            Filter::Exists(here()),
            Filter::Eq(here(), stored(*sign)),
            Filter::Eq("text".into(), stored(*sign)),
            Filter::Not(Box::new(Filter::Ne("text".into(), stored(*sign)))),
            Filter::Eq("under".into(), stored(map([(sign, (*sign).into())]))),
            Filter::And(vec![
                Filter::Gte("text".into(), stored(*sign)),
                Filter::Lte("text".into(), stored(*sign)),
            ]),
        ] {
            assert_eq!(at.keys(&within("a").filter(filter.clone())), one, "{sign:?} {filter:?}");
        }
        let top = Filter::Exists(FieldPath::new([*sign]));
        assert_eq!(at.keys(&within("a").filter(top)), [""; 0], "{sign:?}");
    }
    // What looks like an operator in a value is a value.
    let marks = map([("$gt", 1.into())]);
    at.put(&key("a", "operator"), put(map([("x", marks.clone())]))).unwrap();
    let eq = Filter::Eq("x".into(), stored(marks));
    assert_eq!(at.keys(&within("a").filter(eq)), ["operator"]);
    assert_eq!(at.keys(&within("a").filter(Filter::Gt("x".into(), stored(0)))), [""; 0]);
}

/// A filter, written down once more.
#[derive(Debug, Clone)]
enum Plain {
    Compare(usize, Vec<String>, Json),
    Exists(Vec<String>),
    And(Vec<Plain>),
    Or(Vec<Plain>),
    Not(Box<Plain>),
}

impl Plain {
    fn filter(&self) -> Filter {
        let each = |all: &[Self]| all.iter().map(Self::filter).collect();
        match self {
            Self::Compare(op, path, with) => {
                let (_, compare) = COMPARISONS[*op];
                compare(FieldPath::new(path), Stored::encode(with).unwrap())
            }
            Self::Exists(path) => Filter::Exists(FieldPath::new(path)),
            Self::And(all) => Filter::And(each(all)),
            Self::Or(all) => Filter::Or(each(all)),
            Self::Not(it) => Filter::Not(Box::new(it.filter())),
        }
    }

    fn fits(&self, value: &Json) -> bool {
        match self {
            Self::Compare(op, path, with) => at(value, path).is_some_and(|found| {
                let order = order(found, with);
                match op {
                    0 => same(found, with),
                    1 => !same(found, with),
                    2 => order == Some(Ordering::Greater),
                    3 => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
                    4 => order == Some(Ordering::Less),
                    _ => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                }
            }),
            Self::Exists(path) => at(value, path).is_some(),
            Self::And(all) => all.iter().all(|it| it.fits(value)),
            Self::Or(all) => all.iter().any(|it| it.fits(value)),
            Self::Not(it) => !it.fits(value),
        }
    }
}

fn at<'a>(value: &'a Json, path: &[String]) -> Option<&'a Json> {
    let Some((key, rest)) = path.split_first() else { return Some(value) };
    let Json::Map(entries) = value else { return None };
    at(entries.get(key)?, rest)
}

/// Twice a number: those that come up are whole then.
fn twice(value: &Json) -> Option<i64> {
    match value {
        Json::Int(n) => Some(2 * n),
        Json::Float(n) => Some((2.0 * n) as i64),
        _ => None,
    }
}

fn order(a: &Json, b: &Json) -> Option<Ordering> {
    match (a, b) {
        (Json::Text(a), Json::Text(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        _ => Some(twice(a)?.cmp(&twice(b)?)),
    }
}

fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::List(a), Json::List(b)) => {
            a.len() == b.len() && (0..a.len()).all(|i| same(&a[i], &b[i]))
        }
        (Json::Map(a), Json::Map(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        _ if twice(a).is_some() => twice(a) == twice(b),
        _ => a == b,
    }
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "a.b", "$gt", "%", "'\"", "한"]).prop_map(str::to_owned)
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Nil(())),
        any::<bool>().prop_map(Json::Bool),
        (-2i64..3).prop_map(Json::Int),
        (-4i32..5).prop_map(|n| Json::Float(f64::from(n) / 2.0)),
        word().prop_map(Json::Text),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::List),
            prop::collection::btree_map(word(), inner, 0..4).prop_map(Json::Map),
        ]
    })
}

fn object() -> impl Strategy<Value = Json> {
    prop::collection::btree_map(word(), json(), 0..5).prop_map(Json::Map)
}

fn path() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(word(), 0..4)
}

fn plain() -> impl Strategy<Value = Plain> {
    let leaf = prop_oneof![
        4 => (0..6usize, path(), json()).prop_map(|(op, path, with)| Plain::Compare(op, path, with)),
        1 => path().prop_map(Plain::Exists),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Plain::And),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Plain::Or),
            inner.prop_map(|it| Plain::Not(Box::new(it))),
        ]
    })
}

pub(crate) fn a_filter_finds_what_a_plain_reading_of_it_finds(store: SharedStore) {
    let at = At(&store, NOW);
    let case = AtomicUsize::new(0);
    let config = Config { cases: 64, failure_persistence: None, ..Config::default() };
    let strategy = (prop::collection::vec(object(), 1..8), prop::collection::vec(plain(), 8));
    let result = TestRunner::new(config).run(&strategy, |(values, filters)| {
        let tenant = tenant(&format!("case {}", case.fetch_add(1, Relaxed)));
        let items: BTreeMap<String, Json> =
            values.into_iter().enumerate().map(|(n, value)| (n.to_string(), value)).collect();
        for (name, value) in &items {
            let key = ItemKey::new(tenant.clone(), labels(&["n"]), name).unwrap();
            at.put(&key, put(value.clone())).unwrap();
        }
        for filter in &filters {
            let fitting = items.iter().filter(|(_, value)| filter.fits(value));
            let want: Vec<_> = fitting.map(|(name, _)| name.clone()).collect();
            let search = Search::all(tenant.clone()).filter(filter.filter()).limit(ALL);
            prop_assert_eq!(at.keys(&search), want, "{:?} in {:?}", filter, items);
        }
        Ok(())
    });
    result.unwrap();
}
