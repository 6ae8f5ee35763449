//! Who may, for which host, and how much.

use hanok_server::{Server, StartError};
use reqwest::{Method, header};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    served::{Served, read},
    support::{items, logs},
};

fn says(text: &str) -> Value {
    json!({"model": "chat", "messages": [{"role": "user", "content": text}]})
}

const CHAT: &str = "/v1/chat/completions";

/// P47: without a word about who may, it does not start; open to everybody, it listens on this machine alone.
#[tokio::test]
async fn a_server_that_lets_everybody_in_is_for_this_machine_alone() {
    let app = || crate::served::chat().checkpointer(logs());
    let server = || Server::new(items()).graph("chat", app(), |_| Ok(()));
    let refused = server().start().unwrap_err();
    assert!(matches!(refused, StartError::NoAuth), "{refused}");
    let open = server().no_auth().start().unwrap();
    let refused = open.listen("0.0.0.0:0").await.unwrap_err();
    assert!(matches!(refused, StartError::Open(_)), "{refused}");
    let taken = open.listen("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = open.listen(&address).await.unwrap_err().to_string();
    assert!(refused.starts_with(&format!("{address} cannot be listened on")), "{refused}");
    let twice = server().graph("chat", app(), |_| Ok(())).no_auth().start().unwrap_err();
    assert_eq!(twice.to_string(), "two graphs are called `chat`: give one of them another name");
}

#[tokio::test]
async fn nobody_comes_in_without_a_token() {
    let server = Served::start().await;
    for (path, status) in
        [("/health", 200), ("/ready", 200), ("/v1/models", 401), ("/nothing", 404)]
    {
        let answer = server.bare(Method::GET, path).send().await.unwrap();
        assert!(answer.headers().contains_key("x-request-id"));
        assert_eq!(answer.status(), status, "{path}");
    }
    let bearer = server.bare(Method::GET, "/v1/models").bearer_auth(&server.token);
    assert_eq!(bearer.send().await.unwrap().status(), 200);
    let wrong = server.bare(Method::GET, "/v1/models").bearer_auth(format!("{}0", server.token));
    let (status, problem) = read(wrong.send().await.unwrap()).await;
    assert_eq!((status, &problem["error"]["code"]), (401, &json!("HNK-411")));
}

/// P50, P52: a token is known by its hash, and its tenant and its roles come from the file, which is read again.
#[tokio::test]
async fn a_file_of_tokens_is_read_again_and_says_who_may_what() {
    let server = Served::start().await;
    let reader = "a reader's token";
    let line = json!({
        "hash": blake3::hash(reader.as_bytes()).to_hex().to_string(),
        "tenant": "acme", "principal": "rita", "roles": ["read"],
    });
    server.add_token(&line.to_string());
    let ask = async |method, path: &str, body: Value| {
        let request = server.bare(method, path).header("x-api-key", reader).json(&body);
        read(request.send().await.unwrap()).await
    };
    assert_eq!(ask(Method::GET, "/v1/models", json!(null)).await.0, 200);
    let (status, refused) = ask(Method::POST, CHAT, says("hello")).await;
    assert_eq!((status, &refused["error"]["type"]), (403, &json!("permission_error")));
    // Another tenant's thread is one that is not there, to the byte but for the request's id.
    let thread = "0190a5b0-0000-7000-8000-000000000001";
    let body = json!({"assistant_id": "chat", "if_not_exists": "create", "input": {}});
    server.post(&format!("/threads/{thread}/runs/wait"), body).await;
    let shown = async |thread: &str| {
        let path = format!("/threads/{thread}/runs");
        let (status, mut problem) = ask(Method::GET, &path, json!(null)).await;
        problem["request_id"] = json!(null);
        (status, problem)
    };
    let (theirs, nobodys) = (shown(thread).await, shown(&thread.replace('1', "2")).await);
    assert_eq!(theirs, nobodys);
    assert_eq!(theirs.0, 404);
}

/// P48
#[tokio::test]
async fn other_hosts_and_foreign_pages_are_refused() {
    let server = Served::start().await;
    let own = server.address.strip_prefix("http://").unwrap().to_owned();
    for (name, value, status) in [
        (header::HOST, "evil.example", 403),
        (header::HOST, "localhost", 200),
        (header::ORIGIN, "http://evil.example", 403),
        (header::ORIGIN, "null", 403),
        (header::ORIGIN, "http://localhost:3000", 403),
        (header::ORIGIN, &format!("http://{own}"), 200),
    ] {
        for path in ["/health", "/v1/models"] {
            let request = server.request(Method::GET, path).header(&name, value);
            assert_eq!(request.send().await.unwrap().status(), status, "{name}: {value}");
        }
    }
    let server = Served::start_with(|server| server.origin("https://chat.example.org")).await;
    let asks =
        server.bare(Method::OPTIONS, CHAT).header(header::ORIGIN, "https://chat.example.org");
    let answer = asks.send().await.unwrap();
    assert_eq!(answer.status(), 204);
    assert_eq!(answer.headers()["access-control-allow-origin"], "https://chat.example.org");
    assert!(
        answer.headers()["access-control-expose-headers"].to_str().unwrap().contains("location")
    );
}

/// P48, P49
#[tokio::test]
async fn what_is_no_json_and_what_is_too_much_is_refused() {
    let server = Served::start().await;
    let ask = async |kind: &str, body: Vec<u8>| {
        let request = server.request(Method::POST, CHAT).header(header::CONTENT_TYPE, kind);
        read(request.body(body).send().await.unwrap()).await.0
    };
    assert_eq!(ask("application/json", b"{".to_vec()).await, 400);
    assert_eq!(ask("application/json", b"[]".to_vec()).await, 422);
    assert_eq!(ask("application/json", b"\xff".to_vec()).await, 400);
    assert_eq!(ask("text/plain", says("x").to_string().into()).await, 415);
    assert_eq!(ask("application/json", vec![b' '; 5 << 20]).await, 413);
    let deep = [vec![b'['; 10_000], vec![b']'; 10_000]].concat();
    assert_eq!(ask("application/json", deep).await, 422);
    let chunks =
        futures::stream::iter((0..6).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1 << 20])));
    let request =
        server.request(Method::POST, CHAT).header(header::CONTENT_TYPE, "application/json");
    let endless = request.body(reqwest::Body::wrap_stream(chunks)).send().await.unwrap();
    assert_eq!(endless.status(), 413);
}

