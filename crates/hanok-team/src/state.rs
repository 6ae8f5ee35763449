//! The state of a team supervisor.

use hanok_agent::ChoiceEntry;
use hanok_core::Timestamp;
use hanok_state::{Map, Message, Messages, State};
use serde::{Deserialize, Serialize};

use crate::{
    plan::{self, PlanStep, Strategy},
    question::QuestionPart,
    step::TeamResult,
};

/// The state of a [`TeamSupervisor`](crate::TeamSupervisor). A turn begins with
/// [`TeamSupervisor::ask`](crate::TeamSupervisor::ask), which resets everything but the messages.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TeamState {
    /// The conversation: the questions, what was remembered for each, and the answers.
    pub messages: Messages,
    /// The question of the turn.
    pub query: String,
    /// The part of the turn that is under way.
    pub phase: Phase,
    /// What the user wants, in parts, and the steps for it. `None` before the planning.
    pub plan: Option<TeamPlan>,
    /// The ends of the steps, by their ids. To merge one twice changes nothing.
    #[reduce(merge)]
    pub team_results: Map<String, TeamResult>,
    /// The choices of the turn, each with its result.
    #[reduce(append)]
    pub choices: Vec<ChoiceEntry>,
    /// What all teams together have, without words of a model.
    pub aggregated: Option<Aggregated>,
    /// The limit of the turn that was reached, in words. What is not done for it stands among the results.
    pub limit: Option<String>,
    /// The cause for which the model wrote no answer, in words: its server is not there, refuses, or answers with nothing. The answer is
    /// made of the results then, and begins with it.
    pub unanswered: Option<String>,
    /// The answer of the turn.
    pub answer: Option<String>,
    /// What another choice is tried for, in a fork that [`TeamSupervisor::what_if`](crate::TeamSupervisor::what_if) made.
    pub what_if: Option<Instead>,
    /// When the turn began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
}

/// The last messages of the conversation that models and teams see.
const RECENT: usize = 12;

impl TeamState {
    /// The last messages of the conversation: what models and teams see of it.
    pub(crate) fn recent(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().skip(self.messages.len().saturating_sub(RECENT))
    }

    /// The ends of the steps, in the order of the plan.
    pub fn results(&self) -> impl Iterator<Item = (&PlanStep, &TeamResult)> {
        let steps = self.plan.iter().flat_map(|plan| &plan.steps);
        steps.filter_map(|step| Some((step, self.team_results.get(&step.id)?)))
    }
}

/// Another choice, that is tried.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Instead {
    /// The step whose team chooses otherwise.
    pub step: Option<String>,
    /// What it chooses.
    pub chosen: Vec<String>,
    /// True when teams may do more than read.
    pub effects: bool,
}

/// The part of a turn that is under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Phase {
    /// The turn begins.
    #[default]
    Initializing,
    /// What the user wants, and the steps for it.
    Planning,
    /// The teams work.
    Executing,
    /// Their results are put together.
    Aggregation,
    /// The answer is written.
    ResponseGeneration,
    /// The turn is over.
    Completed,
}

/// What the user wants, and the steps for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TeamPlan {
    /// What the user wants, in the model's word for it.
    pub intent: String,
    /// The confidence in that, as it was claimed.
    pub confidence: f64,
    /// False for a question that is none of these teams' business.
    pub in_scope: bool,
    /// The parts of the question.
    pub parts: Vec<QuestionPart>,
    /// The words of the question that no part covers.
    pub uncovered: Vec<String>,
    /// The steps.
    pub steps: Vec<PlanStep>,
    /// How they stand to each other.
    pub strategy: Strategy,
    /// Those that can run at once, in their order.
    pub parallel_groups: Vec<Vec<String>>,
    /// The time that it should take, in milliseconds.
    pub estimated_millis: u64,
    /// What was wrong with the plans that a model proposed.
    pub validation_errors: Vec<String>,
    /// True when a rule made the plan, because no model made one that holds.
    pub by_rules: bool,
    /// True when the turn has planned anew for what failed.
    pub replanned: bool,
}

impl TeamPlan {
    /// Sets what is derived from the needs of the steps.
    pub(crate) fn arrange(&mut self) {
        self.parallel_groups = plan::groups(&self.steps);
        self.strategy = plan::strategy(&self.parallel_groups);
    }
}

/// What all teams of a turn have together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Aggregated {
    /// The steps with a result.
    pub completed: Vec<String>,
    /// The steps that failed, each with its cause, and what is missing for it.
    pub failed: Vec<Missing>,
    /// The steps that did not begin.
    pub skipped: Vec<Missing>,
    /// Where the results come from, each once.
    pub sources: Vec<String>,
}

/// A step without a result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Missing {
    /// The step.
    pub step: String,
    /// Its team.
    pub team: String,
    /// The task that is not done.
    pub task: String,
    /// The cause.
    pub cause: String,
}
