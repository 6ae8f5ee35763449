//! Approvals by the name of a session.

use futures::future::join_all;
use hanok_server::public_id;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    clerk,
    served::{Served, read},
};

/// A session in which `text` was said, and what it asks.
async fn asked(server: &Served, session: &str, text: &str) -> Vec<Value> {
    let body = json!({"session_id": session, "message": text, "graph": "clerk"});
    let (status, asks) = server.post("/v1/chat", body).await;
    assert_eq!(status, 200, "{asks}");
    asks["metadata"]["requests"].as_array().unwrap().clone()
}

/// What was said last, once all runs are over.
async fn last(server: &Served, session: &str) -> String {
    loop {
        let (_, thread) = server.get(&format!("/v1/threads/{session}")).await;
        if thread["status"] != "busy" {
            let messages = thread["messages"].as_array().unwrap();
            return messages.last().unwrap()["content"].as_str().unwrap().to_owned();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_action_is_the_decision_that_the_request_asks_for() {
    let server = clerk::served().await;
    for (nth, (approval, decision)) in [
        (json!({"user_action": "approve"}), json!({"decision": "approve", "digest": "d1"})),
        (
            json!({"user_action": "edit", "edited_content": {"euros": 4}}),
            json!({"decision": "edit", "arguments": {"euros": 4}, "digest": "d1"}),
        ),
        (
            json!({"user_action": "edit", "edited_content": "{\"euros\": 3}"}),
            json!({"decision": "edit", "arguments": {"euros": 3}, "digest": "d1"}),
        ),
        (
            json!({"user_action": "reject", "feedback": "too much"}),
            json!({"decision": "reject", "message": "too much", "digest": "d1"}),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let session = format!("s{nth}");
        asked(&server, &session, "pay").await;
        let (status, run) = server.post(&format!("/approve/{session}"), approval).await;
        assert_eq!(status, 200, "{run}");
        assert_eq!(run["run"]["thread_id"], public_id(&session).to_string());
        let said: Value = serde_json::from_str(&last(&server, &session).await).unwrap();
        assert_eq!(said, decision);
    }
}

#[tokio::test]
async fn what_does_not_fit_leaves_the_question_open() {
    let server = clerk::served().await;
    let open = asked(&server, "s1", "pay").await;
    let edit = json!({"user_action": "edit", "edited_content": {"euros": "many"}});
    let (status, wrong) = server.post("/approve/s1", edit).await;
    assert_eq!((status, &wrong["code"]), (422, &json!("HNK-216")), "{wrong}");
    assert_eq!(wrong["faults"][0]["field"], "/arguments/euros", "{wrong}");
    let (status, wrong) = server.post("/approve/s1", json!({"user_action": "dance"})).await;
    assert_eq!((status, &wrong["faults"][0]["field"]), (422, &json!("/decision")), "{wrong}");
    assert_eq!(server.get("/v1/threads/s1").await.1["requests"], json!(open));
    // What was seen is something else than what is asked.
    let stale = json!({"user_action": "approve", "digest": "another"});
    assert_eq!(server.post("/approve/s1", stale).await.0, 410);
    let right = json!({"user_action": "approve", "digest": open[0]["digest"]});
    assert_eq!(server.post("/approve/s1", right).await.0, 200);
}

#[tokio::test]
async fn what_is_not_open_is_refused_with_its_reason() {
    let server = clerk::served().await;
    let approve = json!({"user_action": "approve"});
    assert_eq!(server.post("/approve/nobody", approve.clone()).await.0, 404);
    let open = asked(&server, "s1", "both").await;
    assert_eq!(open.len(), 2);
    let (status, several) = server.post("/approve/s1", approve.clone()).await;
    assert_eq!((status, &several["code"]), (409, &json!("HNK-215")));
    assert_eq!(several["requests"].as_array().unwrap().len(), 2);

    let of = |id: &Value| json!({"user_action": "approve", "request_id": id});
    for request in &open {
        assert_eq!(server.post("/approve/s1", of(&request["id"])).await.0, 200);
    }
    let (status, again) = server.post("/approve/s1", of(&open[0]["id"])).await;
    assert_eq!((status, &again["code"]), (409, &json!("HNK-212")), "{again}");
    let (status, unknown) = server.post("/approve/s1", of(&json!("q-17"))).await;
    assert_eq!((status, &unknown["code"]), (404, &json!("HNK-211")), "{unknown}");
    last(&server, "s1").await;
    assert_eq!(server.post("/approve/s1", approve).await.0, 409);
}

#[tokio::test]
async fn an_answer_that_comes_too_late_is_gone() {
    let server = clerk::served().await;
    let open = asked(&server, "s1", "late").await;
    // What does not fit is refused for that until the time is over.
    let wrong = json!({"user_action": "dance", "request_id": open[0]["id"]});
    let late = loop {
        match server.post("/approve/s1", wrong.clone()).await {
            (422, _) => tokio::task::yield_now().await,
            late => break late,
        }
    };
    assert_eq!((late.0, &late.1["code"]), (410, &json!("HNK-214")), "{}", late.1);
}

/// P53: an approval that is sent again under its key is taken once, and its run is the same.
#[tokio::test]
async fn an_approval_under_a_key_is_taken_once() {
    let server = clerk::served().await;
    let open = asked(&server, "s1", "pay").await;
    let approve = async |action: &str| {
        let body = json!({"user_action": action, "request_id": open[0]["id"]});
        let request = server.request(Method::POST, "/approve/s1").header("idempotency-key", "k1");
        read(request.json(&body).send().await.unwrap()).await
    };
    let (status, first) = approve("approve").await;
    assert_eq!(status, 200);
    last(&server, "s1").await;
    let (status, again) = approve("approve").await;
    assert_eq!((status, &again["run"]["run_id"]), (200, &first["run"]["run_id"]), "{again}");
    assert_eq!(approve("reject").await.0, 409);
}

/// P14: of eight answers at once, through two doors, exactly one is taken.
#[tokio::test]
async fn of_many_answers_at_once_one_is_taken() {
    let server = clerk::served().await;
    for round in 0..50 {
        let session = format!("s{round}");
        let open = asked(&server, &session, "pay").await;
        let id = open[0]["id"].as_str().unwrap();
        let answers = (0..8).map(async |nth| match nth % 2 {
            0 => {
                let body = json!({"user_action": "approve", "request_id": id});
                let (status, body) = server.post(&format!("/approve/{session}"), body).await;
                assert!(status == 200 || status == 409, "{body}");
                status == 200
            }
            _ => {
                let answer = json!({"decision": "approve", "digest": "d1"});
                let body = json!({"assistant_id": "clerk", "command": {"resume": {id: answer}}});
                let path = format!("/threads/{}/runs/wait", public_id(&session));
                let (status, body) = server.post(&path, body).await;
                assert_eq!(status, 200, "{body}");
                body.get("__error__").is_none()
            }
        });
        let taken = join_all(answers).await.into_iter().filter(|is_taken| *is_taken).count();
        assert_eq!(taken, 1, "round {round}");
        assert!(last(&server, &session).await.contains("approve"));
        let (_, history) = server.get(&format!("/v1/threads/{session}/history")).await;
        assert_eq!(history["total"], 4, "round {round}");
    }
}
