//! Stores that may only be read, in folders that may not be written.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use futures::executor::block_on;
use hanok_checkpoint::{CheckpointError, Checkpointer, Log, SharedCheckpointer, Which};

use hanok_sqlite::{Sqlite, WriteAhead};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{self, key};

/// Names the store to a child.
const STORE: &str = "HANOK_TEST_READ_ONLY";

fn append(store: &Sqlite, at: u64) -> Result<(), CheckpointError> {
    block_on(store.append(&key("t"), support::append(&key("t"), at, "some text")))
}

/// A store of two entries in a folder of its own, whose name has signs that mean something in a URI.
fn store() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    chmod(folder.path(), 0o755);
    let inner = folder.path().join("a %41?mode=rwc#한옥");
    fs::create_dir(&inner).unwrap();
    let path = inner.join("threads.db");
    let store = block_on(Sqlite::open(&path)).unwrap();
    append(&store, 0).unwrap();
    append(&store, 1).unwrap();
    (folder, path)
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Has nobody but root write to `path` and its folder, and looks at it as somebody who is not root. Says what that printed,
/// `None` where nobody else can be found.
fn looked_at(path: &Path) -> Option<String> {
    let folder = path.parent().unwrap();
    for file in fs::read_dir(folder).unwrap() {
        chmod(&file.unwrap().path(), 0o444);
    }
    chmod(folder, 0o555);
    // Somebody else may not be allowed to where this program lies.
    let apart = tempfile::tempdir().unwrap();
    chmod(apart.path(), 0o755);
    let program = apart.path().join("looks");
    fs::copy(env::current_exe().unwrap(), &program).unwrap();
    let is_root = fs::metadata("/proc/self").is_ok_and(|me| {
        use std::os::unix::fs::MetadataExt;
        me.uid() == 0
    });
    let mut command = match is_root {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
            command
        }
        false => Command::new(&program),
    };
    let ran =
        command.args(["--exact", "read_only::child", "--nocapture"]).env(STORE, path).output();
    chmod(folder, 0o755);
    let Ok(ran) = ran else {
        eprintln!("skipped: root may write everything, and setpriv is missing");
        return None;
    };
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Some(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// What the other user does.
#[test]
fn child() {
    let Some(path) = env::var_os(STORE) else { return };
    let store = match block_on(Sqlite::open(&path)) {
        Ok(store) => store,
        Err(error) => {
            println!("refused: {}", std::error::Error::source(&error).unwrap().source().unwrap());
            return;
        }
    };
    assert_eq!(block_on(store.threads(Which::All, None, 9)).unwrap().len(), 1);
    let log = Log::new(SharedCheckpointer::new(store.clone()), key("t"));
    let verified = block_on(log.verify()).unwrap().unwrap();
    assert!(verified.is_whole(), "{verified:?}");
    let refused = append(&store, verified.records as u64).unwrap_err();
    assert!(matches!(refused, CheckpointError::Denied(_)), "{refused:?}");
    assert_eq!(block_on(store.truncate()).unwrap(), WriteAhead::Empty);
    let copy = env::temp_dir().join(format!("hanok-copy-{}", std::process::id()));
    block_on(store.backup(&copy)).unwrap();
    fs::remove_file(&copy).unwrap();
    println!("records: {}", verified.records);
}

/// P8
#[test]
fn a_store_in_a_folder_that_may_not_be_written_is_read() {
    let (_folder, path) = store();
    let before = fs::read(&path).unwrap();
    let Some(said) = looked_at(&path) else { return };
    assert!(said.contains("records: 2"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

/// P7, P8: what stands beside the file is not passed over.
#[test]
fn a_store_whose_newest_entries_are_beside_it_is_not_read_without_them() {
    let (_folder, path) = store();
    let raw = Connection::open(&path).unwrap();
    raw.query_row("SELECT count(*) FROM records", (), |_| Ok(())).unwrap();
    let store = block_on(Sqlite::open(&path)).unwrap();
    append(&store, 2).unwrap();
    let wal = fs::read(path.with_extension("db-wal")).unwrap();
    drop((store, raw));
    fs::write(path.with_extension("db-wal"), wal).unwrap();
    let Some(said) = looked_at(&path) else { return };
    assert!(said.contains("refused: its newest entries are in"), "{said}");
}
