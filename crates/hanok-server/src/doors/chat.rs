//! Chats: a message in, an answer out, whole or step by step.

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::HeaderMap,
    response::Response,
    routing::{get, post},
};
use futures::{StreamExt, stream};
use hanok_core::{Position, Token};
use hanok_graph::{Event, EventKind, Mode, ToolEvent};
use hanok_state::Message;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{langgraph::ids::moment, session::Session};
use crate::{
    http::{
        auth::{Role, Signed},
        follow_run::{RunEvent, follow_run},
        problem::Problem,
        result::{Left, json_of, put, requests, shown},
        service::{Body, Service},
        sse::{Frame, streamed},
    },
    rows::{keys::public_id, run::RunRow},
};

/// The modes that are streamed.
const MODES: [Mode; 4] = [Mode::Tasks, Mode::Tools, Mode::Custom, Mode::Messages];

/// The most messages of a page of history.
const PAGE: usize = 1_000;

pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route("/v1/chat", post(chat))
        .route("/v1/chat/stream", post(stream_chat))
        .route("/v1/threads/{session}", get(thread))
        .route("/v1/threads/{session}/history", get(history))
}

#[derive(Debug, Deserialize)]
struct Chat {
    message: String,
    session_id: String,
    graph: Option<String>,
}

async fn chat(
    State(server): State<Service>,
    signed: Signed,
    headers: HeaderMap,
    Body(asked): Body<Chat>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Run)?;
    let session = server.session(&signed, &asked.session_id, asked.graph.as_deref()).await?;
    let once = server.idempotency_key(&headers)?;
    let (row, _) = session.say(&server, &signed, &asked.message, once).await?;
    let row = server.runs.ended(&row.thread, row.run).await?;
    Ok(Json(session.told(&session.left(&row).await?)))
}

async fn stream_chat(
    State(server): State<Service>,
    signed: Signed,
    headers: HeaderMap,
    Body(asked): Body<Chat>,
) -> Result<Response, Problem> {
    signed.needs(Role::Run)?;
    let session = server.session(&signed, &asked.session_id, asked.graph.as_deref()).await?;
    let once = server.idempotency_key(&headers)?;
    let permit = server.limits.stream(&signed)?;
    let (row, after) = session.say(&server, &signed, &asked.message, once).await?;
    let events = follow_run(server.runs.clone(), &*session.thread, &row, after, Some(&MODES));
    let state = (events.boxed(), session, Steps::default(), permit);
    let frames = stream::unfold(state, |(mut events, session, mut steps, permit)| async move {
        let told = match events.next().await? {
            RunEvent::Event(event) => steps.of(&event),
            RunEvent::Over(row) => steps.last(&session, row.as_deref()).await,
        };
        let frames = told.into_iter().map(|json| Frame::data(&json.to_string()));
        Some((stream::iter(frames.collect::<Vec<_>>()), (events, session, steps, permit)))
    });
    Ok(streamed(frames.flatten(), &server))
}

/// What was told of a run.
#[derive(Debug, Default)]
struct Steps {
    is_generating: bool,
    /// The node under way has told a result of its evaluation.
    is_evaluated: bool,
    has_sources: bool,
}

impl Steps {
    fn of(&mut self, event: &Event) -> Vec<Value> {
        let node = event.node.as_deref().unwrap_or_default();
        match &event.kind {
            EventKind::TaskStarted { .. } if event.attempt <= 1 => {
                self.is_evaluated = false;
                vec![thinking("planning", node.into())]
            }
            // The node that evaluates says so in its name, where it says nothing else.
            EventKind::TaskFinished { .. } if node.contains("evaluat") && !self.is_evaluated => {
                vec![thinking("evaluation_result", node.into())]
            }
            EventKind::Tool(ToolEvent::Started { .. }) => {
                let tool = event.call.as_ref().map(|call| call.name.to_string());
                vec![thinking("tool_selected", tool.into())]
            }
            EventKind::Custom(item) => self.custom(json_of(item)).into_iter().collect(),
            EventKind::Token(Token::Text(text)) => {
                let token = json!({"type": "token", "content": text});
                match std::mem::replace(&mut self.is_generating, true) {
                    true => vec![token],
                    false => vec![thinking("generating", node.into()), token],
                }
            }
            _ => Vec::new(),
        }
    }

    /// A step that the graph tells of itself: an object whose `event` or `type` is the step's name.
    fn custom(&mut self, item: Value) -> Option<Value> {
        let Value::Object(mut item) = item else { return None };
        let tag = ["event", "type"].into_iter().find(|tag| item.contains_key(*tag))?;
        let step = item.remove(tag)?;
        let step = step.as_str()?;
        match step {
            "planning" | "tool_selected" => {}
            "evaluation_result" => self.is_evaluated = true,
            "generating" => self.is_generating = true,
            "sources" => {
                self.has_sources = true;
                let sources = item.remove("sources").or_else(|| item.remove("content"))?;
                return Some(json!({"type": "sources", "content": sources}));
            }
            _ => return None,
        }
        Some(thinking(step, Value::Object(item)))
    }

