//! Records: entries as they are stored, and how they are read.

use bytes::Bytes;
use hanok_core::{Position, Reader, ThreadKey, Timestamp};
use thiserror::Error;

use crate::{
    chain::{Ancestor, Digest, Link, Linked},
    codec::{COMPRESSED, Codec, CodecError, ENCRYPTED, KeyId},
    entry::body::Entry,
    format::envelope::{CHAINED, ERASED, Envelope, FIXED, RecordPlace, VERSION, leb128},
    life::Life,
};

/// Random bytes that keep a digest from being guessed.
pub(crate) type Salt = [u8; 16];

/// A stored entry, as a backend keeps it: opaque bytes at a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The position.
    pub position: Position,
    /// The stored bytes.
    pub bytes: Bytes,
}

/// A fault of a record.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The record is shorter or longer than it says.
    #[error("it has {actual} bytes and says {stated}")]
    Length {
        /// The number of items.
        actual: usize,
        /// The number that it states.
        stated: usize,
    },
    /// The checksum is another: the record was damaged, or belongs elsewhere.
    #[error("its checksum does not fit")]
    Checksum,
    /// A newer build wrote it.
    #[error("it has format {format}, and this build reads {VERSION}")]
    Version {
        /// The format that was found.
        format: u8,
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
    #[error("{0}")]
    Codec(#[from] CodecError),
}

/// The parts of a record that its link is made of.
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
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Rewind(Rewind::default()) };
    /// # let (codec, mut tip) = (Codec::new(), Tip::new(Life::new(1), true));
    /// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
    /// assert_eq!(record.open(&codec, &thread, Life::new(1))?, (Position::START, entry));
    /// let elsewhere = record.open(&codec, &thread, Life::new(2));
    /// assert!(matches!(elsewhere, Err(RecordError::Checksum)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        let (parent, _, bytes) = self.payload(codec, thread, life, &mut room)?;
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
        let (parent, salt, bytes) = self.payload(codec, thread, life, &mut room)?;
        Ok((parent, Entry::from_bytes(bytes).map_err(RecordError::Content)?, salt))
    }

    /// The parent, the salt of a chained record and the entry's msgpack, which stands in `room` where it had to be decrypted
    /// or unpacked.
    fn payload<'a>(
        &'a self,
        codec: &Codec,
        thread: &ThreadKey,
        life: Life,
        room: &'a mut Vec<u8>,
    ) -> Result<(Position, Option<Salt>, &'a [u8]), RecordError> {
        let envelope = self.envelope(thread, life)?;
        let parent = envelope.parent;
        if envelope.flags & ERASED != 0 {
            let (at, by) = erasure(envelope.payload).map_err(RecordError::Content)?;
            return Err(RecordError::Erased { at, by });
        }
        let place = RecordPlace { thread, life, position: self.position, parent };
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

    /// The parts of this record that its link is made of; `None` if it is not chained.
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
        let digest =
            self.digest(codec, &RecordPlace { thread, life, position, parent }, &envelope)?;
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
    pub(crate) fn digest(
        &self,
        codec: &Codec,
        place: &RecordPlace<'_>,
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
}

/// When and by whom a record was erased.
fn erasure(payload: &[u8]) -> Result<(Timestamp, String), hanok_core::StoredError> {
    let mut reader = Reader::new(payload);
    reader.array()?;
    Ok((Timestamp(reader.uint()?), reader.str()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use hanok_core::{Namespace, Tenant};

    use super::*;
    use crate::{
        chain::Tip,
        entry::{body::Body, state::Rewind},
        format::checksum::checksum,
    };

    fn record(format: [u8; 2]) -> (ThreadKey, Record) {
        let thread = ThreadKey::new(Tenant::default(), "t").unwrap();
        let entry = Entry {
            at: Timestamp(1),
            namespace: Namespace::root(),
            body: Body::Rewind(Rewind::default()),
        };
        let (position, parent) = (Position(3), Position(2));
        let record = Record::new(&thread, position, parent, &entry);
        let mut bytes = record.bytes.to_vec();
        let sum = checksum(format, &thread, Life::default(), position, &bytes[FIXED..]);
        bytes[..2].copy_from_slice(&format);
        bytes[2..FIXED].copy_from_slice(&sum.to_le_bytes());
        (thread, Record { position, bytes: bytes.into() })
    }

    /// P12
    #[test]
    fn only_a_whole_record_can_be_one_of_a_newer_build() {
        for (format, newer) in [([3, 0], false), ([2, 0], true), ([3, 64], true), ([255, 9], true)]
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
        let entry = Entry {
            at: Timestamp(1),
            namespace: Namespace::root(),
            body: Body::Rewind(Rewind::default()),
        };
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
}
