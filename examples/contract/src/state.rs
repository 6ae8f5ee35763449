//! The state of a conversation about a contract.

use std::collections::BTreeSet;

use hanok_agent::{Planned, Planning, StopReason};
use hanok_model::DataMark;
use hanok_state::{Messages, State};
use serde::{Deserialize, Serialize};

use crate::Material;

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
    /// What is planned, was called and is missing.
    pub planning: Planning,
    /// What the calls found, each once.
    pub collected: Vec<Material>,
    /// The articles of the contract that were read, by their labels.
    pub explored: BTreeSet<String>,
    /// Those that were not.
    pub unexplored: Vec<String>,
    /// What the answer is taken from.
    pub sources: Vec<Material>,
    /// The answer.
    pub answer: Option<String>,
    /// Why the turn is over.
    pub stopped: Option<StopReason>,
}

impl Planned for ContractState {
    fn planning(&self) -> &Planning {
        &self.planning
    }

    fn set_planning(update: ContractStateUpdate, planning: Planning) -> ContractStateUpdate {
        update.planning(planning)
    }
}
