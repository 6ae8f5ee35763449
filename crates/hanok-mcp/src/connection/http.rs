//! MCP over streamable HTTP: bodies and events bounded, redirects refused.

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures::StreamExt;
use hanok_core::Chain;
use http::{HeaderName, HeaderValue};
use reqwest::Url;
use rmcp::{
    model::ClientJsonRpcMessage,
    transport::{
        StreamableHttpClientTransport,
        common::client_side_sse::{BoxedSseResponse, SseRetryPolicy},
        streamable_http_client::{
            SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
            StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
        },
    },
};

use super::{
    answer::message,
    leaving::Leaving,
    tls::{self, Redirect},
    wire::{Breach, LONGEST, Wire},
};
use crate::{
    authorization::Authorization, config::HttpConfig, depth::is_too_deep, error::ServerError,
};

type HttpError = StreamableHttpError<reqwest::Error>;

/// Nothing is asked again by itself.
#[derive(Debug)]
struct NoRetry;

impl SseRetryPolicy for NoRetry {
    fn retry(&self, _: usize) -> Option<Duration> {
        None
    }
}

/// A client of rmcp's that holds a server to the limits.
#[derive(Debug, Clone)]
pub(super) struct BoundedHttp<C> {
    http: C,
    wire: Arc<Wire>,
    authorization: Option<Arc<Authorization>>,
}

/// A client of rmcp's, by reqwest.
pub(super) trait Client: StreamableHttpClient<Error = reqwest::Error> + Sync {}

impl<C: StreamableHttpClient<Error = reqwest::Error> + Sync> Client for C {}

/// The client for the server of `config`.
pub(crate) fn client(config: &HttpConfig) -> Result<reqwest::Client, ServerError> {
    let url = Url::parse(config.url.expose()).map_err(|error| ServerError::NoHttp(error.into()))?;
    tls::client(&url).map_err(ServerError::NoHttp)
}

/// The transport to the server of `config` by `http`, which has `authorization` if that is one.
pub(super) fn transport<C: Client>(
    config: &HttpConfig,
    http: C,
    authorization: Option<Arc<Authorization>>,
    wire: Arc<Wire>,
) -> Result<StreamableHttpClientTransport<BoundedHttp<C>>, ServerError> {
    let mut headers = HashMap::new();
    for (name, value) in &config.headers {
        let header = HeaderName::try_from(name).map_err(|error| ServerError::NoHttp(error.into()));
        let value = HeaderValue::try_from(value.expose());
        let mut value = value.map_err(|error| ServerError::NoHttp(error.into()))?;
        value.set_sensitive(true);
        headers.insert(header?, value);
    }
    let mut settings = StreamableHttpClientTransportConfig::with_uri(config.url.expose().as_str());
    settings.custom_headers = headers;
    settings.max_sse_event_size = LONGEST;
    settings.max_json_response_size = LONGEST;
    // Whether something may be sent again is judged by whoever knows what it does.
    settings.retry_config = Arc::new(NoRetry);
    settings.reinit_on_expired_session = false;
    Ok(StreamableHttpClientTransport::with_client(
        BoundedHttp { http, wire, authorization },
        settings,
    ))
}

impl<C> BoundedHttp<C> {
    fn unauthorized(&self, challenge: &str) {
        if let Some(authorization) = &self.authorization {
            authorization.challenged(challenge);
        }
        self.wire.breached(Breach::Unauthorized);
    }

    /// Counts and judges each event of a stream. The first one past a limit is its last.
    fn bounded(&self, events: BoxedSseResponse) -> BoxedSseResponse {
        let wire = self.wire.clone();
        let judged = events.map(move |event| {
            let mut event = event.inspect_err(|error| {
                if error.to_string().contains("exceeded the maximum size") {
                    wire.breached(Breach::TooLong);
                }
            })?;
            let redacted = event.data.as_deref().and_then(|data| redacted(&wire, data));
            event.data = redacted.or_else(|| event.data.take());
            let data = event.data.as_deref().unwrap_or_default();
            let kept = match is_too_deep(data.as_bytes()) {
                true => Err(Breach::TooDeep),
                // What is no message is dropped further up.
                false => message(data.as_bytes()).map_or(Ok(()), |message| wire.received(&message)),
            };
            match kept {
                Ok(()) => Ok(event),
                Err(breach) => {
                    wire.breached(breach.clone());
                    Err(SseError::Body(Box::new(ServerError::from(breach))))
                }
            }
        });
        judged.boxed()
    }

