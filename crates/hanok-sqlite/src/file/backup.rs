//! A copy of a store, made while it is in use.

use std::{
    fs::{self, OpenOptions},
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use hanok_checkpoint::CheckpointError;
use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};
use thiserror::Error;

use super::lock::PATIENCE;
use crate::failure::{Failure, MayNot};

/// Why no copy was made.
#[derive(Debug, Error)]
enum Uncopied {
    #[error("it is there already, and a backup overwrites nothing")]
    Exists(#[source] io::Error),
    #[error("the store stays locked")]
    Locked,
}

/// Copies what `from` sees at one moment into the file `to`, which is made.
pub(crate) fn back_up(from: &Connection, to: &Path) -> Result<(), CheckpointError> {
    let name = to.display().to_string();
    make(to, &name)?;
    copy(from, to).map_err(|failure| {
        // Half a copy is none. That it stays is worth less than why it is half.
        drop(fs::remove_file(to));
        failure.into_error(&name)
    })
}

/// Makes an empty file, where there is none.
pub(crate) fn make(to: &Path, name: &str) -> Result<(), CheckpointError> {
    let refused = |source| CheckpointError::Denied(MayNot { store: name.into(), source }.into());
    match OpenOptions::new().write(true).create_new(true).open(to) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(refused(Uncopied::Exists(error).into()))
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(refused(error.into())),
        Err(error) => Err(CheckpointError::Unavailable {
            reason: "a file cannot be opened",
            source: error.into(),
        }),
    }
}

/// All pages in one step: so they are of one moment, and whoever writes meanwhile goes on.
fn copy(from: &Connection, to: &Path) -> Result<(), Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut copy = Connection::open_with_flags(to, flags)?;
    let until = Instant::now() + PATIENCE;
    {
        let backup = Backup::new(from, &mut copy)?;
        while backup.step(-1)? != StepResult::Done {
            if Instant::now() > until {
                let (reason, source) = ("it is locked", Uncopied::Locked.into());
                return Err(CheckpointError::Unavailable { reason, source }.into());
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
    copy.close().map_err(|(_, error)| Failure::Sql(error))
}
