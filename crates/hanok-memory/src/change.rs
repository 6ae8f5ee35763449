//! The change that a step of compaction makes.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use hanok_state::{Message, MessageOp, Messages, State, StateUpdate};

use crate::memory::{ConversationMemory, ConversationMemoryUpdate};

/// The updates by which compaction changes a conversation and its memory.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct CompactionChange {
    /// The messages that are removed, and those that take another's place.
    pub messages: Vec<MessageOp>,
    /// The summaries and facts that are kept instead.
    pub memory: ConversationMemoryUpdate,
}

impl CompactionChange {
    /// True when it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.memory.is_empty()
    }

    /// This change, and `after` behind it.
    pub fn and(mut self, after: Self) -> Self {
        self.messages.extend(after.messages);
        Self { messages: self.messages, memory: self.memory.and(after.memory) }
    }

    /// The conversation and the memory that it makes of these.
    pub fn applied(
        &self,
        messages: &Messages,
        memory: &ConversationMemory,
    ) -> (Messages, ConversationMemory) {
        let (mut gone, mut new) = (HashSet::new(), HashMap::new());
        // What takes a summary back writes the whole conversation.
        let cleared = self.messages.iter().rposition(|op| matches!(op, MessageOp::Clear));
        let (messages, ops) = match cleared {
            Some(at) => {
                let puts = self.messages.iter().skip(at).filter_map(|op| match op {
                    MessageOp::Put(message) => Some(message.clone()),
                    _ => None,
                });
                (Cow::Owned(puts.collect()), &[][..])
            }
            None => (Cow::Borrowed(messages), &self.messages[..]),
        };
        for op in ops {
            match op {
                MessageOp::Put(message) => {
                    new.insert(message.id(), message);
                }
                MessageOp::Remove(id) => {
                    gone.insert(&**id);
                }
                MessageOp::Clear => {}
            }
        }
        let stays = |message: &&Message| !message.id().is_some_and(|id| gone.contains(id));
        let kept: Messages = messages
            .iter()
            .filter(stays)
            .map(|message| Message::clone(new.get(&message.id()).unwrap_or(&message)))
            .collect();
        let mut remembered = memory.clone();
        // Its writes are of the fields of the memory, each of which merges whatever is written.
        drop(remembered.reduce(vec![("memory".into(), self.memory.clone())]));
        (kept, remembered)
    }
}
