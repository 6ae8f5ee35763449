use std::{io, path::PathBuf};

use thiserror::Error;

/// Why a folder could not be read.
///
/// A single file never fails a folder: it is [`Skipped`](crate::Skipped), with its reason.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
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
}
