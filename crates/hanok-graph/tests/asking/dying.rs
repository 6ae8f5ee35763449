//! A store whose process dies at an append that a test names.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use hanok_checkpoint::{
    Append, Body, CheckpointError, Checkpointer, Codec, Opened, SharedCheckpointer, Snapshots,
};
use hanok_core::{Position, ThreadKey};
use hanok_testkit::{Layer, Layered};

/// When, within an append, the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dies {
    /// Before it is stored.
    Before,
    /// After it is stored and before the answer.
    After,
}

/// A store whose process dies at the `nth` append (counted from 1) that holds an entry of a kind.
#[derive(Clone)]
pub(crate) struct Dying {
    store: SharedCheckpointer,
    at: Arc<dyn Fn(&Body) -> bool + Send + Sync>,
    nth: usize,
    dies: Dies,
    /// How often other tasks run between a read and its answer.
    slow: usize,
    seen: Arc<AtomicUsize>,
    dead: Arc<AtomicBool>,
}

impl Dying {
    pub(crate) fn new(
        store: &SharedCheckpointer,
        (nth, dies): (usize, Dies),
        at: impl Fn(&Body) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            store: store.clone(),
            at: Arc::new(at),
            nth,
            dies,
            slow: 0,
            seen: Arc::default(),
            dead: Arc::default(),
        }
    }

    /// A store that never dies, whose reads are answered late: others write in between.
    pub(crate) fn late(store: &SharedCheckpointer, slow: usize) -> Self {
        Self { slow, ..Self::new(store, (usize::MAX, Dies::Before), |_| false) }
    }

    /// Whether it came to that.
    pub(crate) fn died(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    pub(crate) fn shared(&self) -> SharedCheckpointer {
        SharedCheckpointer::new(Layered(self.clone()))
    }
}

fn gone() -> CheckpointError {
    CheckpointError::Unavailable { reason: "dead", source: "dead".into() }
}

impl fmt::Debug for Dying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dying").field("dies", &self.dies).finish_non_exhaustive()
    }
}

impl Layer for Dying {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        // Once dead, nothing is stored any more.
        if self.died() {
            return Err(gone());
        }
        let named = append.records.iter().any(|record| {
            let read = record.open(&Codec::default(), thread, append.life);
            (self.at)(&read.unwrap().1.body)
        });
        if named && self.seen.fetch_add(1, Ordering::SeqCst) + 1 == self.nth {
            self.dead.store(true, Ordering::SeqCst);
            if self.dies == Dies::After {
                self.store.append(thread, append).await?;
            }
            return Err(gone());
        }
        self.store.append(thread, append).await
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        let opened = self.store.open(thread, at, snapshots).await;
        for _ in 0..self.slow {
            tokio::task::yield_now().await;
        }
        opened
    }
}
