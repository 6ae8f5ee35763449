//! Items for others, on their way.

use bytes::Bytes;
use hanok_core::{Position, Reader, Stored, ThreadKey, Writer};

use crate::{
    Codec, CodecError, Life,
    seal::{self, SealPlace, Sealed, UnsealError},
    wire::{Wire, record},
};

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
    /// Where it stands among the items of its topic.
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

impl Outbox {
    /// The item as the append hands it over whose record at `position` of this life of `thread` says it.
    ///
    /// # Errors
    ///
    /// [`CodecError::Write`].
    pub fn outgoing(
        &self,
        codec: &Codec,
        thread: &ThreadKey,
        life: Life,
        position: Position,
    ) -> Result<Outgoing, CodecError> {
        let mut writer = Writer::new();
        self.write(&mut writer);
        let place = SealPlace { thread, life, position };
        let bytes = seal::seal(codec, Sealed::Item, place, writer.into_bytes())?;
        Ok(Outgoing { topic: self.topic.clone(), position, bytes })
    }

    /// Reads what [`Outbox::outgoing`] made.
    pub(crate) fn opened(codec: &Codec, item: &OutboxItem) -> Result<Self, UnsealError> {
        let OutboxItem { thread, life, position, .. } = item;
        let place = SealPlace { thread, life: *life, position: *position };
        let payload = seal::unseal(codec, Sealed::Item, place, &item.bytes)?;
        Self::read(&mut Reader::new(&payload)).map_err(|_checksum_fits| UnsealError::Damaged)
    }
}
