//! What a compaction tells of itself.

use serde::{Deserialize, Serialize};

/// What a compaction tells whoever observes the run, as a custom item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "memory", rename_all = "snake_case")]
#[non_exhaustive]
pub enum MemoryEvent {
    /// The conversation is smaller.
    Compacted {
        /// What was done: `clear`, `summarise`, `fold` or `shorten`.
        action: String,
        /// The tokens of the prompt before it.
        before: u64,
        /// The tokens of the prompt after it.
        after: u64,
        /// How many messages are left.
        messages: usize,
        /// How many facts could not be pinned, because there is no room for more.
        unpinned: usize,
    },
    /// The conversation is as it was.
    Failed {
        /// What was to be done.
        action: String,
        /// Why it was not.
        reason: String,
    },
}
