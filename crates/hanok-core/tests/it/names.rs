//! Names and small values in and out of text and JSON: what goes out comes in again, and no way in goes round a limit.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::{
    fmt::{Debug, Display},
    str::FromStr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hanok_core::{
    Answerer, Audience, Budget, CallKey, Change, Changes, Fields, InvalidName, ItemKey, Labels,
    Limit, MessageChange, Namespace, Position, RequestId, RunId, Spent, Stored, TaskId, Tenant,
    ThreadKey, Timestamp,
};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// The value comes back from JSON, and from what a store keeps; and the JSON.
fn comes_back<T>(value: &T)
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let json = serde_json::to_string(value).unwrap();
    let read: T = serde_json::from_str(&json).unwrap();
    assert_eq!(read, *value, "{json}");
    assert_eq!(serde_json::to_string(&read).unwrap(), json);
    assert_eq!(Stored::encode(value).unwrap().decode::<T>().unwrap(), *value, "{json}");
}

/// Every way from a text to a `T`, each with its error's words.
fn ways<T>(text: &str) -> Vec<Result<T, String>>
where
    T: FromStr<Err: Display> + TryFrom<String, Error: Display> + DeserializeOwned,
    for<'a> T: TryFrom<&'a str, Error: Display>,
{
    vec![
        text.parse().map_err(|error: T::Err| error.to_string()),
        T::try_from(text).map_err(|error| error.to_string()),
        T::try_from(text.to_owned()).map_err(|error| error.to_string()),
        serde_json::from_value(text.into()).map_err(|error| error.to_string()),
    ]
}

/// The value is its text, which every way reads.
fn is_its_text<T>(value: &T)
where
    T: Serialize + PartialEq + Debug + Display,
    T: FromStr<Err: Display> + TryFrom<String, Error: Display> + DeserializeOwned,
    for<'a> T: TryFrom<&'a str, Error: Display>,
{
    let text = value.to_string();
    assert_eq!(serde_json::to_value(value).unwrap(), json!(text));
    for way in ways::<T>(&text) {
        assert_eq!(way.as_ref(), Ok(value), "{text:?}");
    }
    comes_back(value);
}

/// Any name.
fn name() -> impl Strategy<Value = String> {
    let sign = any::<char>().prop_filter("a name holds no control characters", |c| !c.is_control());
    prop::collection::vec(sign, 1..=64).prop_map(String::from_iter)
}

fn label() -> impl Strategy<Value = String> {
    name().prop_map(|name| name.replace('.', "·"))
}

fn limit() -> impl Strategy<Value = Limit> {
    (any::<u64>(), any::<u32>()).prop_flat_map(|(count, steps)| {
        prop::sample::select(vec![
            Limit::Steps(steps),
            Limit::ModelCalls(count),
            Limit::ToolCalls(count),
            Limit::Tokens(count),
            Limit::Cost(count),
            Limit::Time(Duration::from_millis(count)),
        ])
    })
}

proptest! {
    #[test]
    fn every_name_and_id_is_its_text(name in name(), any_text: String, bytes: [u8; 16], id: u128) {
        is_its_text(&Tenant::new(&name).unwrap());
        is_its_text(&RequestId(name.as_str().into()));
        is_its_text(&CallKey::new(any_text));
        is_its_text(&TaskId::from_bytes(bytes));
        is_its_text(&RunId(id));
    }

    #[test]
    fn every_name_of_several_parts_comes_back(
        tenant in name(),
        key in name(),
        segments in prop::collection::vec(name(), 0..4),
        labels in prop::collection::vec(label(), 1..4),
    ) {
        let tenant = Tenant::new(&tenant).unwrap();
        let thread = ThreadKey::new(tenant.clone(), &key).unwrap();
        prop_assert_eq!(serde_json::to_value(&thread).unwrap(), json!({"tenant": tenant, "thread": key}));
        comes_back(&thread);
        let path = segments.iter().fold(Namespace::root(), |path, segment| path.child(segment).unwrap());
        prop_assert_eq!(serde_json::to_value(&path).unwrap(), json!(segments));
        comes_back(&path);
        let labels = Labels::new(labels).unwrap();
        comes_back(&labels);
        comes_back(&ItemKey::new(tenant, labels, &key).unwrap());
    }

    #[test]
    fn every_small_value_comes_back(
        number: u64,
        limits: [Option<u64>; 5],
        limit in limit(),
        names: std::collections::BTreeSet<String>,
        name: String,
    ) {
        comes_back(&Position(number));
        comes_back(&Timestamp(number));
        comes_back(&Spent { output_tokens: number, ..Spent::default() });
        comes_back(&limit);
        let [model_calls, tool_calls, tokens, cost, time] = limits;
        let time = time.map(Duration::from_millis);
        comes_back(&Budget { model_calls, tool_calls, tokens, cost, time });
        comes_back(&Answerer { roles: names.clone(), ..Answerer::new(name.clone(), name) });
        comes_back(&Audience { names: names.clone(), roles: names });
    }
}

