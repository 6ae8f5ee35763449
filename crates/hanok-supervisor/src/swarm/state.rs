//! The state of a swarm.

use hanok_agent::StopReason;
use hanok_state::{Message, Messages, State};
use serde::{Deserialize, Serialize};

/// The state of a swarm. A turn begins with [`Swarm::ask`](crate::Swarm::ask), which leaves the messages, the active agent
/// and what that sees of them.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SwarmState {
    /// The conversation, with the calls and observations of all agents. Every call in it has exactly one result.
    pub messages: Messages,
    /// The agent that has the thread and takes the next turn; empty before the first.
    pub active: String,
    /// The number of hand-offs in this turn.
    pub hops: u32,
    /// The messages that the active agent sees in place of those before `since`.
    pub brief: Vec<Message>,
    /// The first message that the active agent sees, counted from 0.
    pub since: u32,
    /// The answer of the turn, if it has one.
    pub answer: Option<String>,
    /// The reason for which the turn is over.
    pub stopped: Option<StopReason>,
}

impl SwarmState {
    /// The messages that the active agent sees.
    pub(crate) fn view(&self) -> Vec<Message> {
        let since = usize::try_from(self.since).unwrap_or(usize::MAX);
        self.brief.iter().chain(self.messages.iter().skip(since)).cloned().collect()
    }
}
