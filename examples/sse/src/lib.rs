//! A thread over HTTP. `POST /threads/NAME?say=…` begins a turn, and `POST /threads/NAME/answer?say=…` answers its question; both
//! stream the events of the run. `GET /threads/NAME` follows the thread over all its runs, as a browser's `EventSource` wants it, from
//! the `Last-Event-ID` that a browser sends when its connection was lost.

use std::{collections::BTreeMap, convert::Infallible, fmt::Display, time::Duration};

use axum::{
    Json, Router,
    extract::{self, Path, Query},
    http::{HeaderMap, StatusCode},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event as Frame, KeepAlive},
    },
    routing::{get, post},
};
use futures::{Stream, StreamExt};
use hanok::{
    App, BoxError, Context, END, Event, Graph, InMemoryCheckpointer, Input, Message, Messages,
    RunError, START, Snapshot, State, Thread, ThreadKey, Token,
    core::Chain,
    graph::{BuildError, EventPlace, Runtime},
};
use serde_json::json;

/// The time that a word takes.
pub const PER_WORD: Duration = Duration::from_millis(300);

/// What a thread knows.
#[derive(State, Clone, Debug, Default)]
pub struct Chat {
    messages: Messages,
}

/// Repeats what was said, louder and word by word. Answers a question with a question.
async fn answer(chat: Snapshot<Chat>, context: Context) -> Result<ChatUpdate, BoxError> {
    let mut said = chat.messages.last().map(|last| last.text().into_owned()).unwrap_or_default();
    if said.ends_with('?') {
        said = context.interrupt("What do you think?").await?;
    }
    let (call, said) = (context.call("model", "louder", &said), said.to_uppercase());
    for word in said.split_inclusive(' ') {
        context.runtime().clock.sleep(PER_WORD).await;
        call.sink().inspect(|sink| sink.token(Token::Text(word.to_owned())));
    }
    Ok(Chat::update().message(Message::assistant(said).with_id(call.message_id())))
}

/// The graph of the threads: one node, which takes its time from `runtime`.
///
/// # Errors
///
/// None but of a graph with a fault.
pub fn app(runtime: Runtime) -> Result<App<Chat>, BuildError> {
    let graph = Graph::<Chat>::builder("chat").node("answer", answer).runtime(runtime);
    let graph = graph.edge(START, "answer").edge("answer", END).build()?;
    Ok(graph.checkpointer(InMemoryCheckpointer::new()))
}

/// The routes.
pub fn router(app: App<Chat>) -> Router {
    let routes = Router::new().route("/threads/{name}", get(follow).post(say));
    routes.route("/threads/{name}/answer", post(reply)).with_state(app)
}

type Threads = extract::State<App<Chat>>;
type Params = Query<BTreeMap<String, String>>;

async fn say(app: Threads, name: Path<String>, params: Params) -> Result<Response, Problem> {
    let said = Chat::update().message(Message::user(said(params)?));
    run(thread(&app, &name)?, Input::New(said)).await
}

async fn reply(app: Threads, name: Path<String>, params: Params) -> Result<Response, Problem> {
    run(thread(&app, &name)?, Input::reply(&said(params)?).map_err(refused)?).await
}

/// Runs the thread. A refused input has a status and no stream. The run goes on when the browser leaves.
async fn run(thread: Thread<Chat>, input: Input<Chat>) -> Result<Response, Problem> {
    Ok(frames(thread.try_stream(input, ()).await.map_err(refused)?))
}

/// Follows the thread, also before it has begun. An `EventSource` that is cut off reconnects by itself and receives the rest.
async fn follow(app: Threads, name: Path<String>, headers: HeaderMap) -> Result<Response, Problem> {
    let thread = thread(&app, &name)?;
    let last = headers.get("last-event-id").map(|id| id.to_str().unwrap_or("?"));
    let after = last.map(str::parse::<EventPlace>).transpose();
    let after = after.map_err(|error| problem(422, &error, None))?;
    if let Some(seen) = after {
        // An id of a thread that was deleted is an error with a status, upon which a browser stops reconnecting.
        thread.replay(Some(seen.after)).await.map_err(refused)?;
    }
    Ok(frames(thread.follow(after)))
}

/// Events as a browser reads them: each with its name, its place as its id, and all of it as JSON.
fn frames(events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let frames = events.map(|event| {
        // An event without JSON is an error in its place: if it ended the stream, the browser would ask for it for ever.
        let frame = Frame::default().json_data(&event);
        let frame = frame.unwrap_or_else(|error| {
            Frame::default().data(json!({"error": error.to_string()}).to_string())
        });
        let frame = frame.event(event.kind.name());
        Ok::<_, Infallible>(match event.place {
            Some(place) => frame.id(place.to_string()),
            None => frame,
        })
    });
    Sse::new(frames).keep_alive(KeepAlive::default()).into_response()
}

fn thread(app: &App<Chat>, name: &str) -> Result<Thread<Chat>, Problem> {
    Ok(app.thread(ThreadKey::named(name).map_err(|error| refused(error.into()))?))
}

fn said(Query(mut params): Params) -> Result<String, Problem> {
    params.remove("say").ok_or_else(|| problem(422, &"`say` is missing", None))
}

/// The error of a request that gets no stream: its status, and its words and code as JSON.
type Problem = (StatusCode, Json<serde_json::Value>);

fn refused(error: RunError) -> Problem {
    problem(error.status(), &Chain(&error), Some(error.code()))
}

fn problem(status: u16, error: &dyn Display, code: Option<&str>) -> Problem {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, Json(json!({"error": error.to_string(), "code": code})))
}
