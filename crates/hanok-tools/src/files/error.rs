//! Why a file is not read.

use hanok_model::{InvalidSpec, ToolError};
use thiserror::Error;

/// Why a file is not read. Paths are shown escaped, and cut.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum FileError {
    /// The folder that files are to be read from cannot be opened.
    #[error("the folder `{folder}` cannot be opened")]
    Folder { folder: String, source: std::io::Error },
    /// The path is none within the folder.
    #[error(
        "`{path}` is not read: {why}; write a path within the folder, such as `notes/today.md`"
    )]
    Path { path: String, why: &'static str },
    /// There is no such file. `near` holds names of the same folder that are spelled like it, possibly none.
    #[error("there is no file `{path}`{}", did_you_mean(near))]
    NotFound { path: String, near: Vec<String> },
    /// A link, wherever it leads.
    #[error("`{path}` is a link, and links are not followed")]
    Link { path: String },
    /// A file that has another name as well, which may lie outside of the folder.
    #[error(
        "`{path}` is a hard link: the same file has another name, perhaps outside of the folder, and is not read"
    )]
    HardLink { path: String },
    /// A file whose path ends like a folder's.
    #[error("`{path}` is a file and not a folder: write it without what follows its name")]
    NotAFolder { path: String },
    /// A folder. `holds` are some of the names in it.
    #[error("`{path}` is a folder{}", it_holds(holds))]
    IsFolder { path: String, holds: Vec<String> },
    /// A device, a pipe, a socket, or a file that the system makes up.
    #[error("`{path}` is {what}, not a file of its own")]
    NotAFile { path: String, what: &'static str },
    /// The file is too large.
    #[error("`{path}` has {size} bytes, more than the {limit} that are read")]
    TooLarge { path: String, size: u64, limit: u64 },
    /// The file may not be read.
    #[error("`{path}` may not be read")]
    Forbidden { path: String, source: std::io::Error },
    /// The file is no text in UTF-8.
    #[error("`{path}` is no UTF-8 text: its byte {at} is not")]
    NotText { path: String, at: usize },
    /// The file ends before the line that was asked for.
    #[error("`{path}` has {lines} lines, and line {from} was asked for")]
    PastEnd { path: String, lines: usize, from: usize },
    /// The file could not be read.
    #[error("`{path}` could not be read")]
    Io { path: String, source: std::io::Error },
    /// Never: the tool's own name and arguments are fixed.
    #[error("{0}")]
    Spec(#[from] InvalidSpec),
}

fn did_you_mean(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; did you mean `{}`?", near.join("` or `")),
    }
}

fn it_holds(holds: &[String]) -> String {
    match holds {
        [] => ", and empty".to_owned(),
        holds => format!("; it holds `{}`", holds.join("`, `")),
    }
}

/// What another path may mend is an error of the arguments.
impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        match error {
            FileError::NotFound { .. }
            | FileError::IsFolder { .. }
            | FileError::NotAFolder { .. }
            | FileError::PastEnd { .. } => Self::arguments(error),
            FileError::Path { .. }
            | FileError::Link { .. }
            | FileError::HardLink { .. }
            | FileError::NotAFile { .. } => Self::refused(error.to_string()),
            other => Self::failed(other),
        }
    }
}
