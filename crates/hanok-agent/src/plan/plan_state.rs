//! The state of an agent that plans, acts and evaluates.

use hanok_state::{Message, Messages, State, ToolCall};
use serde::{Deserialize, Serialize};

use super::planning::{Planned, Planning};
use crate::{observation::Observation, state::StopReason, tool_node::Conversation};

/// The state of a [`PlanAgent`](crate::PlanAgent). A turn begins with [`PlanAgent::ask`](crate::PlanAgent::ask), which resets
/// everything but the messages.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanState {
    /// The questions and answers.
    pub messages: Messages,
    /// What is planned, was called and is missing.
    pub planning: Planning,
    /// The results of the calls of the turn, in their order.
    pub results: Vec<CallResult>,
    /// The answer of the turn, if it has one.
    pub answer: Option<String>,
    /// The reason for which the turn is over.
    pub stopped: Option<StopReason>,
}

/// A call that was made, and its observation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallResult {
    /// The call.
    pub call: ToolCall,
    /// Its observation.
    pub observation: Observation,
}

impl Planned for PlanState {
    fn planning(&self) -> &Planning {
        &self.planning
    }

    fn set_planning(update: PlanStateUpdate, planning: Planning) -> PlanStateUpdate {
        update.planning(planning)
    }
}

impl Conversation for PlanState {
    fn messages(&self) -> &Messages {
        &self.messages
    }

    fn add(update: PlanStateUpdate, message: Message) -> PlanStateUpdate {
        update.message(message)
    }
}
