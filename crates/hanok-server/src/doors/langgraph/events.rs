//! Events of a run as LangGraph's stream modes show them.

use std::collections::{BTreeMap, BTreeSet};

use hanok_core::{Change, Changes, MessageChange, Namespace, Token};
use hanok_graph::{AnyUpdate, Event, EventKind, Mode, ToolEvent};
use hanok_state::Message;
use serde_json::{Map, Value, json};

use super::{
    ids::{CheckpointId, moment},
    interrupts::interrupts,
    known::written as written_path,
};
use crate::{
    http::{
        problem::Problem,
        result::{Left, json_of, message_of, put},
        sse::Frame,
    },
    rows::run::{RunRow, RunStatus},
};

/// The stream modes of a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Modes {
    names: BTreeSet<&'static str>,
    subgraphs: bool,
}

/// The modes there are, each with those of the engine that it shows.
const MODES: [(&str, &[Mode]); 11] = [
    ("values", &[Mode::Values, Mode::Interrupts]),
    ("updates", &[Mode::Updates, Mode::Interrupts]),
    ("messages", &[Mode::Messages]),
    ("messages-tuple", &[Mode::Messages]),
    ("custom", &[Mode::Custom]),
    ("events", &[Mode::Tasks, Mode::Updates, Mode::Messages, Mode::Graphs]),
    ("tasks", &[Mode::Tasks, Mode::Updates, Mode::Interrupts]),
    ("checkpoints", &[Mode::Checkpoints, Mode::Values]),
    ("debug", &[Mode::Tasks, Mode::Updates, Mode::Checkpoints, Mode::Values, Mode::Interrupts]),
    ("tools", &[Mode::Tools]),
    ("lifecycle", &[Mode::Graphs]),
];

impl Modes {
    /// The modes of these names.
    pub(crate) fn named(names: &[String], subgraphs: bool) -> Result<Self, Problem> {
        let known = |name: &String| {
            let mut known = MODES.iter().filter(|(known, _)| known == name);
            known.next().map(|(known, _)| *known).ok_or_else(|| {
                let all = MODES.map(|(known, _)| known).join(", ");
                Problem::unprocessable(format!("there is no stream mode `{name}`: {all}"))
            })
        };
        Ok(Self { names: names.iter().map(known).collect::<Result<_, _>>()?, subgraphs })
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Those of the engine that are read.
    pub(crate) fn read(&self) -> Vec<Mode> {
        let named = MODES.iter().filter(|(name, _)| self.has(name));
        named.flat_map(|(_, modes)| modes.iter().copied()).collect()
    }
}

/// Makes frames of the events of one run.
#[derive(Debug)]
pub(crate) struct Frames {
    modes: Modes,
    /// What each message's metadata says of the run.
    run: Map<String, Value>,
    /// The messages that were sent token by token, as far as they are if they are shown so.
    streamed: BTreeMap<String, String>,
    /// The messages that were sent.
    told: BTreeSet<String>,
    /// The last state of each graph.
    values: BTreeMap<Namespace, Value>,
}

impl Frames {
    pub(crate) fn new(modes: Modes, run: Map<String, Value>) -> Self {
        let (streamed, told, values) = Default::default();
        Self { modes, run, streamed, told, values }
    }

    /// The frames of an event. The id stands on the last of them: whoever has seen it has seen all.
    pub(crate) fn of(&mut self, event: &Event) -> Vec<Frame> {
        let mut frames = Drafts { path: written_path(&event.path), frames: Vec::new() };
        let is_shown = self.modes.subgraphs || event.path.is_root();
        if is_shown {
            self.shown(event, &mut frames);
        }
        self.messages(event, &mut frames);
        frames.finish(event.place.map(|place| place.to_string()).as_deref())
    }

    fn shown(&mut self, event: &Event, to: &mut Drafts) {
        match &event.kind {
            EventKind::Values(state) => {
                let values = state.to_json().unwrap_or_default();
                if self.modes.has("values") {
                    to.push("values", values.clone());
                }
                self.values.insert(event.path.clone(), values);
            }
            EventKind::Updates(update) => {
                let (node, written) = (event.node.as_deref().unwrap_or_default(), plain(update));
                if self.modes.has("updates") {
                    to.push("updates", json!({node: written}));
                }
                self.task(event, to, json!({"result": written, "error": null, "interrupts": []}));
            }
            EventKind::Custom(item) if self.modes.has("custom") => {
                to.push("custom", json_of(item));
            }
            EventKind::Request(request) => {
                let asked = interrupts(std::slice::from_ref(request), true);
                if self.modes.has("updates") {
                    to.push("updates", json!({"__interrupt__": asked}));
                }
                self.task(event, to, json!({"result": {}, "error": null, "interrupts": asked}));
            }
            EventKind::TaskStarted { input } => {
                let input = input.as_ref().map(json_of);
                let input = input.or_else(|| self.values.get(&event.path).cloned());
                self.task(event, to, json!({"input": input, "triggers": []}));
            }
            EventKind::TaskFailed { .. } => {
                let error = json!({"error": "Error", "message": "the node failed"});
                self.task(event, to, json!({"result": null, "error": error, "interrupts": []}));
            }
            EventKind::Checkpoint => self.checkpoint(event, to),
            EventKind::Tool(tool) if self.modes.has("tools") => {
                to.push("tools", tool_of(event, tool))
            }
            EventKind::GraphStarted { graph, .. } => self.graph(event, to, graph, "started"),
            EventKind::GraphEnded { graph, .. } => self.graph(event, to, graph, "ended"),
            _ => {}
        }
    }

