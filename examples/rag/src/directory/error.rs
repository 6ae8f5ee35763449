//! Why the directory cannot be read.

use std::path::{Path, PathBuf};

use hanok_core::BoxError;
use thiserror::Error;

/// Why the directory cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// There is no such file.
    #[error("there is no internal directory at `{}`", path.display())]
    Missing {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The file is damaged, or something else.
    #[error("the internal directory at `{}` cannot be used", path.display())]
    Unusable {
        /// The path that was asked for.
        path: PathBuf,
        /// What is wrong with it.
        source: BoxError,
    },
}

impl DirectoryError {
    pub(super) fn unusable(path: &Path, source: impl Into<BoxError>) -> Self {
        Self::Unusable { path: path.to_owned(), source: source.into() }
    }
}
