//! The base of a log: what stands for the records that were cut off.
//!
//! It is msgpack: a version, the link of the floor, where the chain that can still be checked begins (a position and the link
//! there), the snapshot, and the entries that are pending at the floor, each with its position. Without a chain the links are
//! nil.

use hanok_core::{FoldError, Namespace, Position, Reader, StoredError, Writer};

use crate::{
    chain::Link,
    entry::body::Entry,
    entry::fold::ThreadFold,
    entry::snapshot::Snapshot,
    wire::{Wire, malformed},
};

const VERSION: u64 = 1;

/// The base of a log: what stands for the records that were cut off.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BaseState {
    /// The link of the floor.
    pub(crate) link: Option<Link>,
    /// The position from which on all envelopes of the chain are there, and the link there.
    pub(crate) start: (Position, Option<Link>),
    /// The state that the records amount to, without what is pending.
    pub(crate) snapshot: Snapshot,
    /// Pending entries, each with its position.
    pub(crate) pending: Vec<(Position, Entry)>,
}

impl BaseState {
    /// The base before the first record of a thread whose records are chained, or not.
    pub(crate) fn of_nothing(is_chained: bool) -> Self {
        let link = is_chained.then_some(Link::BEFORE_ALL);
        Self { link, start: (Position::START, link), ..Self::default() }
    }

    /// The fold of the records up to `floor`.
    pub(crate) fn to_fold(&self, floor: Position) -> Result<ThreadFold, FoldError> {
        let mut fold = self.snapshot.to_fold(floor);
        // How the thread's run ended is in the snapshot: an answer that is pending was given before that.
        let root = Namespace::root();
        let ended = fold.run(&root).and_then(|run| run.ended.clone());
        for (position, entry) in &self.pending {
            fold.apply(*position, entry)?;
        }
        if let Some(run) = fold.runs.get_mut(&root) {
            run.ended = ended;
        }
        fold.position = floor;
        Ok(fold)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.array(6).uint(VERSION);
        self.link.write(&mut writer);
        self.start.0.write(&mut writer);
        self.start.1.write(&mut writer);
        writer.bin(&self.snapshot.to_bytes()).array(self.pending.len());
        for (position, entry) in &self.pending {
            writer.array(2).uint(position.0).bin(&entry.to_bytes());
        }
        writer.into_bytes()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, StoredError> {
        let mut reader = Reader::new(bytes);
        if reader.array()? != 6 || reader.uint()? != VERSION {
            return malformed(&reader, "the base of a log");
        }
        let link = Option::read(&mut reader)?;
        let start = (Position::read(&mut reader)?, Option::read(&mut reader)?);
        let snapshot = Snapshot::from_bytes(reader.bin()?)?;
        let pending = (0..reader.array()?)
            .map(|_| {
                reader.array()?;
                Ok((Position(reader.uint()?), Entry::from_bytes(reader.bin()?)?))
            })
            .collect::<Result<_, StoredError>>()?;
        if !reader.is_at_end() {
            return malformed(&reader, "the end of the base");
        }
        Ok(Self { link, start, snapshot, pending })
    }
}

/// The bytes of the base, as one value.
impl Wire for BaseState {
    fn write(&self, to: &mut Writer) {
        to.bin(&self.to_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, StoredError> {
        Self::from_bytes(from.bin()?)
    }
}
