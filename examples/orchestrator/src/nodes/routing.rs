//! The beginning of a turn, and whether it needs tools.

use hanok_agent::Gate;
use hanok_graph::Context;
use hanok_state::State as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    asking::form,
    events::{OrchestratorEvent, Status},
    orchestrator::{Next, Orchestrator, Turn, Update, next},
    state::{Complexity, OrchestratorState},
    wording,
};

/// Whether the request needs tools, as the model says it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct RoutingForm {
    /// True if the user wants something done, found or made that takes a tool (도구); false for greetings and small talk.
    needs_tool: bool,
}

impl Orchestrator {
    /// The turn begins.
    pub(crate) async fn start(&self, state: Turn, context: Context) -> Update {
        context.custom(&OrchestratorEvent::Start { query: state.query.clone() });
        let gates = Gate::NAMED.into_iter().filter(|gate| self.gates.asks(gate));
        Ok(OrchestratorState::update().gates(gates.collect()))
    }

    /// Judges once whether the request needs tools. Where the model does not say it, it does.
    pub(crate) async fn routing(&self, state: Turn, context: Context) -> Next {
        let instructions = format!("{}\n\n{}", wording::ROUTING, self.able());
        let request =
            |call: &_| self.background.request(&instructions, &state, [], &state.query, call);
        let routed = form::<RoutingForm>(&self.model, "routing", &[], request, &context).await?;
        let (complexity, to) = match routed.is_none_or(|form| form.needs_tool) {
            true => (Complexity::ToolRequired, "task_clarification_analysis"),
            false => (Complexity::SimpleChat, "synthesis"),
        };
        context.custom(&OrchestratorEvent::Status(Status::Routed { complexity }));
        next(OrchestratorState::update().complexity(Some(complexity)), to)
    }
}
