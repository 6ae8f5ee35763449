//! The node that runs the chosen agent.

use std::sync::Arc;

use hanok_agent::Handoff;
use hanok_graph::{Context, Snapshot};

use crate::{SupervisorError, SupervisorState, SupervisorStateUpdate, supervisor::Inner};

/// Runs the chosen agent as a subgraph, and writes what it gave. Of several that were chosen at once, each is a task.
pub(crate) async fn execute_agent(
    supervisor: Arc<Inner>,
    state: Snapshot<SupervisorState>,
    context: Context,
) -> Result<SupervisorStateUpdate, SupervisorError> {
    let sent: Option<Handoff> = context.input().map_err(SupervisorError::Delegation)?;
    let delegation = sent.unwrap_or_else(|| {
        let to = state.current_agent.clone().unwrap_or_default();
        supervisor.handoff(to, state.task.clone())
    });
    supervisor.delegate(delegation, &state, &context).await
}
