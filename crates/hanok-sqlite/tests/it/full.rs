//! A disk that is full, where one may be mounted.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may stop at what it did not expect, and says when it is skipped"
)]

use std::{fs, path::Path, process::Command};

use hanok_checkpoint::{CheckpointError, Log, SharedCheckpointer};
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{
    App, BoxError, Context, Durability, END, Graph, Outcome, RunError, START, Snapshot,
};
use hanok_sqlite::Sqlite;
use hanok_state::{List, State};

/// A disk of two megabytes, until it is dropped.
struct Disk(tempfile::TempDir);

impl Disk {
    fn mounted() -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m", "hanok"])
            .arg(folder.path())
            .output();
        match mount {
            Ok(done) if done.status.success() => Ok(Self(folder)),
            Ok(done) => Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("--lazy").arg(self.path()).status());
    }
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct S {
    #[reduce(append)]
    said: List<String>,
}

async fn say(_: Snapshot<S>, _: Context) -> Result<SUpdate, BoxError> {
    Ok(S::update().push_said("말".repeat(10_000)))
}

fn app(store: Sqlite, durability: Durability) -> App<S> {
    let graph = Graph::<S>::builder("says").node("say", say).edge(START, "say").edge("say", END);
    graph.build().unwrap().checkpointer(store).durable(durability)
}

/// P8: a run on a full disk fails with a typed error, what was stored can be read, and the thread goes on when there is room
/// again, with nothing lost and nothing twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_told_and_loses_nothing() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let disk = match Disk::mounted() {
            Ok(disk) => disk,
            Err(why) => return eprintln!("skipped: no small disk can be mounted: {why}"),
        };
        let filler = disk.path().join("filler");
        fs::write(&filler, vec![0; 1_000_000]).unwrap();
        let store = Sqlite::open(disk.path().join("threads.db")).await.unwrap();
        let app = app(store.clone(), durability);
        let thread = app.thread(ThreadKey::new(Tenant::default(), "t").unwrap());
        let mut done = 0;
        let error = loop {
            match thread.invoke(S::update(), ()).await {
                Ok(Outcome::Done(state)) => done = state.said.len(),
                Ok(other) => panic!("{other:?}"),
                Err(error) => break error,
            }
            assert!(done < 1_000, "the disk is never full");
        };
        assert!(
            matches!(error, RunError::Checkpoint(CheckpointError::Full(_))),
            "{durability:?}: {error:?}"
        );
        let stored = thread.state(None).await.unwrap().unwrap().said.len();
        assert!((done..=done + 1).contains(&stored), "{stored} of {done}");

        fs::remove_file(&filler).unwrap();
        // The turn that was cut short is finished, if it had begun, and another one follows.
        thread.resume(()).await.unwrap();
        let before = thread.state(None).await.unwrap().unwrap().said.len();
        assert!((done..=done + 1).contains(&before), "{before} of {done}");
        let state = thread.invoke(S::update(), ()).await.unwrap().done().unwrap();
        assert_eq!(state.said.len(), before + 1);
        assert_eq!(thread.state(None).await.unwrap(), Some(state));
        let log = Log::new(SharedCheckpointer::new(store), thread.key().clone());
        let whole = log.verify().await.unwrap().unwrap();
        assert!(whole.damage.is_none() && whole.bad_snapshots.is_empty(), "{whole:?}");
    }
}
