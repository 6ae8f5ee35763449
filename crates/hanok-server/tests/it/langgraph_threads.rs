//! LangGraph's assistants and threads.

use hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore};
use hanok_core::{Answerer, BoxFuture, Tenant};
use hanok_server::{Authenticate, Role, Signed};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::served::{Served, read};

pub const THREAD: &str = "11111111-1111-4111-8111-111111111111";
const OTHER: &str = "22222222-2222-4222-8222-222222222222";

/// Says `text` on a thread, through another way in. Returns the status.
pub async fn say(server: &Served, thread: &str, text: &str) -> u16 {
    let body = json!({"model": "chat", "messages": [{"role": "user", "content": text}]});
    let request = server.request(Method::POST, "/v1/chat/completions");
    read(request.header("x-thread-id", thread).json(&body).send().await.unwrap()).await.0
}

async fn send(server: &Served, method: Method, path: &str) -> Response {
    server.request(method, path).send().await.unwrap()
}

async fn patch(server: &Served, thread: &str, metadata: Value) -> (u16, Value) {
    let request = server.request(Method::PATCH, &format!("/threads/{thread}"));
    read(request.json(&json!({"metadata": metadata})).send().await.unwrap()).await
}

/// Recognises whoever is named by their token: `tenant/role`.
#[derive(Debug)]
struct ByName;

impl Authenticate for ByName {
    fn recognise<'a>(&'a self, token: Option<&'a str>) -> BoxFuture<'a, Option<Signed>> {
        let signed = token.and_then(|token| token.split_once('/')).map(|(tenant, role)| {
            let signed = Signed::new(Tenant::new(tenant).unwrap(), Answerer::new(tenant, "http"));
            signed.roles([if role == "read" { Role::Read } else { Role::Run }, Role::Read])
        });
        Box::pin(async move { signed })
    }
}

async fn by_name() -> Served {
    let logs = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let store = SharedStore::new(InMemoryStore::new());
    Served::start_on(store, logs, |server| server.authenticate(ByName)).await
}

async fn as_name(
    server: &Served,
    name: &str,
    method: Method,
    path: &str,
    body: Value,
) -> (u16, Value) {
    let request = server.bare(method, path).header("x-api-key", name).json(&body);
    read(request.send().await.unwrap()).await
}

