//! Runs, on a thread and without.

use axum::{
    Json, Router,
    body::{Body as HttpBody, Bytes},
    extract::{FromRequest, FromRequestParts, Path, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures::{FutureExt, StreamExt, stream};
use hanok_graph::EventPlace;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::{convert::Infallible, time::Duration};
use uuid::Uuid;

use super::{
    events::{self, Frames, Modes},
    ids::{assistant_id, moment, read_run, read_thread, run_id},
    interrupts,
    known::position_of,
    listing::PageOf,
    params::Params,
    run_body::{IfNotExists, OnCompletion, OnDisconnect, RunBody},
};
use crate::{
    error::ServeError,
    http::{
        auth::{Role, Signed},
        follow_run::{RunEvent, follow_run, place_before, place_now},
        problem::Problem,
        result::{left, requests},
        service::{Body, Service},
        sse::{Frame, streamed},
    },
    rows::{
        keys::public_id,
        run::{RunRow, RunStatus, Stop},
    },
    runs::Post,
};

/// How often a line is sent to whoever waits.
const LINE: Duration = Duration::from_secs(5);

pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route("/threads/{thread}/runs", post(create).get(list))
        .route("/threads/{thread}/runs/wait", post(wait))
        .route("/threads/{thread}/runs/stream", post(stream))
        .route("/threads/{thread}/runs/{run}", get(one).delete(remove))
        .route("/threads/{thread}/runs/{run}/join", get(join))
        .route("/threads/{thread}/runs/{run}/stream", get(join_stream))
        .route("/threads/{thread}/runs/{run}/cancel", post(cancel))
        .route("/runs", post(create))
        .route("/runs/wait", post(wait))
        .route("/runs/stream", post(stream))
        .route("/runs/cancel", post(cancel_many))
}

/// A request for a run, on the thread of its path or without one.
struct Posted {
    signed: Signed,
    thread: Option<String>,
    headers: HeaderMap,
    body: RunBody,
}

impl FromRequest<Service> for Posted {
    type Rejection = Problem;

    async fn from_request(request: Request, server: &Service) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let signed = Signed::from_request_parts(&mut parts, server).await?;
        let path = Option::<Path<String>>::from_request_parts(&mut parts, server).await;
        let path = path.map_err(|error| Problem::unprocessable(error.body_text()))?;
        let headers = parts.headers.clone();
        let Body(body) = Body::from_request(Request::from_parts(parts, body), server).await?;
        Ok(Self { signed, thread: path.map(|Path(thread)| thread), headers, body })
    }
}

/// A run that was posted, and what its answer needs.
struct Begun {
    row: RunRow,
    after: Option<EventPlace>,
    modes: Modes,
    cancels: bool,
}

impl Service {
    /// The run of a thread of the caller.
    async fn run_of(&self, signed: &Signed, thread: &str, run: &str) -> Result<RunRow, Problem> {
        signed.needs(Role::Read)?;
        let row = self.known_thread(signed, read_thread(thread)?).await?;
        Ok(self.runs.run(&signed.key(&row.name)?, read_run(run)?).await?)
    }

    /// Posts a run on the thread with this UUID; on one of its own if there is none.
    async fn begin(&self, posted: Posted) -> Result<(Signed, Begun), Problem> {
        let Posted { signed, thread, headers, mut body } = posted;
        body.roles().into_iter().try_for_each(|role| signed.needs(role))?;
        let assistant = body.assistant_id.as_deref().unwrap_or(&self.default_graph);
        let graph = self.graph_of(assistant)?.to_owned();
        let (name, forgotten) = match thread {
            Some(thread) => (self.name_of(&signed, read_thread(&thread)?, &body).await?, false),
            None => (self.new_name(), body.on_completion != Some(OnCompletion::Keep)),
        };
        let (modes, multitask) = (body.modes()?, body.multitask());
        let cancels = body.on_disconnect == Some(OnDisconnect::Cancel);
        let thread = self.thread(&signed, &graph, &name)?;
        let at = match body.checkpoint() {
            Some(id) => Some(position_of(&*thread, id, body.is_new()).await?),
            None => None,
        };
        if let Some(resume) = body.resume()
            && let Some(decisions) = interrupts::decisions(resume)
        {
            let asked = requests(&*thread, None).await?;
            *resume = interrupts::decided(&asked, resume, decisions)?.into();
        }
        let mut request = signed.request(&graph, Value::Null);
        let nodes = self.app(&graph)?.structure().nodes.into_iter().map(|node| node.name);
        body.fill(&mut request, nodes, at)?;
        request.options.forgotten = forgotten;
        let post = Post {
            multitask,
            idempotency_key: self.idempotency_key(&headers)?,
            ..Post::new(signed.key(&name)?, request)
        };
        let after = place_now(&*thread).await?;
        let row = self.runs.post(post).await?.row;
        Ok((signed, Begun { row, after, modes, cancels }))
    }

