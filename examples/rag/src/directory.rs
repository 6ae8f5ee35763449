//! The internal directory as tools: people, their leave, meeting rooms.
//!
//! It is a small SQLite file that ships with the example, opened for reading only. What a model asks for is bound as a
//! parameter and never becomes SQL.

mod error;
mod people;
mod rooms;
mod tools;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, OpenFlags, Row, ToSql};

pub use error::DirectoryError;
pub use people::{Leave, Person};
pub use rooms::{Room, Wanted};
pub use tools::tools;

/// Marks the file as a directory of this example (`PRAGMA application_id`).
const APPLICATION_ID: i32 = 0x686e_6b64;

/// The form of its tables (`PRAGMA user_version`).
const VERSION: i32 = 1;

/// The most people or rooms that one question shows.
const MOST: usize = 10;

/// The directory that ships with the example, where the example was built.
pub fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join("directory.sqlite")
}

/// People and rooms, read from a file. Clones share it.
#[derive(Debug, Clone)]
pub struct Directory {
    file: Arc<File>,
}

#[derive(Debug)]
struct File {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl Directory {
    /// Opens the file at `path` for reading and checks it.
    ///
    /// Nothing is written, no lock is taken and no file is made beside it, so the file may stand on a read-only disk.
    ///
    /// # Errors
    ///
    /// [`DirectoryError::Missing`] when there is no such file, [`DirectoryError::Unusable`] when it is damaged or something
    /// else.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DirectoryError> {
        let path = path.as_ref();
        if !path.is_file() {
            return Err(DirectoryError::Missing { path: path.to_owned() });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(immutable(path), flags)
            .map_err(|error| DirectoryError::unusable(path, error))?;
        check(&connection).map_err(|cause| DirectoryError::unusable(path, cause))?;
        let file = File { path: path.to_owned(), connection: Mutex::new(connection) };
        Ok(Self { file: Arc::new(file) })
    }

    /// The rows of a query, read by `read`.
    fn rows<T>(
        &self,
        sql: &str,
        parameters: &[&dyn ToSql],
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, DirectoryError> {
        let connection = self.file.connection.lock().unwrap_or_else(PoisonError::into_inner);
        connection
            .prepare(sql)
            .and_then(|mut query| query.query_map(parameters, read)?.collect())
            .map_err(|error| DirectoryError::unusable(&self.file.path, error))
    }
}

/// `path` as SQLite's name of a file that nobody changes.
fn immutable(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let encoded: String = path
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(|byte| if plain(*byte) { char::from(*byte).into() } else { format!("%{byte:02X}") })
        .collect();
    format!("file:{encoded}?immutable=1")
}

/// Whether the file is whole and one of ours.
fn check(connection: &Connection) -> Result<(), hanok_core::BoxError> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    if (number("application_id")?, number("user_version")?) != (APPLICATION_ID, VERSION) {
        return Err("it is no directory of this example, or one of another version".into());
    }
    let found: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if found != "ok" {
        return Err(found.into());
    }
    Ok(())
}
