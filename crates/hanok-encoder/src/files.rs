//! Files of a model or a dictionary, which the user names by their folder.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use thiserror::Error;

/// Why a folder has no [`SentenceEncoder`](crate::SentenceEncoder), or no [`Morphology`](crate::Morphology).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FilesError {
    /// A file of it cannot be read. Give the folder that holds all of them.
    #[error("cannot read `{}`; the folder has to hold {needed}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The files that belong together.
        needed: &'static str,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file is larger than any such file.
    #[error("`{}` is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most bytes that are read.
        limit: u64,
    },
    /// A file is damaged, or of another form.
    #[error("`{}` is damaged or of another form: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        what: String,
    },
}

/// What is wrong in a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault(pub(crate) String);

impl Fault {
    pub(crate) fn of(self, path: &Path) -> FilesError {
        FilesError::Damaged { path: path.to_owned(), what: self.0 }
    }
}

/// A fault, unless `holds`.
pub(crate) fn ensure(holds: bool, fault: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault(fault())) }
}

/// The bytes of a file, up to `limit` of them. It is one of those that are `needed`.
pub(crate) fn read(path: &Path, limit: u64, needed: &'static str) -> Result<Vec<u8>, FilesError> {
    let mut bytes = Vec::new();
    let failed = |source| FilesError::File { path: path.to_owned(), needed, source };
    let file = File::open(path).map_err(failed)?;
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(FilesError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(bytes)
}
