//! The threads that run in this process.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use hanok_core::{Answerer, Cancellation, RunId, ThreadKey};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::{observe::trail::Trail, thread::seat::Seats};

/// The threads that run in this process, through one app.
#[derive(Debug, Default)]
pub(crate) struct ActiveRuns {
    threads: Mutex<BTreeMap<ThreadKey, Thread>>,
    ended: Notify,
    /// The readers who follow threads, whether these run or not.
    seats: Seats,
}

#[derive(Debug)]
struct Thread {
    /// The slot of one run; others wait in the order of their arrival.
    slot: Arc<Semaphore>,
    /// The number of runs that run or wait, and of those that are over but whose last append is under way.
    users: usize,
    /// The number of runs that run or wait.
    runs: usize,
    /// The number of the newest run.
    newest: u64,
    /// The number of the newest run that replaces those before it.
    replacing: u64,
    /// The request to stop the current run.
    stop: Cancellation,
    /// The current run.
    current: Option<Current>,
}

/// A run that has begun.
#[derive(Debug, Clone)]
struct Current {
    /// Its name, if it was named.
    run: Option<RunId>,
    cancel: Cancellation,
    cancelled_by: Arc<OnceLock<Answerer>>,
    trail: Arc<Trail>,
}

/// A run that has the thread to itself in this process, until it is dropped and the [slot](Slot) with it.
#[derive(Debug)]
pub(crate) struct Active {
    slot: Arc<Slot>,
    number: u64,
    /// The request to stop, because another run replaces this one.
    pub(crate) stop: Cancellation,
    /// The request to cancel it.
    pub(crate) cancel: Cancellation,
    /// Whoever cancels it, if they are known.
    pub(crate) cancelled_by: Arc<OnceLock<Answerer>>,
    /// The events of the run, when it has begun.
    shown: OnceLock<Arc<Trail>>,
}

/// A run's place in its thread. It is held to the end of each append for the run, so that the next run reads everything
/// that this one has stored.
#[derive(Debug)]
pub(crate) struct Slot {
    runs: Arc<ActiveRuns>,
    thread: ThreadKey,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

impl ActiveRuns {
    /// Takes `thread`, unless a run has it or waits for it; waits for the appends of a run that was dropped.
    pub(crate) async fn enter_free(self: &Arc<Self>, thread: &ThreadKey) -> Option<Active> {
        let joined = self.join(thread, |thread| thread.runs == 0)?;
        Some(joined.wait_for_slot().await)
    }

    /// Takes `thread` when the earlier runs are over.
    pub(crate) async fn enter(self: &Arc<Self>, thread: &ThreadKey) -> Option<Active> {
        let joined = self.join(thread, |_| true)?;
        Some(joined.wait_for_slot().await)
    }

    /// Takes `thread` in the place of the earlier runs: the current one is asked to stop, and so is each that begins
    /// before this one.
    pub(crate) async fn enter_replacing(self: &Arc<Self>, thread: &ThreadKey) -> Option<Active> {
        let joined = self.join(thread, |_| true)?;
        if let Some(thread) = self.threads().get_mut(thread) {
            thread.replacing = thread.replacing.max(joined.number);
            thread.stop.cancel();
        }
        Some(joined.wait_for_slot().await)
    }

    /// The number of threads in use.
    pub(crate) fn count(&self) -> usize {
        self.threads().len()
    }

    /// True if `thread` is in use.
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

