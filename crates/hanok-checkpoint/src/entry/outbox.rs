//! Items for others, on their way.

use bytes::Bytes;
use hanok_core::{Position, Stored, ThreadKey};

use crate::{life::Life, wire::record};

record! {
    /// An item for others, as a task says it.
    Outbox {
        /// The item's id, the same whenever it is handed out.
        id: String,
        /// Whom it is for.
        topic: String,
        /// The item.
        payload: Stored,
    }
}

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
    /// The place among the items of its topic.
    pub cursor: Cursor,
    /// The thread that it comes from.
    pub thread: ThreadKey,
    /// The life of the thread.
    pub life: Life,
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
