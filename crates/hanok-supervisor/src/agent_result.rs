//! The result of one delegation.

use hanok_agent::DataMark;

/// One result of an agent in this turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AgentResult {
    pub(crate) agent: String,
    pub(crate) task: Option<String>,
    /// What it did for that, where that is kept.
    pub(crate) work: Option<String>,
    pub(crate) output: String,
    /// Whether it is the agent's answer, and not that it has none.
    pub(crate) answered: bool,
    pub(crate) mark: DataMark,
}
