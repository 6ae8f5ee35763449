//! A real server, where one is named: `HANOK_TEST_OPENAI_BASE_URL`. It is asked for the form of answers, not for facts.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok_model::{ChatModel, ChatRequest, Finish, ResponseFormat};
use hanok_openai::OpenAi;
use hanok_state::Message;
use serde_json::{Value, json};

use crate::server::{Watcher, call};

const SERVER: &str = "HANOK_TEST_OPENAI_BASE_URL";

#[tokio::test]
async fn a_real_server_answers_whole_streamed_and_in_json() {
    let Ok(base_url) = std::env::var(SERVER) else {
        println!("skipped: {SERVER} names no server");
        return;
    };
    let model = OpenAi::builder(base_url).discover().await.unwrap();
    let ask = || {
        ChatRequest::new([Message::user("안녕하세요라고만 답하세요.")])
            .max_tokens(32)
            .temperature(0.0)
    };

    let call = call();
    let whole = model.chat(ask(), &call).await.unwrap();
    assert!(!whole.message.text().is_empty() && !whole.usage.estimated, "{whole:?}");
    assert_eq!(call.spend().spent(), whole.usage.spent());

    let watcher = Watcher::default();
    let streamed = model.chat(ask(), &watcher.call()).await.unwrap();
    assert_eq!(watcher.text(), streamed.message.text());
    assert!(watcher.seen().len() > 1 && !streamed.usage.estimated, "{streamed:?}");
    assert!(matches!(streamed.finish, Finish::Stop | Finish::Length));

    let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"], "additionalProperties": false});
    let format = ResponseFormat::JsonSchema { name: "leave".into(), schema: schema.into() };
    let structured = model.chat(ask().response_format(format), &call).await.unwrap();
    let value: Value = serde_json::from_str(&structured.message.text()).unwrap();
    assert!(value["days"].is_i64(), "{value}");
}
