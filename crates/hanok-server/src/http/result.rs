//! What a run that is over has left.

use hanok_core::Stored;
use hanok_graph::{AnyThread, Pending};
use hanok_state::{Message, Role, ToolCall};
use serde_json::{Map, Value};

use crate::{error::ServeError, rows::run::RunRow};

/// What a run has left: the state of its thread when it ended, and what it asks.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// The state, as JSON.
    pub(crate) values: Map<String, Value>,
    /// What people are asked.
    pub(crate) requests: Vec<Pending>,
}

/// Reads what `row` has left.
pub(crate) async fn left(thread: &dyn AnyThread, row: &RunRow) -> Result<Left, ServeError> {
    let end = row.end.as_ref();
    let at = end.and_then(|end| end.until);
    let values = match thread.state(at).await? {
        Some(state) => state.to_json().map_err(|error| ServeError::NoJson(error.to_string()))?,
        None => Value::Null,
    };
    let requests = match end.is_some_and(|end| end.asks()) {
        true => requests(thread, at).await?,
        false => Vec::new(),
    };
    let values = match values {
        Value::Object(values) => values,
        _ => Map::new(),
    };
    Ok(Left { values, requests })
}

/// The open requests of all graphs of a thread.
pub(crate) async fn requests(
    thread: &dyn AnyThread,
    at: Option<hanok_core::Position>,
) -> Result<Vec<Pending>, ServeError> {
    let views = thread.views(at).await?;
    Ok(views.into_iter().flat_map(|view| view.requests).collect())
}

/// An open request as clients see it: with the digest by which an answer names what its giver saw.
pub(crate) fn shown(request: &Pending) -> Value {
    let mut shown = serde_json::to_value(request).unwrap_or_default();
    put(&mut shown, "digest", request.digest());
    shown
}

/// A stored value as JSON.
pub(crate) fn json_of(stored: &Stored) -> Value {
    serde_json::to_value(stored).unwrap_or_default()
}

/// A stored message as JSON, in LangChain's form.
pub(crate) fn message_of(stored: &Stored) -> Value {
    match stored.decode::<Message>() {
        Ok(message) => message.to_langchain_flat(),
        Err(_) => json_of(stored),
    }
}

/// Puts a member into an object.
pub(crate) fn put(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Value::Object(object) = object {
        object.insert(name.to_owned(), value.into());
    }
}

impl Left {
    /// The messages of the state that can be read, from the last to the first: of its own field `messages`, or that of a state nested
    /// in it.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Message> {
        let own = self.values.get("messages");
        let nested = || self.values.values().find_map(|nested| nested.get("messages"));
        let messages = own.or_else(nested).and_then(Value::as_array);
        let messages = messages.into_iter().flatten().rev();
        messages.filter_map(|json| Message::from_langchain(json).ok())
    }

    /// The last message that an assistant wrote, if the state holds messages.
    pub(crate) fn answer(&self) -> Option<Message> {
        let mut written = self.messages().take_while(|message| message.role() != Role::User);
        written.find(|message| message.role() == Role::Assistant)
    }

    /// The text of an answer: the open questions, or else what the assistant wrote.
    pub(crate) fn text(&self) -> String {
        let answer = self.answer().filter(|_| self.requests.is_empty());
        if let Some(answer) = answer {
            return answer.text().into_owned();
        }
        let asked = self.requests.iter().map(|request| match request.payload.as_str() {
            Ok(question) => question.to_owned(),
            Err(_) => serde_json::to_string(&request.payload).unwrap_or_default(),
        });
        asked.collect::<Vec<_>>().join("\n")
    }

    /// The calls of tools since the last message of a user, in their order. An observation with the role of a user names its call,
    /// and is no such message.
    pub(crate) fn tool_calls(&self) -> Vec<ToolCall> {
        let is_said = |it: &Message| it.role() == Role::User && it.tool_call_id().is_none();
        let turn: Vec<_> = self.messages().take_while(|message| !is_said(message)).collect();
        turn.iter().rev().flat_map(|message| message.tool_calls().to_vec()).collect()
    }
}
