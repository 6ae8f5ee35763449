//! What a browser gets: a turn's events while it runs, and after a lost connection those that it has not seen.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::net::SocketAddr;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

async fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, sse::router(sse::app().unwrap())).await });
    address
}

async fn request(server: SocketAddr, line: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(server).await.unwrap();
    let request = format!("{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).await.unwrap();
    said
}

/// The name, the id and the data of each frame.
fn frames(said: &str) -> Vec<(String, Option<String>, Value)> {
    let field = |frame: &str, name: &str| {
        frame.lines().find_map(|line| line.strip_prefix(name)).map(|text| text.trim().to_owned())
    };
    let frames = said.split("event:").skip(1).map(|frame| format!("event:{frame}"));
    let parsed = frames.map(|frame| {
        let data = serde_json::from_str(&field(&frame, "data:").unwrap()).unwrap();
        (field(&frame, "event:").unwrap(), field(&frame, "id:"), data)
    });
    parsed.collect()
}

/// P54: whatever was the last that came, what is recorded after it comes, once.
#[tokio::test]
async fn a_lost_connection_is_taken_up_where_it_broke() {
    let server = serve().await;
    let said = request(server, "POST /threads/mine?say=hello", "content-length: 0\r\n").await;
    assert!(said.contains("text/event-stream"), "{said}");
    let turn = frames(&said);
    let names: Vec<_> = turn.iter().map(|(name, ..)| name.as_str()).collect();
    let begins = ["values", "task_started", "message", "task_finished"];
    let ends = ["updates", "checkpoint", "values", "ended"];
    assert_eq!(names, [begins, ends].concat());
    let (_, _, last) = &turn[6];
    assert_eq!(last["data"]["messages"][1]["content"], "HELLO");

    let recorded: Vec<_> = turn.iter().filter_map(|(_, id, _)| id.clone()).collect();
    assert!(recorded.len() > 2, "{recorded:?}");
    for (n, seen) in recorded.iter().enumerate() {
        let header = format!("last-event-id: {seen}\r\n");
        let rest = frames(&request(server, "GET /threads/mine", &header).await);
        let rest: Vec<_> = rest.into_iter().map(|(_, id, _)| id.unwrap()).collect();
        assert_eq!(rest, recorded[n + 1..], "after {seen}");
    }
}

/// P26: a name in a path is a name or refused.
#[tokio::test]
async fn what_is_wrong_is_said_in_json() {
    let server = serve().await;
    for (line, headers, status, words) in [
        ("POST /threads/mine", "content-length: 0\r\n", "400", "`say` is missing"),
        ("GET /threads/%0A", "", "400", "control character"),
        ("GET /threads/mine", "last-event-id: 7\r\n", "400", "`7` is no id of an event"),
    ] {
        let said = request(server, line, headers).await;
        assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{said}");
        assert!(said.contains(words), "{said}");
    }
}
