//! A connection that stands.

use std::{
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::future::{Either, join_all, select};
use hanok_core::{BoxError, Call, Chain, Clock};
#[expect(deprecated, reason = "servers log until the protocol has something else")]
use rmcp::model::{LoggingLevel, SetLevelRequestParams};
use rmcp::{
    ErrorData, Peer, RoleClient,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult,
        InputResponses, JsonObject, ProtocolVersion, RequestMetaObject, SubscriptionFilter, Task,
    },
    service::{
        ClientCacheConfig, ClientInitializeError, ClientLifecycleMode, ClientServiceExt,
        RunningService, ServiceError,
    },
};
use tokio::task::JoinHandle;

use super::{
    handler::Handler,
    http,
    identity::not_started,
    stderr::Stderr,
    stdio::StdioTransport,
    stream::StreamTransport,
    wire::{KEY, Wire},
};
use crate::{
    authorization::Authorization,
    config::{ServerConfig, Transport},
    elicitation::Prompter,
    error::ServerError,
    redact::Redact,
    text::line,
};

/// The key in `_meta` of a call under which the lowest level of its logs stands.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The time for which the rest of a program's standard error is waited for when it has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The beginning of a connection, as a server speaks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lifecycle {
    /// By `initialize`, as in the versions up to 2025-11-25.
    Initialize,
    /// By `server/discover`, as in 2026-07-28.
    Discover,
}

/// The longest that a connection stays open for what is still said to its server.
const FAREWELL: Duration = Duration::from_secs(2);

/// A connection that stands. It is closed when it is dropped.
#[derive(Debug)]
pub(crate) struct Live {
    service: RunningService<RoleClient, Handler>,
    wire: Arc<Wire>,
    stderr: Stderr,
    redact: Redact,
    listening: Option<JoinHandle<()>>,
    /// What is still said to the server though its call is over.
    farewells: Mutex<Vec<JoinHandle<()>>>,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) version: String,
}

/// The reason for which a call has no result.
#[derive(Debug)]
pub(crate) enum CallFailure {
    /// The server surely did not take it.
    NotTaken(ServerError),
    /// The server may have taken it; its answer is lost.
    Lost(ServerError),
    /// The server answered that it does not do it.
    Refused(ServerError),
}

/// The answer of a server to a call.
#[derive(Debug)]
pub(crate) enum Answered {
    /// Its result.
    Result(CallToolResult),
    /// Questions that are to be answered first.
    Asks(InputRequiredResult),
    /// A task that it has begun.
    Task(Task),
}

/// The answers to the questions of a server, with which its call is made once more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answers {
    pub(crate) responses: InputResponses,
    /// The server's own state, as it sent it.
    pub(crate) state: Option<String>,
}

