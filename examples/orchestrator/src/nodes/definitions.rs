//! A person's word on the tools of servers that are new or have changed.

use hanok_agent::{Decision, Gate};
use hanok_core::BoxError;
use hanok_graph::Context;
use hanok_mcp::Change;
use hanok_state::State as _;

use crate::{
    asking::cause,
    orchestrator::Orchestrator,
    state::{GateDecision, OrchestratorState, OrchestratorStateUpdate},
};

impl Orchestrator {
    /// Looks for the tools of the servers, and asks a person about definitions that nobody has approved or refused on this thread, so
    /// that the tools can be used in this turn. Where the gate is off, they are not used: what nobody has seen is never approved.
    pub(crate) async fn definitions(
        &self,
        state: &OrchestratorState,
        context: &Context,
    ) -> Result<OrchestratorStateUpdate, BoxError> {
        let (client, now) = (self.servers.client(), context.now());
        let update = OrchestratorState::update();
        let look = || async { self.servers.look(now).await };
        if client.is_locked() || !self.asks(&Gate::Definitions, state, context).await? {
            look().await?;
            return Ok(update);
        }
        // The run may end with the question: what is looked at is not looked at again when it goes on.
        context.step("look", look).await.map_err(cause)?;
        // A tool that is gone is missed by nobody: it is told with those that are there.
        let is_open = |change: &Change| {
            change.hash().is_some_and(|hash| !state.refused.contains(&hash.to_string()))
        };
        let pending = client.pending();
        let open = if pending.iter().any(is_open) { pending } else { Vec::new() };
        let asked = client.ask_about(&open, context).await?;
        if asked.changes.is_empty() {
            return Ok(update);
        }
        let decision = match asked.is_approved {
            true => Decision::Approve,
            false => Decision::Reject { message: None },
        };
        let decision = GateDecision { gate: Gate::Definitions, decision, automatic: None };
        let update = self.recorded(state, &decision, context)?;
        if asked.is_approved {
            self.servers.fit(now).await?;
            return Ok(update);
        }
        let hashes = asked.changes.into_iter().filter_map(|change| change.hash);
        Ok(update.refused(hashes.filter(|hash| !state.refused.contains(hash))))
    }
}
