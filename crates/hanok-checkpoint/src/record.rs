//! How an entry is stored.
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
use hanok_core::{Position, Reader, ThreadKey, Timestamp, Writer};
use thiserror::Error;

use crate::{
    Ancestor, Answer, Body, Codec, CodecError, Commit, Edit, Entry, Extend, KeyId, Life, Link,
    Memo, Question, Rebase, TaskWrite, Tip,
    chain::{Digest, Linked},
    codec::{Bound, COMPRESSED, ENCRYPTED, KNOWN},
};

pub(crate) const VERSION: u8 = 2;
const CHAINED: u8 = 4;
const KEYED: u8 = 8;
const DERIVED: u8 = 16;
const ERASED: u8 = 32;

/// The version, the flags and the checksum.
const FIXED: usize = 6;

/// Room for the longest header: two numbers, a key's id, an ancestor and a digest.
const HEADER: usize = FIXED + 5 + 10 + 4 + 48 + 32;

/// What keeps a digest from being guessed.
pub(crate) type Salt = [u8; 16];

/// Room for a record before it is known how large it is: enough for most, and as much as allocators hand out fast.
const AT_FIRST: usize = 1000;

/// Room for what stands in a record besides its values.
const BESIDES: usize = 500;

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
    #[error("it has format {found}, and this build reads {VERSION}")]
    Version {
        /// The format that was found.
        found: u8,
    },
    /// The checksum fits and the content does not: a build that is not ours wrote it.
    #[error("its content cannot be read: {0}")]
    Content(#[source] hanok_core::StoredError),
    /// It was erased: only its envelope is left.
    #[error("it was erased at {} by `{by}`", .at.0)]
    Erased {
        /// When.
        at: Timestamp,
        /// By whom, or why.
        by: String,
    },
    /// Its payload is not the one that its envelope, and so the chain, speaks of.
    #[error("its payload is not the one that its digest was made of")]
    Digest,
    /// It is whole, and the codec does not read it.
    #[error(transparent)]
    Codec(#[from] CodecError),
}

/// What stands around a payload.
struct Envelope<'a> {
    version: u8,
    flags: u8,
    parent: Position,
    key: Option<KeyId>,
    from: Option<Ancestor>,
    digest: Option<Digest>,
    payload: &'a [u8],
}

/// What of a record its link is made of.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) position: Position,
    pub(crate) parent: Position,
    pub(crate) key: Option<KeyId>,
    pub(crate) from: Option<Box<Ancestor>>,
    pub(crate) digest: Digest,
}

impl Part {
    /// The link of the record, which follows `before`.
    pub(crate) fn link(
        &self,
        codec: &Codec,
        life: Life,
        before: &Link,
    ) -> Result<Link, CodecError> {
        let key = match self.key {
            None => None,
            Some(id) => Some(codec.chain_key_of(id).ok_or(CodecError::NoKey(id))?),
        };
        let Self { position, parent, digest, .. } = self;
        let (position, parent, from) = (*position, *parent, self.from.as_deref());
        Ok(before.next(key.as_ref(), &Linked { life, position, parent, digest, from }))
    }
}

impl Record {
    /// The record of `entry` at `position` of `thread`, following `parent`, in no life and no chain: for the tests of stores, which
    /// never look into a record.
    pub fn new(thread: &ThreadKey, position: Position, parent: Position, entry: &Entry) -> Self {
        let bytes = payload(None, entry);
        let place = Place { thread, life: Life::default(), position, parent };
        place.record((VERSION, 0), &[], bytes)
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
        let before = Position(position.0.saturating_sub(1));
        let mut tip = Tip { position: before, ..Tip::default() };
        Self::chained(codec, thread, &mut tip, parent, entry, None)
    }

