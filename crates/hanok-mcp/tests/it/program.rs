//! The server of these tests: this very program, started again as a child process.
//!
//! What the test harness prints before it is noise that a client has to bear. The variables say how the server behaves: `MODE`,
//! `TOOLS` (a file with the tools, read for each list) and `LEDGER` (a file to which each call adds a line).

use std::{
    fs::OpenOptions,
    io::{BufRead, Write, stdin, stdout},
    sync::Mutex,
};

use serde_json::{Value, json};

/// Serves when it is told to; in a run of the tests it does nothing.
#[test]
fn serve() {
    let Ok(mode) = std::env::var("MODE") else { return };
    let end = if mode == "silent" { silent() } else { run(&mode) };
    // The harness prints its summary to the same output otherwise.
    std::process::exit(end);
}

fn silent() -> i32 {
    stdin().lock().lines().for_each(drop);
    0
}

fn run(mode: &str) -> i32 {
    eprintln!("server of mode {mode} is up");
    if let Ok(pid) = std::env::var("PID") {
        std::fs::write(pid, std::process::id().to_string()).unwrap();
    }
    match mode {
        "dies" => {
            eprintln!("cannot find my \u{1b}[31mdata");
            return 3;
        }
        "noise" => send_lines(&"no protocol\n".repeat(100), usize::MAX),
        "long-line" => send_lines(&"x".repeat(1 << 20), usize::MAX),
        "babble" => send_lines(&format!("{}\n", notification()), usize::MAX),
        _ => {}
    }
    for line in stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.unwrap()) else { continue };
        if let Some(answer) = answer(mode, &message) {
            say(&answer);
        }
    }
    0
}

fn notification() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "again"}})
}

