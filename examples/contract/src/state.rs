//! The state of a conversation about a contract.

use std::collections::BTreeSet;

use hanok_agent::{StopReason, ToolHistory};
use hanok_model::DataMark;
use hanok_state::{Messages, State, ToolCall};
use serde::{Deserialize, Serialize};

use crate::{Absent, Material, Plan};

/// The state of a conversation about a contract. The messages, the mark and the contract are of the conversation, the rest is of
/// one turn.
#[derive(State, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContractState {
    /// The questions and answers.
    pub messages: Messages,
    /// The contract that is asked about, by a hash of its file.
    pub contract: Option<String>,
    /// How many of the messages are about another contract that was asked about before.
    pub about_others: usize,
    /// The mark around what models read as data, one for the thread.
    pub mark: Option<DataMark>,
    /// What is asked.
    pub question: String,
    /// Whether the question is about the contract; `None` before that is known.
    pub in_scope: Option<bool>,
    /// Whether the question needs what was said before.
    pub needs_previous: bool,
    /// What the last answer was taken from.
    pub previous_sources: Vec<Material>,
    /// The calls that are to be made next.
    pub next_tools: Vec<ToolCall>,
    /// How they are made.
    pub plan: Option<Plan>,
    /// The calls that were made.
    pub tool_history: ToolHistory,
    /// What they found, each once.
    pub collected: Vec<Material>,
    /// What was asked for and is not there.
    pub absent: Vec<Absent>,
    /// The articles of the contract that were read, by their labels.
    pub explored: BTreeSet<String>,
    /// Those that were not.
    pub unexplored: Vec<String>,
    /// What is missing, as the evaluator says.
    pub missing_info: Vec<String>,
    /// What the evaluator said, round by round.
    pub decisions: Vec<String>,
    /// How often was planned.
    pub iteration: u32,
    /// Whether the answer has to be written from what there is.
    pub forced: bool,
    /// What the answer is taken from.
    pub sources: Vec<Material>,
    /// The answer.
    pub answer: Option<String>,
    /// Why the turn is over.
    pub stopped: Option<StopReason>,
}
