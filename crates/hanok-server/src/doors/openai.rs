//! OpenAI's chat completions: each graph whose state has `messages` is a model.
//!
//! A request with a thread (`X-Thread-Id`, or `metadata.thread_id`) continues it with what follows the last answer; one without is a
//! conversation of its own. A question is text, with an object `hanok` that holds its requests; `hanok.answers` of a later request
//! answers them by id.

use std::collections::BTreeMap;

use axum::{
    Json, Router,
    extract::State,
    http::HeaderMap,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures::{Stream, StreamExt, stream};
use hanok_core::{Spent, Token};
use hanok_graph::{AnyThread, EventKind, Mode};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    http::{
        auth::{Role, Signed},
        follow_run::{RunEvent, follow_run, place_now},
        problem::Problem,
        result::{Left, left, put},
        service::{Body, Service},
        sse::{Frame, streamed},
    },
    rows::run::{RunRow, RunStatus},
    runs::Post,
};

const COMPLETIONS: &str = "/v1/chat/completions";
const MODELS: &str = "/v1/models";

pub(crate) fn routes() -> Router<Service> {
    Router::new().route(COMPLETIONS, post(complete)).route(MODELS, get(models))
}

/// True for a path of this way in.
pub(crate) fn is_own(path: &str) -> bool {
    path == COMPLETIONS || path == MODELS
}

/// The body of an error.
pub(crate) fn error(problem: &Problem, request: &str) -> Value {
    let kind = match problem.status.as_u16() {
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    let message = match &problem.detail {
        Value::String(detail) => detail.clone(),
        detail => detail.to_string(),
    };
    let error = json!({"message": message, "type": kind, "param": null, "code": problem.code});
    json!({"error": error, "request_id": request})
}

/// What a client asks for. What else it may say has no meaning here.
#[derive(Debug, Deserialize)]
struct Completion {
    model: String,
    #[serde(default)]
    messages: Vec<Value>,
    #[serde(default)]
    stream: bool,
    #[serde(default)]
    stream_options: StreamOptions,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    #[serde(default)]
    hanok: Answers,
}

#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Debug, Default, Deserialize)]
struct Answers {
    #[serde(default)]
    answers: BTreeMap<String, Value>,
}

async fn models(State(server): State<Service>, signed: Signed) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Read)?;
    let models = server
        .runs
        .apps()
        .0
        .keys()
        .map(|name| json!({"id": name, "object": "model", "created": 0, "owned_by": "hanok"}));
    Ok(Json(json!({"object": "list", "data": models.collect::<Vec<_>>()})))
}

async fn complete(
    State(server): State<Service>,
    signed: Signed,
    headers: HeaderMap,
    Body(asked): Body<Completion>,
) -> Result<Response, Problem> {
    signed.needs(if asked.hanok.answers.is_empty() { Role::Run } else { Role::Answer })?;
    let named = headers.get("x-thread-id").and_then(|name| name.to_str().ok()).map(str::to_owned);
    let noted = || asked.metadata.as_ref()?.get("thread_id")?.as_str().map(str::to_owned);
    let named = named.or_else(noted);
    let name = named.clone().unwrap_or_else(|| server.new_name());
    let thread = server.thread(&signed, &asked.model, &name)?;
    let input = match asked.hanok.answers.is_empty() {
        true => {
            let new = new(&asked.messages, named.is_some())?;
            server.runs.apps().said(&asked.model, new.into())
        }
        false => json!({"answers": asked.hanok.answers}),
    };
    let after = place_now(&*thread).await?;
    let mut request = signed.request(&asked.model, input);
    request.options.forgotten = named.is_none();
    let idempotency_key = server.idempotency_key(&headers)?;
    let post = Post { idempotency_key, ..Post::new(signed.key(&name)?, request) };
    let row = server.runs.post(post).await?.row;
    let modes = if asked.stream { &[Mode::Messages][..] } else { &[] };
    let events = follow_run(server.runs.clone(), &*thread, &row, after, Some(modes));
    let told = Told {
        id: format!("chatcmpl-{}", row.run),
        model: asked.model,
        created: row.created.0 / 1_000,
        thread: name,
    };
    if !asked.stream {
        let mut spent = Spent::default();
        let mut events = Box::pin(events);
        while let Some(event) = events.next().await {
            match event {
                RunEvent::Event(event) => spent = spent_by(&event.kind, spent),
                RunEvent::Over(row) => {
                    let left = ended(&*thread, row).await?;
                    return Ok(Json(told.whole(&left, spent)).into_response());
                }
            }
        }
        return Err(Problem::no_thread());
    }
    let usage = asked.stream_options.include_usage;
    let permit = server.limits.stream(&signed)?;
    let frames = frames(events.boxed(), thread, told, usage).inspect(move |_| {
        let _held = &permit;
    });
    Ok(streamed(frames, &server))
}

