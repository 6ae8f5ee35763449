//! Stored values: what is stored comes back, equal values are equal bytes, and no bytes break a reader.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::{BTreeMap, HashMap};

use hanok_core::{Change, Changes, Field, Fields, MessageChange, Reader, Stored, Writer};
use proptest::{
    collection::{btree_map, vec},
    prelude::*,
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Shape {
    Unit,
    Newtype(String),
    Tuple(i64, bool),
    Struct { name: String, inner: Option<Box<Shape>> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Everything {
    integers: (u8, i16, u32, i64, u64),
    big: (i128, u128),
    float: f64,
    letter: char,
    text: String,
    bytes: Vec<u8>,
    unit: (),
    nothing: Option<u32>,
    shapes: Vec<Shape>,
    map: BTreeMap<String, Vec<Option<i32>>>,
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        Just(Shape::Unit),
        any::<String>().prop_map(Shape::Newtype),
        any::<(i64, bool)>().prop_map(|(a, b)| Shape::Tuple(a, b)),
    ];
    leaf.prop_recursive(4, 16, 2, |inner| {
        (any::<String>(), proptest::option::of(inner))
            .prop_map(|(name, inner)| Shape::Struct { name, inner: inner.map(Box::new) })
    })
}

fn everything() -> impl Strategy<Value = Everything> {
    (
        any::<(u8, i16, u32, i64, u64)>(),
        any::<(i128, u128)>(),
        any::<f64>().prop_filter("a number", |f| !f.is_nan()),
        any::<char>(),
        any::<String>(),
        any::<Vec<u8>>(),
        any::<Option<u32>>(),
        vec(shape(), 0..4),
        btree_map(any::<String>(), vec(any::<Option<i32>>(), 0..8), 0..8),
    )
        .prop_map(|(integers, big, float, letter, text, bytes, nothing, shapes, map)| {
            Everything { integers, big, float, letter, text, bytes, unit: (), nothing, shapes, map }
        })
}

proptest! {
    /// B85 in part: load(save(x)) = x
    #[test]
    fn what_is_stored_comes_back(value in everything()) {
        let stored = Stored::encode(&value).unwrap();
        prop_assert_eq!(stored.decode::<Everything>().unwrap(), value);
        prop_assert_eq!(Stored::from_bytes(stored.as_bytes().to_vec()).unwrap(), stored);
    }

    /// Bytes are the same for equal values, whatever order a map is walked in.
    #[test]
    fn equal_maps_are_equal_bytes(map in any::<HashMap<String, i32>>()) {
        let again: HashMap<_, _> = map.iter().map(|(k, v)| (k.clone(), *v)).collect();
        let sorted: BTreeMap<_, _> = map.clone().into_iter().collect();
        let stored = Stored::encode(&map).unwrap();
        prop_assert_eq!(&stored, &Stored::encode(&again).unwrap());
        prop_assert_eq!(stored.decode::<BTreeMap<String, i32>>().unwrap(), sorted);
    }

    /// P59
    #[test]
    fn no_bytes_break_a_reader(bytes in any::<Vec<u8>>()) {
        if let Ok(stored) = Stored::from_bytes(bytes.clone()) {
            let _ = stored.decode::<Everything>().is_ok();
            let _ = stored.to_string();
            let _ = (stored.to_items().is_ok(), stored.to_entries().is_ok());
        }
        let _ = Changes::read(&mut Reader::new(&bytes)).is_ok();
    }
}

#[test]
fn a_value_nested_too_deep_is_refused_and_overflows_no_stack() {
    let mut bytes = vec![0x91; 1_000_000];
    bytes.push(0xc0);
    let stored = Stored::from_bytes(bytes).unwrap();
    assert!(stored.decode::<serde::de::IgnoredAny>().is_err());
    assert!(stored.to_string().len() < 1_000);
}

fn stored(value: impl Serialize) -> Stored {
    Stored::encode(&value).unwrap()
}

#[test]
fn every_change_reads_back_as_it_was_written() {
    let put = |id: &str| MessageChange::Put(stored(BTreeMap::from([("id", id)])));
    let mut changes = Changes::default();
    changes.push("set", Change::Set(stored(1)));
    changes.push("unset", Change::Unset);
    changes.push("append", Change::Append(vec![stored("가"), stored(2.5)]));
    changes.push("splice", Change::Splice { at: 1, remove: 2, insert: vec![stored(true)] });
    changes.push("merge", Change::Merge(vec![(stored("k"), stored("v"))]));
    changes.push("remove", Change::RemoveKeys(vec![stored("k")]));
    changes.push("nested", Change::Nested(Changes(vec![("x".into(), Change::Unset)])));
    changes.push(
        "messages",
        Change::Messages(vec![
            put("a"),
            MessageChange::Remove { id: "a".into() },
            MessageChange::Clear,
        ]),
    );
    changes.push("input", Change::Input(stored([1, 2])));

    let mut writer = Writer::new();
    changes.write(&mut writer);
    let bytes = writer.into_bytes();
    assert_eq!(Changes::read(&mut Reader::new(&bytes)).unwrap(), changes);
    for end in 0..bytes.len() {
        assert!(Changes::read(&mut Reader::new(&bytes[..end])).is_err(), "cut at {end}");
    }
}

#[test]
fn a_fold_is_what_its_changes_say() {
    let mut fields = Fields::default();
    for (field, change) in [
        ("list", Change::Set(stored([1, 2, 3, 4]))),
        ("list", Change::Splice { at: 1, remove: 2, insert: vec![stored(9)] }),
        ("list", Change::Append(vec![stored(5)])),
        ("map", Change::Merge(vec![(stored("b"), stored(2)), (stored("a"), stored(1))])),
        ("map", Change::RemoveKeys(vec![stored("b")])),
        ("gone", Change::Set(stored(1))),
        ("gone", Change::Unset),
        ("child", Change::Nested(Changes(vec![("n".into(), Change::Set(stored(7)))]))),
        ("input", Change::Input(stored(0))),
    ] {
        fields.apply(field, &change).unwrap();
    }
    assert_eq!(fields.to_string(), r#"{"child":{"n":7},"list":[1,9,4,5],"map":{"a":1}}"#);

    let whole = Fields::from_stored(&fields.to_stored()).unwrap();
    assert_eq!(whole.to_stored(), fields.to_stored());
    assert!(matches!(whole.get("list"), Some(Field::Value(_))));
}

#[test]
fn a_change_that_does_not_fit_says_why() {
    let mut fields = Fields::default();
    fields.apply("list", &Change::Append(vec![stored(1)])).unwrap();
    let wrong = Change::Splice { at: 1, remove: 1, insert: vec![] };
    let error = fields.apply("list", &wrong).unwrap_err();
    assert_eq!(error.to_string(), "a splice of 1 items at 1 does not fit a list of 1");
    let error = fields
        .apply("m", &Change::Messages(vec![MessageChange::Remove { id: "x".into() }]))
        .unwrap_err();
    assert_eq!(error.to_string(), "there is no message `x` to remove");
    assert!(fields.apply("list", &Change::Merge(vec![])).is_err());
}

/// P1: what would be read as something else is not written: a `Some` of nothing is `None` to whoever reads it.
#[test]
fn a_some_of_nothing_is_refused() {
    assert!(Stored::encode(&Some(())).is_err());
    assert!(Stored::encode(&Some(None::<u8>)).is_err());
    assert!(Stored::encode(&vec![Some(Some(()))]).is_err());
    let error = Stored::encode(&Some(None::<u8>)).unwrap_err();
    assert!(error.to_string().contains("`Some`"), "{error}");
    for whole in [None, Some(Some(1_u8))] {
        let stored = Stored::encode(&whole).unwrap();
        assert_eq!(stored.decode::<Option<Option<u8>>>().unwrap(), whole);
    }
}