    /// The name of the thread with this UUID.
    async fn name_of(&self, signed: &Signed, id: Uuid, body: &RunBody) -> Result<String, Problem> {
        let row = self.runs.rows().thread(&signed.tenant, id).await?;
        match row {
            Some((row, _)) => Ok(row.name),
            None if body.if_not_exists == Some(IfNotExists::Create) => Ok(id.to_string()),
            None => Err(Problem::no_thread()),
        }
    }

    /// Streams the events of a run.
    async fn streams(&self, signed: &Signed, begun: Begun) -> Result<Response, Problem> {
        let Begun { row, after, modes, cancels } = begun;
        let graph = row.request.graph.clone();
        let thread = self.thread(signed, &graph, row.thread.thread())?;
        let read = modes.read();
        let runs = self.runs.clone();
        let events = follow_run(runs.clone(), &*thread, &row, after, Some(&read));
        let first = json!({"run_id": run_id(row.run), "attempt": 1});
        let frames = Frames::new(modes, said_of(&row));
        let leaves = Leaves { server: self.clone(), row: cancels.then(|| row.clone()) };
        let state = (events.boxed(), frames, thread, (leaves, self.limits.stream(signed)?));
        let rest = stream::unfold(state, |(mut events, mut frames, thread, mut held)| async {
            let made = match events.next().await? {
                RunEvent::Event(event) => frames.of(&event),
                RunEvent::Over(row) => {
                    held.0.row = None;
                    let mut made = match row {
                        Some(row) => frames.last(&row, left(&*thread, &row).await.ok().as_ref()),
                        None => Vec::new(),
                    };
                    made.push(Frame::new("end", None, &Value::Null));
                    made
                }
            };
            Some((stream::iter(made), (events, frames, thread, held)))
        });
        let first = stream::iter([Frame::new("metadata", None, &first)]);
        let mut response = streamed(first.chain(rest.flatten()), self);
        locate(response.headers_mut(), &row, "stream");
        Ok(response)
    }

    /// What a run has left, once it is over; a line now and then until then.
    fn waits(&self, signed: &Signed, begun: Begun) -> Result<Response, Problem> {
        let Begun { row, cancels, .. } = begun;
        let thread = self.thread(signed, &row.request.graph, row.thread.thread())?;
        let leaves = Leaves { server: self.clone(), row: cancels.then(|| row.clone()) };
        let (runs, key, run) = (self.runs.clone(), row.thread.clone(), row.run);
        let ended = async move {
            let mut leaves = leaves;
            let ended = runs.ended(&key, run).await;
            leaves.row = None;
            let result = match ended {
                Ok(row) => result_of(&*thread, &row).await,
                Err(error) => Err(error),
            };
            result.unwrap_or_else(|error| {
                let problem = Problem::from(error);
                json!({"__error__": {"error": problem.code, "message": problem.detail}})
            })
        };
        let state = (Some(ended.boxed()), self.runs.clock());
        let lines = stream::unfold(state, |(ended, clock)| async move {
            let mut ended = ended?;
            let (text, ended) = futures::select_biased! {
                result = (&mut ended).fuse() => (result.to_string(), None),
                () = clock.sleep(LINE).fuse() => ("\n".to_owned(), Some(ended)),
            };
            Some((Ok::<_, Infallible>(Bytes::from(text)), (ended, clock)))
        });
        let mut response = Response::new(HttpBody::from_stream(lines));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        locate(response.headers_mut(), &row, "join");
        Ok(response)
    }
}

/// Stops the run of a reader who leaves before its end, if that was asked for.
struct Leaves {
    server: Service,
    row: Option<RunRow>,
}

impl Drop for Leaves {
    fn drop(&mut self) {
        let Some(row) = self.row.take() else { return };
        // Whoever reads comes back when the server ends.
        if self.server.draining.is_cancelled() {
            return;
        }
        let runs = self.server.runs.clone();
        let stop = async move {
            if let Err(error) = runs.stop(&row.thread, row.run, Stop::Interrupt).await {
                tracing::warn!(%error, "the run of a reader who left could not be stopped");
            }
        };
        self.server.runs.runtime().spawner.spawn(Box::pin(stop)).detach();
    }
}

async fn result_of(thread: &dyn hanok_graph::AnyThread, row: &RunRow) -> Result<Value, ServeError> {
    match row.status {
        RunStatus::Error | RunStatus::Timeout => Ok(json!({"__error__": events::error(row)})),
        _ => Ok(events::with_interrupts(&left(thread, row).await?)),
    }
}

