//! States whose fields are declared at run time keep the laws of those that are derived.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::sync::Arc;

use hanok_core::{Change, Changes, Fields, Reader, Writer};
use hanok_state::{
    DynamicField, DynamicRule, DynamicSchema, DynamicState, DynamicUpdate, ReduceError,
    SchemaFault, State, StateUpdate, View,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const TEXT: &str = r#"{
    "question": {"reduce": "last"},
    "notes": {"reduce": "append", "default": ["first"]},
    "hits": {"reduce": "merge"},
    "messages": {"reduce": "messages"},
    "count": {"reduce": "sum", "default": 10},
    "scratch": {"reduce": "last", "private": true, "ephemeral": true}
}"#;

fn state() -> DynamicState {
    serde_json::from_str::<DynamicSchema>(TEXT).unwrap().named("research").state().unwrap()
}

fn set(field: &str, value: impl Into<Value>) -> DynamicUpdate {
    DynamicUpdate::new().set(field, value)
}

/// One super-step in which `node` writes, as the engine does it: bound, completed, merged.
fn step(state: &mut DynamicState, node: &str, update: DynamicUpdate) -> Result<(), ReduceError> {
    let node: Arc<str> = node.into();
    let update = bound(state, update)?;
    state.reduce(vec![(node, update)]).map(drop)
}

fn bound(state: &DynamicState, mut update: DynamicUpdate) -> Result<DynamicUpdate, ReduceError> {
    state.bind(&"node".into(), &mut update)?;
    let mut count = 0;
    update.complete(&mut || {
        count += 1;
        format!("task-{count}")
    });
    Ok(update)
}

fn through_bytes(changes: &Changes) -> Changes {
    let mut writer = Writer::new();
    changes.write(&mut writer);
    Changes::read(&mut Reader::new(&writer.into_bytes())).unwrap()
}

#[test]
fn every_rule_reads_the_json_that_is_written() {
    for (field, writes, want) in [
        ("question", vec![json!("휴가?"), json!({"a": [1]})], json!({"a": [1]})),
        (
            "notes",
            vec![json!(["a", 1]), json!({"b": 2}), json!([])],
            json!(["first", "a", 1, {"b": 2}]),
        ),
        (
            "hits",
            vec![json!({"a": 1, "b": 2}), json!({"b": null, "c": [3]})],
            json!({"a": 1, "c": [3]}),
        ),
        ("count", vec![json!(5), json!(-20)], json!(-5)),
        ("count", vec![json!(0.5), json!(2)], json!(12.5)),
        ("count", vec![json!(u64::MAX - 10)], json!(u64::MAX)),
    ] {
        let mut state = state();
        for value in &writes {
            step(&mut state, "node", set(field, value.clone())).unwrap();
        }
        assert_eq!(state.get(field), Some(want), "{field} {writes:?}");
    }
}

/// A conversation takes the JSON of this crate, of OpenAI and of LangChain, and keeps messages by their ids. B23 B24 B28
#[test]
fn a_conversation_takes_the_messages_of_others() {
    let mut state = state();
    let messages = json!([
        "안녕",
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}]},
        {"type": "tool", "data": {"content": "없음", "tool_call_id": "c1", "id": "t1"}},
    ]);
    step(&mut state, "node", set("messages", messages)).unwrap();
    let all = state.messages("messages").unwrap();
    let shown: Vec<_> = all.iter().map(|m| (m.role().to_string(), m.id().unwrap())).collect();
    let want = [("user", "task-1"), ("assistant", "task-2"), ("tool", "t1")];
    assert_eq!(shown, want.map(|(role, id)| (role.to_owned(), id)));

    // What is read out is written back in its place.
    let mut first = state.get("messages").unwrap()[0].clone();
    first["content"] = "반가워".into();
    let update = set("messages", first).remove("messages", "t1");
    step(&mut state, "node", update).unwrap();
    let all = state.messages("messages").unwrap();
    assert_eq!(all.iter().map(|m| m.id().unwrap()).collect::<Vec<_>>(), ["task-1", "task-2"]);
    assert_eq!(all.get("task-1").unwrap().text(), "반가워");
    assert_eq!(all.get("task-2").unwrap().tool_calls()[0].name, "search");

    let error = step(&mut state, "node", DynamicUpdate::new().remove("messages", "x")).unwrap_err();
    assert_eq!(error.to_string(), "field `messages`: there is no message `x` to remove");
}