    /// The record of `entry` after `tip`, which moves to it.
    pub(crate) fn chained(
        codec: &Codec,
        thread: &ThreadKey,
        tip: &mut Tip,
        parent: Position,
        entry: &Entry,
        from: Option<&Ancestor>,
    ) -> Result<Self, CodecError> {
        let position = tip.position.next();
        let place = Place { thread, life: tip.life, position, parent };
        let salt = tip.link.map(|_| salt()).transpose()?;
        let mut bytes = payload(salt, entry);
        let (mut flags, mut middle) = (0, Vec::new());
        let mut digest = None;
        if let Some(before) = tip.link {
            let of = Digest::of(bytes.get(HEADER..).unwrap_or_default());
            flags |= CHAINED;
            let key = codec.chain_key();
            if let Some((KeyId(id), _)) = key {
                flags |= KEYED;
                middle.extend(id.to_le_bytes());
            }
            let linked = Linked { life: tip.life, position, parent, digest: &of, from };
            tip.link = Some(before.next(key.as_ref().map(|(_, key)| key), &linked));
            digest = Some(of);
        }
        if let Some(from) = from {
            flags |= DERIVED;
            middle.extend(from.life.to_bytes());
            middle.extend(from.link.unwrap_or(Link::BEFORE_ALL).0);
        }
        if !codec.is_plain() {
            let plain = bytes.split_off(HEADER);
            let (sealed, stored) = codec.seal(place.bound([VERSION, flags]), plain)?;
            flags |= sealed;
            bytes.extend(stored);
            if let Some(Digest(digest)) = digest.filter(|_| flags & ENCRYPTED != 0) {
                middle.extend(digest);
            }
        }
        tip.position = position;
        Ok(place.record((VERSION, flags), &middle, bytes))
    }

    /// The envelope of this record without its payload: it says when and why that was erased, and the chain still holds. An
    /// erased record stays as it is.
    pub(crate) fn erased(
        &self,
        codec: &Codec,
        (thread, life): (&ThreadKey, Life),
        (at, by): (Timestamp, &str),
    ) -> Result<Self, RecordError> {
        let envelope = self.envelope(thread, life)?;
        if envelope.flags & ERASED != 0 {
            return Ok(self.clone());
        }
        let place = Place { thread, life, position: self.position, parent: envelope.parent };
        let mut middle = Vec::new();
        if let Some(KeyId(id)) = envelope.key {
            middle.extend(id.to_le_bytes());
        }
        if let Some(from) = &envelope.from {
            middle.extend(from.life.to_bytes());
            middle.extend(from.link.unwrap_or(Link::BEFORE_ALL).0);
        }
        if envelope.flags & CHAINED != 0 {
            middle.extend(self.digest(codec, &place, &envelope)?.0);
        }
        let mut writer = Writer::after(room(AT_FIRST));
        writer.array(2).uint(at.0).str(by);
        let flags = envelope.flags & !(COMPRESSED | ENCRYPTED) | ERASED;
        Ok(place.record((VERSION, flags), &middle, writer.into_bytes()))
    }

    /// The position that the header says it follows; whether that is so, only [`open`](Record::open) tells.
    pub(crate) fn parent(&self) -> Option<Position> {
        let mut rest = self.bytes.get(FIXED..)?;
        leb128(&mut rest)?;
        Some(Position(self.position.0.wrapping_sub(leb128(&mut rest)?)))
    }

    /// The entry and its parent, of a record of no life that is neither compressed nor encrypted.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the record is damaged, was moved, or was written by a newer build.
    pub fn read(&self, thread: &ThreadKey) -> Result<(Position, Entry), RecordError> {
        self.open(&Codec::default(), thread, Life::default())
    }

    /// Refuses a record that is not whole or stands in another place than it was written for. No key is needed.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the record is damaged, was moved, or was written by a newer build.
    pub fn check(&self, thread: &ThreadKey, life: Life) -> Result<(), RecordError> {
        self.envelope(thread, life).map(|_| ())
    }

