//! What stands beside the file when a store is closed, and copies of a store that is in use.
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use futures::executor::block_on;
use hanok_checkpoint::{CheckpointError, Checkpointer, Log, SharedCheckpointer};

use hanok_sqlite::{Sqlite, WriteAhead};
use rusqlite::Connection;

use crate::support::{self, key};

fn append(store: &Sqlite, at: u64) {
    block_on(store.append(&key("t"), support::append(&key("t"), at, "some text"))).unwrap();
}

fn open(path: &Path) -> Sqlite {
    block_on(Sqlite::open(path)).unwrap()
}

/// How many entries a copy of the file alone holds, each verified.
fn in_a_copy(path: &Path) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    fs::copy(path, &copy).unwrap();
    verified(&copy)
}

fn verified(path: &Path) -> u64 {
    let log = Log::new(SharedCheckpointer::new(open(path)), key("t"));
    let Some(verified) = block_on(log.verify()).unwrap() else { return 0 };
    assert!(verified.is_whole(), "{verified:?}");
    block_on(log.history(None, usize::MAX)).unwrap().len() as u64
}

fn beside(path: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(path.parent().unwrap()).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| file != path).collect()
}

/// P5: dropping the last handle waits until the file is closed.
#[test]
fn after_the_last_handle_the_file_alone_holds_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    for round in 0..20 {
        let (store, other) = (open(&path), open(&path));
        let clone = store.clone();
        append(&store, round);
        drop(store);
        drop(other);
        assert!(!beside(&path).is_empty(), "a clone is a handle");
        drop(clone);
        assert_eq!(beside(&path), [] as [PathBuf; 0], "round {round}");
        assert_eq!(in_a_copy(&path), round + 1);
    }
}

/// P5
#[test]
fn closing_says_whether_the_file_alone_holds_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let store = open(&path);
    append(&store, 0);
    let clone = store.clone();
    assert_eq!(block_on(store.close()).unwrap(), WriteAhead::Empty);
    assert_eq!((beside(&path), in_a_copy(&path)), (Vec::new(), 1));
    let error = block_on(clone.head(&key("t"))).unwrap_err();
    assert!(matches!(error, CheckpointError::Unavailable { .. }), "{error:?}");
    assert!(block_on(clone.close()).is_err());

    // Another handle that is open and idle keeps nothing; one that reads does.
    let (store, other) = (open(&path), open(&path));
    append(&store, 1);
    assert_eq!(block_on(store.close()).unwrap(), WriteAhead::Empty);
    assert_eq!(in_a_copy(&path), 2);
    let mut raw = Connection::open(&path).unwrap();
    let reading = raw.transaction().unwrap();
    reading.query_row("SELECT count(*) FROM records", (), |_| Ok(())).unwrap();
    append(&other, 2);
    assert_eq!(block_on(other.close()).unwrap(), WriteAhead::InUse);
    assert_eq!(in_a_copy(&path), 2, "what a copy lacks is beside the file");
    drop(reading);
    drop(raw);
    assert_eq!(verified(&path), 3);
    assert_eq!(beside(&path), [] as [PathBuf; 0]);
}

/// P5, P7: a backup is of one moment, whoever writes and reads meanwhile.
#[test]
fn a_backup_of_a_store_in_use_is_a_store_of_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let store = open(&path);
    append(&store, 0);
    let mut raw = Connection::open(&path).unwrap();
    let reading = raw.transaction().unwrap();
    reading.query_row("SELECT count(*) FROM records", (), |_| Ok(())).unwrap();

    let (stop, stopped) = mpsc::channel::<()>();
    let writer = thread::spawn({
        let store = store.clone();
        move || {
            let mut at = 1;
            while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
                append(&store, at);
                at += 1;
            }
            at
        }
    });
    let copies: Vec<_> = (0..5).map(|n| folder.path().join(format!("backup {n}"))).collect();
    let mut least = 1;
    for copy in &copies {
        block_on(store.backup(copy)).unwrap();
        let held = verified(copy);
        assert!(held >= least, "{held} < {least}");
        least = block_on(store.head(&key("t"))).unwrap().unwrap().position.0;
    }
    drop(stop);
    assert!(writer.join().unwrap() >= least);

    let before = fs::read(copies.first().unwrap()).unwrap();
    let error = block_on(store.backup(copies.first().unwrap())).unwrap_err();
    assert!(matches!(error, CheckpointError::Denied(_)), "{error:?}");
    assert_eq!(fs::read(copies.first().unwrap()).unwrap(), before, "a backup overwrites nothing");
    let error = block_on(store.backup(folder.path().join("none/backup"))).unwrap_err();
    assert!(matches!(error, CheckpointError::Unavailable { .. }), "{error:?}");
}

#[test]
fn a_store_in_memory_is_backed_up_into_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = block_on(Sqlite::in_memory()).unwrap();
    append(&store, 0);
    let copy = folder.path().join("copy.db");
    block_on(store.backup(&copy)).unwrap();
    assert_eq!(verified(&copy), 1);
    assert_eq!(block_on(store.close()).unwrap(), WriteAhead::Empty);
}

/// P57
#[test]
fn what_a_reader_keeps_of_what_was_removed_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let store = open(&path);
    append(&store, 0);
    let mut raw = Connection::open(&path).unwrap();
    let reading = raw.transaction().unwrap();
    reading.query_row("SELECT count(*) FROM records", (), |_| Ok(())).unwrap();
    assert!(block_on(store.delete(&key("t"), None)).unwrap());
    assert_eq!(block_on(store.truncate()).unwrap(), WriteAhead::InUse);
    drop(reading);
    assert_eq!(block_on(store.truncate()).unwrap(), WriteAhead::Empty);
}
