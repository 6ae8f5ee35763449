//! Locks that other connections hold on the file.

use std::time::Duration;

use rusqlite::ErrorCode;

/// The time that a call waits for another connection's transaction.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The time that a handle that is closed waits for others to have read.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);

/// True when another connection holds the lock that was needed.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}
