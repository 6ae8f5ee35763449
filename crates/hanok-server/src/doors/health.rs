//! Whether the server lives, and whether it takes requests.

use axum::http::StatusCode;
use axum::{Json, Router, extract::State, routing::get};
use serde_json::{Value, json};

use crate::http::{problem::Problem, service::Service};

pub(crate) fn routes() -> Router<Service> {
    Router::new().route("/health", get(health)).route("/ready", get(ready))
}

/// It lives. No store is asked.
async fn health() -> Json<Value> {
    Json(json!({"ok": true}))
}

/// It takes requests: its store answers, and it is not about to end.
async fn ready(State(server): State<Service>) -> Result<Json<Value>, Problem> {
    if server.draining.is_cancelled() {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return Err(Problem::new(status, "HNK-207", "the server is about to end"));
    }
    server.runs.rows().queues(None).await?;
    Ok(Json(json!({"ok": true})))
}
