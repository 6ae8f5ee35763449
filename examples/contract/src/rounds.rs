//! The rounds of planning, reading and judging, with what is told of each.

use hanok_agent::{AgentState, Evaluation, MadePlan, Observation, PlanMode, PlanTask};
use hanok_core::BoxError;
use hanok_graph::{Context, Snapshot};
use hanok_state::{State, ToolCall};

use crate::{
    ContractEvent, ContractState, ContractStateUpdate, Expert, Material, Origin, evaluator,
    planner::{self, shown},
    tools,
};

impl PlanTask for Expert {
    type State = ContractState;
    type Services = ();
    type Error = BoxError;

    /// Asks the model which tools to call, with what rules propose in the first round.
    async fn propose(
        &self,
        state: &ContractState,
        round: u32,
        context: &Context,
    ) -> Result<Vec<ToolCall>, BoxError> {
        let suggested = if round == 1 { planner::suggested(self, state) } else { Vec::new() };
        context.custom(&ContractEvent::Planning {
            iteration: round,
            suggested: suggested.iter().map(shown).collect(),
            missing: state.planning.missing.clone(),
        });
        let messages = planner::planning(state, &suggested).into_iter().collect();
        let asked = Snapshot::new(AgentState { messages, ..AgentState::default() });
        let compares = planner::asks_standard(state);
        let planner = if compares { &self.comparing } else { &self.reading };
        let update = planner.call_model(asked, context.clone()).await?;
        let mut planned = AgentState::default();
        planned.reduce(vec![("planner".into(), update)])?;
        // A call of a tool that is not there is none.
        let mut calls = planned.pending_tool_calls;
        calls.retain(|call| tools::NAMES.contains(&call.name.as_str()));
        Ok(if round == 1 { planner::with_suggested(calls, suggested, state) } else { calls })
    }

    fn complete(&self, call: ToolCall, state: &ContractState) -> ToolCall {
        planner::completed(call, state)
    }

    fn depends(&self, call: &ToolCall) -> bool {
        planner::needs_others(call)
    }

    /// Where there is nothing to read, the answer is written from what was read for the last one.
    fn planned(
        &self,
        state: &ContractState,
        plan: &MadePlan,
        context: &Context,
    ) -> ContractStateUpdate {
        context.custom(&ContractEvent::ToolSelected {
            iteration: plan.round,
            plan: plan.mode,
            tools: plan.calls.iter().map(shown).collect(),
            skipped: plan.skipped.iter().map(shown).collect(),
        });
        match plan.mode {
            PlanMode::NoTools if state.collected.is_empty() => {
                ContractState::update().collected(state.previous_sources.clone())
            }
            _ => ContractState::update(),
        }
    }

    /// What the call found becomes part of what was read, each piece once.
    fn observe(
        &self,
        state: &mut ContractState,
        call: &ToolCall,
        observation: Observation,
        context: &Context,
    ) {
        let Observation { text, data, fault, .. } = observation;
        let found = data.and_then(|data| serde_json::from_value::<Vec<Material>>(data.0).ok());
        let found = found.unwrap_or_default();
        context.custom(&ContractEvent::ToolFinished {
            tool: shown(call),
            found: found.iter().map(|it| format!("{} {}", it.origin.name(), it.label)).collect(),
            absent: Vec::from_iter((found.is_empty() && fault.is_none()).then(|| text.clone())),
            fault: fault.map(|_| text),
        });
        for material in found {
            if material.origin == Origin::Contract && material.article.is_some() {
                state.explored.insert(material.label.clone());
                state.unexplored.retain(|label| *label != material.label);
            }
            let same = |known: &&mut Material| {
                (known.origin, &known.label, &known.text)
                    == (material.origin, &material.label, &material.text)
            };
            match state.collected.iter_mut().find(same) {
                Some(known) => known.named |= material.named,
                None => state.collected.push(material),
            }
        }
    }

    fn observed(&self, state: ContractState) -> ContractStateUpdate {
        ContractState::update()
            .collected(state.collected)
            .explored(state.explored)
            .unexplored(state.unexplored)
    }

    async fn evaluate(
        &self,
        state: &ContractState,
        context: &Context,
    ) -> Result<Evaluation, BoxError> {
        match evaluator::by_rule(self, state) {
            Some(evaluation) => Ok(evaluation),
            None => Ok(evaluator::by_model(self, state, context).await?),
        }
    }

    fn evaluated(
        &self,
        state: &ContractState,
        evaluation: &Evaluation,
        forced: bool,
        context: &Context,
    ) -> ContractStateUpdate {
        let Evaluation { sufficient, missing, reason } = evaluation.clone();
        let iteration = state.planning.round;
        let told =
            ContractEvent::EvaluationResult { iteration, sufficient, forced, missing, reason };
        context.custom(&told);
        ContractState::update()
    }
}
