//! Ephemeral fields: they last for one super-step, and then have their initial value again.

use hanok_core::{Change, Changes};
use std::{collections::BTreeSet, sync::Arc};

use crate::{
    error::{RunError, state_error},
    graph::definition::Definition,
    run::run_state::RunState,
};
use hanok_state::{Rule, State, StateUpdate};

impl<S: State, C> Definition<S, C> {
    /// Resets the ephemeral fields that the super-step before wrote, and returns their names. The writes of this
    /// super-step are merged into the initial values.
    pub(crate) fn expire(&self, progress: &mut RunState<S>) -> BTreeSet<String> {
        let over = std::mem::take(&mut progress.fresh);
        if !over.is_empty() {
            let state = Arc::make_mut(&mut progress.state);
            state.retain(&|field| !over.contains(field), &self.initial);
        }
        over
    }

    /// Notes the ephemeral fields that a super-step `wrote`; returns the stored form of those that are `over`.
    pub(crate) fn reset<'w>(
        &self,
        progress: &mut RunState<S>,
        wrote: impl Iterator<Item = &'w S::Update>,
        over: &BTreeSet<String>,
    ) -> Result<Changes, RunError> {
        if !self.has_ephemeral {
            return Ok(Changes::default());
        }
        let schema = self.initial.schema();
        let written = wrote.flat_map(StateUpdate::written);
        let written: BTreeSet<_> = written.map(std::borrow::Cow::into_owned).collect();
        let ephemeral = |name: &String| schema.field(name).is_some_and(|field| field.ephemeral);
        progress.fresh = written.iter().filter(|name| ephemeral(name)).cloned().collect();
        // A last value is stored as it was written. A field that is written by parts has them put to its old value.
        let by_parts = |name: &str| schema.field(name).is_some_and(|f| f.rule != Rule::LastValue);
        let whole = |name: &str| over.contains(name) && (by_parts(name) || !written.contains(name));
        if !over.iter().any(|name| whole(name)) {
            return Ok(Changes::default());
        }
        let mut alone = S::clone(&progress.state);
        alone.retain(&whole, &self.initial);
        let mut changes = Changes::default();
        for (name, value) in alone.to_fields().map_err(state_error)?.iter() {
            if whole(name) {
                changes.push(name.to_owned(), Change::Set(value.to_stored()));
            }
        }
        Ok(changes)
    }
}
