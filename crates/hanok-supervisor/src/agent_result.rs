//! The result of one delegation.

use hanok_agent::DataMark;

/// One result of an agent in this turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentResult {
    pub(crate) agent: String,
    pub(crate) task: Option<String>,
    /// The calls and results on the way to it, where they are kept.
    pub(crate) work: Option<String>,
    /// What the supervisor's model is told beside it.
    pub(crate) notes: Vec<String>,
    pub(crate) output: String,
    /// True for an answer of the agent, and false for the note that it has none.
    pub(crate) answered: bool,
    pub(crate) mark: DataMark,
}
