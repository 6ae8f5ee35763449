//! The graphs that are served.

use std::{collections::BTreeMap, fmt, sync::Arc};

use hanok_graph::{AnyApp, AnyInput, AnyThread, AnyUpdate};
use hanok_state::Message;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{error::ServeError, rows::run::RunRow};

/// The graphs that are served, by their names.
#[derive(Clone, Default)]
pub(crate) struct Apps(pub(crate) BTreeMap<String, Arc<dyn AnyApp>>, Asks);

/// What a user's words write to the state of a graph, where that is more than a message.
pub(crate) type Asks = BTreeMap<String, Arc<dyn Fn(&str) -> AnyUpdate + Send + Sync>>;

/// The input of a run that a user's words begin.
const ASK: &str = "ask";

impl Apps {
    pub(crate) fn new(
        apps: impl IntoIterator<Item = (String, Arc<dyn AnyApp>)>,
        asks: Asks,
    ) -> Self {
        Self(apps.into_iter().collect(), asks)
    }

    /// The input of a run of `graph` that new messages begin, of which the user's words are the last.
    pub(crate) fn said(&self, graph: &str, messages: Value) -> Value {
        let last = messages.as_array().and_then(|messages| messages.last());
        let words = last.and_then(|last| Message::from_langchain(last).ok());
        match (self.1.contains_key(graph), words) {
            (true, Some(words)) => json!({ASK: words.text()}),
            _ => json!({"new": {"messages": messages}}),
        }
    }

    /// Reads the input of a run.
    pub(crate) fn input(&self, graph: &str, input: &Value) -> Result<AnyInput, ServeError> {
        match (self.1.get(graph), input.get(ASK).and_then(Value::as_str)) {
            (Some(asks), Some(words)) => Ok(AnyInput::New(asks(words))),
            _ => AnyInput::deserialize(input).map_err(ServeError::Input),
        }
    }

    /// The graph of this name.
    pub(crate) fn get(&self, graph: &str) -> Result<&Arc<dyn AnyApp>, ServeError> {
        self.0.get(graph).ok_or_else(|| ServeError::NoSuchGraph {
            graph: graph.to_owned(),
            graphs: self.0.keys().cloned().collect(),
        })
    }

    /// The thread of a run, for whoever has asked for the run.
    pub(crate) fn thread(&self, row: &RunRow) -> Result<Box<dyn AnyThread>, ServeError> {
        let app = self.get(&row.request.graph)?;
        Ok(app.thread(&row.request.caller(&row.thread), row.thread.thread())?)
    }
}

impl fmt::Debug for Apps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