    /// What becomes of a task: in `tasks`, and in `debug` with its time.
    fn task(&self, event: &Event, to: &mut Drafts, said: Value) {
        let Some(task) = event.task else { return };
        let mut payload = json!({"id": task.to_string(), "name": event.node});
        merge(&mut payload, said);
        let is_result = payload.get("result").is_some();
        if self.modes.has("tasks") {
            to.push("tasks", payload.clone());
        }
        if self.modes.has("debug") {
            let kind = if is_result { "task_result" } else { "task" };
            to.push("debug", self.debug(event, kind, payload.clone()));
        }
        if self.modes.has("events") {
            let name = if is_result { "on_chain_end" } else { "on_chain_start" };
            let data = match is_result {
                true => json!({"output": payload.get("result")}),
                false => json!({"input": payload.get("input")}),
            };
            to.push_root("events", self.called(event, name, data));
        }
    }

    fn called(&self, event: &Event, kind: &str, data: Value) -> Value {
        let run = event.task.map(|task| task.to_string());
        json!({
            "event": kind, "name": event.node, "data": data, "tags": [], "run_id": run,
            "metadata": self.metadata(event), "parent_ids": [self.run.get("run_id")],
        })
    }

    fn checkpoint(&self, event: &Event, to: &mut Drafts) {
        let values = self.values.get(&event.path).cloned().unwrap_or_default();
        let metadata = json!({"source": "loop", "step": event.step, "parents": {}});
        let place = json!({
            "thread_id": self.run.get("thread_id"), "checkpoint_ns": written_path(&event.path),
            "checkpoint_id": event.id.map(|id| CheckpointId::at(id.position).to_uuid(id.life).to_string()),
        });
        let payload = json!({
            "config": {"configurable": place}, "parent_config": null, "values": values,
            "metadata": metadata, "next": [], "tasks": [], "checkpoint": place,
            "parent_checkpoint": null,
        });
        if self.modes.has("checkpoints") {
            to.push("checkpoints", payload.clone());
        }
        if self.modes.has("debug") {
            to.push("debug", self.debug(event, "checkpoint", payload));
        }
    }

    fn debug(&self, event: &Event, kind: &str, payload: Value) -> Value {
        json!({
            "step": event.step, "timestamp": moment(event.time), "type": kind, "payload": payload,
        })
    }

    fn graph(&self, event: &Event, to: &mut Drafts, graph: &str, what: &str) {
        if self.modes.has("lifecycle") {
            to.push("lifecycle", json!({"event": what, "graph_name": graph}));
        }
        if self.modes.has("events") {
            let kind = if what == "started" { "on_chain_start" } else { "on_chain_end" };
            let mut called = self.called(event, kind, json!({}));
            put(&mut called, "name", graph);
            to.push_root("events", called);
        }
    }

    /// Messages are shown of all graphs.
    fn messages(&mut self, event: &Event, to: &mut Drafts) {
        match &event.kind {
            EventKind::Token(Token::Text(text)) => {
                let id = event.call.as_ref().map(|call| call.message.to_string());
                self.token(event, to, id.unwrap_or_default(), text);
            }
            EventKind::Message(message) => self.message(event, to, message),
            _ => {}
        }
    }

    fn token(&mut self, event: &Event, to: &mut Drafts, id: String, text: &str) {
        if self.modes.has("messages-tuple") || self.modes.has("events") {
            let chunk = json!({
                "content": text, "additional_kwargs": {}, "response_metadata": {},
                "type": "AIMessageChunk", "name": null, "id": id, "tool_calls": [],
                "invalid_tool_calls": [], "usage_metadata": null, "tool_call_chunks": [],
            });
            if self.modes.has("messages-tuple") {
                to.tuple(self.modes.subgraphs, json!([chunk, self.metadata(event)]));
            }
            if self.modes.has("events") {
                let data = json!({"chunk": chunk});
                to.push_root("events", self.called(event, "on_chat_model_stream", data));
            }
        }
        let shows_partial = self.modes.has("messages") && !self.modes.has("messages-tuple");
        if shows_partial && !self.streamed.contains_key(&id) {
            let metadata = json!({"metadata": self.metadata(event)});
            to.push_root("messages/metadata", json!({id.as_str(): metadata}));
        }
        let whole = self.streamed.entry(id.clone()).or_default();
        if shows_partial {
            whole.push_str(text);
            let message = Message::assistant(whole.clone()).with_id(id).to_langchain_flat();
            to.push_root("messages/partial", json!([message]));
        }
    }