/// Writes `text` so often, as long as somebody reads.
fn send_lines(text: &str, times: usize) {
    let mut out = stdout().lock();
    for _ in 0..times {
        if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

fn say(message: &Value) {
    let mut out = stdout().lock();
    // Nobody may be there any more.
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}

/// Notes what the client says that it can do.
fn note_capabilities(capabilities: &Value) {
    if let Ok(path) = std::env::var("PID") {
        add_line(&format!("{path}.capabilities"), &capabilities.to_string());
    }
}

/// The answer to `message`, if there is one.
pub(crate) fn answer(mode: &str, message: &Value) -> Option<Value> {
    if message["method"].is_null() {
        let said = (&message["error"]["code"], &message["result"]);
        ledger("reply", &format!("{} {} {}", message["id"], said.0, said.1));
        if message["id"] == "wonder"
            && let Some(id) = WONDERS.lock().unwrap().take()
        {
            let result = text(format!("told {}", said.1["action"]));
            return Some(json!({"jsonrpc": "2.0", "id": id, "result": result}));
        }
    }
    if message["method"] == "notifications/cancelled" {
        ledger("cancelled", "");
    }
    let id = message.get("id")?;
    if let (Some("initialize" | "server/discover"), Ok(path)) =
        (message["method"].as_str(), std::env::var("PID"))
    {
        add_line(&format!("{path}.openings"), message["method"].as_str()?);
    }
    if message["method"] == "subscriptions/listen" {
        std::fs::write(std::env::var("PID").unwrap() + ".listens", id.to_string()).unwrap();
        say(&json!({
            "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": id}, "notifications": {"toolsListChanged": true}},
        }));
        return None;
    }
    let result = match message["method"].as_str()? {
        "server/discover" if matches!(mode, "modern" | "lasting") => Ok(json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": true}},
            "ttlMs": 0, "cacheScope": "private",
        })),
        "server/discover" if mode == "ends-at-discover" => std::process::exit(4),
        "initialize" => {
            note_capabilities(&message["params"]["capabilities"]);
            Ok(json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": true}, "logging": {}},
                "serverInfo": {"name": "test", "version": "1"},
            }))
        }
        "logging/setLevel" => {
            if let Ok(path) = std::env::var("PID") {
                add_line(&format!("{path}.level"), message["params"]["level"].as_str()?);
            }
            Ok(json!({}))
        }
        "tools/list" if mode == "mute-list" => return None,
        "tools/list" if mode == "endless-list" => {
            Ok(json!({"tools": [tool("echo", "again")], "nextCursor": id.to_string()}))
        }
        "tools/list" if mode == "lasting" => Ok(json!({
            "tools": tools(), "resultType": "complete", "ttlMs": 3_600_000, "cacheScope": "private",
        })),
        // Only its first page says for how long it is good.
        "tools/list" if mode == "brief" && message["params"]["cursor"].is_null() => Ok(json!({
            "tools": tools(), "resultType": "complete", "ttlMs": 60_000, "nextCursor": "second",
        })),
        "tools/list" if mode == "brief" => Ok(json!({"tools": [], "resultType": "complete"})),
        "tools/list" => Ok(json!({"tools": tools(), "resultType": "complete"})),
        "tools/call" if message["params"]["name"] == "hang" => {
            ledger("hang", "");
            return None;
        }
        "tools/call" if message["params"]["name"] == "wonder" => {
            // It waits for the answer within the call.
            ledger("wonder", "");
            *WONDERS.lock().unwrap() = Some(id.clone());
            let form = json!({"type": "object", "properties": {"seats": {"type": "integer"}}, "required": ["seats"]});
            let params = json!({"mode": "form", "message": "How many\u{1b}[2J seats?", "requestedSchema": form});
            say(
                &json!({"jsonrpc": "2.0", "id": "wonder", "method": "elicitation/create", "params": params}),
            );
            return None;
        }
        "tools/call" => call(message),
        "tasks/get" => task(message),
        "tasks/update" => {
            ledger("update", &message["params"]["inputResponses"].to_string());
            std::fs::write(task_file(), "completed").unwrap();
            Ok(json!({"resultType": "complete"}))
        }
        "tasks/cancel" => {
            ledger("cancel-task", message["params"]["taskId"].as_str()?);
            std::fs::write(task_file(), "cancelled").unwrap();
            Ok(json!({"resultType": "complete"}))
        }
        "resources/list" => Ok(json!({"resultType": "complete", "resources": [
            {"uri": "http://127.0.0.1:9/secret", "name": "leave\u{202e}", "description": "d".repeat(9_000), "mimeType": "text/plain", "size": 7},
        ]})),
        "resources/templates/list" => Ok(
            json!({"resultType": "complete", "resourceTemplates": [{"uriTemplate": "file:///{name}", "name": "files"}]}),
        ),
        "resources/read" if message["params"]["uri"] == "http://127.0.0.1:9/secret" => {
            ledger("resource", "");
            Ok(json!({"resultType": "complete", "contents": [
                {"uri": "http://127.0.0.1:9/secret", "text": format!("two\u{1b}[2J days{}", "가".repeat(200_000))},
                {"uri": "http://127.0.0.1:9/b", "blob": "AAAA", "mimeType": "image/png"},
            ]}))
        }
        "resources/read" => Err(json!({"code": -32002, "message": "no such resource"})),
        "prompts/list" => Ok(json!({"resultType": "complete", "prompts": [
            {"name": "greet", "description": "Greets\u{202e}", "arguments": [{"name": "who", "required": true}]},
        ]})),
        "prompts/get" => Ok(json!({"resultType": "complete", "messages": [
            {"role": "user", "content": {"type": "text", "text": format!("Greet\u{1b} {}", message["params"]["arguments"]["who"])}},
            {"role": "assistant", "content": {"type": "resource_link", "uri": "http://127.0.0.1:9/x", "name": "x"}},
        ]})),
        "ping" => Ok(json!({})),
        _ => Err(json!({"code": -32601, "message": "Method not found"})),
    };
    let id = if mode == "wrong-ids" && message["method"] == "tools/call" {
        json!(987_654)
    } else {
        id.clone()
    };
    Some(match result {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    })
}

/// One tool with a text for its argument.
pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({
        "name": name, "description": description,
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    })
}

fn tools() -> Value {
    match std::env::var("TOOLS") {
        Ok(path) => serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap(),
        Err(_) => json!([tool("echo", "Says the same")]),
    }
}

fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}], "resultType": "complete"})
}

