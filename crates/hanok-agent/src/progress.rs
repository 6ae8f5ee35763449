//! The progress of an agent.

use hanok_state::{Arguments, Json};
use serde::{Deserialize, Serialize};

use crate::{
    bound_tool::BindingCause, observation::FaultKind, prompt_front::BreakCause, state::StopReason,
};

/// The progress of an agent, as a custom event of its run.
///
/// The texts are a model's or a tool's, as they came: neutralise control characters before printing them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentProgress {
    /// A thought of the model before it acts.
    Thought {
        /// The agent.
        agent: String,
        /// The thought.
        text: String,
    },
    /// A call that the model asks for.
    Call {
        /// The agent.
        agent: String,
        /// Names the call.
        id: String,
        /// The tool, as the model named it.
        tool: String,
        /// The arguments of the call.
        arguments: Arguments,
    },
    /// The observation of a call.
    Observation {
        /// The agent.
        agent: String,
        /// Names the call, if a whole one could be read.
        id: Option<String>,
        /// The text that the model reads.
        text: String,
        /// The kind of the fault, if there is one.
        fault: Option<FaultKind>,
    },
    /// A typed answer while it forms, as much as there is of it, where the model's server sends it in pieces. It is checked at
    /// its end alone.
    Forming {
        /// The agent.
        agent: String,
        /// The value so far.
        value: Json,
    },
    /// The final answer.
    Answer {
        /// The agent.
        agent: String,
        /// The answer.
        text: String,
    },
    /// The agent hands the turn over to another.
    HandedOff {
        /// The agent.
        agent: String,
        /// The other one.
        to: String,
        /// The task of the other agent.
        task: Option<String>,
    },
    /// There is no summary for the agent that takes over, which receives the user's last message.
    NoSummary {
        /// The agent that takes over.
        to: String,
        /// The cause.
        reason: String,
    },
    /// The turn offers its model more tools than before. The prefix of the prompt that a server has cached ends here.
    ToolsBound {
        /// The agent.
        agent: String,
        /// The cause.
        cause: BindingCause,
        /// The names of the tools that were appended.
        names: Vec<String>,
    },
    /// A prompt of the agent does not begin as the last one of the conversation. A server that keeps what it has read of a
    /// prompt reads this one anew from there on, at its full price.
    PromptBroken {
        /// The agent.
        agent: String,
        /// The cause.
        cause: BreakCause,
        /// The most tokens that are read anew because of it.
        tokens: u64,
    },
    /// The turn ended without an answer.
    Stopped {
        /// The agent.
        agent: String,
        /// The cause.
        reason: StopReason,
    },
}
