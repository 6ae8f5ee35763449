//! What an agent tells while it works.

use hanok_state::Arguments;
use serde::{Deserialize, Serialize};

use crate::{observation::FaultKind, state::StopReason};

/// What an agent tells while it works, as a custom event of its run.
///
/// The texts are a model's or a tool's, as they came: neutralise control characters before printing them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentProgress {
    /// What the model thinks before it acts.
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
        /// What the tool is given.
        arguments: Arguments,
    },
    /// What a call gave.
    Observation {
        /// The agent.
        agent: String,
        /// Names the call, if a whole one could be read.
        id: Option<String>,
        /// What the model reads.
        text: String,
        /// What went wrong, if something did.
        fault: Option<FaultKind>,
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
        /// What that is to do.
        task: Option<String>,
    },
    /// There is no summary for the agent that takes over: it is given what the user said last.
    NoSummary {
        /// The agent that takes over.
        to: String,
        /// Why.
        reason: String,
    },
    /// The turn ended without an answer.
    Stopped {
        /// The agent.
        agent: String,
        /// Why.
        reason: StopReason,
    },
}
