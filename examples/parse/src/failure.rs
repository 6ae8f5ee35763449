//! What goes wrong, in one sentence, and with which exit.

use std::{error::Error, io, path::PathBuf, process::ExitCode};

use hanok_parse::{TableError, UnknownFormat};
use thiserror::Error;

/// Why the program ends without having read everything.
#[derive(Debug, Error)]
pub enum Failure {
    /// The file cannot be read.
    #[error("cannot read {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The standard input cannot be read.
    #[error("cannot read the standard input")]
    Input(#[source] io::Error),
    /// The result cannot be written.
    #[error("cannot write the result")]
    Output(#[from] io::Error),
    /// An event or a result is no JSON.
    #[error("cannot write the result as JSON")]
    Json(#[from] serde_json::Error),
    /// No format has this name.
    #[error(transparent)]
    Format(#[from] UnknownFormat),
    /// A table cannot be used.
    #[error("cannot use the table of {path}")]
    Table {
        /// The file, or the last of several.
        path: PathBuf,
        /// Why.
        #[source]
        source: TableError,
    },
    /// Some lines are no cases. Each was told.
    #[error("{bad} of {all} lines could not be read")]
    #[allow(missing_docs, reason = "the message names the fields")]
    Lines { bad: usize, all: usize },
}

impl Failure {
    /// The exit that says what kind of failure it is.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            Self::Format(_) => 2,
            _ => 1,
        }
    }

    /// Whether the reader of the output has gone: nobody is left to tell.
    fn is_closed_output(&self) -> bool {
        let kind = match self {
            Self::Output(error) => Some(error.kind()),
            Self::Json(error) => error.io_error_kind(),
            _ => None,
        };
        kind == Some(io::ErrorKind::BrokenPipe)
    }

    /// The failure and its cause, as one line.
    #[must_use]
    pub fn line(&self) -> String {
        self.source().map_or_else(|| self.to_string(), |cause| format!("{self}: {cause}"))
    }
}

/// The program's exit; a failure is told in one line first.
pub fn exit(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_closed_output() => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("parse: {}", failure.line());
            ExitCode::from(failure.code())
        }
    }
}
