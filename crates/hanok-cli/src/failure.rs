//! The reasons why the command did not do its work.

use std::io;

use hanok_checkpoint::{CheckpointError, ImportError};
use hanok_core::InvalidName;
use thiserror::Error;

#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error("say which store: `--db FILE`{}", if cfg!(feature = "postgres") { " or `--postgres URL`" } else { "" })]
    NoStore,
    #[error("there is no file {0}")]
    NoFile(String),
    #[cfg(feature = "encryption")]
    #[error("the keys in {0}")]
    Keys(String, #[source] io::Error),
    #[cfg(feature = "encryption")]
    #[error("line {0} of the keys is no number and 64 hexadecimal digits")]
    NoKey(usize),
    #[cfg(feature = "encryption")]
    #[error("the file of keys holds none")]
    NoKeys,
    #[error("only a SQLite file (`--db FILE`) is copied; PostgreSQL has `pg_dump`")]
    NoBackup,
    #[error("there is no thread `{0}`")]
    NoThread(String),
    #[error("what is removed cannot be brought back: say `--yes`")]
    NotSure,
    #[error("not a name")]
    Name(#[from] InvalidName),
    #[error(
        "nobody knows whether thread `{0}` has called `{1}`: settle that first, or say `--discard-doubts`"
    )]
    InDoubt(String, String),
    #[error("{0} of {1} threads are damaged")]
    Damaged(usize, usize),
    #[error("the store")]
    Store(#[from] CheckpointError),
    #[error("the file is damaged: `hanok repair NEW` writes what is whole into a new file")]
    Repair(#[source] CheckpointError),
    #[error("the file is damaged: `hanok repair NEW` writes what is whole into a new file")]
    Pages,
    #[error("the lines")]
    Import(#[from] ImportError),
    #[error("the file or the output")]
    Io(#[from] io::Error),
}

impl Failure {
    /// The failure to open a store, with what can be done where its pages are damaged.
    pub(crate) fn of(self, is_file: bool) -> Self {
        match self {
            Self::Store(error) if is_file && hanok_sqlite::Sqlite::is_damage(&error) => {
                Self::Repair(error)
            }
            other => other,
        }
    }

    /// The code that the command exits with.
    pub(crate) fn code(&self) -> u8 {
        match self {
            #[cfg(feature = "encryption")]
            Self::NoKey(_) | Self::NoKeys => 2,
            #[cfg(feature = "encryption")]
            Self::Keys(..) => 1,
            Self::NoStore | Self::NoBackup | Self::NotSure | Self::Name(_) => 2,
            Self::InDoubt(..) => 3,
            Self::Damaged(..) | Self::Repair(_) | Self::Pages => 4,
            Self::Store(error) | Self::Import(ImportError::Checkpoint(error)) => match error {
                CheckpointError::Conflict { .. } | CheckpointError::Fenced { .. } => 3,
                CheckpointError::NoSuchPosition { .. } | CheckpointError::ThreadExists(_) => 2,
                CheckpointError::Corrupt { .. } => 4,
                _ => 1,
            },
            Self::NoFile(_) | Self::NoThread(_) | Self::Import(_) | Self::Io(_) => 1,
        }
    }
}
