//! The stored form of what is no record: 1 byte of flags, 4 bytes of CRC-32C (little-endian), and the payload. The checksum covers
//! what it is, whose it is, in which life, and where it stands, like a record's.

use bytes::Bytes;
use hanok_core::{Position, Reader, ThreadKey, Writer};
use thiserror::Error;

use crate::{
    codec::{Bound, Codec, CodecError, KNOWN},
    entry::outbox::{Outbox, OutboxItem, Outgoing},
    error::CheckpointError,
    format::checksum::checksum,
    life::Life,
    wire::Wire,
};

/// The kind of what is sealed; a number that no version of a record has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sealed {
    Snapshot = 0,
    Beside = 0xfd,
    Base = 0xfe,
    Item = 0xff,
}

/// Why something sealed cannot be read.
#[derive(Debug, Error)]
pub(crate) enum UnsealError {
    #[error("it is damaged, or belongs elsewhere")]
    Damaged,
    #[error("{0}")]
    Codec(#[from] CodecError),
}

impl UnsealError {
    /// The error of what stands at `position` of `thread`.
    pub(crate) fn at(self, thread: &ThreadKey, position: Position) -> CheckpointError {
        let last_good = Position(position.0.saturating_sub(1));
        let corrupt = |reason| CheckpointError::corrupt(thread, position, reason, last_good);
        match self {
            Self::Codec(error @ CodecError::Compressed(_)) => corrupt(error.to_string()),
            Self::Codec(source) => {
                CheckpointError::Locked { thread: thread.clone(), position, source }
            }
            error @ Self::Damaged => corrupt(error.to_string()),
        }
    }
}

/// The place of something sealed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SealPlace<'a> {
    pub(crate) thread: &'a ThreadKey,
    pub(crate) life: Life,
    pub(crate) position: Position,
}

impl SealPlace<'_> {
    fn bound(&self, kind: Sealed, flags: u8) -> Bound<'_> {
        let Self { thread, life, position } = *self;
        Bound { format: [kind as u8, flags], thread, life, position, parent: Position(u64::MAX) }
    }

    fn sum(&self, kind: Sealed, flags: u8, payload: &[u8]) -> u32 {
        checksum([kind as u8, flags], self.thread, self.life, self.position, payload)
    }
}

/// The length of what stands before a payload: its flags and its checksum.
pub(crate) const ROOM: usize = 5;

pub(crate) fn seal(
    codec: &Codec,
    kind: Sealed,
    place: SealPlace<'_>,
    payload: Vec<u8>,
) -> Result<Bytes, CodecError> {
    seal_after(codec, kind, place, [&[0; ROOM], &payload[..]].concat())
}

/// Seals what stands behind [`ROOM`] bytes, where it stays if nothing is done with it.
pub(crate) fn seal_after(
    codec: &Codec,
    kind: Sealed,
    place: SealPlace<'_>,
    mut bytes: Vec<u8>,
) -> Result<Bytes, CodecError> {
    let mut flags = 0;
    if !codec.is_plain() {
        let payload = bytes.split_off(ROOM);
        let (sealed, payload) = codec.seal(place.bound(kind, 0), payload)?;
        flags = sealed;
        bytes.extend(payload);
    }
    let sum = place.sum(kind, flags, bytes.get(ROOM..).unwrap_or_default());
    if let Some((first, rest)) = bytes.split_first_chunk_mut::<1>()
        && let Some(place) = rest.first_chunk_mut()
    {
        (*first, *place) = ([flags], sum.to_le_bytes());
    }
    Ok(bytes.into())
}

pub(crate) fn unseal(
    codec: &Codec,
    kind: Sealed,
    place: SealPlace<'_>,
    bytes: &[u8],
) -> Result<Vec<u8>, UnsealError> {
    let Some(([flags], rest)) = bytes.split_first_chunk() else {
        return Err(UnsealError::Damaged);
    };
    let Some((sum, payload)) = rest.split_first_chunk() else { return Err(UnsealError::Damaged) };
    if u32::from_le_bytes(*sum) != place.sum(kind, *flags, payload) || flags & !KNOWN != 0 {
        return Err(UnsealError::Damaged);
    }
    Ok(codec.open(&place.bound(kind, *flags), payload)?)
}

impl Outbox {
    /// The item as the append hands it over whose record at `position` of this life of `thread` says it.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{Position, Tenant, ThreadKey};
    /// # use hanok_core::Stored;
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// let item = Outbox { id: "1".into(), topic: "mail".into(), payload: Stored::encode("Hello!")? };
    /// let outgoing = item.outgoing(&Codec::new(), &thread, Life::new(1), Position(3))?;
    /// assert_eq!((outgoing.topic.as_str(), outgoing.position), ("mail", Position(3)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        let bytes = seal(codec, Sealed::Item, place, writer.into_bytes())?;
        Ok(Outgoing { topic: self.topic.clone(), position, bytes })
    }

    /// Reads what [`Outbox::outgoing`] made.
    pub(crate) fn opened(codec: &Codec, item: &OutboxItem) -> Result<Self, UnsealError> {
        let OutboxItem { thread, life, position, .. } = item;
        let place = SealPlace { thread, life: *life, position: *position };
        let payload = unseal(codec, Sealed::Item, place, &item.bytes)?;
        Self::read(&mut Reader::new(&payload)).map_err(|_checksum_fits| UnsealError::Damaged)
    }
}
