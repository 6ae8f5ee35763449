//! The settings of a supervisor.

use std::{collections::BTreeSet, fmt, sync::Arc};

use hanok_agent::{
    ContentCapture, Handoff, HandoffHistory, Language, Protocol, Summariser, memory::Compactor,
};
use hanok_graph::{Context, Snapshot};
use hanok_model::{SharedModel, ToolSpec};
use hanok_parse::Parser;

use crate::{error::SupervisorError, member::Member, state::SupervisorState};

/// The handling of a reply that neither delegates nor says that it is final.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Undecided {
    /// Takes it as the answer.
    #[default]
    Answer,
    /// Asks again once, and takes the second as the answer.
    AskAgain,
}

/// The handling of an answer of the supervisor's own model in a turn in which no agent has given a result.
///
/// A small model answers out of nothing where it is to ask an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unasked {
    /// Takes it.
    #[default]
    Answer,
    /// Asks again once. A second answer is taken, and ends with a sentence that says that no agent was asked.
    AskAgain,
}

/// The part of an agent's work that comes back into the supervisor's conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputMode {
    /// Its answer.
    #[default]
    Last,
    /// Everything that it wrote: its calls with their results, and then its answer.
    Full,
}

/// The parts and limits of a supervisor, which its nodes share.
pub(crate) struct SupervisorSettings<C: Send + Sync + 'static> {
    pub(crate) model: SharedModel,
    pub(crate) agents: Vec<Member<C>>,
    pub(crate) parser: Parser,
    /// The tool by which the model delegates, where it does so by a call of its server's.
    pub(crate) delegate: Option<ToolSpec>,
    pub(crate) system: String,
    pub(crate) description: String,
    pub(crate) max_iterations: u32,
    pub(crate) language: Language,
    pub(crate) undecided: Undecided,
    pub(crate) unasked: Unasked,
    pub(crate) history: HandoffHistory,
    pub(crate) summariser: Option<Summariser>,
    pub(crate) output: OutputMode,
    pub(crate) keeps_routing: bool,
    /// What keeps the conversation small, if anything does.
    pub(crate) memory: Option<Compactor>,
    /// The agents whose answers are the turn's.
    pub(crate) forwarded: BTreeSet<String>,
    pub(crate) parallel: bool,
    /// Whether the labels of delegations carry a word that is drawn for each conversation.
    pub(crate) keyed_labels: bool,
    pub(crate) max_hops: u32,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) capture: ContentCapture,
}

impl<C: Send + Sync + 'static> fmt::Debug for SupervisorSettings<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SupervisorSettings")
            .field("description", &self.description)
            .field("agents", &self.agents)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl<C: Send + Sync + 'static> SupervisorSettings<C> {
    /// A node that runs `run` with these settings.
    pub(crate) fn node<F>(
        self: &Arc<Self>,
        run: fn(Arc<Self>, Snapshot<SupervisorState>, Context<C>) -> F,
    ) -> impl Fn(Snapshot<SupervisorState>, Context<C>) -> F + use<F, C> {
        let settings = self.clone();
        move |state, context| run(settings.clone(), state, context)
    }

    /// The delegation of `task` to the agent `to`.
    pub(crate) fn handoff(&self, to: &str, task: Option<&str>) -> Handoff {
        let mut handoff = Handoff::new(to).history(self.history);
        handoff.task = task.map(str::to_owned);
        handoff
    }

    /// How the model delegates.
    pub(crate) fn protocol(&self) -> Protocol {
        if self.delegate.is_some() { Protocol::Native } else { Protocol::Text }
    }

    /// The most routing calls of this turn.
    pub(crate) fn limit(&self, state: &SupervisorState) -> u32 {
        if state.max_iterations == 0 { self.max_iterations } else { state.max_iterations }
    }

    /// The error for a delegation to the agent `name`, which is not there.
    pub(crate) fn undeclared(&self, name: String) -> SupervisorError {
        let members = self.agents.iter().map(|agent| agent.name().to_owned()).collect();
        SupervisorError::UndeclaredAgent { name, members }
    }
}
