//! The state of a thread: read, and edited between runs.

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::{get, post},
};
use hanok_core::Position;
use hanok_graph::{AnyInput, AnyUpdate, EditPlace, NewInput, RunError, RunSettings};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    ids::{CheckpointId, Phase},
    known::{Known, OfGraph, Step, read_path},
    params::Params,
    picture::{Wants, empty},
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

pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route("/threads/{thread}/state", get(now).post(update))
        .route("/threads/{thread}/state/checkpoint", post(at_checkpoint))
        .route("/threads/{thread}/state/{checkpoint}", get(at))
}

/// A checkpoint as clients name it. Its thread is that of the path.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Named {
    pub(crate) checkpoint_id: Option<String>,
    pub(crate) checkpoint_ns: Option<String>,
}

impl Named {
    pub(crate) fn path(&self) -> Result<hanok_core::Namespace, Problem> {
        read_path(self.checkpoint_ns.as_deref().unwrap_or_default())
    }
}

impl Known {
    /// The state at a checkpoint; without an id where the thread is.
    async fn state_at(&self, id: Option<&str>, wants: &Wants) -> Result<Value, Problem> {
        let Some(of) = &self.graph else {
            return match id {
                Some(_) => Err(super::known::no_checkpoint()),
                None => Ok(wants.selected(empty())),
            };
        };
        let current = match wants.path.is_root() {
            true => of.current().await?,
            false => of.steps(None, &wants.path, 1).await?.into_iter().next(),
        };
        let step = match id {
            Some(id) => Some(of.find(id, &wants.path).await?),
            None => current.clone(),
        };
        let Some(step) = step else { return Ok(wants.selected(empty())) };
        let is_under_way = wants.path.is_root()
            || of.thread.views(None).await?.iter().any(|view| view.path == wants.path);
        // The state of a subgraph whose call is over is that of its last checkpoint.
        let current = current.map(|current| current.id).filter(|_| is_under_way);
        let states = self.states(of, &[step], current, wants).await?;
        states.into_iter().next().ok_or_else(super::known::no_checkpoint)
    }
}

fn wants(params: &Params) -> Result<Wants, Problem> {
    let subgraphs = params.flag("subgraphs")?.unwrap_or_default();
    Ok(Wants { subgraphs, select: params.list("select"), ..Wants::default() })
}

async fn now(
    State(server): State<Service>,
    signed: Signed,
    Path(thread): Path<String>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Read)?;
    let known = server.known(&signed, &thread).await?;
    Ok(Json(known.state_at(None, &wants(&params)?).await?))
}

async fn at(
    State(server): State<Service>,
    signed: Signed,
    Path((thread, checkpoint)): Path<(String, String)>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Read)?;
    let known = server.known(&signed, &thread).await?;
    Ok(Json(known.state_at(Some(&checkpoint), &wants(&params)?).await?))
}

/// Which state is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    checkpoint: Option<Named>,
    subgraphs: Option<bool>,
    select: Option<Vec<String>>,
}

async fn at_checkpoint(
    State(server): State<Service>,
    signed: Signed,
    Path(thread): Path<String>,
    Body(asked): Body<Asked>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Read)?;
    let known = server.known(&signed, &thread).await?;
    let named = asked.checkpoint.unwrap_or_default();
    let wants = Wants {
        path: named.path()?,
        subgraphs: asked.subgraphs.unwrap_or_default(),
        select: asked.select.unwrap_or_default(),
    };
    Ok(Json(known.state_at(named.checkpoint_id.as_deref(), &wants).await?))
}

/// An edit of a state.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Edited {
    pub(crate) values: Option<Value>,
    pub(crate) as_node: Option<String>,
    checkpoint: Option<Named>,
    checkpoint_id: Option<String>,
}

impl Edited {
    fn update(&self) -> Result<AnyUpdate, Problem> {
        match &self.values {
            None | Some(Value::Null) => Ok(AnyUpdate::from_json(json!({}))),
            Some(values @ Value::Object(_)) => Ok(AnyUpdate::from_json(values.clone())),
            Some(_) => Err(refused("HNK-230", "`values` is an object of fields")),
        }
    }

    /// The checkpoint that is edited, if one is named.
    fn checkpoint(&self) -> Result<Option<&str>, Problem> {
        let named = self.checkpoint.as_ref();
        match named.and_then(|named| named.checkpoint_ns.as_deref()) {
            None | Some("") => {}
            Some(_) => return Err(Problem::not_served("an edit of a subgraph's state")),
        }
        let of_object = || named.and_then(|named| named.checkpoint_id.as_deref());
        Ok(self.checkpoint_id.as_deref().or_else(of_object))
    }
}

fn refused(code: &'static str, detail: impl Into<Value>) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, code, detail)
}

