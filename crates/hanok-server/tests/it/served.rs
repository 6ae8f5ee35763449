//! A server that listens, and a graph that talks.

use std::time::Duration;

use futures::StreamExt;
use hanok_checkpoint::{SharedCheckpointer, SharedStore};
use hanok_core::Token;
use hanok_graph::{App, BoxError, Context, END, Graph, START, Snapshot};
use hanok_server::{Server, TokenFile};
use hanok_state::{Message, Messages, State};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;
use tokio::{sync::oneshot, task::JoinHandle};

use crate::support::{items, logs};

/// What a thread knows.
#[derive(State, Clone, Debug, Default)]
pub struct Chat {
    messages: Messages,
    turns: u32,
}

/// Counts the turn.
async fn listen(chat: Snapshot<Chat>, _: Context) -> Result<ChatUpdate, BoxError> {
    Ok(Chat::update().turns(chat.turns + 1))
}

/// Repeats what was said, louder and word by word. Answers a question with a question, and fails when it is told to.
async fn answer(chat: Snapshot<Chat>, cx: Context) -> Result<ChatUpdate, BoxError> {
    let mut said = chat.messages.last().map(|last| last.text().into_owned()).unwrap_or_default();
    if said == "fail" {
        return Err("the secret is 4711".into());
    }
    if said.starts_with("slow") {
        cx.runtime().clock.sleep(Duration::from_secs(60)).await;
    }
    if said.ends_with('?') {
        said = cx.interrupt("What do you think?").await?;
    }
    let (call, said) = (cx.call("model", "louder", &said), said.to_uppercase());
    for word in said.split_inclusive(' ') {
        call.sink().inspect(|sink| sink.token(Token::Text(word.to_owned())));
    }
    Ok(Chat::update().message(Message::assistant(said).with_id(call.message_id())))
}

pub fn chat() -> Graph<Chat> {
    let graph = Graph::builder("chat").node("listen", listen).node("answer", answer);
    graph.sequence([START, "listen", "answer", END]).build().unwrap()
}

/// A server of the chat, with a client of its administrator.
pub struct Served {
    pub address: String,
    pub token: String,
    client: reqwest::Client,
    ends: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
    tokens: tempfile::TempDir,
}

impl Served {
    pub async fn start() -> Self {
        Self::start_with(|server| server).await
    }

    pub async fn start_with(set: impl FnOnce(Server) -> Server) -> Self {
        Self::start_on(items(), logs(), set).await
    }

    /// A server of these stores.
    pub async fn start_on(
        store: SharedStore,
        logs: SharedCheckpointer,
        set: impl FnOnce(Server) -> Server,
    ) -> Self {
        let tokens = tempfile::tempdir().unwrap();
        let path = tokens.path().join("tokens.jsonl");
        let (file, token) = TokenFile::open_or_make(&path, &hanok_graph::SystemIds).unwrap();
        let app: App<Chat> = chat().checkpointer(logs);
        let server = Server::new(store).graph("chat", app, |_| Ok(())).authenticate(file);
        let server = server.grace(Duration::from_millis(200)).requests(100_000);
        let served = set(server).start().unwrap();
        let listener = served.listen("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (ends, ended) = oneshot::channel();
        let task = tokio::spawn(served.run_until(listener, async {
            let _ = ended.await;
        }));
        let (client, ends) = (crate::support::client(), Some(ends));
        Self { address, token: token.unwrap(), client, ends, task, tokens }
    }

    /// Adds a line to the file of tokens.
    pub fn add_token(&self, line: &str) {
        let path = self.tokens.path().join("tokens.jsonl");
        let before = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, format!("{before}{line}\n")).unwrap();
    }

    /// A request without a token.
    pub fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.address))
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.bare(method, path).header("x-api-key", &self.token)
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        read(self.request(Method::GET, path).send().await.unwrap()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        read(self.request(Method::POST, path).json(&body).send().await.unwrap()).await
    }

    /// The events that a request streams: their names, ids and data.
    pub async fn stream(&self, path: &str, body: Value) -> Vec<SentEvent> {
        let sent = self.request(Method::POST, path).json(&body).send().await.unwrap();
        assert_eq!(sent.status(), 200, "{}", sent.text().await.unwrap());
        events(sent).await
    }

    /// Tells the server to end, and waits until it has.
    pub async fn end(mut self) {
        self.ends.take().unwrap().send(()).unwrap();
        (&mut self.task).await.unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub async fn read(response: Response) -> (u16, Value) {
    let (status, text) = (response.status().as_u16(), response.text().await.unwrap());
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// An event as it was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct SentEvent {
    pub name: String,
    pub id: String,
    pub data: Value,
}

/// All events of a stream.
pub async fn events(response: Response) -> Vec<SentEvent> {
    let mut text = String::new();
    let mut bytes = response.bytes_stream();
    while let Some(chunk) = bytes.next().await {
        text.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
    }
    let blocks = text.split("\n\n").filter(|block| !block.is_empty() && !block.starts_with(':'));
    let field = |block: &str, name: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim_start().to_owned()
    };
    let event = |block: &str| {
        let data = field(block, "data:");
        let data = serde_json::from_str(&data).unwrap_or(Value::String(data));
        SentEvent { name: field(block, "event:"), id: field(block, "id:"), data }
    };
    blocks.map(event).collect()
}
