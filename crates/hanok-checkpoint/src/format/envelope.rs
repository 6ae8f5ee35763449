//! The stored form of an entry.
//!
//! A record is 1 byte of format version, 1 byte of flags (1: compressed, 2: encrypted, 4: chained, 8: the chain is keyed, 16: it
//! names where its thread comes from, 32: erased), 4 bytes of CRC-32C (little-endian), and then, numbers as LEB128 (DWARF 4, 7.6):
//!
//! 1. the length of the payload;
//! 2. how far before it its parent stands;
//! 3. with a keyed chain: 4 bytes of the chain key's id (little-endian);
//! 4. if it names where its thread comes from: 16 bytes of that thread's life (most significant first), 32 of its newest link;
//! 5. of a chained record that is encrypted or erased: 32 bytes of the payload's digest;
//! 6. the payload: the salt if it is chained, and the entry's msgpack, as its [`Codec`](crate::Codec) makes it; of an erased record,
//!    msgpack of when and why it was erased.
//!
//! The checksum covers all of it, and the tenant, the thread, its life and the position, so a record that was damaged, cut or
//! moved elsewhere is noticed. What the chain covers says [`chain`](crate::Link).

use bytes::Bytes;
use hanok_core::{Position, ThreadKey};

use crate::{
    chain::{Ancestor, Digest, Link},
    codec::{Bound, ENCRYPTED, KNOWN, KeyId},
    format::checksum::checksum,
    format::record::{Record, RecordError},
    life::Life,
};

pub(crate) const VERSION: u8 = 3;

pub(crate) const CHAINED: u8 = 4;
pub(crate) const KEYED: u8 = 8;
pub(crate) const DERIVED: u8 = 16;
pub(crate) const ERASED: u8 = 32;

/// The version, the flags and the checksum.
pub(crate) const FIXED: usize = 6;

/// Room for the longest header: two numbers, a key's id, an ancestor and a digest.
pub(crate) const HEADER: usize = FIXED + 5 + 10 + 4 + 48 + 32;

/// Room for a record before it is known how large it is: enough for most, and as much as allocators hand out fast.
pub(crate) const AT_FIRST: usize = 1000;

/// The parts around a payload.
pub(crate) struct Envelope<'a> {
    pub(crate) version: u8,
    pub(crate) flags: u8,
    pub(crate) parent: Position,
    pub(crate) key: Option<KeyId>,
    pub(crate) from: Option<Ancestor>,
    pub(crate) digest: Option<Digest>,
    pub(crate) payload: &'a [u8],
}

/// The place of a record.
pub(crate) struct RecordPlace<'a> {
    pub(crate) thread: &'a ThreadKey,
    pub(crate) life: Life,
    pub(crate) position: Position,
    pub(crate) parent: Position,
}

impl RecordPlace<'_> {
    pub(crate) fn bound(&self, format: [u8; 2]) -> Bound<'_> {
        let Self { thread, life, position, parent } = *self;
        Bound { format, thread, life, position, parent }
    }

    /// A record of `bytes`, whose header is still to be written.
    pub(crate) fn record(&self, flags: u8, middle: &[u8], mut bytes: Vec<u8>) -> Record {
        let size = bytes.len().saturating_sub(HEADER);
        let mut header = Vec::with_capacity(HEADER);
        header.extend([VERSION, flags, 0, 0, 0, 0]);
        write_leb128(&mut header, size as u64);
        write_leb128(&mut header, self.position.0.wrapping_sub(self.parent.0));
        header.extend(middle);
        let start = HEADER.saturating_sub(header.len());
        if let Some(place) = bytes.get_mut(start..HEADER) {
            place.copy_from_slice(&header);
        }
        let covered = bytes.get(start + FIXED..).unwrap_or_default();
        let sum = checksum([VERSION, flags], self.thread, self.life, self.position, covered);
        if let Some(place) = bytes.get_mut(start + 2..start + FIXED) {
            place.copy_from_slice(&sum.to_le_bytes());
        }
        let position = self.position;
        // It takes hardly more room than it needs: a store in memory keeps it.
        if bytes.len() <= AT_FIRST {
            let bytes = Bytes::copy_from_slice(bytes.get(start..).unwrap_or_default());
            return Record { position, bytes };
        }
        if bytes.capacity() - bytes.len() > bytes.len() / 16 {
            bytes.shrink_to_fit();
        }
        Record { position, bytes: Bytes::from(bytes).slice(start..) }
    }
}

