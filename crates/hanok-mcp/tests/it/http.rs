//! Servers over streamable HTTP, as they should be and as they should not.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use hanok_graph::Outcome;
use hanok_mcp::{ElicitationAnswer, Lifecycle, McpClient, McpError, ServerError};
use hanok_model::ToolError;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

use crate::{
    durable::{answered, memory, thread},
    program::{answer, tool},
    support::{World, names, tool_of},
};

/// What a listener does with a message, and with what header it came.
pub(crate) type Behaviour = Arc<dyn Fn(&Value, &str) -> Reply + Send + Sync>;

pub(crate) enum Reply {
    /// This status, these headers and this body.
    Http(&'static str, String, String),
    /// The head of a stream of events, then this event for ever.
    Events(String),
    /// The connection is cut after this.
    Cut(String),
}

/// A listener on this machine; the count of its requests.
pub(crate) async fn listener(behaviour: Behaviour) -> (String, Arc<AtomicUsize>) {
    let (address, requests, _) = stoppable_listener(behaviour).await;
    (address, requests)
}

/// The same with its task, which ends all its connections with itself.
async fn stoppable_listener(behaviour: Behaviour) -> (String, Arc<AtomicUsize>, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let count = requests.clone();
    let task = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            connections.spawn(serve(stream, behaviour.clone(), count.clone()));
        }
    });
    (address, requests, task)
}

async fn serve(mut stream: TcpStream, behaviour: Behaviour, count: Arc<AtomicUsize>) {
    let mut read = Vec::new();
    loop {
        let Some((head, body)) = request(&mut stream, &mut read).await else { return };
        count.fetch_add(1, Ordering::SeqCst);
        let message = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let whole = |status: &str, headers: &str, body: &str| {
            format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
        };
        let text = match behaviour(&message, &head) {
            Reply::Http(status, headers, body) => whole(status, &headers, &body),
            Reply::Cut(text) => {
                let _ = stream.write_all(text.as_bytes()).await;
                return;
            }
            Reply::Events(event) => {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
                let mut sent = stream.write_all(head.as_bytes()).await;
                while sent.is_ok() {
                    sent = stream.write_all(event.as_bytes()).await;
                }
                return;
            }
        };
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The head and the body of the next request.
async fn request(stream: &mut TcpStream, read: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    loop {
        let end = read.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4);
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&read[..end]).to_ascii_lowercase();
            let length =
                head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next());
            let length: usize = length.map_or(0, |length| length.parse().unwrap());
            if read.len() >= end + length {
                let body = read[end..end + length].to_vec();
                read.drain(..end + length);
                return Some((head, body));
            }
        }
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(count @ 1..) => read.extend_from_slice(&piece[..count]),
            _ => return None,
        }
    }
}

pub(crate) fn json_reply(body: &Value) -> Reply {
    Reply::Http("200 OK", "Content-Type: application/json\r\n".into(), body.to_string())
}

/// A server that does what it should.
pub(crate) fn proper(mode: &'static str) -> impl Fn(&Value) -> Reply {
    move |message| match answer(mode, message) {
        Some(answer) => json_reply(&answer),
        None if message.is_null() => {
            Reply::Http("405 Method Not Allowed", String::new(), String::new())
        }
        None => Reply::Http("202 Accepted", String::new(), String::new()),
    }
}

fn error_of(client: &McpClient) -> String {
    client.status()[0].error.clone().unwrap_or_default()
}

#[tokio::test]
async fn tools_over_http_are_called_with_the_headers_of_the_configuration() {
    for (mode, lifecycle) in [("old", Lifecycle::Initialize), ("modern", Lifecycle::Discover)] {
        let reply = proper(mode);
        let (address, _) = listener(Arc::new(move |message, head| {
            match head.contains("\r\nauthorization: bearer t-17\r\n") {
                true => reply(message),
                false => Reply::Http("401 Unauthorized", String::new(), String::new()),
            }
        }))
        .await;
        let world = World::new()
            .any("web", json!({"url": address, "headers": {"Authorization": "Bearer t-17"}}));
        let client = world.approved().await;
        assert_eq!(client.status()[0].lifecycle, Some(lifecycle), "{}", error_of(&client));
        assert_eq!(world.run(&client, "web__echo", "k").await, Ok("k".to_owned()));
    }
}