impl Live {
    /// Connects to the server of `config`, which spoke `spoken` before, if that is known.
    pub(crate) async fn open(
        config: &ServerConfig,
        spoken: Option<Lifecycle>,
        prompter: &Prompter,
        authorization: Option<&Arc<Authorization>>,
    ) -> Result<Self, ServerError> {
        let discover = vec![ProtocolVersion::V_2026_07_28];
        let mode = match spoken {
            Some(Lifecycle::Initialize) => ClientLifecycleMode::Initialize,
            Some(Lifecycle::Discover) => {
                ClientLifecycleMode::Discover { preferred_versions: discover }
            }
            None => ClientLifecycleMode::Auto {
                preferred_versions: discover,
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
        };
        match Self::open_as(config, mode, prompter, authorization).await {
            // Some servers know no other first word than `initialize`, and end at any other.
            Err(ServerError::Ended { .. } | ServerError::Protocol(_)) if spoken.is_none() => {
                let mode = ClientLifecycleMode::Initialize;
                Self::open_as(config, mode, prompter, authorization).await
            }
            opened => opened,
        }
    }

    async fn open_as(
        config: &ServerConfig,
        mode: ClientLifecycleMode,
        prompter: &Prompter,
        authorization: Option<&Arc<Authorization>>,
    ) -> Result<Self, ServerError> {
        let wire = Arc::new(Wire::new(prompter.elicitor.is_some(), config.secrets.clone()));
        let stderr = Stderr::default();
        let (server, prompter) = (config.name().to_owned(), prompter.clone());
        let handler = Handler { server, prompter, wire: wire.clone() };
        // Which beginning a server knows is asked of one that listens: a first word is waited for ten seconds, and not longer.
        let is_asked = matches!(mode, ClientLifecycleMode::Auto { .. });
        let most = config.startup_timeout / 2;
        let opening = async {
            match &config.transport {
                Transport::Stdio(stdio) => {
                    let transport = StdioTransport::start(stdio, wire.clone(), &stderr);
                    let mut transport = transport.map_err(|error| not_started(stdio, error))?;
                    if is_asked {
                        transport.wake(most).await;
                    }
                    Ok::<_, ServerError>(handler.serve_with_lifecycle(transport, mode).await)
                }
                Transport::Stream(stream) => {
                    let (from, to) = tokio::io::split(stream.connect());
                    let mut transport = StreamTransport::start(from, to, wire.clone());
                    if is_asked {
                        transport.wake(most).await;
                    }
                    Ok(handler.serve_with_lifecycle(transport, mode).await)
                }
                #[cfg(feature = "oauth")]
                Transport::Http(config) if let Some(authorization) = authorization => {
                    let http = authorization.client().await?;
                    let authorization = Some(authorization.clone());
                    let transport = http::transport(config, http, authorization, wire.clone())?;
                    Ok(handler.serve_with_lifecycle(transport, mode).await)
                }
                Transport::Http(config) => {
                    let (http, authorization) = (http::client(config)?, authorization.cloned());
                    let transport = http::transport(config, http, authorization, wire.clone())?;
                    Ok(handler.serve_with_lifecycle(transport, mode).await)
                }
            }
        };
        let opened = match select(pin!(opening), pin!(wire.until_breached())).await {
            Either::Left((opened, _)) => opened?,
            Either::Right((breach, _)) => return Err(breach.into()),
        };
        let service = match opened {
            Ok(service) => service,
            Err(error) => {
                return Err(not_opened(error, &wire, &stderr, &config.secrets).await);
            }
        };
        let peer = service.peer();
        // Tools are listed when it is asked whether they have changed: an answer of before says nothing.
        peer.set_response_cache_config(ClientCacheConfig::disabled()).await;
        let info = peer.peer_info();
        let version = info.as_ref().map(|info| info.protocol_version.clone()).unwrap_or_default();
        let lifecycle = match version.has_initialize() {
            true => Lifecycle::Initialize,
            false => Lifecycle::Discover,
        };
        let logs = info.as_ref().is_some_and(|info| info.capabilities.logging.is_some());
        if logs && lifecycle == Lifecycle::Initialize {
            tokio::spawn(log_from_info(peer.clone()));
        }
        let tells = info.and_then(|info| info.capabilities.tools.as_ref()?.list_changed);
        let listens = lifecycle == Lifecycle::Discover && tells == Some(true);
        let listening = listens.then(|| tokio::spawn(listen(peer.clone())));
        let version = line(version.as_str(), 64);
        let redact = config.secrets.clone();
        let farewells = Mutex::default();
        Ok(Self { service, wire, stderr, redact, listening, farewells, lifecycle, version })
    }

    /// True for a connection over which nothing comes any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.service.is_closed()
            || self.service.peer().is_transport_closed()
            || self.wire.has_ended()
            || self.wire.breach().is_some()
    }

    /// True when the server has said since this was asked last that its tools are others.
    pub(crate) fn has_changed(&self) -> bool {
        self.wire.take_changed()
    }

