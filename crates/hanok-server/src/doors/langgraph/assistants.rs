//! Assistants: one for each graph that is served. Nobody makes or changes any.

use axum::{
    Json, Router,
    extract::{Path, State},
    response::Response,
    routing::{any, get, post},
};
use hanok_core::Timestamp;
use hanok_graph::{AnyApp, GraphStructure};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    ids::{assistant_id, moment},
    listing::{PageOf, ascends, check_names, holds, paged, select, with},
    params::Params,
};
use crate::http::{
    auth::{Role, Signed},
    problem::Problem,
    service::{Body, Service},
};

const MEMBERS: &[&str] = &[
    "assistant_id",
    "graph_id",
    "config",
    "context",
    "metadata",
    "name",
    "created_at",
    "updated_at",
    "version",
    "description",
];
const SORTS: &[&str] = &["assistant_id", "graph_id", "name", "created_at", "updated_at"];

pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route("/ok", get(ok))
        .route("/info", get(info))
        .route("/assistants", any(fixed))
        .route("/assistants/search", post(search))
        .route("/assistants/count", post(count))
        .route("/assistants/{assistant}", get(one).patch(fixed).delete(fixed))
        .route("/assistants/{assistant}/latest", any(fixed))
        .route("/assistants/{assistant}/versions", post(versions))
        .route("/assistants/{assistant}/graph", get(graph))
        .route("/assistants/{assistant}/schemas", get(schemas))
        .route("/assistants/{assistant}/subgraphs", get(subgraphs))
        .route("/assistants/{assistant}/subgraphs/{node}", get(subgraphs_at))
        .route("/runs/batch", any(no_batch))
        .route("/runs/crons", any(no_crons))
        .route("/runs/crons/{*rest}", any(no_crons))
        .route("/threads/{thread}/runs/crons", any(no_crons))
}

async fn ok() -> Json<Value> {
    Json(json!({"ok": true}))
}

async fn info() -> Json<Value> {
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "flags": {"assistants": true, "crons": false, "langsmith": false},
        "host": {"kind": "self-hosted"},
    }))
}

async fn fixed(_: Signed) -> Problem {
    Problem::not_served("making or changing assistants (there is one for each graph)")
}

async fn no_batch(_: Signed) -> Problem {
    Problem::not_served("a batch of runs (post them one by one)")
}

async fn no_crons(_: Signed) -> Problem {
    Problem::not_served("a cron (let a scheduler post its runs)")
}

/// A graph as an assistant.
fn shown(graph: &str) -> Value {
    let made = moment(Timestamp(0));
    json!({
        "assistant_id": assistant_id(graph), "graph_id": graph, "name": graph,
        "config": {}, "context": {}, "metadata": {"created_by": "system"},
        "created_at": made, "updated_at": made, "version": 1, "description": null,
    })
}

impl Service {
    /// The app of an assistant that a caller reads.
    fn assistant(&self, signed: &Signed, name: &str) -> Result<&dyn AnyApp, Problem> {
        signed.needs(Role::Read)?;
        Ok(&**self.app(self.graph_of(name)?)?)
    }
}

async fn one(
    State(server): State<Service>,
    signed: Signed,
    Path(name): Path<String>,
) -> Result<Json<Value>, Problem> {
    signed.needs(Role::Read)?;
    Ok(Json(shown(server.graph_of(&name)?)))
}

/// Which assistants are asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked {
    limit: Option<usize>,
    offset: Option<usize>,
    metadata: Option<Map<String, Value>>,
    graph_id: Option<String>,
    name: Option<String>,
    sort_by: Option<String>,
    sort_order: Option<String>,
    select: Option<Vec<String>>,
}

impl Asked {
    fn found(&self, server: &Service) -> Vec<Value> {
        let all = server.runs.apps().0.keys().map(|graph| shown(graph));
        all.filter(|one| self.fits(one)).collect()
    }

    fn fits(&self, one: &Value) -> bool {
        let name = |key: &str| one[key].as_str().unwrap_or_default();
        let metadata = one["metadata"].as_object();
        self.graph_id.as_deref().is_none_or(|graph| graph == name("graph_id"))
            && self
                .name
                .as_deref()
                .is_none_or(|part| name("name").to_lowercase().contains(&part.to_lowercase()))
            && self
                .metadata
                .as_ref()
                .is_none_or(|part| metadata.is_some_and(|all| holds(all, part)))
    }
}