fn call(message: &Value) -> Result<Value, Value> {
    let (params, said) = (&message["params"], &message["params"]["arguments"]["text"]);
    let name = params["name"].as_str().unwrap_or_default();
    let key = params["_meta"]["hanok/callKey"].as_str().unwrap_or("no key");
    let first = ledger(name, key);
    match name {
        "block" => loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        },
        "die" => std::process::exit(9),
        "die-first" if first => std::process::exit(9),
        "huge" => {
            send_lines(&"x".repeat(1 << 20), 50);
            std::process::exit(0)
        }
        "deep" => {
            let nested = format!("{}{}", "[".repeat(100), "]".repeat(100));
            println!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"structuredContent":{nested}}}}}"#,
                message["id"]
            );
            Ok(text("after"))
        }
        "stream" => {
            send_lines(&format!("{}\n", notification()), usize::MAX);
            std::process::exit(0)
        }
        "book" => Ok(book(params, key)),
        "confirm" if params["requestState"].is_null() => {
            Ok(required("only", "How many seats?", "seats"))
        }
        "confirm" => {
            ledger("confirmed", key);
            if said == "die" {
                std::process::exit(9);
            }
            Ok(text(format!("confirmed {}", params["inputResponses"]["seats"])))
        }
        "endless" => Ok(required("again", "Again?", "seats")),
        "wants-secret" => Ok(required("secret", "Who are you?", "password")),
        "wants-much" => {
            let folders = (0..17).map(|at| (at.to_string(), json!({"method": "roots/list"})));
            let folders: serde_json::Map<_, _> = folders.collect();
            Ok(
                json!({"resultType": "input_required", "requestState": "much", "inputRequests": folders}),
            )
        }
        "wants-visit" if params["requestState"].is_null() => Ok(json!({
            "resultType": "input_required", "requestState": "visit",
            "inputRequests": {
                "visit": {"method": "elicitation/create", "params": {"mode": "url", "message": "Pay there", "url": "http://127.0.0.1:9/pay"}},
                "folders": {"method": "roots/list"},
            },
        })),
        "wants-visit" => Ok(text(params["inputResponses"].to_string())),
        "wants-model" => Ok(json!({
            "resultType": "input_required", "requestState": "model",
            "inputRequests": {"words": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 9}}},
        })),
        "long" => {
            let mut task = handle(&format!("task-{said}").replace('"', ""), "working");
            task["resultType"] = json!("task");
            Ok(task)
        }
        "log" => {
            let level = &params["_meta"]["io.modelcontextprotocol/logLevel"];
            for at in 0..1_200 {
                let params = json!({"level": "warning", "logger": "disk\u{1b}", "data": {"at": at, "asked": level}});
                say(
                    &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}),
                );
            }
            Ok(text("logged"))
        }
        "steps" => {
            for step in 1..=2 {
                let params = json!({
                    "progressToken": params["_meta"]["progressToken"], "progress": step, "total": 2, "message": "at\u{1b}[2J it",
                });
                say(
                    &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
                );
            }
            Ok(text("done"))
        }
        "ask" => {
            for (id, method, params) in [
                ("roots", "roots/list", json!({})),
                ("sampling", "sampling/createMessage", json!({"messages": [], "maxTokens": 9})),
                (
                    "form",
                    "elicitation/create",
                    json!({
                        "message": "your password?",
                        "requestedSchema": {"type": "object", "properties": {"password": {"type": "string"}}},
                    }),
                ),
            ] {
                say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
            }
            Ok(text("asked"))
        }
        "change" => {
            let listens =
                std::fs::read(std::env::var("PID").unwrap() + ".listens").unwrap_or_default();
            let params = match serde_json::from_slice::<Value>(&listens) {
                Ok(id) => json!({"_meta": {"io.modelcontextprotocol/subscriptionId": id}}),
                Err(_) => json!({}),
            };
            say(
                &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params}),
            );
            Ok(text("changed"))
        }
        "fail" => {
            Ok(json!({"content": [{"type": "text", "text": "all is well"}], "isError": true}))
        }
        "refuse" => {
            let secret = std::env::var("SECRET").unwrap_or_default();
            eprintln!("refused by {secret}");
            Err(json!({"code": -32000, "message": format!("not today\u{1b}[2J{secret}")}))
        }
        "unfit" => Err(json!({"code": -32602, "message": "text is missing"})),
        "env" => {
            let names: std::collections::BTreeSet<_> =
                std::env::vars().map(|variable| variable.0).collect();
            Ok(text(names.into_iter().collect::<Vec<_>>().join(" ")))
        }
        "child" => {
            // A process that outlives its parent, unless its group ends.
            #[allow(clippy::zombie_processes, reason = "that is what is tested")]
            let child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
            Ok(text(child.id().to_string()))
        }
        "echo" | "die-first" | "find" | "read" => Ok(text(said.as_str().unwrap_or_default())),
        _ => Err(json!({"code": -32602, "message": format!("Unknown tool: {name}")})),
    }
}

