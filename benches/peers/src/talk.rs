//! What is said, and what it takes on disk.

use std::path::Path;

use crate::Result;

/// What a node says.
pub(crate) fn text() -> String {
    "m".repeat(200)
}

/// The size of a database with its log, after everybody has let go of it.
pub(crate) fn megabytes(file: &Path) -> Result<f64> {
    let wal = file.with_extension("db-wal");
    let log = std::fs::metadata(wal).map_or(0, |log| log.len());
    Ok((std::fs::metadata(file)?.len() + log) as f64 / 1e6)
}