async fn search(
    State(server): State<Service>,
    signed: Signed,
    Body(asked): Body<Asked>,
) -> Result<Response, Problem> {
    signed.needs(Role::Read)?;
    let page = PageOf::new(asked.limit, asked.offset, 10)?;
    let mut found = asked.found(&server);
    let by = asked.sort_by.clone().unwrap_or_else(|| "created_at".to_owned());
    check_names("sort_by", std::slice::from_ref(&by), SORTS)?;
    found.sort_by(|a, b| a[&by].as_str().cmp(&b[&by].as_str()));
    if !ascends(asked.sort_order.as_deref())? {
        found.reverse();
    }
    found.truncate(page.enough());
    let (mut found, headers) = page.of(found);
    if let Some(names) = &asked.select {
        check_names("select", names, MEMBERS)?;
        found.iter_mut().for_each(|one| select(one, names));
    }
    Ok(paged(found, headers))
}

async fn count(
    State(server): State<Service>,
    signed: Signed,
    Body(asked): Body<Asked>,
) -> Result<Json<usize>, Problem> {
    signed.needs(Role::Read)?;
    Ok(Json(asked.found(&server).len()))
}

/// The only version of an assistant.
async fn versions(
    State(server): State<Service>,
    signed: Signed,
    Path(name): Path<String>,
    Body(asked): Body<Asked>,
) -> Result<Json<Vec<Value>>, Problem> {
    signed.needs(Role::Read)?;
    let page = PageOf::new(asked.limit, asked.offset, 10)?;
    let version = shown(server.graph_of(&name)?);
    let all = Vec::from_iter(asked.fits(&version).then_some(version));
    Ok(Json(page.of(all).0))
}

async fn graph(
    State(server): State<Service>,
    signed: Signed,
    Path(name): Path<String>,
    params: Params,
) -> Result<Json<Value>, Problem> {
    let structure = server.assistant(&signed, &name)?.structure();
    match params.text("xray") {
        None | Some("true" | "false") => {}
        Some(depth) if depth.parse::<u32>().is_ok_and(|depth| depth > 0) => {}
        Some(_) => return Err(Problem::unprocessable("`xray` is a boolean or a number from 1 on")),
    }
    Ok(Json(drawn(&structure)))
}

/// The nodes and edges of a graph. The inside of a subgraph is not shown.
fn drawn(structure: &GraphStructure) -> Value {
    let end = |name: &str| match name {
        "START" => "__start__".to_owned(),
        "END" => "__end__".to_owned(),
        name => name.to_owned(),
    };
    let node = |name: &str| json!({"id": name, "type": "runnable", "data": {"name": name}});
    let mut nodes = vec![node("__start__")];
    nodes.extend(structure.nodes.iter().map(|it| node(&it.name)));
    nodes.push(json!({"id": "__end__"}));
    let edges = structure.edges.iter().map(|edge| {
        let drawn = json!({"source": end(&edge.from), "target": end(&edge.to)});
        if edge.conditional { with(drawn, "conditional", true.into()) } else { drawn }
    });
    json!({"nodes": nodes, "edges": edges.collect::<Vec<_>>()})
}

async fn schemas(
    State(server): State<Service>,
    signed: Signed,
    Path(name): Path<String>,
) -> Result<Json<Value>, Problem> {
    let app = server.assistant(&signed, &name)?;
    let known = app.schemas();
    let state = known.output.clone().unwrap_or_else(|| json!({}));
    Ok(Json(json!({
        "graph_id": server.graph_of(&name)?,
        "input_schema": known.input, "output_schema": known.output, "state_schema": state,
        "config_schema": {}, "context_schema": {},
    })))
}

async fn subgraphs(
    State(server): State<Service>,
    signed: Signed,
    Path(name): Path<String>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(inner(server.assistant(&signed, &name)?, None)))
}

async fn subgraphs_at(
    State(server): State<Service>,
    signed: Signed,
    Path((name, node)): Path<(String, String)>,
) -> Result<Json<Value>, Problem> {
    Ok(Json(inner(server.assistant(&signed, &name)?, Some(&node))))
}

/// The nodes that are graphs, or the one that is asked for. Their schemas are not known.
fn inner(app: &dyn AnyApp, only: Option<&str>) -> Value {
    let nodes = app.structure().nodes.into_iter().filter(|node| node.is_graph);
    let nodes = nodes.filter(|node| only.is_none_or(|only| node.name == only));
    let schemas = json!({
        "input_schema": null, "output_schema": null, "state_schema": {},
        "config_schema": {}, "context_schema": {},
    });
    Value::Object(nodes.map(|node| (node.name, schemas.clone())).collect())
}
