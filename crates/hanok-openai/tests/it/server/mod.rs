//! A server that misbehaves as it is told, a clock, and a watcher of tokens.
#![allow(dead_code, reason = "not every test uses all of it")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_core::{BoxFuture, Call, CallKey, Clock, Timestamp, Token, TokenSink};
use hanok_model::ChatRequest;
use hanok_openai::{OpenAi, OpenAiBuilder};
use hanok_state::Message;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::Instant,
};

/// One thing the server does on a connection, after it has read the request.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Sends the same until the other side has enough.
    SendForever(&'static str),
    /// Says nothing more, and stays.
    Hang,
    /// Ends the connection with a reset.
    Reset,
}

pub(crate) type Script = Vec<Step>;

/// What the server was sent.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn has_header(&self, line: &str) -> bool {
        let mut lines = self.head.lines();
        lines.any(|l| l.to_lowercase().starts_with(&line.to_lowercase()))
    }
}

/// Follows one script per connection; the last one again and again.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) base_url: String,
    received: Arc<Mutex<Vec<Received>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let heard = received.clone();
        let task = tokio::spawn(async move {
            for n in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let script = scripts.get(n).or(scripts.last()).unwrap().clone();
                tokio::spawn(serve(stream, script, heard.clone()));
            }
        });
        Self { base_url, received, task }
    }

    /// A server that answers each request with what `script` says about it.
    pub(crate) async fn answering(script: fn(&Received) -> Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let heard = received.clone();
        let task = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let heard = heard.clone();
                tokio::spawn(async move {
                    let Some(received) = request(&mut stream).await else { return };
                    heard.lock().unwrap().push(received.clone());
                    follow(stream, script(&received)).await;
                });
            }
        });
        Self { base_url, received, task }
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Settings for this server that do not wait long.
    pub(crate) fn settings(&self) -> OpenAiBuilder {
        settings(&self.base_url)
    }

    pub(crate) fn model(&self) -> OpenAi {
        self.settings().build().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn settings(base_url: &str) -> OpenAiBuilder {
    OpenAi::builder(base_url).model("m").backoff(Duration::from_millis(1))
}

async fn serve(mut stream: TcpStream, script: Script, heard: Arc<Mutex<Vec<Received>>>) {
    let Some(received) = request(&mut stream).await else { return };
    heard.lock().unwrap().push(received);
    follow(stream, script).await;
}

async fn follow(mut stream: TcpStream, script: Script) {
    for step in script {
        let sent = match step {
            Step::Send(bytes) => stream.write_all(&bytes).await,
            Step::SendForever(text) => loop {
                if let Err(error) = stream.write_all(text.as_bytes()).await {
                    break Err(error);
                }
            },
            Step::Wait(duration) => {
                tokio::time::sleep(duration).await;
                Ok(())
            }
            Step::Hang => std::future::pending().await,
            Step::Reset => stream.set_zero_linger(),
        };
        if sent.is_err() {
            return;
        }
    }
}

async fn request(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_lowercase().strip_prefix("content-length:")?.trim().parse::<usize>().ok()
            });
            if body.len() >= length.unwrap_or(0) {
                return Some(Received { head: head.to_owned(), body: body.to_owned() });
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// A whole response.
pub(crate) fn answer(status: u16, kind: &str, headers: &str, body: impl AsRef<[u8]>) -> Script {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status} Something\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n",
        body.len()
    );
    vec![Step::Send([head.as_bytes(), body].concat())]
}

pub(crate) fn json(status: u16, body: impl AsRef<[u8]>) -> Script {
    answer(status, "application/json", "", body)
}

/// The head of a stream that ends with its connection.
pub(crate) fn head() -> Step {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n";
    Step::Send(head.into())
}

/// A stream of these events that ends with `[DONE]`.
pub(crate) fn stream(events: &[&str]) -> Script {
    let events: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    vec![head(), Step::Send(format!("{events}data: [DONE]\n\n").into_bytes())]
}

/// A stream of these bytes and then `after`.
pub(crate) fn cut(text: &str, after: Step) -> Script {
    vec![head(), Step::Send(text.into()), after]
}

pub(crate) fn said(text: &str) -> String {
    format!(
        r#"{{"model":"m-1","choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":12,"completion_tokens":3}}}}"#
    )
}

pub(crate) fn piece(text: &str) -> String {
    format!(r#"{{"model":"m-1","choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#)
}

pub(crate) const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

#[derive(Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        Timestamp::default().plus(self.0.elapsed())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// A call that nobody watches.
pub(crate) fn call() -> Call {
    Call::new(CallKey::new("test"), Arc::new(TokioClock(Instant::now())))
}

/// Keeps what a model writes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watcher(Arc<Mutex<Vec<Token>>>, Arc<Mutex<BTreeMap<u64, String>>>);

impl TokenSink for Watcher {
    fn token(&self, token: Token) {
        self.0.lock().unwrap().push(token);
    }

    fn call_piece(&self, place: u64, _: &str, arguments: &str) {
        self.1.lock().unwrap().entry(place).or_default().push_str(arguments);
    }
}

impl Watcher {
    /// The arguments of calls that came, in their order.
    pub(crate) fn arguments(&self) -> Vec<String> {
        self.1.lock().unwrap().values().filter(|it| !it.is_empty()).cloned().collect()
    }

    pub(crate) fn seen(&self) -> Vec<Token> {
        self.0.lock().unwrap().clone()
    }

    /// The text so far.
    pub(crate) fn text(&self) -> String {
        let text = |token| match token {
            Token::Text(text) => Some(text),
            _ => None,
        };
        self.seen().into_iter().filter_map(text).collect()
    }

    /// A call that is watched.
    pub(crate) fn call(&self) -> Call {
        call().tokens(Arc::new(self.clone()))
    }
}

pub(crate) fn ask() -> ChatRequest {
    ChatRequest::new([Message::user("휴가는 며칠인가요?")])
}
