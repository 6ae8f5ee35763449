//! Updates are read from the JSON of people, with all faults at once; states and updates are written as JSON.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::collections::BTreeMap;

use hanok_state::{
    DynamicSchema, DynamicState, DynamicUpdate, InvalidJson, Json, List, ListChange, Map, Message,
    MessageOp, Messages, Refused, State, StateUpdate,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::messages::any_message;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Item {
    name: String,
    sizes: Vec<u8>,
}

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Child {
    done: bool,
    #[reduce(append)]
    items: List<Item>,
    talk: Messages,
    odd: BTreeMap<(u8, u8), u8>,
}

#[derive(State, Clone, Debug, Default, PartialEq)]
struct All {
    #[state(alias = "amount")]
    count: u32,
    note: Option<String>,
    item: Item,
    raw: Json,
    #[reduce(append)]
    items: Vec<Item>,
    #[reduce(merge)]
    named: Map<String, u32>,
    #[reduce(merge)]
    numbered: BTreeMap<i64, Json>,
    #[reduce(merge)]
    counted: BTreeMap<u64, u8>,
    #[reduce(nested)]
    child: Child,
    messages: Messages,
    #[reduce(with = add)]
    total: u32,
    #[reduce(operations = book, update = Vec<u32>)]
    seats: List<u32>,
    #[state(transient)]
    bytes: Vec<u8>,
}

fn add(value: &u32, write: u32) -> u32 {
    value + write
}

fn book(_: &List<u32>, seats: Vec<u32>) -> ListChange<u32> {
    ListChange::Append(seats)
}

fn read(json: Value) -> Result<AllUpdate, InvalidJson> {
    AllUpdate::from_json(json)
}

/// The state that `json` makes of an empty one.
fn made(json: Value) -> All {
    let mut all = All::default();
    all.reduce(vec![("input".into(), read(json).unwrap())]).unwrap();
    all
}

fn faults(invalid: &InvalidJson) -> Vec<(&str, &str)> {
    invalid.faults.iter().map(|fault| (fault.pointer.as_str(), fault.reason.as_str())).collect()
}

#[test]
fn every_rule_reads_its_json() {
    let item = json!({"name": "a", "sizes": [1]});
    for (field, json, want) in [
        ("count", json!(1), json!(1)),
        ("note", json!("a"), json!("a")),
        ("note", json!(null), json!(null)),
        ("item", item.clone(), item.clone()),
        ("raw", json!([1, {"a": null}]), json!([1, {"a": null}])),
        ("items", json!([item, item]), json!([item, item])),
        ("items", item.clone(), json!([item])),
        ("items", json!([]), json!([])),
        ("named", json!({"a": 1, "b": null}), json!({"a": 1})),
        ("numbered", json!({"-7": [1], "8": "x"}), json!({"-7": [1], "8": "x"})),
        ("total", json!(4), json!(4)),
        ("seats", json!([4, 5]), json!([4, 5])),
    ] {
        assert_eq!(made(json!({field: json})).to_json().unwrap()[field], want, "{field} {json}");
    }
    let child = made(json!({"child": {"done": true, "items": item}})).child;
    assert_eq!((child.done, child.items.len()), (true, 1));
    assert!(read(json!({})).unwrap().is_empty());
    assert_eq!(read(json!({"total": 1, "note": null})).unwrap().written(), ["note", "total"]);
}

#[test]
fn null_removes_a_key() {
    let mut all = made(json!({"named": {"a": 1, "b": 2}, "numbered": {"1": 1}}));
    let update = read(json!({"named": {"a": null}, "numbered": {"1": null, "2": 2}})).unwrap();
    all.reduce(vec![("input".into(), update)]).unwrap();
    let json = all.to_json().unwrap();
    assert_eq!((&json["named"], &json["numbered"]), (&json!({"b": 2}), &json!({"2": 2})));
}

#[test]
fn all_faults_are_told_at_once_each_at_its_place() {
    let invalid = read(json!({
        "count": "many",
        "item": {"name": "a", "sizes": [1, 2, 300]},
        "items": [{"name": "a", "sizes": []}, {"name": "b"}, 3, {"name": "c", "sizes": ["x"]}],
        "named": {"a/b": -1, "~": "x", "c": 1},
        "numbered": {"one": 1},
        "counted": {"two": "x"},
        "child": {"done": "no", "items": [{"name": 1}], "talk": [{"role": "user"}, 7], "dune": 1},
        "messages": ["hi", {"role": "wizard", "content": "x"}, {"type": "remove"}, ["poet", "x"]],
        "total": [1],
        "seats": 1,
        "bytes": [1],
        "amount": 2,
        "totall": 3,
        "전혀": 4,
    }))
    .unwrap_err();
    let known = "there are `count`, `note`, `item`, `raw`, `items`, `named`, `numbered`, `counted`, \
                 `child`, `messages`, `total`, `seats`";
    let (amount, none) = (
        format!("the state has no field `amount`; {known}"),
        format!("the state has no field `전혀`; {known}"),
    );
    let want = [
        ("/count", r#"invalid type: string "many", expected u32"#),
        ("/item/sizes/2", "invalid value: integer `300`, expected u8"),
        ("/items/1", "missing field `sizes`"),
        ("/items/2", "invalid type: integer `3`, expected struct Item"),
        ("/items/3/sizes/0", r#"invalid type: string "x", expected u8"#),
        ("/named/a~1b", "invalid value: integer `-1`, expected u32"),
        ("/named/~0", r#"invalid type: string "x", expected u32"#),
        ("/numbered/one", "invalid value: expected key to be a number in quotes"),
        ("/counted/two", "invalid value: expected key to be a number in quotes"),
        ("/counted/two", r#"invalid type: string "x", expected u8"#),
        ("/child/done", r#"invalid type: string "no", expected a boolean"#),
        ("/child/items/0/name", "invalid type: integer `1`, expected a string"),
        ("/child/talk/1", "a message is not a text, a pair of a role and a text, or an object"),
        ("/child/dune", "the state has no field `dune`; did you mean `done`?"),
        (
            "/messages/1",
            "`wizard` is no role of a message; there are system, developer, user, assistant, tool",
        ),
        ("/messages/2", "`id` of a removal is not a text"),
        ("/messages/3", "`poet` is no role of a message; there are system, human, ai, tool"),
        ("/total", "invalid type: sequence, expected u32"),
        ("/seats", "invalid type: integer `1`, expected a sequence"),
        ("/bytes", "a transient field, which is not read from JSON"),
        ("/amount", amount.as_str()),
        ("/totall", "the state has no field `totall`; did you mean `total`?"),
        ("/전혀", none.as_str()),
    ];
    assert_eq!(faults(&invalid), want);
    let text = invalid.to_string();
    assert!(want.iter().all(|(at, reason)| text.contains(&format!("`{at}`: {reason}"))), "{text}");
    for json in [json!(null), json!([]), json!("count"), json!(1)] {
        let invalid = read(json).unwrap_err();
        assert_eq!(faults(&invalid), [("", "not an object with the names of fields")]);
    }
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| Value::Array(vec![inner]))
}

#[test]
fn what_is_nested_too_deep_is_a_fault_and_overflows_nothing() {
    assert!(read(json!({"raw": nested(64)})).is_ok());
    let too_deep = "nested deeper than 64 levels";
    for levels in [65, 200_000] {
        let mut json = json!({"child": {"done": true}});
        for field in ["raw", "items", "messages", "item_"] {
            json[field] = nested(levels);
        }
        json["child"]["items"] = nested(levels);
        let invalid = read(json).unwrap_err();
        let unknown = ("/item_", "the state has no field `item_`; did you mean `item`, `items`?");
        let at = |field| (field, too_deep);
        assert_eq!(
            faults(&invalid),
            [at("/raw"), at("/items"), at("/child"), at("/messages"), unknown]
        );
        assert!(read(nested(levels)).is_err());
        let mut json = json!({});
        json["notes"] = nested(levels);
        let invalid = dynamic().read_update(json).unwrap_err();
        assert_eq!(faults(&invalid), [at("/notes")]);
    }
}

#[test]
fn what_is_huge_is_read_and_a_fault_in_it_stays_short() {
    const MANY: usize = 100_000;
    let text = "가".repeat(3_500_000);
    let mut json = json!({"items": vec![Item::default(); MANY]});
    json["messages"] = text.clone().into();
    json["items"][MANY - 1]["sizes"] = json!(1);
    json["count"] = text.clone().into();
    let invalid = read(json.clone()).unwrap_err();
    assert_eq!(invalid.faults[0].pointer, "/count");
    assert_eq!(invalid.faults[1].pointer, format!("/items/{}/sizes", MANY - 1));
    assert!(invalid.to_string().len() < 3000);

    json["items"][MANY - 1]["sizes"] = json!([1]);
    json["count"] = json!(1);
    let all = made(json);
    assert_eq!((all.items.len(), all.messages.last().unwrap().text().len()), (MANY, text.len()));
}

/// B28
#[test]
fn messages_are_read_in_every_form() {
    let user = Message::user("hi");
    let system = Message::system("hi");
    for (json, want) in [
        (json!("hi"), &user),
        (json!(["hi"]), &user),
        (json!(["user", "hi"]), &user),
        (json!([["human", "hi"]]), &user),
        (json!([["developer", "hi"]]), &system),
        (json!({"role": "user", "content": "hi"}), &user),
        (json!({"role": "human", "content": "hi"}), &user),
        (json!({"role": "developer", "content": "hi"}), &system),
        (json!({"type": "human", "content": "hi"}), &user),
        (json!([{"type": "system", "data": {"content": "hi"}}]), &system),
        (
            json!({"lc": 1, "type": "constructor", "id": ["m", "SystemMessage"], "kwargs": {"content": "hi"}}),
            &system,
        ),
    ] {
        let all = made(json!({"messages": json}));
        assert_eq!((all.messages.len(), all.messages.last()), (1, Some(want)), "{json}");
    }
    // Two texts are two messages, unless the first is a role.
    assert_eq!(made(json!({"messages": ["hi", "there"]})).messages.len(), 2);
    // A call in LangChain's form keeps its arguments, whichever way the role is said.
    let call = json!({"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"});
    let all = made(json!({"messages": {"role": "assistant", "content": "", "tool_calls": [call]}}));
    assert_eq!(all.messages.last().unwrap().tool_calls()[0].arguments.as_str(), r#"{"a":1}"#);
    // OpenAI's form has no ids, and one that stands there is kept.
    let openai = json!({"role": "assistant", "content": null, "tool_calls": null, "id": "m1"});
    assert_eq!(made(json!({"messages": openai})).messages.last().unwrap().id(), Some("m1"));
}

/// B25
#[test]
fn removals_are_read_in_each_of_langchains_forms() {
    let put = |id: &str| json!({"role": "user", "content": id, "id": id});
    let ids = |removal: Value| {
        let json = json!({"messages": [put("a"), put("b"), removal, put("c")]});
        made(json).messages.iter().filter_map(Message::id).collect::<Vec<_>>().join(" ")
    };
    let dumped = json!({"lc": 1, "type": "constructor", "id": ["m", "RemoveMessage"], "kwargs": {"id": "a"}});
    for removal in [
        json!({"type": "remove", "id": "a"}),
        json!({"type": "remove", "data": {"content": "", "type": "remove", "id": "a"}}),
        dumped,
    ] {
        assert_eq!(ids(removal), "b c");
    }
    assert_eq!(ids(json!({"type": "remove", "id": "__remove_all__"})), "c");
}

#[test]
fn a_field_without_json_is_named_with_those_around_it() {
    let child = Child { odd: [((1, 2), 3)].into(), ..Child::default() };
    let error = All { child: child.clone(), ..All::default() }.to_json().unwrap_err();
    assert_eq!(error.to_string(), "field `child.odd` has no JSON");
    assert_eq!(error.reason.to_string(), "key must be a string");
    let update = All::update().child(Child::update().odd(child.odd));
    assert_eq!(update.to_json().unwrap_err().field, "child.odd");
}

#[test]
fn an_update_is_written_as_its_changes_are() {
    let update = All::update()
        .count(1)
        .note("a")
        .push_items(Item::default())
        .insert_numbered(-1, Json::default())
        .child(Child::update().done(true).talk([Message::user("hi").with_id("1")]))
        .messages([
            MessageOp::Clear,
            MessageOp::Remove("x".into()),
            MessageOp::Put(Message::user("hi").with_id("1")),
        ])
        .total(1)
        .total(2)
        .seats(vec![1])
        .bytes(vec![1]);
    let mut changes = serde_json::to_value(update.to_changes().unwrap()).unwrap();
    // A log has JSON as text.
    changes["numbered"]["merge"]["-1"] = json!(null);
    assert_eq!(update.to_json().unwrap(), changes);

    let whole = All::update()
        .overwrite_items(vec![])
        .overwrite_messages(Messages::from_iter([Message::user("hi")]))
        .overwrite_child(Child::default());
    let changes = serde_json::to_value(whole.to_changes().unwrap()).unwrap();
    assert_eq!(whole.to_json().unwrap(), changes);

    // Two changes of one field stand in one object.
    let both = All::update().insert_named("a", 1).remove_named("b").raw(Json(json!({"b": [1]})));
    let want =
        json!({"named": {"merge": {"a": 1}, "remove_keys": ["b"]}, "raw": {"set": {"b": [1]}}});
    assert_eq!(both.to_json().unwrap(), want);
    assert_eq!(All::update().to_json().unwrap(), json!({}));
}

const DECLARED: &str = r#"{
    "question": {"reduce": "last"},
    "notes": {"reduce": "append"},
    "hits": {"reduce": "merge"},
    "messages": {"reduce": "messages"},
    "count": {"reduce": "sum"}
}"#;

fn dynamic() -> DynamicState {
    serde_json::from_str::<DynamicSchema>(DECLARED).unwrap().state().unwrap()
}

#[test]
fn a_state_that_is_declared_at_run_time_reads_json_by_its_rules() {
    let mut state = dynamic();
    let json = json!({
        "question": {"a": 1}, "notes": [1, [2]], "hits": {"a": 1, "b": null},
        "messages": [["user", "hi"], {"type": "ai", "content": "ho"}], "count": 2,
    });
    let update = state.read_update(json.clone()).unwrap();
    assert_eq!(update.to_json().unwrap()["notes"], json!({"append": [1, [2]]}));
    let mut unbound = DynamicUpdate::from_json(json).unwrap();
    assert_eq!(
        unbound.to_json().unwrap_err().reason.to_string(),
        "the update is not bound to the state that says its rules"
    );
    state.bind(&"node".into(), &mut unbound).unwrap();
    assert_eq!(unbound.to_json().unwrap(), update.to_json().unwrap());
    state.reduce(vec![("input".into(), update)]).unwrap();

    // What it is written as makes it of an empty one.
    let mut again = dynamic();
    let update = again.read_update(state.to_json().unwrap()).unwrap();
    again.reduce(vec![("input".into(), update)]).unwrap();
    assert_eq!(again, state);

    let wrong = json!({
        "notess": 1, "hits": [], "messages": ["a", {"role": "wizard"}, {"type": "remove"}], "count": "1",
    });
    let invalid = state.read_update(wrong).unwrap_err();
    let pointers: Vec<_> = faults(&invalid).into_iter().map(|(at, _)| at).collect();
    assert_eq!(pointers, ["/hits", "/messages/1", "/messages/2", "/count", "/notess"]);
    assert!(state.read_update(json!([])).is_err() && DynamicUpdate::from_json(json!(1)).is_err());
    // Of an update that is not bound, the first shows when it is.
    let mut wrong = DynamicUpdate::from_json(json!({"hits": []})).unwrap();
    let error = state.bind(&"node".into(), &mut wrong);
    assert!(matches!(error.unwrap_err().reason, Refused::Misfit { .. }));
    let removal =
        DynamicUpdate::new().overwrite("messages", json!([{"type": "remove", "id": "a"}]));
    assert!(state.bind(&"node".into(), &mut removal.clone()).is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,3}", inner, 0..4)
                .prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

fn any_item() -> impl Strategy<Value = Item> {
    (".{0,5}", any::<Vec<u8>>()).prop_map(|(name, sizes)| Item { name, sizes })
}

fn any_messages() -> impl Strategy<Value = Messages> {
    let numbered = |messages: Vec<Message>| {
        let ids = messages.into_iter().enumerate().map(|(at, it)| it.with_id(at.to_string()));
        ids.collect::<Messages>()
    };
    prop::collection::vec(any_message(), 0..4).prop_map(numbered)
}

fn any_state() -> impl Strategy<Value = All> {
    let items = prop::collection::vec(any_item(), 0..4);
    let named = prop::collection::btree_map(".{0,3}", any::<u32>(), 0..4);
    // In a map, `null` is no value but removes one.
    let kept = any_json().prop_filter("a value", |json| !json.is_null()).prop_map(Json);
    let numbered = prop::collection::btree_map(any::<i64>(), kept, 0..4);
    let values = (any::<u32>(), any::<Option<String>>(), any_item(), any_json(), any::<bool>());
    (values, items, named, numbered, any_messages(), any_messages()).prop_map(
        |((count, note, item, raw, done), items, named, numbered, messages, talk)| All {
            count,
            note,
            item,
            raw: Json(raw),
            items: items.clone(),
            named: named.into_iter().collect(),
            numbered,
            counted: [(u64::from(count), 1)].into(),
            child: Child { done, items: items.into_iter().collect(), talk, ..Child::default() },
            messages,
            total: count,
            seats: [count].into_iter().collect(),
            bytes: Vec::new(),
        },
    )
}

proptest! {
    /// What a state is written as makes it of an empty one, and what is stored of it has the same JSON.
    #[test]
    fn a_state_comes_back_from_its_json(all in any_state()) {
        let json = all.to_json().unwrap();
        prop_assert_eq!(&made(json.clone()), &all);
        let text = serde_json::to_string(&json).unwrap();
        prop_assert_eq!(&made(serde_json::from_str(&text).unwrap()), &all);
        let stored = All::from_fields(&mut all.to_fields().unwrap()).unwrap();
        prop_assert_eq!(stored.to_json().unwrap(), json);
    }

    /// Whatever JSON is given, it is an update or faults of which each points to a place, or to a field that is not known.
    #[test]
    fn no_json_is_more_than_faulty(json in any_json(), field in "count|items|named|numbered|child|messages|total|seats") {
        let json = json!({field: json});
        if let Err(invalid) = read(json.clone()) {
            for fault in invalid.faults {
                prop_assert!(json.pointer(&fault.pointer).is_some(), "{}", fault);
            }
        }
    }
}
