//! What the rounds of planning, reading and judging are about.

use hanok_agent::{Evaluation, MadePlan, Observation, PlanMode, PlanTask};
use hanok_graph::Context;
use hanok_state::{State, ToolCall};

use crate::{
    ContractEvent, ContractState, ContractStateUpdate, Expert, evaluator, executor,
    failure::NodeFailure,
    planner::{self, shown_of},
};

/// The rounds of an expert.
#[derive(Debug)]
pub(crate) struct Rounds(pub(crate) Expert);

impl PlanTask for Rounds {
    type State = ContractState;
    type Services = ();
    type Error = NodeFailure;

    async fn propose(
        &self,
        state: &ContractState,
        round: u32,
        context: &Context,
    ) -> Result<Vec<ToolCall>, NodeFailure> {
        planner::proposed(&self.0, state, round, context).await
    }

    fn complete(&self, call: ToolCall, state: &ContractState) -> ToolCall {
        planner::completed(call, state)
    }

    fn depends(&self, call: &ToolCall) -> bool {
        planner::needs_others(call)
    }

    fn planned(
        &self,
        state: &ContractState,
        plan: &MadePlan,
        context: &Context,
    ) -> ContractStateUpdate {
        context.custom(&ContractEvent::ToolSelected {
            iteration: plan.round,
            plan: plan.mode,
            tools: plan.calls.iter().map(shown_of).collect(),
            skipped: plan.skipped.iter().map(shown_of).collect(),
        });
        // Where there is nothing to read, the answer is written from what was read for the last one.
        let update = ContractState::update();
        match plan.mode {
            PlanMode::NoTools if state.collected.is_empty() => {
                update.collected(state.previous_sources.clone())
            }
            _ => update,
        }
    }

    fn observe(
        &self,
        state: &mut ContractState,
        call: &ToolCall,
        observation: Observation,
        context: &Context,
    ) {
        executor::observe(state, call, observation, context);
    }

    fn observed(&self, state: ContractState) -> ContractStateUpdate {
        ContractState::update()
            .collected(state.collected)
            .absent(state.absent)
            .explored(state.explored)
            .unexplored(state.unexplored)
    }

    async fn evaluate(
        &self,
        state: &ContractState,
        context: &Context,
    ) -> Result<Evaluation, NodeFailure> {
        if let Some(evaluation) = evaluator::by_rule(&self.0, state) {
            return Ok(evaluation);
        }
        let call = context.call("model", "evaluator", "");
        Ok(context.step("evaluation", || evaluator::ask(&self.0, state, &call)).await?)
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
        context.custom(&ContractEvent::EvaluationResult {
            iteration,
            sufficient,
            forced,
            missing,
            reason,
        });
        ContractState::update()
    }
}
