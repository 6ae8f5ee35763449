//! Answers that are not those of OpenAI's own types, one deviation each: servers leave out, add and rename, and their answers are
//! read all the same.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

mod server;

use hanok_model::{ChatModel, ChatReply, Finish};
use serde_json::{Value, json};

use server::{Server, Watcher, ask, stream};

/// One chunk, and what a reply of it is: text, reasoning, calls, finish, tokens that were read.
type Case = (&'static str, Value, (&'static str, &'static str, &'static str, Finish, u64));

fn cases() -> Vec<Case> {
    let delta =
        |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]});
    let text = |more: Value| {
        let mut chunk = delta(json!({"content": "네"}));
        chunk.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        chunk
    };
    let call = |call: Value| json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let said = ("네", "", "", Finish::Stop);
    let with = |read: u64| (said.0, said.1, said.2, said.3, read);
    let called = ("", "", r#"now({"zone":"utc"})"#, Finish::ToolCalls, 0);
    vec![
        ("neither id nor object nor created", text(json!({})), with(0)),
        ("no model", text(json!({"id": "c1", "object": "chat.completion.chunk"})), with(0)),
        (
            "null where a text is",
            text(json!({"model": null, "id": null, "created": null})),
            with(0),
        ),
        (
            "no index of the choice",
            json!({"choices": [{"delta": {"content": "네"}, "finish_reason": "stop"}]}),
            with(0),
        ),
        (
            "a whole message in a stream",
            json!({"choices": [{"message": {"content": "네"}, "finish_reason": "stop"}]}),
            with(0),
        ),
        ("no role", delta(json!({"content": "네"})), with(0)),
        ("a role of its own", delta(json!({"role": "model", "content": "네"})), with(0)),
        ("usage beside the text", text(json!({"usage": {"prompt_tokens": 7}})), with(7)),
        (
            "usage without its details",
            text(
                json!({"usage": {"prompt_tokens": 7, "completion_tokens": 1, "prompt_tokens_details": null}}),
            ),
            with(7),
        ),
        ("usage that is null", text(json!({"usage": null})), with(0)),
        (
            "fields that nobody knows",
            text(json!({"x_server": {"gpu": [1]}, "timings": {"ms": 1.5}})),
            with(0),
        ),
        (
            "a finish of its own",
            json!({"choices": [{"delta": {"content": "네"}, "finish_reason": "eos_token"}]}),
            ("네", "", "", Finish::Other, 0),
        ),
        ("content in parts", delta(json!({"content": [{"type": "text", "text": "네"}]})), with(0)),
        (
            "reasoning_content",
            delta(json!({"reasoning_content": "음", "content": "네"})),
            ("네", "음", "", Finish::Stop, 0),
        ),
        (
            "reasoning",
            delta(json!({"reasoning": "음", "content": "네"})),
            ("네", "음", "", Finish::Stop, 0),
        ),
        (
            "a refusal beside no content",
            delta(json!({"content": null, "refusal": "못 해요"})),
            ("못 해요", "", "", Finish::Refused, 0),
        ),
        (
            "a call without an index",
            call(
                json!({"id": "a", "type": "function", "function": {"name": "now", "arguments": r#"{"zone":"utc"}"#}}),
            ),
            called,
        ),
        (
            "a call without an id",
            call(
                json!({"index": 0, "type": "function", "function": {"name": "now", "arguments": r#"{"zone":"utc"}"#}}),
            ),
            called,
        ),
        (
            "a call without a type",
            call(
                json!({"index": 0, "id": "a", "function": {"name": "now", "arguments": r#"{"zone":"utc"}"#}}),
            ),
            called,
        ),
        (
            "arguments as an object",
            call(
                json!({"index": 0, "id": "a", "function": {"name": "now", "arguments": {"zone": "utc"}}}),
            ),
            called,
        ),
        (
            "the call of before there were several",
            json!({"choices": [{"delta": {"function_call": {"name": "now", "arguments": r#"{"zone":"utc"}"#}}, "finish_reason": "function_call"}]}),
            called,
        ),
    ]
}

fn told(reply: &ChatReply) -> (String, String, String, Finish) {
    let calls = reply.message.tool_calls().iter();
    let calls = calls.map(|call| format!("{}({})", call.name, call.arguments.as_str()));
    let calls = calls.collect::<Vec<_>>().join(" ");
    let reasoning = reply.reasoning.clone().unwrap_or_default();
    (reply.message.text().into_owned(), reasoning, calls, reply.finish)
}

#[tokio::test]
async fn every_deviation_is_read() {
    for (what, chunk, (text, reasoning, calls, finish, read)) in cases() {
        let server = Server::start(vec![stream(&[&chunk.to_string()])]).await;
        let watcher = Watcher::default();
        let reply = server.model().chat(ask(), &watcher.call()).await;
        let reply = reply.unwrap_or_else(|error| panic!("{what}: {error:?}"));
        let want = (text.to_owned(), reasoning.to_owned(), calls.to_owned(), finish);
        assert_eq!(told(&reply), want, "{what}");
        assert!(
            reply.usage.input_tokens == read || reply.usage.estimated,
            "{what}: {:?}",
            reply.usage
        );
    }
}
