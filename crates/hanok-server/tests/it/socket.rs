//! Sessions over a WebSocket.

use futures::{SinkExt, StreamExt};
use hanok_server::public_id;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Error, Message, client::IntoClientRequest, http::HeaderMap},
};

use crate::{
    clerk,
    served::{Served, read},
};

/// A client.
pub struct Client(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Client {
    async fn connect(server: &Served, path: &str) -> Self {
        let protocols = format!("hanok, token.{}", server.token);
        let headers = [("sec-websocket-protocol", protocols.as_str())];
        let (client, answer) = Self::open(server, path, &headers).await.unwrap();
        assert_eq!(answer["sec-websocket-protocol"], "hanok");
        client
    }

    pub async fn open(
        server: &Served,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<(Self, HeaderMap), u16> {
        let url = format!("{}{path}", server.address.replace("http", "ws"));
        let mut request = url.into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match connect_async(request).await {
            Ok((socket, answer)) => Ok((Self(socket), answer.headers().clone())),
            Err(Error::Http(refused)) => Err(refused.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    pub async fn say(&mut self, message: Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    /// The next message; `None` at the end.
    async fn next(&mut self) -> Option<Value> {
        loop {
            match self.0.next().await? {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// The messages up to the next of a kind.
    pub async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            let next = self.next().await.unwrap();
            let is_last = next["type"] == kind;
            all.push(next);
            if is_last {
                return all;
            }
        }
    }
}

fn kinds(all: &[Value]) -> Vec<&str> {
    all.iter().map(|it| it["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_message_an_answer_and_the_end_of_a_turn() {
    let server = clerk::served().await;
    let mut client = Client::connect(&server, "/ws/s1?graph=clerk").await;
    client.say(json!({"type": "message", "message": "pay"})).await;
    let asks = client.until("HUMAN_INPUT_REQUIRED").await;
    assert_eq!(kinds(&asks), ["todo_updated", "HUMAN_INPUT_REQUIRED"]);
    assert_eq!(asks[0]["execution_steps"][0]["status"], "pending");
    assert_eq!(asks[1]["request"]["payload"]["tool"], "pay");
    let waits = client.until("done").await;
    assert_eq!(waits[0]["metadata"]["requests"][0]["id"], asks[1]["request_id"]);

    // Who connects is told what is open.
    let mut late = Client::connect(&server, "/ws/s1").await;
    let told = late.until("todo_updated").await;
    assert_eq!(kinds(&told), ["HUMAN_INPUT_REQUIRED", "todo_updated"]);
    assert_eq!(told[0]["request_id"], asks[1]["request_id"]);
    assert_eq!(told[1]["execution_steps"][0]["agent_name"], "cash_team");

    client.say(json!({"type": "message", "message": "hello?"})).await;
    let refused = client.until("error").await;
    assert_eq!(refused[0]["requests"].as_array().unwrap().len(), 1);
    let answer = json!({
        "type": "answer", "request_id": asks[1]["request_id"], "value": {"decision": "approve"},
    });
    late.say(answer.clone()).await;
    for client in [&mut client, &mut late] {
        let all = client.until("done").await;
        assert_eq!(kinds(&all), ["token", "done"], "{all:?}");
        assert_eq!(all[1]["response"], r#"{"decision":"approve"}"#);
        assert_eq!(all[1]["tool_calls"][0]["arguments"], json!({"euros": 5}));
    }
    client.say(answer).await;
    assert_eq!(client.until("error").await[0]["code"], "HNK-212");
    let mut new = Client::connect(&server, "/ws/s1").await;
    assert_eq!(new.next().await.unwrap()["execution_steps"][0]["status"], "completed");
}

#[tokio::test]
async fn what_is_not_understood_is_an_error_and_the_connection_stays() {
    let server = Served::start().await;
    let mut client = Client::connect(&server, "/ws/s1").await;
    let deep = "[".repeat(100_000);
    for text in ["", "{", "[]", r#"{"type":"dance"}"#, r#"{"type":"answer"}"#, &deep[..60_000]] {
        client.0.send(Message::text(text)).await.unwrap();
        assert_eq!(client.until("error").await[0]["code"], "HNK-410");
    }
    client.0.send(Message::binary(vec![1, 2])).await.unwrap();
    assert_eq!(client.until("error").await.len(), 1);
    client.say(json!({"type": "cancel"})).await;
    assert_eq!(client.until("error").await[0]["code"], "HNK-402");
    client.say(json!({"type": "message", "message": "hello"})).await;
    assert_eq!(client.until("done").await.last().unwrap()["response"], "HELLO");
    // What is too large ends it.
    client.0.send(Message::text(deep)).await.unwrap();
    assert_eq!(client.next().await, None);
}

#[tokio::test]
async fn a_run_is_cancelled() {
    let server = Served::start().await;
    let mut client = Client::connect(&server, "/ws/s1").await;
    client.say(json!({"type": "message", "message": "slow"})).await;
    client.say(json!({"type": "cancel"})).await;
    let all = client.until("error").await;
    assert_eq!(all.last().unwrap()["code"], "HNK-421", "{all:?}");
}

/// P54: a client that connects again behind what it has seen misses nothing, and is told nothing twice.
#[tokio::test]
async fn whoever_connects_again_goes_on_where_they_were() {
    let server = clerk::served().await;
    let mut client = Client::connect(&server, "/ws/s1?graph=clerk").await;
    for text in ["one", "pay"] {
        client.say(json!({"type": "message", "message": text})).await;
        if text == "one" {
            client.until("done").await;
        }
    }
    let mut all = client.until("done").await;
    all.retain(|it| ["HUMAN_INPUT_REQUIRED", "done"].contains(&it["type"].as_str().unwrap()));
    assert_eq!(kinds(&all), ["HUMAN_INPUT_REQUIRED", "done"]);
    let after = |seen: &Value| format!("/ws/s1?after={}", seen["id"].as_str().unwrap());
    let mut again = Client::connect(&server, &after(&all[0])).await;
    assert_eq!(again.next().await.as_ref(), Some(&all[1]));
    let headers = [("x-api-key", server.token.as_str())];
    assert_eq!(Client::open(&server, "/ws/s1?after=x", &headers).await.err(), Some(422));
}

#[tokio::test]
async fn only_those_who_may_are_let_in_and_the_end_is_told() {
    let server = Served::start().await;
    let token = server.token.clone();
    let open = async |headers: &[(&'static str, &str)]| {
        Client::open(&server, "/ws/s1", headers).await.map(|(client, _)| client)
    };
    assert_eq!(open(&[]).await.err(), Some(401));
    assert_eq!(open(&[("sec-websocket-protocol", "hanok, token.wrong")]).await.err(), Some(401));
    let foreign = [("x-api-key", token.as_str()), ("origin", "https://evil.example")];
    assert_eq!(open(&foreign).await.err(), Some(403));
    let (status, plain) = server.get("/ws/s1").await;
    assert_eq!((status, &plain["code"]), (400, &json!("HNK-440")), "{plain}");
    let bearer = format!("Bearer {token}");
    let mut client = open(&[("authorization", &bearer)]).await.unwrap();
    server.end().await;
    assert_eq!(client.next().await, None);
}

/// A thread is one through all doors.
#[tokio::test]
async fn one_thread_through_all_doors() {
    let server = clerk::served().await;
    let mut client = Client::connect(&server, "/ws/the%20bill?graph=clerk").await;
    let body = json!({"model": "clerk", "messages": [{"role": "user", "content": "pay"}]});
    let request = server.request(Method::POST, "/v1/chat/completions").json(&body);
    let (status, asks) =
        read(request.header("x-thread-id", "the bill").send().await.unwrap()).await;
    assert_eq!(status, 200, "{asks}");
    let request = asks["hanok"]["requests"][0]["id"].clone();
    let told = client.until("done").await;
    assert!(told.iter().any(|it| it["request_id"] == request), "{told:?}");

    let runs = format!("/threads/{}/runs", public_id("the bill"));
    let (_, listed) = server.get(&runs).await;
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let approval = json!({"request_id": request, "user_action": "approve"});
    let (status, run) = server.post("/approve/the%20bill", approval).await;
    assert_eq!(status, 200, "{run}");
    let told = client.until("done").await;
    assert_eq!(told.last().unwrap()["metadata"]["thread_id"], "the bill");
    let (_, listed) = server.get(&runs).await;
    assert_eq!(listed[0]["run_id"], run["run"]["run_id"]);
    let (_, session) = server.get("/v1/threads/the%20bill").await;
    let (_, by_id) = server.get(&format!("/v1/threads/{}", public_id("the bill"))).await;
    assert_eq!((session["messages"].as_array().unwrap().len(), &session), (4, &by_id));
}
