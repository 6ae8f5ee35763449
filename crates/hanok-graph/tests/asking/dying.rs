//! A store whose process dies at an append that a test names.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use hanok_checkpoint::{
    Append, Body, CheckpointError, Checkpointer, Epoch, Head, Opened, Record, SharedCheckpointer,
    Snapshots, ThreadInfo,
};
use hanok_core::{Position, Tenant, ThreadKey, Timestamp};

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
        SharedCheckpointer::new(self.clone())
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

impl Checkpointer for Dying {
    async fn head(&self, thread: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.store.head(thread).await
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        // Once dead, nothing is stored any more.
        if self.died() {
            return Err(gone());
        }
        let named = append
            .records
            .iter()
            .any(|record| record.read(thread).is_ok_and(|(_, entry)| (self.at)(&entry.body)));
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

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Record>, CheckpointError> {
        self.store.history(thread, before, limit).await
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        position: Position,
        snapshot: Bytes,
    ) -> Result<(), CheckpointError> {
        self.store.put_snapshot(thread, position, snapshot).await
    }

    async fn beat(
        &self,
        thread: &ThreadKey,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        self.store.beat(thread, epoch, now).await
    }

    async fn delete(&self, thread: &ThreadKey) -> Result<bool, CheckpointError> {
        self.store.delete(thread).await
    }

    async fn threads(
        &self,
        tenant: &Tenant,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, CheckpointError> {
        self.store.threads(tenant, after, limit).await
    }
}
