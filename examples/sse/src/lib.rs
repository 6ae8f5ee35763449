//! A thread over HTTP. `POST /threads/NAME?say=…` begins a turn and streams its events; `GET /threads/NAME` streams what is
//! recorded after the `Last-Event-ID` that a browser sends when its connection was lost, and then ends.

use std::convert::Infallible;

use axum::{
    Json, Router,
    extract::{self, Path, Query},
    http::{HeaderMap, StatusCode},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event as Frame, KeepAlive},
    },
    routing::get,
};
use futures::{Stream, StreamExt, stream};
use hanok::{
    App, BoxError, Context, END, Event, Graph, InMemoryCheckpointer, Input, Message, Messages,
    RunError, START, Snapshot, State, Thread, ThreadKey,
    core::Chain,
    graph::{BuildError, EventId},
};
use serde_json::json;

/// What a thread knows.
#[derive(State, Clone, Debug, Default)]
pub struct Chat {
    messages: Messages,
}

async fn answer(chat: Snapshot<Chat>, _: Context) -> Result<ChatUpdate, BoxError> {
    let last = chat.messages.last().map(|message| message.text().to_uppercase());
    Ok(Chat::update().message(Message::assistant(last.unwrap_or_default())))
}

/// The graph of the threads: one node that says again what was said, louder.
///
/// # Errors
///
/// None but of a graph with a fault.
pub fn app() -> Result<App<Chat>, BuildError> {
    let graph = Graph::<Chat>::builder("chat").node("answer", answer);
    let graph = graph.edge(START, "answer").edge("answer", END).build()?;
    Ok(graph.checkpointer(InMemoryCheckpointer::new()))
}

/// The routes.
pub fn router(app: App<Chat>) -> Router {
    Router::new().route("/threads/{name}", get(read_on).post(say)).with_state(app)
}

async fn say(
    extract::State(app): extract::State<App<Chat>>,
    Path(name): Path<String>,
    Query(said): Query<Vec<(String, String)>>,
) -> Result<Sse<impl Stream<Item = Result<Frame, Infallible>>>, Problem> {
    let thread = thread(&app, &name)?;
    let said = said.into_iter().find(|(name, _)| name == "say").map(|(_, text)| text);
    let said = said.ok_or_else(|| Problem(StatusCode::BAD_REQUEST, "`say` is missing".into()))?;
    let events = thread.stream(Input::New(Chat::update().message(Message::user(said))), ());
    // The stream ends with the run; dropping it, when the client is gone, stops nothing.
    Ok(Sse::new(events.map(frame)).keep_alive(KeepAlive::default()))
}

async fn read_on(
    extract::State(app): extract::State<App<Chat>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Frame, Infallible>>>, Problem> {
    let after = match headers.get("last-event-id").map(|id| id.to_str().unwrap_or_default()) {
        None | Some("") => None,
        Some(id) => Some(id.parse::<EventId>().map_err(Problem::of_client)?),
    };
    let events = thread(&app, &name)?.events(after).await?;
    Ok(Sse::new(stream::iter(events).map(frame)))
}

/// An event as a browser reads it: its name, its id if it is recorded, and all of it as JSON.
fn frame(event: Event) -> Result<Frame, Infallible> {
    let frame = Frame::default().event(event.kind.name());
    let frame = match event.id {
        Some(id) => frame.id(id.to_string()),
        None => frame,
    };
    let data = serde_json::to_string(&event)
        .unwrap_or_else(|error| json!({"error": error.to_string()}).to_string());
    Ok(frame.data(data))
}

fn thread(app: &App<Chat>, name: &str) -> Result<Thread<Chat>, Problem> {
    Ok(app.thread(ThreadKey::named(name).map_err(Problem::of_client)?))
}

/// What a client is told when there is no stream.
#[derive(Debug)]
pub struct Problem(StatusCode, String);

impl Problem {
    fn of_client(error: impl std::error::Error) -> Self {
        Self(StatusCode::BAD_REQUEST, error.to_string())
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        let status = StatusCode::from_u16(error.status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self(status, Chain(&error).to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.0, Json(json!({"error": self.1}))).into_response()
    }
}
