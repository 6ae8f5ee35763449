//! What a turn tells whoever watches it.

use hanok_agent::Gate;
use serde::{Deserialize, Serialize};

use crate::state::{Complexity, PlanStep, Statistics, StepStatus, TurnEnd};

/// Something that happened in a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum OrchestratorEvent {
    /// The turn begins.
    Start {
        /// The request.
        query: String,
    },
    /// The turn is somewhere else.
    Status(Status),
    /// The turn is over.
    End {
        /// How.
        end: TurnEnd,
        /// How the steps went.
        statistics: Statistics,
    },
}

/// Where a turn is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Status {
    /// It is known whether tools are needed.
    Routed {
        /// Whether.
        complexity: Complexity,
    },
    /// An answer of before makes the request clear.
    Reused {
        /// The request with it.
        query: String,
    },
    /// There is a plan.
    Planned {
        /// The steps.
        steps: Vec<PlanStep>,
        /// Those that the model planned, where they are others.
        original: Option<Vec<PlanStep>>,
    },
    /// A gate was passed without a person.
    Passed {
        /// The gate.
        gate: Gate,
        /// Why.
        reason: String,
    },
    /// A step is prepared.
    Prepared {
        /// Its number, from 1.
        step: usize,
        /// What is to be done.
        task: String,
        /// The tools that fit.
        tools: Vec<String>,
    },
    /// A step is over.
    Completed {
        /// Its number, from 1.
        step: usize,
        /// How it ended.
        result: StepStatus,
        /// Why it failed.
        failure: Option<String>,
    },
    /// So many of the steps are over.
    Progress {
        /// Those that are over.
        over: usize,
        /// All of them.
        total: usize,
    },
}
