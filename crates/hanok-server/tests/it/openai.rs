//! OpenAI's way in.

use reqwest::Method;
use serde_json::{Value, json};

use crate::served::{Served, read};

fn says(text: &str) -> Value {
    json!({"model": "chat", "messages": [{"role": "user", "content": text}]})
}

fn content(answer: &Value) -> &str {
    answer["choices"][0]["message"]["content"].as_str().unwrap()
}

#[tokio::test]
async fn a_graph_is_a_model() {
    let server = Served::start().await;
    let (status, models) = server.get("/v1/models").await;
    assert_eq!((status, &models["data"][0]["id"]), (200, &json!("chat")));

    let (status, answer) = server.post("/v1/chat/completions", says("hello there")).await;
    assert_eq!((status, content(&answer)), (200, "HELLO THERE"));
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    assert_eq!(answer["usage"]["total_tokens"], 0);
}

#[tokio::test]
async fn an_answer_is_streamed_word_by_word() {
    let server = Served::start().await;
    let mut body = says("one two three");
    body["stream"] = json!(true);
    body["stream_options"] = json!({"include_usage": true});
    let events = server.stream("/v1/chat/completions", body).await;
    let delta = |data: &Value| data["choices"][0]["delta"]["content"].as_str().map(str::to_owned);
    let words: Vec<_> = events.iter().filter_map(|event| delta(&event.data)).collect();
    assert_eq!(words, ["", "ONE ", "TWO ", "THREE"]);
    let finish = events.iter().map(|event| event.data["choices"][0]["finish_reason"].clone());
    assert_eq!(finish.filter(|finish| finish == "stop").count(), 1);
    assert_eq!(events[events.len() - 2].data["usage"]["prompt_tokens"], 0);
    assert_eq!(events.last().unwrap().data, json!("[DONE]"));
}

#[tokio::test]
async fn a_thread_goes_on_with_what_is_new() {
    let server = Served::start().await;
    let ask = async |body: Value| {
        let request = server.request(Method::POST, "/v1/chat/completions");
        read(request.header("x-thread-id", "t1").json(&body).send().await.unwrap()).await
    };
    assert_eq!(ask(says("one")).await.0, 200);
    let history = json!([
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "ONE"},
        {"role": "user", "content": "two"},
    ]);
    let (status, answer) = ask(json!({"model": "chat", "messages": history})).await;
    assert_eq!((status, content(&answer)), (200, "TWO"));
    assert_eq!(answer["metadata"]["thread_id"], "t1");
    let said = json!({"model": "chat", "messages": [{"role": "assistant", "content": "ONE"}]});
    assert_eq!(ask(said).await.0, 422);
}

#[tokio::test]
async fn a_question_is_text_with_its_requests_and_is_answered_by_id() {
    let server = Served::start().await;
    let mut asks = says("tea or coffee?");
    asks["metadata"] = json!({"thread_id": "t1"});
    let (status, answer) = server.post("/v1/chat/completions", asks.clone()).await;
    assert_eq!((status, content(&answer)), (200, "What do you think?"));
    let request = answer["hanok"]["requests"][0]["id"].as_str().unwrap().to_owned();

    let (status, refused) = server.post("/v1/chat/completions", asks.clone()).await;
    assert_eq!((status, &refused["error"]["type"]), (409, &json!("invalid_request_error")));
    asks["hanok"] = json!({"answers": {request.clone(): "tea"}});
    let (status, answer) = server.post("/v1/chat/completions", asks.clone()).await;
    assert_eq!((status, content(&answer)), (200, "TEA"));
    let (status, again) = server.post("/v1/chat/completions", asks).await;
    assert_eq!((status, &again["error"]["code"]), (409, &json!("HNK-212")), "{again}");
}

/// P51
#[tokio::test]
async fn an_error_is_one_of_openai_and_says_nothing_from_inside() {
    let server = Served::start().await;
    let (status, failed) = server.post("/v1/chat/completions", says("fail")).await;
    assert_eq!((status, &failed["error"]["message"]), (500, &json!("the run failed")));
    assert!(!failed.to_string().contains("4711"));
    let (status, unknown) =
        server.post("/v1/chat/completions", json!({"model": "stove", "messages": []})).await;
    assert_eq!(status, 404);
    assert_eq!(unknown["error"]["message"], "there is no graph `stove`; served are chat");
    let bare = server.bare(Method::GET, "/v1/models").send().await.unwrap();
    let (status, unsigned) = read(bare).await;
    assert_eq!((status, &unsigned["error"]["type"]), (401, &json!("authentication_error")));
}