#[tokio::test]
async fn each_graph_is_an_assistant_by_name_and_by_id() {
    let server = Served::start().await;
    let (_, found) = server.post("/assistants/search", json!({"graph_id": "chat"})).await;
    let id = found[0]["assistant_id"].as_str().unwrap();
    assert_eq!(
        (found[0]["name"].as_str(), found[0]["metadata"]["created_by"].as_str()),
        (Some("chat"), Some("system"))
    );
    for name in ["chat", id] {
        assert_eq!(server.get(&format!("/assistants/{name}")).await, (200, found[0].clone()));
    }
    assert_eq!(server.post("/assistants/count", json!({"name": "CHA"})).await.1, 1);
    assert_eq!(server.post("/assistants/count", json!({"metadata": {"a": 1}})).await.1, 0);
    let (_, graph) = server.get("/assistants/chat/graph?xray=false").await;
    let nodes: Vec<_> =
        graph["nodes"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect();
    assert_eq!(json!(nodes), json!(["__start__", "answer", "listen", "__end__"]));
    assert_eq!(graph["edges"][0], json!({"source": "__start__", "target": "listen"}));
    assert_eq!(server.get("/assistants/chat/graph?xray=0").await.0, 422);
    assert_eq!(server.get("/assistants/chat/schemas").await.1["graph_id"], "chat");
    assert_eq!(server.get("/assistants/chat/subgraphs?recurse=false").await, (200, json!({})));
    let (status, unknown) = server.get("/assistants/stove").await;
    assert_eq!((status, unknown["code"].as_str()), (422, Some("HNK-410")));
    let (status, fixed) = server.post("/assistants", json!({"graph_id": "chat"})).await;
    assert_eq!((status, fixed["code"].as_str()), (501, Some("HNK-414")));
}

#[tokio::test]
async fn whether_the_server_lives_is_told_without_a_token() {
    let server = Served::start().await;
    for path in ["/ok", "/info"] {
        assert_eq!(server.bare(Method::GET, path).send().await.unwrap().status(), 200);
    }
    for path in ["/assistants/chat", "/threads/x", "/store/items"] {
        assert_eq!(server.bare(Method::GET, path).send().await.unwrap().status(), 401);
    }
}

#[tokio::test]
async fn a_thread_is_made_once_and_its_metadata_is_merged() {
    let server = Served::start().await;
    let new = json!({"thread_id": THREAD, "metadata": {"owner": "kim"}});
    let (status, made) = server.post("/threads", new.clone()).await;
    assert_eq!(
        (status, made["thread_id"].as_str(), made["status"].as_str()),
        (200, Some(THREAD), Some("idle"))
    );
    assert_eq!((&made["values"], &made["interrupts"]), (&Value::Null, &json!({})));
    let (status, taken) = server.post("/threads", new).await;
    assert_eq!((status, taken["code"].as_str()), (409, Some("HNK-104")));
    let again =
        json!({"thread_id": THREAD, "metadata": {"owner": "lee"}, "if_exists": "do_nothing"});
    assert_eq!(server.post("/threads", again).await, (200, made));
    let (_, changed) = patch(&server, THREAD, json!({"team": "a"})).await;
    assert_eq!(changed["metadata"], json!({"owner": "kim", "team": "a"}));
    assert_eq!(server.post("/threads", json!({"thread_id": "t1"})).await.0, 422);
    let path = format!("/threads/{THREAD}");
    let minimal = server.request(Method::PATCH, &path).header("prefer", "return=minimal");
    assert_eq!(minimal.json(&json!({"metadata": {}})).send().await.unwrap().status(), 204);
}

#[tokio::test]
async fn a_thread_shows_what_its_runs_have_left() {
    let server = Served::start().await;
    say(&server, THREAD, "tea or coffee?").await;
    let (_, thread) = server.get(&format!("/threads/{THREAD}")).await;
    assert_eq!(
        (thread["status"].as_str(), &thread["metadata"]["graph_id"]),
        (Some("interrupted"), &json!("chat"))
    );
    assert_eq!(thread["values"]["messages"][0]["content"], "tea or coffee?");
    let asked: Vec<_> = thread["interrupts"].as_object().unwrap().values().collect();
    assert_eq!(asked[0][0]["value"], "What do you think?");

    say(&server, OTHER, "fail").await;
    let (_, failed) = server.get(&format!("/threads/{OTHER}")).await;
    assert_eq!(
        (failed["status"].as_str(), failed["error"]["message"].as_str()),
        (Some("error"), Some("the run failed"))
    );
    assert!(!failed.to_string().contains("4711"));
}

#[tokio::test]
async fn threads_are_found_by_metadata_values_and_status_page_by_page() {
    let server = Served::start().await;
    for number in 0..5 {
        let metadata = json!({"n": number, "of": {"team": "a", "tags": ["x", "y"]}});
        server.post("/threads", json!({"metadata": metadata})).await;
    }
    say(&server, THREAD, "hello").await;
    let search = async |body: Value| {
        let sent =
            server.request(Method::POST, "/threads/search").json(&body).send().await.unwrap();
        let header =
            |name: &str| sent.headers().get(name).map(|it| it.to_str().unwrap().to_owned());
        let headers = (header("x-pagination-total"), header("x-pagination-next"));
        (headers, sent.json::<Value>().await.unwrap())
    };
    let team = json!({"of": {"team": "a", "tags": ["y"]}});
    let (headers, page) = search(json!({
        "metadata": team, "limit": 2, "offset": 1, "sort_by": "created_at", "sort_order": "asc",
        "select": ["metadata"],
    }))
    .await;
    assert_eq!(headers, (Some("4".to_owned()), Some("3".to_owned())));
    assert_eq!(page.as_array().unwrap().len(), 2);
    assert_eq!(page[0].as_object().unwrap().keys().collect::<Vec<_>>(), ["metadata"]);
    let (headers, rest) = search(json!({"metadata": team, "limit": 2, "offset": 4})).await;
    assert_eq!((headers, rest.as_array().unwrap().len()), ((Some("5".to_owned()), None), 1));

    let (_, found) = search(json!({
        "values": {"turns": 1}, "extract": {"last": "values.messages[-1].content", "no": "metadata.x"},
    }))
    .await;
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(found[0]["extracted"], json!({"last": "HELLO", "no": null}));
    assert_eq!(found[0]["values"]["turns"], 1);
    let (_, by_id) = search(json!({"ids": [THREAD, OTHER]})).await;
    assert_eq!((by_id.as_array().unwrap().len(), &by_id[0]["thread_id"]), (1, &json!(THREAD)));
    assert_eq!(server.post("/threads/count", json!({"metadata": {"n": 3}})).await.1, 1);
    assert_eq!(server.post("/threads/count", json!({"status": "idle"})).await.1, 6);
    assert_eq!(server.post("/threads/count", json!({"status": "error"})).await.1, 0);
    for wrong in [
        json!({"limit": 0}),
        json!({"limit": 1001}),
        json!({"select": ["colour"]}),
        json!({"sort_by": "colour"}),
        json!({"status": "happy"}),
        json!({"extract": {"x": "status"}}),
    ] {
        assert_eq!(server.post("/threads/search", wrong.clone()).await.0, 422, "{wrong}");
    }
}

#[tokio::test]
async fn a_copy_goes_its_own_way_and_pruning_leaves_the_newest_state() {
    let server = Served::start().await;
    say(&server, THREAD, "one").await;
    say(&server, THREAD, "two").await;
    let copied = send(&server, Method::POST, &format!("/threads/{THREAD}/copy")).await;
    let copy = copied.json::<Value>().await.unwrap();
    let id = copy["thread_id"].as_str().unwrap();
    assert_eq!(
        (&copy["values"]["turns"], &copy["metadata"]["graph_id"]),
        (&json!(2), &json!("chat"))
    );
    say(&server, id, "three").await;
    let turns = async |thread: &str| {
        server.get(&format!("/threads/{thread}")).await.1["values"]["turns"].clone()
    };
    assert_eq!((turns(THREAD).await, turns(id).await), (json!(2), json!(3)));

    let prune = json!({"thread_ids": [THREAD, OTHER], "strategy": "keep_latest"});
    assert_eq!(server.post("/threads/prune", prune).await.1, json!({"pruned_count": 1}));
    let path = format!("/threads/{THREAD}/history");
    let (_, history) = server.post(&path, json!({"limit": 10})).await;
    assert_eq!(history.as_array().unwrap().len(), 1, "{history}");
    assert_eq!(
        (&history[0]["values"]["turns"], &history[0]["parent_checkpoint"]),
        (&json!(2), &Value::Null)
    );
    let (_, state) = server.get(&format!("/threads/{THREAD}/state")).await;
    assert_eq!(state["checkpoint_id"], history[0]["checkpoint_id"]);
    say(&server, THREAD, "again").await;
    let (_, history) = server.post(&path, json!({"limit": 10})).await;
    assert_eq!(history.as_array().unwrap().len(), 5, "{history}");

    let prune = json!({"thread_ids": [id]});
    assert_eq!(server.post("/threads/prune", prune).await.1, json!({"pruned_count": 1}));
    assert_eq!(server.get(&format!("/threads/{id}")).await.0, 404);
}

#[tokio::test]
async fn deleting_a_thread_stops_its_run_and_leaves_nothing() {
    let server = Served::start().await;
    let slow = say(&server, THREAD, "slow");
    let delete = async {
        let path = format!("/threads/{THREAD}");
        while server.get(&path).await.1["status"] != "busy" {
            tokio::task::yield_now().await;
        }
        send(&server, Method::DELETE, &path).await.status()
    };
    let (said, deleted) = tokio::join!(slow, delete);
    assert_eq!(deleted, 204);
    assert_ne!(said, 200);
    assert_eq!(send(&server, Method::DELETE, &format!("/threads/{THREAD}")).await.status(), 404);
    server.post("/threads", json!({"thread_id": THREAD, "metadata": {"graph_id": "chat"}})).await;
    let (_, state) = server.get(&format!("/threads/{THREAD}/state")).await;
    assert_eq!((&state["values"], &state["checkpoint"]), (&json!({}), &Value::Null));
}

#[tokio::test]
async fn another_tenants_thread_is_as_absent() {
    let server = by_name().await;
    let new = json!({"thread_id": THREAD});
    let (status, _) = as_name(&server, "kim/run", Method::POST, "/threads", new).await;
    assert_eq!(status, 200);
    let values = json!({"values": {}});
    for (method, rest, body) in [
        (Method::GET, "", json!({})),
        (Method::PATCH, "", json!({"metadata": {}})),
        (Method::DELETE, "", json!({})),
        (Method::POST, "/copy", json!({})),
        (Method::GET, "/state", json!({})),
        (Method::POST, "/state", values),
        (Method::POST, "/history", json!({"limit": 1})),
    ] {
        let ask = async |thread: &str| {
            let path = format!("/threads/{thread}{rest}");
            let (status, mut answer) =
                as_name(&server, "lee/run", method.clone(), &path, body.clone()).await;
            answer.as_object_mut().unwrap().remove("request_id");
            (status, answer)
        };
        let (foreign, absent) = (ask(THREAD).await, ask(OTHER).await);
        assert_eq!((foreign.0, &foreign), (404, &absent), "{method} {rest}");
    }
    let (_, found) = as_name(&server, "lee/run", Method::POST, "/threads/search", json!({})).await;
    assert_eq!(found, json!([]));
}

#[tokio::test]
async fn whoever_may_only_read_changes_nothing() {
    let server = by_name().await;
    as_name(&server, "kim/run", Method::POST, "/threads", json!({"thread_id": THREAD})).await;
    let thread = format!("/threads/{THREAD}");
    let item = json!({"namespace": ["a"], "key": "k", "value": {}});
    for (method, path, body) in [
        (Method::POST, "/threads".to_owned(), json!({})),
        (Method::PATCH, thread.clone(), json!({"metadata": {}})),
        (Method::DELETE, thread.clone(), json!({})),
        (Method::POST, format!("{thread}/copy"), json!({})),
        (Method::POST, format!("{thread}/state"), json!({"values": {}})),
        (Method::POST, "/threads/prune".to_owned(), json!({"thread_ids": [THREAD]})),
        (Method::PUT, "/store/items".to_owned(), item.clone()),
        (Method::DELETE, "/store/items".to_owned(), item),
    ] {
        let (status, _) = as_name(&server, "kim/read", method.clone(), &path, body).await;
        assert_eq!(status, 403, "{method} {path}");
    }
    assert_eq!(as_name(&server, "kim/read", Method::GET, &thread, json!({})).await.0, 200);
}
