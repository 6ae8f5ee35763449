//! Requests over HTTP: bounded, and with typed failures.

use std::{fmt, time::Duration};

use hanok_core::Call;
use hanok_model::{ModelError, Wait};
use reqwest::{
    Response,
    header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER},
};
use serde_json::Value;

use crate::{
    refusal::{Asked, Said},
    retry::{Retries, retry_after},
    server::{Api, Server},
    wait::{bounded, within},
};

/// The most bytes of a refusal that are read.
const LONGEST_REFUSAL: u64 = 64 * 1024;

/// How long the body of a refusal is waited for.
const REFUSAL: Duration = Duration::from_secs(3);

/// One server and how it is asked.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) server: Server,
    pub(crate) connect: Duration,
    pub(crate) silence: Duration,
    pub(crate) total: Duration,
    pub(crate) max_body: u64,
    pub(crate) retries: Retries,
}

/// Why a request has no response.
pub(crate) enum Failure {
    /// The server refused it.
    Refused { said: Said, retry_after: Option<Duration> },
    /// There is no telling what the server thinks.
    Lost(ModelError),
}

/// A failed attempt, and whether another one is allowed.
pub(crate) struct Tried {
    pub(crate) error: ModelError,
    pub(crate) again: bool,
}

impl From<ModelError> for Tried {
    fn from(error: ModelError) -> Self {
        Self { error, again: true }
    }
}

impl Client {
    /// Makes `attempt` until it succeeds, or another one is not allowed or would not help; within the time of `call`.
    pub(crate) async fn retried<T, F>(
        &self,
        call: &Call,
        attempt: impl Fn() -> F,
    ) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, Tried>>,
    {
        let begun = call.clock().now();
        bounded(call, self.total, async {
            let mut failed = 0;
            loop {
                let Tried { error, again } = match attempt().await {
                    Ok(given) => return Ok(given),
                    Err(tried) => tried,
                };
                failed += 1;
                let left = self.total.saturating_sub(call.clock().now().since(begun));
                let left = call.time_left().map_or(left, |own| own.min(left));
                match self.retries.wait(failed, &error, Some(left)).filter(|_| again) {
                    Some(wait) => call.clock().sleep(wait).await,
                    None => return Err(error),
                }
            }
        })
        .await
    }

    /// The names of the server's models, sorted.
    pub(crate) async fn models(&self, call: &Call) -> Result<Vec<String>, ModelError> {
        self.retried(call, async || {
            let response =
                self.send(Api::Models, None, call).await.map_err(|f| self.error(f, ""))?;
            let value = self.json(response, "", call).await?;
            let entries = value.get("data").and_then(Value::as_array);
            let Some(entries) = entries else {
                return Err(protocol("a list of models without `data`").into());
            };
            let ids = entries.iter().filter_map(|entry| entry.get("id").and_then(Value::as_str));
            let mut ids: Vec<_> = ids.map(|id| self.server.redact.text(id)).collect();
            ids.sort();
            ids.dedup();
            Ok(ids)
        })
        .await
    }