    /// What is told at the end of a run.
    async fn last(&self, session: &Session, row: Option<&RunRow>) -> Vec<Value> {
        let left = match row {
            Some(row) => session.left(row).await,
            None => Err(Problem::no_thread()),
        };
        match left {
            Ok(left) => self.sources(&left).into_iter().chain([done(session, &left)]).collect(),
            Err(problem) => vec![failed(&problem)],
        }
    }

    /// The sources of the state, where the graph has told none.
    fn sources(&self, left: &Left) -> Option<Value> {
        let sources = left.values.get("sources").filter(|_| !self.has_sources)?;
        let is_some = sources.as_array().is_some_and(|sources| !sources.is_empty());
        is_some.then(|| json!({"type": "sources", "content": sources}))
    }
}

fn thinking(step: &str, content: Value) -> Value {
    json!({"type": "thinking", "step": step, "content": content})
}

/// The last that is told of a run that went well.
pub(crate) fn done(session: &Session, left: &Left) -> Value {
    let mut done = session.told(left);
    put(&mut done, "type", "done");
    done
}

/// What is told of an error.
pub(crate) fn failed(problem: &Problem) -> Value {
    let mut error = problem.more.clone();
    error.extend([
        ("type".to_owned(), "error".into()),
        ("detail".to_owned(), problem.detail.clone()),
        ("code".to_owned(), problem.code.into()),
    ]);
    Value::Object(error)
}

async fn thread(
    State(server): State<Service>,
    signed: Signed,
    Path(name): Path<String>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Read)?;
    let session = server.known_session(&signed, &name).await?;
    let row = session.row.as_ref().ok_or_else(Problem::no_thread)?;
    let left = Left { values: values(&session).await?, ..Left::default() };
    let open = requests(&*session.thread, None).await?;
    let messages = left.messages().collect::<Vec<_>>();
    Ok(Json(json!({
        "thread_id": row.name,
        "id": public_id(&row.name).to_string(),
        "graph": session.graph,
        "status": row.status,
        "messages": messages.iter().rev().map(said).collect::<Value>(),
        "requests": open.iter().map(shown).collect::<Value>(),
        "created_at": moment(row.created),
        "updated_at": moment(row.updated),
    })))
}

/// The state of a session now.
pub(crate) async fn values(session: &Session) -> Result<Map<String, Value>, Problem> {
    let state = session.thread.state(None).await?;
    let values = state.map(|state| state.to_json()).transpose();
    match values.map_err(|error| crate::ServeError::NoJson(error.to_string()))? {
        Some(Value::Object(values)) => Ok(values),
        _ => Ok(Map::new()),
    }
}

fn said(message: &Message) -> Value {
    let calls = message.tool_calls();
    let mut said = json!({"id": message.id(), "role": message.role(), "content": message.text()});
    if !calls.is_empty() {
        put(&mut said, "tool_calls", json!(calls));
    }
    said
}

#[derive(Debug, Deserialize)]
#[serde(default)]
struct Asked {
    limit: usize,
    offset: usize,
}

impl Default for Asked {
    fn default() -> Self {
        Self { limit: 100, offset: 0 }
    }
}

/// All that was said in a session, from its log: also what its state does not hold any more.
async fn history(
    State(server): State<Service>,
    signed: Signed,
    Path(name): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Read)?;
    if !(1..=PAGE).contains(&asked.limit) {
        return Err(Problem::unprocessable(format!("`limit` is 1 to {PAGE}")));
    }
    let session = server.known_session(&signed, &name).await?;
    let all = told(&session).await?;
    let page = all.iter().skip(asked.offset).take(asked.limit);
    Ok(Json(json!({
        "thread_id": session.key.thread(),
        "total": all.len(),
        "messages": page.map(|(_, message)| said(message)).collect::<Value>(),
    })))
}

/// The messages of all states that a thread had, each where it was new.
async fn told(session: &Session) -> Result<Vec<(Position, Message)>, Problem> {
    let mut all: Vec<(Position, Message)> = Vec::new();
    let mut known = std::collections::BTreeSet::new();
    let Some(mut replay) = session.thread.replay(None, Some(&[Mode::Values])).await? else {
        return Ok(all);
    };
    loop {
        let events = replay.next().await?;
        if events.is_empty() {
            return Ok(all);
        }
        for event in events.into_iter().filter(|event| event.path.is_root()) {
            let at = event.id.map(|id| id.position).unwrap_or_default();
            match event.kind {
                EventKind::Values(state) => {
                    let Ok(Value::Object(values)) = state.to_json() else { continue };
                    let left = Left { values, ..Left::default() };
                    let new: Vec<_> = left.messages().collect();
                    let new = new.into_iter().rev().filter(|message| known.insert(key(message)));
                    all.extend(new.map(|message| (at, message)));
                }
                EventKind::Rewound { to, .. } => {
                    all.retain(|(at, _)| *at <= to);
                    known = all.iter().map(|(_, message)| key(message)).collect();
                }
                _ => {}
            }
        }
    }
}

/// What tells a message from all others of its thread.
fn key(message: &Message) -> String {
    message.id().map_or_else(|| message.to_langchain_flat().to_string(), str::to_owned)
}