/// The number of bytes of the header that follow its numbers.
pub(crate) fn header(flags: u8) -> usize {
    let part = |flag, size| if flags & flag == 0 { 0 } else { size };
    let digest = if has_digest(flags) { 32 } else { 0 };
    part(KEYED, 4) + part(DERIVED, 48) + digest
}

pub(crate) fn has_digest(flags: u8) -> bool {
    flags & CHAINED != 0 && flags & (ENCRYPTED | ERASED) != 0
}

/// Room for so many bytes, of which those of the longest header are there.
pub(crate) fn room(bytes: usize) -> Vec<u8> {
    let mut room = Vec::with_capacity(bytes);
    room.resize(HEADER, 0);
    room
}

pub(crate) fn write_leb128(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push((number as u8) | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Reads a number; `None` if there is none of at most 64 bits.
pub(crate) fn leb128(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *from.split_off_first()?;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

impl Record {
    /// The envelope of a record that is whole.
    pub(crate) fn envelope(
        &self,
        thread: &ThreadKey,
        life: Life,
    ) -> Result<Envelope<'_>, RecordError> {
        let actual = self.bytes.len();
        let cut = RecordError::Length { actual, stated: FIXED };
        let Some((fixed, covered)) = self.bytes.split_first_chunk::<FIXED>() else {
            return Err(cut);
        };
        let [version, flags, sum @ ..] = *fixed;
        let mut rest = covered;
        let sizes = leb128(&mut rest).zip(leb128(&mut rest));
        // A version that is not ours has a header of its own: only its checksum is looked at.
        if version == VERSION {
            let Some((length, _)) = sizes else { return Err(cut) };
            let header = header(flags) + covered.len() - rest.len() + FIXED;
            let stated = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(header);
            if stated != actual {
                return Err(RecordError::Length { actual, stated });
            }
        }
        if u32::from_le_bytes(sum)
            != checksum([version, flags], thread, life, self.position, covered)
        {
            return Err(RecordError::Checksum);
        }
        // Only a whole record may say that it is newer: a flipped version is damage, not the future.
        let all = KNOWN | CHAINED | KEYED | DERIVED | ERASED;
        if version != VERSION || flags & !all != 0 {
            return Err(RecordError::Version { format: version });
        }
        let Some((_, distance)) = sizes else { return Err(cut) };
        let parent = Position(self.position.0.wrapping_sub(distance));
        let (mut key, mut from, mut digest) = (None, None, None);
        if flags & KEYED != 0 {
            let part = rest.split_off(..4);
            key = part.and_then(|id| Some(KeyId(u32::from_le_bytes(id.try_into().ok()?))));
        }
        if flags & DERIVED != 0 {
            let life = rest.split_off(..16).and_then(|life| life.try_into().ok());
            let link: Option<[u8; 32]> = rest.split_off(..32).and_then(|it| it.try_into().ok());
            from = life.zip(link).map(|(life, link)| Ancestor {
                life: Life::from_bytes(life),
                link: Some(Link(link)).filter(|link| *link != Link::BEFORE_ALL),
            });
        }
        if has_digest(flags) {
            let part = rest.split_off(..32);
            digest = part.and_then(|digest| Some(Digest(digest.try_into().ok()?)));
        }
        Ok(Envelope { version, flags, parent, key, from, digest, payload: rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for number in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            write_leb128(&mut bytes, number);
            let mut rest = &bytes[..];
            assert_eq!((leb128(&mut rest), rest), (Some(number), &[][..]));
            let mut cut = &bytes[..bytes.len() - 1];
            assert_eq!(leb128(&mut cut), None);
        }
    }
}
