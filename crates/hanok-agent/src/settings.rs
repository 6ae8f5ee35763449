//! The settings of an agent.

use std::fmt;

use hanok_core::TaskId;
use hanok_graph::Context;
use hanok_memory::Compactor;
use hanok_model::{SharedModel, SharedTool, ToolChoice, ToolSpec};
use hanok_parse::{Format, Language, Parser, Policy};

use crate::{
    bound_tool::{BindingCause, BoundTool},
    by_run::ByRun,
    catalogue::{Catalogue, SEARCH_TOOLS},
    error::{AgentError, RegistryError, ToolFault},
    has_agent::HasAgent,
    hook::SharedHook,
    label_key::label_key,
    progress::AgentProgress,
    protocol::Protocol,
    runner::ToolRunner,
    state::AgentState,
    structured::final_answer::FinalAnswer,
    tools::{handoff_tool::HandoffTool, registry::ToolRegistry},
};

/// An agent's settings, and the parts of it that know its state and its services.
pub(crate) struct AgentParts<S: HasAgent, C> {
    pub(crate) settings: AgentSettings,
    pub(crate) hooks: Vec<SharedHook<S, C>>,
    pub(crate) by_run: ByRun<S, C>,
}

impl<S: HasAgent, C> fmt::Debug for AgentParts<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentParts")
            .field("settings", &self.settings)
            .field("hooks", &self.hooks)
            .field("by_run", &self.by_run)
            .finish_non_exhaustive()
    }
}

/// The parts and limits of an agent, which its nodes share.
#[derive(Debug)]
pub(crate) struct AgentSettings {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) model: SharedModel,
    pub(crate) runner: ToolRunner,
    pub(crate) catalogue: Option<Catalogue>,
    /// What keeps the conversation small, if anything does.
    pub(crate) memory: Option<Compactor>,
    pub(crate) handoffs: Vec<HandoffTool>,
    pub(crate) parser: Parser,
    /// The beginning of the system prompt.
    pub(crate) role: String,
    pub(crate) system: String,
    /// The form of the final answer, if it is a value.
    pub(crate) answer: Option<FinalAnswer>,
    /// The tools whose result ends the turn.
    pub(crate) ends_turn: Vec<String>,
    /// Where tools may let the run go on: the end, and nodes of the calling graph.
    pub(crate) targets: Vec<String>,
    pub(crate) max_iterations: u32,
    pub(crate) language: Language,
    pub(crate) protocol: Protocol,
    /// How the text of a reply is read for calls where the server has calls of its own. None: it is not.
    pub(crate) text_calls: Option<Policy>,
    /// Whether the labels of calls carry a word that is drawn for each conversation.
    pub(crate) keyed_labels: bool,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
}

impl AgentSettings {
    /// Emits a progress event of this agent, whose name `event` is given.
    pub(crate) fn emit<C>(
        &self,
        context: &Context<C>,
        event: impl FnOnce(String) -> AgentProgress,
    ) {
        context.custom(&event(self.name.clone()));
    }

    /// True if nothing but the model's answer, or a limit, ends a turn.
    pub(crate) fn ends_by_model_alone(&self) -> bool {
        self.handoffs.is_empty() && self.ends_turn.is_empty() && self.targets.is_empty()
    }

    /// Checks that none of `tools` has the name of the one that answers.
    ///
    /// # Errors
    ///
    /// [`RegistryError`] with its name.
    pub(crate) fn beside_answer(&self, tools: &ToolRegistry) -> Result<(), RegistryError> {
        let answer = self.answer.as_ref().and_then(FinalAnswer::tool);
        match answer.filter(|answer| tools.effect(answer.name()).is_some()) {
            Some(answer) => {
                let fault = ToolFault::TwiceNamed { tool: answer.name().to_owned() };
                Err(RegistryError { faults: vec![fault] })
            }
            None => Ok(()),
        }
    }

    /// A parser for calls of these tools, and of the one that answers.
    pub(crate) fn parser_of(&self, shown: &[ToolSpec]) -> Parser {
        let answer = self.answer.as_ref().and_then(FinalAnswer::tool);
        let parser = Parser::new(ToolRegistry::declared_of(shown.iter().chain(&answer)));
        match (self.protocol, self.text_calls) {
            // What the prompt teaches, and the JSON that models write in its place.
            (Protocol::Text, _) => parser.asked([Format::React, Format::JsonAction]),
            (Protocol::Native, None) => parser.without_calls(),
            (Protocol::Native, Some(policy)) => {
                parser.policy(policy).asked([Format::BareJson]).without_labels()
            }
        }
    }

    /// The word of the conversation's labels, if they carry one: the one that it has, or one drawn by `task`.
    pub(crate) fn label_key(&self, state: &AgentState, task: TaskId) -> Option<String> {
        self.is_keyed().then(|| state.label_key.clone().unwrap_or_else(|| label_key(task)))
    }

    /// Whether labels carry a word of their conversation.
    pub(crate) fn is_keyed(&self) -> bool {
        self.keyed_labels && self.protocol == Protocol::Text
    }

    /// The tool that searches for tools, if this turn offers it.
    pub(crate) fn search_tool(&self, state: &AgentState) -> Option<SharedTool> {
        let catalogue = self.catalogue.as_ref()?;
        BoundTool::of(&state.bound_tools, SEARCH_TOOLS)?;
        Some(catalogue.search.clone())
    }

    /// The tools that the turn offers its model, as they are now, and those that are bound: as the state has them, or new ones
    /// for a turn that begins.
    pub(crate) async fn offered<C>(
        &self,
        state: &AgentState,
        context: &Context<C>,
    ) -> Result<Option<(Vec<ToolSpec>, Option<Vec<BoundTool>>)>, AgentError> {
        let Some(catalogue) = &self.catalogue else { return Ok(None) };
        if !state.bound_tools.is_empty() {
            let offered = catalogue.offered(&state.bound_tools, context.now()).await?;
            return Ok(Some((offered, None)));
        }
        let required = match &self.tool_choice {
            ToolChoice::Tool(name) => Some(name.as_str()),
            _ => None,
        };
        let bound = catalogue.begin(state, required, context).await?;
        let names = bound.iter().filter(|it| it.definition.is_some()).map(|it| it.name.clone());
        self.emit_bound(context, BindingCause::Turn, names.collect());
        let offered = catalogue.offered(&bound, context.now()).await?;
        Ok(Some((offered, Some(bound))))
    }

    /// Says that the turn offers more tools, if it does.
    pub(crate) fn emit_bound<C>(
        &self,
        context: &Context<C>,
        cause: BindingCause,
        names: Vec<String>,
    ) {
        if !names.is_empty() {
            self.emit(context, |agent| AgentProgress::ToolsBound { agent, cause, names });
        }
    }

    /// The number of times that the model may be asked in this turn.
    pub(crate) fn limit(&self, state: &AgentState) -> u32 {
        if state.max_iterations == 0 { self.max_iterations } else { state.max_iterations }
    }
}
