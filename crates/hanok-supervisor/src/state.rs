//! The state of a supervisor.

use hanok_agent::{Handoff, StopReason};
use hanok_state::{Map, Messages, State};
use serde::{Deserialize, Serialize};

/// The state of a supervisor. A turn begins with [`Supervisor::ask`](crate::Supervisor::ask), which resets everything but
/// the messages.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SupervisorState {
    /// The conversation: what the user said, how it was routed, what the agents gave (`[agent] output`, said by the
    /// agent), and the answers.
    pub messages: Messages,
    /// The agent that was chosen, or the first of several, `None` before the first choice, [`END`](hanok_graph::END) when the turn is over.
    pub current_agent: Option<String>,
    /// What each agent gave in this turn, the last of each.
    #[reduce(merge)]
    pub agent_outputs: Map<String, String>,
    /// How often the model was asked for a route in this turn.
    pub iteration: u32,
    /// How often it may be. 0 means what the supervisor was built with.
    pub max_iterations: u32,
    /// What that agent is to do.
    pub task: Option<String>,
    /// The agents that were chosen at once, where that is more than one
    /// ([`SupervisorBuilder::parallel`](crate::SupervisorBuilder::parallel)).
    pub delegations: Vec<Handoff>,
    /// What the model is told of its last reply, besides the results: delegations that were not run, and why.
    pub notes: Vec<String>,
    /// The answer of the turn, if it has one.
    pub answer: Option<String>,
    /// Why the turn is over.
    pub stopped: Option<StopReason>,
}
