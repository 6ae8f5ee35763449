//! How an entry is stored.
//!
//! A record is 1 byte of format version, 1 byte of flags (1: compressed, 2: encrypted), 4 bytes of payload length, 4 bytes of CRC-32C, 8
//! bytes of parent position (all little-endian), and the payload: the entry's msgpack, as its [`Codec`](crate::Codec) makes it. The checksum covers the version,
//! the flags, the tenant, the thread, the position, the parent and the payload, so a record that was damaged, cut or moved
//! elsewhere is told.

use bytes::Bytes;
use hanok_core::{Position, ThreadKey, Writer};
use thiserror::Error;

use crate::{
    Codec, CodecError, Entry,
    codec::{Bound, KNOWN},
};

const VERSION: u8 = 1;
const PARENT: usize = 10;
const HEADER: usize = 18;

/// Room for a record before it is known how large it is: enough for most.
const AT_FIRST: usize = 1000;

/// A stored entry, as a backend keeps it: opaque bytes at a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Where it stands.
    pub position: Position,
    /// What is stored.
    pub bytes: Bytes,
}

/// What is wrong with a record.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The record is shorter or longer than it says.
    #[error("it has {found} bytes and says {said}")]
    Length {
        /// How many there are.
        found: usize,
        /// How many it says there are.
        said: usize,
    },
    /// The checksum is another: the record was damaged, or belongs elsewhere.
    #[error("its checksum does not fit")]
    Checksum,
    /// A newer build wrote it.
    #[error("it has format {found}, and this build reads up to {VERSION}")]
    Version {
        /// The format that was found.
        found: u8,
    },
    /// The checksum fits and the content does not: a build that is not ours wrote it.
    #[error("its content cannot be read: {0}")]
    Content(#[source] hanok_core::StoredError),
    /// It is whole, and the codec does not read it.
    #[error(transparent)]
    Codec(#[from] CodecError),
}

impl Record {
    /// The record of `entry` at `position` of `thread`, following `parent`.
    pub fn new(thread: &ThreadKey, position: Position, parent: Position, entry: &Entry) -> Self {
        let mut writer = Writer::after(room(AT_FIRST));
        entry.write(&mut writer);
        Self::headed(thread, (position, parent), 0, writer.into_bytes())
    }

    /// As [`new`](Record::new), compressed and encrypted as `codec` says.
    ///
    /// # Errors
    ///
    /// [`CodecError::Write`].
    pub fn sealed(
        codec: &Codec,
        thread: &ThreadKey,
        position: Position,
        parent: Position,
        entry: &Entry,
    ) -> Result<Self, CodecError> {
        if codec.is_plain() {
            return Ok(Self::new(thread, position, parent, entry));
        }
        let bound = Bound { format: [VERSION, 0], thread, position, parent };
        let (flags, payload) = codec.seal(bound, entry.to_bytes())?;
        let mut bytes = room(HEADER + payload.len());
        bytes.extend(payload);
        Ok(Self::headed(thread, (position, parent), flags, bytes))
    }

    /// A record of `bytes`, whose header is still to be written.
    fn headed(
        thread: &ThreadKey,
        (position, parent): (Position, Position),
        flags: u8,
        mut bytes: Vec<u8>,
    ) -> Self {
        if let Some((header, payload)) = bytes.split_at_mut_checked(HEADER) {
            let sum = checksum([VERSION, flags], thread, position, parent, payload);
            let size = u32::try_from(payload.len()).unwrap_or(u32::MAX);
            let parts = [VERSION, flags].into_iter().chain(size.to_le_bytes());
            let parts = parts.chain(sum.to_le_bytes()).chain(parent.0.to_le_bytes());
            header.iter_mut().zip(parts).for_each(|(byte, part)| *byte = part);
        }
        // It takes no more room than it needs: a store in memory keeps it.
        if bytes.len() <= AT_FIRST {
            return Self { position, bytes: Bytes::copy_from_slice(&bytes) };
        }
        bytes.shrink_to_fit();
        Self { position, bytes: bytes.into() }
    }

    /// The position that the header says it follows; whether that is so, only [`open`](Record::open) tells.
    pub(crate) fn parent(&self) -> Option<Position> {
        let bytes = self.bytes.get(PARENT..HEADER)?;
        Some(Position(u64::from_le_bytes(bytes.try_into().ok()?)))
    }

    /// The entry and its parent, of a record that is neither compressed nor encrypted.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the record is damaged, was moved, or was written by a newer build.
    pub fn read(&self, thread: &ThreadKey) -> Result<(Position, Entry), RecordError> {
        self.open(&Codec::default(), thread)
    }

    /// The entry and its parent.
    ///
    /// # Errors
    ///
    /// As [`read`](Record::read), and [`RecordError::Codec`].
    pub fn open(
        &self,
        codec: &Codec,
        thread: &ThreadKey,
    ) -> Result<(Position, Entry), RecordError> {
        let found = self.bytes.len();
        let Some((header, payload)) = self.bytes.split_at_checked(HEADER) else {
            return Err(RecordError::Length { found, said: HEADER });
        };
        let field = |at: usize, width: usize| {
            let bytes = header.get(at..at + width).unwrap_or_default();
            bytes.iter().rev().fold(0, |n: u64, byte| (n << 8) | u64::from(*byte))
        };
        let said = HEADER + field(2, 4) as usize;
        let parent = Position(field(PARENT, 8));
        let (version, flags) = (field(0, 1) as u8, field(1, 1) as u8);
        let sum = checksum([version, flags], thread, self.position, parent, payload);
        if said != found {
            return Err(RecordError::Length { found, said });
        }
        if u64::from(sum) != field(6, 4) {
            return Err(RecordError::Checksum);
        }
        // Only a whole record may say that it is newer: a flipped version is damage, not the future.
        if version != VERSION || flags & !KNOWN != 0 {
            return Err(RecordError::Version { found: version });
        }
        let entry = if flags == 0 && codec.is_plain() {
            Entry::from_bytes(payload)
        } else {
            let (format, position) = ([version, flags], self.position);
            Entry::from_bytes(&codec.open(&Bound { format, thread, position, parent }, payload)?)
        };
        Ok((parent, entry.map_err(RecordError::Content)?))
    }
}

/// Room for so many bytes, of which those of the header are there.
fn room(bytes: usize) -> Vec<u8> {
    let mut room = Vec::with_capacity(bytes);
    room.resize(HEADER, 0);
    room
}

pub(crate) fn checksum(
    format: [u8; 2],
    thread: &ThreadKey,
    position: Position,
    parent: Position,
    payload: &[u8],
) -> u32 {
    let tenant = thread.tenant().as_str().as_bytes();
    // Lengths keep ("ab", "c") and ("a", "bc") apart.
    let mut sum = crc32c::crc32c(&(tenant.len() as u64).to_le_bytes());
    for part in [
        tenant,
        &format,
        thread.thread().as_bytes(),
        &position.0.to_le_bytes(),
        &parent.0.to_le_bytes(),
        payload,
    ] {
        sum = crc32c::crc32c_append(sum, part);
    }
    sum
}

#[cfg(test)]
mod tests {
    use hanok_core::{Namespace, Tenant, Timestamp};

    use super::*;
    use crate::Body;

    fn record(format: [u8; 2]) -> (ThreadKey, Record) {
        let thread = ThreadKey::new(Tenant::default(), "t").unwrap();
        let entry = Entry { at: Timestamp(1), namespace: Namespace::root(), body: Body::Rewind };
        let (position, parent) = (Position(3), Position(2));
        let record = Record::new(&thread, position, parent, &entry);
        let mut bytes = record.bytes.to_vec();
        let sum = checksum(format, &thread, position, parent, &bytes[HEADER..]);
        bytes[..2].copy_from_slice(&format);
        bytes[6..10].copy_from_slice(&sum.to_le_bytes());
        (thread, Record { position, bytes: bytes.into() })
    }

    /// P12
    #[test]
    fn only_a_whole_record_can_be_one_of_a_newer_build() {
        for (format, newer) in [([1, 0], false), ([2, 0], true), ([1, 4], true), ([255, 9], true)] {
            let (thread, record) = record(format);
            let read = record.read(&thread);
            assert_eq!(matches!(read, Err(RecordError::Version { .. })), newer, "{read:?}");
            for at in 0..record.bytes.len() {
                let mut bytes = record.bytes.to_vec();
                bytes[at] ^= 3;
                let read = Record { bytes: bytes.into(), ..record }.read(&thread);
                let told = matches!(read, Err(RecordError::Checksum | RecordError::Length { .. }));
                assert!(told, "byte {at} of format {format:?}: {read:?}");
            }
        }
    }
}
