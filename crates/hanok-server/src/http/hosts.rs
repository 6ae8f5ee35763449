//! The hosts that the server is for, and the pages that may ask it.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::problem::Problem;

/// What a page of an allowed origin may send and read.
const HEADERS: &str = "authorization, content-type, x-api-key, idempotency-key, last-event-id, x-thread-id, x-request-id, x-auth-scheme";
const METHODS: &str = "GET, POST, PUT, PATCH, DELETE";
const EXPOSED: &str =
    "content-location, location, x-pagination-total, x-pagination-next, x-request-id, retry-after";

/// The hosts by which the server is known, and the origins of pages that may ask it.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    pub(crate) hosts: Arc<[String]>,
    pub(crate) origins: Arc<[String]>,
}

impl Hosts {
    fn knows(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            // The port of an IPv6 address stands behind its bracket.
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// True for an origin that is listed, and for the server's own.
    fn admits(&self, origin: &str, host: &str) -> bool {
        let is_own = origin.split_once("://").is_some_and(|(_, at)| at.eq_ignore_ascii_case(host));
        is_own || self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin))
    }
}

/// Refuses requests for other hosts and from foreign pages, and answers what browsers ask before.
pub(crate) async fn guard(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| request.uri().authority().map(|at| at.as_str()));
    let Some(host) = host.filter(|host| hosts.knows(host)) else {
        return Problem::foreign("this host").into_response();
    };
    let origin = headers.get(header::ORIGIN).cloned();
    let Some(origin) = origin else { return next.run(request).await };
    if !origin.to_str().is_ok_and(|origin| hosts.admits(origin, host)) {
        return Problem::foreign("this origin").into_response();
    }
    let mut response = match *request.method() == Method::OPTIONS {
        true => StatusCode::NO_CONTENT.into_response(),
        false => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(HEADERS));
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    response
}
