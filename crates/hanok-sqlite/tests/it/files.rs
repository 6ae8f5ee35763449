//! Files that are no store, stores that are damaged, and what a store costs and leaves.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use futures::{FutureExt, executor::block_on};
use hanok_checkpoint::{
    Append, CheckpointError, Checkpointer, Life, Log, Safety, SharedCheckpointer,
};
use hanok_core::Position;
use hanok_sqlite::Sqlite;
use hanok_testkit::{sampled, shortened};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::support::{append, key};

fn open(path: &Path) -> Result<Sqlite, CheckpointError> {
    block_on(Sqlite::open(path))
}

/// An error and its causes, without the folder.
fn told(error: &CheckpointError, folder: &TempDir) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text.replace(&*folder.path().to_string_lossy(), "…")
}

/// The bytes of the file and of those that belong to it, by name.
fn files(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut files: Vec<_> = files
        .map(|file| file.unwrap().path())
        .filter(|file| {
            file.is_file() && file.to_string_lossy().starts_with(&*path.to_string_lossy())
        })
        .map(|file| (file.clone(), fs::read(file).unwrap()))
        .collect();
    files.sort();
    files
}

/// A store with `count` entries, closed.
fn store(folder: &TempDir, count: u64) -> PathBuf {
    let path = folder.path().join("threads.db");
    let store = open(&path).unwrap();
    for at in 0..count {
        block_on(store.append(&key("t"), append(&key("t"), at, "some text"))).unwrap();
    }
    drop(store);
    path
}

/// P8, P12
#[test]
fn a_file_that_is_no_store_is_told_by_its_path_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let database =
        |name: &str, sql: &str| Connection::open(at(name)).unwrap().execute_batch(sql).unwrap();
    fs::write(at("notes.txt"), "these are my notes\n".repeat(100)).unwrap();
    fs::write(at("short"), "xy").unwrap();
    fs::write(
        at("noise"),
        (0..9000u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect::<Vec<_>>(),
    )
    .unwrap();
    fs::create_dir(at("folder")).unwrap();
    database("photos.db", "CREATE TABLE photos (name)");
    database(
        "mail.db",
        "PRAGMA journal_mode = WAL; CREATE TABLE mail (id); PRAGMA application_id = 7",
    );
    database("old.db", "PRAGMA user_version = 3");
    database("zero.db", "PRAGMA application_id = 0x686e6f6b; CREATE TABLE threads (id)");

    for (name, want) in [
        ("notes.txt", "`…/notes.txt` is not a readable store: file is not a database"),
        ("short", "`…/short` is not a readable store: file is not a database"),
        ("noise", "`…/noise` is not a readable store: file is not a database"),
        ("folder", "`…/folder` is not a readable store: it is a folder"),
        (
            "none/threads.db",
            "`…/none/threads.db` is not a readable store: its folder does not exist",
        ),
        ("photos.db", "`…/photos.db` is not a readable store: it holds tables that are not ours"),
        (
            "mail.db",
            "`…/mail.db` is not a readable store: it belongs to another program (application id 0x00000007)",
        ),
        ("old.db", "`…/old.db` is not a readable store: it holds tables that are not ours"),
        ("zero.db", "`…/zero.db` is not a readable store: its format is 0, which no build writes"),
    ] {
        let before = fs::read(at(name)).ok();
        let Err(error) = open(&at(name)) else { panic!("{name} is taken for a store") };
        assert!(matches!(error, CheckpointError::NotAStore { .. }), "{error:?}");
        let said = told(&error, &folder);
        assert!(said.starts_with(want), "{said}");
        assert_eq!(fs::read(at(name)).ok(), before, "{name}");
    }
    assert!(!at("none").exists());
    assert!(open(Path::new("")).is_err());
}

/// P12
#[test]
fn a_newer_store_is_told_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = store(&folder, 3);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 5).unwrap();
    let before = fs::read(&path).unwrap();

    let error = open(&path).unwrap_err();
    assert!(matches!(error, CheckpointError::TooNew { format: 5, supported: 4 }), "{error:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 4).unwrap();
    let head = block_on(open(&path).unwrap().head(&key("t"))).unwrap().unwrap();
    assert_eq!(head.position, Position(3));
}

/// P8
#[test]
fn an_empty_file_becomes_a_store_and_any_name_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["empty", ":memory:", "file:x?mode=memory", "한옥 '%_' 🙂.db"] {
        let path = folder.path().join(name);
        fs::write(&path, "").unwrap();
        let it = open(&path).unwrap();
        block_on(it.append(&key("t"), append(&key("t"), 0, "a"))).unwrap();
        // A second handle sees it, so it is in the file.
        let head = block_on(open(&path).unwrap().head(&key("t"))).unwrap();
        assert_eq!(head.unwrap().position, Position(1), "{name}");
    }
}