/// B138: questions and tasks are those of the other transport; the server keeps nothing of a call that waits for a person.
#[tokio::test]
async fn questions_and_tasks_over_http_are_answered_and_polled() {
    let (reply, polls) = (proper("modern"), Arc::new(AtomicUsize::new(0)));
    let polled = polls.clone();
    let (address, _) = listener(Arc::new(move |message, _| {
        let done = |result: Value| {
            json_reply(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
        };
        let task = |kind: &str, status: &str| {
            json!({
                "resultType": kind, "taskId": "t-1", "status": status, "createdAt": "2026-08-01T00:00:00Z",
                "lastUpdatedAt": "2026-08-01T00:00:00Z", "ttlMs": 60_000, "pollIntervalMs": 0,
            })
        };
        match (message["method"].as_str(), message["params"]["name"].as_str()) {
            (Some("tools/list"), _) => {
                done(json!({"resultType": "complete", "tools": [tool("book", ""), tool("long", "")]}))
            }
            (Some("tools/call"), Some("long")) => {
                // Without this a server is not allowed to make a task of a call.
                let client = &message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
                assert!(client["extensions"]["io.modelcontextprotocol/tasks"].is_object(), "{client}");
                done(task("task", "working"))
            }
            (Some("tasks/get"), _) => match polled.fetch_add(1, Ordering::SeqCst) {
                0 | 1 => done(task("complete", "working")),
                _ => {
                    let mut task = task("complete", "completed");
                    task["result"] = json!({"content": [{"type": "text", "text": "done"}]});
                    done(task)
                }
            },
            _ => reply(message),
        }
    }))
    .await;
    let world = World::new().any("web", json!({"url": address}));
    let (client, store) = (world.approved().await, memory());
    let run = thread(&store).invoke(Default::default(), tool_of(&client, "web__book")).await;
    assert!(matches!(run, Ok(Outcome::Interrupted(_))), "{run:?}");
    let client = world.builder().connect().await.unwrap();
    let end = answered(&store, &client, "web__book", &ElicitationAnswer::Decline).await;
    assert_eq!(end, "not booked: \"decline\"");

    let store = memory();
    let run = thread(&store).invoke(Default::default(), tool_of(&client, "web__long")).await;
    assert_eq!(run.unwrap().done().unwrap().text, "done");
    assert_eq!(polls.load(Ordering::SeqCst), 3);
}

/// P44: a redirect is not followed, and what a server says about authorization is not fetched, to this machine or elsewhere.
#[tokio::test]
async fn neither_a_redirect_nor_metadata_leads_anywhere() {
    let (inside, requests) =
        listener(Arc::new(|_, _| Reply::Http("200 OK", String::new(), String::new()))).await;
    let to = inside.clone();
    let (redirecting, _) = listener(Arc::new(move |_, _| {
        Reply::Http("307 Temporary Redirect", format!("Location: {to}?token=1\r\n"), String::new())
    }))
    .await;
    let to = inside.clone();
    let (asking, _) = listener(Arc::new(move |_, _| {
        let challenge = format!("WWW-Authenticate: Bearer resource_metadata=\"{to}\"\r\n");
        Reply::Http("401 Unauthorized", challenge, String::new())
    }))
    .await;
    let client = World::new().any("web", json!({"url": redirecting})).approved().await;
    let inside = inside.replace(&format!(":{}", inside.split([':', '/']).nth(4).unwrap()), "");
    let want = format!(
        "the server sends to `{inside}`, which is not followed; write that address if it is right"
    );
    assert_eq!(error_of(&client), want);
    let client = World::new().any("web", json!({"url": asking})).approved().await;
    assert_eq!(
        error_of(&client),
        "the server wants an authorization; write a token into its `headers`, or sign in by `oauth`"
    );
    assert_eq!(requests.load(Ordering::SeqCst), 0);
}

/// P44: a body, an event or a stream past a limit is typed, and the next call has a connection of its own.
#[tokio::test]
async fn an_answer_past_a_limit_is_typed() {
    type Is = fn(&ServerError) -> bool;
    type Bad = Box<dyn Fn() -> Reply + Send + Sync>;
    let deep = || {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"structuredContent":{}{}}}}}"#,
            "[".repeat(70),
            "]".repeat(70)
        )
    };
    let very_deep =
        || format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}{}}}"#, "[".repeat(500), "]".repeat(500));
    let note = r#"data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    let body =
        |text: String| Reply::Http("200 OK", "Content-Type: application/json\r\n".into(), text);
    let cases: [(&str, Bad, Is); 5] = [
        ("50 MB", Box::new(move || body("x".repeat(50 << 20))), |error| {
            matches!(error, ServerError::TooLong { .. })
        }),
        ("deep", Box::new(move || body(deep())), |error| {
            matches!(error, ServerError::TooDeep { .. })
        }),
        ("very deep", Box::new(move || body(very_deep())), |error| {
            matches!(error, ServerError::TooDeep { .. })
        }),
        (
            "endless event",
            Box::new(|| Reply::Events("data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".repeat(1_000))),
            |error| matches!(error, ServerError::TooLong { .. }),
        ),
        ("endless stream", Box::new(move || Reply::Events(format!("{note}\n\n"))), |error| {
            matches!(error, ServerError::Babbling { .. })
        }),
    ];
    for (name, reply, is) in cases {
        let proper = proper("old");
        let (address, _) = listener(Arc::new(move |message, _| {
            match message["params"]["arguments"]["text"] == "bad" {
                true => reply(),
                false => proper(message),
            }
        }))
        .await;
        let world = World::new().any("web", json!({"url": address}));
        let client = world.approved().await;
        let echo = tool_of(&client, "web__echo");
        let error = world.run_tool(&echo, "bad").await.unwrap_err();
        let Some(McpError::Server { source, .. }) = McpError::of(&error) else {
            panic!("{name}: {error:?}")
        };
        assert!(is(source), "{name}: {source:?}");
        assert!(matches!(error, ToolError::InDoubt(_)), "{name}: {error:?}");
        assert_eq!(world.run(&client, "web__echo", "k").await, Ok("k".to_owned()), "{name}");
    }
}

