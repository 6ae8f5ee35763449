//! The rules by which what is remembered counts, with their defaults.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A day.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The rules of an [`OrchestratorMemory`](crate::OrchestratorMemory).
///
/// ```
/// use hanok_learning::{ApprovalPolicy, OrchestratorPolicy};
///
/// let policy = OrchestratorPolicy::default();
/// assert_eq!((policy.candidate.similarity, policy.approval.enabled), (0.75, false));
/// // Learned approvals have to be switched on.
/// let approval = ApprovalPolicy { enabled: true, ..ApprovalPolicy::default() };
/// assert!(OrchestratorPolicy { approval, ..policy }.approval.enabled);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct OrchestratorPolicy {
    /// What a plan, a tool, an answer or a workflow has to be before it is shown to a planner.
    pub candidate: CandidatePolicy,
    /// What an answer has to be before it is used without asking.
    pub automatic: AutomaticPolicy,
    /// When a tool is avoided, and for how long.
    pub avoidance: AvoidancePolicy,
    /// When a gate is passed as the person has always decided.
    pub approval: ApprovalPolicy,
}

/// What a record has to be before it is a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CandidatePolicy {
    /// The least likeness of its text and the query. Default: 0.75.
    pub similarity: f64,
    /// The least rate of success. Default: 0.7.
    pub success: f64,
    /// The least number of uses that ended well or badly. Default: 2.
    pub uses: u64,
}

impl Default for CandidatePolicy {
    fn default() -> Self {
        Self { similarity: 0.75, success: 0.7, uses: 2 }
    }
}

/// What an answer has to be before it is used without asking.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AutomaticPolicy {
    /// The least number of times that people confirmed it. Default: 5.
    pub confirmed: u64,
    /// The least confidence in it. Default: 0.9.
    pub confidence: f64,
}

impl Default for AutomaticPolicy {
    fn default() -> Self {
        Self { confirmed: 5, confidence: 0.9 }
    }
}

/// When a tool is avoided: of its newest uses, those that are young enough count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AvoidancePolicy {
    /// The least number of failures. Default: 3.
    pub failures: u64,
    /// The upper bound of its rate of success, by Wilson's interval, has to be under this. Default: 0.5.
    pub upper_bound: f64,
    /// The number of newest uses that count, at most 20. Default: 20.
    pub uses: usize,
    /// The age from which a use does not count any more. Default: 30 days.
    pub within: Duration,
    /// The time from the newest failure for which it is avoided. Default: 7 days.
    pub lasts: Duration,
}

impl Default for AvoidancePolicy {
    fn default() -> Self {
        Self { failures: 3, upper_bound: 0.5, uses: 20, within: 30 * DAY, lasts: 7 * DAY }
    }
}

/// When a gate is passed as the person has always decided. Destructive and external calls never pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ApprovalPolicy {
    /// True if gates are passed at all. Default: false.
    pub enabled: bool,
    /// The least number of the person's decisions. Default: 20.
    pub decisions: u64,
    /// The lower bound of the rate of approvals, by Wilson's interval, has to be over this. Default: 0.9.
    pub lower_bound: f64,
    /// The number of the person's newest decisions of which none may be rejected or skipped, at most 20. Default: 20.
    pub unrejected: usize,
    /// The share of calls, in per cent, about which the person is asked all the same. Default: 5.
    pub asked_percent: u8,
}

impl Default for ApprovalPolicy {
    fn default() -> Self {
        Self { enabled: false, decisions: 20, lower_bound: 0.9, unrejected: 20, asked_percent: 5 }
    }
}
