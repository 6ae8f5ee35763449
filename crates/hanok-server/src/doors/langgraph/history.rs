//! The history of a thread: its checkpoints, newest first.

use axum::{
    Json, Router,
    extract::{Path, State},
    routing::post,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{
    ids::CheckpointId,
    known::{Known, OfGraph, Step, no_checkpoint},
    listing::{PageOf, holds},
    params::Params,
    picture::Wants,
    state::Named,
};
use crate::http::{
    auth::{Role, Signed},
    problem::Problem,
    service::{Body, Service},
};

pub(crate) fn routes() -> Router<Service> {
    Router::new().route("/threads/{thread}/history", post(asked).get(queried))
}

/// Which checkpoints are asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    limit: Option<usize>,
    before: Option<Before>,
    metadata: Option<Map<String, Value>>,
    checkpoint: Option<Named>,
    select: Option<Vec<String>>,
}

/// The checkpoint before which a page begins: its id, a checkpoint, or a config that names it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Before {
    Id(String),
    Config { configurable: Named },
    Checkpoint(Named),
}

impl Before {
    fn id(&self) -> Option<&str> {
        match self {
            Self::Id(id) => Some(id),
            Self::Config { configurable: named } | Self::Checkpoint(named) => {
                named.checkpoint_id.as_deref()
            }
        }
    }
}

async fn asked(
    State(server): State<Service>,
    signed: Signed,
    Path(thread): Path<String>,
    Body(asked): Body<Asked>,
) -> Result<Json<Vec<Value>>, Problem> {
    signed.needs(Role::Read)?;
    history(&server.known(&signed, &thread).await?, asked).await.map(Json)
}

async fn queried(
    State(server): State<Service>,
    signed: Signed,
    Path(thread): Path<String>,
    params: Params,
) -> Result<Json<Vec<Value>>, Problem> {
    signed.needs(Role::Read)?;
    let before = params.text("before").map(|text| {
        // A checkpoint may come as JSON.
        serde_json::from_str(text).unwrap_or_else(|_| Before::Id(text.to_owned()))
    });
    let asked = Asked { limit: params.number("limit")?, before, ..Asked::default() };
    history(&server.known(&signed, &thread).await?, asked).await.map(Json)
}

async fn history(known: &Known, asked: Asked) -> Result<Vec<Value>, Problem> {
    let limit = PageOf::new(asked.limit, None, 1)?.limit;
    let checkpoint = asked.checkpoint.unwrap_or_default();
    let wants = Wants {
        path: checkpoint.path()?,
        select: asked.select.unwrap_or_default(),
        ..Wants::default()
    };
    let before = asked.before.as_ref().and_then(Before::id);
    let named = checkpoint.checkpoint_id.as_deref();
    let Some(of) = &known.graph else {
        return if before.or(named).is_some() { Err(no_checkpoint()) } else { Ok(Vec::new()) };
    };
    let steps = match named {
        Some(id) => vec![of.find(id, &wants.path).await?],
        None => {
            let before = before.map(|id| of.read(id)).transpose()?;
            let part = asked.metadata.unwrap_or_default();
            let fits = |step: &Step| holds(&known.metadata(of, step), &part);
            newest(of, before, &wants, limit, fits).await?
        }
    };
    let current = of.current().await?.map(|step| step.id).filter(|_| wants.path.is_root());
    known.states(of, &steps, current, &wants).await
}

/// The newest steps before `before` that fit.
async fn newest(
    of: &OfGraph,
    mut before: Option<CheckpointId>,
    wants: &Wants,
    limit: usize,
    fits: impl Fn(&Step) -> bool,
) -> Result<Vec<Step>, Problem> {
    let mut all = Vec::new();
    while all.len() < limit {
        let steps = of.steps(before, &wants.path, limit).await?;
        let Some(last) = steps.last() else { break };
        before = Some(last.id);
        all.extend(steps.into_iter().filter(&fits));
    }
    all.truncate(limit);
    Ok(all)
}
