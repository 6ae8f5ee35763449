//! A model's server that routes every question to the agent and answers as a test says.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    io::Write,
    net::{TcpListener, TcpStream},
    time::Duration,
};

use example_tests::program::http::{read_request, write_answer};
use serde_json::json;

/// What the server does with a question that is not the router's.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    /// These pieces, so long after each other.
    Pieces(&'static [&'static str], Duration),
    /// Refuses with this status.
    Refuse(u16),
}

/// Starts one; its address as `OPENAI_BASE_URL`.
pub(crate) fn serve(answer: Answer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that goes away is none of its business.
            std::thread::spawn(move || drop(one(stream, answer)));
        }
    });
    url
}

fn one(stream: TcpStream, answer: Answer) -> std::io::Result<()> {
    let body = read_request(&stream)?;
    let is_router = !body["response_format"].is_null();
    let pieces: &[&str] = match (is_router, answer) {
        (true, _) => &[r#"{"route":"agent","reason":"…"}"#],
        (false, Answer::Pieces(pieces, _)) => pieces,
        (false, Answer::Refuse(status)) => {
            return write_answer(&stream, status, &json!({"error": {"message": "no"}}));
        }
    };
    let pause = match answer {
        Answer::Pieces(_, pause) if !is_router => pause,
        _ => Duration::ZERO,
    };
    if body["stream"] != true {
        let message = json!({"role": "assistant", "content": pieces.concat()});
        let reply = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
        return write_answer(&stream, 200, &reply);
    }
    let mut stream = &stream;
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    )?;
    for piece in pieces {
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": piece}}]});
        write!(stream, "data: {chunk}\n\n")?;
        stream.flush()?;
        std::thread::sleep(pause);
    }
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    write!(stream, "data: {last}\n\ndata: [DONE]\n\n")
}
