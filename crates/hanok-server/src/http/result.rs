//! What a run that is over has left.

use hanok_graph::{AnyThread, Pending};
use hanok_state::Message;
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

impl Left {
    /// The messages of the state: its own field `messages`, or that of a state nested in it.
    pub(crate) fn messages(&self) -> Option<&Vec<Value>> {
        let own = self.values.get("messages");
        let nested = || self.values.values().find_map(|nested| nested.get("messages"));
        own.or_else(nested)?.as_array()
    }

    /// The last message that an assistant wrote, if the state holds messages.
    pub(crate) fn answer(&self) -> Option<Message> {
        let messages = self.messages()?;
        let written = messages.iter().rev().filter_map(|json| Message::from_langchain(json).ok());
        let mut written = written.take_while(|message| message.role() != hanok_state::Role::User);
        written.find(|message| message.role() == hanok_state::Role::Assistant)
    }
}