/// A key that the state does not have is refused with the node and the keys that there are, and so is what does not fit
/// its rule; nothing of that super-step is applied. B13
#[test]
fn what_does_not_fit_is_refused_by_node_and_field() {
    let known = "`question`, `notes`, `hits`, `messages`, `count`, `scratch`";
    for (update, field, want) in [
        (
            set("qestion", 1),
            "qestion",
            format!("`b` wrote it, and the state has no such field; there are {known}"),
        ),
        (set("hits", 1), "hits", "`b` wrote what is not an object, which `merge` needs".to_owned()),
        (
            set("count", "1"),
            "count",
            "`b` wrote what is not a number, which `sum` needs".to_owned(),
        ),
        (
            DynamicUpdate::new().overwrite("notes", "a"),
            "notes",
            "`b` wrote what is not an array, which the whole of `append` needs".to_owned(),
        ),
        (
            DynamicUpdate::new().remove("question", "a"),
            "question",
            "`b` wrote what is not a value: only `merge` and `messages` remove something"
                .to_owned(),
        ),
        (
            set("messages", json!({"role": "wizard", "content": "x"})),
            "messages",
            "`b` wrote what is no message: `wizard` is no role of a message; there are system, \
             developer, user, assistant, tool"
                .to_owned(),
        ),
    ] {
        let mut state = state();
        let before = state.clone();
        let writes = vec![("a".into(), set("notes", "kept?")), ("b".into(), update.clone())];
        let error = state.reduce(writes).unwrap_err();
        assert_eq!(error.to_string(), format!("field `{field}`: {want}"));
        assert_eq!(error.nodes, [Arc::from("b")]);
        assert_eq!(state, before);
        // The engine is told before anything is stored.
        let early = state.bind(&"b".into(), &mut update.clone()).unwrap_err();
        assert_eq!(early.to_string(), error.to_string());
    }
}

/// B10 B15
#[test]
fn two_writers_and_two_overwrites_are_refused() {
    let mut state = state();
    let both = |one: DynamicUpdate, two: DynamicUpdate| vec![("a".into(), one), ("b".into(), two)];
    let error = state.reduce(both(set("question", 1), set("question", 2))).unwrap_err();
    assert_eq!(error.field, "question");
    assert_eq!(error.nodes, [Arc::from("a"), Arc::from("b")]);

    let whole = || DynamicUpdate::new().overwrite("notes", json!(["whole"]));
    let error = state.reduce(both(whole(), whole())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "field `notes`: overwritten by `a` and `b` in one super-step; only one may"
    );
    state.reduce(both(set("notes", "lost"), whole())).unwrap();
    assert_eq!(state.get("notes"), Some(json!(["whole"])));
}

/// A field begins with its default, and an overwrite needs none. B14 B16
#[test]
fn a_field_begins_with_its_default() {
    let mut state = state();
    let want = json!({
        "question": null, "notes": ["first"], "hits": {}, "messages": [], "count": 10, "scratch": null,
    });
    assert_eq!(state.to_json().unwrap(), want);
    step(&mut state, "node", DynamicUpdate::new().overwrite("hits", json!({"a": 1, "b": null})))
        .unwrap();
    assert_eq!(state.get("hits"), Some(json!({"a": 1})));
    assert_eq!(state.get("nobody"), None);
    assert_eq!(DynamicState::default().to_json().unwrap(), json!({}));
}