    /// The end of what the program wrote to its standard error.
    pub(crate) fn stderr(&self) -> String {
        self.redact.text(&self.stderr.text())
    }

    /// Makes one call of `tool`, with what a person answered to the server's last questions, if it had any. Dropping it tells the
    /// server that nobody waits for its answer. How far it is and what is logged goes to the observers of `of`.
    pub(crate) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        answers: Option<Answers>,
        of: &Call,
    ) -> Result<Answered, CallFailure> {
        let key = of.key().as_str();
        let followed = self.wire.follow(key, of);
        let mut meta = RequestMetaObject::new();
        meta.0.0.insert(KEY.to_owned(), key.into());
        if self.lifecycle == Lifecycle::Discover {
            // A server of this lifecycle logs nothing that it is not asked for.
            meta.0.0.insert(LOG_LEVEL.to_owned(), "info".into());
        }
        let mut call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        call.meta = Some(meta);
        if let Some(answers) = answers {
            call.input_responses = (!answers.responses.is_empty()).then_some(answers.responses);
            call.request_state = answers.state;
        }
        let calling = self.service.peer().call_tool_once(call);
        let called = match select(pin!(calling), pin!(self.wire.until_breached())).await {
            Either::Left((called, _)) => called.map_err(Some),
            Either::Right(_) => Err(None),
        };
        let (may_be_taken, unanswered) = (followed.may_be_taken(), followed.unanswered());
        let error = match called {
            Ok(CallToolResponse::Complete(mut result)) => {
                result.content.extend(unanswered.into_iter().map(ContentBlock::text));
                return Ok(Answered::Result(result));
            }
            Ok(CallToolResponse::InputRequired(required)) => return Ok(Answered::Asks(required)),
            Ok(CallToolResponse::Task(begun)) => return Ok(Answered::Task(begun.task)),
            Ok(_) => {
                let what = "it answered a call with something that is no result";
                return Err(CallFailure::Lost(ServerError::Protocol(what.into())));
            }
            Err(Some(ServiceError::McpError(error))) => {
                let mut error = refused(&error, &self.redact);
                if let ServerError::Refused { message, .. } = &mut error {
                    for text in unanswered {
                        message.push(' ');
                        message.push_str(&text);
                    }
                }
                return Err(CallFailure::Refused(error));
            }
            Err(Some(error)) => Box::pin(self.failed(error)).await,
            Err(None) => Box::pin(self.failed(ServiceError::TransportClosed)).await,
        };
        Err(match may_be_taken {
            true => CallFailure::Lost(error),
            false => CallFailure::NotTaken(error),
        })
    }

    /// Completes when `limit` has passed, not counting the time for which a person thinks about a question of the server.
    pub(crate) async fn run_out(&self, clock: &Arc<dyn Clock>, limit: Duration) {
        self.wire.run_out(clock, limit).await;
    }

    /// Sends a request, and holds the server to its limits while it answers.
    pub(super) async fn request<T>(
        &self,
        sending: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, ServerError> {
        match select(pin!(sending), pin!(self.wire.until_breached())).await {
            Either::Left((Ok(answer), _)) => Ok(answer),
            Either::Left((Err(error), _)) => Err(self.failed(error).await),
            Either::Right((breach, _)) => Err(breach.into()),
        }
    }

    /// The server, for requests of all kinds.
    pub(super) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// The error of the server that an error of a request is.
    async fn failed(&self, error: ServiceError) -> ServerError {
        if let Some(breach) = self.wire.breach() {
            return breach.into();
        }
        match error {
            ServiceError::McpError(error) => refused(&error, &self.redact),
            ServiceError::TransportClosed => {
                ServerError::Ended { stderr: last_words(&self.stderr, &self.redact).await }
            }
            error if error.is_authorization_required() => ServerError::Unauthorized,
            ServiceError::UnexpectedResponse => ServerError::Protocol(words(&error, &self.redact)),
            error => ServerError::Connection(failure(&error, &self.wire, &self.redact)),
        }
    }

    /// Notes that `farewell` is still being said: whoever closes the connection waits for it.
    pub(crate) fn says(&self, farewell: JoinHandle<()>) {
        let mut farewells = self.farewells.lock().unwrap_or_else(PoisonError::into_inner);
        farewells.retain(|farewell| !farewell.is_finished());
        farewells.push(farewell);
    }

    /// Completes when all that was still being said is said, or has taken too long.
    pub(crate) async fn has_said(&self) {
        let farewells =
            std::mem::take(&mut *self.farewells.lock().unwrap_or_else(PoisonError::into_inner));
        drop(tokio::time::timeout(FAREWELL, join_all(farewells)).await);
    }

    /// Closes the connection and waits until it is.
    pub(crate) async fn close(mut self) {
        self.stop_listening();
        // A connection that has failed is closed already.
        let _ = self.service.close().await;
    }

    /// Closes the connection, and does not wait for it.
    pub(crate) fn stop(&self) {
        self.stop_listening();
        self.service.cancellation_token().cancel();
    }

    fn stop_listening(&self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop_listening();
    }
}

