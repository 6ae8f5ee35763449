//! The node in which the teams work.

use std::sync::Arc;

use hanok_graph::{Context, Snapshot};
use hanok_state::State;

use crate::{
    error::TeamError,
    event::TeamEvent,
    execution::Execution,
    settings::TeamSettings,
    state::{Phase, TeamState, TeamStateUpdate},
};

/// Runs the steps of the plan that have no end yet, and writes their ends.
pub(crate) async fn execute_teams<C: Send + Sync + 'static>(
    settings: Arc<TeamSettings<C>>,
    state: Snapshot<TeamState>,
    context: Context<C>,
) -> Result<TeamStateUpdate, TeamError> {
    context.custom(&TeamEvent::PhaseChanged { phase: Phase::Executing });
    let mut execution = Execution::new(&settings, &context, &state);
    execution.run().await?;
    let Execution { ended, choices, limit, .. } = execution;
    let update = TeamState::update().phase(Phase::Executing).choices(choices).limit(limit);
    Ok(ended
        .into_iter()
        .fold(update, |update, (id, result)| update.insert_team_results(id, result)))
}
