//! Unknown parts of a state: a super-step writes the state around them, and they stay as they are in the log.

use hanok_core::{Changes, Field, Position};
use hanok_state::{State, StateUpdate};

use crate::{
    error::{RunError, state_error},
    run::{graph_run::Ran, run_state::RunState},
};

/// The stored writes of a super-step to nested states that hold fields unknown to this build.
#[derive(Default)]
pub(crate) struct Riding {
    /// The writes to nested states that a task writes whole, in order. The log has to keep the unknown fields of those.
    whole: Changes,
}

impl Riding {
    /// Looks at the writes before they are merged, which takes them.
    pub(crate) fn of<S: State>(
        progress: &RunState<S>,
        ran: &Ran<S::Update>,
    ) -> Result<Self, RunError> {
        let mut riding = Self::default();
        if !progress.unknown.iter().any(|(_, field)| matches!(field, Field::Nested(_))) {
            return Ok(riding);
        }
        let mut whole = Vec::new();
        for (_, done) in ran.iter().filter(|(_, done)| done.position.is_some()) {
            let mut written = done.update.to_changes().map_err(state_error)?;
            whole.extend(written.fill(&progress.unknown));
            riding.whole.0.extend(written.0);
        }
        riding.whole.0.retain(|(field, _)| whole.contains(field));
        Ok(riding)
    }

    /// Adds the changes to a commit that `folds` these writes which keep unknown fields as they are. Notes the values of
    /// unknown fields in the writes of a newer build.
    pub(crate) fn complete<S: State>(
        self,
        progress: &mut RunState<S>,
        folds: &[Position],
        changes: &mut Changes,
    ) -> Result<(), RunError> {
        if folds.is_empty() && progress.unknown.is_empty() {
            return Ok(());
        }
        let schema = progress.state.schema();
        let stored = folds.iter().filter_map(|position| progress.records.pending.get(position));
        let unknown: Vec<_> = stored.map(|write| schema.unknown_changes(&write.changes)).collect();
        for changes in &unknown {
            let applied = progress.unknown.apply_all(changes);
            applied.map_err(|error| RunError::State(error.into()))?;
        }
        if progress.unknown.is_empty() {
            return Ok(());
        }
        let whole = self.whole.0.into_iter().filter(|(field, _)| changes.get(field).is_none());
        let whole: Vec<_> = whole.collect();
        changes.0.extend(whole);
        let filled = changes.fill(&progress.unknown);
        for (field, change) in unknown.into_iter().flat_map(|changes| changes.0) {
            if changes.get(&field).is_some() && !filled.contains(&field) {
                changes.push(field, change);
            }
        }
        Ok(())
    }
}
