//! The node with which a turn begins.

use std::sync::Arc;

use hanok_graph::{Context, Snapshot};
use hanok_state::State;

use crate::{
    error::TeamError,
    event::TeamEvent,
    settings::TeamSettings,
    state::{Phase, TeamState, TeamStateUpdate},
};

/// Notes when the turn begins.
pub(crate) async fn initialize<C: Send + Sync + 'static>(
    _: Arc<TeamSettings<C>>,
    _: Snapshot<TeamState>,
    context: Context<C>,
) -> Result<TeamStateUpdate, TeamError> {
    context.custom(&TeamEvent::PhaseChanged { phase: Phase::Initializing });
    Ok(TeamState::update().phase(Phase::Initializing).started_at(Some(context.now())))
}
