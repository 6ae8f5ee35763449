//! A store's file that is removed or replaced while the store is open.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use futures::executor::block_on;
use hanok_checkpoint::{
    CheckpointError, Checkpointer, Cursor, Epoch, Life, Put, Store, StoreError, Trim,
};
use hanok_core::{ItemKey, Labels, Position, Stored, Tenant, Timestamp};
use hanok_sqlite::Sqlite;
use tempfile::TempDir;

use crate::support::{self, key};

fn append(store: &Sqlite, at: u64) -> Result<(), CheckpointError> {
    block_on(store.append(&key("t"), support::append(&key("t"), at, "some text")))
}

fn put(store: &Sqlite) -> Result<(), StoreError> {
    let item = ItemKey::new(Tenant::default(), Labels::new(["users"]).unwrap(), "leave").unwrap();
    let put = Put::new(Stored::encode("15 days").unwrap());
    block_on(store.put(&item, put, Timestamp(1))).map(drop)
}

fn open(path: &Path) -> Sqlite {
    block_on(Sqlite::open(path)).unwrap()
}

fn length(store: &Sqlite) -> u64 {
    block_on(store.head(&key("t"))).unwrap().map_or(0, |head| head.position.0)
}

/// A store with two appends that is open, and a closed one with as many beside it.
fn two() -> (TempDir, PathBuf, Sqlite, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("threads.db"), folder.path().join("other.db"));
    for path in [&path, &other] {
        let store = open(path);
        append(&store, 0).unwrap();
        append(&store, 1).unwrap();
        block_on(store.close()).unwrap();
    }
    let store = open(&path);
    (folder, path, store, other)
}

fn is_replaced(error: &CheckpointError, path: &Path) -> bool {
    matches!(error, CheckpointError::Replaced { what } if what.contains(path.to_str().unwrap()))
}

/// P1, P8: what is written to a file that nobody finds again is not acknowledged, whatever became of the file.
#[test]
fn a_file_that_was_removed_or_replaced_takes_no_writes() {
    let removed = |path: &Path, _: &Path| fs::remove_file(path).unwrap();
    let renamed = |path: &Path, _: &Path| fs::rename(path, path.with_extension("old")).unwrap();
    let replaced = |path: &Path, other: &Path| fs::rename(other, path).unwrap();
    let by_its_copy = |path: &Path, other: &Path| {
        fs::copy(path, other).unwrap();
        fs::rename(other, path).unwrap();
    };
    type Change = fn(&Path, &Path);
    for (what, change, left) in [
        ("removed", removed as Change, 0),
        ("renamed", renamed, 0),
        ("replaced", replaced, 2),
        ("replaced by its copy", by_its_copy, 2),
    ] {
        // The newest append is in the write-ahead file alone, or there is none.
        for written in [false, true] {
            let (_folder, path, store, other) = two();
            if written {
                append(&store, 2).unwrap();
            }
            let before = length(&store);
            change(&path, &other);
            for _ in 0..2 {
                let error = append(&store, before).unwrap_err();
                assert!(is_replaced(&error, &path), "{what}: {error:?}");
            }
            assert_eq!(length(&store), before, "{what}: what was stored can be read");
            drop(fs::remove_file(path.with_extension("db-wal")));
            drop(fs::remove_file(path.with_extension("db-shm")));
            drop(store);
            let store = open(&path);
            assert_eq!(length(&store), left, "{what}");
            append(&store, left).unwrap();
        }
    }
}

/// P8: each way of writing looks.
#[test]
fn nothing_is_written_to_a_file_that_was_replaced() {
    let (_folder, path, store, other) = two();
    fs::rename(&other, &path).unwrap();
    let (life, now) = (Life::default(), Timestamp(1));
    let (floor, base) = (Position(1), "base".into());
    let trim = Trim { life, floor, base, expected: None, envelopes: Vec::new(), then: None };
    let cursor = Cursor::default();
    for (what, refused) in [
        ("append", append(&store, 2)),
        ("snapshot", block_on(store.put_snapshot(&key("t"), life, Position(2), "s".into()))),
        ("heartbeat", block_on(store.beat(&key("t"), life, Epoch(1), now))),
        ("delete", block_on(store.delete(&key("t"), None)).map(drop)),
        ("trim", block_on(store.trim(&key("t"), trim))),
        ("cursor", block_on(store.advance("consumer", "topic", cursor))),
        ("truncate", block_on(store.truncate()).map(drop)),
        ("backup", block_on(store.backup(path.with_extension("backup")))),
    ] {
        let error = refused.unwrap_err();
        assert!(is_replaced(&error, &path), "{what}: {error:?}");
    }
    for refused in [put(&store), block_on(store.sweep(now, 9)).map(drop)] {
        let error = refused.unwrap_err();
        assert!(
            matches!(&error, StoreError::Storage(error) if is_replaced(error, &path)),
            "{error:?}"
        );
    }
    let bytes = fs::read(&path).unwrap();
    drop(store);
    assert_eq!(fs::read(&path).unwrap(), bytes, "the other file is left alone");
}

/// P8: a handle that is closed late leaves alone what stands beside the new file, which somebody else writes to.
#[test]
fn what_stands_beside_the_new_file_is_left_alone() {
    let (_folder, path, store, other) = two();
    append(&store, 2).unwrap();
    for ending in ["db-wal", "db-shm"] {
        fs::rename(path.with_extension(ending), path.with_extension("away")).unwrap();
    }
    fs::rename(&other, &path).unwrap();
    let new = open(&path);
    append(&new, 2).unwrap();
    append(&new, 3).unwrap();
    let newest = fs::read(path.with_extension("db-wal")).unwrap();
    append(&store, 3).unwrap_err();
    block_on(store.close()).unwrap_err();
    assert_eq!(fs::read(path.with_extension("db-wal")).unwrap(), newest);
    assert_eq!(length(&open(&path)), 4);
    append(&new, 4).unwrap();
}

/// A store that has no file of its own has none that could go.
#[test]
fn a_store_in_memory_has_no_file_to_look_for() {
    let store = block_on(Sqlite::in_memory()).unwrap();
    append(&store, 0).unwrap();
    put(&store).unwrap();
}

/// What changes a file in place does not replace it.
#[test]
fn a_file_that_others_write_to_is_the_same_file() {
    let (_folder, path, store, _) = two();
    let other = open(&path);
    append(&other, 2).unwrap();
    block_on(other.truncate()).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch("VACUUM").unwrap();
    append(&store, 3).unwrap();
    // A second name, and a way over a link.
    fs::hard_link(&path, path.with_extension("second")).unwrap();
    append(&store, 4).unwrap();
    let link = path.with_extension("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    append(&open(&link), 5).unwrap();
}
