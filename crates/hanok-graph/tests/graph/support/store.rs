//! A store whose process dies.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Codec, Epoch, Life, Log, Record,
    SharedCheckpointer,
};
use hanok_core::{ThreadKey, Timestamp};
use hanok_testkit::Layer;

type Dies = Arc<dyn Fn(usize, &[Body]) -> bool + Send + Sync>;

/// A store whose process dies at one append: before it is stored, or after it and before the answer.
#[derive(Clone)]
pub(crate) struct Dying {
    store: SharedCheckpointer,
    appends: Arc<AtomicUsize>,
    dead: Arc<AtomicBool>,
    dies: Dies,
    stored: bool,
}

impl Dying {
    /// Dies at the first append of which `dies` says so: the how manieth it is, and what it says.
    pub(crate) fn when(
        store: SharedCheckpointer,
        stored: bool,
        dies: impl Fn(usize, &[Body]) -> bool + Send + Sync + 'static,
    ) -> Self {
        let (appends, dead) = (Arc::default(), Arc::default());
        Self { store, appends, dead, dies: Arc::new(dies), stored }
    }

    /// Dies at the append with this number.
    pub(crate) fn at(store: SharedCheckpointer, at: usize, stored: bool) -> Self {
        Self::when(store, stored, move |n, _| n == at)
    }

    /// Whether it died.
    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    /// How many appends there were.
    pub(crate) fn appends(&self) -> usize {
        self.appends.load(Ordering::SeqCst)
    }

    /// What is left of it for the next process: nobody's claim holds.
    pub(crate) async fn left(&self, thread: &ThreadKey) -> SharedCheckpointer {
        let head = self.store.head(thread).await.unwrap();
        if let Some(head) = head.filter(|head| head.claim.is_some()) {
            let log = Log::new(self.store.clone(), thread.clone());
            log.release(&head, AppendId(u128::MAX), Timestamp(0)).await.unwrap();
        }
        self.store.clone()
    }
}

impl fmt::Debug for Dying {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dying").field("store", &self.store).finish_non_exhaustive()
    }
}

fn dead() -> CheckpointError {
    CheckpointError::Unavailable { reason: "dead", source: "dead".into() }
}

impl Layer for Dying {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        // A run may be dropped before its append is stored, and after it and before the answer.
        tokio::task::yield_now().await;
        if self.is_dead() {
            return Err(dead());
        }
        let number = self.appends.fetch_add(1, Ordering::SeqCst);
        let read =
            |record: &Record| record.open(&Codec::default(), thread, append.life).unwrap().1.body;
        let bodies: Vec<_> = append.records.iter().map(read).collect();
        let dies = (self.dies)(number, &bodies);
        if dies {
            self.dead.store(true, Ordering::SeqCst);
        }
        if !dies || self.stored {
            self.store.append(thread, append).await?;
        }
        tokio::task::yield_now().await;
        if dies { Err(dead()) } else { Ok(()) }
    }

    async fn beat(
        &self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        if self.is_dead() { Err(dead()) } else { self.store.beat(thread, life, epoch, now).await }
    }
}
