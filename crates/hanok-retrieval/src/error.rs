use std::{io, path::PathBuf};

use thiserror::Error;

use crate::retriever::Mode;

/// Any error, as the cause of another.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a library or a store could not be opened, refreshed, asked or changed.
///
/// A single file never fails a folder: it is [`Skipped`](crate::Skipped), with its reason.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RetrievalError {
    /// There is no such folder. Give another path.
    #[error("no folder `{}`", path.display())]
    NoFolder {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The folder is there but cannot be listed: no permission, or it is a file.
    #[error("cannot list the folder `{}`", path.display())]
    Folder {
        /// The path that was asked for.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The folder holds more than [`LoadOptions::max_files`](crate::LoadOptions::max_files) allows.
    /// Nothing was read: which files a cut-off list holds would be chance.
    #[error("more than {limit} files and folders under `{}`", path.display())]
    TooManyFiles {
        /// The path that was asked for.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
    /// The store cannot compare passages with the question in this way. Ask by keywords, or another store.
    #[error("the store `{store}` has no {mode} search")]
    Mode {
        /// The store's name.
        store: String,
        /// What was asked for.
        mode: Mode,
    },
    /// The store did not answer. Try again.
    #[error("document store unavailable")]
    Unavailable(#[source] BoxError),
}
