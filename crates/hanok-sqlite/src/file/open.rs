//! The opening of a store.

use std::{
    fs, io,
    path::{self, Path},
    thread,
    time::Duration,
};

use hanok_checkpoint::CheckpointError;
use hanok_core::BoxError;
use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};
use thiserror::Error;

use super::{
    database::Database,
    format::{Kind, begin, kind},
    frozen,
    lock::{PATIENCE, is_busy},
};
use crate::{
    failure::{Failure, MayNot},
    version,
};

/// Why no store can be opened at a path.
#[derive(Debug, Error)]
enum Unopened {
    #[error("its folder does not exist")]
    NoFolder(#[source] rusqlite::Error),
    #[error("it is a folder")]
    Folder(#[source] rusqlite::Error),
    #[error("its journal mode is `{0}`: where it lies, no write-ahead file is possible")]
    NoWal(String),
}

/// Opens the store at `path`, and makes it where nothing is.
pub(crate) fn open(path: &Path) -> Result<Database, CheckpointError> {
    let name = path.display().to_string();
    // An absolute path is never one of the names that SQLite gives a meaning of its own.
    let path = path::absolute(path).map_err(|error| not_a_store(&name, error))?;
    version::admit(rusqlite::version_number(), rusqlite::version())
        .map_err(|error| CheckpointError::Denied(error.into()))?;
    match connect(&path, &name) {
        Err(error) if is_unwritable(&error) => match frozen::open(&path, &name)? {
            Some((connection, frozen)) => {
                Ok(Database::new(connection, name, Some(path)).frozen(frozen))
            }
            None => Err(error),
        },
        opened => opened,
    }
}

fn connect(path: &Path, name: &str) -> Result<Database, CheckpointError> {
    // No `SQLITE_OPEN_URI`: a path is a path.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let refused = |error| unopened(path, name, error);
    let mut connection = Connection::open_with_flags(path, flags).map_err(refused)?;
    prepare(&mut connection).map_err(|failure| match failure {
        Failure::Sql(error) => unopened(path, name, error),
        failure => failure.into_error(name),
    })?;
    Ok(Database::new(connection, name.to_owned(), Some(path.to_owned())))
}

fn is_unwritable(error: &CheckpointError) -> bool {
    matches!(error, CheckpointError::Denied(_))
}

/// A store without a file.
pub(crate) fn in_memory() -> Result<Database, CheckpointError> {
    let name = "memory".to_owned();
    let made = || {
        let mut connection = Connection::open_in_memory()?;
        begin(&mut connection)?;
        Ok(Database::new(connection, name.clone(), None))
    };
    made().map_err(|failure: Failure| failure.into_error(&name))
}

fn prepare(connection: &mut Connection) -> Result<(), Failure> {
    connection.busy_timeout(PATIENCE)?;
    // Until the file is known to be ours, not even what another connection left beside it is moved into it.
    let untouched = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(untouched, true)?;
    let kind = kind(&connection.transaction()?)?;
    write_ahead(connection)?;
    match kind {
        Kind::Empty => begin(connection)?,
        Kind::Store => {}
    }
    connection.set_db_config(untouched, false)?;
    // What is deleted is overwritten with zeros.
    connection.pragma_update(None, "secure_delete", "ON")?;
    Ok(())
}

/// Turns write-ahead mode on; gives the mode there is then. The statement is run to its end, for there it is committed, and a disk
/// that does not take that is an error.
fn turned_on(connection: &Connection) -> rusqlite::Result<String> {
    let mut statement = connection.prepare("PRAGMA journal_mode = WAL")?;
    let mut rows = statement.query(())?;
    while rows.next()?.is_some() {}
    connection.pragma_query_value(None, "journal_mode", |row| row.get(0))
}

/// Turns write-ahead mode on. It stays in the file, so only the first process ever does more than look.
fn write_ahead(connection: &Connection) -> Result<(), Failure> {
    // SQLite does not wait by itself where two connections change the mode at once.
    let pause = Duration::from_millis(20);
    let mut attempts = PATIENCE.as_millis() / pause.as_millis();
    let mode: String = loop {
        match turned_on(connection) {
            Err(error) if is_busy(&error) && attempts > 0 => {
                attempts -= 1;
                thread::sleep(pause);
            }
            mode => break mode?,
        }
    };
    match mode.as_str() {
        "wal" => Ok(()),
        _ => Err(Failure::Damaged(Unopened::NoWal(mode).into())),
    }
}

/// Why the file could not be opened, as far as it can be told: SQLite says the same of all.
fn unopened(path: &Path, name: &str, error: rusqlite::Error) -> CheckpointError {
    let folder_is_missing = || path.parent().is_some_and(|folder| !folder.exists());
    match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen) if path.is_dir() => not_a_store(name, Unopened::Folder(error)),
        Some(ErrorCode::CannotOpen) if folder_is_missing() => {
            not_a_store(name, Unopened::NoFolder(error))
        }
        Some(ErrorCode::CannotOpen) if !is_forbidden(path) => Failure::Sql(error).into_error(name),
        Some(ErrorCode::CannotOpen) => {
            let denied = MayNot { store: name.to_owned(), source: error.into() };
            CheckpointError::Denied(denied.into())
        }
        _ => Failure::Sql(error).into_error(name),
    }
}

/// True when it is for want of rights that the file at `path` cannot be opened, and not, for one, because no more files may be open.
fn is_forbidden(path: &Path) -> bool {
    match fs::OpenOptions::new().read(true).write(true).open(path) {
        // Then it is the folder's rights.
        Ok(_) => true,
        Err(error) => matches!(
            error.kind(),
            io::ErrorKind::PermissionDenied
                | io::ErrorKind::ReadOnlyFilesystem
                | io::ErrorKind::NotFound
        ),
    }
}

fn not_a_store(name: &str, source: impl Into<BoxError>) -> CheckpointError {
    CheckpointError::NotAStore { what: format!("`{name}`"), source: source.into() }
}
