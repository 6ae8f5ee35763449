//! Calls in the shapes in which servers stream them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use hanok_model::{ChatModel, ChatReply, Finish};
use hanok_state::ToolCall;
use serde_json::{Value, json};

use crate::server::{self, Server, Step, Watcher, call, head, json as whole, stream};

/// A chunk as OpenAI and those that follow it closely send them.
fn chunk(delta: Value, finish: Option<&str>) -> String {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m-1",
        "system_fingerprint": "fp", "service_tier": "default",
        "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
    })
    .to_string()
}

fn calls(calls: Value) -> String {
    chunk(json!({ "tool_calls": calls }), None)
}

fn piece(index: u64, arguments: &str) -> String {
    calls(json!([{"index": index, "function": {"arguments": arguments}}]))
}

fn end(finish: &str) -> String {
    chunk(json!({}), Some(finish))
}

/// The reply to a stream of `events`, in one piece and byte by byte, which have to be the same.
async fn reply(events: &[String]) -> ChatReply {
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let text: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let bytes = format!("{text}data: [DONE]\n\n").into_bytes();
    let bytewise = bytes.chunks(1).map(|byte| Step::Send(byte.to_vec()));
    let bytewise = [head()].into_iter().chain(bytewise).collect();
    let server = Server::start(vec![stream(&events), bytewise]).await;
    let model = server.model();
    let mut replies = Vec::new();
    for _ in 0..2 {
        let watcher = Watcher::default();
        replies.push(model.chat(server::ask(), &watcher.call()).await.unwrap());
        // Half a call is shown to nobody.
        assert!(!watcher.text().contains("query"), "{}", watcher.text());
        // Whoever asks for the pieces of calls is given all of them, those of a call that is cut off too.
        let calls = replies.last().cloned().unwrap().message;
        let whole = calls.tool_calls().iter().map(|call| call.arguments.as_str().to_owned());
        let whole: Vec<_> = whole.filter(|arguments| arguments != "{}").collect();
        let given: Vec<_> = watcher.arguments().into_iter().filter(|it| it != "{}").collect();
        assert!(given.starts_with(&whole), "{given:?} {whole:?}");
    }
    let [one, other] = <[ChatReply; 2]>::try_from(replies).unwrap();
    assert_eq!(one, other);
    one
}

fn read(reply: &ChatReply) -> Vec<(&str, &str)> {
    reply.message.tool_calls().iter().map(|c| (c.name.as_str(), c.arguments.as_str())).collect()
}

fn ids(reply: &ChatReply) -> Vec<&str> {
    reply.message.tool_calls().iter().map(|c: &ToolCall| c.id.as_str()).collect()
}

const BOTH: [(&str, &str); 2] =
    [("search", r#"{"query":"휴가"}"#), ("search", r#"{"query":"연차"}"#)];

/// OpenAI: the id and the name on the first piece, the arguments in pieces, calls by their index, even in turns.
#[tokio::test]
async fn openai_gives_pieces_by_index() {
    let begin = |index: u64, id: &str| json!({"index": index, "id": id, "type": "function", "function": {"name": "search", "arguments": ""}});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 8}}});
    let events = [
        chunk(
            json!({"role": "assistant", "content": null, "tool_calls": [begin(0, "call_a")], "refusal": null}),
            None,
        ),
        piece(0, "{\""),
        calls(json!([begin(1, "call_b")])),
        piece(1, "{\"query\":"),
        piece(0, "query\":\"휴"),
        piece(1, "\"연차\"}"),
        piece(0, "가\"}"),
        end("tool_calls"),
        usage.to_string(),
    ];
    let reply = reply(&events).await;
    assert_eq!((read(&reply), ids(&reply)), (BOTH.to_vec(), vec!["call_a", "call_b"]));
    assert_eq!((reply.finish, reply.usage.cached_tokens), (Finish::ToolCalls, 8));
}

/// vLLM: a name without arguments first; a required call ends with `stop`.
#[tokio::test]
async fn vllm_gives_a_name_and_then_arguments() {
    for finish in ["tool_calls", "stop"] {
        let begin = |index: u64| {
            let id = format!("chatcmpl-tool-{index}");
            calls(
                json!([{"id": id, "type": "function", "index": index, "function": {"name": "search"}}]),
            )
        };
        let events = [
            chunk(json!({"role": "assistant", "content": ""}), None),
            chunk(json!({"content": "\n\n"}), None),
            begin(0),
            piece(0, "{\"query\":"),
            piece(0, "\"휴가\"}"),
            begin(1),
            piece(1, "{\"query\":\"연차\"}"),
            piece(1, ""),
            end(finish),
        ];
        let reply = reply(&events).await;
        assert_eq!((read(&reply), reply.finish), (BOTH.to_vec(), Finish::ToolCalls), "{finish}");
    }
}

