//! Conversations: the reducer by ids, and the JSON of others.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_state::{
    Arguments, Json, Message, MessageOp, Messages, Role, State, StateUpdate, ToolCall,
};
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
        full().to_langchain(),
        observation.to_langchain(),
    ]));
    for message in [Message::system("규칙"), Message::user("안녕"), observation] {
        assert_eq!(Message::from_langchain(&message.to_langchain()).unwrap(), message);
    }
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
