//! Sessions belong to a tenant, and a caller may do what their roles say.

use hanok_core::{Answerer, BoxFuture, Tenant};
use hanok_server::{Authenticate, Role, Signed};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    clerk,
    served::{Served, read},
    socket::Client,
};

/// Whose token is `TENANT-ROLE`.
#[derive(Debug)]
struct ByName;

impl Authenticate for ByName {
    fn recognise<'a>(&'a self, token: Option<&'a str>) -> BoxFuture<'a, Option<Signed>> {
        let signed = token.and_then(|token| {
            let (tenant, role) = token.split_once('-')?;
            let role: Role = serde_json::from_value(role.into()).ok()?;
            let signed = Signed::new(Tenant::new(tenant).ok()?, Answerer::new(token, "http"));
            Some(signed.roles([role]))
        });
        Box::pin(async move { signed })
    }
}

async fn ask(
    server: &Served,
    token: &str,
    method: Method,
    path: &str,
    body: &Value,
) -> (u16, Value) {
    let request = server.bare(method, path).header("x-api-key", token).json(body);
    let (status, mut body) = read(request.send().await.unwrap()).await;
    // The id of a request is its own.
    if let Some(id) = body.get_mut("request_id") {
        id.take();
    }
    (status, body)
}

fn pay(session: &str) -> Value {
    json!({"session_id": session, "message": "pay", "graph": "clerk"})
}

/// P50: what is another tenant's is as what is not there.
#[tokio::test]
async fn the_session_of_another_tenant_is_not_there() {
    let server = clerk::served_with(|server| server.authenticate(ByName)).await;
    let (status, asks) = ask(&server, "ann-admin", Method::POST, "/v1/chat", &pay("s1")).await;
    let request = asks["metadata"]["requests"][0]["id"].clone();
    assert_eq!(status, 200);
    let approval = json!({"user_action": "approve", "request_id": request});
    for (method, path) in [
        (Method::GET, "/v1/threads/NAME"),
        (Method::GET, "/v1/threads/NAME/history"),
        (Method::POST, "/approve/NAME"),
    ] {
        let at = |name: &str| path.replace("NAME", name);
        let theirs = ask(&server, "bob-admin", method.clone(), &at("s1"), &approval).await;
        assert_eq!(theirs.0, 404, "{path}");
        assert_eq!(theirs, ask(&server, "bob-admin", method, &at("s2"), &approval).await);
    }
    let headers = [("x-api-key", "bob-admin")];
    let (mut bob, _) = Client::open(&server, "/ws/s1", &headers).await.unwrap();
    bob.say(json!({"type": "answer", "request_id": request, "value": 1})).await;
    let told = bob.until("error").await;
    assert_eq!((told.len(), &told[0]["code"]), (1, &json!("HNK-221")), "{told:?}");
    // Their own session of that name is another one.
    bob.say(json!({"type": "message", "message": "hello"})).await;
    assert_eq!(bob.until("done").await.last().unwrap()["response"], "HELLO");
    let (_, own) = ask(&server, "ann-read", Method::GET, "/v1/threads/s1", &Value::Null).await;
    assert_eq!(own["requests"][0]["id"], request);
}

#[tokio::test]
async fn a_caller_does_what_their_roles_say() {
    let server = clerk::served_with(|server| server.authenticate(ByName)).await;
    let status = async |token: &str, method: Method, path: &str, body: Value| {
        ask(&server, token, method, path, &body).await.0
    };
    assert_eq!(status("a-read", Method::POST, "/v1/chat", pay("s1")).await, 403);
    assert_eq!(status("a-answer", Method::POST, "/v1/chat/stream", pay("s1")).await, 403);
    assert_eq!(status("a-run", Method::POST, "/v1/chat", pay("s1")).await, 200);
    let approve = || json!({"user_action": "approve"});
    assert_eq!(status("a-run", Method::POST, "/approve/s1", approve()).await, 403);
    for path in ["/v1/threads/s1", "/v1/threads/s1/history"] {
        assert_eq!(status("a-run", Method::GET, path, Value::Null).await, 403);
        assert_eq!(status("a-read", Method::GET, path, Value::Null).await, 200);
    }
    assert_eq!(Client::open(&server, "/ws/s1", &[("x-api-key", "a-run")]).await.err(), Some(403));
    let reads = [("x-api-key", "a-read")];
    let (mut reader, _) = Client::open(&server, "/ws/s1", &reads).await.unwrap();
    let told = reader.until("todo_updated").await;
    for said in [
        json!({"type": "message", "message": "hello"}),
        json!({"type": "answer", "request_id": told[0]["request_id"], "value": 1}),
        json!({"type": "cancel"}),
    ] {
        reader.say(said).await;
        assert_eq!(reader.until("error").await[0]["code"], "HNK-412");
    }
    assert_eq!(status("a-answer", Method::POST, "/approve/s1", approve()).await, 200);
}

/// Whoever may run does not answer for people, nor does a reader stop a run by leaving it.
#[tokio::test]
async fn langgraphs_way_in_asks_for_the_same_roles() {
    let server = clerk::served_with(|server| server.authenticate(ByName)).await;
    let (_, asks) = ask(&server, "ann-admin", Method::POST, "/v1/chat", &pay("s1")).await;
    let request = asks["metadata"]["requests"][0]["id"].as_str().unwrap();
    let runs = format!("/threads/{}/runs", hanok_server::public_id("s1"));
    let resume = json!({"resume": {request: true}});
    let resumes = json!({"assistant_id": "clerk", "command": resume});
    let mut goes = resumes.clone();
    goes["command"]["update"] = json!({});
    for (token, body, status) in [
        ("ann-read", &resumes, 403),
        ("ann-run", &resumes, 403),
        ("ann-run", &goes, 403),
        ("ann-answer", &goes, 403),
        ("ann-answer", &json!({"assistant_id": "clerk", "input": {}}), 403),
        ("ann-answer", &resumes, 200),
    ] {
        let (got, said) = ask(&server, token, Method::POST, &runs, body).await;
        assert_eq!(got, status, "{token}: {said}");
    }
    let (_, listed) = ask(&server, "ann-read", Method::GET, &runs, &Value::Null).await;
    let join = format!("{runs}/{}/join", listed[0]["run_id"].as_str().unwrap());
    let leaves = format!("{join}?cancel_on_disconnect=1");
    assert_eq!(ask(&server, "ann-read", Method::GET, &leaves, &Value::Null).await.0, 403);
    assert_eq!(ask(&server, "ann-read", Method::GET, &join, &Value::Null).await.0, 200);
}
