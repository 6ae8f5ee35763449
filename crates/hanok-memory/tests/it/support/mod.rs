//! A state with a conversation and its memory.

use hanok_memory::{CompactionChange, ConversationMemory, Remembers};
use hanok_state::{Messages, State};

#[derive(State, Clone, Default, Debug, PartialEq)]
pub(crate) struct Chat {
    pub(crate) messages: Messages,
    #[reduce(nested)]
    pub(crate) memory: ConversationMemory,
}

impl Remembers for Chat {
    fn messages(&self) -> &Messages {
        &self.messages
    }

    fn memory(&self) -> &ConversationMemory {
        &self.memory
    }

    fn remember(change: CompactionChange) -> ChatUpdate {
        Chat::update().messages(change.messages).memory(change.memory)
    }
}
