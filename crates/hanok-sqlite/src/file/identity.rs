//! The file that a path names, told from another one that takes its place.

use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::{fs, io::ErrorKind, os::unix::fs::MetadataExt};

/// A path, and the file that it named when the store was opened.
///
/// The standard library tells files apart on Unix alone. Elsewhere every file is taken for the same one; Windows refuses to remove a
/// file that is open.
#[derive(Debug)]
pub(crate) struct Identity {
    path: PathBuf,
    #[cfg(unix)]
    file: Option<(u64, u64)>,
}

impl Identity {
    /// The file at `path`, which was opened just now.
    pub(crate) fn of(path: PathBuf) -> Self {
        Self {
            #[cfg(unix)]
            file: fs::metadata(&path).ok().map(|file| (file.dev(), file.ino())),
            path,
        }
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// False when the path names another file now, or none. Where that cannot be told, for one because rights were dropped, the file
    /// counts as the same.
    #[cfg(unix)]
    pub(crate) fn is_in_place(&self) -> bool {
        let Some(file) = self.file else { return true };
        match fs::metadata(&self.path) {
            Ok(now) => (now.dev(), now.ino()) == file,
            Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn is_in_place(&self) -> bool {
        true
    }
}
