//! The states in which threads were left, so that the next turn need not read them again.
//!
//! Nothing is trusted to be as it was: a run that begins from here takes its thread in the life, at the position and with the
//! epoch that follow what is remembered, and the store refuses that when anybody, anywhere, has touched the thread since.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hanok_checkpoint::{Epoch, Tip};
use hanok_core::{Fields, StoredSchema, ThreadKey};

use crate::journal::snapshot_policy::SnapshotPolicy;

/// How many threads are remembered, and how many bytes of them, as stored.
const THREADS: usize = 64;
const BYTES: usize = 64 << 20;

/// Where a thread was left whose turn is over.
pub(crate) struct CachedThread<S> {
    pub(crate) tip: Tip,
    pub(crate) epoch: Epoch,
    /// What there is to read, which is about what the state takes.
    pub(crate) snapshots: SnapshotPolicy,
    pub(crate) state: Arc<S>,
    pub(crate) unknown: Fields,
    pub(crate) schema: Arc<StoredSchema>,
}

/// The threads that were used last.
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

    /// Takes what is remembered of `thread`.
    pub(crate) fn take(&self, thread: &ThreadKey) -> Option<CachedThread<S>> {
        let mut threads = self.threads();
        let at = threads.iter().rposition(|(key, _)| key == thread)?;
        threads.remove(at).map(|(_, recent)| recent)
    }

    /// Remembers `thread`, and forgets those that were used longest ago.
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
