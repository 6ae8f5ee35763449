//! Why a file is not read, or not written.

use hanok_model::{InvalidSpec, ToolError};
use thiserror::Error;

/// Why a file is not read, or not written. Paths are shown escaped, and cut.
#[derive(Debug, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum FileError {
    /// The folder that files are to be read from cannot be opened.
    #[error("the folder `{folder}` cannot be opened")]
    Folder { folder: String, source: std::io::Error },
    /// The path is none within the folder.
    #[error(
        "`{path}` is no path of a file here: {why}; write one within the folder, such as `notes/today.md`"
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
    /// The file would be too large.
    #[error("`{path}` would have {size} bytes, more than the {limit} that a file may have")]
    TooLong { path: String, size: usize, limit: usize },
    /// There would be too many files.
    #[error("there are {limit} files, and no more are made: write one that is there")]
    TooMany { limit: usize },
    /// The text that is to be replaced does not stand in the file once.
    #[error("the text to replace {} in `{path}`", occurrences(*count))]
    Occurrences { path: String, count: usize },
    /// Somebody else changed the file since it was read.
    #[error("`{path}` was changed meanwhile: read it again")]
    Changed { path: String },
    /// The file could not be written.
    #[error("`{path}` could not be written")]
    Write { path: String, source: std::io::Error },
    /// A pattern matches no path.
    #[error("`{pattern}` matches no path of a file: {why}")]
    Pattern { pattern: String, why: &'static str },
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

fn occurrences(count: usize) -> String {
    match count {
        0 => "does not stand".to_owned(),
        count => {
            format!("stands {count} times, and has to stand once: give more of what is around it,")
        }
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
            | FileError::TooLong { .. }
            | FileError::Occurrences { .. }
            | FileError::PastEnd { .. } => Self::arguments(error),
            FileError::Path { .. }
            | FileError::Link { .. }
            | FileError::HardLink { .. }
            | FileError::NotAFile { .. } => Self::refused(error.to_string()),
            other => Self::failed(other),
        }
    }
}