/// llama.cpp: the first piece has the beginning of the arguments; null contents and fields of its own.
#[tokio::test]
async fn llama_cpp_gives_arguments_from_the_first_piece_on() {
    let begin = |index: u64, id: &str| {
        calls(
            json!([{"index": index, "id": id, "type": "function", "function": {"name": "search", "arguments": "{"}}]),
        )
    };
    let last = json!({
        "choices": [{"finish_reason": "tool_calls", "index": 0, "delta": {}}],
        "timings": {"prompt_n": 1}, "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    });
    let events = [
        chunk(json!({"role": "assistant", "content": null}), None),
        begin(0, "aB1"),
        piece(0, "\"query\":"),
        piece(0, "\"휴가\""),
        piece(0, "}"),
        begin(1, "cD2"),
        piece(1, "\"query\":\"연차\"}"),
        last.to_string(),
    ];
    let reply = reply(&events).await;
    assert_eq!((read(&reply), ids(&reply)), (BOTH.to_vec(), vec!["aB1", "cD2"]));
    assert_eq!(reply.usage.output_tokens, 2);
}

/// Ollama: each call whole in one piece, all with the index 0, and `stop` at the end.
#[tokio::test]
async fn ollama_gives_whole_calls_under_one_index() {
    let one = |id: &str, arguments: &str| {
        let call = json!({"id": id, "index": 0, "type": "function", "function": {"name": "search", "arguments": arguments}});
        chunk(json!({"role": "assistant", "content": "", "tool_calls": [call]}), None)
    };
    let events = [one("call_1", BOTH[0].1), one("call_2", BOTH[1].1), end("stop")];
    let reply = reply(&events).await;
    assert_eq!((read(&reply), ids(&reply)), (BOTH.to_vec(), vec!["call_1", "call_2"]));
}

/// Others leave out the index, the id or both, give arguments as an object, or say the name with each piece.
#[tokio::test]
async fn servers_leave_out_what_they_like() {
    let bare = |query: &str| json!({"function": {"name": "search", "arguments": {"query": query}}});
    let id = |id: &str, query: &str| json!({"id": id, "function": {"name": "search", "arguments": format!(r#"{{"query":"{query}"}}"#)}});
    let named = |arguments: &str| {
        calls(
            json!([{"index": 0, "id": "a", "function": {"name": "search", "arguments": arguments}}]),
        )
    };
    let cases = [
        vec![calls(json!([bare("휴가")])), calls(json!([bare("연차")]))],
        vec![calls(json!([bare("휴가"), bare("연차")]))],
        vec![calls(json!([id("a", "휴가"), id("b", "연차")]))],
        // Two calls of one id are two: who reads the reply gives them ids of their own.
        vec![calls(json!([id("a", "휴가"), id("a", "연차")]))],
        vec![
            named("{\"query\":"),
            named("\"휴가\"}"),
            calls(
                json!([{"index": 1, "function": {"name": "search", "arguments": {"query": "연차"}}}]),
            ),
        ],
    ];
    for mut events in cases {
        events.push(end("tool_calls"));
        let reply = reply(&events).await;
        assert_eq!(read(&reply), BOTH, "{events:?}");
        assert!(ids(&reply).iter().all(|id| !id.is_empty()));
    }
    // A call that is said again as a whole is one.
    let again = [named(BOTH[0].1), named(BOTH[0].1), end("tool_calls")];
    assert_eq!(read(&reply(&again).await), BOTH[..1]);
    // As it was before there were several.
    let old = |name: Option<&str>, arguments: &str| {
        chunk(json!({"function_call": {"name": name, "arguments": arguments}}), None)
    };
    let events = [old(Some("search"), "{\"query\":"), old(None, "\"휴가\"}"), end("function_call")];
    let reply = reply(&events).await;
    assert_eq!((read(&reply), reply.finish), (BOTH[..1].to_vec(), Finish::ToolCalls));
}

/// P16: of an answer that was cut off, a call is one only if it is whole.
#[tokio::test]
async fn a_cut_off_call_is_none() {
    for arguments in ["", "{", "{\"query\":\"연차\""] {
        let second = json!([{"index": 1, "id": "b", "function": {"name": "search", "arguments": arguments}}]);
        let first = json!([{"index": 0, "id": "a", "function": {"name": "search", "arguments": BOTH[0].1}}]);
        let events = [calls(first), calls(second), end("length")];
        let reply = reply(&events).await;
        assert_eq!((read(&reply), reply.finish), (BOTH[..1].to_vec(), Finish::Length));
    }
}

#[tokio::test]
async fn a_refusal_is_told_apart_from_an_answer() {
    let piece = |text: &str| chunk(json!({ "refusal": text }), None);
    let reply = reply(&[piece("I can't "), piece("help."), end("stop")]).await;
    assert_eq!((reply.message.text().as_ref(), reply.finish), ("I can't help.", Finish::Refused));

    let body = json!({"choices": [{"message": {"content": null, "refusal": "No."}, "finish_reason": "stop"}]});
    let server = Server::start(vec![whole(200, body.to_string())]).await;
    let reply = server.model().chat(server::ask(), &call()).await.unwrap();
    assert_eq!((reply.message.text().as_ref(), reply.finish), ("No.", Finish::Refused));
}
