//! A file in a folder that may not be written: SQLite could put nothing beside it, and reads it as it is.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use hanok_checkpoint::CheckpointError;
use rusqlite::{Connection, OpenFlags};
use thiserror::Error;

use super::{
    beside::{beside, write_ahead_file},
    format::{self, Kind},
};
use crate::failure::{Failure, MayNot};

/// Why such a file is not read.
#[derive(Debug, Error)]
enum Unread {
    #[error(
        "its newest entries are in `{0}`, which can be read only where it can be written: copy both files to another folder"
    )]
    WriteAhead(String),
    #[error("another process wrote to it: open the store again")]
    Changed,
    #[error("it holds nothing")]
    Empty,
}

/// A file that nobody writes to, and what it was when it was opened.
#[derive(Debug)]
pub(crate) struct Frozen {
    path: PathBuf,
    state: Option<(u64, SystemTime)>,
}

impl Frozen {
    /// Refuses to have read a file that somebody writes to: SQLite was told that nobody does.
    pub(crate) fn is_unchanged(&self) -> Result<(), CheckpointError> {
        if self.state.is_some()
            && self.state == state(&self.path)
            && !write_ahead_file(&self.path).exists()
        {
            return Ok(());
        }
        let reason = "the file was written to";
        Err(CheckpointError::Unavailable { reason, source: Unread::Changed.into() })
    }
}

/// Opens the file at `path` to be read, if its folder is what keeps it from being opened.
pub(crate) fn open(
    path: &Path,
    name: &str,
) -> Result<Option<(Connection, Frozen)>, CheckpointError> {
    if !path.is_file() || may_be_written(path) {
        return Ok(None);
    }
    let log = write_ahead_file(path);
    let denied = |source: Unread| {
        let denied = MayNot { store: name.to_owned(), source: source.into() };
        CheckpointError::Denied(denied.into())
    };
    if log.metadata().is_ok_and(|file| file.len() > 0) {
        return Err(denied(Unread::WriteAhead(log.display().to_string())));
    }
    let frozen = Frozen { path: path.to_owned(), state: state(path) };
    let failed = |error| Failure::Sql(error).into_error(name);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(uri(path), flags).map_err(failed)?;
    let kind = format::kind(&connection.transaction().map_err(failed)?);
    if kind.map_err(|failure| failure.into_error(name))? == Kind::Empty {
        return Err(denied(Unread::Empty));
    }
    Ok(Some((connection, frozen)))
}

/// True when a file can be made beside `path`.
fn may_be_written(path: &Path) -> bool {
    // Named after the file and the process, so that it is nobody else's.
    let probe = beside(path, &format!("-{}", std::process::id()));
    let made = fs::OpenOptions::new().write(true).create_new(true).open(&probe);
    match made {
        Ok(_) => {
            drop(fs::remove_file(&probe));
            true
        }
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
        ),
    }
}

fn state(path: &Path) -> Option<(u64, SystemTime)> {
    let file = path.metadata().ok()?;
    Some((file.len(), file.modified().ok()?))
}

/// `path` as a URI, which says that nobody writes to it.
fn uri(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    let bytes = path.as_os_str().as_encoded_bytes();
    if !bytes.starts_with(b"/") {
        uri.push('/');
    }
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                uri.push(char::from(*byte));
            }
            b'\\' if cfg!(windows) => uri.push('/'),
            byte => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri + "?immutable=1"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P7
    #[test]
    fn a_file_that_somebody_writes_to_is_not_taken_for_one_that_nobody_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("threads.db");
        fs::write(&path, "some").unwrap();
        let frozen = Frozen { path: path.clone(), state: state(&path) };
        frozen.is_unchanged().unwrap();
        fs::write(write_ahead_file(&path), "").unwrap();
        frozen.is_unchanged().unwrap_err();
        fs::remove_file(write_ahead_file(&path)).unwrap();
        frozen.is_unchanged().unwrap();
        fs::write(&path, "some more").unwrap();
        frozen.is_unchanged().unwrap_err();
        fs::remove_file(&path).unwrap();
        frozen.is_unchanged().unwrap_err();
    }

    #[test]
    fn a_path_is_a_path_within_a_uri() {
        let uri = uri(Path::new("/a %41?mode=rwc#/한.db"));
        assert_eq!(uri, "file:/a%20%2541%3fmode%3drwc%23/%ed%95%9c.db?immutable=1");
    }
}
