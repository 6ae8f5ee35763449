//! Names and positions with a meaning of their own.

use hanok_core::Position;

/// Where every run begins.
pub const START: &str = "__start__";

/// Where a path ends.
pub const END: &str = "__end__";

/// From here on positions are not those of a log, but names of entries that wait.
pub(crate) const WAITING: u64 = 1 << 62;

/// Whether a position names an entry that waits.
pub(crate) fn is_waiting(position: Position) -> bool {
    position.0 >= WAITING
}