    /// Sends `body` to `api`, or asks for it where there is none, and waits for the head of the response.
    pub(crate) async fn send(
        &self,
        api: Api,
        body: Option<&Value>,
        call: &Call,
    ) -> Result<Response, Failure> {
        let address = self.server.address(api).clone();
        let request = match body {
            Some(body) => self
                .http
                .post(address)
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string()),
            None => self.http.get(address),
        };
        let request = request.headers(self.server.headers.clone());
        let after = self.silence;
        let late = ModelError::TimedOut { what: Wait::FirstToken, after };
        let head = async { request.send().await.map_err(|error| self.lost(error, 0)) };
        let response = within(call, after, late, head).await.map_err(Failure::Lost)?;
        let status = response.status().as_u16();
        if response.status().is_success() {
            return Ok(response);
        }
        let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = after.and_then(|value| retry_after(value, call.clock().now()));
        let body = self.start(response, call).await;
        let said = Said::from_body(status, &body, &self.server.redact);
        Err(Failure::Refused { said, retry_after })
    }

    /// The failure as an error, when `model` was asked for.
    pub(crate) fn error(&self, failure: Failure, model: &str) -> ModelError {
        match failure {
            Failure::Lost(error) => error,
            Failure::Refused { said, retry_after } => {
                said.into_error(Asked { model, key_given: self.server.key_given, retry_after })
            }
        }
    }

    /// The JSON of a response, in which a server may still refuse. A server that is silent within it is not waited for.
    pub(crate) async fn json(
        &self,
        mut response: Response,
        model: &str,
        call: &Call,
    ) -> Result<Value, ModelError> {
        if response.content_length().is_some_and(|length| length > self.max_body) {
            return Err(ModelError::TooLarge { limit: self.max_body });
        }
        let html = names(response.headers(), "html");
        let mut body = Vec::new();
        loop {
            let after = self.silence;
            let what = if body.is_empty() { Wait::FirstToken } else { Wait::NextToken };
            let late = ModelError::TimedOut { what, after };
            let chunk = self.chunk(&mut response, length(&body));
            match within(call, after, late, chunk).await? {
                Some(bytes) => body.extend_from_slice(bytes.as_ref()),
                None => break,
            }
        }
        let text = match std::str::from_utf8(&body) {
            Ok(text) => text.trim_start_matches('\u{feff}').trim(),
            Err(error) => return Err(protocol(&format!("invalid UTF-8, {error}"))),
        };
        if text.is_empty() {
            return Err(protocol("an empty answer"));
        }
        if html || text.starts_with('<') {
            return Err(protocol("an HTML page"));
        }
        self.value(text, model)
    }

    /// `text` as JSON, in which a server may still refuse.
    pub(crate) fn value(&self, text: &str, model: &str) -> Result<Value, ModelError> {
        // serde_json's own words may hold a part of the text.
        let value: Value = serde_json::from_str(text).map_err(|error| {
            protocol(&format!("no JSON from line {}, column {}", error.line(), error.column()))
        })?;
        let refused = value.get("error").is_some_and(|error| !error.is_null())
            || value.get("object").is_some_and(|object| object == "error");
        if refused {
            let said = Said::from_json(200, &value, &self.server.redact);
            return Err(self.error(Failure::Refused { said, retry_after: None }, model));
        }
        Ok(value)
    }

    /// `text` as the words of a server that failed.
    pub(crate) fn words(&self, text: &str) -> Said {
        Said::from_text(500, text, &self.server.redact)
    }

    /// The next bytes of a response of which `received` are there already.
    pub(crate) async fn chunk(
        &self,
        response: &mut Response,
        received: u64,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, ModelError> {
        let chunk = response.chunk().await.map_err(|error| self.lost(error, received))?;
        match &chunk {
            Some(bytes) if received.saturating_add(length(bytes)) > self.max_body => {
                Err(ModelError::TooLarge { limit: self.max_body })
            }
            _ => Ok(chunk),
        }
    }

    /// The beginning of a refusal. What is lost of it does not change what it is.
    async fn start(&self, mut response: Response, call: &Call) -> Vec<u8> {
        let mut body = Vec::new();
        let reading = async {
            while let Ok(Some(bytes)) = response.chunk().await {
                body.extend_from_slice(&bytes);
                if length(&body) >= LONGEST_REFUSAL {
                    break;
                }
            }
            Ok(())
        };
        match within(call, REFUSAL, ModelError::Cancelled, reading).await {
            Ok(()) | Err(_) => body,
        }
    }

    fn lost(&self, error: reqwest::Error, received: u64) -> ModelError {
        let error = error.without_url();
        if error.is_builder() {
            return ModelError::Other(error.into());
        }
        if error.is_connect() && error.is_timeout() {
            return ModelError::TimedOut { what: Wait::Connect, after: self.connect };
        }
        let (server, source) = (self.server.shown.clone(), Some(error));
        match source {
            Some(error) if error.is_connect() => {
                ModelError::Unreachable { server, source: Some(error.into()) }
            }
            source => ModelError::BrokenStream { received, source: source.map(Into::into) },
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.server)
            .field("connect", &self.connect)
            .field("silence", &self.silence)
            .field("total", &self.total)
            .field("max_body", &self.max_body)
            .field("retries", &self.retries)
            .finish_non_exhaustive()
    }
}

/// Whether the content type of a response holds `word`; `false` when it has none.
pub(crate) fn names(headers: &HeaderMap, word: &str) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.to_ascii_lowercase().contains(word))
}

pub(crate) fn protocol(what: &str) -> ModelError {
    ModelError::Protocol { what: what.to_owned(), source: None }
}

pub(crate) fn length(bytes: impl AsRef<[u8]>) -> u64 {
    u64::try_from(bytes.as_ref().len()).unwrap_or(u64::MAX)
}