/// Clients who send half a request, and then nothing, keep nobody from being served.
///
/// P49
#[tokio::test]
async fn slow_clients_keep_nobody_from_being_served() {
    let server = Served::start().await;
    let address = server.address.strip_prefix("http://").unwrap();
    let mut slow = Vec::new();
    for _ in 0..500 {
        let mut client = tokio::net::TcpStream::connect(address).await.unwrap();
        client.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nhost: local").await.unwrap();
        slow.push(client);
    }
    assert_eq!(server.get("/health").await.0, 200);
    assert_eq!(server.post(CHAT, says("hello")).await.0, 200);
    let mut heavy = tokio::net::TcpStream::connect(address).await.unwrap();
    let head =
        format!("GET /health HTTP/1.1\r\nhost: localhost\r\nx: {}\r\n\r\n", "x".repeat(200_000));
    let _ = heavy.write_all(head.as_bytes()).await;
    let mut answer = vec![0; 12];
    heavy.read_exact(&mut answer).await.unwrap();
    assert_eq!(String::from_utf8(answer).unwrap(), "HTTP/1.1 431");
}

#[tokio::test]
async fn a_principal_who_asks_all_the_time_is_told_to_wait() {
    let server = Served::start_with(|server| server.requests(50)).await;
    let mut refused = None;
    for _ in 0..500 {
        let answer = server.request(Method::GET, "/v1/models").send().await.unwrap();
        if answer.status() == 429 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("500 requests were answered at once");
    assert_eq!(refused.headers()["retry-after"], "1");
    // Whether it lives is not for it to pay.
    assert_eq!(server.get("/health").await.0, 200);
}

/// P25
#[tokio::test]
async fn a_server_that_is_told_to_end_closes_its_streams_and_gives_its_runs_back() {
    let stores = (items(), logs());
    let first = Served::start_on(stores.0.clone(), stores.1.clone(), |server| server).await;
    let thread = "0190a5b0-0000-7000-8000-000000000001";
    let body = json!({
        "assistant_id": "chat", "if_not_exists": "create",
        "input": {"messages": [{"role": "user", "content": "slow"}]},
    });
    let path = format!("/threads/{thread}/runs/stream");
    let sent = first.request(Method::POST, &path).json(&body).send().await.unwrap();
    let place = sent.headers()["content-location"].to_str().unwrap().to_owned();
    let stream = tokio::spawn(crate::served::events(sent));
    first.end().await;
    let events = stream.await.unwrap();
    assert!(events.iter().all(|event| event.name != "end"), "{events:?}");

    let second = Served::start_on(stores.0, stores.1, |server| server).await;
    let (_, run) = second.get(&place).await;
    assert!(["pending", "running"].contains(&run["status"].as_str().unwrap()), "{run}");
    second.post(&format!("{place}/cancel?wait=1"), json!({})).await;
    assert_eq!(second.get(&place).await.1["status"], "interrupted");
}
