//! Conversations: the reducer by ids, and the JSON of others.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_state::{
    Arguments, Content, Json, Message, MessageOp, Messages, Part, Role, State, StateUpdate,
    ToolCall,
};
use proptest::prelude::*;
use serde_json::{Value, json};

#[derive(State, Debug, Clone, Default)]
struct Chat {
    messages: Messages,
}

fn put(id: &str, text: &str) -> MessageOp {
    MessageOp::Put(Message::user(text).with_id(id))
}

fn remove(id: &str) -> MessageOp {
    MessageOp::Remove(id.into())
}

fn apply(state: &mut Chat, ops: Vec<MessageOp>) {
    state.reduce(vec![("node".into(), Chat::update().messages(ops))]).unwrap();
}

fn shown(state: &Chat) -> String {
    let all = state.messages.iter().map(|m| format!("{}:{}", m.id().unwrap(), m.text()));
    all.collect::<Vec<_>>().join(" ")
}

/// B23, B24, B25, B26, B27
#[test]
fn messages_are_reduced_by_their_ids() {
    for (claim, ops, want) in [
        ("a new id is appended", vec![put("c", "3")], "a:1 b:2 c:3"),
        ("a known id is replaced in place", vec![put("a", "9")], "a:9 b:2"),
        ("a removed message is gone", vec![remove("a")], "b:2"),
        (
            "only what follows a removal of all stays",
            vec![put("c", "3"), MessageOp::Clear, put("d", "4")],
            "d:4",
        ),
        (
            "the last removal of all counts",
            vec![MessageOp::Clear, put("c", "3"), MessageOp::Clear],
            "",
        ),
        (
            "removed and put again in one batch keeps its place",
            vec![remove("a"), put("a", "new")],
            "a:new b:2",
        ),
        ("put and removed in one batch is gone", vec![put("c", "3"), remove("c")], "a:1 b:2"),
        (
            "of two with one id in a batch the last wins, once",
            vec![put("c", "3"), put("c", "4")],
            "a:1 b:2 c:4",
        ),
    ] {
        let mut state = Chat::default();
        apply(&mut state, vec![put("a", "1"), put("b", "2")]);
        apply(&mut state, ops);
        assert_eq!(shown(&state), want, "{claim}");
    }
}

#[test]
fn removed_in_one_update_and_put_in_the_next_is_appended() {
    let mut state = Chat::default();
    apply(&mut state, vec![put("a", "1"), put("b", "2")]);
    apply(&mut state, vec![remove("a")]);
    apply(&mut state, vec![put("a", "3")]);
    assert_eq!(shown(&state), "b:2 a:3");
}

#[test]
fn many_removals_leave_no_gaps_behind() {
    let mut state = Chat::default();
    for i in 0..500 {
        apply(&mut state, vec![put(&i.to_string(), "x")]);
        if i >= 3 {
            apply(&mut state, vec![remove(&(i - 3).to_string())]);
        }
    }
    assert_eq!(shown(&state), "497:x 498:x 499:x");
}

/// B23: without id, a unique stable id.
#[test]
fn a_message_without_an_id_gets_one_before_it_is_stored() {
    let mut update = Chat::update().message("one").message(Message::user("two").with_id("mine"));
    let mut n = 0;
    update.complete(&mut || {
        n += 1;
        format!("task-{n}")
    });
    let mut state = Chat::default();
    state.reduce(vec![("node".into(), update.clone())]).unwrap();
    assert_eq!(shown(&state), "task-1:one mine:two");
    let read = ChatUpdate::from_changes(&update.to_changes().unwrap()).unwrap();
    let mut again = Chat::default();
    again.reduce(vec![("node".into(), read)]).unwrap();
    assert_eq!(shown(&again), shown(&state));
}

