//! Chats by the name of a session.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    clerk,
    served::{Served, read},
};

fn says(session: &str, text: &str) -> Value {
    json!({"session_id": session, "message": text})
}

fn told(session: &str, text: &str) -> Value {
    json!({"session_id": session, "message": text, "graph": "clerk"})
}

#[tokio::test]
async fn a_message_is_answered_with_what_the_documents_say_and_nothing_else() {
    let server = clerk::served().await;
    let (status, answer) = server.post("/v1/chat", says("사용자 1/둘", "회사 휴가 정책")).await;
    let want = json!({
        "response": "회사 휴가 정책", "tool_calls": [], "metadata": {"thread_id": "사용자 1/둘"},
    });
    assert_eq!((status, answer), (200, want));
}

#[tokio::test]
async fn a_session_that_waits_refuses_a_message_and_says_what_is_open() {
    let server = clerk::served().await;
    let (status, asks) = server.post("/v1/chat", told("s1", "pay")).await;
    let open = &asks["metadata"]["requests"];
    assert_eq!((status, open.as_array().unwrap().len()), (200, 1), "{asks}");
    let (status, refused) = server.post("/v1/chat", told("s1", "hello?")).await;
    assert_eq!((status, &refused["code"]), (409, &json!("HNK-210")));
    assert_eq!(&refused["requests"], open);
    let streamed = server.post("/v1/chat/stream", told("s1", "hello?")).await;
    assert_eq!((streamed.0, &streamed.1["requests"]), (409, open));

    let (status, run) = server.post("/approve/s1", json!({"user_action": "accept"})).await;
    assert_eq!((status, &run["metadata"]["thread_id"]), (200, &json!("s1")), "{run}");
    let (_, answer) = server.post("/v1/chat", told("s1", "thanks")).await;
    assert_eq!(answer["response"], r#"{"decision":"approve","digest":"d1"}"#, "{answer}");
    // The calls are those of this turn.
    assert_eq!(answer["tool_calls"], json!([]));
}

#[tokio::test]
async fn a_stream_tells_the_steps_the_words_and_the_sources() {
    let server = clerk::served().await;
    let events = server.stream("/v1/chat/stream", told("s1", "hello you")).await;
    let told: Vec<_> = events.iter().map(|event| event.data.clone()).collect();
    let of = |kind: &str| told.iter().filter(|it| it["type"] == kind).cloned().collect::<Vec<_>>();
    let steps: Vec<_> = of("thinking").iter().map(|it| it["step"].clone()).collect();
    let position = |step: &str| steps.iter().position(|it| it == step);
    assert_eq!(steps.iter().filter(|step| **step == "evaluation_result").count(), 1, "{told:?}");
    assert_eq!(steps.iter().filter(|step| **step == "generating").count(), 1, "{told:?}");
    assert!(position("planning") < position("evaluation_result"));
    assert!(position("evaluation_result") < position("generating"));
    assert!(of("thinking").iter().any(|it| it["content"] == json!({"round": 1})), "{told:?}");
    let words = [json!("heard "), json!("hello "), json!("you")];
    assert_eq!(of("token").iter().map(|it| it["content"].clone()).collect::<Vec<_>>(), words);
    let count = told.len();
    assert_eq!(told[count - 2], json!({"type": "sources", "content": ["the bill"]}));
    let done = json!({
        "type": "done", "response": "heard hello you", "tool_calls": [],
        "metadata": {"thread_id": "s1"},
    });
    assert_eq!(told[count - 1], done);

    let asks = server.stream("/v1/chat/stream", told_pay()).await;
    let tool = asks.iter().find(|event| event.data["step"] == "tool_selected").unwrap();
    assert_eq!(tool.data["content"], "pay");
    let last = &asks.last().unwrap().data;
    assert_eq!(last["metadata"]["requests"][0]["payload"]["tool"], "pay");
}

fn told_pay() -> Value {
    told("s2", "pay")
}

#[tokio::test]
async fn a_failure_is_an_error_and_the_last_of_a_stream() {
    let server = Served::start().await;
    let (status, failed) = server.post("/v1/chat", says("s1", "fail")).await;
    assert_eq!((status, &failed["detail"]), (500, &json!("the run failed")));
    let events = server.stream("/v1/chat/stream", says("s1", "fail")).await;
    let last = &events.last().unwrap().data;
    assert_eq!((&last["type"], &last["detail"]), (&json!("error"), &json!("the run failed")));
    assert!(!format!("{events:?}{failed}").contains("4711"));
    for (body, status) in [
        (json!({"session_id": "s"}), 422),
        (json!({"message": "x"}), 422),
        (says("", "x"), 422),
        (says("a\nb", "x"), 422),
        (says(&"x".repeat(300), "x"), 422),
        (json!({"session_id": "s", "message": "x", "graph": "stove"}), 404),
    ] {
        let (is, error) = server.post("/v1/chat", body.clone()).await;
        assert_eq!(is, status, "{body} {error}");
        assert!(error["code"].is_string() && error["request_id"].is_string());
    }
}

#[tokio::test]
async fn a_session_is_read_and_its_history_keeps_what_was_said() {
    let server = clerk::served().await;
    for text in ["one", "two"] {
        server.post("/v1/chat", told("s1", text)).await;
    }
    let (status, session) = server.get("/v1/threads/s1").await;
    assert_eq!((status, &session["graph"]), (200, &json!("clerk")), "{session}");
    assert_eq!((&session["status"], &session["requests"]), (&json!("idle"), &json!([])));
    let texts = |all: &Value| -> Vec<String> {
        let all = all["messages"].as_array().unwrap().iter();
        all.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(&session), ["one", "heard one", "two", "heard two"]);
    let (_, history) = server.get("/v1/threads/s1/history").await;
    assert_eq!((&history["total"], texts(&history)), (&json!(4), texts(&session)));
    let (_, page) = server.get("/v1/threads/s1/history?offset=1&limit=2").await;
    assert_eq!(texts(&page), ["heard one", "two"]);
    // By its UUID it is the same, and goes on.
    let id = session["id"].as_str().unwrap();
    assert_eq!(server.get(&format!("/v1/threads/{id}")).await.1, session);
    let (_, answer) = server.post("/v1/chat", says(id, "three")).await;
    assert_eq!(answer["response"], "heard three");
    assert_eq!(answer["metadata"]["thread_id"], "s1");
    assert_eq!(server.get("/v1/threads/s2").await.0, 404);
    assert_eq!(server.get("/v1/threads/s2/history").await.0, 404);
    assert_eq!(server.get("/v1/threads/s1/history?limit=0").await.0, 422);
}

/// P53: a message that is sent again under its key is said once.
#[tokio::test]
async fn a_message_under_a_key_is_said_once() {
    let server = clerk::served().await;
    let say = async |body: Value| {
        let request = server.request(Method::POST, "/v1/chat").header("idempotency-key", "k1");
        read(request.json(&body).send().await.unwrap()).await
    };
    // Also where the run has asked something since.
    let first = say(told("s1", "pay")).await;
    assert_eq!(first.0, 200);
    assert_eq!(say(told("s1", "pay")).await, first);
    assert_eq!(say(told("s1", "both")).await.0, 422);
    let (_, history) = server.get("/v1/threads/s1/history").await;
    assert_eq!(history["total"], 1);
}
