//! How many tasks run at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// So many tasks at once; the others wait in the order in which they came. Clones are the same slots.
///
/// A task takes those of the process first, then the run's, the graph's and its node's, and holds them while it waits for
/// the rest. A task of a subgraph does not wait for slots that the task which called it holds: they count as one.
#[derive(Debug, Clone)]
pub struct Slots(Arc<Semaphore>);

impl Slots {
    /// Slots for `count` tasks; none counts as one.
    pub fn new(count: usize) -> Self {
        Self(Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS))))
    }

    /// How many tasks could start now.
    pub fn free(&self) -> usize {
        self.0.available_permits()
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The slots that a task holds, and those of the tasks around it.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeldSlots(Vec<Slots>);

/// Waits for a slot of each of `slots`, in this order, but for those that are held already. They are given back when the
/// permits are dropped.
///
/// The widest come first: a graph may run by itself and within another one at once, and whoever had its slot and waited
/// for the process's would wait for a caller that has the process's and waits for the graph's.
pub(crate) async fn acquire(
    slots: impl IntoIterator<Item = Slots>,
    around: &HeldSlots,
) -> (HeldSlots, Vec<OwnedSemaphorePermit>) {
    let (mut held, mut permits) = (around.clone(), Vec::new());
    for slot in slots {
        if held.0.iter().any(|other| other.is(&slot)) {
            continue;
        }
        // The semaphore is never closed.
        if let Ok(permit) = slot.0.clone().acquire_owned().await {
            permits.push(permit);
            held.0.push(slot);
        }
    }
    (held, permits)
}
