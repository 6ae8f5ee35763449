//! The messages of the protocol: a request a line, and its answer.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

use super::desk::Desk;

/// The version that is spoken.
const VERSION: &str = "2026-07-28";

/// The older one.
const OLD_VERSION: &str = "2025-11-25";

/// A method that there is not.
const NO_METHOD: i64 = -32_601;

/// Parameters that do not fit.
const NO_PARAMETERS: i64 = -32_602;

/// The reason why a request has no result.
#[derive(Debug)]
pub(super) struct Fault {
    code: i64,
    message: String,
}

impl Fault {
    /// What was sent does not fit.
    pub(super) fn parameters(message: impl Into<String>) -> Self {
        Self { code: NO_PARAMETERS, message: message.into() }
    }
}

/// The lines of the input.
type Lines = io::Lines<io::StdinLock<'static>>;

/// Answers requests until the input ends: in the older version where `is_old`.
pub(super) fn run(desk: &mut Desk, is_old: bool) -> io::Result<()> {
    let mut lines = io::stdin().lock().lines();
    while let Some(line) = lines.next() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        let (Some(id), Some(method)) = (message.get("id"), text_at(&message, "/method")) else {
            continue;
        };
        let params = message.get("params").unwrap_or(&Value::Null);
        let answered = match is_old {
            true => answer_of_old(desk, method, params, &mut lines)?,
            false => answer(desk, method, params)?,
        };
        send(&match answered {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(Fault { code, message }) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            }
        })?;
    }
    Ok(())
}

fn send(message: &Value) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}")?;
    out.flush()
}

fn answer(desk: &mut Desk, method: &str, params: &Value) -> io::Result<Result<Value, Fault>> {
    let task = text_at(params, "/taskId").unwrap_or_default();
    Ok(match method {
        "server/discover" => Ok(json!({
            "resultType": "complete", "supportedVersions": [VERSION], "capabilities": {"tools": {}},
            "ttlMs": 0, "cacheScope": "private",
        })),
        "tools/list" => Ok(json!({"resultType": "complete", "tools": desk.tools()})),
        "tools/call" => return desk.call(params),
        "tasks/get" => desk.task(task)?,
        "tasks/update" => Ok(complete(json!({}))),
        "tasks/cancel" => desk.cancel(task)?,
        "ping" => Ok(json!({})),
        _ => Err(no_method(method)),
    })
}

fn no_method(method: &str) -> Fault {
    Fault { code: NO_METHOD, message: format!("no method is called `{method}`") }
}

/// The same in the older version: a question waits for its answer within the call.
fn answer_of_old(
    desk: &mut Desk,
    method: &str,
    params: &Value,
    lines: &mut Lines,
) -> io::Result<Result<Value, Fault>> {
    match method {
        "initialize" => Ok(Ok(json!({
            "protocolVersion": OLD_VERSION, "capabilities": {"tools": {}},
            "serverInfo": {"name": "desk", "version": "1"},
        }))),
        "server/discover" => Ok(Err(no_method(method))),
        _ => {
            let result = answer(desk, method, params)?;
            let asks = |result: &Value| result.pointer("/inputRequests/room/params").cloned();
            let Some(question) = result.as_ref().ok().and_then(asks) else { return Ok(result) };
            let answer_of_person = ask(&question, lines)?;
            let responses = json!({"room": answer_of_person});
            let again = with(params.clone(), "inputResponses", responses);
            answer(desk, method, &with(again, "requestState", json!("room")))
        }
    }
}

/// Asks the client's person, and waits for the answer.
fn ask(question: &Value, lines: &mut Lines) -> io::Result<Value> {
    let (id, method) = ("room", "elicitation/create");
    send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": question}))?;
    for line in lines {
        let Ok(reply) = serde_json::from_str::<Value>(&line?) else { continue };
        if text_at(&reply, "/id") == Some(id) {
            return Ok(reply.get("result").cloned().unwrap_or_default());
        }
    }
    Ok(Value::Null)
}

/// The text at a place of a message.
pub(super) fn text_at<'a>(message: &'a Value, place: &str) -> Option<&'a str> {
    message.pointer(place)?.as_str()
}

/// A result that is whole.
pub(super) fn complete(result: Value) -> Value {
    with(result, "resultType", json!("complete"))
}

/// An object with one more field.
pub(super) fn with(mut object: Value, name: &str, value: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
    object
}

/// The result of a tool that did its work.
pub(super) fn text(text: impl Into<String>) -> Value {
    complete(json!({"content": [{"type": "text", "text": text.into()}]}))
}

/// The result of a tool that could not.
pub(super) fn failed(text: impl Into<String>) -> Value {
    complete(json!({"content": [{"type": "text", "text": text.into()}], "isError": true}))
}