#[test]
fn no_way_in_takes_a_text_that_its_constructor_refuses() {
    let of = |what: &str, is: &str| format!("the {what} {is}");
    let refused = [
        (String::new(), "is empty"),
        ("x".repeat(257), "has 257 bytes; at most 256 are allowed"),
        ("a\u{7}".to_owned(), "holds the control character U+0007 at byte 1"),
    ];
    let invalid = |json: Value, read: fn(Value) -> Option<serde_json::Error>| {
        read(json.clone()).unwrap_or_else(|| panic!("{json} was read")).to_string()
    };
    for (wrong, is) in &refused {
        for way in ways::<Tenant>(wrong) {
            assert_eq!(way, Err(of("tenant's name", is)));
        }
        for way in ways::<RequestId>(wrong) {
            assert_eq!(way, Err(of("request's id", is)));
        }
        let thread = |json| serde_json::from_value::<ThreadKey>(json).err();
        let named = ThreadKey::named(wrong).unwrap_err().to_string();
        assert_eq!(named, of("thread's name", is));
        assert_eq!(invalid(json!({"tenant": "a", "thread": wrong}), thread), named);
        assert_eq!(
            invalid(json!({"tenant": wrong, "thread": "a"}), thread),
            of("tenant's name", is)
        );
        let path = |json| serde_json::from_value::<Namespace>(json).err();
        assert_eq!(invalid(json!(["a", wrong]), path), of("namespace segment", is));
        let labels = |json| serde_json::from_value::<Labels>(json).err();
        assert_eq!(invalid(json!(["a", wrong]), labels), of("label", is));
        let item = |json| serde_json::from_value::<ItemKey>(json).err();
        assert_eq!(
            invalid(json!({"tenant": "a", "labels": ["a"], "key": wrong}), item),
            of("key", is)
        );
    }
    for wrong in [
        "",
        "7",
        "+0000000000000000000000000000007",
        &"0".repeat(33),
        &"g".repeat(32),
        &"가".repeat(32),
    ] {
        for (what, error) in [
            ("run's id", wrong.parse::<RunId>().unwrap_err()),
            ("task's id", wrong.parse::<TaskId>().unwrap_err()),
        ] {
            assert_eq!(error, InvalidName::NotHex { what, digits: 32 }, "{wrong}");
        }
    }
    // Which tenant a thread is of has to be said.
    for json in [json!("chat"), json!("acme/chat"), json!({"thread": "chat"}), json!(7)] {
        assert!(serde_json::from_value::<ThreadKey>(json.clone()).is_err(), "{json}");
    }
    // A slip of the pen is no budget without limits.
    assert!(serde_json::from_value::<Budget>(json!({"time": 5})).is_err());
}

#[test]
fn small_values_read_as_a_client_expects() {
    let half = Duration::from_micros(1_500);
    let budget = Budget { tokens: Some(9), time: Some(half), ..Budget::default() };
    for (value, want) in [
        (
            json!(budget),
            json!({"model_calls": null, "tool_calls": null, "tokens": 9, "cost": null, "time_ms": 2}),
        ),
        (json!(Limit::Steps(25)), json!({"steps": 25})),
        (json!(Limit::Time(half)), json!({"time_ms": 2})),
        (json!(Limit::Time(Duration::MAX)), json!({"time_ms": u64::MAX})),
        (json!(RunId(0x2a)), json!("0000000000000000000000000000002a")),
        (json!(Timestamp(5)), json!(5)),
        (json!(Namespace::root()), json!([])),
    ] {
        assert_eq!(value, want);
    }
    assert_eq!(serde_json::from_value::<Budget>(json!({})).unwrap(), Budget::default());
    // A limit is one.
    assert!(serde_json::from_value::<Limit>(json!({"time_ms": null})).is_err());
}