/// The messages that are new: all, or those behind the last answer.
fn new(messages: &[Value], continues: bool) -> Result<Vec<Value>, Problem> {
    let is_answer = |message: &Value| message["role"] == "assistant";
    let behind = messages.iter().rposition(is_answer).filter(|_| continues).map_or(0, |at| at + 1);
    match messages.get(behind..) {
        Some(new) if !new.is_empty() => Ok(new.to_vec()),
        _ => Err(Problem::unprocessable("`messages` holds nothing behind the last answer")),
    }
}

fn spent_by(kind: &EventKind, before: Spent) -> Spent {
    match kind {
        EventKind::Ended { spent, .. } => *spent,
        _ => before,
    }
}

/// What a run has left, or the error with which it ended.
async fn ended(thread: &dyn AnyThread, row: Option<Box<RunRow>>) -> Result<Left, Problem> {
    let row = row.ok_or_else(Problem::no_thread)?;
    match row.status {
        RunStatus::Success => Ok(left(thread, &row).await?),
        _ => Err(Problem::of_run(&row)),
    }
}

/// What all parts of an answer say.
struct Told {
    id: String,
    model: String,
    created: u64,
    thread: String,
}

impl Told {
    fn object(&self, kind: &str, choices: Value) -> Value {
        json!({
            "id": self.id, "object": kind, "created": self.created, "model": self.model,
            "choices": choices, "metadata": {"thread_id": self.thread},
        })
    }

    fn whole(&self, left: &Left, spent: Spent) -> Value {
        let message = json!({"role": "assistant", "content": left.text(), "refusal": null});
        let choice =
            json!({"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"});
        let mut whole = self.object("chat.completion", json!([choice]));
        put(&mut whole, "usage", usage(spent));
        if !left.requests.is_empty() {
            put(&mut whole, "hanok", json!({"requests": left.requests}));
        }
        whole
    }

    fn chunk(&self, delta: Value, finish: Option<&str>) -> Value {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        self.object("chat.completion.chunk", json!([choice]))
    }
}

fn usage(spent: Spent) -> Value {
    let (prompt, completion) = (spent.input_tokens, spent.output_tokens);
    let total = prompt.saturating_add(completion);
    json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total})
}

/// The state of an answer that is streamed.
struct Streamed {
    told: Told,
    thread: Box<dyn AnyThread>,
    spent: Spent,
    /// True when a part of the answer's text was sent.
    has_text: bool,
    usage: bool,
}

fn frames(
    events: stream::BoxStream<'static, RunEvent>,
    thread: Box<dyn AnyThread>,
    told: Told,
    usage: bool,
) -> impl Stream<Item = Frame> + Send {
    let first = told.chunk(json!({"role": "assistant", "content": ""}), None);
    let state = Streamed { told, thread, spent: Spent::default(), has_text: false, usage };
    let rest = stream::unfold((events, state), |(mut events, mut state)| async move {
        let event = events.next().await?;
        let frames = state.frames(event).await;
        Some((stream::iter(frames), (events, state)))
    });
    stream::iter([frame(&first)]).chain(rest.flatten())
}

fn frame(json: &Value) -> Frame {
    Frame::data(&json.to_string())
}

impl Streamed {
    async fn frames(&mut self, event: RunEvent) -> Vec<Frame> {
        match event {
            RunEvent::Event(event) => match &event.kind {
                EventKind::Token(Token::Text(text)) => {
                    self.has_text = true;
                    vec![frame(&self.told.chunk(json!({"content": text}), None))]
                }
                kind => {
                    self.spent = spent_by(kind, self.spent);
                    Vec::new()
                }
            },
            RunEvent::Over(row) => match ended(&*self.thread, row).await {
                Ok(left) => self.last(&left),
                Err(problem) => vec![frame(&error(&problem, "")), Frame::data("[DONE]")],
            },
        }
    }

    fn last(&self, left: &Left) -> Vec<Frame> {
        let mut frames = Vec::new();
        // What was not written token by token comes whole.
        if !self.has_text || !left.requests.is_empty() {
            frames.push(frame(&self.told.chunk(json!({"content": left.text()}), None)));
        }
        let mut stop = self.told.chunk(json!({}), Some("stop"));
        if !left.requests.is_empty() {
            put(&mut stop, "hanok", json!({"requests": left.requests}));
        }
        frames.push(frame(&stop));
        if self.usage {
            let mut last = self.told.object("chat.completion.chunk", json!([]));
            put(&mut last, "usage", usage(self.spent));
            frames.push(frame(&last));
        }
        frames.push(Frame::data("[DONE]"));
        frames
    }
}
