//! Why something cannot be served.

use hanok_core::BoxError;
use thiserror::Error;

/// The reason for which graphs cannot be served.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// A key is too short to seal with.
    #[error(
        "the key has {bytes} bytes; take at least {least} random ones, the same in every process"
    )]
    ShortKey {
        /// The bytes that it has.
        bytes: usize,
        /// The fewest that it takes.
        least: usize,
    },
    /// The system has no randomness for a key.
    #[error("the system gives no random bytes for a key; give one")]
    NoRandomness(#[source] BoxError),
    /// Two tools have one name.
    #[error("two tools are called `{tool}`")]
    SameName {
        /// The name.
        tool: String,
    },
    /// The schema of a tool is none.
    #[error("the schema of the tool `{tool}` cannot be used")]
    Schema {
        /// The tool.
        tool: String,
        /// The cause.
        source: BoxError,
    },
    /// A client could not agree on a version of the protocol, or went before it had.
    #[error("the client did not begin as the protocol says")]
    NotOpened(#[source] BoxError),
    /// The connection broke.
    #[error("the connection to the client failed")]
    Connection(#[source] BoxError),
}
