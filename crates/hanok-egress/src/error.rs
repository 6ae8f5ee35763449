//! What an egress says instead of an answer.

use std::{net::IpAddr, time::Duration};

use hanok_core::BoxError;
use thiserror::Error;

/// What was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Waited {
    /// The address of a name.
    Name,
    /// A connection, with TLS where it is asked for.
    Connection,
    /// The next bytes.
    Silence,
    /// The whole, redirects included.
    Total,
    /// The call's own time.
    Deadline,
}

impl Waited {
    const fn words(self) -> &'static str {
        match self {
            Self::Name => "the address of the name",
            Self::Connection => "the connection",
            Self::Silence => "the next bytes",
            Self::Total => "the whole answer",
            Self::Deadline => "the answer, which is all the time the call had",
        }
    }
}

/// Why there is no answer. None of them holds a key: values of queries are cut out, and headers are never shown.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum EgressError {
    /// What the client was built with does not hold together.
    #[error("{what}")]
    Setting { what: String },
    /// The URL is none that is fetched.
    #[error("`{url}` is not fetched: {why}")]
    Url { url: String, why: &'static str },
    /// The host is not on the list of those that may be asked.
    #[error("`{host}` is not on the list of allowed hosts")]
    NotAllowed { host: String },
    /// The port is not one that may be asked.
    #[error("port {port} of `{host}` is not allowed")]
    Port { host: String, port: u16 },
    /// The host has an address that is not of the public internet.
    #[error("`{host}` leads to {address}, which is {what}; only public addresses are reached")]
    Blocked { host: String, address: IpAddr, what: &'static str },
    /// The name has no address, or the network is not there.
    #[error("the name `{host}` could not be resolved; the network may be missing")]
    Unresolved { host: String, source: std::io::Error },
    /// No address of the host takes a connection.
    #[error("`{host}` could not be reached")]
    Unreachable { host: String, source: std::io::Error },
    /// The host does not prove who it is, or the machine has no certificates to judge by.
    #[error("no secure connection to `{host}`")]
    Tls { host: String, source: BoxError },
    /// One redirect led to another too often.
    #[error("more than {limit} redirects")]
    Redirects { limit: usize },
    /// A redirect that is not followed.
    #[error("the redirect to `{to}` is not followed: {why}")]
    Redirect { to: String, why: &'static str },
    /// The head of the answer is too large.
    #[error("the head of the answer passes {limit} bytes or 100 lines")]
    HeadTooLarge { limit: usize },
    /// The body is too large, as sent or unpacked.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    /// The body is packed too densely to be honest.
    #[error("the answer unpacks to more than {limit} times its size")]
    Ratio { limit: u64 },
    /// The body is packed in a way that was not asked for.
    #[error("the answer is packed as `{encoding}`; only gzip and deflate are read")]
    Encoding { encoding: String },
    /// The answer is of another kind.
    #[error("the answer is `{got}`, not {wanted}")]
    ContentType { got: String, wanted: &'static str },
    /// The server refused. `retry_after` is what it asked to wait.
    #[error("the server answered with status {status}")]
    Status { status: u16, retry_after: Option<Duration> },
    /// The answer is not what its kind promises.
    #[error("the answer is no {wanted}")]
    Garbled { wanted: &'static str, source: BoxError },
    /// The connection broke off, or what came is no HTTP.
    #[error("the connection to `{host}` broke off")]
    Broken { host: String, source: BoxError },
    /// It took too long.
    #[error("waited {after:?} for {}", waited.words())]
    TimedOut { waited: Waited, after: Duration },
    /// The call was asked to stop.
    #[error("the call was stopped")]
    Cancelled,
}
