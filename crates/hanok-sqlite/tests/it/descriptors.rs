//! A process that may open no more files.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::{env, fs::File, process::Command};

use futures::executor::block_on;
use hanok_checkpoint::CheckpointError;
use hanok_sqlite::Sqlite;

/// Names the store to a child.
const STORE: &str = "HANOK_TEST_DESCRIPTORS";

#[test]
fn child() {
    let Some(path) = env::var_os(STORE) else { return };
    let mut open = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        open.push(file);
    }
    let error = block_on(Sqlite::open(&path)).unwrap_err();
    drop(open);
    assert!(matches!(error, CheckpointError::Unavailable { .. }), "{error:?}");
    block_on(Sqlite::open(&path)).unwrap();
}

/// P8: that no more files may be open is no matter of rights.
#[test]
fn a_file_that_cannot_be_opened_for_want_of_descriptors_may_be_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    block_on(Sqlite::open(&path)).unwrap();
    let child = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$0\" --exact descriptors::child --nocapture"])
        .arg(env::current_exe().unwrap())
        .env(STORE, &path)
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
}
