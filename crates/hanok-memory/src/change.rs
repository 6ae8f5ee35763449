//! What a step of compaction changes.

use hanok_state::{Message, MessageOp, Messages, State, StateUpdate};

use crate::{ConversationMemory, ConversationMemoryUpdate};

/// What compaction does to a conversation and its memory, as updates of the two.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Change {
    /// What is removed, and what takes another's place.
    pub messages: Vec<MessageOp>,
    /// What is remembered instead.
    pub memory: ConversationMemoryUpdate,
}

impl Change {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.memory.is_empty()
    }

    pub(crate) fn and(mut self, after: Self) -> Self {
        self.messages.extend(after.messages);
        Self { messages: self.messages, memory: self.memory.and(after.memory) }
    }

    /// The conversation and the memory that it makes of these.
    pub fn applied(
        &self,
        messages: &Messages,
        memory: &ConversationMemory,
    ) -> (Messages, ConversationMemory) {
        let mut kept: Vec<Message> = messages.iter().cloned().collect();
        for op in &self.messages {
            match op {
                MessageOp::Put(new) => {
                    if let Some(old) = kept.iter_mut().find(|old| old.id() == new.id()) {
                        *old = new.clone();
                    }
                }
                MessageOp::Remove(id) => kept.retain(|message| message.id() != Some(&**id)),
                MessageOp::Clear => kept.clear(),
            }
        }
        let mut remembered = memory.clone();
        // Its writes are of the fields of the memory, each of which merges whatever is written.
        drop(remembered.reduce(vec![("memory".into(), self.memory.clone())]));
        (kept.into_iter().collect(), remembered)
    }
}