    /// The entry and its parent, of a record of this life of the thread.
    ///
    /// # Errors
    ///
    /// As [`read`](Record::read), [`RecordError::Erased`] and [`RecordError::Codec`].
    pub fn open(
        &self,
        codec: &Codec,
        thread: &ThreadKey,
        life: Life,
    ) -> Result<(Position, Entry), RecordError> {
        let mut room = Vec::new();
        let (parent, _, bytes) = self.payload(codec, (thread, life), &mut room)?;
        Ok((parent, Entry::from_bytes(bytes).map_err(RecordError::Content)?))
    }

    /// As [`open`](Record::open), with the salt of a chained record.
    pub(crate) fn open_salted(
        &self,
        codec: &Codec,
        thread: &ThreadKey,
        life: Life,
    ) -> Result<(Position, Entry, Option<Salt>), RecordError> {
        let mut room = Vec::new();
        let (parent, salt, bytes) = self.payload(codec, (thread, life), &mut room)?;
        Ok((parent, Entry::from_bytes(bytes).map_err(RecordError::Content)?, salt))
    }

    /// The parent, the salt of a chained record and the entry's msgpack, which stands in `room` where it had to be decrypted
    /// or unpacked.
    fn payload<'a>(
        &'a self,
        codec: &Codec,
        (thread, life): (&ThreadKey, Life),
        room: &'a mut Vec<u8>,
    ) -> Result<(Position, Option<Salt>, &'a [u8]), RecordError> {
        let envelope = self.envelope(thread, life)?;
        let parent = envelope.parent;
        if envelope.flags & ERASED != 0 {
            let (at, by) = erasure(envelope.payload).map_err(RecordError::Content)?;
            return Err(RecordError::Erased { at, by });
        }
        let place = Place { thread, life, position: self.position, parent };
        let mut bytes = envelope.payload;
        if envelope.flags & (COMPRESSED | ENCRYPTED) != 0 || !codec.is_plain() {
            *room = codec.open(&place.bound([envelope.version, envelope.flags]), bytes)?;
            bytes = room;
        }
        if let Some(digest) = &envelope.digest
            && Digest::of(bytes) != *digest
        {
            return Err(RecordError::Digest);
        }
        let mut salt = None;
        if envelope.flags & CHAINED != 0 {
            let Some((first, rest)) = bytes.split_first_chunk() else {
                return Err(RecordError::Digest);
            };
            (salt, bytes) = (Some(*first), rest);
        }
        Ok((parent, salt, bytes))
    }

    /// What of this record its link is made of; `None` if it is not chained.
    pub(crate) fn part(
        &self,
        codec: &Codec,
        thread: &ThreadKey,
        life: Life,
    ) -> Result<Option<Part>, RecordError> {
        let envelope = self.envelope(thread, life)?;
        if envelope.flags & CHAINED == 0 {
            return Ok(None);
        }
        let (position, parent) = (self.position, envelope.parent);
        let digest = self.digest(codec, &Place { thread, life, position, parent }, &envelope)?;
        let from = envelope.from.map(Box::new);
        Ok(Some(Part { position, parent, key: envelope.key, from, digest }))
    }

    /// The thread that this one comes from, if the record says so.
    pub(crate) fn ancestor(
        &self,
        thread: &ThreadKey,
        life: Life,
    ) -> Result<Option<Ancestor>, RecordError> {
        self.envelope(thread, life).map(|envelope| envelope.from)
    }

    /// The digest of the payload: the one in the envelope, or that of what is there.
    fn digest(
        &self,
        codec: &Codec,
        place: &Place<'_>,
        envelope: &Envelope<'_>,
    ) -> Result<Digest, RecordError> {
        if let Some(digest) = envelope.digest {
            return Ok(digest);
        }
        if envelope.flags & COMPRESSED == 0 {
            return Ok(Digest::of(envelope.payload));
        }
        let plain = Codec::default();
        let codec = if envelope.flags & ENCRYPTED == 0 { &plain } else { codec };
        let bound = place.bound([envelope.version, envelope.flags]);
        Ok(Digest::of(&codec.open(&bound, envelope.payload)?))
    }

    /// What stands around the payload, of a record that is whole.
    fn envelope(&self, thread: &ThreadKey, life: Life) -> Result<Envelope<'_>, RecordError> {
        let found = self.bytes.len();
        let cut = RecordError::Length { found, said: FIXED };
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
            let said = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(header);
            if said != found {
                return Err(RecordError::Length { found, said });
            }
        }
        let place = (thread, life, self.position);
        if u32::from_le_bytes(sum) != checksum([version, flags], place, covered) {
            return Err(RecordError::Checksum);
        }
        // Only a whole record may say that it is newer: a flipped version is damage, not the future.
        let known = KNOWN | CHAINED | KEYED | DERIVED | ERASED;
        if version != VERSION || flags & !known != 0 {
            return Err(RecordError::Version { found: version });
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

/// Where a record stands.
struct Place<'a> {
    thread: &'a ThreadKey,
    life: Life,
    position: Position,
    parent: Position,
}

