use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use thiserror::Error;

/// Why a folder is no [`SentenceEncoder`](crate::SentenceEncoder).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EncoderError {
    /// A file of it cannot be read. Give the folder that holds both.
    #[error("cannot read `{}`; an encoder's folder has `sp.model` and `weights.npz`", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file is larger than that of any such model.
    #[error("`{}` is larger than {limit} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most bytes that are read.
        limit: u64,
    },
    /// A file is damaged, or that of another model.
    #[error("`{}` is damaged or of another model: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        what: String,
    },
}

/// What is wrong in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault(pub(super) String);

impl Fault {
    pub(super) fn of(self, path: &Path) -> EncoderError {
        EncoderError::Damaged { path: path.to_owned(), what: self.0 }
    }
}

/// A fault, unless `holds`.
pub(super) fn ensure(holds: bool, fault: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault(fault())) }
}

/// The bytes of a file, up to `limit` of them.
pub(super) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, EncoderError> {
    let mut bytes = Vec::new();
    let failed = |source| EncoderError::File { path: path.to_owned(), source };
    let file = File::open(path).map_err(failed)?;
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(EncoderError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(bytes)
}
