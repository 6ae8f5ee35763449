//! Writing records.

use hanok_core::{Position, ThreadKey, Timestamp, Writer};

use crate::{
    chain::{Ancestor, Digest, HeadSeal, Link, Linked, Tip},
    codec::{COMPRESSED, Codec, CodecError, ENCRYPTED, KeyId},
    entry::body::{Body, Entry},
    entry::state::{Edit, Extend, Rebase},
    entry::task::{Answer, Commit, Memo, Question, TaskWrite},
    format::envelope::{
        AT_FIRST, CHAINED, DERIVED, ERASED, HEADER, KEYED, RecordPlace, VERSION, room,
    },
    format::record::{Record, RecordError, Salt},
    life::Life,
};

/// Room for what stands in a record besides its values.
const BESIDES: usize = 500;

/// When a record is erased, and by whom.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Erasure<'a> {
    pub(crate) at: Timestamp,
    pub(crate) by: &'a str,
}

impl Record {
    /// The record of `entry` at `position` of `thread`, following `parent`, in no life and no chain: for the tests of stores, which
    /// never look into a record.
    pub fn new(thread: &ThreadKey, position: Position, parent: Position, entry: &Entry) -> Self {
        let bytes = payload(None, entry);
        let place = RecordPlace { thread, life: Life::default(), position, parent };
        place.record(0, &[], bytes)
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
        let place = RecordPlace { thread, life: tip.life, position, parent };
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
        Ok(place.record(flags, &middle, bytes))
    }

    /// The envelope of this record without its payload: it says when and why that was erased, and the chain still holds. An
    /// erased record stays as it is.
    pub(crate) fn erased(
        &self,
        codec: &Codec,
        thread: &ThreadKey,
        life: Life,
        erasure: &Erasure<'_>,
    ) -> Result<Self, RecordError> {
        let envelope = self.envelope(thread, life)?;
        if envelope.flags & ERASED != 0 {
            return Ok(self.clone());
        }
        let place = RecordPlace { thread, life, position: self.position, parent: envelope.parent };
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
        writer.array(2).uint(erasure.at.0).str(erasure.by);
        let flags = envelope.flags & !(COMPRESSED | ENCRYPTED) | ERASED;
        Ok(place.record(flags, &middle, writer.into_bytes()))
    }
}

impl Tip {
    /// The record of `entry`, which follows this one in the log and `parent` on its branch. The tip moves to it.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
    /// # let thread = ThreadKey::new(Tenant::default(), "t")?;
    /// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Rewind(Rewind::default()) };
    /// let (codec, mut tip) = (Codec::new(), Tip::new(Life::new(1), true));
    /// let record = tip.push(&codec, &thread, Position::START, &entry)?;
    /// assert_eq!((record.position, tip.position), (Position(1), Position(1)));
    /// assert_ne!(tip.link, Some(Link::BEFORE_ALL));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`CodecError::Write`].
    pub fn push(
        &mut self,
        codec: &Codec,
        thread: &ThreadKey,
        parent: Position,
        entry: &Entry,
    ) -> Result<Record, CodecError> {
        Record::chained(codec, thread, self, parent, entry, None)
    }

    /// As [`push`](Tip::push), for the first record of a thread that comes from another.
    ///
    /// # Errors
    ///
    /// [`CodecError::Write`].
    pub fn push_from(
        &mut self,
        codec: &Codec,
        thread: &ThreadKey,
        parent: Position,
        entry: &Entry,
        from: &Ancestor,
    ) -> Result<Record, CodecError> {
        Record::chained(codec, thread, self, parent, entry, Some(from))
    }

    /// The seal of a head that stands here; `None` without a key.
    pub fn seal(&self, codec: &Codec, thread: &ThreadKey) -> Option<HeadSeal> {
        let (_, key) = codec.chain_key()?;
        Some(HeadSeal::of(&key, thread, self))
    }
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
        | Body::Late(Answer { value, .. })
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
