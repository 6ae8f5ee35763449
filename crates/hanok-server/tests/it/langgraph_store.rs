//! LangGraph's store.

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    langgraph_threads::{THREAD, say},
    served::{Served, read},
};

async fn put(server: &Served, body: Value) -> (u16, Value) {
    read(server.request(Method::PUT, "/store/items").json(&body).send().await.unwrap()).await
}

async fn search(server: &Served, body: Value) -> Vec<Value> {
    let (status, found) = server.post("/store/items/search", body).await;
    assert_eq!(status, 200, "{found}");
    found["items"].as_array().unwrap().clone()
}

async fn keys(server: &Served, body: Value) -> Vec<Value> {
    search(server, body).await.iter().map(|item| item["key"].clone()).collect()
}

async fn namespaces(server: &Served, body: Value) -> Value {
    server.post("/store/namespaces", body).await.1["namespaces"].clone()
}

#[tokio::test]
async fn an_item_is_put_read_and_deleted() {
    let server = Served::start().await;
    let item = json!({"namespace": ["users", "u 1"], "key": "k/1", "value": {"a": 1, "b": {"c": [null, "x"]}}});
    assert_eq!(put(&server, item.clone()).await.0, 204);
    let (status, found) = server.get("/store/items?namespace=users.u+1&key=k%2F1").await;
    assert_eq!(
        (status, &found["value"], &found["namespace"]),
        (200, &item["value"], &item["namespace"])
    );
    assert!(found["created_at"].as_str().unwrap().ends_with("+00:00"));
    let delete = async || {
        let sent = server.request(Method::DELETE, "/store/items").json(&item).send().await.unwrap();
        sent.status().as_u16()
    };
    assert_eq!((delete().await, delete().await), (204, 204));
    let missing = server.get("/store/items?namespace=users.u+1&key=k%2F1&refresh_ttl=").await;
    assert_eq!(missing, (200, Value::Null));
}

#[tokio::test]
async fn items_are_found_below_a_prefix_by_filter_and_by_text() {
    let server = Served::start().await;
    for (user, key, n, text) in
        [("u1", "a", 1, "likes tea"), ("u1", "b", 2, "likes coffee"), ("u2", "c", 3, "has a dog")]
    {
        let value = json!({"n": n, "text": text});
        put(&server, json!({"namespace": ["users", user], "key": key, "value": value})).await;
    }
    put(&server, json!({"namespace": ["users", "u3"], "key": "hidden", "value": {"text": "likes tea"}, "index": false})).await;
    assert_eq!(keys(&server, json!({"namespace_prefix": ["users", "u1"]})).await, ["a", "b"]);
    for (filter, found) in [
        (json!({"n": 2}), vec!["b"]),
        (json!({"n": {"$gt": 1}}), vec!["b", "c"]),
        (json!({"n": {"$gte": 1, "$lt": 3}}), vec!["a", "b"]),
        (json!({"n": {"$ne": 2}}), vec!["a", "c"]),
        (json!({"n": {"$lte": 1}, "text": "likes tea"}), vec!["a"]),
        (json!({"n": {"$eq": 9}}), vec![]),
    ] {
        let body = json!({"namespace_prefix": ["users"], "filter": filter});
        assert_eq!(keys(&server, body).await, found, "{filter}");
    }
    let found = search(&server, json!({"namespace_prefix": [], "query": "tea"})).await;
    assert_eq!((found.len(), &found[0]["key"]), (1, &json!("a")));
    assert!(found[0]["score"].is_number());
    assert_eq!(
        keys(&server, json!({"namespace_prefix": ["users"], "limit": 2, "offset": 1})).await,
        ["b", "c"]
    );
    let wrong = json!({"namespace_prefix": [], "filter": {"n": {"$in": [1]}}});
    assert_eq!(server.post("/store/items/search", wrong).await.0, 422);
}

#[tokio::test]
async fn namespaces_are_listed_cut_and_matched() {
    let server = Served::start().await;
    for namespace in [["a", "x", "1"], ["a", "x", "2"], ["a", "y", "1"], ["zoo", "x", "1"]] {
        put(&server, json!({"namespace": namespace, "key": "k", "value": {}})).await;
    }
    for (asked, found) in [
        (json!({"max_depth": 2}), json!([["a", "x"], ["a", "y"], ["zoo", "x"]])),
        (json!({"prefix": ["a", "x"]}), json!([["a", "x", "1"], ["a", "x", "2"]])),
        (
            json!({"prefix": ["*", "x"], "suffix": ["1"]}),
            json!([["a", "x", "1"], ["zoo", "x", "1"]]),
        ),
        (json!({"suffix": ["y", "*"]}), json!([["a", "y", "1"]])),
        (json!({"limit": 1, "offset": 1}), json!([["a", "x", "2"]])),
    ] {
        assert_eq!(namespaces(&server, asked.clone()).await, found, "{asked}");
    }
}

#[tokio::test]
async fn what_the_server_keeps_is_neither_shown_nor_written() {
    let server = Served::start().await;
    say(&server, THREAD, "hello").await;
    put(&server, json!({"namespace": ["a"], "key": "first", "value": {}})).await;
    put(&server, json!({"namespace": ["z"], "key": "last", "value": {}})).await;
    assert_eq!(
        keys(&server, json!({"namespace_prefix": [], "limit": 100})).await,
        ["first", "last"]
    );
    assert_eq!(namespaces(&server, json!({})).await, json!([["a"], ["z"]]));
    let own = json!({"namespace": ["hanok:served"], "key": THREAD, "value": {}});
    assert_eq!(put(&server, own.clone()).await.0, 400);
    let deleted = server.request(Method::DELETE, "/store/items").json(&own).send().await.unwrap();
    assert_eq!(deleted.status(), 400);
    let path = format!("/store/items?namespace=hanok%3Aserved&key={THREAD}");
    assert_eq!(server.get(&path).await.0, 400);
    let within = json!({"namespace_prefix": ["hanok:served"]});
    assert_eq!(server.post("/store/items/search", within).await.0, 400);
    assert_eq!(server.get(&format!("/threads/{THREAD}")).await.0, 200);
}

#[tokio::test]
async fn names_of_items_are_checked() {
    let server = Served::start().await;
    for (namespace, key, status) in [
        (json!([]), "k", 400),
        (json!(["langgraph"]), "k", 400),
        (json!(["a"]), "", 400),
        (json!(["a.b"]), "k", 422),
        (json!([""]), "k", 422),
        (json!("a"), "k", 422),
    ] {
        let item = json!({"namespace": namespace, "key": key, "value": {}});
        assert_eq!(put(&server, item.clone()).await.0, status, "{item}");
    }
    let list = json!({"namespace": ["a"], "key": "k", "value": [1]});
    assert_eq!(put(&server, list).await.0, 422);
    let never = json!({"namespace": ["a"], "key": "k", "value": {}, "ttl": -1});
    assert_eq!(put(&server, never).await.0, 422);
    assert_eq!(server.get("/store/items?namespace=a").await.0, 400);
}