/// What events say of their run.
fn said_of(row: &RunRow) -> Map<String, Value> {
    let graph = &row.request.graph;
    let said = [
        ("run_id", run_id(row.run)),
        ("thread_id", public_id(row.thread.thread()).to_string()),
        ("graph_id", graph.clone()),
        ("assistant_id", assistant_id(graph)),
    ];
    said.map(|(key, value)| (key.to_owned(), value.into())).into_iter().collect()
}

/// Where a run is, and its answer.
fn locate(headers: &mut HeaderMap, row: &RunRow, answer: &str) {
    let thread = public_id(row.thread.thread());
    let place = format!("/threads/{thread}/runs/{}", run_id(row.run));
    if let Ok(place) = HeaderValue::from_str(&format!("{place}/{answer}")) {
        headers.insert(header::LOCATION, place);
    }
    if let Ok(place) = HeaderValue::from_str(&place) {
        headers.insert(header::CONTENT_LOCATION, place);
    }
}

/// A run, as clients see it.
pub(crate) fn shown(row: &RunRow) -> Value {
    let (request, options) = (&row.request, &row.request.options);
    let mut metadata = Map::new();
    metadata.insert("created_by".into(), "system".into());
    metadata.insert("graph_id".into(), request.graph.clone().into());
    metadata.insert("assistant_id".into(), assistant_id(&request.graph).into());
    if let Value::Object(own) = &request.metadata {
        metadata.extend(own.clone());
    }
    let client = |name: &str| request.client.get(name).cloned();
    let created = row.created.plus(options.delay.unwrap_or_default());
    json!({
        "run_id": run_id(row.run),
        "thread_id": public_id(row.thread.thread()).to_string(),
        "assistant_id": assistant_id(&request.graph),
        "metadata": metadata,
        "status": row.status,
        "kwargs": {
            "input": client("input"), "command": client("command"),
            "config": request.config, "interrupt_before": options.interrupt_before,
            "interrupt_after": options.interrupt_after, "temporary": options.forgotten,
            "durability": options.durability,
        },
        "multitask_strategy": client("multitask_strategy"),
        "created_at": moment(created),
        "updated_at": moment(row.updated),
    })
}

async fn create(State(server): State<Service>, posted: Posted) -> Result<Response, Problem> {
    created(&server.begin(posted).await?.1)
}

fn created(begun: &Begun) -> Result<Response, Problem> {
    let mut response = Json(shown(&begun.row)).into_response();
    locate(response.headers_mut(), &begun.row, "stream");
    response.headers_mut().remove(header::LOCATION);
    Ok(response)
}

async fn wait(State(server): State<Service>, posted: Posted) -> Result<Response, Problem> {
    let (signed, begun) = server.begin(posted).await?;
    server.waits(&signed, begun)
}

async fn stream(State(server): State<Service>, posted: Posted) -> Result<Response, Problem> {
    let (signed, begun) = server.begin(posted).await?;
    server.streams(&signed, begun).await
}

async fn one(
    State(server): State<Service>,
    signed: Signed,
    Path((thread, run)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(shown(&server.run_of(&signed, &thread, &run).await?)))
}

async fn list(
    State(server): State<Service>,
    signed: Signed,
    Path(thread): Path<String>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Read)?;
    let thread = server.known_thread(&signed, read_thread(&thread)?).await?;
    let page = PageOf::new(params.number("limit")?, params.number("offset")?, 10)?;
    let status = params.text("status").map(|name| {
        let named = RunStatus::named(name);
        named.ok_or_else(|| Problem::unprocessable(format!("there is no status `{name}`")))
    });
    let status = status.transpose()?;
    let (key, mut after) = (signed.key(&thread.name)?, None);
    let (mut rows, mut skip) = (Vec::new(), page.offset);
    loop {
        let (found, next) = server.runs.list(&key, after, 100).await?;
        for row in found.into_iter().filter(|row| status.is_none_or(|it| row.status == it)) {
            match skip {
                0 if rows.len() < page.limit => rows.push(shown(&row)),
                0 => return Ok(Json(rows.into())),
                _ => skip -= 1,
            }
        }
        after = next;
        if after.is_none() {
            return Ok(Json(rows.into()));
        }
    }
}

