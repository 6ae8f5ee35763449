//! What becomes of a step of a plan.

use hanok_core::Timestamp;
use hanok_state::Json;
use serde::{Deserialize, Serialize};

/// How far a step of a plan is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepStatus {
    /// It has not begun.
    #[default]
    Pending,
    /// Its team works.
    Running,
    /// Its team has a result.
    Completed,
    /// Its team has none: it failed, or its time was up.
    Failed,
    /// It did not begin, because what it needs failed.
    Skipped,
}

impl StepStatus {
    /// True for a step of which nothing more will come.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Skipped)
    }
}

/// The end of one step, as the state keeps it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TeamResult {
    /// The team.
    pub team: String,
    /// The end.
    pub status: StepStatus,
    /// The result in words.
    pub text: Option<String>,
    /// The data of the team's tools: an object, by tool.
    pub data: Json,
    /// Where the result comes from.
    pub sources: Vec<String>,
    /// The cause, where it failed or was skipped.
    pub error: Option<String>,
    /// The choices that the team made, by their ids.
    pub choices: Vec<String>,
    /// When the team began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
}

/// One step as a reader of the progress sees it: an item of a to-do list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExecutionStep {
    /// The step.
    pub step_id: String,
    /// The kind of step: the team's name.
    pub step_type: String,
    /// The member that does it: `search_team`.
    pub agent_name: String,
    /// The team.
    pub team: String,
    /// The task.
    pub task: String,
    /// The purpose, for the user.
    pub description: String,
    /// How far it is.
    pub status: StepStatus,
    /// The same in percent: 0, 50 while its team works, 100.
    pub progress_percentage: u8,
    /// When the team began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// The result in words.
    pub result: Option<String>,
    /// The cause, where it failed or was skipped.
    pub error: Option<String>,
}
