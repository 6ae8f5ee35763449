//! The state of a conversation.

use hanok_agent::{AgentState, HasAgent};
use hanok_memory::{CompactionChange, ConversationMemory, Remembers};
use hanok_state::{Messages, State};
use serde::{Deserialize, Serialize};

use crate::RouteDecision;

/// The state of a conversation. The log keeps every message; here are those that models still read.
#[derive(State, HasAgent, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatState {
    /// The conversation with its memory, and the turn of the agent.
    #[reduce(nested)]
    pub agent: AgentState,
    /// Where this turn's question went.
    pub route: Option<RouteDecision>,
}

impl Remembers for ChatState {
    fn messages(&self) -> &Messages {
        &self.agent.messages
    }

    fn memory(&self) -> &ConversationMemory {
        &self.agent.memory
    }

    fn remember(change: CompactionChange) -> ChatStateUpdate {
        ChatState::update().agent(AgentState::remember(change))
    }
}
