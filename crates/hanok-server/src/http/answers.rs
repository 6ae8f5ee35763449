//! What every answer has: an id of its request, and a line in the log.

use axum::{
    Json,
    extract::{Request, State},
    http::HeaderValue,
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{problem::Problem, service::Service};
use crate::doors;

/// Gives an answer the id of its request, and writes a line.
pub(crate) async fn answer(
    State(server): State<Service>,
    request: Request,
    next: Next,
) -> Response {
    let runtime = server.runs.runtime();
    let (id, began) = (format!("{:032x}", runtime.ids.id()), runtime.clock.monotonic());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let body = match doors::openai::is_own(&path) {
            true => doors::openai::error(&problem, &id),
            false => problem.body(&id),
        };
        let (parts, _) = response.into_parts();
        let mut headers = parts.headers;
        headers.remove("content-length");
        headers.remove("content-type");
        response = (parts.status, headers, Json(body)).into_response();
    }
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("x-request-id", value);
    }
    let status = response.status().as_u16();
    let millis = runtime.clock.monotonic().saturating_sub(began).as_millis();
    tracing::info!(target: "hanok_server::request", %method, path, status, millis, request_id = id);
    response
}
