//! Why traces are not exported.

use hanok_core::BoxError;
use thiserror::Error;

/// Why traces are not exported. No message holds a header's value.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OtlpError {
    /// The collector's address is none.
    #[error("`{endpoint}` is not the address of a collector; write one like http://localhost:4318")]
    Endpoint {
        /// The address, without user and password.
        endpoint: String,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// A header cannot be sent.
    #[error("header `{name}` cannot be sent")]
    Header {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// The exporter cannot be made here: TLS or threads do not work.
    #[error("the exporter could not be made")]
    Exporter(#[source] BoxError),
    /// The program has a subscriber already: add [`layer`](crate::layer) to that one.
    #[error("the program has a subscriber already; add `layer(…)` to that one")]
    Installed(#[source] BoxError),
    /// The last spans did not reach the collector in time. They are lost.
    #[error("the last spans were not delivered")]
    NotDelivered(#[source] BoxError),
}
