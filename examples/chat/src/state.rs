//! The state of a conversation.

use hanok_agent::AgentState;
use hanok_memory::{CompactionChange, ConversationMemory, Remembers};
use hanok_model::DataMark;
use hanok_state::{Messages, State};
use serde::{Deserialize, Serialize};

use crate::RouteDecision;

/// The state of a conversation. The log keeps every message; here are those that models still read.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatState {
    /// The conversation and the turn of the agent.
    #[reduce(nested)]
    pub agent: AgentState,
    /// What is kept of older messages.
    #[reduce(nested)]
    pub memory: ConversationMemory,
    /// Where this turn's question went.
    pub route: Option<RouteDecision>,
    /// What the documents have about it.
    pub context: Option<String>,
    /// The mark around what models read as data in this turn.
    pub mark: Option<DataMark>,
}

impl Remembers for ChatState {
    fn messages(&self) -> &Messages {
        &self.agent.messages
    }

    fn memory(&self) -> &ConversationMemory {
        &self.memory
    }

    fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    fn remember(change: CompactionChange) -> ChatStateUpdate {
        let agent = AgentState::update().messages(change.messages);
        ChatState::update().agent(agent).memory(change.memory)
    }
}