/// P4: a call that never reached the server is made again, one that may have is in doubt.
#[tokio::test]
async fn a_call_that_did_not_arrive_is_made_again_and_a_lost_answer_is_a_doubt() {
    let calls = Arc::new(AtomicUsize::new(0));
    let (taken, proper) = (calls.clone(), proper("old"));
    let (address, _, listening) = stoppable_listener(Arc::new(move |message, _| {
        let text = &message["params"]["arguments"]["text"];
        if text.is_string() {
            taken.fetch_add(1, Ordering::SeqCst);
        }
        match text == "cut" {
            true => Reply::Cut(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{"
                    .into(),
            ),
            false => proper(message),
        }
    }))
    .await;
    let world = World::new().any("web", json!({"url": address}));
    let client = world.approved().await;
    let echo = tool_of(&client, "web__echo");
    let error = world.run_tool(&echo, "cut").await.unwrap_err();
    assert!(matches!(error, ToolError::InDoubt(_)), "{error:?}");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    assert_eq!(world.run(&client, "web__echo", "k").await, Ok("k".to_owned()));

    // Whoever listened is gone: nothing was taken, and the error says that the call was not made.
    listening.abort();
    assert!(listening.await.is_err());
    let later = world.builder().connect().await.unwrap();
    let error = world.run_tool(&tool_of(&later, "web__echo"), "k2").await.unwrap_err();
    let not_made =
        hanok_core::Chain(&error).causes().any(|cause| cause.is::<hanok_graph::NotMade>());
    assert!(not_made, "{error:?}");
    assert!(
        error.report().starts_with("server `web`: the connection failed: error sending request: "),
        "{}",
        error.report()
    );
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}

/// P4: a call that a server turned away is surely not made, whether it says how to sign in or not.
#[tokio::test]
async fn a_call_that_is_turned_away_is_no_doubt() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        for challenge in ["", "WWW-Authenticate: Bearer\r\n"] {
            let proper = proper("old");
            let (address, _) = listener(Arc::new(move |message, _| {
                match message["params"]["arguments"]["text"] == "away" {
                    true => Reply::Http(status, challenge.to_owned(), String::new()),
                    false => proper(message),
                }
            }))
            .await;
            let world = World::new().any("web", json!({"url": address}));
            let client = world.approved().await;
            let error = world.run_tool(&tool_of(&client, "web__echo"), "away").await.unwrap_err();
            assert!(!matches!(error, ToolError::InDoubt(_)), "{status} {challenge}: {error:?}");
            let Some(McpError::Server { source, .. }) = McpError::of(&error) else {
                panic!("{status} {challenge}: {error:?}")
            };
            assert!(matches!(source, ServerError::Unauthorized), "{status}: {source:?}");
        }
    }
}

/// P44: the address is the server's identity.
#[tokio::test]
async fn a_server_at_another_address_is_another_server() {
    let (one, other) = (proper("old"), proper("old"));
    let (first, _) = listener(Arc::new(move |message, _| one(message))).await;
    let (second, _) = listener(Arc::new(move |message, _| other(message))).await;
    let world = World::new().any("web", json!({"url": first}));
    world.approved().await;
    let world = world.any("web", json!({"url": second}));
    let client = world.builder().connect().await.unwrap();
    let text = client.pending()[0].difference();
    assert!(text.contains(&format!("- address: {first}\n+ address: {second}\n")), "{text}");
    assert_eq!(names(&client), [""; 0]);
}