/// P7, B79
#[test]
fn a_damaged_file_never_reads_as_another_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = store(&folder, 5);
    let whole = fs::read(&path).unwrap();
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let store = SharedCheckpointer::new(open(&path)?);
        let log = Log::new(store, key("t"));
        let opened = block_on(log.open(None))?;
        let history = block_on(log.history(None, 99))?;
        Ok(opened.map(|opened| (opened.fold, history)))
    };
    let want = read(&whole).unwrap();
    assert!(want.is_some());
    let mut errors = 0;
    let mut check = |bytes: &[u8], case: &str| {
        let got: Result<_, CheckpointError> = read(bytes);
        // A thread whose name is damaged is not there; what is there is right.
        errors += usize::from(got.is_err());
        match got {
            Err(_) | Ok(None) => {}
            got => assert_eq!(got.unwrap(), want, "{case}"),
        }
        drop(fs::remove_file(path.with_extension("db-wal")));
        drop(fs::remove_file(path.with_extension("db-shm")));
    };
    for len in sampled((512..whole.len()).step_by(512)) {
        check(&whole[..len], &format!("{len} bytes"));
    }
    // What is not zero says something; of the rest a part will do.
    let said = whole.iter().enumerate().filter(|(at, byte)| **byte != 0 || at % 97 == 0);
    for at in sampled(said.map(|(at, _)| at)) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        check(&damaged, &format!("byte {at}"));
    }
    assert!(errors > shortened(100), "{errors}");
}

/// P7
#[test]
fn a_record_that_is_missing_is_told_with_the_last_good_position() {
    let folder = tempfile::tempdir().unwrap();
    for (sql, position) in [
        ("DELETE FROM records WHERE position = 3", 3),
        ("DELETE FROM records WHERE position = 1", 1),
        ("DELETE FROM records WHERE position = 5", 5),
        ("DELETE FROM records", 1),
        ("UPDATE records SET position = 9 WHERE position = 4", 4),
        ("UPDATE threads SET head = 7", 6),
        ("UPDATE threads SET head = 2", 3),
    ] {
        let path = store(&folder, 5);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let log = Log::new(SharedCheckpointer::new(open(&path).unwrap()), key("t"));
        match block_on(log.open(None)) {
            Err(CheckpointError::Corrupt { position: told, last_good, .. }) => {
                assert_eq!((told.0, last_good.0), (position, position - 1), "{sql}");
                let before = block_on(log.open(Some(last_good))).unwrap().unwrap();
                assert_eq!(before.fold.position, last_good, "{sql}");
            }
            other => panic!("{sql}: {other:?}"),
        }
        drop(log);
        fs::remove_file(&path).unwrap();
    }
}

/// P57, B75
#[test]
fn what_was_deleted_is_not_in_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let it = open(&path).unwrap();
    let secret = "the secret of the house";
    for at in 0..50 {
        for (thread, text) in [("gone", secret), ("kept", "something else")] {
            block_on(it.append(&key(thread), append(&key(thread), at, &text.repeat(20)))).unwrap();
        }
    }
    block_on(it.put_snapshot(
        &key("gone"),
        Life::default(),
        Position(9),
        secret.as_bytes().repeat(999).into(),
    ))
    .unwrap();
    let holds =
        |bytes: &[u8]| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
    assert!(files(&path).iter().any(|(_, bytes)| holds(bytes)));

    assert!(block_on(it.delete(&key("gone"), None)).unwrap());
    for (file, bytes) in files(&path) {
        assert!(!holds(&bytes), "{}", file.display());
    }
    let page = block_on(it.history(&key("kept"), None, 99)).unwrap().unwrap();
    assert_eq!(page.records.len(), 50);
}

/// B77
#[test]
fn a_log_costs_less_than_three_times_what_was_said() {
    for (size, threads, count) in [(300, 1, 1000), (300, 50, 2000), (1500, 10, 500), (6000, 1, 200)]
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("threads.db");
        let it = open(&path).unwrap();
        for n in 0..count {
            let thread = key(&format!("thread {}", n % threads));
            block_on(it.append(&thread, append(&thread, n / threads, &"x".repeat(size)))).unwrap();
        }
        let other = Connection::open(&path).unwrap();
        other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).unwrap();
        let stored: u64 = files(&path)
            .iter()
            .map(|(file, bytes)| match file.extension() {
                // The index of the write-ahead file has a fixed size.
                Some(end) if end == "db-shm" => 0,
                _ => bytes.len() as u64,
            })
            .sum();
        let said = size as u64 * count;
        assert!(stored < 3 * said, "{size} bytes in {threads} threads: {stored} for {said}");
    }
}

