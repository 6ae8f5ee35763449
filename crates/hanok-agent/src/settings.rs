//! The settings of an agent.

use hanok_graph::Context;
use hanok_model::{SharedModel, ToolChoice};
use hanok_parse::{Language, Parser};

use crate::{
    progress::AgentProgress, protocol::Protocol, runner::ToolRunner, state::AgentState,
    tools::handoff_tool::HandoffTool,
};

/// The parts and limits of an agent, which its nodes share.
#[derive(Debug)]
pub(crate) struct AgentSettings {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) model: SharedModel,
    pub(crate) runner: ToolRunner,
    pub(crate) handoffs: Vec<HandoffTool>,
    pub(crate) parser: Parser,
    pub(crate) system: String,
    pub(crate) max_iterations: u32,
    pub(crate) language: Language,
    pub(crate) protocol: Protocol,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
}

impl AgentSettings {
    /// Emits a progress event of this agent, whose name `event` is given.
    pub(crate) fn emit(&self, context: &Context, event: impl FnOnce(String) -> AgentProgress) {
        context.custom(&event(self.name.clone()));
    }

    /// The number of times that the model may be asked in this turn.
    pub(crate) fn limit(&self, state: &AgentState) -> u32 {
        if state.max_iterations == 0 { self.max_iterations } else { state.max_iterations }
    }
}