impl Place<'_> {
    fn bound(&self, format: [u8; 2]) -> Bound<'_> {
        let Self { thread, life, position, parent } = *self;
        Bound { format, thread, life, position, parent }
    }

    /// A record of `bytes`, whose header is still to be written.
    fn record(&self, (version, flags): (u8, u8), middle: &[u8], mut bytes: Vec<u8>) -> Record {
        let size = bytes.len().saturating_sub(HEADER);
        let mut header = Vec::with_capacity(HEADER);
        header.extend([version, flags, 0, 0, 0, 0]);
        write_leb128(&mut header, size as u64);
        write_leb128(&mut header, self.position.0.wrapping_sub(self.parent.0));
        header.extend(middle);
        let start = HEADER.saturating_sub(header.len());
        if let Some(place) = bytes.get_mut(start..HEADER) {
            place.copy_from_slice(&header);
        }
        let covered = bytes.get(start + FIXED..).unwrap_or_default();
        let place = (self.thread, self.life, self.position);
        let sum = checksum([version, flags], place, covered);
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

/// How many bytes of the header follow its numbers.
fn header(flags: u8) -> usize {
    let part = |flag, size| if flags & flag == 0 { 0 } else { size };
    let digest = if has_digest(flags) { 32 } else { 0 };
    part(KEYED, 4) + part(DERIVED, 48) + digest
}

fn has_digest(flags: u8) -> bool {
    flags & CHAINED != 0 && flags & (ENCRYPTED | ERASED) != 0
}

/// When and by whom a record was erased.
fn erasure(payload: &[u8]) -> Result<(Timestamp, String), hanok_core::StoredError> {
    let mut reader = Reader::new(payload);
    reader.array()?;
    Ok((Timestamp(reader.uint()?), reader.str()?.to_owned()))
}

/// Room for so many bytes, of which those of the longest header are there.
fn room(bytes: usize) -> Vec<u8> {
    let mut room = Vec::with_capacity(bytes);
    room.resize(HEADER, 0);
    room
}

/// A salt, if there is one, and an entry, after room for a header.
fn payload(salt: Option<Salt>, entry: &Entry) -> Vec<u8> {
    let mut bytes = room(AT_FIRST.max(BESIDES + size(&entry.body)));
    bytes.extend(salt.into_iter().flatten());
    let mut writer = Writer::after(bytes);
    entry.write(&mut writer);
    writer.into_bytes()
}

/// About how many bytes the values of an entry take.
fn size(body: &Body) -> usize {
    match body {
        Body::Write(TaskWrite { changes, .. })
        | Body::Commit(Commit { changes, .. })
        | Body::Edit(Edit { changes, .. })
        | Body::Extend(Extend { values: changes, .. }) => changes.size(),
        Body::Memo(Memo { value, .. })
        | Body::Question(Question { payload: value, .. })
        | Body::Answer(Answer { value, .. })
        | Body::Rebase(Rebase { fields: value, .. }) => value.as_bytes().len(),
        _ => 0,
    }
}

/// The system's randomness: nobody who reads the log can know it.
fn salt() -> Result<Salt, CodecError> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|error| CodecError::Write(error.to_string().into()))?;
    Ok(salt)
}

