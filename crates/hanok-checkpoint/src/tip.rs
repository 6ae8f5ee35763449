//! The end of a log, as a writer knows it.

use hanok_core::{Position, ThreadKey};

use crate::{
    Ancestor, Append, AppendId, Codec, CodecError, Entry, Guard, Head, HeadSeal, Life, Link, Record,
};

/// The end of a thread's log: what the next record follows. A writer that knows it need not read the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tip {
    /// The thread's life.
    pub life: Life,
    /// The position of the newest record.
    pub position: Position,
    /// The newest link; `None` for a thread whose records are not chained.
    pub link: Option<Link>,
}

impl Tip {
    /// The beginning of a new life, whose records are chained or not.
    pub fn new(life: Life, is_chained: bool) -> Self {
        Self { life, position: Position::START, link: is_chained.then_some(Link::BEFORE_ALL) }
    }

    /// The end of a thread that is at `head`.
    pub fn of(head: &Head) -> Self {
        Self { life: head.life, position: head.position, link: head.link }
    }

    /// The record of `entry`, which follows this one in the log and `parent` on its branch. The tip moves to it.
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
        Some(HeadSeal::of(&key, thread, (self.life, self.position, self.link)))
    }

    /// The append of `records`, the last of which stands here.
    pub fn append(
        &self,
        codec: &Codec,
        thread: &ThreadKey,
        id: AppendId,
        (expected, guard): (Position, Guard),
        records: Vec<Record>,
    ) -> Append {
        let (life, link, seal) = (self.life, self.link, self.seal(codec, thread));
        Append { life, link, seal, ..Append::new(id, expected, guard, records) }
    }
}