    /// Notes what an error says of the server and of whether it took `message`.
    fn judge(&self, error: &HttpError, message: Option<&ClientJsonRpcMessage>) {
        // This first: whoever waits for the call hears of a breach at once.
        let not_taken = match error {
            StreamableHttpError::Client(error) => {
                error.is_connect() || error.is_builder() || redirect(error).is_some()
            }
            StreamableHttpError::HttpStatus(status) => status.status == 429,
            StreamableHttpError::SessionExpired
            | StreamableHttpError::AuthRequired(_)
            | StreamableHttpError::InsufficientScope(_)
            | StreamableHttpError::ReservedHeaderConflict(_) => true,
            StreamableHttpError::UnexpectedServerResponse(text) => is_unauthorized(text),
            // No token was to be had, or it was refused.
            #[cfg(feature = "oauth")]
            StreamableHttpError::Auth(_) => true,
            _ => false,
        };
        if let Some(message) = message.filter(|_| not_taken) {
            self.wire.returns(message);
        }
        match error {
            StreamableHttpError::ResponseBodyTooLarge { .. } => self.wire.breached(Breach::TooLong),
            StreamableHttpError::AuthRequired(required) => {
                self.unauthorized(&required.www_authenticate_header);
            }
            StreamableHttpError::InsufficientScope(scope) => {
                self.unauthorized(&scope.www_authenticate_header);
            }
            #[cfg(feature = "oauth")]
            StreamableHttpError::Auth(error) => {
                self.wire.fails(Chain(error).to_string());
            }
            StreamableHttpError::UnexpectedServerResponse(text) if is_unauthorized(text) => {
                self.unauthorized("");
            }
            StreamableHttpError::UnexpectedServerResponse(text)
                if text.contains("recursion limit exceeded") =>
            {
                self.wire.breached(Breach::TooDeep);
            }
            StreamableHttpError::Client(error) => {
                self.wire.fails(Chain(error).to_string());
                if let Some(redirect) = redirect(error) {
                    let to = self.wire.redact.text(&redirect.to);
                    self.wire.breached(Breach::Redirected { to });
                }
            }
            _ => {}
        }
    }
}

/// The data of an event without what is cut out of it; `None` where that is nothing.
fn redacted(wire: &Wire, data: &str) -> Option<String> {
    let redacted = wire.redact.message(data.as_bytes())?;
    String::from_utf8(redacted).ok()
}

/// True for an answer by which a server wants to know who asks, and does not say how.
fn is_unauthorized(text: &str) -> bool {
    text.starts_with("HTTP 401") || text.starts_with("HTTP 403")
}

/// The error without the address, which may hold a key.
fn without_url(error: HttpError) -> HttpError {
    match error {
        StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
        error => error,
    }
}

/// The redirect that an error is about.
fn redirect(error: &reqwest::Error) -> Option<&Redirect> {
    let mut next = std::error::Error::source(error);
    while let Some(error) = next {
        if let Some(redirect) = error.downcast_ref() {
            return Some(redirect);
        }
        next = error.source();
    }
    None
}

impl<C: Client> StreamableHttpClient for BoundedHttp<C> {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let mut limits = StreamableHttpResponseLimits::default();
        limits.max_json_response_size = LONGEST;
        limits.max_sse_event_size = LONGEST;
        self.post_message_with_response_limits(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            limits,
        )
        .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let message = self.wire.outgoing(message);
        self.wire.leaves(Leaving::of(&message));
        let answer = self
            .http
            .post_message_with_response_limits(
                uri,
                message.clone(),
                session_id,
                auth_header,
                custom_headers,
                limits,
            )
            .await
            .map_err(without_url)
            .inspect_err(|error| self.judge(error, Some(&message)))?;
        match answer {
            StreamableHttpPostResponse::Json(answer, session) => {
                let text = serde_json::to_vec(&answer)?;
                let answer = match self.wire.redact.message(&text) {
                    Some(redacted) => serde_json::from_slice(&redacted)?,
                    None => answer,
                };
                let kept = match is_too_deep(&text) {
                    true => Err(Breach::TooDeep),
                    false => self.wire.received(&answer),
                };
                kept.map_err(|breach| {
                    self.wire.breached(breach);
                    StreamableHttpError::UnexpectedServerResponse("past a limit".into())
                })?;
                Ok(StreamableHttpPostResponse::Json(answer, session))
            }
            StreamableHttpPostResponse::Sse(events, session) => {
                Ok(StreamableHttpPostResponse::Sse(self.bounded(events), session))
            }
            other => Ok(other),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        self.http.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxedSseResponse, HttpError> {
        self.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            LONGEST,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max_sse_event_size: usize,
    ) -> Result<BoxedSseResponse, HttpError> {
        let events = self
            .http
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                max_sse_event_size,
            )
            .await
            .map_err(without_url)
            .inspect_err(|error| self.judge(error, None))?;
        Ok(self.bounded(events))
    }
}
