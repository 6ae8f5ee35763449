//! Names and positions with a meaning of their own.

use hanok_core::Position;

/// The source of the edges that a run takes first.
pub const START: &str = "__start__";

/// The target at which a path ends.
pub const END: &str = "__end__";

/// The first position that is no position of a log, but the name of an entry that waits.
pub(crate) const WAITING: u64 = 1 << 62;

/// True for a position that names an entry that waits.
pub(crate) fn is_waiting(position: Position) -> bool {
    position.0 >= WAITING
}
