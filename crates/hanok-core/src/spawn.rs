//! Tasks, as they are started.

use std::fmt;

use crate::boxed::BoxFuture;

/// Starts tasks. The engine starts, aborts and joins tasks through this alone.
pub trait Spawner: fmt::Debug + Send + Sync + 'static {
    /// Starts `task`; it runs until it ends or its handle is dropped.
    fn spawn(&self, task: BoxFuture<'static, ()>) -> Spawned;
}

/// A started task. Dropping it aborts the task.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
///
/// use hanok_core::Spawned;
///
/// let aborted = Arc::new(AtomicBool::new(false));
/// let flag = Arc::clone(&aborted);
/// let task = Spawned::new(move || flag.store(true, Ordering::SeqCst));
/// drop(task);
/// assert!(aborted.load(Ordering::SeqCst));
/// ```
pub struct Spawned(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Spawned {
    /// A handle that calls `abort` when it is dropped.
    pub fn new(abort: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(abort)))
    }

    /// Lets the task run on without a handle.
    pub fn detach(mut self) {
        self.0 = None;
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        if let Some(abort) = self.0.take() {
            abort();
        }
    }
}

impl fmt::Debug for Spawned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spawned")
    }
}
