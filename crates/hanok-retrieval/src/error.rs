use std::{io, path::PathBuf};

use hanok_checkpoint::Space;
use hanok_model::ModelError;
use thiserror::Error;

use crate::retriever::Mode;

/// Any error, as the cause of another.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a store could not be opened, asked or changed.
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
    /// The query has no vector. Give it one, or ask through [`Embedded`](crate::Embedded), or by keywords.
    #[error("a {mode} search needs the question's vector")]
    NoVector {
        /// What was asked for.
        mode: Mode,
    },
    /// The text of a query is longer than any store searches for. Ask a question, not a document.
    #[error(
        "a query has a text of at most {most} bytes, and this one of {bytes}; ask a question, not a document"
    )]
    LongQuery {
        /// The length of the text.
        bytes: usize,
        /// The longest one.
        most: usize,
    },
    /// No passage of the store has a vector that the question's can be compared with. Embed both with one model.
    #[error(
        "the store's vectors are {}, the question's is {}; embed the documents with the model that embeds questions",
        told(stored),
        told(asked)
    )]
    Space {
        /// Of a vector that the store has.
        stored: Space,
        /// Of the question's.
        asked: Space,
    },
    /// The embedder failed, so nothing was put or asked.
    #[error("the texts could not be embedded")]
    Embedding(#[source] ModelError),
    /// Another store writes to the folder. Close that one, or open this one to be read.
    #[error("another store writes to `{}`", path.display())]
    Held {
        /// The folder.
        path: PathBuf,
    },
    /// The store was filled by other [`Terms`](crate::Terms). Open it with those, or fill another one.
    #[error(
        "the store was filled by the terms `{stored}`, not by `{asked}`: open it with those, or fill another one"
    )]
    Terms {
        /// Those that it was filled by.
        stored: String,
        /// Those that it was opened with.
        asked: String,
    },
    /// The files of a store are damaged or of another version. Remove the folder and sync again.
    #[error("the store in `{}` cannot be read: remove the folder and sync again", path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        source: BoxError,
    },
    /// The folder has files that are of no store. Give one that is empty.
    #[error("there are files in `{}` and no store", path.display())]
    NoIndex {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        source: BoxError,
    },
    /// The store was opened to be read. Open it to be written.
    #[error("the store was opened to be read")]
    ReadOnly,
    /// The store did not answer. Try again.
    #[error("document store unavailable")]
    Unavailable(#[source] BoxError),
}

fn told(space: &Space) -> String {
    match &*space.model {
        "" => format!("of {} numbers", space.dimensions),
        model => format!("of `{model}` with {} numbers", space.dimensions),
    }
}