/// B21
#[test]
fn a_value_that_was_read_and_changed_in_place_changes_no_state() {
    let mut state = state();
    step(&mut state, "node", set("question", json!({"deep": [1]}))).unwrap();
    let snapshot = state.clone();
    let mut value = snapshot.get("question").unwrap();
    value["deep"][0] = 2.into();
    let mut all = snapshot.to_json().unwrap();
    all["notes"].as_array_mut().unwrap().clear();
    assert_eq!(snapshot, state);
    assert_eq!(state.get("question"), Some(json!({"deep": [1]})));
    assert_eq!(state.get("notes"), Some(json!(["first"])));
    // And a state that goes on leaves its snapshots as they are.
    step(&mut state, "node", set("notes", 1).set("count", 1)).unwrap();
    assert_ne!(snapshot, state);
    assert_eq!(snapshot.get("notes"), Some(json!(["first"])));
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(
        json!(1),
        |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({"a": inner}) },
    )
}

#[test]
fn a_value_is_nested_at_most_64_levels() {
    let mut state = state();
    step(&mut state, "node", set("question", nested(64))).unwrap();
    let mut fields = state.to_fields().unwrap();
    assert_eq!(state.load(&mut fields).unwrap(), state);
    for update in
        [set("question", nested(65)), DynamicUpdate::new().overwrite("notes", json!([nested(64)]))]
    {
        let error = step(&mut state, "node", update).unwrap_err();
        assert!(error.to_string().ends_with("`node` wrote a value nested deeper than 64 levels"));
    }
}

#[test]
fn numbers_without_a_sum_are_refused() {
    let mut state = state();
    for addend in [json!(u64::MAX), json!(f64::MAX)] {
        step(&mut state, "node", DynamicUpdate::new().overwrite("count", addend.clone())).unwrap();
        let error = step(&mut state, "node", set("count", addend.clone())).unwrap_err();
        assert!(error.to_string().contains("have no sum that a JSON number holds"), "{error}");
        assert_eq!(state.get("count"), Some(addend));
    }
}

#[test]
fn an_update_stores_what_is_written_and_no_whole() {
    let mut state = state();
    step(&mut state, "node", set("notes", json!(["a", "b", "c"])).set("hits", json!({"a": 1})))
        .unwrap();
    let update = set("notes", "d")
        .set("hits", json!({"b": 2, "a": null}))
        .set("messages", "안녕")
        .set("count", 3);
    let update = bound(&state, update).unwrap();
    let changes = update.to_changes().unwrap();
    let of = |field: &str| {
        changes
            .0
            .iter()
            .filter(|(name, _)| name == field)
            .map(|(_, change)| change)
            .collect::<Vec<_>>()
    };
    assert!(matches!(of("notes")[..], [Change::Append(items)] if items.len() == 1));
    assert!(
        matches!(of("hits")[..], [Change::Merge(set), Change::RemoveKeys(gone)] if set.len() == 1 && gone.len() == 1)
    );
    assert!(matches!(of("messages")[..], [Change::Messages(one)] if one.len() == 1));
    let resolved = state.reduce(vec![("node".into(), update)]).unwrap();
    // Only a sum has to be said anew: the number that it came to.
    assert_eq!(resolved.0.iter().map(|(name, _)| name.as_ref()).collect::<Vec<_>>(), ["count"]);
}

#[test]
fn an_update_that_is_not_bound_cannot_be_stored() {
    let error = set("notes", 1).to_changes().unwrap_err();
    assert!(error.to_string().contains("not bound"), "{error}");
    assert!(DynamicUpdate::new().to_changes().unwrap().is_empty());
}

