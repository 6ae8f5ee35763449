//! A model that was recorded once.

mod closest;

use std::{
    collections::HashMap,
    fmt,
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use hanok_core::{Call, Token};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use self::closest::{closest, hash};
use crate::{
    ChatModel, ChatReply, ChatRequest, ModelError, SharedModel,
    canonical::{self, canonical},
};

/// A request that was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the request {key} was not recorded; record it again{}", closest.as_deref().unwrap_or_default())]
#[non_exhaustive]
pub struct NotRecorded {
    /// The key of the request.
    pub key: String,
    /// The recorded request that is most like it, and where the two differ. `None` when nothing was recorded.
    pub closest: Option<String>,
}

/// A model that is recorded once and replayed from a file of JSON lines: `key`, `request` and `reply`.
///
/// A request is known again by what a server would see of it: roles, texts, calls, tools, form and settings; ids and
/// metadata of messages do not count. The same request asked several times gets its replies in the order in which they
/// were recorded, and then the last one again. Failures are not recorded. Headers, and so keys, never come here.
///
/// ```no_run
/// # use hanok_model::{ChatModel, RecordedModel};
/// # fn record(model: impl ChatModel) -> std::io::Result<()> {
/// let model = match std::env::var_os("RECORD") {
///     Some(_) => RecordedModel::record(model, "tests/turns.jsonl")?,
///     None => RecordedModel::replay("tests/turns.jsonl")?,
/// };
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RecordedModel {
    name: Arc<str>,
    mode: Recording,
}

#[derive(Clone)]
enum Recording {
    Record { inner: SharedModel, file: Arc<Mutex<File>> },
    Replay(Arc<Mutex<HashMap<String, Replies>>>),
}

/// The replies to one request, and the number of them that were played.
#[derive(Default)]
struct Replies {
    recorded: Vec<ChatReply>,
    played: usize,
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    request: Value,
    reply: ChatReply,
}

impl RecordedModel {
    /// Asks `inner` and appends each reply to the file at `path`, which is made if there is none.
    ///
    /// # Errors
    ///
    /// [`io::Error`] when the file cannot be opened.
    pub fn record(inner: impl ChatModel, path: impl AsRef<Path>) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let mode =
            Recording::Record { file: Arc::new(Mutex::new(file)), inner: SharedModel::new(inner) };
        Ok(Self { name: "recorded".into(), mode })
    }

    /// Answers from the file at `path`.
    ///
    /// # Errors
    ///
    /// [`io::Error`] when the file cannot be read or a line of it is no recorded exchange.
    pub fn replay(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut exchanges: HashMap<String, Replies> = HashMap::new();
        for line in std::fs::read_to_string(path)?.lines() {
            let Line { request, reply, .. } = serde_json::from_str(line)?;
            exchanges.entry(canonical::text(&request)).or_default().recorded.push(reply);
        }
        let mode = Recording::Replay(Arc::new(Mutex::new(exchanges)));
        Ok(Self { name: "recorded".into(), mode })
    }
}

impl ChatModel for RecordedModel {
    fn name(&self) -> &str {
        match &self.mode {
            Recording::Record { inner, .. } => inner.name(),
            Recording::Replay(_) => &self.name,
        }
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        let sent = canonical(&request);
        match &self.mode {
            Recording::Record { inner, file } => {
                let reply = inner.chat(request, call).await?;
                append(file, sent, &reply).map_err(|error| ModelError::Other(error.into()))?;
                Ok(reply)
            }
            Recording::Replay(exchanges) => {
                if call.stop().is_cancelled() {
                    return Err(ModelError::Cancelled);
                }
                let reply = take(exchanges, &sent);
                let reply = reply.map_err(|error| ModelError::Other(error.into()))?;
                call.spend().add(reply.usage.spent());
                show(&reply, call);
                Ok(reply)
            }
        }
    }
}

impl fmt::Debug for RecordedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = match &self.mode {
            Recording::Record { .. } => "record",
            Recording::Replay(_) => "replay",
        };
        f.debug_struct("RecordedModel").field("name", &self.name()).field("mode", &mode).finish()
    }
}

fn append(file: &Mutex<File>, request: Value, reply: &ChatReply) -> io::Result<()> {
    let key = hash(&canonical::text(&request));
    let mut line = serde_json::to_string(&Line { key, request, reply: reply.clone() })?;
    line.push('\n');
    file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
}

fn take(
    exchanges: &Mutex<HashMap<String, Replies>>,
    request: &Value,
) -> Result<ChatReply, NotRecorded> {
    let text = canonical::text(request);
    let mut exchanges = exchanges.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(replies) = exchanges.get_mut(&text) {
        let next = replies.played.min(replies.recorded.len().saturating_sub(1));
        replies.played += 1;
        if let Some(reply) = replies.recorded.get(next) {
            return Ok(reply.clone());
        }
    }
    Err(NotRecorded { key: hash(&text), closest: closest(&text, exchanges.keys()) })
}

fn show(reply: &ChatReply, call: &Call) {
    let Some(sink) = call.sink() else { return };
    if let Some(reasoning) = &reply.reasoning {
        sink.token(Token::Reasoning(reasoning.clone()));
    }
    let text = reply.message.text();
    if !text.is_empty() {
        sink.token(Token::Text(text.into_owned()));
    }
}
