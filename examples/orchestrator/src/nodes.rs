//! The nodes of the graph, and what its gates have in common.

mod clarification;
mod definitions;
mod execution;
mod planning;
mod preparation;
mod routing;
mod step_gate;
mod synthesis;

use hanok_agent::{Gate, GateQuestion, Precedent, ToolRequest};
use hanok_core::{BoxError, Call, Timestamp};
use hanok_graph::Context;
use hanok_mcp::OfferedTool;
use hanok_model::ToolError;
use hanok_state::State as _;
use serde_json::Value;

use crate::{
    events::{OrchestratorEvent, Status},
    orchestrator::{Next, Orchestrator, next},
    state::{DecisionEntry, GateDecision, OrchestratorState, OrchestratorStateUpdate},
};

impl Orchestrator {
    /// Whether a gate is on: in this process, or when the turn began. Who goes on with fewer gates takes none away.
    fn is_on(&self, gate: &Gate, state: &OrchestratorState) -> bool {
        self.gates.asks(gate) || state.gates.contains(gate)
    }

    /// Whether a gate asks, once and for all of the task's runs: who goes on with other gates asks what was asked, and heeds the answer.
    /// Where the last decision was none, it asks again in any case.
    async fn asks(
        &self,
        gate: &Gate,
        state: &OrchestratorState,
        context: &Context,
    ) -> Result<bool, BoxError> {
        let is_asking = self.is_on(gate, state) || state.fault.is_some();
        Ok(context.step("asks", || async { Ok::<_, BoxError>(is_asking) }).await?)
    }

    /// A gate: asks the person and goes on to `decided`, or is passed and goes on to `passed`.
    async fn gate(
        &self,
        gate: Gate,
        question: GateQuestion,
        state: &OrchestratorState,
        context: &Context,
        [decided, passed]: [&str; 2],
    ) -> Next {
        let update = OrchestratorState::update().fault(None);
        if !self.asks(&gate, state, context).await? {
            pass(gate, "off", context);
            return next(update.decided(None), passed);
        }
        let decision = question.ask(context).await?;
        next(update.decided(Some(GateDecision { gate, decision, automatic: None })), decided)
    }

    /// Records a decision that is done, and hands out what it teaches.
    fn recorded(
        &self,
        state: &OrchestratorState,
        decision: &GateDecision,
        context: &Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        self.memory.decided(state, decision, context)?;
        let entry = DecisionEntry {
            gate: decision.gate.clone(),
            step: state.step().map(|(number, _)| number).filter(|_| decision.gate == Gate::Step),
            decision: decision.decision.kind(),
            automatic: decision.automatic.clone(),
            at: context.now(),
        };
        Ok(OrchestratorState::update().decided(None).push_decisions(entry))
    }

    /// The reason why a call needs no person: that person's own word, or what their decisions have taught. `key` names the call.
    async fn precedent(
        &self,
        tool: &str,
        offered: &OfferedTool,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<String>, BoxError> {
        match self.always.stands(tool, offered.hash.as_str(), now).await? {
            Some(standing) => Ok(Some(standing.to_string())),
            None => self.memory.passes(tool, offered.risk, key, now).await,
        }
    }
}

/// Asks again at the gate `node`: a decision is none, because of `fault`.
fn again(fault: impl Into<String>, node: &str) -> Next {
    next(OrchestratorState::update().decided(None).fault(Some(fault.into())), node)
}

/// Tells that a gate is passed without a person.
fn pass(gate: Gate, reason: &str, context: &Context) {
    let reason = reason.to_owned();
    context.custom(&OrchestratorEvent::Status(Status::Passed { gate, reason }));
}

/// Adds to what a person sees what there may be.
fn add(shown: &mut Value, name: &str, value: Option<impl Into<Value>>) {
    if let (Some(shown), Some(value)) = (shown.as_object_mut(), value) {
        shown.insert(name.to_owned(), value.into());
    }
}

/// What lets the calls of an agent pass without a person.
#[derive(Debug, Clone)]
struct Precedents(Orchestrator);

impl Precedent for Precedents {
    async fn passes(
        &self,
        request: &ToolRequest<'_>,
        call: &Call,
    ) -> Result<Option<String>, ToolError> {
        let (tool, now) = (request.call.name.as_str(), call.clock().now());
        let Some(offered) = self.0.offer().remove(tool) else { return Ok(None) };
        let passes = self.0.precedent(tool, &offered, call.key().as_str(), now).await;
        passes.map_err(ToolError::Failed)
    }
}
