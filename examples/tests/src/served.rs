//! A model's server for tests: the offline model behind HTTP, in the words of Chat Completions, well or ill.
//!
//! Whatever program is asked of it does what it does, and every request is kept as it was made.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    io::{self, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use hanok_core::Call;
use hanok_model::{ChatModel, ChatRequest, ResponseFormat, ToolChoice, ToolSpec};
use hanok_state::{Json, Message};
use kit::OfflineModel;
use serde_json::{Value, json};

use crate::program::http::{JSON, read_request, write_answer, write_whole};

/// What the server does with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// It answers as the offline model does.
    Well,
    /// The same, a few letters at a time with a pause before each.
    Slowly(Duration),
    /// It refuses everything with this status.
    Refuses(u16),
    /// It refuses the first request, asks to wait for a second, and answers then.
    Busy,
    /// It answers everything with a web page.
    Page,
    /// It breaks off in the middle of its answer.
    Cut,
    /// It answers every question with these words.
    Says(&'static str),
    /// It calls a tool that nobody offered.
    Calls(&'static str),
}

/// A server. It ends with the test.
#[derive(Debug)]
pub struct Served {
    url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Served {
    /// Starts one that answers in this manner, as `model` does where it does.
    ///
    /// # Panics
    ///
    /// There is no port.
    pub fn start(manner: Manner, model: OfflineModel) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = requests.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (model, kept) = (model.clone(), kept.clone());
                // A client that goes away is none of its business.
                thread::spawn(move || drop(answer(&stream, manner, &model, &kept)));
            }
        });
        Self { url, requests }
    }

    /// Its address, as `OPENAI_BASE_URL`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The requests so far, as they were made.
    ///
    /// # Panics
    ///
    /// A thread of the server panicked.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(
    stream: &TcpStream,
    manner: Manner,
    model: &OfflineModel,
    kept: &Mutex<Vec<Value>>,
) -> io::Result<()> {
    let body = read_request(stream)?;
    let before = {
        let mut kept = kept.lock().unwrap();
        kept.push(body.clone());
        kept.len() - 1
    };
    let message = match manner {
        Manner::Refuses(status) => return refuse(stream, status),
        Manner::Busy if before == 0 => return refuse(stream, 429),
        Manner::Page => {
            let page = "<!DOCTYPE html><title>Welcome</title>";
            return write_whole(stream, 200, "text/html", page.len(), "", page);
        }
        Manner::Says(words) if !body["response_format"].is_object() => Message::assistant(words),
        Manner::Calls(tool) if !body["response_format"].is_object() => {
            let call = hanok_state::ToolCall::new("call-1", tool, "{}");
            Message::assistant("").with_tool_calls([call])
        }
        _ => reply(model, &body),
    };
    let mut whole = message.to_openai();
    if body["stream"] != true {
        let finish = if message.tool_calls().is_empty() { "stop" } else { "tool_calls" };
        let choice = json!({"index": 0, "message": whole, "finish_reason": finish});
        let text = json!({"choices": [choice]}).to_string();
        let half = text.floor_char_boundary(text.len() / 2);
        let sent = if manner == Manner::Cut { &text[..half] } else { &text };
        return write_whole(stream, 200, JSON, text.len(), "", sent);
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    write(stream, head)?;
    let chunk = |delta: &Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        write(stream, &format!("data: {}\n\n", json!({"choices": [choice]})))
    };
    let text: Vec<char> = message.text().chars().collect();
    for piece in text.chunks(16) {
        if let Manner::Slowly(pause) = manner {
            thread::sleep(pause);
        }
        let piece: String = piece.iter().collect();
        chunk(&json!({"content": piece}), None)?;
        if manner == Manner::Cut {
            return Ok(());
        }
    }
    if let Some(calls) = whole["tool_calls"].as_array_mut() {
        for (index, call) in calls.iter_mut().enumerate() {
            call["index"] = index.into();
            chunk(&json!({"tool_calls": [call]}), None)?;
            if manner == Manner::Cut {
                return Ok(());
            }
        }
        chunk(&json!({}), Some("tool_calls"))?;
    } else {
        chunk(&json!({}), Some("stop"))?;
    }
    write(stream, "data: [DONE]\n\n")
}

fn write(mut stream: &TcpStream, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

fn refuse(stream: &TcpStream, status: u16) -> io::Result<()> {
    let body = json!({"error": {"message": "no", "code": "refused"}});
    match status {
        429 => {
            let body = body.to_string();
            write_whole(stream, status, JSON, body.len(), "Retry-After: 1\r\n", &body)
        }
        _ => write_answer(stream, status, &body),
    }
}

/// What the model answers to a request in the words of Chat Completions.
fn reply(model: &OfflineModel, body: &Value) -> Message {
    let messages = body["messages"].as_array().unwrap().iter();
    let mut request = ChatRequest::new(messages.map(|it| Message::from_openai(it).unwrap()));
    let tools = body["tools"].as_array().into_iter().flatten().map(|tool| {
        let function = &tool["function"];
        let text = |key: &str| function[key].as_str().unwrap_or_default().to_owned();
        ToolSpec::new(text("name"), text("description"), function["parameters"].clone()).unwrap()
    });
    request = request.tools(tools);
    request.tool_choice = match &body["tool_choice"] {
        Value::String(choice) if choice == "none" => ToolChoice::None,
        Value::String(choice) if choice == "required" => ToolChoice::Required,
        Value::Object(tool) => {
            ToolChoice::Tool(tool["function"]["name"].as_str().unwrap_or_default().to_owned())
        }
        _ => ToolChoice::Auto,
    };
    if let Some(form) = body["response_format"].get("json_schema") {
        let name = form["name"].as_str().unwrap_or_default().to_owned();
        request.response_format =
            ResponseFormat::JsonSchema { name, schema: Json(form["schema"].clone()) };
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(model.chat(request, &Call::detached())).unwrap().message
}
