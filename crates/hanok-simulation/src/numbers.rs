//! The numbers of a world: its first moment, its processes and its tasks.

use hanok_core::Timestamp;

/// The moment at which every simulated world begins.
pub(crate) const BEGINS: Timestamp = Timestamp(1_800_000_000_000);

/// The number of a process.
pub(crate) type Process = u32;

/// The number of a task.
pub(crate) type TaskNumber = u64;