/// P15
#[test]
fn a_call_whose_caller_is_gone_runs_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let it = open(&path).unwrap();
    for at in 0..20 {
        // Polled once, dropped before its answer.
        drop(it.append(&key("t"), append(&key("t"), at, "a")).now_or_never());
    }
    // And the handle goes before its queue is done.
    drop(it);
    let head = block_on(open(&path).unwrap().head(&key("t"))).unwrap();
    assert_eq!(head.unwrap().position, Position(20));
}

/// P15
#[test]
fn a_call_that_was_never_polled_does_nothing() {
    let it = block_on(Sqlite::in_memory()).unwrap();
    let thread = key("t");
    drop(it.append(&thread, append(&thread, 0, "a")));
    assert_eq!(block_on(it.head(&thread)).unwrap(), None);
}

/// P57, P8: whoever reads the file holds up no delete, which is one at once; what it leaves in the write-ahead file goes when the
/// reader has gone.
#[test]
fn a_delete_does_not_wait_for_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = store(&folder, 3);
    let it = open(&path).unwrap();
    for at in 0..5 {
        block_on(it.append(&key("other"), append(&key("other"), at, "x"))).unwrap();
    }
    let mut reader = Connection::open(&path).unwrap();
    let reading = reader.transaction().unwrap();
    let count = |reading: &Connection| {
        let sql = "SELECT count(*) FROM records";
        reading.query_row(sql, (), |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(count(&reading), 8);
    let log = || fs::metadata(path.with_extension("db-wal")).unwrap().len();
    for thread in ["t", "other"] {
        assert!(block_on(it.delete(&key(thread), None)).unwrap());
        block_on(it.append(&key("more"), append(&key("more"), u64::from(thread != "t"), "y")))
            .unwrap();
    }
    assert!(log() > 0, "a reader keeps the write-ahead file");
    assert_eq!(count(&reading), 8, "what it began to read stays as it was");
    drop(reading);
    // Whatever is asked next finds it gone.
    block_on(it.head(&key("t"))).unwrap();
    assert_eq!(log(), 0);
}

/// P1: an append whose answer was lost is made again, and what it stored is then as safe as it is asked to be: what has to
/// survive the machine is synced by a commit that writes, though there is nothing new to store.
#[test]
fn an_append_that_is_made_again_is_as_safe_as_it_is_asked_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = store(&folder, 1);
    let it = open(&path).unwrap();
    let again = |safety| Append { safety, ..append(&key("t"), 1, "x") };
    let log = || fs::metadata(path.with_extension("db-wal")).unwrap().len();
    block_on(it.append(&key("t"), again(Safety::Process))).unwrap();
    let before = log();
    block_on(it.append(&key("t"), again(Safety::Process))).unwrap();
    assert_eq!(log(), before, "nothing is written where nothing has to be synced");
    block_on(it.append(&key("t"), again(Safety::Machine))).unwrap();
    assert!(log() > before, "what has to be synced is synced with something");
    assert_eq!(block_on(it.head(&key("t"))).unwrap().unwrap().position, Position(2));
}

/// P7, P23: a head that was damaged is told in one step, wherever it points.
#[test]
fn a_head_that_points_beyond_its_records_is_told_at_once() {
    for bit in [3, 10, 24, 40, 60, 62] {
        let folder = tempfile::tempdir().unwrap();
        let path = store(&folder, 3);
        let raw = Connection::open(&path).unwrap();
        raw.execute("UPDATE threads SET head = head | (1 << ?1)", [bit]).unwrap();
        drop(raw);
        let store = SharedCheckpointer::new(open(&path).unwrap());
        let log = Log::new(store, key("t"));
        let error = block_on(log.open(None)).unwrap_err();
        let told = matches!(
            error,
            CheckpointError::Corrupt { position: Position(4), last_good: Position(3), .. }
        );
        assert!(told, "bit {bit}: {error:?}");
        let found = block_on(log.verify()).unwrap().unwrap();
        let damage = found.damage.unwrap();
        assert_eq!((damage.position, damage.last_good), (Position(4), Position(3)), "bit {bit}");
    }
}