    /// A message that was not sent token by token comes whole.
    fn message(&mut self, event: &Event, to: &mut Drafts, message: &Message) {
        let id = message.id().unwrap_or_default().to_owned();
        if self.streamed.contains_key(&id) || !self.told.insert(id) {
            return;
        }
        let message = message.to_langchain_flat();
        if self.modes.has("messages-tuple") {
            to.tuple(self.modes.subgraphs, json!([message, self.metadata(event)]));
        } else if self.modes.has("messages") {
            to.push_root("messages/complete", json!([message]));
        }
    }

    fn metadata(&self, event: &Event) -> Value {
        let mut metadata = self.run.clone();
        metadata.insert("langgraph_step".into(), event.step.into());
        metadata.insert("langgraph_node".into(), event.node.as_deref().into());
        metadata.insert("langgraph_checkpoint_ns".into(), written_path(&event.path).into());
        metadata.insert("checkpoint_ns".into(), written_path(&event.path).into());
        if let Some(call) = &event.call {
            metadata.insert("tags".into(), json!(call.tags));
        }
        Value::Object(metadata)
    }

    /// The frames behind the last event of a run: what is asked, and the error.
    pub(crate) fn last(&self, row: &RunRow, left: Option<&Left>) -> Vec<Frame> {
        let mut frames = Vec::new();
        if let Some(left) = left.filter(|left| !left.requests.is_empty())
            && self.modes.has("values")
        {
            frames.push(Frame::new("values", None, &with_interrupts(left)));
        }
        if matches!(row.status, RunStatus::Error | RunStatus::Timeout) {
            frames.push(Frame::new("error", None, &error(row)));
        }
        frames
    }
}

/// The error of a run.
pub(crate) fn error(row: &RunRow) -> Value {
    let problem = Problem::of_run(row);
    json!({"error": problem.code, "message": problem.detail})
}

/// The state, with what is asked.
pub(crate) fn with_interrupts(left: &Left) -> Value {
    let mut values = left.values.clone();
    if !left.requests.is_empty() {
        values.insert("__interrupt__".into(), interrupts(&left.requests, true));
    }
    Value::Object(values)
}

fn tool_of(event: &Event, tool: &ToolEvent) -> Value {
    let call = event.call.as_ref();
    let (kind, mut said) = match tool {
        ToolEvent::Started { arguments } => ("on_tool_start", json!({"input": arguments})),
        ToolEvent::Output { item } => ("on_tool_event", json!({"data": json_of(item)})),
        ToolEvent::Ended { text } => ("on_tool_end", json!({"output": text})),
        ToolEvent::Failed { .. } => ("on_tool_error", json!({"error": "the tool failed"})),
        _ => ("on_tool_event", json!({})),
    };
    let name = call.map(|call| call.name.to_string());
    let id = call.and_then(|call| call.id.as_deref().map(str::to_owned));
    merge(&mut said, json!({"event": kind, "name": name, "toolCallId": id}));
    said
}

fn merge(to: &mut Value, from: Value) {
    if let (Value::Object(to), Value::Object(from)) = (to, from) {
        to.extend(from);
    }
}

/// An update as the values that were written, each as its node wrote it.
fn plain(update: &AnyUpdate) -> Value {
    let Ok(changes) = update.to_changes() else { return Value::Null };
    written(&changes)
}

fn written(changes: &Changes) -> Value {
    let fields = changes.0.iter().map(|(field, change)| (field.to_string(), value_of(change)));
    Value::Object(fields.collect())
}

fn value_of(change: &Change) -> Value {
    match change {
        Change::Set(value) | Change::Input(value) => json_of(value),
        Change::Append(items) | Change::Splice { insert: items, .. } => {
            items.iter().map(json_of).collect()
        }
        Change::Merge(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| {
                let key = json_of(key);
                let key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
                (key, json_of(value))
            });
            Value::Object(pairs.collect())
        }
        Change::Nested(changes) => written(changes),
        Change::Messages(changes) => changes.iter().map(change_of).collect(),
        _ => Value::Null,
    }
}

fn change_of(change: &MessageChange) -> Value {
    match change {
        MessageChange::Put(message) => message_of(message),
        MessageChange::Remove { id } => json!({"type": "remove", "id": id}),
        MessageChange::Clear => json!({"type": "remove", "id": "__remove_all__"}),
    }
}

/// The frames of one event, until it is known which is the last.
struct Drafts {
    path: String,
    frames: Vec<(String, Value)>,
}

impl Drafts {
    /// A frame that names its graph.
    fn push(&mut self, name: &str, data: Value) {
        let name = match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{name}|{}", self.path),
        };
        self.frames.push((name, data));
    }

    /// A frame that does not.
    fn push_root(&mut self, name: &str, data: Value) {
        self.frames.push((name.to_owned(), data));
    }

    /// A message with its metadata.
    fn tuple(&mut self, named: bool, data: Value) {
        if named { self.push("messages", data) } else { self.push_root("messages", data) }
    }

    fn finish(self, id: Option<&str>) -> Vec<Frame> {
        let last = self.frames.len();
        let numbered = (1..).zip(self.frames);
        let frame = |(at, (name, data)): (usize, (String, Value))| {
            Frame::new(&name, id.filter(|_| at == last), &data)
        };
        numbered.map(frame).collect()
    }
}
