//! How much files may hold.

use super::{FileError, FilePath, folder::shown};
use hanok_core::near;

/// The largest file by default, in bytes.
pub(super) const FILE: usize = 1024 * 1024;

/// The most files that are listed, and that are made where their number is known.
pub(super) const FILES: usize = 1000;

/// How many paths an error suggests.
const SUGGESTED: usize = 3;

/// Refuses a text that is longer than `limit`.
pub(super) fn fits(path: &FilePath, text: &str, limit: usize) -> Result<(), FileError> {
    match text.len() {
        size if size <= limit => Ok(()),
        size => Err(FileError::TooLong { path: shown(path.as_str()), size, limit }),
    }
}

/// The error of a file that is not among `paths`.
pub(super) fn not_found(path: &FilePath, paths: &[String]) -> FileError {
    let near = near(&path.as_str().to_lowercase(), paths, SUGGESTED);
    let near = near.iter().map(|path| shown(path)).collect();
    FileError::NotFound { path: shown(path.as_str()), near }
}
