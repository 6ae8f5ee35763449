//! The queue of a thread.

use hanok_core::{RunId, ThreadKey};
use serde::{Deserialize, Serialize};

/// The runs of one thread that are not over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Queue {
    pub(crate) thread: ThreadKey,
    /// The run that is under way.
    pub(crate) running: Option<RunId>,
    /// Those that wait, the oldest first.
    pub(crate) pending: Vec<RunId>,
}

impl Queue {
    pub(crate) fn new(thread: ThreadKey) -> Self {
        Self { thread, running: None, pending: Vec::new() }
    }

    /// True when all runs of the thread are over.
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_none() && self.pending.is_empty()
    }

    /// Takes `run` out, wherever it is.
    pub(crate) fn remove(&mut self, run: RunId) {
        self.running = self.running.filter(|running| *running != run);
        self.pending.retain(|pending| *pending != run);
    }
}
