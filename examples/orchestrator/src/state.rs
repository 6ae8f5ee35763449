//! The state of a turn.

use hanok_agent::{Decision, DecisionKind, Gate, Risk};
use hanok_core::Timestamp;
use hanok_learning::{RunOutcome, Tally, ToolRef};
use hanok_state::{Json, Message, Messages, Role, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a thread. A turn begins with [`asking`], which resets everything but the messages.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OrchestratorState {
    /// The conversation: questions and answers.
    pub messages: Messages,
    /// The request of the turn, with what made it clear.
    pub query: String,
    /// The gates that asked when the turn began: they ask until it is over, whatever process goes on with it.
    pub gates: Vec<Gate>,
    /// Whether the request needs tools.
    pub complexity: Option<Complexity>,
    /// How clear the request is.
    pub clarity: Option<ClarityAnalysis>,
    /// The steps.
    pub plan: Option<Plan>,
    /// A person's words about a plan that was not good enough.
    pub feedback: Option<String>,
    /// How often the plan was made anew for such words.
    pub revisions: u32,
    /// The decision at a gate that is not processed yet.
    pub decided: Option<GateDecision>,
    /// What is wrong with the last decision at a gate: it asks again.
    pub fault: Option<String>,
    /// The step that is about to be made.
    pub preparation: Option<Preparation>,
    /// What came of it.
    pub execution: Option<Execution>,
    /// The steps that are over.
    #[reduce(append)]
    pub results: Vec<StepResult>,
    /// The decisions of the turn, in their order.
    #[reduce(append)]
    pub decisions: Vec<DecisionEntry>,
    /// The hashes of the definitions of tools that were refused: people are not asked about them again.
    #[reduce(append)]
    pub refused: Vec<String>,
    /// How the turn ended.
    pub end: Option<TurnEnd>,
    /// The answer.
    pub answer: Option<String>,
}

/// The input of a turn that asks for `text`.
pub fn asking(text: &str) -> OrchestratorStateUpdate {
    OrchestratorState::update()
        .message(Message::user(text))
        .query(text.to_owned())
        .gates(Vec::new())
        .complexity(None)
        .clarity(None)
        .plan(None)
        .feedback(None)
        .revisions(0)
        .decided(None)
        .fault(None)
        .preparation(None)
        .execution(None)
        .overwrite_results(Vec::new())
        .overwrite_decisions(Vec::new())
        .end(None)
        .answer(None)
}

/// The messages of a conversation that models see, beside the request.
const RECENT: usize = 10;

impl OrchestratorState {
    /// The last messages before the request.
    pub fn recent(&self) -> impl Iterator<Item = &Message> {
        let before = self.messages.len().saturating_sub(1);
        self.messages.iter().take(before).skip(before.saturating_sub(RECENT))
    }

    /// The request as the user wrote it.
    pub fn question(&self) -> Option<&Message> {
        self.messages.iter().rev().find(|message| message.role() == Role::User)
    }

    /// The step that is next, and its number from 1.
    pub fn step(&self) -> Option<(usize, &PlanStep)> {
        Some((self.results.len() + 1, self.steps().get(self.results.len())?))
    }

    /// The steps of the plan.
    pub fn steps(&self) -> &[PlanStep] {
        self.plan.as_ref().map(|plan| plan.steps.as_slice()).unwrap_or_default()
    }

    /// How the steps went so far.
    pub fn statistics(&self) -> Statistics {
        Statistics::of(&self.results, self.steps().len())
    }
}

/// Whether a request needs tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    /// A model answers it alone.
    SimpleChat,
    /// It is planned, and made in steps.
    ToolRequired,
}

/// How clear a request is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClarityAnalysis {
    /// The confidence in what is wanted, from 0 to 1.
    pub confidence: f64,
    /// What a person should be asked.
    pub questions: Vec<String>,
    /// The answers that people gave before to requests like this.
    pub past: Vec<PastAnswer>,
    /// The past answer that was used without asking.
    pub reused: Option<PastAnswer>,
    /// The request before it was made clear.
    pub before: Option<String>,
}