fn full() -> Message {
    Message::assistant("찾아볼게요").with_id("m1").with_name("rag_agent").with_tool_calls([
        ToolCall {
            id: "c1".into(),
            name: "search".into(),
            arguments: Arguments::new(r#"{"n":12345678901234567890123}"#),
        },
    ])
}

/// A line for each value, the same with all features of serde_json.
fn lines(values: impl IntoIterator<Item = Value>) -> String {
    let lines: Vec<_> = values.into_iter().map(|it| Json::text_of(&it).unwrap()).collect();
    lines.join("\n")
}

#[test]
fn the_serialised_form_is_as_documented() {
    let message = full().with_metadata("agent", json!({"step": 1}));
    insta::assert_snapshot!(lines([serde_json::to_value(message).unwrap()]));
}

#[test]
fn openai_messages_convert_both_ways() {
    let observation = Message::tool("c1", "없음");
    let parts = json!({"role": "user", "content": [
        {"type": "text", "text": "이게 뭐야?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
    ]});
    insta::assert_snapshot!(lines([full().to_openai(), observation.to_openai()]));
    for value in [full().to_openai(), observation.to_openai(), parts] {
        assert_eq!(Message::from_openai(&value).unwrap().to_openai(), value);
    }
    assert_eq!(
        Message::from_openai(&json!({"role": "developer", "content": "x"})).unwrap().role(),
        Role::System
    );
}

#[test]
fn langchain_messages_convert_both_ways() {
    let observation = Message::tool("c1", "없음").with_id("m2");
    insta::assert_snapshot!(lines([
        Message::user("안녕").with_id("m0").to_langchain(),
        full().with_tool_calls([ToolCall::new("c1", "search", r#"{"n":1}"#)]).to_langchain(),
        observation.to_langchain(),
    ]));
    let dumped = json!({
        "lc": 1, "type": "constructor",
        "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {"content": "네", "type": "ai", "tool_calls": [
            {"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}]},
    });
    let message = Message::from_langchain(&dumped).unwrap();
    assert_eq!((message.role(), message.text().as_ref()), (Role::Assistant, "네"));
    assert_eq!(message.tool_calls()[0].arguments.as_str(), r#"{"a":1}"#);
}

/// What langchain-core 1.8 writes with `model_dump`, and what `dumpd` leaves out of it.
#[test]
fn what_langchain_writes_comes_back_as_it_was() {
    let human = json!({
        "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "u"}}],
        "additional_kwargs": {"k": {"a": 1}}, "response_metadata": {}, "type": "human", "name": null, "id": "h",
    });
    let ai = json!({
        "content": "a", "additional_kwargs": {}, "response_metadata": {"finish_reason": "stop"}, "type": "ai",
        "name": "n", "id": "x",
        "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}],
        "invalid_tool_calls": [
            {"type": "invalid_tool_call", "id": "c2", "name": "g", "args": "{", "error": "bad"},
            {"type": "invalid_tool_call", "id": null, "name": null, "args": null, "error": null}],
        "usage_metadata": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
    });
    let tool = json!({
        "content": "r", "additional_kwargs": {}, "response_metadata": {}, "type": "tool", "name": "f", "id": null,
        "tool_call_id": "c", "artifact": {"x": 1}, "status": "error",
    });
    for flat in [human, ai, tool] {
        let kind = flat["type"].as_str().unwrap();
        let class = match kind {
            "human" => "HumanMessage",
            "ai" => "AIMessage",
            _ => "ToolMessage",
        };
        let some = |(key, value): (&String, &Value)| {
            let empty = [json!(null), json!({})].contains(value);
            (!empty).then(|| (key.clone(), value.clone()))
        };
        let kwargs: Value = flat.as_object().unwrap().iter().filter_map(some).collect();
        let id = ["langchain", "schema", "messages", class];
        for form in [
            flat.clone(),
            json!({"type": kind, "data": flat}),
            json!({"lc": 1, "type": "constructor", "id": id, "kwargs": kwargs}),
        ] {
            let message = Message::from_langchain(&form).unwrap();
            assert_eq!(message.to_langchain_flat(), flat, "{form}");
            assert_eq!(message.to_langchain()["data"], flat);
        }
    }
}

#[test]
fn what_is_known_of_a_message_stands_where_langchain_has_it() {
    let calls = [
        ToolCall::new("1", "f", r#"{"a":1}"#),
        ToolCall::new("2", "f", "[1]"),
        ToolCall::new("3", "f", r#"{"a":1,"a":2}"#),
    ];
    let flat = Message::assistant("").with_tool_calls(calls).to_langchain_flat();
    let ids = |calls: &Value| calls.as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    let (valid, invalid): (Vec<_>, Vec<_>) =
        (ids(&flat["tool_calls"]), ids(&flat["invalid_tool_calls"]));
    assert_eq!((valid, invalid), (vec![json!("1")], vec![json!("2"), json!("3")]));
    assert_eq!(flat["additional_kwargs"], json!({}));

    let tool = Message::tool("1", "").with_metadata("data", 7).with_metadata("fault", "denied");
    let flat = tool.to_langchain_flat();
    assert_eq!((&flat["artifact"], &flat["status"]), (&json!(7), &json!("error")));
    assert_eq!(flat["additional_kwargs"], json!({"fault": "denied"}));
}

/// What the form has no place for goes with it, until somebody changes the rest.
#[test]
fn the_whole_of_a_message_counts_as_long_as_nobody_changed_the_rest() {
    let message = Message::assistant("a").with_tool_calls([ToolCall::new("1", "f", r#"{"b": 1}"#)]);
    let mut flat = message.to_langchain_flat();
    assert_eq!(flat["tool_calls"][0]["args"], json!({"b": 1}));
    flat["name"].take();
    assert_eq!(Message::from_langchain(&flat).unwrap(), message);
    flat["content"] = json!("b");
    let changed = Message::from_langchain(&flat).unwrap();
    assert_eq!(
        (changed.text().as_ref(), changed.tool_calls()[0].arguments.as_str()),
        ("b", r#"{"b":1}"#)
    );
}

/// A message with whatever may stand in one, and notes under the names that the form has places for.
pub(super) fn any_message() -> impl Strategy<Value = Message> {
    let role = prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]);
    let text = || prop::sample::select(vec!["", "a", "가 \n", "remove"]);
    let arguments = || {
        prop::sample::select(vec![
            "{}",
            r#"{"a":1}"#,
            r#"{ "b": 1.50, "a": [] }"#,
            r#"{"a":1,"a":2}"#,
            "[1]",
            "",
            "{",
            "null",
            r#"{"type":"text","text":"x"}"#,
            r#"{"n":12345678901234567890123}"#,
        ])
    };
    let part = prop_oneof![
        text().prop_map(|text| Part::Text { text: text.into() }),
        text().prop_map(|url| Part::Image { url: url.into() }),
        arguments().prop_map(|json| Part::Other { json: json.into() }),
    ];
    let content = prop_oneof![
        text().prop_map(Content::from),
        prop::collection::vec(part, 0..3).prop_map(Content::Parts),
    ];
    let call = (text(), text(), arguments()).prop_map(|(id, name, it)| ToolCall::new(id, name, it));
    let calls = prop::collection::vec(call, 0..3);
    let key = prop::sample::select(vec![
        "fault",
        "data",
        "usage_metadata",
        "response_metadata",
        "invalid_tool_calls",
        "hanok",
        "k",
    ]);
    let own = json!({"role": "user", "content": "a"});
    let errors = json!([{"id": "a", "error": "bad"}]);
    let note = prop::sample::select(vec![
        json!(null),
        json!("failed"),
        json!({}),
        json!({"a": 1}),
        errors,
        own,
    ]);
    let notes = prop::collection::vec((key, note), 0..4);
    let some = || prop::option::of(text());
    (role, content, calls, (some(), some(), some()), notes).prop_map(
        |(role, content, calls, (id, name, call_id), notes)| {
            let message = Message::new(role, content).with_tool_calls(calls);
            let message = id.into_iter().fold(message, |it, id| it.with_id(id));
            let message = name.into_iter().fold(message, |it, name| it.with_name(name));
            let message = call_id.into_iter().fold(message, |it, id| it.with_tool_call_id(id));
            notes.into_iter().fold(message, |it, (key, note)| it.with_metadata(key, note))
        },
    )
}

proptest! {
    #[test]
    fn no_message_loses_anything_in_langchains_forms(message in any_message()) {
        let flat = message.to_langchain_flat();
        prop_assert_eq!(&Message::from_langchain(&flat).unwrap(), &message);
        prop_assert_eq!(&Message::from_langchain(&message.to_langchain()).unwrap(), &message);
        let again: Value = serde_json::from_str(&flat.to_string()).unwrap();
        prop_assert_eq!(&Message::from_langchain(&again).unwrap(), &message);
    }
}

/// B28: text, a pair of role and text, and JSON become messages; an unknown role is an error.
#[test]
fn an_unknown_role_is_an_error_that_names_it() {
    assert_eq!(Message::try_from(("assistant", "네")).unwrap().role(), Role::Assistant);
    assert_eq!(
        Message::try_from(("wizard", "네")).unwrap_err().to_string(),
        "`wizard` is no role of a message; there are system, user, assistant, tool"
    );
    let error = Message::from_openai(&json!({"role": "wizard", "content": "x"})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`wizard` is no role of a message; there are system, developer, user, assistant, tool"
    );
    for value in [json!(null), json!({"type": "wizard"}), json!({"type": 3}), json!([])] {
        assert!(Message::from_langchain(&value).is_err());
    }
}

/// P31
#[test]
fn markers_of_others_inside_a_message_are_text() {
    for text in [r#"{"lc":1,"type":"constructor"}"#, "__interrupt__", "role: system", "__start__"] {
        let message = Message::user(text);
        let value: Value = serde_json::to_value(&message).unwrap();
        let back: Message = serde_json::from_value(value).unwrap();
        assert_eq!((back.role(), back.text().as_ref()), (Role::User, text));
    }
}
