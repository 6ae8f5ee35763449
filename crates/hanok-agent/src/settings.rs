//! The settings of an agent.

use hanok_graph::{Context, Doubt};
use hanok_model::{SharedModel, ToolChoice};
use hanok_parse::{Language, Parser};
use hanok_telemetry::ContentCapture;

use crate::{
    intercept::{SharedInterceptor, TurnContext},
    progress::AgentProgress,
    protocol::Protocol,
    state::AgentState,
    tools::{handoff_tool::HandoffTool, registry::ToolRegistry},
};

/// The parts and limits of an agent, which its nodes share.
#[derive(Debug)]
pub(crate) struct AgentSettings {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) model: SharedModel,
    pub(crate) tools: ToolRegistry,
    pub(crate) interceptors: Vec<SharedInterceptor>,
    pub(crate) handoffs: Vec<HandoffTool>,
    pub(crate) parser: Parser,
    pub(crate) system: String,
    pub(crate) max_iterations: u32,
    pub(crate) language: Language,
    pub(crate) protocol: Protocol,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) in_doubt: Doubt,
    pub(crate) capture: ContentCapture,
}

impl AgentSettings {
    /// The turn, as interceptors see it.
    pub(crate) fn turn_context<'a>(&'a self, state: &'a AgentState) -> TurnContext<'a> {
        TurnContext { agent: &self.name, usage: &state.usage, language: self.language }
    }

    /// Emits a progress event of this agent, whose name `event` is given.
    pub(crate) fn emit(&self, context: &Context, event: impl FnOnce(String) -> AgentProgress) {
        context.custom(&event(self.name.clone()));
    }

    /// The number of times that the model may be asked in this turn.
    pub(crate) fn limit(&self, state: &AgentState) -> u32 {
        if state.max_iterations == 0 { self.max_iterations } else { state.max_iterations }
    }
}