/// The call of the tool `wonder` whose question is not answered yet.
static WONDERS: Mutex<Option<Value>> = Mutex::new(None);

/// The file with the state of the one task, which outlives the server.
fn task_file() -> String {
    std::env::var("PID").unwrap() + ".task"
}

/// The state of a task; a file that is not there is one that works.
fn task(message: &Value) -> Result<Value, Value> {
    let id = message["params"]["taskId"].as_str().unwrap_or_default();
    ledger("poll", id);
    let state = std::fs::read_to_string(task_file()).unwrap_or_else(|_| "working".to_owned());
    let mut task = handle(id, &state);
    task["resultType"] = json!("complete");
    match state.as_str() {
        "completed" => task["result"] = text(format!("{id} is done")),
        "failed" => task["error"] = json!({"code": -32000, "message": "no paper\u{1b}"}),
        "input_required" => {
            let form = json!({"type": "object", "properties": {"pages": {"type": "integer"}}, "required": ["pages"]});
            let params =
                json!({"mode": "form", "message": "How many pages?", "requestedSchema": form});
            task["inputRequests"] =
                json!({"pages": {"method": "elicitation/create", "params": params}});
        }
        "forgotten" => return Err(json!({"code": -32602, "message": "no such task"})),
        _ => {}
    }
    Ok(task)
}

fn handle(id: &str, state: &str) -> Value {
    json!({
        "taskId": id, "status": state, "createdAt": "2026-08-01T00:00:00Z", "lastUpdatedAt": "2026-08-01T00:00:00Z",
        "ttlMs": null, "pollIntervalMs": 1, "statusMessage": "at\u{1b} it",
    })
}

/// What a call of `book` is told before it goes on: the server keeps nothing of it but what the client sends back.
fn required(state: &str, message: &str, property: &str) -> Value {
    let form = json!({"type": "object", "properties": {property: {"type": "integer"}}, "required": [property]});
    let params = json!({"mode": "form", "message": message, "requestedSchema": form});
    json!({
        "resultType": "input_required", "requestState": state,
        "inputRequests": {property: {"method": "elicitation/create", "params": params}},
    })
}

/// A booking that asks for the seats, then for the nights, and only then books.
fn book(params: &Value, key: &str) -> Value {
    let answers = &params["inputResponses"];
    match params["requestState"].as_str() {
        None => required("first", "How many seats?", "seats"),
        Some("first") if answers["seats"]["action"] == "accept" => {
            let seats = &answers["seats"]["content"]["seats"];
            required(&format!("second {seats}"), "How many nights?", "nights")
        }
        Some("first") => text(format!("not booked: {}", answers["seats"]["action"])),
        Some(state) => {
            let nights = &answers["nights"]["content"]["nights"];
            ledger("booked", key);
            text(format!("booked {state} {nights}"))
        }
    }
}

/// Adds a call to the ledger; true when it is the first of its tool.
fn ledger(name: &str, key: &str) -> bool {
    let Ok(path) = std::env::var("LEDGER") else { return true };
    let first = !std::fs::read_to_string(&path)
        .unwrap_or_default()
        .lines()
        .any(|line| line.starts_with(name));
    add_line(&path, &format!("{name} {key}"));
    first
}

fn add_line(path: &str, line: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}
