//! A model's server that routes every question to the agent and answers as a test says.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use serde_json::{Value, json};

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
    let body = request(&stream)?;
    let is_router = !body["response_format"].is_null();
    let pieces: &[&str] = match (is_router, answer) {
        (true, _) => &[r#"{"route":"agent","reason":"…"}"#],
        (false, Answer::Pieces(pieces, _)) => pieces,
        (false, Answer::Refuse(status)) => {
            let said = json!({"error": {"message": "no"}}).to_string();
            return whole(&stream, status, &said);
        }
    };
    let pause = match answer {
        Answer::Pieces(_, pause) if !is_router => pause,
        _ => Duration::ZERO,
    };
    if body["stream"] != true {
        let message = json!({"role": "assistant", "content": pieces.concat()});
        let said = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
        return whole(&stream, 200, &said.to_string());
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

fn whole(mut stream: &TcpStream, status: u16, body: &str) -> std::io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

fn request(stream: &TcpStream) -> std::io::Result<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}
