//! Threads: made, read, changed, copied, pruned and deleted.

use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use hanok_checkpoint::{AppendId, CheckpointError, Keep};
use hanok_core::ThreadKey;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    ids::{moment, read_thread},
    interrupts::interrupts,
    known::Known,
    picture,
    state::Edited,
};
use crate::{
    error::ServeError,
    http::{
        auth::{Role, Signed},
        problem::Problem,
        service::{Body, Service},
    },
    rows::thread::{ThreadRow, ThreadStatus},
};

/// How often a thread is deleted that others begin runs of.
const ATTEMPTS: usize = 10;

pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route("/threads", post(create))
        .route("/threads/prune", post(prune))
        .route("/threads/{thread}", get(one).patch(update).delete(remove))
        .route("/threads/{thread}/copy", post(copy))
}

/// Which parts of a thread are read from its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) values: bool,
    pub(crate) interrupts: bool,
}

impl Parts {
    pub(crate) const ALL: Self = Self { values: true, interrupts: true };
}

impl Known {
    /// The thread, as clients see it.
    pub(crate) async fn shown(&self, parts: Parts) -> Result<Value, Problem> {
        let ThreadRow { metadata, status, created, updated, .. } = &self.row;
        let written = self.graph.as_ref().filter(|of| of.head.is_some());
        let values = match written.filter(|_| parts.values) {
            Some(of) => picture::values(of).await?,
            None => Value::Null,
        };
        let asks = parts.interrupts && *status == ThreadStatus::Interrupted;
        let asked = match written.filter(|_| asks) {
            Some(of) => {
                let views = of.thread.views(None).await?;
                let tasks = views.iter().flat_map(|view| &view.tasks);
                let asking = tasks.filter(|task| !task.requests.is_empty());
                asking
                    .map(|task| (task.id.to_string(), interrupts(&task.requests, false)))
                    .collect()
            }
            None => Map::new(),
        };
        // What went wrong in a graph is for its operator.
        let error = json!({"error": "HNK-419", "message": "the run failed"});
        let error = Some(error).filter(|_| *status == ThreadStatus::Error);
        Ok(json!({
            "thread_id": self.id.to_string(), "created_at": moment(*created),
            "updated_at": moment(*updated), "state_updated_at": moment(*updated),
            "metadata": metadata, "status": status.as_str(), "config": {}, "values": values,
            "interrupts": asked, "error": error,
        }))
    }
}

/// What becomes of a request for a thread that is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum IfExists {
    #[default]
    Raise,
    DoNothing,
}

/// A thread to be made.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct New {
    thread_id: Option<String>,
    metadata: Option<Map<String, Value>>,
    if_exists: Option<IfExists>,
    supersteps: Option<Vec<Superstep>>,
}

/// Edits of a new thread.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Superstep {
    updates: Vec<Edited>,
}

async fn create(
    State(server): State<Service>,
    signed: Signed,
    Body(new): Body<New>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Run)?;
    let name = match &new.thread_id {
        Some(id) => read_thread(id)?.to_string(),
        None => server.new_name(),
    };
    let rows = server.runs.rows();
    let mut row = ThreadRow::new(&name, rows.now());
    row.metadata = new.metadata.unwrap_or_default();
    if !rows.begin_thread(&signed.tenant, &row).await? {
        return match new.if_exists.unwrap_or_default() {
            IfExists::DoNothing => {
                Ok(Json(server.known(&signed, &name).await?.shown(Parts::ALL).await?))
            }
            IfExists::Raise => Err(exists(signed.key(&name)?)),
        };
    }
    let mut known = server.known_of(&signed, row).await?;
    for edited in new.supersteps.iter().flatten().flat_map(|step| &step.updates) {
        (known, _) = server.edit(&signed, known, edited).await?;
    }
    Ok(Json(known.shown(Parts::ALL).await?))
}

fn exists(thread: ThreadKey) -> Problem {
    let detail = format!("there is a thread `{}` already", thread.thread());
    let code = CheckpointError::ThreadExists(thread).code();
    Problem::new(StatusCode::CONFLICT, code, detail)
}

async fn one(
    State(server): State<Service>,
    signed: Signed,
    Path(thread): Path<String>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Read)?;
    Ok(Json(server.known(&signed, &thread).await?.shown(Parts::ALL).await?))
}

/// A change of a thread's metadata.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Change {
    metadata: Option<Map<String, Value>>,
}