    /// Counts a run of `thread`, if `admitted` allows it.
    fn join(
        self: &Arc<Self>,
        thread: &ThreadKey,
        admitted: impl FnOnce(&Thread) -> bool,
    ) -> Option<Active> {
        let mut threads = self.threads();
        let entry = threads.entry(thread.clone()).or_insert_with(|| Thread {
            slot: Arc::new(Semaphore::new(1)),
            users: 0,
            runs: 0,
            newest: 0,
            replacing: 0,
            stop: Cancellation::default(),
            current: None,
        });
        if !admitted(entry) {
            return None;
        }
        entry.users += 1;
        entry.runs += 1;
        entry.newest += 1;
        let number = entry.newest;
        drop(threads);
        let slot = Slot { runs: self.clone(), thread: thread.clone(), permit: Mutex::default() };
        let (stop, cancel) = (Cancellation::default(), Cancellation::default());
        let (slot, cancelled_by, shown) = (Arc::new(slot), Arc::default(), OnceLock::new());
        Some(Active { slot, number, stop, cancel, cancelled_by, shown })
    }

    /// The events of the run that `thread` has now.
    pub(crate) fn trail(&self, thread: &ThreadKey) -> Option<Arc<Trail>> {
        self.threads().get(thread)?.current.as_ref().map(|current| current.trail.clone())
    }

    /// Cancels the run that `thread` has now, in the name of `by`; returns true if there is one. `run`: only the one of this name.
    pub(crate) fn cancel(
        &self,
        thread: &ThreadKey,
        run: Option<RunId>,
        by: Option<&Answerer>,
    ) -> bool {
        let current = self.threads().get(thread).and_then(|of_thread| of_thread.current.clone());
        let current = current.filter(|current| run.is_none() || current.run == run);
        let Some(Current { cancel, cancelled_by, .. }) = current else { return false };
        if let (false, Some(by)) = (cancel.is_cancelled(), by) {
            // Whoever was first has cancelled it.
            let _ = cancelled_by.set(by.clone());
        }
        cancel.cancel();
        true
    }

    pub(crate) fn seats(&self) -> &Seats {
        &self.seats
    }

    fn threads(&self) -> MutexGuard<'_, BTreeMap<ThreadKey, Thread>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Active {
    /// The run's place, for appends on its behalf.
    pub(crate) fn slot(&self) -> &Arc<Slot> {
        &self.slot
    }

    /// Shows the events of the run to whoever follows the thread.
    pub(crate) fn show(&self, trail: &Arc<Trail>, run: Option<RunId>) {
        let Slot { runs, thread, .. } = &*self.slot;
        self.shown.get_or_init(|| trail.clone());
        if let Some(of_thread) = runs.threads().get_mut(thread) {
            let (cancel, cancelled_by) = (self.cancel.clone(), self.cancelled_by.clone());
            of_thread.current = Some(Current { run, cancel, cancelled_by, trail: trail.clone() });
        }
        runs.seats.show(thread, trail);
    }

    /// Waits for the slot. From then on this run is the current one, which is asked to stop at once if a later run
    /// replaces it.
    async fn wait_for_slot(self) -> Self {
        let semaphore = self.slot.semaphore();
        if let Some(semaphore) = semaphore {
            // The semaphore is never closed.
            *self.slot.permit() = semaphore.acquire_owned().await.ok();
        }
        if let Some(thread) = self.slot.runs.threads().get_mut(&self.slot.thread) {
            thread.stop = self.stop.clone();
            if thread.replacing > self.number {
                self.stop.cancel();
            }
        }
        self
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        if let Some(thread) = self.slot.runs.threads().get_mut(&self.slot.thread) {
            if let Some(shown) = self.shown.get() {
                thread.current.take_if(|current| Arc::ptr_eq(&current.trail, shown));
            }
            thread.runs -= 1;
        }
    }
}

impl Slot {
    fn semaphore(&self) -> Option<Arc<Semaphore>> {
        self.runs.threads().get(&self.thread).map(|thread| thread.slot.clone())
    }

    fn permit(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut threads = self.runs.threads();
        if let Some(thread) = threads.get_mut(&self.thread) {
            thread.users -= 1;
            if thread.users == 0 {
                threads.remove(&self.thread);
            }
        }
        drop(self.permit().take());
        drop(threads);
        self.runs.ended.notify_waiters();
    }
}
