//! An error as an answer.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
};
use hanok_core::Chain;
use hanok_graph::RunError;
use serde_json::{Map, Value, json};

use super::{auth::Role, result::shown};
use crate::{
    error::ServeError,
    rows::run::{RunRow, RunStatus},
};

/// The seconds after which what is busy may be tried again.
const AGAIN: HeaderValue = HeaderValue::from_static("1");

/// An error as a client sees it: its status, its code, and words that say nothing from inside.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The status.
    pub status: StatusCode,
    /// What was wrong.
    pub detail: Value,
    /// The code, which the guide of errors lists.
    pub code: &'static str,
    /// Further members of the body, such as the open `requests` of a thread.
    pub more: Map<String, Value>,
}

impl Problem {
    /// The codes of answers that no [`ServeError`] stands behind, each with its status.
    pub const CODES: &'static [(&'static str, u16)] = &[
        ("HNK-410", 422),
        ("HNK-411", 401),
        ("HNK-412", 403),
        ("HNK-413", 403),
        ("HNK-414", 501),
        ("HNK-415", 404),
        ("HNK-416", 413),
        ("HNK-417", 415),
        ("HNK-418", 400),
        ("HNK-419", 500),
        ("HNK-420", 504),
        ("HNK-421", 409),
        ("HNK-423", 429),
        ("HNK-424", 408),
        ("HNK-430", 400),
        ("HNK-431", 400),
        ("HNK-440", 400),
        ("HNK-441", 503),
    ];

    /// An error of the protocol.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<Value>) -> Self {
        Self { status, detail: detail.into(), code, more: Map::new() }
    }

    /// Adds a member to the body.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }

    /// The request is not understood.
    pub(crate) fn unprocessable(detail: impl Into<Value>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "HNK-410", detail)
    }

    pub(crate) fn unsigned() -> Self {
        let detail = "send a token: `x-api-key: TOKEN`, or `Authorization: Bearer TOKEN`";
        Self::new(StatusCode::UNAUTHORIZED, "HNK-411", detail)
    }

    pub(crate) fn forbidden(role: Role) -> Self {
        let detail = format!("this token may not do that: it lacks the role {role:?}");
        Self::new(StatusCode::FORBIDDEN, "HNK-412", detail.to_lowercase())
    }

    pub(crate) fn foreign(what: &str) -> Self {
        let detail = format!("{what} is not one that this server is for");
        Self::new(StatusCode::FORBIDDEN, "HNK-413", detail)
    }

    pub(crate) fn no_thread() -> Self {
        Self::new(StatusCode::NOT_FOUND, "HNK-221", "there is no such thread")
    }

    pub(crate) fn not_served(what: &str) -> Self {
        let detail = format!("{what} is not served here");
        Self::new(StatusCode::NOT_IMPLEMENTED, "HNK-414", detail)
    }

    pub(crate) fn no_way() -> Self {
        Self::new(StatusCode::NOT_FOUND, "HNK-415", "there is nothing at this path")
    }

    /// The error of a run that did not go well.
    pub(crate) fn of_run(row: &RunRow) -> Self {
        let (status, code) = match row.status {
            RunStatus::Timeout => (StatusCode::GATEWAY_TIMEOUT, "HNK-420"),
            RunStatus::Interrupted => (StatusCode::CONFLICT, "HNK-421"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "HNK-419"),
        };
        let end = row.end.as_ref();
        let own = end.and_then(|end| ServeError::of_code(end.code.as_deref()?));
        let own = own.and_then(|(code, own)| Some((StatusCode::from_u16(own).ok()?, code)));
        let (status, code) = own.unwrap_or((status, code));
        let detail = match (row.status, end) {
            // What went wrong in a graph is for its operator.
            (_, Some(end)) if status.is_client_error() && !end.detail.is_empty() => {
                end.detail.clone()
            }
            (RunStatus::Timeout, _) => "the run has used up its time".to_owned(),
            (RunStatus::Interrupted, _) => "the run was stopped".to_owned(),
            _ => "the run failed".to_owned(),
        };
        Self::new(status, code, detail)
    }

    /// The body of the answer.
    pub(crate) fn body(&self, request: &str) -> Value {
        let mut body = self.more.clone();
        body.insert("detail".into(), self.detail.clone());
        body.insert("code".into(), self.code.into());
        body.insert("request_id".into(), request.into());
        Value::Object(body)
    }
}

impl From<ServeError> for Problem {
    fn from(error: ServeError) -> Self {
        let status = StatusCode::from_u16(error.status()).unwrap_or_default();
        let detail = match status.is_server_error() {
            false => Chain(&error).to_string(),
            true => {
                tracing::error!(error = %Chain(&error), code = error.code(), "a request failed");
                match status {
                    StatusCode::SERVICE_UNAVAILABLE => "try again later".to_owned(),
                    _ => "something went wrong inside".to_owned(),
                }
            }
        };
        let problem = Self::new(status, error.code(), detail);
        let ServeError::Run(refused) = &error else { return problem };
        match &**refused {
            RunError::Ambiguous { requests } => {
                problem.with("requests", requests.iter().map(shown).collect::<Value>())
            }
            RunError::WrongAnswer { faults, .. } => problem
                .with("faults", faults.iter().map(|fault| by_field(fault)).collect::<Value>()),
            _ => problem,
        }
    }
}

/// A fault of an answer with the field that it is in, as a JSON pointer: empty for the whole answer.
fn by_field(fault: &str) -> Value {
    let placed = fault.strip_prefix("at `").and_then(|fault| fault.split_once("`: "));
    let (field, message) = placed.unwrap_or(("", fault));
    json!({"field": field, "message": message})
}

/// Whatever fails as an engine's or a store's call does.
macro_rules! from {
    ($($error:ty),*) => {$(
        impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                ServeError::from(error).into()
            }
        }
    )*};
}

from!(hanok_graph::RunError, hanok_checkpoint::StoreError, hanok_checkpoint::CheckpointError);
from!(hanok_core::InvalidName);

/// A value that has no stored form.
impl From<hanok_core::StoredError> for Problem {
    fn from(error: hanok_core::StoredError) -> Self {
        ServeError::NoJson(error.to_string()).into()
    }
}

/// The answer without the request's id; the server's own layer writes it again with that.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body(""))).into_response();
        if matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            response.headers_mut().insert(RETRY_AFTER, AGAIN);
        }
        response.extensions_mut().insert(self);
        response
    }
}
