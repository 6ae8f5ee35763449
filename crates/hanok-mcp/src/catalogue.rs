//! Which tools there are, which of them were approved, and what is different.
//!
//! A [`ToolDefinition`] is what a server says of a tool; its hash is over that and over what the server is. The lock file holds
//! the definitions that a person approved. All of this is values and their comparison: nothing here asks a server.

mod canonical;
mod change;
mod definition;
mod difference;
mod lock;
mod offer;
mod snapshot;

pub use change::{Change, ChangeKind};
pub use definition::{Annotations, ToolDefinition};
pub use offer::Refusal;
pub use snapshot::{Snapshot, ToolHash};

#[cfg(feature = "server")]
pub(crate) use canonical::feed;
pub(crate) use change::changes;
pub(crate) use lock::Lock;
pub(crate) use offer::{compiled, specs};
pub(crate) use snapshot::Entry;
