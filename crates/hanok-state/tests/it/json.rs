//! What is stored of JSON is the same with every feature of serde_json, for somebody else's crate may switch them on: these
//! bytes were written without any. `cargo xtask test --only neighbours` runs this with them.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_core::{Changes, Stored};
use hanok_state::{Arguments, Json, List, Message, Messages, State, ToolCall};
use serde_json::{Value, json};

#[derive(State, Debug, Clone, Default, PartialEq)]
struct S {
    value: Json,
    #[reduce(append)]
    list: List<Value>,
    #[reduce(merge)]
    map: std::collections::BTreeMap<String, Value>,
    messages: Messages,
}

/// Keys that are not sorted, and numbers of all kinds.
const TEXT: &str = r#"{"z": 1, "a": {"y": [], "b": null}, "가": "나", "m": [18446744073709551615, -9223372036854775808,
    0.1, 1e23, 5e-324, -0.0, -0, 1.50, 100, 123456789012345678901234567890, 123456789.123456789, 2.5e10]}"#;

fn value() -> Value {
    serde_json::from_str(TEXT).unwrap()
}

fn hex(stored: &Stored) -> String {
    stored.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_value_is_stored_as_the_same_bytes() {
    insta::assert_snapshot!(hex(&Stored::encode(&value()).unwrap()));
    let again: Value = Stored::encode(&value()).unwrap().decode().unwrap();
    assert_eq!(Stored::encode(&again).unwrap(), Stored::encode(&value()).unwrap());
}

#[test]
fn what_is_written_to_a_state_is_the_same_changes() {
    let call = ToolCall { id: "1".into(), name: "f".into(), arguments: Arguments::new(TEXT) };
    let update = S::update()
        .value(Json::from(value()))
        .push_list(value())
        .map([("b".to_owned(), value()), ("a".to_owned(), json!(0.25))])
        .message(Message::assistant("").with_id("1").with_tool_calls([call]));
    let changes: Changes = hanok_state::StateUpdate::to_changes(&update).unwrap();
    let mut writer = hanok_core::Writer::new();
    changes.write(&mut writer);
    let stored = Stored::from_bytes(writer.into_bytes()).unwrap();
    insta::assert_snapshot!(hex(&stored));
    insta::assert_snapshot!(format!("{:016x}", S::default().schema().fingerprint));
}
