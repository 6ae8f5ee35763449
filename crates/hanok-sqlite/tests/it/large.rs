//! What one large value costs in memory, as the system counts it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::fs;

use bytes::Bytes;
use hanok_checkpoint::{Append, AppendId, Checkpointer, Guard, Life, Record, Snapshots};
use hanok_core::{Position, Tenant, ThreadKey};
use hanok_sqlite::Sqlite;

/// What the value repeats, and how often.
const PART: &[u8] = b"a large value, of which no part looks like the one a page later. ";
const TIMES: usize = 3_000_000;
const LARGE: usize = PART.len() * TIMES;

/// The most memory that this process had since it was asked last: `VmHWM`, in KiB, which 5 sets back (proc(5)).
fn most() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let most: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
    fs::write("/proc/self/clear_refs", "5").unwrap();
    most * 1024
}

/// A large record and a large snapshot are in memory once, when they are written and when they are read.
#[tokio::test]
async fn a_large_value_is_in_memory_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path().join("threads.db")).await.unwrap();
    let thread = ThreadKey::new(Tenant::default(), "t").unwrap();
    let value = Bytes::from(PART.repeat(TIMES));
    let record = Record { position: Position(1), bytes: value.clone() };
    let append = Append::new(AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
    store.append(&thread, append).await.unwrap();
    store.put_snapshot(&thread, Life::default(), Position(1), value.clone()).await.unwrap();
    let written = most();
    assert!(written < LARGE + LARGE / 2, "{written} bytes to write {LARGE}");
    drop(value);
    most();
    for snapshots in [Snapshots::Ignore, Snapshots::Use] {
        let opened = store.open(&thread, None, snapshots).await.unwrap().unwrap();
        let read = match opened.snapshot {
            Some((_, snapshot)) => snapshot,
            None => opened.records[0].bytes.clone(),
        };
        assert!(read.len() == LARGE && read.chunks(PART.len()).all(|part| part == PART));
        drop(read);
        let most = most();
        assert!(most < LARGE + LARGE / 2, "{most} bytes to read {LARGE}");
    }
}
