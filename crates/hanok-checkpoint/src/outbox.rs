//! Items for others, on their way.

use bytes::Bytes;
use hanok_core::{Position, Reader, Stored, StoredError, ThreadKey, Writer};

use crate::{record::checksum, wire::value};

/// An item for others, as a task says it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outbox {
    /// The item's id, the same whenever it is handed out.
    pub id: String,
    /// Whom it is for.
    pub topic: String,
    /// The item.
    pub payload: Stored,
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

/// What the record of an item begins with instead of a record's version and flags.
const SEAL: [u8; 2] = [1, 0xff];

impl Outbox {
    /// The item as the append hands it over whose record at `position` of `thread` says it.
    pub fn outgoing(&self, thread: &ThreadKey, position: Position) -> Outgoing {
        let mut writer = Writer::new();
        self.write(&mut writer);
        let payload = writer.into_bytes();
        let sum = checksum(SEAL, thread, position, Position::START, &payload);
        let mut bytes = sum.to_le_bytes().to_vec();
        bytes.extend(payload);
        Outgoing { topic: self.topic.clone(), position, bytes: bytes.into() }
    }

    /// Reads what [`Outbox::outgoing`] made; `None` if it is damaged or belongs elsewhere.
    pub(crate) fn read_sealed(item: &OutboxItem) -> Option<Self> {
        let (sum, payload) = item.bytes.split_first_chunk()?;
        let said = u32::from_le_bytes(*sum);
        let whole = checksum(SEAL, &item.thread, item.position, Position::START, payload) == said;
        whole.then(|| Self::read(&mut Reader::new(payload)).ok()).flatten()
    }

    fn write(&self, to: &mut Writer) {
        to.array(3).str(&self.id).str(&self.topic).raw(self.payload.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        from.array()?;
        Ok(Self {
            id: from.str()?.to_owned(),
            topic: from.str()?.to_owned(),
            payload: value(from)?,
        })
    }
}

pub(crate) fn write_items(to: &mut Writer, items: &[Outbox]) {
    to.array(items.len());
    items.iter().for_each(|item| item.write(to));
}

pub(crate) fn items(from: &mut Reader<'_>) -> Result<Vec<Outbox>, StoredError> {
    (0..from.array()?).map(|_| Outbox::read(from)).collect()
}
