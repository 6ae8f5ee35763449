//! What every way in is given: the runs, and the caller of a request.

use std::sync::Arc;

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request as HttpRequest},
    http::{HeaderMap, StatusCode, header, request::Parts},
};
use futures::FutureExt;
use hanok_core::{Cancellation, ThreadKey};
use hanok_graph::{AnyApp, AnyThread, Caller};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

use super::{
    auth::{Recogniser, Signed},
    limits::{BODY_TIME, Limits, check_depth},
    problem::Problem,
};
use crate::{
    error::ServeError,
    rows::{request::Request, thread::ThreadRow},
    runs::Runs,
};

/// The server, as its ways in see it.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    pub(crate) runs: Runs,
    pub(crate) recogniser: Recogniser,
    /// The graph of requests that name none.
    pub(crate) default_graph: Arc<str>,
    pub(crate) limits: Limits,
    /// True when the server is about to end.
    pub(crate) draining: Cancellation,
    /// A permit for each WebSocket.
    pub(crate) sockets: Arc<Semaphore>,
}

impl Service {
    /// The graph of this name.
    pub(crate) fn app(&self, graph: &str) -> Result<&Arc<dyn AnyApp>, ServeError> {
        self.runs.apps().get(graph)
    }

    /// The graph that ran last on a thread, if it is served.
    pub(crate) fn served_graph<'a>(&self, row: &'a ThreadRow) -> Option<&'a str> {
        row.graph().filter(|graph| self.app(graph).is_ok())
    }

    /// A name for a thread that nobody has named.
    pub(crate) fn new_name(&self) -> String {
        let drawn = self.runs.runtime().ids.id().to_be_bytes();
        uuid::Builder::from_random_bytes(drawn).into_uuid().to_string()
    }

    /// The idempotency key of a request.
    pub(crate) fn idempotency_key(&self, headers: &HeaderMap) -> Result<Option<String>, Problem> {
        let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
        match key.to_str() {
            Ok(key) if !key.is_empty() && key.len() <= 256 => Ok(Some(key.to_owned())),
            _ => Err(Problem::unprocessable("`Idempotency-Key` has 1 to 256 visible characters")),
        }
    }

    /// The thread `name` of a caller, behind the graph.
    pub(crate) fn thread(
        &self,
        signed: &Signed,
        graph: &str,
        name: &str,
    ) -> Result<Box<dyn AnyThread>, ServeError> {
        let caller = Caller::new(signed.tenant.clone()).principal(signed.principal.clone());
        Ok(self.app(graph)?.thread(&caller, name)?)
    }
}

impl Signed {
    /// The key of the caller's thread `name`.
    pub(crate) fn key(&self, name: &str) -> Result<ThreadKey, ServeError> {
        Ok(ThreadKey::new(self.tenant.clone(), name)?)
    }

    /// A request of this caller for a run of `graph`.
    pub(crate) fn request(&self, graph: &str, input: serde_json::Value) -> Request {
        Request { principal: Some(self.principal.clone()), ..Request::new(graph, input) }
    }
}

/// The caller of a request, by its token.
impl FromRequestParts<Service> for Signed {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Service) -> Result<Self, Problem> {
        let signed = state.recogniser.recognise(token(&parts.headers)).await;
        let signed = signed.ok_or_else(Problem::unsigned)?;
        state.limits.request(&signed)?;
        Ok(signed)
    }
}

/// The token of a request.
pub(crate) fn token(headers: &HeaderMap) -> Option<&str> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    text("x-api-key").or_else(|| {
        let (scheme, token) = text(header::AUTHORIZATION.as_str())?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    })
}

/// A body of JSON. An empty one is `null`.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Service> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: HttpRequest, state: &Service) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
        let is_json = kind
            .split(';')
            .next()
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
        let clock = state.runs.clock();
        let bytes = futures::select_biased! {
            bytes = Box::pin(Bytes::from_request(request, state)).fuse() => {
                bytes.map_err(|rejected| {
                    let status = rejected.status();
                    Problem::new(status, "HNK-416", rejected.body_text())
                })?
            }
            () = clock.sleep(BODY_TIME).fuse() => {
                let status = StatusCode::REQUEST_TIMEOUT;
                return Err(Problem::new(status, "HNK-424", "a body takes at most 30 seconds"));
            }
        };
        if bytes.is_empty() {
            let empty = serde_json::from_value(serde_json::Value::Null);
            return empty.map(Self).map_err(|error| Problem::unprocessable(error.to_string()));
        }
        if !is_json {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Problem::new(status, "HNK-417", "send `content-type: application/json`"));
        }
        check_depth(&bytes)?;
        let json: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| {
            Problem::new(StatusCode::BAD_REQUEST, "HNK-418", format!("this is no JSON: {error}"))
        })?;
        // The value first, so that what is no JSON and what is another shape are told apart.
        let read = serde_json::from_value(json);
        read.map(Self).map_err(|error| Problem::unprocessable(error.to_string()))
    }
}
