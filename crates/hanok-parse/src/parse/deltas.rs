//! A stream's events as the deltas of Chat Completions.

use std::collections::BTreeMap;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::{
    declared::CallKind,
    reply::{event::Event, outcome::Reply},
};

/// Turns the events of a stream into the deltas that servers of OpenAI's Chat Completions send.
///
/// Deltas cannot be taken back, so the parser should be [committed](crate::Parser::committed): its calls are told at the end,
/// numbered from 0 without a hole. Of other parsers, calls that were dropped keep their number.
///
/// ```
/// use hanok_parse::{Declared, Deltas, Parser};
///
/// let parser = Parser::new(Declared::new().tool("find")).committed();
/// let (mut stream, mut events, mut deltas) = (parser.stream(), Vec::new(), Deltas::new());
/// let mut sent = Vec::new();
/// for piece in ["Let me see. <tool_call>{\"name\": \"find\", ", "\"arguments\": {}}</tool_call>"] {
///     stream.feed(piece, &mut events);
///     sent.extend(events.drain(..).filter_map(|event| deltas.delta(&event)));
/// }
/// let reply = stream.finish(&mut events);
/// sent.extend(events.drain(..).filter_map(|event| deltas.delta(&event)));
///
/// assert_eq!(serde_json::to_string(&sent[0])?, r#"{"content":"Let me see."}"#);
/// assert_eq!(
///     serde_json::to_string(&sent[1])?,
///     r#"{"tool_calls":[{"index":0,"id":"call_0","type":"function","function":{"name":"find","arguments":""}}]}"#
/// );
/// assert_eq!(serde_json::to_string(&sent[2])?, r#"{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}"#);
/// assert_eq!(reply.finish.as_str(), "tool_calls");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Deltas {
    prefix: Option<String>,
    /// Ids that the text gave, by the number of the call.
    ids: BTreeMap<usize, String>,
}

impl Deltas {
    /// Deltas whose calls have the ids that their events have, and without one `call_0`, `call_1` and so on.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with ids that begin with `prefix`: that of the request, so that ids of two requests differ.
    #[must_use]
    pub fn with_ids(prefix: impl Into<String>) -> Self {
        Self { prefix: Some(prefix.into()), ids: BTreeMap::new() }
    }

    /// The ids that the text gives its calls, where they are known before: those of a reply that is told afterwards. The events of
    /// a committed parser have them already.
    #[must_use]
    pub fn ids_of(mut self, reply: &Reply) -> Self {
        let ids = reply.calls.iter().enumerate();
        self.ids = ids.filter_map(|(at, call)| Some((at, call.id.clone()?))).collect();
        self
    }

    /// The delta for an event. Notes, errors and what is taken back have none.
    pub fn delta(&mut self, event: &Event) -> Option<Delta> {
        match event {
            Event::Content { text } | Event::Answer { text } => {
                Some(Delta { content: Some(text.clone()), ..Delta::default() })
            }
            Event::Reasoning { text } | Event::Thought { text } => {
                Some(Delta { reasoning_content: Some(text.clone()), ..Delta::default() })
            }
            Event::CallStarted { call, kind, name, id } => {
                let id = id.as_ref().or_else(|| self.ids.get(call));
                let id = id.cloned().unwrap_or_else(|| {
                    format!("{}{call}", self.prefix.as_deref().unwrap_or("call_"))
                });
                let kind = match kind {
                    CallKind::Tool | CallKind::Delegate => Some("function".to_owned()),
                };
                let function = FunctionDelta { name: Some(name.clone()), arguments: String::new() };
                Some(Delta::of(CallDelta { index: *call, id: Some(id), kind, function }))
            }
            Event::Arguments { call, json } => {
                let function = FunctionDelta { name: None, arguments: json.clone() };
                Some(Delta::of(CallDelta { index: *call, id: None, kind: None, function }))
            }
            _ => None,
        }
    }
}

/// What a chunk of a stream adds to the message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Delta {
    /// More of the text for the user.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub content: Option<String>,
    /// More of the reasoning.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub reasoning_content: Option<String>,
    /// More of calls: one.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub tool_calls: Vec<CallDelta>,
}

impl Delta {
    fn of(call: CallDelta) -> Self {
        Self { tool_calls: vec![call], ..Self::default() }
    }
}

/// What a chunk adds to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct CallDelta {
    /// Which call of the message.
    pub index: usize,
    /// Its id, once.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub id: Option<String>,
    /// `function`, once.
    #[cfg_attr(
        feature = "serde",
        serde(default, rename = "type", skip_serializing_if = "Option::is_none")
    )]
    pub kind: Option<String>,
    /// What is called.
    pub function: FunctionDelta,
}

/// What a chunk adds to the function of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct FunctionDelta {
    /// Its name, once and whole.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub name: Option<String>,
    /// More of the arguments' JSON text.
    pub arguments: String,
}
