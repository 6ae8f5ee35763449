//! What the nodes tell while they work.

use hanok_agent::PlanMode;
use serde::{Deserialize, Serialize};

use crate::{Material, Origin};

/// What a turn does, step by step. The pieces of the answer come between `Generating` and `Sources`, as tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ContractEvent {
    /// Whether the question is about the contract.
    Scope {
        /// Whether it is.
        in_scope: bool,
        /// Why.
        reason: String,
    },
    /// Whether the question needs what was said before.
    PreviousContext {
        /// Whether it does.
        needed: bool,
    },
    /// It is planned what to read.
    Planning {
        /// The round, from 1.
        iteration: u32,
        /// The calls that rules propose, in the first round.
        suggested: Vec<String>,
        /// What the round before found to be missing.
        missing: Vec<String>,
    },
    /// It is planned.
    ToolSelected {
        /// The round, from 1.
        iteration: u32,
        /// How the calls are made.
        plan: PlanMode,
        /// The calls, with their arguments.
        tools: Vec<String>,
        /// The calls that were made before and are not made again.
        skipped: Vec<String>,
    },
    /// A call was made.
    ToolFinished {
        /// The call, with its arguments.
        tool: String,
        /// What it found.
        found: Vec<String>,
        /// What was asked for and is not there.
        absent: Vec<String>,
        /// What went wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
    },
    /// It was judged whether what was read is enough.
    EvaluationResult {
        /// The round, from 1.
        iteration: u32,
        /// Whether it is.
        sufficient: bool,
        /// Whether the answer is written all the same, because there is no further round.
        forced: bool,
        /// What is missing.
        missing: Vec<String>,
        /// Why.
        reason: String,
    },
    /// The answer is being written.
    Generating {
        /// Out of how many pieces of the contracts.
        materials: usize,
    },
    /// What the answer was taken from.
    Sources {
        /// Each article or other part.
        sources: Vec<Cited>,
    },
}

/// A part of a contract that an answer was taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cited {
    /// Whose contract.
    pub origin: Origin,
    /// The article (`5`, `7의2`), if it is one.
    pub article: Option<String>,
    /// `제5조(대금)`, or the name of another part.
    pub label: String,
}

impl From<&Material> for Cited {
    fn from(material: &Material) -> Self {
        let Material { origin, article, label, .. } = material.clone();
        Self { origin, article, label }
    }
}
