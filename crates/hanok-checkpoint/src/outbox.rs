//! Items for others, on their way.

use bytes::Bytes;
use hanok_core::{Position, ThreadKey};

/// An item for others, as an append hands it over. A store never looks into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// Whom it is for.
    pub topic: String,
    /// The record of the append that says it.
    pub position: Position,
    /// The item, sealed.
    pub bytes: Bytes,
}

/// An item for others, as a consumer is given it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxItem {
    /// Where it stands among the items of its topic.
    pub cursor: Cursor,
    /// The thread that it comes from.
    pub thread: ThreadKey,
    /// The record that says it.
    pub position: Position,
    /// The item, sealed.
    pub bytes: Bytes,
}

/// A place among the items of a topic. Each store counts in its own way; places of one store compare.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cursor(pub u128);

impl Cursor {
    /// The place before all items.
    pub const START: Self = Self(0);
}