/// An answer of before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PastAnswer {
    /// Its name in this question.
    pub id: String,
    /// The request that it was given to.
    pub query: String,
    /// The answer.
    pub answer: String,
    /// How often people confirmed it and took it back.
    pub confirmed: u64,
    /// How often people took it back.
    pub refused: u64,
}

/// A plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<PlanStep>,
    /// The steps as the model planned them, where the memory of plans or a person made others of them.
    pub original: Option<Vec<PlanStep>>,
    /// Where the steps come from.
    pub by: PlanSource,
    /// What was wrong with what the model planned.
    pub faults: Vec<String>,
}

/// Where a plan comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanSource {
    /// A model made it.
    #[default]
    Model,
    /// It is a rule's, because the model made none that holds.
    Rule,
    /// It did well before.
    Memory,
    /// A person edited it.
    Person,
}

/// A step of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct PlanStep {
    /// What is to be done.
    #[schemars(length(min = 1, max = 1_000))]
    pub task: String,
    /// The tool that is likely to do it, by its name for models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
}

/// A decision at a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateDecision {
    /// The gate.
    pub gate: Gate,
    /// The decision.
    pub decision: Decision,
    /// The reason why nobody was asked, if nobody was.
    pub automatic: Option<String>,
}

/// A line of the record of decisions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionEntry {
    /// The gate.
    pub gate: Gate,
    /// The step, where it was about one.
    pub step: Option<usize>,
    /// The decision.
    pub decision: DecisionKind,
    /// The reason why nobody was asked, if nobody was.
    pub automatic: Option<String>,
    /// When it was processed.
    pub at: Timestamp,
}

/// A step that is about to be made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preparation {
    /// The tools that fit, the best first, by their names for models.
    pub tools: Vec<String>,
    /// The hash of the definition of the first of them.
    pub definition: String,
    /// The tools that fail too often for this.
    pub avoided: Vec<String>,
    /// The call, where it was worked out before the step.
    pub call: Option<PreparedCall>,
    /// How often the step was prepared: again when a tool is gone.
    pub attempts: u32,
    /// The calls of the attempts before.
    pub spent: usize,
    /// Why it was prepared again.
    pub again: Option<String>,
    /// True when the tool that the plan names is not offered: another one stands in for it, and nobody has approved that.
    pub stands_in: bool,
    /// True when the step is left out.
    pub skipped: bool,
}

/// A call that was worked out before its step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreparedCall {
    /// The tool, by its name for models.
    pub tool: String,
    /// The tool with its server.
    pub of: ToolRef,
    /// The hash of its definition.
    pub definition: String,
    /// The arguments.
    pub arguments: Json,
    /// The fields that are required and missing.
    pub missing: Vec<String>,
    /// The share of the required fields that is there.
    pub readiness: f64,
    /// What it may do to the world.
    pub risk: Risk,
    /// True when a person, or a rule of theirs, let these arguments pass.
    pub is_approved: bool,
}

/// What came of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Execution {
    /// The calls, in their order.
    pub calls: Vec<ToolUse>,
    /// What the step comes to, in words.
    pub answer: Option<String>,
    /// Why it has no answer.
    pub failure: Option<String>,
    /// The tool that was there when the step was prepared, and is not any more, or is another.
    pub gone: Option<String>,
}

/// A call of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The tool, by its name for models.
    pub tool: String,
    /// The tool with its server.
    pub of: ToolRef,
    /// The arguments, without what the tool's schema marks as secret.
    pub arguments: Json,
    /// True when some of them are secret: they are not learned.
    pub has_secrets: bool,
    /// True when its result says that it succeeded.
    pub succeeded: bool,
    /// True when it was not made: a person refused it, or it could not be read.
    pub unmade: bool,
    /// True when it was not made because a person rejected it.
    pub is_rejected: bool,
    /// The result, in words.
    pub text: String,
    /// The name under which the whole result is stored, where the words are a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<String>,
    /// The time that it took, in milliseconds.
    pub millis: u64,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// It is done.
    Done,
    /// It failed.
    Failed,
    /// A person left it out.
    Skipped,
}

