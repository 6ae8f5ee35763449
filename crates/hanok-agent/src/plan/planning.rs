//! The part of a state that a plan–act–evaluate loop reads and writes.

use hanok_state::{State, ToolCall};
use serde::{Deserialize, Serialize};

use crate::tools::tool_history::ToolHistory;

/// A state with the progress of a [`PlanLoop`](crate::PlanLoop), and where it stands.
///
/// ```
/// use hanok_agent::{Planned, Planning};
/// use hanok_state::State;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Report {
///     question: String,
///     facts: Vec<String>,
///     planning: Planning,
/// }
///
/// impl Planned for Report {
///     fn planning(&self) -> &Planning {
///         &self.planning
///     }
///
///     fn set_planning(update: ReportUpdate, planning: Planning) -> ReportUpdate {
///         update.planning(planning)
///     }
/// }
/// # assert_eq!(Report::default().planning().round, 0);
/// ```
pub trait Planned: State {
    /// The progress of the loop. A turn begins with [`Planning::default`].
    fn planning(&self) -> &Planning;

    /// Writes the progress of the loop.
    #[must_use]
    fn set_planning(update: Self::Update, planning: Planning) -> Self::Update;
}

/// The progress of a [`PlanLoop`](crate::PlanLoop) in its turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Planning {
    /// The number of plans so far.
    pub round: u32,
    /// The way in which the calls of the last plan are made.
    pub mode: Option<PlanMode>,
    /// The calls that are to be made next.
    pub calls: Vec<ToolCall>,
    /// The calls that were made and did not fail.
    pub history: ToolHistory,
    /// What is missing, as the last evaluation says. Empty when it is enough.
    pub missing: Vec<String>,
    /// The evaluations, round by round.
    pub evaluations: Vec<Evaluation>,
    /// True when the loop ended though something is missing.
    pub forced: bool,
}

/// The way in which the calls of a plan are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanMode {
    /// There is nothing to call.
    NoTools,
    /// Every call was made before.
    SkipToEvaluator,
    /// One after the other.
    ExecuteSequential,
    /// All at once: they only read, and none needs what another gives.
    ExecuteParallel,
}

/// The judgement whether the results so far are enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    /// True when they are.
    pub sufficient: bool,
    /// What is missing, for the next plan.
    pub missing: Vec<String>,
    /// The reason, in short.
    pub reason: String,
}

impl Evaluation {
    /// They are enough.
    pub fn enough(reason: impl Into<String>) -> Self {
        Self { sufficient: true, missing: Vec::new(), reason: reason.into() }
    }

    /// Something is missing.
    ///
    /// ```
    /// use hanok_agent::Evaluation;
    ///
    /// let evaluation = Evaluation::lacks(["the price"], "the offer names none");
    /// assert!(!evaluation.sufficient);
    /// ```
    pub fn lacks<S: Into<String>>(
        missing: impl IntoIterator<Item = S>,
        reason: impl Into<String>,
    ) -> Self {
        let missing = missing.into_iter().map(Into::into).collect();
        Self { sufficient: false, missing, reason: reason.into() }
    }
}
