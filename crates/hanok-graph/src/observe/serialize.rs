//! Events for clients: as JSON, one object each.

use hanok_core::{CallInfo, CallKey, Token};
use serde::{
    Serialize, Serializer,
    ser::{Error, SerializeMap},
};
use serde_json::{Value, json, to_value};

use crate::observe::{
    event::{Event, EventKind},
    tool_event::ToolEvent,
};

impl EventKind {
    /// The name of the kind, as a client reads it: `values`, `updates`, `token`, `task_started` …
    ///
    /// ```
    /// # use hanok_graph::EventKind;
    /// assert_eq!(EventKind::Checkpoint.name(), "checkpoint");
    /// ```
    pub fn name(&self) -> &'static str {
        match self {
            Self::Values(_) => "values",
            Self::Updates(_) => "updates",
            Self::Checkpoint => "checkpoint",
            Self::Request(_) => "request",
            Self::Answered { .. } => "answered",
            Self::Edited { .. } => "edited",
            Self::Rewound { .. } => "rewound",
            Self::AnswerVoided { .. } => "answer_voided",
            Self::Ended { .. } => "ended",
            Self::TaskStarted { .. } => "task_started",
            Self::TaskFinished { .. } => "task_finished",
            Self::TaskInterrupted => "task_interrupted",
            Self::TaskRetried { .. } => "task_retried",
            Self::TaskFailed { .. } => "task_failed",
            Self::GraphStarted { .. } => "graph_started",
            Self::GraphEnded { .. } => "graph_ended",
            Self::Custom(_) => "custom",
            Self::Token(_) => "token",
            Self::Message(_) => "message",
            Self::Tool(ToolEvent::Started { .. }) => "tool_started",
            Self::Tool(ToolEvent::Output { .. }) => "tool_output",
            Self::Tool(ToolEvent::Ended { .. }) => "tool_ended",
            Self::Tool(ToolEvent::Failed { .. }) => "tool_failed",
            Self::UnknownFields { .. } => "unknown_fields",
            Self::Lagged(_) => "lagged",
            Self::Cut { .. } => "cut",
        }
    }
}

/// An object of what the event has: `event` (the name of its kind), `id`, `place`, `path`, `step`, `node`, `task`, `attempt`, `run`,
/// `time` (milliseconds since 1970), `call` (its `kind`, `name`, `key`, `id`, the `message` that its tokens are of, `tags` and `metadata`), and `data`, which depends on the kind.
///
/// ```
/// # use {futures::StreamExt, hanok_graph::*};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
/// let mut events = thread.modes([Mode::Updates]).stream(Input::New(Count::update()), ());
/// let event = events.next().await.ok_or("no event")?;
/// let json = serde_json::to_value(&event)?;
/// assert_eq!(json["event"], "updates");
/// assert_eq!(json["node"], "add");
/// assert_eq!(json["data"], serde_json::json!({"n": {"set": 1}}));
/// # Ok(()) }
/// ```
impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("event", self.kind.name())?;
        if let Some(id) = &self.id {
            object.serialize_entry("id", id)?;
        }
        if let Some(place) = &self.place {
            object.serialize_entry("place", place)?;
        }
        if !self.path.is_root() {
            object.serialize_entry("path", &self.path.to_string())?;
        }
        object.serialize_entry("step", &self.step)?;
        if let Some(node) = &self.node {
            object.serialize_entry("node", &**node)?;
        }
        if let Some(task) = &self.task {
            object.serialize_entry("task", task)?;
            object.serialize_entry("attempt", &self.attempt)?;
        }
        if let Some(run) = &self.run {
            object.serialize_entry("run", run)?;
        }
        object.serialize_entry("time", &self.time)?;
        if let Some(call) = &self.call {
            let writes = matches!(self.kind, EventKind::Token(_));
            object.serialize_entry("call", &describe(call, writes))?;
        }
        match &self.kind {
            EventKind::Values(state) => object.serialize_entry("data", state)?,
            EventKind::Updates(update) => object.serialize_entry("data", update)?,
            EventKind::Custom(item) | EventKind::Tool(ToolEvent::Output { item }) => {
                object.serialize_entry("data", item)?
            }
            EventKind::Message(message) => {
                object.serialize_entry("data", &message.to_langchain_flat())?
            }
            kind => {
                if let Some(data) = data(kind).map_err(S::Error::custom)? {
                    object.serialize_entry("data", &data)?;
                }
            }
        }
        object.end()
    }
}

/// What an event of a kind without a state, an update or an item says; `None` where its name says all.
fn data(kind: &EventKind) -> Result<Option<Value>, serde_json::Error> {
    // What people wrote may be too deep for JSON, and `json!` would panic.
    Ok(Some(match kind {
        EventKind::Request(request) => to_value(request)?,
        EventKind::AnswerVoided { request, reason } => {
            json!({"request": to_value(request)?, "reason": reason})
        }
        EventKind::Answered { request, answer, by } => {
            json!({"request": request, "answer": to_value(answer)?, "by": by})
        }
        EventKind::Edited { node, update, by } => {
            json!({"node": node, "update": to_value(update)?, "by": by})
        }
        EventKind::Rewound { to, by } => json!({"to": to.0, "by": by}),
        EventKind::Ended { outcome, error, code, spent, by } => json!({
            "outcome": outcome.as_str(), "error": error, "code": code.as_deref(), "spent": spent, "by": by,
        }),
        EventKind::TaskStarted { input } => json!({"input": to_value(input)?}),
        EventKind::TaskFinished { cached } => json!({"cached": cached}),
        EventKind::TaskRetried { error, delay } => {
            json!({"error": error, "delay_ms": u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)})
        }
        EventKind::TaskFailed { error, handled } => json!({"error": error, "handled": handled}),
        EventKind::GraphStarted { graph, cause } => json!({
            "graph": **graph,
            "node": *cause.node,
            "task": cause.task.to_string(),
            "call": cause.call.as_ref().map(CallKey::as_str),
        }),
        EventKind::GraphEnded { graph, outcome, error } => {
            json!({"graph": **graph, "outcome": outcome.as_str(), "error": error})
        }
        EventKind::Token(Token::Text(text)) => json!({"text": text}),
        EventKind::Token(Token::Reasoning(text)) => json!({"reasoning": text}),
        EventKind::Token(_) => json!({"retracted": true}),
        EventKind::Tool(ToolEvent::Started { arguments }) => json!({"arguments": arguments}),
        EventKind::Tool(ToolEvent::Ended { text }) => json!({"text": text}),
        EventKind::Tool(ToolEvent::Failed { error }) => json!({"error": error}),
        EventKind::UnknownFields { fields } => json!({"fields": fields}),
        EventKind::Lagged(events) => json!({"events": events}),
        EventKind::Cut { error } => json!({"error": error}),
        _ => return Ok(None),
    }))
}

/// A call as clients read it, without what it does not have. One that `writes` tells the message that it writes.
fn describe(call: &CallInfo, writes: bool) -> Value {
    let id = call.id.as_deref().map(Value::from);
    let tags = (!call.tags.is_empty()).then(|| json!(call.tags));
    let metadata = (!call.metadata.is_empty()).then(|| json!(call.metadata));
    let known = [
        ("kind", Some(Value::from(&*call.kind))),
        ("name", Some(Value::from(&*call.name))),
        ("key", Some(Value::from(call.key.as_str()))),
        ("id", id),
        ("message", writes.then(|| Value::from(&*call.message))),
        ("tags", tags),
        ("metadata", metadata),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}
