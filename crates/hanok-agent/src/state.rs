//! The state of a ReAct agent.

use hanok_memory::{CompactionChange, ConversationMemory, Remembers};
use hanok_state::{Json, Messages, State, ToolCall};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    bound_tool::BoundTool, handoff::Handoff, observation::FaultKind, prompt_front::PromptFront,
    usage::TurnUsage,
};

/// The state of a ReAct agent. A turn begins with [`ReactAgent::ask`](crate::ReactAgent::ask), which resets everything
/// but the messages.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentState {
    /// The conversation. Every call in it has exactly one observation, which carries the call's id.
    pub messages: Messages,
    /// The number of model calls in this turn.
    pub iteration: u32,
    /// The most model calls of the turn. 0 stands for the agent's own limit.
    pub max_iterations: u32,
    /// The agent.
    pub agent_name: String,
    /// The calls of the last reply that have no observation yet, in its order.
    pub pending_tool_calls: Vec<ToolCall>,
    /// The faults of the last reply. The model reads them with the observations.
    pub faults: Vec<Fault>,
    /// True when the turn is over.
    pub should_stop: bool,
    /// The final answer of the turn, if it has one.
    pub answer: Option<String>,
    /// The final answer as a value, where the agent gives one
    /// ([`answer`](crate::ReactAgentBuilder::answer)). [`AgentState::read_value`] reads it.
    pub value: Option<Json>,
    /// The reason for which the turn is over.
    pub stopped: Option<StopReason>,
    /// To whom the turn was handed over, if it was.
    pub handoff: Option<Handoff>,
    /// The usage of the turn so far.
    pub usage: TurnUsage,
    /// The tools that the turn offers its model, where the agent has a
    /// [catalogue](crate::ReactAgentBuilder::catalogue): they only grow within a turn, and of two of one name the last one holds.
    pub bound_tools: Vec<BoundTool>,
    /// The summaries and facts that stand for messages that were taken out of the conversation. A turn leaves them as they are.
    #[reduce(nested)]
    pub memory: ConversationMemory,
    /// The front of the last prompt. A turn leaves it as it is.
    pub front: Option<PromptFront>,
    /// The word that the labels of calls carry in this conversation, where they do
    /// ([`keyed_labels`](crate::ReactAgentBuilder::keyed_labels)). A turn leaves it as it is.
    pub label_key: Option<String>,
}

impl AgentState {
    /// The final answer as a `T`, `None` when the turn has no value.
    ///
    /// # Errors
    ///
    /// [`serde_json::Error`] when it is no `T`: another type was asked for.
    pub fn read_value<T: DeserializeOwned>(&self) -> Result<Option<T>, serde_json::Error> {
        self.value.as_ref().map(|Json(value)| T::deserialize(value)).transpose()
    }
}

impl Remembers for AgentState {
    fn messages(&self) -> &Messages {
        &self.messages
    }

    fn memory(&self) -> &ConversationMemory {
        &self.memory
    }

    fn remember(change: CompactionChange) -> AgentStateUpdate {
        AgentState::update().messages(change.messages).memory(change.memory)
    }
}

/// The reason for which an agent's turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// It has an answer.
    Answered,
    /// The model was asked as often as it may be. The observations are in the messages.
    MaxIterations,
    /// The model said nothing, and nothing again.
    EmptyReply,
    /// The model was to call a tool, and answered without one, twice.
    NoToolCall,
    /// A person rejected three calls, and the model still wrote no answer.
    Rejected,
    /// It was handed over to another agent.
    HandedOff,
    /// It was handed over as often as it may be. The observations are in the messages.
    HopLimit,
    /// A tool ended it. The answer is the tool's result.
    ToolResult,
    /// A hook ended it.
    Hook,
    /// The answer was not of the form that was asked for, twice. It is the last message.
    BadAnswer,
}

impl StopReason {
    /// The stable code, as it is serialised.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::MaxIterations => "max_iterations",
            Self::EmptyReply => "empty_reply",
            Self::NoToolCall => "no_tool_call",
            Self::Rejected => "rejected",
            Self::HandedOff => "handed_off",
            Self::HopLimit => "hop_limit",
            Self::ToolResult => "tool_result",
            Self::Hook => "hook",
            Self::BadAnswer => "bad_answer",
        }
    }
}

/// Something that the model meant as a call and that is not made, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fault {
    /// The call, if a whole one could be read.
    pub call_id: Option<String>,
    /// The faults.
    pub kind: FaultKind,
    /// The same as a sentence.
    pub text: String,
}