/// Has a server of an older version log what is worth an `info`, and no less.
#[expect(deprecated, reason = "servers log until the protocol has something else")]
async fn log_from_info(peer: Peer<RoleClient>) {
    // A server that refuses logs as it likes.
    let _ = peer.set_level(SetLevelRequestParams::new(LoggingLevel::Info)).await;
}

/// Has a server of 2026-07-28 tell of changes, which it does on a stream of their own. That they were told is seen where messages are
/// received.
async fn listen(peer: Peer<RoleClient>) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    // A server that does not tell is asked before use.
    let Ok(mut subscription) = peer.listen(filter).await else { return };
    while let Ok(Some(_)) = subscription.next().await {}
}

async fn not_opened(
    error: ClientInitializeError,
    wire: &Wire,
    stderr: &Stderr,
    redact: &Redact,
) -> ServerError {
    if let Some(breach) = wire.breach() {
        return breach.into();
    }
    let error = match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => *fallback,
        error => error,
    };
    match error {
        error if error.is_authorization_required() => ServerError::Unauthorized,
        ClientInitializeError::ConnectionClosed(_) => {
            ServerError::Ended { stderr: last_words(stderr, redact).await }
        }
        ClientInitializeError::JsonRpcError(error) => refused(&error, redact),
        // Whether its end is seen by a write or by a read is a matter of time.
        ClientInitializeError::TransportError { error, .. } if is_broken_pipe(&*error.error) => {
            ServerError::Ended { stderr: last_words(stderr, redact).await }
        }
        error @ ClientInitializeError::TransportError { .. } => {
            ServerError::Connection(failure(&error, wire, redact))
        }
        error => ServerError::Protocol(words(&error, redact)),
    }
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

fn refused(error: &ErrorData, redact: &Redact) -> ServerError {
    ServerError::Refused { code: error.code.0, message: line(&redact.text(&error.message), 1024) }
}

/// The words of an error, for people: it may quote a server, and an address with a key.
fn words(error: &(dyn std::error::Error + 'static), redact: &Redact) -> BoxError {
    line(&redact.text(&Chain(error).to_string()), 2048).into()
}

/// The words of an error of a transport, which says more where it is HTTP.
fn failure(error: &(dyn std::error::Error + 'static), wire: &Wire, redact: &Redact) -> BoxError {
    match wire.take_failure() {
        Some(why) => line(&redact.text(&why), 2048).into(),
        None => words(error, redact),
    }
}

/// The last lines of a program that has ended.
async fn last_words(stderr: &Stderr, redact: &Redact) -> String {
    // A descendant may hold the stream open.
    let _ = tokio::time::timeout(LAST_WORDS, stderr.ended()).await;
    stderr.tail(redact)
}
