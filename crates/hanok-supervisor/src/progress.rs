//! The progress of a supervisor.

use hanok_agent::{BreakCause, StopReason};
use serde::{Deserialize, Serialize};

/// The progress of a supervisor, as a custom event of its run.
///
/// The texts are a model's, as they came: neutralise control characters before printing them. What an agent tells
/// between its start and its end is an [`AgentProgress`](hanok_agent::AgentProgress).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SupervisorProgress {
    /// The model chose an agent.
    Routed {
        /// The agent.
        to: String,
        /// The task.
        task: Option<String>,
        /// The reason, in the model's words.
        reason: Option<String>,
        /// The agents that the same reply delegated to as well, and that are not run.
        skipped: Vec<String>,
    },
    /// The model wrote what cannot be followed, and is asked again.
    Corrected {
        /// The correction that the model reads.
        with: String,
    },
    /// An agent starts.
    AgentStarted {
        /// The agent.
        name: String,
    },
    /// An agent came to an end.
    AgentFinished {
        /// The agent.
        name: String,
        /// The result.
        output: String,
        /// The reason for which it ended.
        stopped: StopReason,
    },
    /// The answer of the turn.
    Answered {
        /// The answer.
        answer: String,
    },
    /// The agent's answer is the turn's: it is [forwarded](crate::SupervisorBuilder::forward), or the model delegated an answered
    /// task again, also after a correction.
    Settled {
        /// The agent.
        agent: String,
        /// Its answer.
        answer: String,
    },
    /// A prompt of the routing model does not begin as the last one of the conversation. A server that keeps what it has read of
    /// a prompt reads this one anew from there on, at its full price.
    PromptBroken {
        /// The cause.
        cause: BreakCause,
        /// The most tokens that are read anew because of it.
        tokens: u64,
    },
    /// The turn ended without the model's own answer.
    Ended {
        /// The cause.
        stopped: StopReason,
    },
}