/// A step that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    /// Its number, from 1.
    pub number: usize,
    /// What was to be done.
    pub task: String,
    /// How it ended.
    pub status: StepStatus,
    /// What it comes to, in words.
    pub text: String,
    /// Its calls.
    pub calls: Vec<ToolUse>,
    /// Why it failed.
    pub failure: Option<String>,
    /// When it was over.
    pub completed_at: Timestamp,
}

impl StepResult {
    /// Leaves no more of each text than `most` characters: what later steps and the answer see.
    pub fn shorten(&mut self, most: usize) {
        let shorten = |text: &mut String| {
            if let Some((at, _)) = text.char_indices().nth(most) {
                text.truncate(at);
                text.push_str(" …");
            }
        };
        shorten(&mut self.text);
        self.failure.iter_mut().for_each(shorten);
        for call in &mut self.calls {
            shorten(&mut call.text);
        }
    }
}

/// How the steps went. What was skipped stands in neither rate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Statistics {
    /// The steps of the plan.
    pub total: usize,
    /// Those that are over.
    pub over: usize,
    /// Those that are done.
    pub succeeded: usize,
    /// Those that failed.
    pub failed: usize,
    /// Those that a person left out.
    pub skipped: usize,
    /// The share of those that were made which is done; none before the first.
    pub success_rate: Option<f64>,
    /// The share of the calls that were made which succeeded; none before the first.
    pub call_success_rate: Option<f64>,
}

impl Statistics {
    /// Counts `results` of a plan with `total` steps.
    #[must_use]
    pub fn of(results: &[StepResult], total: usize) -> Self {
        let count = |status| results.iter().filter(|result| result.status == status).count();
        let (succeeded, failed) = (count(StepStatus::Done), count(StepStatus::Failed));
        let calls = results.iter().flat_map(|result| &result.calls).filter(|call| !call.unmade);
        let calls: Vec<_> = calls.map(|call| call.succeeded).collect();
        let made = calls.iter().filter(|succeeded| **succeeded).count();
        let rate = |successes: usize, failures: usize| {
            let (successes, failures) = (successes as u64, failures as u64);
            Tally { successes, failures }.rate()
        };
        Self {
            total,
            over: results.len(),
            succeeded,
            failed,
            skipped: count(StepStatus::Skipped),
            success_rate: rate(succeeded, failed),
            call_success_rate: rate(made, calls.len() - made),
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// It was no work, and a model answered.
    Chat,
    /// All that was to be done is done, but for what a person left out.
    Done,
    /// Some of it is done.
    Partly,
    /// Nothing of it is done.
    AllFailed,
    /// A person left all of it out.
    AllSkipped,
    /// There was nothing to do that a tool could.
    EmptyPlan,
    /// A person rejected the plan.
    Rejected,
    /// The model wrote no answer.
    NoAnswer,
}

impl TurnEnd {
    /// How a turn with these steps ended.
    #[must_use]
    pub fn of(results: &[StepResult]) -> Self {
        let Statistics { over, succeeded, failed, skipped, .. } =
            Statistics::of(results, results.len());
        match (over, succeeded, failed) {
            (0, ..) => Self::EmptyPlan,
            _ if skipped == over => Self::AllSkipped,
            (_, 0, _) => Self::AllFailed,
            (_, _, 0) => Self::Done,
            _ => Self::Partly,
        }
    }

    /// How it counts in the memories; nothing where nothing was tried.
    #[must_use]
    pub fn outcome(self) -> Option<RunOutcome> {
        match self {
            Self::Done => Some(RunOutcome::Succeeded),
            Self::Partly | Self::AllFailed => Some(RunOutcome::Failed),
            _ => None,
        }
    }
}
