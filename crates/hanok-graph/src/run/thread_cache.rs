//! The final states of recent threads, so that the next turn need not read them again.
//!
//! A cached state is not trusted. A run that begins from it takes its thread in the life, at the position and with the
//! epoch that follow it, and the store refuses that when anybody, anywhere, has touched the thread since.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hanok_checkpoint::{Epoch, Tip};
use hanok_core::{Fields, StoredSchema, ThreadKey};

use crate::journal::snapshot_policy::SnapshotPolicy;

/// The most threads that are cached, and the most bytes of them, as stored.
const THREADS: usize = 64;
const BYTES: usize = 64 << 20;

/// The final state of a thread whose turn is over.
pub(crate) struct CachedThread<S> {
    pub(crate) tip: Tip,
    pub(crate) epoch: Epoch,
    /// The bytes that there are to read, which is about the size of the state.
    pub(crate) snapshots: SnapshotPolicy,
    pub(crate) state: Arc<S>,
    pub(crate) unknown: Fields,
    pub(crate) schema: Arc<StoredSchema>,
}

/// The cache of recent threads.
pub(crate) struct ThreadCache<S>(Mutex<VecDeque<(ThreadKey, CachedThread<S>)>>);

impl<S> Default for ThreadCache<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S> ThreadCache<S> {
    fn threads(&self) -> MutexGuard<'_, VecDeque<(ThreadKey, CachedThread<S>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the cached state of `thread`.
    pub(crate) fn take(&self, thread: &ThreadKey) -> Option<CachedThread<S>> {
        let mut threads = self.threads();
        let at = threads.iter().rposition(|(key, _)| key == thread)?;
        threads.remove(at).map(|(_, recent)| recent)
    }

    /// Caches `thread`, and drops those that were used longest ago.
    pub(crate) fn put(&self, thread: &ThreadKey, recent: CachedThread<S>) {
        let size = |recent: &CachedThread<S>| recent.snapshots.size();
        let mut threads = self.threads();
        threads.retain(|(key, _)| key != thread);
        threads.push_back((thread.clone(), recent));
        let mut bytes = threads.iter().map(|(_, recent)| size(recent)).sum::<usize>();
        while threads.len() > THREADS || bytes > BYTES {
            let Some((_, oldest)) = threads.pop_front() else { return };
            bytes = bytes.saturating_sub(size(&oldest));
        }
    }
}
