//! Ids that derive from the things that they name.

use hanok_checkpoint::ThreadLife;
use hanok_core::{Namespace, Position, TaskId};

/// A hash of parts that distinguishes ("ab", "c") from ("a", "bc").
///
/// The parts are gathered and hashed at once: a hasher that is fed by parts has two kilobytes to move about.
pub(crate) struct Digest(Vec<u8>);

impl Digest {
    pub(crate) fn new(kind: &str) -> Self {
        Self(Vec::with_capacity(256)).part(kind.as_bytes())
    }

    pub(crate) fn part(mut self, bytes: &[u8]) -> Self {
        self.0.extend((bytes.len() as u64).to_le_bytes());
        self.0.extend(bytes);
        self
    }

    pub(crate) fn bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let hash = blake3::hash(&self.0);
        bytes.iter_mut().zip(hash.as_bytes()).for_each(|(byte, of_hash)| *byte = *of_hash);
        bytes
    }

    pub(crate) fn hex(self) -> String {
        TaskId::from_bytes(self.bytes()).to_string()
    }
}

/// The id of a task: the same in every retry and resume, another in every fork and after every rewind, and in whatever else has the
/// name of the thread. It derives from `turn`, the beginning of the turn, which a takeover of a lost run does not change.
pub(crate) fn task(
    of: &ThreadLife,
    namespace: &Namespace,
    turn: Position,
    step: u32,
    node: &str,
    index: usize,
) -> TaskId {
    let mut digest = Digest::new("task")
        .part(of.thread.tenant().as_str().as_bytes())
        .part(of.thread.thread().as_bytes())
        .part(&of.life.to_bytes())
        .part(&(namespace.depth() as u64).to_le_bytes());
    for segment in namespace.segments() {
        digest = digest.part(segment.as_bytes());
    }
    let digest = digest
        .part(&turn.0.to_le_bytes())
        .part(&step.to_le_bytes())
        .part(node.as_bytes())
        .part(&(index as u64).to_le_bytes());
    TaskId::from_bytes(digest.bytes())
}
