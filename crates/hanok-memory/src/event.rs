//! Events of a compaction.

use serde::{Deserialize, Serialize};

/// An event of a compaction, as a custom item of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "memory", rename_all = "snake_case")]
#[non_exhaustive]
pub enum MemoryEvent {
    /// The conversation is smaller.
    Compacted {
        /// The step: `clear`, `summarise`, `fold` or `shorten`.
        action: String,
        /// The tokens of the prompt before it.
        before: u64,
        /// The tokens of the prompt after it.
        after: u64,
        /// The number of messages that remain.
        messages: usize,
        /// The number of facts that could not be pinned for lack of room.
        unpinned: usize,
    },
    /// The conversation is as it was.
    Failed {
        /// The step.
        action: String,
        /// The reason.
        reason: String,
    },
}
