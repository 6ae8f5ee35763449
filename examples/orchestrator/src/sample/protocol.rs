//! The messages of the protocol: a request a line, and its answer.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

use super::desk::Desk;

/// The version that is spoken.
const VERSION: &str = "2026-07-28";

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

/// Answers requests until the input ends.
pub(super) fn run(desk: &mut Desk) -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
            continue;
        };
        let mut reply = json!({"jsonrpc": "2.0", "id": id});
        match answer(desk, method, &message["params"])? {
            Ok(result) => reply["result"] = result,
            Err(Fault { code, message }) => {
                reply["error"] = json!({"code": code, "message": message});
            }
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{reply}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(desk: &mut Desk, method: &str, params: &Value) -> io::Result<Result<Value, Fault>> {
    let task = params["taskId"].as_str().unwrap_or_default();
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
        _ => Err(Fault { code: NO_METHOD, message: format!("no method is called `{method}`") }),
    })
}

/// A result that is whole.
pub(super) fn complete(mut result: Value) -> Value {
    result["resultType"] = json!("complete");
    result
}

/// The result of a tool that did its work.
pub(super) fn text(text: impl Into<String>) -> Value {
    complete(json!({"content": [{"type": "text", "text": text.into()}]}))
}

/// The result of a tool that could not.
pub(super) fn failed(text: impl Into<String>) -> Value {
    complete(json!({"content": [{"type": "text", "text": text.into()}], "isError": true}))
}