#[test]
fn what_a_log_holds_comes_back_from_json() {
    let stored = |value: Value| Stored::encode(&value).unwrap();
    for json in [
        json!(null),
        json!([1, -1, u64::MAX, i64::MIN, 0.5, "가", true]),
        json!({"b": {"z": 1, "a": []}, "a": [[]], "": {}}),
    ] {
        let read: Stored = serde_json::from_str(&json.to_string()).unwrap();
        assert_eq!(read, stored(json), "stored as a program would");
        comes_back(&read);
    }
    let bytes = Stored::from_bytes(vec![0xc4, 2, 0x0f, 0xa0]).unwrap();
    assert_eq!(bytes.decode::<Stored>().unwrap(), bytes);
    assert_eq!(Stored::encode(&0.1_f32).unwrap().decode::<Stored>().unwrap().as_bytes().len(), 5);
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    assert!(serde_json::from_str::<Stored>(&deep).is_err());

    let mut changes = Changes::default();
    for (field, change) in [
        ("a", Change::Set(stored(json!({"x": 1})))),
        ("b", Change::Unset),
        ("c", Change::Append(vec![stored(json!(1))])),
        ("d", Change::Splice { at: 1, remove: 2, insert: vec![stored(json!("x"))] }),
        ("f", Change::Merge(vec![(stored(json!("k")), stored(json!(2)))])),
        ("g", Change::RemoveKeys(vec![stored(json!("k"))])),
        ("h", Change::Input(stored(json!([1])))),
        ("i", Change::Nested(changes.clone())),
        (
            "j",
            Change::Messages(vec![
                MessageChange::Put(stored(json!({"id": "m1"}))),
                MessageChange::Remove { id: "m2".into() },
                MessageChange::Clear,
            ]),
        ),
    ] {
        changes.push(field, change);
    }
    comes_back(&changes);
    let json = json!({"n": 1, "list": [1, 2], "nested": {"a": null}});
    let fields: Fields = serde_json::from_value(json.clone()).unwrap();
    assert_eq!(serde_json::to_value(&fields).unwrap(), json);
    assert_eq!(fields, Fields::from_stored(&stored(json)).unwrap());
}

#[test]
fn a_moment_is_one_of_the_system_between_1970_and_its_end() {
    let millis = Duration::from_millis(1);
    assert_eq!(Timestamp::from(UNIX_EPOCH - millis), Timestamp(0));
    for moment in [Timestamp(0), Timestamp(1), Timestamp(253_402_300_799_999)] {
        assert_eq!(Timestamp::from(SystemTime::try_from(moment).unwrap()), moment);
    }
    match SystemTime::try_from(Timestamp(u64::MAX)) {
        Ok(time) => assert_eq!(Timestamp::from(time), Timestamp(u64::MAX)),
        Err(error) => assert_eq!((error.moment, error.of), (Timestamp(u64::MAX), "SystemTime")),
    }
}

#[cfg(feature = "jiff")]
#[test]
fn a_moment_is_one_of_jiff_between_1970_and_its_end() {
    let time: jiff::Timestamp = "2026-10-17T09:30:00.250Z".parse().unwrap();
    assert_eq!(jiff::Timestamp::try_from(Timestamp::from(time)).unwrap(), time);
    assert_eq!(Timestamp::from(jiff::Timestamp::MIN), Timestamp(0));
    let last = Timestamp(253_402_207_200_000);
    assert_eq!(jiff::Timestamp::try_from(last).unwrap().to_string(), "9999-12-30T22:00:00Z");
    for past in [Timestamp(last.0 + 1), Timestamp(u64::MAX)] {
        let error = jiff::Timestamp::try_from(past).unwrap_err();
        assert!(
            error.to_string().ends_with("is past the last moment of `jiff::Timestamp`"),
            "{error}"
        );
    }
}