fn write_leb128(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push((number as u8) | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Reads a number; `None` if there is none of at most 64 bits.
fn leb128(from: &mut &[u8]) -> Option<u64> {
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

/// The checksum of `covered`, and of whose it is and where it stands.
pub(crate) fn checksum(
    format: [u8; 2],
    (thread, life, position): (&ThreadKey, Life, Position),
    covered: &[u8],
) -> u32 {
    let tenant = thread.tenant().as_str().as_bytes();
    // Lengths keep ("ab", "c") and ("a", "bc") apart.
    let mut sum = crc32c::crc32c(&(tenant.len() as u64).to_le_bytes());
    let mut place = [0; 24];
    let (of_life, of_position) = place.split_at_mut(16);
    of_life.copy_from_slice(&life.to_bytes());
    of_position.copy_from_slice(&position.0.to_le_bytes());
    for part in [tenant, &format, thread.thread().as_bytes(), &place, covered] {
        sum = crc32c::crc32c_append(sum, part);
    }
    sum
}

#[cfg(test)]
mod tests {
    use hanok_core::{Namespace, Tenant};

    use super::*;
    use crate::Body;

    fn record(format: [u8; 2]) -> (ThreadKey, Record) {
        let thread = ThreadKey::new(Tenant::default(), "t").unwrap();
        let entry = Entry { at: Timestamp(1), namespace: Namespace::root(), body: Body::Rewind };
        let (position, parent) = (Position(3), Position(2));
        let record = Record::new(&thread, position, parent, &entry);
        let mut bytes = record.bytes.to_vec();
        let sum = checksum(format, (&thread, Life::default(), position), &bytes[FIXED..]);
        bytes[..2].copy_from_slice(&format);
        bytes[2..FIXED].copy_from_slice(&sum.to_le_bytes());
        (thread, Record { position, bytes: bytes.into() })
    }

    /// P12
    #[test]
    fn only_a_whole_record_can_be_one_of_a_newer_build() {
        for (format, newer) in [([2, 0], false), ([1, 0], true), ([2, 64], true), ([255, 9], true)]
        {
            let (thread, record) = record(format);
            let read = record.read(&thread);
            assert_eq!(matches!(read, Err(RecordError::Version { .. })), newer, "{read:?}");
            for at in 0..record.bytes.len() {
                let mut bytes = record.bytes.to_vec();
                bytes[at] ^= 3;
                let read = Record { bytes: bytes.into(), ..record }.read(&thread);
                let noticed =
                    matches!(read, Err(RecordError::Checksum | RecordError::Length { .. }));
                assert!(noticed, "byte {at} of format {format:?}: {read:?}");
            }
        }
    }

    /// P7: every part that a record is bound to, changed alone.
    #[test]
    fn a_record_belongs_to_one_place_of_one_life_of_one_thread() {
        let thread = ThreadKey::new(Tenant::default(), "t").unwrap();
        let entry = Entry { at: Timestamp(1), namespace: Namespace::root(), body: Body::Rewind };
        let mut tip = Tip { position: Position(4), ..Tip::new(Life::new(7), true) };
        let record = tip.push(&Codec::default(), &thread, Position(2), &entry).unwrap();
        let open = |record: &Record, thread: &ThreadKey, life| {
            record
                .open(&Codec::default(), thread, Life::new(life))
                .map_err(|error| error.to_string())
        };
        assert_eq!(open(&record, &thread, 7), Ok((Position(2), entry)));
        let elsewhere = Record { position: Position(6), ..record.clone() };
        let other = ThreadKey::new(Tenant::default(), "u").unwrap();
        let tenant = ThreadKey::new(Tenant::new("a").unwrap(), "t").unwrap();
        let damaged = Err("its checksum does not fit".to_owned());
        assert_eq!(open(&record, &thread, 8), damaged);
        assert_eq!(open(&elsewhere, &thread, 7), damaged);
        assert_eq!(open(&record, &other, 7), damaged);
        assert_eq!(open(&record, &tenant, 7), damaged);
    }

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
