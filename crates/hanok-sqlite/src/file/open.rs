//! The file: what makes it a store, and how one begins.

use std::{
    fs, io,
    path::{self, Path, PathBuf},
    thread,
    time::Duration,
};

use hanok_checkpoint::CheckpointError;
use hanok_core::BoxError;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, config::DbConfig,
};
use thiserror::Error;

use super::{database::Database, frozen, tables};
use crate::{
    failure::{Failure, MayNot},
    version,
};

/// Marks the file as ours: `hnok`.
const APPLICATION: i32 = 0x686e_6f6b;

/// The format that this build reads and writes. What earlier ones hold has no lives and no chains.
pub(crate) const FORMAT: i32 = 3;

/// How long a call waits for another connection's transaction.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The tables. Rows of a rowid table fill pages better than those of a table without: those cannot share a page with
/// another row from 1 KB on, and a record of 1.5 KB would take 4.6.
const TABLES: &str = "
    CREATE TABLE threads (
        id INTEGER PRIMARY KEY,
        tenant TEXT NOT NULL COLLATE BINARY,
        thread TEXT NOT NULL COLLATE BINARY,
        life BLOB NOT NULL,
        head INTEGER NOT NULL,
        epoch INTEGER NOT NULL,
        run BLOB,
        holder BLOB,
        beat INTEGER,
        floor INTEGER NOT NULL DEFAULT 0,
        origin TEXT COLLATE BINARY,
        expires INTEGER,
        link BLOB,
        seal BLOB,
        updated INTEGER,
        UNIQUE (tenant, thread)
    ) STRICT;
    CREATE INDEX claimed ON threads (tenant, thread) WHERE run IS NOT NULL;
    CREATE INDEX forks ON threads (tenant, origin) WHERE origin IS NOT NULL;
    CREATE INDEX expiring ON threads (expires) WHERE expires IS NOT NULL;
    CREATE TABLE records (
        thread_id INTEGER NOT NULL,
        position INTEGER NOT NULL,
        append_id BLOB NOT NULL,
        bytes BLOB NOT NULL,
        UNIQUE (thread_id, position)
    ) STRICT;
    CREATE TABLE labels (
        thread_id INTEGER NOT NULL,
        name TEXT NOT NULL COLLATE BINARY,
        value TEXT NOT NULL COLLATE BINARY,
        PRIMARY KEY (thread_id, name)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX labelled ON labels (name, value);
    CREATE TABLE snapshots (
        thread_id INTEGER NOT NULL,
        position INTEGER NOT NULL,
        bytes BLOB NOT NULL,
        UNIQUE (thread_id, position)
    ) STRICT;
    CREATE TABLE outbox (
        cursor INTEGER PRIMARY KEY AUTOINCREMENT,
        topic TEXT NOT NULL COLLATE BINARY,
        thread_id INTEGER NOT NULL,
        position INTEGER NOT NULL,
        bytes BLOB NOT NULL
    ) STRICT;
    CREATE INDEX outbox_topics ON outbox (topic, cursor);
    CREATE INDEX outbox_threads ON outbox (thread_id);
    CREATE TABLE consumers (
        topic TEXT NOT NULL COLLATE BINARY,
        consumer TEXT NOT NULL COLLATE BINARY,
        done INTEGER NOT NULL,
        PRIMARY KEY (topic, consumer)
    ) STRICT, WITHOUT ROWID;
";

/// Why a file is no store.
#[derive(Debug, Error)]
enum Unfit {
    #[error("its folder does not exist")]
    NoFolder(#[source] rusqlite::Error),
    #[error("it is a folder")]
    Folder(#[source] rusqlite::Error),
    #[error("it belongs to another program (application id {0:#010x})")]
    Foreign(i32),
    #[error("it holds tables that are not ours")]
    Tables,
    #[error("its format is {0}, which no build writes")]
    Format(i32),
    #[error(
        "its format is {0}, of a build before 0.1; this one reads format {FORMAT} and does not upgrade it: begin a new store"
    )]
    Older(i32),
    #[error("its journal mode is `{0}`: where it lies, no write-ahead file is possible")]
    NoWal(String),
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Empty,
    Store,
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
            Some(database) => Ok(database),
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
        failure => failure.told_of(name),
    })?;
    Ok(Database::new(connection, name.to_owned(), Some(path.to_owned())))
}

fn is_unwritable(error: &CheckpointError) -> bool {
    matches!(error, CheckpointError::Denied(_))
}

/// The file beside `store` that SQLite writes first.
pub(crate) fn write_ahead_file(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// A store without a file.
pub(crate) fn in_memory() -> Result<Database, CheckpointError> {
    let name = "memory".to_owned();
    let made = || {
        let mut connection = Connection::open_in_memory()?;
        begin(&mut connection)?;
        Ok(Database::new(connection, name.clone(), None))
    };
    made().map_err(|failure: Failure| failure.told_of(&name))
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

pub(crate) fn kind(tx: &Transaction<'_>) -> Result<Kind, Failure> {
    let number = |name| tx.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let tables = tx.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    let unfit = |unfit: Unfit| Err(Failure::Damaged(unfit.into()));
    match (number("application_id")?, number("user_version")?, tables) {
        (0, 0, 0) => Ok(Kind::Empty),
        (0, _, _) => unfit(Unfit::Tables),
        (APPLICATION, FORMAT, _) => Ok(Kind::Store),
        (APPLICATION, format @ 1..FORMAT, _) => unfit(Unfit::Older(format)),
        (APPLICATION, format, _) if format < FORMAT => unfit(Unfit::Format(format)),
        (APPLICATION, format, _) => Err(Failure::Refused(CheckpointError::TooNew {
            found: format.unsigned_abs(),
            supported: FORMAT.unsigned_abs(),
        })),
        (other, _, _) => unfit(Unfit::Foreign(other)),
    }
}

/// Makes the tables, unless another process was faster.
pub(crate) fn begin(connection: &mut Connection) -> Result<(), Failure> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if kind(&tx)? == Kind::Empty {
        tx.execute_batch(TABLES)?;
        tx.execute_batch(tables::TABLES)?;
        tx.pragma_update(None, "application_id", APPLICATION)?;
        tx.pragma_update(None, "user_version", FORMAT)?;
    }
    tx.commit()?;
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
    let mut left = PATIENCE.as_millis() / pause.as_millis();
    let mode: String = loop {
        match turned_on(connection) {
            Err(error) if is_busy(&error) && left > 0 => {
                left -= 1;
                thread::sleep(pause);
            }
            mode => break mode?,
        }
    };
    match mode.as_str() {
        "wal" => Ok(()),
        _ => Err(Failure::Damaged(Unfit::NoWal(mode).into())),
    }
}

pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Why the file could not be opened, as far as it can be told: SQLite says the same of all.
fn unopened(path: &Path, name: &str, error: rusqlite::Error) -> CheckpointError {
    let folder_is_missing = || path.parent().is_some_and(|folder| !folder.exists());
    match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen) if path.is_dir() => not_a_store(name, Unfit::Folder(error)),
        Some(ErrorCode::CannotOpen) if folder_is_missing() => {
            not_a_store(name, Unfit::NoFolder(error))
        }
        Some(ErrorCode::CannotOpen) if !is_forbidden(path) => Failure::Sql(error).told_of(name),
        Some(ErrorCode::CannotOpen) => {
            let denied = MayNot { store: name.to_owned(), source: error.into() };
            CheckpointError::Denied(denied.into())
        }
        _ => Failure::Sql(error).told_of(name),
    }
}

/// Whether rights are what the file at `path` cannot be opened for: not, for one, that no more files may be open.
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
