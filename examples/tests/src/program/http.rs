//! The side of a model's server in a test: one request of a connection, and its whole answer.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use serde_json::Value;

/// The kind of a body that is JSON.
pub const JSON: &str = "application/json";

/// The JSON of the request on `stream`.
///
/// # Errors
///
/// The client went away, or sent something else.
pub fn read_request(stream: &TcpStream) -> io::Result<Value> {
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

/// Answers with `status`, `body` of the `kind` and further `headers`, and ends the connection. It is said to have `length` bytes.
///
/// # Errors
///
/// The client went away.
pub fn write_whole(
    mut stream: &TcpStream,
    status: u16,
    kind: &str,
    length: usize,
    headers: &str,
    body: &str,
) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{headers}Connection: close\r\n\r\n{body}"
    )
}

/// Answers with `status` and `body`, and ends the connection.
///
/// # Errors
///
/// The client went away.
pub fn write_answer(stream: &TcpStream, status: u16, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    write_whole(stream, status, JSON, body.len(), "", &body)
}
