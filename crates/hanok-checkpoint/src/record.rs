//! How an entry is stored.
//!
//! A record is 1 byte of format version, 1 byte of flags (none yet), 4 bytes of payload length, 4 bytes of CRC-32C, 8
//! bytes of parent position (all little-endian), and the payload: the entry's msgpack. The checksum covers the tenant,
//! the thread, the position, the parent and the payload, so a record that was damaged, cut or moved elsewhere is told.

use bytes::Bytes;
use hanok_core::{Position, ThreadKey};
use thiserror::Error;

use crate::Entry;

const VERSION: u8 = 1;
const HEADER: usize = 18;

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
}

impl Record {
    /// The record of `entry` at `position` of `thread`, following `parent`.
    pub fn new(thread: &ThreadKey, position: Position, parent: Position, entry: &Entry) -> Self {
        let payload = entry.to_bytes();
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.extend([VERSION, 0]);
        bytes.extend(u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(checksum(thread, position, parent, &payload).to_le_bytes());
        bytes.extend(parent.0.to_le_bytes());
        bytes.extend(payload);
        Self { position, bytes: bytes.into() }
    }

    /// The entry and its parent.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the record is damaged, was moved, or was written by a newer build.
    pub fn read(&self, thread: &ThreadKey) -> Result<(Position, Entry), RecordError> {
        let found = self.bytes.len();
        let Some((header, payload)) = self.bytes.split_at_checked(HEADER) else {
            return Err(RecordError::Length { found, said: HEADER });
        };
        let field = |at: usize, width: usize| {
            let bytes = header.get(at..at + width).unwrap_or_default();
            bytes.iter().rev().fold(0, |n: u64, byte| (n << 8) | u64::from(*byte))
        };
        let said = HEADER + field(2, 4) as usize;
        let parent = Position(field(10, 8));
        match header.first() {
            Some(&VERSION) => {}
            // A flipped version byte is damage, not the future: only a whole record may say that it is newer.
            other if u64::from(checksum(thread, self.position, parent, payload)) == field(6, 4) => {
                return Err(RecordError::Version { found: other.copied().unwrap_or_default() });
            }
            _ => return Err(RecordError::Checksum),
        }
        if said != found {
            return Err(RecordError::Length { found, said });
        }
        if field(1, 1) != 0
            || u64::from(checksum(thread, self.position, parent, payload)) != field(6, 4)
        {
            return Err(RecordError::Checksum);
        }
        Ok((parent, Entry::from_bytes(payload).map_err(RecordError::Content)?))
    }
}

pub(crate) fn checksum(
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
        thread.thread().as_bytes(),
        &position.0.to_le_bytes(),
        &parent.0.to_le_bytes(),
        payload,
    ] {
        sum = crc32c::crc32c_append(sum, part);
    }
    sum
}
