//! Errors of models.

use std::{fmt, time::Duration};

use hanok_core::{BoxError, OverBudget};
use thiserror::Error;

/// The wait that took too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Wait {
    /// Reaching the server.
    Connect,
    /// The first piece of an answer.
    FirstToken,
    /// The next piece of an answer that began.
    NextToken,
    /// The whole answer.
    Total,
    /// The rest of the call's own time.
    Deadline,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "a connection to the model's server",
            Self::FirstToken => "the first token",
            Self::NextToken => "the next token",
            Self::Total => "the whole answer",
            Self::Deadline => "the deadline of the call",
        })
    }
}

/// The error of a model that did not answer. Each variant is something else to do; the server's answer is the source.
///
/// No variant and no source ever holds the API key.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The turn may ask no more models: this one was not asked. Hand it on: the run ends with that limit.
    #[error("{0}")]
    OverBudget(#[from] OverBudget),
    /// Something has to be set before any model can be asked.
    #[error("no model is configured: {missing}")]
    NotConfigured {
        /// The setting that is missing.
        missing: String,
    },
    /// The server refused the API key, or wants one. Another attempt cannot help.
    #[error("{}", match sent {
        true => "the model's server refused the API key; check the key and what it may use",
        false => "the model's server wants an API key and none was given; set OPENAI_API_KEY",
    })]
    BadKey {
        /// True when a key was sent.
        sent: bool,
        /// The server's answer.
        source: Option<BoxError>,
    },
    /// The server has no such model.
    #[error("the server has no model `{model}`; choose one that it lists")]
    UnknownModel {
        /// The model that was asked for.
        model: String,
        /// The server's answer.
        source: Option<BoxError>,
    },
    /// The conversation does not fit the model. Shorten it and ask again.
    #[error("the conversation is too long for the model{}", room(*requested, *limit))]
    ContextTooLong {
        /// The most tokens the model takes, if the server said it.
        limit: Option<u64>,
        /// The tokens that were asked for, if the server said it.
        requested: Option<u64>,
        /// The server's answer.
        source: Option<BoxError>,
    },
    /// Too many requests. Wait and ask again.
    #[error("the model's server gets too many requests{}", later(*retry_after))]
    RateLimited {
        /// The wait before another request, if the server said it.
        retry_after: Option<Duration>,
        /// The server's answer.
        source: Option<BoxError>,
    },
    /// The paid quota is used up. Waiting does not help.
    #[error("the quota of this API key is used up; check its plan and billing")]
    QuotaExceeded {
        /// The server's answer.
        source: Option<BoxError>,
    },
    /// The server refused the conversation for what it is about.
    #[error("the server's content filter refused the conversation; ask something else")]
    ContentFiltered {
        /// The server's answer.
        source: Option<BoxError>,
    },
    /// The server refused the request as malformed or not supported.
    #[error("the server refused the request (status {status})")]
    BadRequest {
        /// The HTTP status, or the one the server gave inside its answer.
        status: u16,
        /// The server's answer.
        source: Option<BoxError>,
    },
    /// The server failed. Another attempt may help.
    #[error("the model's server failed (status {status}){}", later(*retry_after))]
    Server {
        /// The HTTP status, or the one the server gave inside its answer.
        status: u16,
        /// The wait before another request, if the server said it.
        retry_after: Option<Duration>,
        /// The server's answer.
        source: Option<BoxError>,
    },
    /// The answer broke off. What was received is not an answer.
    #[error("the answer of the model broke off after {received} bytes; ask again")]
    BrokenStream {
        /// The bytes received.
        received: u64,
        /// The error of the connection.
        source: Option<BoxError>,
    },
    /// The server answered something that is no answer of a model.
    #[error(
        "the server's answer is none of a model: {what}; check that its address is that of an OpenAI-compatible API"
    )]
    Protocol {
        /// The answer's form instead.
        what: String,
        /// The error of reading it.
        source: Option<BoxError>,
    },
    /// Something took too long.
    #[error("waited {after:?} for {what}")]
    TimedOut {
        /// The wait.
        what: Wait,
        /// The time that was waited.
        after: Duration,
    },
    /// The server cannot be reached.
    #[error(
        "the model's server at {server} cannot be reached; check that it runs and its address is right"
    )]
    Unreachable {
        /// The server's address, without user, password and query.
        server: String,
        /// The reason.
        source: Option<BoxError>,
    },
    /// The server is not asked now, because it failed again and again or is asked by too many. Ask another one, or later.
    #[error("the model's server `{server}` is not asked now{}", later(*retry_after))]
    Unavailable {
        /// The server, as whoever guards it calls it.
        server: String,
        /// The wait before it is asked again, if that is known.
        retry_after: Option<Duration>,
    },
    /// The answer is larger than is allowed.
    #[error("the answer of the model is larger than {limit} bytes")]
    TooLarge {
        /// The most bytes that are taken.
        limit: u64,
    },
    /// The call was asked to stop.
    #[error("the call of the model was stopped")]
    Cancelled,
    /// A failure that only this model has.
    #[error("the model failed")]
    Other(#[source] BoxError),
}

impl ModelError {
    /// True for a call that was asked to stop, or that the budget of its run does not allow: the run ends with it, and whoever does
    /// without other failures of a model hands it on.
    pub fn ends_the_run(&self) -> bool {
        matches!(self, Self::Cancelled | Self::OverBudget(_))
    }

    /// True for an error after which the same request may be answered.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::TimedOut { what, .. } => *what != Wait::Deadline,
            Self::RateLimited { .. }
            | Self::Server { .. }
            | Self::BrokenStream { .. }
            | Self::Unreachable { .. } => true,
            _ => false,
        }
    }
}

fn room(asked: Option<u64>, limit: Option<u64>) -> String {
    match (asked, limit) {
        (Some(asked), Some(limit)) => format!(": {asked} tokens of at most {limit}; shorten it"),
        (None, Some(limit)) => format!(", which takes {limit} tokens; shorten it"),
        (Some(asked), None) => format!(": {asked} tokens; shorten it"),
        (None, None) => "; shorten it".to_owned(),
    }
}

fn later(retry_after: Option<Duration>) -> String {
    match retry_after {
        Some(after) => format!("; ask again in {after:?}"),
        None => "; ask again later".to_owned(),
    }
}