#[test]
fn what_an_older_schema_stored_of_a_field_that_is_gone_is_passed_over() {
    let old = DynamicSchema::new("old")
        .field("gone", DynamicRule::Sum)
        .field("notes", DynamicRule::Append);
    let old = old.state().unwrap();
    let stored = bound(&old, set("gone", 1).set("notes", "a")).unwrap().to_changes().unwrap();
    let mut state = state();
    step(&mut state, "node", DynamicUpdate::from_changes(&stored).unwrap()).unwrap();
    assert_eq!(state.get("notes"), Some(json!(["first", "a"])));
    let mut fields = old.to_fields().unwrap();
    state.load(&mut fields).unwrap();
    assert_eq!(fields.to_string(), r#"{"gone":"0"}"#);
}

/// In part: B18
#[test]
fn a_private_field_is_not_in_the_view_of_the_whole() {
    let mut state = state();
    step(&mut state, "node", set("scratch", "secret").set("question", "open").set("count", 1))
        .unwrap();
    let whole = DynamicState::of(&Arc::new(state.clone()));
    assert_eq!(
        (whole.get("scratch"), whole.get("question")),
        (Some(Value::Null), Some(json!("open")))
    );
    state.retain(&|field| field != "count", &DynamicState::default());
    assert_eq!(
        (state.get("count"), state.get("scratch")),
        (Some(json!(10)), Some(json!("secret")))
    );
}

#[test]
fn a_schema_has_every_field_as_it_was_declared() {
    let state = state();
    let schema = state.schema();
    assert_eq!((schema.name.as_ref(), schema.version), ("research", 1));
    let names: Vec<_> = schema.fields.iter().map(|field| field.name.as_ref()).collect();
    assert_eq!(names, ["question", "notes", "hits", "messages", "count", "scratch"]);
    let scratch = schema.field("scratch").unwrap();
    assert_eq!(
        (scratch.rule.name(), scratch.private, scratch.ephemeral),
        ("last value", true, true)
    );
    assert_eq!(DynamicState::default().schema(), DynamicState::SCHEMA);

    // The order of an object says nothing, and what is not stored counts as little.
    let same = DynamicSchema::new("other")
        .field("scratch", DynamicRule::Last)
        .field("count", DynamicRule::Sum)
        .field("messages", DynamicRule::Messages)
        .field("hits", DynamicRule::Merge)
        .field("notes", DynamicField::new(DynamicRule::Append).default(json!([])))
        .field("question", DynamicRule::Last);
    assert_eq!(same.state().unwrap().schema().fingerprint, schema.fingerprint);
    let other = same.field("more", DynamicRule::Last).state().unwrap();
    assert_ne!(other.schema().fingerprint, schema.fingerprint);
}

#[test]
fn a_schema_is_written_as_it_is_read() {
    let schema: DynamicSchema = serde_json::from_str(TEXT).unwrap();
    let text = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<DynamicSchema>(&text).unwrap(), schema);
    let squeezed: String = TEXT.split_whitespace().collect();
    assert_eq!(text, squeezed);
}

