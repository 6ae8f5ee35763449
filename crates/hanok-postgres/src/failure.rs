//! The failures of a call, and what a caller gets for each.

use std::{error::Error as _, io, num::TryFromIntError};

use deadpool_postgres::{PoolError, TimeoutType};
use hanok_checkpoint::CheckpointError;
use hanok_core::BoxError;
use thiserror::Error;
use tokio_postgres::{Error, error::SqlState};

/// Why a transaction was not made, or is not known to be.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server said so, or the connection to it ended.
    Sql(Error),
    /// No answer came in time.
    Late,
    /// There was no connection to ask on.
    Pool(PoolError),
    /// The contract says so.
    Refused(CheckpointError),
    /// The tables hold what this crate never writes.
    Damaged(BoxError),
}

/// The choices that a failure leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outlook {
    /// The same would happen again.
    Hopeless,
    /// Nothing was stored; the next attempt may do better.
    Again,
    /// The write may be stored or not; the next attempt may do better.
    Unknown,
}

/// There was no answer.
#[derive(Debug, Error)]
#[error("there was no answer in time")]
struct Late;

/// A store that may not be used in some way, by its name.
#[derive(Debug, Error)]
#[error("`{store}`: {missing}")]
struct MayNot {
    store: String,
    missing: String,
    #[source]
    source: BoxError,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => Self::Sql(error),
            PoolError::Timeout(TimeoutType::Create | TimeoutType::Recycle) => Self::Late,
            error => Self::Pool(error),
        }
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Self {
        Self::Refused(error)
    }
}

/// PostgreSQL keeps 63 bits of a number; a caller's number that needs more cannot be stored.
impl From<TryFromIntError> for Failure {
    fn from(error: TryFromIntError) -> Self {
        Self::Refused(CheckpointError::Encode(error.into()))
    }
}

impl Failure {
    /// The choices that this failure leaves.
    pub(crate) fn outlook(&self) -> Outlook {
        match self {
            Self::Late => Outlook::Unknown,
            Self::Sql(error) => match error.code() {
                Some(code) if is_collision(code) => Outlook::Again,
                Some(code) if is_of_the_connection(code) => Outlook::Unknown,
                Some(_) => Outlook::Hopeless,
                None if is_broken(error) => Outlook::Unknown,
                None => Outlook::Hopeless,
            },
            // Nothing was sent.
            Self::Pool(PoolError::Timeout(TimeoutType::Wait)) => Outlook::Again,
            Self::Pool(_) | Self::Refused(_) | Self::Damaged(_) => Outlook::Hopeless,
        }
    }

    /// The error that the callers of `store` get.
    pub(crate) fn into_error(self, store: &str) -> CheckpointError {
        let damaged =
            |source: BoxError| CheckpointError::NotAStore { what: format!("`{store}`"), source };
        let error = match self {
            Self::Refused(error) => return error,
            Self::Damaged(source) => return damaged(source),
            Self::Late => return unavailable("it does not answer", Late),
            Self::Pool(PoolError::Timeout(_)) => {
                return unavailable("every connection is in use", Late);
            }
            Self::Pool(error) => return unavailable("there is no connection", error),
            Self::Sql(error) => error,
        };
        let Some(code) = error.code().cloned() else {
            let reason = if is_broken(&error) {
                "the connection ended, or could not be made"
            } else {
                "a connection cannot be made"
            };
            return unavailable(reason, error);
        };
        match code.code().get(..2).unwrap_or_default() {
            _ if code == SqlState::INSUFFICIENT_PRIVILEGE => denied(store, error),
            _ if code == SqlState::READ_ONLY_SQL_TRANSACTION => denied(store, error),
            "28" => denied(store, error),
            _ if code == SqlState::DISK_FULL => CheckpointError::Full(error.into()),
            _ if code == SqlState::TOO_MANY_CONNECTIONS => {
                unavailable("it has too many connections", error)
            }
            _ if code == SqlState::QUERY_CANCELED => {
                unavailable("a statement took too long", error)
            }
            _ if is_collision(&code) => unavailable("others change the same", error),
            _ if is_of_the_connection(&code) => unavailable("it stops or starts", error),
            "53" => unavailable("it is short of resources", error),
            "58" => unavailable("its disk failed", error),
            "22" | "54" => CheckpointError::Encode(error.into()),
            "3D" | "3F" | "42" | "XX" => damaged(error.into()),
            _ => unavailable("it refuses", error),
        }
    }
}

fn unavailable(reason: &'static str, source: impl Into<BoxError>) -> CheckpointError {
    CheckpointError::Unavailable { reason, source: source.into() }
}

/// The server's own words say which right is missing, and to what.
fn denied(store: &str, error: Error) -> CheckpointError {
    let missing = error.as_db_error().map(|error| error.message().to_owned()).unwrap_or_default();
    CheckpointError::Denied(
        MayNot { store: store.to_owned(), missing, source: error.into() }.into(),
    )
}

/// Of two transactions one was sent home. A foreign key is violated when a tenant is forgotten while it gets an item.
fn is_collision(code: &SqlState) -> bool {
    let said = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::FOREIGN_KEY_VIOLATION,
    ];
    said.contains(code)
}

/// The server ends connections, or makes none at the moment.
fn is_of_the_connection(code: &SqlState) -> bool {
    let said = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
    ];
    said.contains(code) || code.code().starts_with("08")
}

/// True when the connection broke, or could not be made for now. An error of TLS stays one.
fn is_broken(error: &Error) -> bool {
    if error.is_closed() {
        return true;
    }
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            let inner = error.get_ref();
            return !inner.is_some_and(|inner| inner.is::<rustls::Error>());
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P9
    #[test]
    fn while_every_connection_is_in_use_nothing_is_sent_and_another_attempt_may_help() {
        let failure = Failure::from(PoolError::Timeout(TimeoutType::Wait));
        assert_eq!(failure.outlook(), Outlook::Again);
        let message = failure.into_error("PostgreSQL, schema x").to_string();
        assert_eq!(message, "the store is not available: every connection is in use");
        assert_eq!(Failure::from(PoolError::Closed).outlook(), Outlook::Hopeless);
    }
}