/// The error of an edit. What the client has got wrong is a bad request here.
fn of_edit(error: RunError) -> Problem {
    let is_clients = matches!(
        error,
        RunError::NoSuchNode { .. }
            | RunError::Json(_)
            | RunError::Input { .. }
            | RunError::AmbiguousEdit { .. }
    );
    let problem = Problem::from(error);
    if is_clients { Problem { status: StatusCode::BAD_REQUEST, ..problem } } else { problem }
}

impl Service {
    /// Edits the state of a thread; the checkpoint that this makes, and the thread as it is then.
    pub(crate) async fn edit(
        &self,
        signed: &Signed,
        known: Known,
        edited: &Edited,
    ) -> Result<(Known, Step), Problem> {
        let key = signed.key(&known.row.name)?;
        if !self.runs.rows().queue(&key).await?.queue.is_empty() {
            return Err(ServeError::Busy(key).into());
        }
        let Some(of) = &known.graph else {
            let detail = "this thread has no graph: run it, or set its metadata's `graph_id`";
            return Err(refused("HNK-430", detail));
        };
        of.write(edited).await?;
        let mut known = self.known_of(signed, known.row).await?;
        let step = match &known.graph {
            Some(of) => of.current().await?,
            None => None,
        };
        let step = step.ok_or_else(Problem::no_thread)?;
        let status = match step.next.is_empty() {
            true => ThreadStatus::Idle,
            false => ThreadStatus::Interrupted,
        };
        let settle = |row: &mut ThreadRow| {
            if row.status != ThreadStatus::Busy {
                row.status = status;
            }
        };
        let row = self.runs.rows().change_thread(&signed.tenant, known.id, settle).await?;
        known.row = row.ok_or_else(Problem::no_thread)?;
        Ok((known, step))
    }
}

impl OfGraph {
    /// Writes an edit to the log.
    async fn write(&self, edited: &Edited) -> Result<(), Problem> {
        let (update, node) = (edited.update()?, edited.as_node.as_deref());
        let (at, is_input) = match edited.checkpoint()? {
            Some(id) => self.place(id).await?,
            None => (None, self.head.is_none() && node.is_none()),
        };
        match node {
            Some("__end__") => self.ends(update, at).await,
            Some("__start__") => self.inputs(update, at).await,
            None if is_input => self.inputs(update, at).await,
            None => {
                let place = |place| self.thread.edit(update.clone(), place, at);
                match place(EditPlace::LastNode).await {
                    // Nothing but the input was written: what is due stays due.
                    Err(RunError::AmbiguousEdit { nodes }) if nodes.is_empty() => {
                        place(EditPlace::Nobody).await
                    }
                    made => made,
                }
                .map(drop)
                .map_err(of_edit)
            }
            Some(node) => {
                if self.head.is_none() {
                    self.ends(AnyUpdate::from_json(json!({})), None).await?;
                }
                let made = self.thread.edit(update, EditPlace::Node(node.to_owned()), at).await;
                made.map(drop).map_err(of_edit)
            }
        }
    }

    /// The position at which a checkpoint is edited, and whether an edit there is an input; no position where the thread is.
    async fn place(&self, id: &str) -> Result<(Option<Position>, bool), Problem> {
        let step = self.find(id, &hanok_core::Namespace::root()).await?;
        let CheckpointId { phase, .. } = step.id;
        if self.current().await?.is_some_and(|current| current.id == step.id) {
            return Ok((None, false));
        }
        let at = self.shown_at(step.id).await?;
        Ok((Some(at).filter(|at| *at != Position::START), phase == Phase::Before))
    }

    /// Writes an update as the input of a turn of which nothing runs.
    async fn inputs(&self, update: AnyUpdate, at: Option<Position>) -> Result<(), Problem> {
        let nodes = self.nodes.iter().cloned();
        let settings = RunSettings { interrupt_before: nodes.collect(), ..replacing(at) };
        let made = self.thread.run(AnyInput::New(update), settings).await;
        made.map(drop).map_err(of_edit)
    }

    /// Writes an update after which nothing is due.
    async fn ends(&self, update: AnyUpdate, at: Option<Position>) -> Result<(), Problem> {
        let targets = serde_json::from_value(json!(["__end__"])).unwrap_or_default();
        let input = AnyInput::Goto { update, targets };
        self.thread.run(input, replacing(at)).await.map(drop).map_err(of_edit)
    }
}

fn replacing(at: Option<Position>) -> RunSettings {
    RunSettings { new_input: NewInput::Replace, at, ..RunSettings::default() }
}

async fn update(
    State(server): State<Service>,
    signed: Signed,
    Path(thread): Path<String>,
    Body(edited): Body<Edited>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Run)?;
    let known = server.known(&signed, &thread).await?;
    let (known, step) = server.edit(&signed, known, &edited).await?;
    let head =
        known.graph.as_ref().and_then(|of| of.head.as_ref()).ok_or_else(Problem::no_thread)?;
    let named = known.named(step.id, head, &hanok_core::Namespace::root());
    let id = step.id.to_uuid(head.life).to_string();
    Ok(Json(json!({"checkpoint": named, "configurable": named, "checkpoint_id": id})))
}
