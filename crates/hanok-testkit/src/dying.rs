//! A store whose process dies.

use std::{
    fmt,
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::Poll,
};

use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Codec, Epoch, Life, Log,
    SharedCheckpointer,
};
use hanok_core::{ThreadKey, Timestamp};

use crate::layer::{Layer, Layered};

type Dies = Arc<dyn Fn(usize, &[Body]) -> bool + Send + Sync>;

/// A store whose process dies at one append: before that is stored, or after it and before the answer. From then on nothing is
/// appended.
///
/// A test that counts up `at` until nothing dies any more has tried every moment between two appends.
///
/// ```
/// use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
/// use hanok_core::ThreadKey;
/// use hanok_testkit::Dying;
///
/// # hanok_testkit::block_on(async {
/// let thread = ThreadKey::named("t")?;
/// for at in 0.. {
///     for is_stored in [false, true] {
///         let dying = Dying::at(SharedCheckpointer::new(InMemoryCheckpointer::new()), at, is_stored);
///         // A run over `dying.shared()`, which fails where the process dies, and then one over what it left:
///         let store = dying.after_death(&thread).await?;
///         # drop(store);
///     }
///     # break;
/// }
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Dying {
    store: SharedCheckpointer,
    appends: Arc<AtomicUsize>,
    dead: Arc<AtomicBool>,
    dies: Dies,
    is_stored: bool,
}

impl Dying {
    /// Dies at the append with this number, counted from 0.
    pub fn at(store: SharedCheckpointer, at: usize, is_stored: bool) -> Self {
        Self::when(store, is_stored, move |number, _| number == at)
    }

    /// Dies at the first append of which `dies` says so, by its number and what it says. What is encrypted is not among that.
    pub fn when(
        store: SharedCheckpointer,
        is_stored: bool,
        dies: impl Fn(usize, &[Body]) -> bool + Send + Sync + 'static,
    ) -> Self {
        let (appends, dead) = (Arc::default(), Arc::default());
        Self { store, appends, dead, dies: Arc::new(dies), is_stored }
    }

    /// The store for the process that dies.
    pub fn shared(&self) -> SharedCheckpointer {
        SharedCheckpointer::new(Layered(self.clone()))
    }

    /// True once the process has died.
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    /// The number of appends until then.
    pub fn appends(&self) -> usize {
        self.appends.load(Ordering::SeqCst)
    }

    /// The store for the next process, in which no claim on `thread` holds any more.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub async fn after_death(
        &self,
        thread: &ThreadKey,
    ) -> Result<SharedCheckpointer, CheckpointError> {
        let head = self.store.head(thread).await?;
        if let Some(head) = head.filter(|head| head.claim.is_some()) {
            let log = Log::new(self.store.clone(), thread.clone());
            // Each release has an id of its own, also where many die one after the other.
            let id = AppendId(u128::MAX - u128::from(head.position.0));
            log.release(&head, id, Timestamp(0)).await?;
        }
        Ok(self.store.clone())
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

/// Lets whoever waits for this drop it.
async fn pause() {
    let mut paused = false;
    poll_fn(|context| {
        if paused {
            return Poll::Ready(());
        }
        paused = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Layer for Dying {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        // A run may be dropped before its append is stored, and after it and before the answer.
        pause().await;
        if self.is_dead() {
            return Err(dead());
        }
        let number = self.appends.fetch_add(1, Ordering::SeqCst);
        let bodies: Vec<_> = append
            .records
            .iter()
            .filter_map(|record| record.open(&Codec::default(), thread, append.life).ok())
            .map(|(_, entry)| entry.body)
            .collect();
        let dies = (self.dies)(number, &bodies);
        if dies {
            self.dead.store(true, Ordering::SeqCst);
        }
        if !dies || self.is_stored {
            self.store.append(thread, append).await?;
        }
        pause().await;
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
