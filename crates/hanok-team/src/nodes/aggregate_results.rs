//! The node that puts the results of the teams together.

use std::{collections::BTreeSet, sync::Arc};

use hanok_graph::{Context, Snapshot};
use hanok_state::State;

use crate::{
    error::TeamError,
    event::TeamEvent,
    settings::TeamSettings,
    state::{Aggregated, Missing, Phase, TeamState, TeamStateUpdate},
    step::StepStatus,
};

/// Lists what there is and what is missing. No model is asked.
pub(crate) async fn aggregate_results<C: Send + Sync + 'static>(
    _: Arc<TeamSettings<C>>,
    state: Snapshot<TeamState>,
    context: Context<C>,
) -> Result<TeamStateUpdate, TeamError> {
    context.custom(&TeamEvent::PhaseChanged { phase: Phase::Aggregation });
    Ok(TeamState::update().phase(Phase::Aggregation).aggregated(Some(aggregate(&state))))
}

/// What the steps of `state` have together, in the plan's order. A step that failed and whose task another one did later is still
/// listed: its cause is known.
pub(crate) fn aggregate(state: &TeamState) -> Aggregated {
    let mut all = Aggregated::default();
    let mut sources = BTreeSet::new();
    for (step, result) in state.results() {
        let missing = || Missing {
            step: step.id.clone(),
            team: step.team.clone(),
            task: step.task.clone(),
            cause: result.error.clone().unwrap_or_default(),
        };
        match result.status {
            StepStatus::Completed => {
                all.completed.push(step.id.clone());
                let new = result.sources.iter().filter(|source| sources.insert((*source).clone()));
                all.sources.extend(new.cloned());
            }
            StepStatus::Skipped => all.skipped.push(missing()),
            _ => all.failed.push(missing()),
        }
    }
    all
}
