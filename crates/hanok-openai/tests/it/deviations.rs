//! What servers leave out, or write otherwise, in the pieces of a stream: a line for each deviation.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use async_openai::types::chat::CreateChatCompletionStreamResponse;
use hanok_model::{ChatModel, Finish};

use crate::server::{Server, Watcher, ask, stream};

/// A piece as OpenAI's API describes it.
const WHOLE: &str = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"content":"15"},"logprobs":null,"finish_reason":null}]}"#;

/// What differs, the piece, and whether async-openai's type of a piece reads it too.
const TEXTS: [(&str, &str, bool); 17] = [
    ("nothing", WHOLE, true),
    (
        "no id",
        r#"{"object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":{"content":"15"}}]}"#,
        false,
    ),
    (
        "no object",
        r#"{"id":"c","created":1,"model":"m-1","choices":[{"index":0,"delta":{"content":"15"}}]}"#,
        false,
    ),
    (
        "no time",
        r#"{"id":"c","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"content":"15"}}]}"#,
        false,
    ),
    (
        "a time with a fraction",
        r#"{"id":"c","object":"chat.completion.chunk","created":1.5,"model":"m-1","choices":[{"index":0,"delta":{"content":"15"}}]}"#,
        false,
    ),
    (
        "no model",
        r#"{"id":"c","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"content":"15"}}]}"#,
        false,
    ),
    ("the choice alone", r#"{"choices":[{"delta":{"content":"15"}}]}"#, false),
    (
        "null for an id and a model",
        r#"{"id":null,"model":null,"choices":[{"index":0,"delta":{"content":"15"}}]}"#,
        false,
    ),
    ("null for an index", r#"{"choices":[{"index":null,"delta":{"content":"15"}}]}"#, false),
    (
        "an unknown reason",
        r#"{"choices":[{"delta":{"content":"15"},"finish_reason":"eos"}]}"#,
        false,
    ),
    ("an empty reason", r#"{"choices":[{"delta":{"content":"15"},"finish_reason":""}]}"#, false),
    ("an unknown role", r#"{"choices":[{"delta":{"role":"model","content":"15"}}]}"#, false),
    (
        "a content in parts",
        r#"{"choices":[{"delta":{"content":[{"type":"text","text":"15"}]}}]}"#,
        false,
    ),
    ("a message in place of a delta", r#"{"choices":[{"message":{"content":"15"}}]}"#, false),
    (
        "null for calls",
        r#"{"choices":[{"delta":{"content":"15","tool_calls":null,"function_call":null}}]}"#,
        false,
    ),
    (
        "usage in part",
        r#"{"choices":[{"delta":{"content":"15"}}],"usage":{"prompt_tokens":3}}"#,
        false,
    ),
    (
        "more than is known",
        r#"{"choices":[{"delta":{"content":"15","x":[1]},"stop_reason":7}],"timings":{"ms":1},"error":null}"#,
        false,
    ),
];

#[tokio::test]
async fn a_piece_is_read_whatever_its_server_leaves_out_or_adds() {
    for (deviation, piece, strict) in TEXTS {
        let typed = serde_json::from_str::<CreateChatCompletionStreamResponse>(piece);
        assert_eq!(typed.is_ok(), strict, "{deviation}: {typed:?}");

        let end = r#"{"choices":[{"delta":{"content":"일"},"finish_reason":"stop"}]}"#;
        let server = Server::start(vec![stream(&[piece, end])]).await;
        let watcher = Watcher::default();
        let reply = server.model().chat(ask(), &watcher.call()).await.unwrap();
        assert_eq!(reply.message.text(), "15일", "{deviation}");
        assert_eq!((watcher.text().as_str(), reply.finish), ("15일", Finish::Stop), "{deviation}");
    }
}

/// What differs, and the pieces of a call of `now` with `{"zone":"UTC"}`.
const CALLS: [(&str, &[&str]); 8] = [
    (
        "nothing",
        &[
            r#"{"index":0,"id":"a","type":"function","function":{"name":"now","arguments":""}}"#,
            r#"{"index":0,"function":{"arguments":"{\"zone\":"}}"#,
            r#"{"index":0,"function":{"arguments":"\"UTC\"}"}}"#,
        ],
    ),
    (
        "no type",
        &[r#"{"index":0,"id":"a","function":{"name":"now","arguments":"{\"zone\":\"UTC\"}"}}"#],
    ),
    (
        "no index",
        &[
            r#"{"id":"a","function":{"name":"now","arguments":"{\"zone\":"}}"#,
            r#"{"function":{"arguments":"\"UTC\"}"}}"#,
        ],
    ),
    ("no id", &[r#"{"index":0,"function":{"name":"now","arguments":"{\"zone\":\"UTC\"}"}}"#]),
    (
        "null for what does not change",
        &[
            r#"{"index":0,"id":"a","function":{"name":"now","arguments":null}}"#,
            r#"{"index":0,"id":null,"type":null,"function":{"name":null,"arguments":"{\"zone\":\"UTC\"}"}}"#,
        ],
    ),
    (
        "the name in each piece",
        &[
            r#"{"index":0,"id":"a","function":{"name":"now","arguments":"{\"zone\":"}}"#,
            r#"{"index":0,"id":"a","function":{"name":"now","arguments":"\"UTC\"}"}}"#,
        ],
    ),
    (
        "arguments that are an object",
        &[r#"{"index":0,"id":"a","function":{"name":"now","arguments":{"zone":"UTC"}}}"#],
    ),
    (
        "a piece without a function",
        &[
            r#"{"index":0,"id":"a","function":{"name":"now","arguments":"{\"zone\":\"UTC\"}"}}"#,
            r#"{"index":0}"#,
        ],
    ),
];

#[tokio::test]
async fn a_call_is_read_whatever_its_server_leaves_out_or_adds() {
    for (deviation, pieces) in CALLS {
        let delta =
            |call: &&str| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{call}]}}}}]}}"#);
        let mut events: Vec<_> = pieces.iter().map(delta).collect();
        events.push(r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#.to_owned());
        let events: Vec<_> = events.iter().map(String::as_str).collect();
        let server = Server::start(vec![stream(&events)]).await;
        let reply = server.model().chat(ask(), &Watcher::default().call()).await.unwrap();
        let [call] = reply.message.tool_calls() else { panic!("{deviation}: {reply:?}") };
        let arguments: serde_json::Value = call.arguments.decode().unwrap();
        assert_eq!(
            (call.name.as_str(), arguments, call.id.is_empty()),
            ("now", serde_json::json!({"zone": "UTC"}), false),
            "{deviation}"
        );
    }
}
