//! The threads that run in this process.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hanok_core::{Cancellation, ThreadKey};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The threads that run in this process, through one app.
#[derive(Debug, Default)]
pub(crate) struct ActiveRuns {
    threads: Mutex<BTreeMap<ThreadKey, Thread>>,
    ended: Notify,
}

#[derive(Debug)]
struct Thread {
    /// One run at a time; others wait in the order in which they came.
    slot: Arc<Semaphore>,
    /// Runs that run or wait.
    users: usize,
    /// Stops the run that runs.
    stop: Cancellation,
}

/// A run that has the thread to itself in this process, until it is dropped.
#[derive(Debug)]
pub(crate) struct Active {
    runs: Arc<ActiveRuns>,
    thread: ThreadKey,
    permit: Option<OwnedSemaphorePermit>,
    /// Asks the run to stop.
    pub(crate) stop: Cancellation,
}

impl ActiveRuns {
    /// Takes `thread`, if no run of it is active.
    pub(crate) fn try_enter(self: &Arc<Self>, thread: &ThreadKey) -> Option<Active> {
        let mut waiting = self.join(thread);
        // On `None` the drop of `waiting` leaves again.
        waiting.permit = Some(waiting.slot()?.try_acquire_owned().ok()?);
        Some(waiting.begun())
    }

    /// Takes `thread` when the runs that came before are over.
    pub(crate) async fn enter(self: &Arc<Self>, thread: &ThreadKey) -> Active {
        let mut waiting = self.join(thread);
        if let Some(slot) = waiting.slot() {
            // The semaphore is never closed.
            waiting.permit = slot.acquire_owned().await.ok();
        }
        waiting.begun()
    }

    /// Asks the run that is active on `thread` to stop.
    pub(crate) fn stop(&self, thread: &ThreadKey) {
        if let Some(thread) = self.threads().get(thread) {
            thread.stop.cancel();
        }
    }

    /// How many threads are in use.
    pub(crate) fn count(&self) -> usize {
        self.threads().len()
    }

    /// Whether `thread` is in use.
    pub(crate) fn is_running(&self, thread: &ThreadKey) -> bool {
        self.threads().contains_key(thread)
    }

    /// Completes when no thread is in use.
    pub(crate) async fn none(&self) {
        loop {
            let ended = self.ended.notified();
            if self.count() == 0 {
                return;
            }
            ended.await;
        }
    }

    fn join(self: &Arc<Self>, thread: &ThreadKey) -> Active {
        let mut threads = self.threads();
        let entry = threads.entry(thread.clone()).or_insert_with(|| Thread {
            slot: Arc::new(Semaphore::new(1)),
            users: 0,
            stop: Cancellation::default(),
        });
        entry.users += 1;
        drop(threads);
        let (thread, stop) = (thread.clone(), Cancellation::default());
        Active { runs: self.clone(), thread, permit: None, stop }
    }

    fn threads(&self) -> MutexGuard<'_, BTreeMap<ThreadKey, Thread>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Active {
    fn slot(&self) -> Option<Arc<Semaphore>> {
        self.runs.threads().get(&self.thread).map(|thread| thread.slot.clone())
    }

    /// From here on this run is the one that is asked to stop.
    fn begun(self) -> Self {
        if let Some(thread) = self.runs.threads().get_mut(&self.thread) {
            thread.stop = self.stop.clone();
        }
        self
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        let mut threads = self.runs.threads();
        if let Some(thread) = threads.get_mut(&self.thread) {
            thread.users -= 1;
            if thread.users == 0 {
                threads.remove(&self.thread);
            }
        }
        drop(self.permit.take());
        drop(threads);
        self.runs.ended.notify_waiters();
    }
}
