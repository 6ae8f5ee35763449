//! What is wrong with a file of data.

use std::path::PathBuf;

use thiserror::Error;

/// A file of data that cannot be used.
#[derive(Debug, Error)]
#[error("{}{}: {reason}", file.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct DataError {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong, and what belongs there.
    pub reason: String,
}

impl DataError {
    /// A fault of a line, counted from 1.
    pub(crate) fn at(file: &str, line: usize, reason: impl Into<String>) -> Self {
        Self { file: file.into(), line: Some(line), reason: reason.into() }
    }

    /// A fault of the whole file.
    pub(crate) fn of(file: &str, reason: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, reason: reason.into() }
    }
}