#[test]
fn every_fault_of_a_schema_is_named_at_once() {
    let schema = DynamicSchema::new("broken")
        .field("", DynamicRule::Last)
        .field("a\n", DynamicRule::Last)
        .field("b", DynamicRule::Last)
        .field("b", DynamicRule::Sum)
        .field("c", DynamicField::new(DynamicRule::Append).default(json!({})))
        .field("d", DynamicField::new(DynamicRule::Merge).default(json!([])))
        .field("e", DynamicField::new(DynamicRule::Sum).default("1"))
        .field("f", DynamicField::new(DynamicRule::Messages).default(json!([{"role": "wizard"}])))
        .field("g", DynamicField::new(DynamicRule::Last).default(nested(65)));
    let error = schema.state().unwrap_err();
    assert_eq!(error.faults.len(), 8, "{error}");
    assert_eq!(error.faults[2], SchemaFault::Twice { name: "b".into() });
    let text = error.to_string();
    for part in [
        r#"schema `broken`: "" is no name of a field"#,
        r#""a\n" is no name of a field"#,
        "field `c`: its default is not an array, which the whole of `append` needs",
        "field `d`: its default is not an object, which `merge` needs",
        "field `e`: its default is not a number, which `sum` needs",
        "field `f`: its default is not an array of messages: `wizard` is no role",
        "field `g`: its default is nested deeper than 64 levels",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_text_that_declares_something_else_is_refused() {
    for (text, want) in [
        (
            r#"{"a": {"reduce": "lats"}}"#,
            "unknown variant `lats`, expected one of `last`, `append`",
        ),
        (r#"{"a": {"reduce": "last", "dafault": 1}}"#, "unknown field `dafault`"),
        (r#"{"a": {}}"#, "missing field `reduce`"),
        (r#"{"a": {"reduce": "sum", "default": []}}"#, "field `a`: its default is not a number"),
        (r#"{"a": {"reduce": "last"}, "a": {"reduce": "sum"}}"#, "field `a` is declared twice"),
        (r#"[]"#, "expected an object of fields"),
    ] {
        let error = serde_json::from_str::<DynamicSchema>(text).unwrap_err().to_string();
        assert!(error.contains(want), "{text}: {error}");
    }
}

#[test]
fn the_messages_of_a_default_have_ids_that_stay() {
    let field = DynamicField::new(DynamicRule::Messages)
        .default(json!(["규칙", {"role": "user", "content": "x", "id": "u"}]));
    let schema = DynamicSchema::new("chat").field("messages", field);
    let ids = |state: &DynamicState| {
        let all = state.messages("messages").unwrap();
        all.iter().map(|m| m.id().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&schema.state().unwrap()), ["messages-1", "u"]);
    assert_eq!(ids(&schema.state().unwrap()), ["messages-1", "u"]);
}

fn update() -> impl Strategy<Value = DynamicUpdate> {
    let message = ("[a-c]", "[가-힣]{0,2}")
        .prop_map(|(id, text)| json!({"id": id, "role": "user", "content": text}));
    let call = prop_oneof![
        any::<u8>().prop_map(|n| set("question", n)),
        any::<u8>().prop_map(|n| set("scratch", json!([n]))),
        proptest::collection::vec(0u8..9, 0..3).prop_map(|items| set("notes", items)),
        proptest::collection::vec(0u8..9, 0..3)
            .prop_map(|items| DynamicUpdate::new().overwrite("notes", items)),
        ("[a-c]", proptest::option::of(0u8..9)).prop_map(|(key, n)| set("hits", json!({key: n}))),
        "[a-c]".prop_map(|key| DynamicUpdate::new().remove("hits", key)),
        ("[a-c]", 0u8..9)
            .prop_map(|(key, n)| DynamicUpdate::new().overwrite("hits", json!({key: n}))),
        message.clone().prop_map(|message| set("messages", message)),
        proptest::collection::vec(message, 0..3)
            .prop_map(|all| DynamicUpdate::new().overwrite("messages", all)),
        "[a-c]".prop_map(|id| DynamicUpdate::new().remove("messages", id)),
        Just(set("messages", "without an id")),
        any::<i8>().prop_map(|n| set("count", n)),
        any::<i8>().prop_map(|n| DynamicUpdate::new().overwrite("count", f64::from(n) / 2.0)),
    ];
    proptest::collection::vec(call, 0..5)
        .prop_map(|calls| calls.into_iter().fold(DynamicUpdate::new(), DynamicUpdate::and))
}

/// `update`, bound and with ids of its own.
fn named(state: &DynamicState, mut update: DynamicUpdate, n: usize) -> Option<DynamicUpdate> {
    state.bind(&"n".into(), &mut update).ok()?;
    let mut count = 0;
    update.complete(&mut || {
        count += 1;
        format!("{n}-{count}")
    });
    Some(update)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// A log folds to the state that its writes made, and stored updates read back. B29
    #[test]
    fn a_log_folds_to_the_state_that_was_reduced(
        steps in proptest::collection::vec(proptest::collection::vec(update(), 1..4), 0..6),
    ) {
        let mut state = state();
        let mut fields: Fields = state.to_fields().unwrap();
        for (step, updates) in steps.into_iter().enumerate() {
            let writes: Vec<(Arc<str>, _)> = updates
                .into_iter()
                .enumerate()
                .filter_map(|(i, update)| Some((format!("n{i}").into(), named(&state, update, step * 9 + i)?)))
                .collect();
            let before = state.clone();
            let Ok(resolved) = state.reduce(writes.clone()) else {
                prop_assert_eq!(&state, &before);
                continue;
            };
            let mut again = before;
            let read = writes.iter().map(|(node, update)| {
                let changes = through_bytes(&update.to_changes().unwrap());
                (node.clone(), DynamicUpdate::from_changes(&changes).unwrap())
            });
            again.reduce(read.collect()).unwrap();
            prop_assert_eq!(&again, &state);
            for (_, update) in &writes {
                for (field, change) in &through_bytes(&update.to_changes().unwrap()).0 {
                    if resolved.get(field).is_none() {
                        fields.apply(field, change).unwrap();
                    }
                }
            }
            fields.apply_all(&through_bytes(&resolved)).unwrap();
            let mut stored = Fields::from_stored(&fields.to_stored()).unwrap();
            prop_assert_eq!(&state.load(&mut stored).unwrap(), &state);
            prop_assert!(stored.is_empty());
        }
    }

    /// Several super-steps as one update, bound, said or read from a log.
    #[test]
    fn one_update_does_what_several_super_steps_do(steps in proptest::collection::vec(update(), 1..5)) {
        let start = state();
        let mut state = start.clone();
        let mut done = Vec::new();
        for (n, said) in steps.into_iter().enumerate() {
            let Some(update) = named(&state, said.clone(), n) else { continue };
            if state.reduce(vec![("n".into(), update.clone())]).is_ok() {
                let read = DynamicUpdate::from_changes(&update.to_changes().unwrap()).unwrap();
                done.push((update, read));
            }
        }
        let all = |pick: &dyn Fn(usize) -> DynamicUpdate| {
            (0..done.len()).fold(DynamicUpdate::new(), |all, i| all.then(pick(i)).unwrap())
        };
        let ways = [
            all(&|i| done[i].0.clone()),
            all(&|i| done[i].1.clone()),
            all(&|i| if i % 2 == 0 { done[i].0.clone() } else { done[i].1.clone() }),
        ];
        for mut bound in ways {
            let mut at_once = start.clone();
            at_once.bind(&"n".into(), &mut bound).unwrap();
            at_once.reduce(vec![("n".into(), bound.clone())]).unwrap();
            prop_assert_eq!(&at_once, &state);
            let mut again = start.clone();
            let read = DynamicUpdate::from_changes(&through_bytes(&bound.to_changes().unwrap()));
            again.reduce(vec![("n".into(), read.unwrap())]).unwrap();
            prop_assert_eq!(&again, &state);
        }
    }

    /// What an update is told before it knows its rules is what it does when it knows them.
    #[test]
    fn an_update_does_the_same_bound_early_or_late(first in update(), second in update()) {
        let start = state();
        let bind = |update: &DynamicUpdate| {
            let mut update = update.clone();
            start.bind(&"n".into(), &mut update).map(|()| update)
        };
        let both = [
            (first.clone().and(second.clone()), bind(&first).and_then(|a| Ok(a.and(bind(&second)?)))),
            (
                first.clone().then(second.clone()).unwrap(),
                bind(&first).and_then(|a| a.then(bind(&second)?)),
            ),
        ];
        for (late, early) in both {
            let apply = |update: DynamicUpdate| {
                let mut state = start.clone();
                state.reduce(vec![("n".into(), update)]).map(|_| state).map_err(|error| error.to_string())
            };
            let early = early.map_err(|error| error.to_string()).and_then(apply);
            prop_assert_eq!(apply(late), early);
        }
    }
}
