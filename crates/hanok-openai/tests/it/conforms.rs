//! The model and the embedder hold what every model and embedder has to hold.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use hanok_openai::OpenAiBuilder;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::server::{self, Received, Script, Server, piece, settings, stream};

/// One server for all tests: it answers whole or streamed, as it is asked.
static SERVER: OnceCell<Server> = OnceCell::const_new();

async fn server() -> OpenAiBuilder {
    let server = SERVER.get_or_init(|| Server::answering(answered)).await;
    settings(&server.base_url)
}

fn answered(received: &Received) -> Script {
    let request = received.json();
    if let Some(texts) = request["input"].as_array() {
        let vector = |text: &Value| {
            let bytes = text.as_str().unwrap_or_default().bytes();
            let sums = bytes.enumerate().fold([1.0_f64; 4], |mut sums, (at, byte)| {
                sums[at % 4] += f64::from(byte);
                sums
            });
            json!(sums)
        };
        let data = texts.iter().enumerate().map(|(index, text)| {
            json!({"object": "embedding", "index": index, "embedding": vector(text)})
        });
        let usage = json!({"prompt_tokens": 4, "total_tokens": 4});
        let body = json!({"object": "list", "model": "e", "data": data.collect::<Vec<_>>(), "usage": usage});
        return server::json(200, body.to_string());
    }
    let call = |index: u32, city: &str| {
        let function = json!({"name": "weather", "arguments": json!({"city": city}).to_string()});
        json!({"index": index, "id": format!("call-{city}"), "type": "function", "function": function})
    };
    let calls = match request["tools"].as_array() {
        Some(_) => json!([call(0, "Seoul"), call(1, "Busan")]),
        None => Value::Null,
    };
    let usage = json!({"prompt_tokens": 12, "completion_tokens": 3});
    let finish = if calls.is_null() { "stop" } else { "tool_calls" };
    if request["stream"] == true {
        let last = json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": finish}]});
        let usage = json!({"choices": [], "usage": usage});
        let pieces = [piece("hello "), piece("world"), last.to_string(), usage.to_string()];
        return stream(&pieces.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let message = json!({"role": "assistant", "content": "hello world", "tool_calls": calls});
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    server::json(200, json!({"model": "m", "choices": [choice], "usage": usage}).to_string())
}

mod chat {
    hanok_testkit::chat_model_conforms!(super::server().await.build().unwrap());
}

mod embedder {
    hanok_testkit::embedder_conforms!(super::server().await.embedder("e").unwrap());
}