async fn update(
    State(server): State<Service>,
    signed: Signed,
    Path(thread): Path<String>,
    headers: HeaderMap,
    Body(change): Body<Change>,
) -> Result<Response, Problem> {
    signed.needs(Role::Run)?;
    let (id, metadata) = (read_thread(&thread)?, change.metadata.unwrap_or_default());
    let merge = |row: &mut ThreadRow| row.metadata.extend(metadata.clone());
    let row = server.runs.rows().change_thread(&signed.tenant, id, merge).await?;
    let row = row.ok_or_else(Problem::no_thread)?;
    if headers.get("prefer").is_some_and(|prefers| prefers == "return=minimal") {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let known = server.known_of(&signed, row).await?;
    Ok(Json(known.shown(Parts::ALL).await?).into_response())
}

async fn remove(
    State(server): State<Service>,
    signed: Signed,
    Path(thread): Path<String>,
) -> Result<StatusCode, Problem> {
    signed.needs(Role::Run)?;
    match server.forget(&signed, read_thread(&thread)?).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::no_thread()),
    }
}

impl Service {
    /// Stops the runs of a thread and deletes it, with its log. Returns false if there is no such thread.
    async fn forget(&self, signed: &Signed, id: Uuid) -> Result<bool, Problem> {
        for _ in 0..ATTEMPTS {
            let rows = self.runs.rows();
            let Some((row, _)) = rows.thread(&signed.tenant, id).await? else { return Ok(false) };
            let key = signed.key(&row.name)?;
            self.runs.stop_all(&key).await?;
            // Its runs have changed the row.
            let Some((row, version)) = rows.thread(&signed.tenant, id).await? else {
                return Ok(true);
            };
            if row.status == ThreadStatus::Busy {
                continue;
            }
            let graph = self.served_graph(&row).unwrap_or(&self.default_graph);
            self.thread(signed, graph, &row.name)?.delete().await?;
            if rows.forget_thread(&key, version).await? {
                return Ok(true);
            }
        }
        Err(ServeError::Contended(signed.key(&id.to_string())?).into())
    }
}

async fn copy(
    State(server): State<Service>,
    signed: Signed,
    Path(thread): Path<String>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Run)?;
    let known = server.known(&signed, &thread).await?;
    let (rows, name) = (server.runs.rows(), server.new_name());
    let mut row = ThreadRow::new(&name, rows.now());
    row.metadata = known.row.metadata.clone();
    row.status = match known.row.status {
        ThreadStatus::Busy => ThreadStatus::Idle,
        status => status,
    };
    if let Some(of) = known.graph.as_ref().filter(|of| of.head.is_some()) {
        let id = AppendId(server.runs.runtime().ids.id());
        of.thread.log().copy(&signed.key(&name)?, id, rows.now()).await?;
    }
    rows.begin_thread(&signed.tenant, &row).await?;
    Ok(Json(server.known_of(&signed, row).await?.shown(Parts::ALL).await?))
}

/// How threads are pruned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Strategy {
    /// They are deleted.
    #[default]
    Delete,
    /// Their newest states stay, without what led to them.
    KeepLatest,
}

/// Threads to be pruned.
#[derive(Debug, Deserialize)]
struct Pruned {
    thread_ids: Vec<String>,
    #[serde(default)]
    strategy: Option<Strategy>,
}

async fn prune(
    State(server): State<Service>,
    signed: Signed,
    Body(asked): Body<Pruned>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Run)?;
    let ids = asked.thread_ids.iter().map(|id| read_thread(id));
    let mut count = 0;
    for id in ids.collect::<Result<Vec<_>, _>>()? {
        let is_pruned = match asked.strategy.unwrap_or_default() {
            Strategy::Delete => server.forget(&signed, id).await?,
            Strategy::KeepLatest => server.keep_latest(&signed, id).await?,
        };
        count += usize::from(is_pruned);
    }
    Ok(Json(json!({"pruned_count": count})))
}

impl Service {
    /// Cuts off what led to the newest state of a thread. Returns false if there is no such thread.
    async fn keep_latest(&self, signed: &Signed, id: Uuid) -> Result<bool, Problem> {
        let row = self.runs.rows().thread(&signed.tenant, id).await?;
        let Some((row, _)) = row else { return Ok(false) };
        if let Some(of) = self.known_of(signed, row).await?.graph {
            of.thread.log().prune(Keep::Newest).await?;
        }
        Ok(true)
    }
}
