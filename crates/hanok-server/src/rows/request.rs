//! What a client asks for: an input, and how it is run.

use std::{collections::BTreeMap, time::Duration};

use hanok_core::{Answerer, Budget, Position};
use hanok_graph::{Caller, Durability, NewInput, RunSettings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a run was asked to do, and by whom.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The name of the graph.
    pub graph: String,
    /// The input: [`AnyInput`](hanok_graph::AnyInput) as JSON.
    pub input: Value,
    /// Whoever asks, if they are known.
    pub principal: Option<Answerer>,
    /// What the caller sets for the run's services.
    pub config: Value,
    /// What the caller notes of the run.
    pub metadata: Value,
    /// What the client has asked for, as its protocol says it.
    pub client: Value,
    /// How the run goes.
    pub options: Options,
}

/// How a run goes. What is not set is the app's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Options {
    /// True if a new input replaces a turn that waits for people. Otherwise the run fails then.
    pub replaces: bool,
    /// The position from which the run goes on.
    pub at: Option<Position>,
    /// The super-steps that the turn may have.
    pub recursion_limit: Option<u32>,
    /// What the turn may spend.
    pub budget: Option<Budget>,
    /// When its work is stored.
    pub durability: Option<Durability>,
    /// The nodes before which it stops.
    pub interrupt_before: Vec<String>,
    /// The nodes after which it stops.
    pub interrupt_after: Vec<String>,
    /// Tags of the thread.
    pub tags: BTreeMap<String, String>,
    /// True if nobody comes back to its thread, which is removed some minutes after its end.
    pub forgotten: bool,
    /// Waits so long before it begins.
    pub delay: Option<Duration>,
}

impl Request {
    /// A request for a run of `graph`.
    pub fn new(graph: impl Into<String>, input: Value) -> Self {
        Self { graph: graph.into(), input, ..Self::default() }
    }

    /// The caller of the run, of the tenant of its thread.
    pub(crate) fn caller(&self, thread: &hanok_core::ThreadKey) -> Caller {
        let caller = Caller::new(thread.tenant().clone());
        caller.principal(self.principal.clone()).config(self.config.clone())
    }
}

impl Options {
    pub(crate) fn settings(&self) -> RunSettings {
        RunSettings {
            new_input: if self.replaces { NewInput::Replace } else { NewInput::Reject },
            recursion_limit: self.recursion_limit,
            budget: self.budget,
            durability: self.durability,
            interrupt_before: self.interrupt_before.clone(),
            interrupt_after: self.interrupt_after.clone(),
            tags: self.tags.clone(),
            at: self.at.filter(|at| *at != Position::START),
            ..RunSettings::default()
        }
    }
}
