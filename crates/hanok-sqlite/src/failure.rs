//! The errors of a transaction, and what a caller gets for each.

use std::num::TryFromIntError;

use hanok_checkpoint::CheckpointError;
use hanok_core::BoxError;
use rusqlite::{Error, ErrorCode, ffi};
use thiserror::Error;

/// Why a transaction was not made.
#[derive(Debug)]
pub(crate) enum Failure {
    /// SQLite said so.
    Sql(Error),
    /// The disk failed, whatever SQLite takes it for.
    Disk(Error),
    /// The contract says so.
    Refused(CheckpointError),
    /// The file holds what this crate never writes.
    Damaged(BoxError),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Sql(error)
    }
}

impl From<CheckpointError> for Failure {
    fn from(error: CheckpointError) -> Self {
        Self::Refused(error)
    }
}

/// SQLite keeps 63 bits of a number; a caller's number that needs more cannot be stored.
impl From<TryFromIntError> for Failure {
    fn from(error: TryFromIntError) -> Self {
        Self::Refused(CheckpointError::Encode(error.into()))
    }
}

/// A store that may not be written, by its name.
#[derive(Debug, Error)]
#[error("`{store}` may not be written")]
pub(crate) struct MayNot {
    pub(crate) store: String,
    #[source]
    pub(crate) source: BoxError,
}

impl Failure {
    /// True when the disk failed. What it holds is then unknown.
    pub(crate) fn is_of_the_disk(&self) -> bool {
        match self {
            Self::Disk(_) => true,
            Self::Sql(error) => {
                error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure) && !is_no_room(error)
            }
            Self::Refused(_) | Self::Damaged(_) => false,
        }
    }

    /// The failure on a disk that has room or has none: SQLite says the same when the index of the write-ahead file could not grow
    /// for want of room, and when the disk failed under it.
    pub(crate) fn with(self, has_room: impl FnOnce() -> bool) -> Self {
        match self {
            Self::Sql(error) if is_no_room(&error) && has_room() => Self::Disk(error),
            other => other,
        }
    }

    /// The error that the callers of `store` get.
    pub(crate) fn into_error(self, store: &str) -> CheckpointError {
        let damaged =
            |source: BoxError| CheckpointError::NotAStore { what: format!("`{store}`"), source };
        let error = match self {
            Self::Refused(error) => return error,
            Self::Damaged(source) => return damaged(source),
            Self::Disk(error) => {
                let reason = "the disk failed";
                return CheckpointError::Unavailable { reason, source: error.into() };
            }
            Self::Sql(error) => error,
        };
        let unavailable =
            |reason, error: Error| CheckpointError::Unavailable { reason, source: error.into() };
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                unavailable("it is locked", error)
            }
            Some(ErrorCode::DiskFull) => CheckpointError::Full(error.into()),
            Some(ErrorCode::SystemIoFailure) if is_no_room(&error) => {
                CheckpointError::Full(error.into())
            }
            Some(ErrorCode::SystemIoFailure) => unavailable("the disk failed", error),
            Some(ErrorCode::OutOfMemory) => unavailable("memory is short", error),
            Some(ErrorCode::CannotOpen) => unavailable("a file cannot be opened", error),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                let store = store.to_owned();
                CheckpointError::Denied(MayNot { store, source: error.into() }.into())
            }
            Some(ErrorCode::TooBig) => CheckpointError::Encode(error.into()),
            _ => damaged(error.into()),
        }
    }
}

/// The index of the write-ahead file could not grow: that is a full disk, most often, though SQLite counts it among disk failures.
fn is_no_room(error: &Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
}
