//! The nodes of the graph.

mod clarification;
mod definitions;
mod execution;
mod planning;
mod preparation;
mod routing;
mod step_gate;
mod synthesis;

use hanok_agent::{Decision, Gate};
use hanok_graph::Context;

use crate::state::{DecisionEntry, GateDecision, OrchestratorState};

/// The record of decisions with one more.
fn recorded(
    state: &OrchestratorState,
    decision: &GateDecision,
    context: &Context,
) -> Vec<DecisionEntry> {
    let step = match decision.gate {
        Gate::Step => state.step().map(|(number, _)| number),
        _ => None,
    };
    let entry = DecisionEntry {
        gate: decision.gate.clone(),
        step,
        decision: name(&decision.decision).to_owned(),
        automatic: decision.automatic.clone(),
        at: context.now(),
    };
    state.decisions.iter().cloned().chain([entry]).collect()
}

fn name(decision: &Decision) -> &'static str {
    match decision {
        Decision::Approve => "approve",
        Decision::Edit { .. } => "edit",
        Decision::Respond { .. } => "respond",
        Decision::Skip { .. } => "skip",
        Decision::Revise { .. } => "revise",
        Decision::Reuse { .. } => "reuse",
        _ => "reject",
    }
}
