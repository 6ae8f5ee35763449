//! Limits on the number of tasks that run at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A limit on the number of tasks that run at once. Other tasks wait in the order of their arrival. Clones share the
/// slots.
///
/// A task takes the slots of the process first, then those of the run, the graph and its node. It holds them while it
/// waits for the rest. A task of a subgraph does not wait for slots that the calling task holds: the two count as one.
///
/// ```
/// use hanok_graph::{Runtime, Slots};
///
/// let slots = Slots::new(4);
/// let runtime = Runtime { slots: Some(slots.clone()), ..Runtime::default() };
/// assert_eq!(slots.free(), 4);
/// # let _ = runtime;
/// ```
#[derive(Debug, Clone)]
pub struct Slots(Arc<Semaphore>);

impl Slots {
    /// Slots for `count` tasks; 0 counts as 1.
    pub fn new(count: usize) -> Self {
        Self(Arc::new(Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS))))
    }

    /// The number of tasks that could start now.
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

/// Waits for a slot of each of `slots`, in this order, except for those that are held already. Dropping the permits gives
/// them back.
///
/// The widest slots come first. A graph may run by itself and within another one at once: a task that held the graph's
/// slot and waited for the process's could wait for a caller that holds the process's and waits for the graph's.
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