async fn remove(
    State(server): State<Service>,
    signed: Signed,
    Path((thread, run)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    signed.needs(Role::Run)?;
    let row = server.run_of(&signed, &thread, &run).await?;
    if !row.status.is_over() {
        server.runs.stop(&row.thread, row.run, Stop::Interrupt).await?;
        server.runs.ended(&row.thread, row.run).await?;
    }
    server.runs.rows().remove_run(&row.thread, row.run).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// True if a reader who joins wants the run to end when he leaves. He has to be allowed that.
fn cancels(signed: &Signed, params: &Params) -> Result<bool, Problem> {
    let cancels = params.flag("cancel_on_disconnect")?.unwrap_or_default();
    if cancels {
        signed.needs(Role::Run)?;
    }
    Ok(cancels)
}

async fn join(
    State(server): State<Service>,
    signed: Signed,
    Path((thread, run)): Path<(String, String)>,
    params: Params,
) -> Result<Response, Problem> {
    let row = server.run_of(&signed, &thread, &run).await?;
    let cancels = cancels(&signed, &params)?;
    server.waits(&signed, Begun { row, after: None, modes: Modes::default(), cancels })
}

async fn join_stream(
    State(server): State<Service>,
    signed: Signed,
    Path((thread, run)): Path<(String, String)>,
    params: Params,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let row = server.run_of(&signed, &thread, &run).await?;
    let cancels = cancels(&signed, &params)?;
    let handle = server.thread(&signed, &row.request.graph, row.thread.thread())?;
    let last = headers.get("last-event-id").map(|id| id.to_str().unwrap_or("?"));
    let after = match last {
        None => place_now(&*handle).await?,
        Some("-1" | "0" | "") => place_before(&*handle, &row).await?,
        Some(id) => {
            let place: EventPlace =
                id.parse().map_err(|error| Problem::unprocessable(format!("{error}")))?;
            // One of another life of the thread is refused.
            handle.replay(Some(place.after), None).await?;
            Some(place)
        }
    };
    let names = match params.list("stream_mode") {
        names if names.is_empty() => vec!["values".to_owned()],
        names => names,
    };
    let modes = Modes::named(&names, false)?;
    server.streams(&signed, Begun { row, after, modes, cancels }).await
}

/// How runs are to be stopped.
fn stop_of(params: &Params) -> Result<Stop, Problem> {
    match params.text("action") {
        None | Some("interrupt") => Ok(Stop::Interrupt),
        Some("rollback") => Ok(Stop::Rollback),
        Some(_) => Err(Problem::unprocessable("`action` is `interrupt` or `rollback`")),
    }
}

async fn cancel(
    State(server): State<Service>,
    signed: Signed,
    Path((thread, run)): Path<(String, String)>,
    params: Params,
) -> Result<Response, Problem> {
    signed.needs(Role::Run)?;
    let row = server.run_of(&signed, &thread, &run).await?;
    if row.status.is_over() {
        return Err(Problem::new(StatusCode::NOT_FOUND, "HNK-402", "this run is over already"));
    }
    server.runs.stop(&row.thread, row.run, stop_of(&params)?).await?;
    if !params.flag("wait")?.unwrap_or_default() {
        return Ok(StatusCode::ACCEPTED.into_response());
    }
    server.runs.ended(&row.thread, row.run).await?;
    let mut response = Json(json!({})).into_response();
    locate(response.headers_mut(), &row, "join");
    Ok(response)
}

/// Which runs are to be stopped.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Many {
    thread_id: Option<String>,
    run_ids: Option<Vec<String>>,
    status: Option<String>,
}

async fn cancel_many(
    State(server): State<Service>,
    signed: Signed,
    params: Params,
    Body(which): Body<Many>,
) -> Result<StatusCode, Problem> {
    signed.needs(Role::Run)?;
    let thread = which.thread_id.as_deref();
    let thread = thread.ok_or_else(|| Problem::unprocessable("`thread_id` is missing"))?;
    let row = server.known_thread(&signed, read_thread(thread)?).await?;
    let (key, stop) = (signed.key(&row.name)?, stop_of(&params)?);
    let queue = server.runs.rows().queue(&key).await?.queue;
    let named =
        which.run_ids.map(|ids| ids.iter().map(|id| read_run(id)).collect::<Result<Vec<_>, _>>());
    let named = named.transpose()?;
    let (running, pending) = match which.status.as_deref() {
        Some("pending") => (None, queue.pending),
        Some("running") => (queue.running, Vec::new()),
        _ => (queue.running, queue.pending),
    };
    let mut found = false;
    // Those that wait first, so that none of them begins meanwhile.
    for run in pending.into_iter().rev().chain(running) {
        if named.as_ref().is_none_or(|named| named.contains(&run)) {
            server.runs.stop(&key, run, stop).await?;
            found = true;
        }
    }
    match found {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::new(StatusCode::NOT_FOUND, "HNK-402", "there are no such runs")),
    }
}
