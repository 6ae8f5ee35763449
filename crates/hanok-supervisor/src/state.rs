//! The state of a supervisor.

use hanok_agent::{Handoff, PromptFront, StopReason, memory::ConversationMemory};
use hanok_state::{Map, Messages, State};
use serde::{Deserialize, Serialize};

/// The state of a supervisor. A turn begins with [`Supervisor::ask`](crate::Supervisor::ask), which resets everything but
/// the messages.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SupervisorState {
    /// The conversation: the user's messages, the routing, the results of the agents (`[agent] output`, as messages of the
    /// agent), and the answers.
    pub messages: Messages,
    /// The agent that was chosen, or the first of several. `None` before the first choice, [`END`](hanok_graph::END) when
    /// the turn is over.
    pub current_agent: Option<String>,
    /// The last result of each agent in this turn.
    #[reduce(merge)]
    pub agent_outputs: Map<String, String>,
    /// The number of routing calls in this turn.
    pub iteration: u32,
    /// The most routing calls of the turn. 0 stands for the supervisor's own limit.
    pub max_iterations: u32,
    /// The task of that agent.
    pub task: Option<String>,
    /// The agents that were chosen at once, where that is more than one
    /// ([`SupervisorBuilder::parallel`](crate::SupervisorBuilder::parallel)).
    pub delegations: Vec<Handoff>,
    /// The notes to the model about its last reply, besides the results: delegations that were not run, and the reason.
    pub notes: Vec<String>,
    /// The answer of the turn, if it has one.
    pub answer: Option<String>,
    /// The reason for which the turn is over.
    pub stopped: Option<StopReason>,
    /// The summaries and facts that stand for messages that were taken out of the conversation. A turn leaves them as they are.
    #[reduce(nested)]
    pub memory: ConversationMemory,
    /// The front of the routing model's last prompt. A turn leaves it as it is.
    pub front: Option<PromptFront>,
    /// The word that the labels of delegations carry in this conversation, where they do
    /// ([`keyed_labels`](crate::SupervisorBuilder::keyed_labels)). A turn leaves it as it is.
    pub label_key: Option<String>,
}
