//! The state in which a turn begins, as a log has it besides the input.

use std::sync::Arc;

use hanok_core::{Change, Changes, Field};
use hanok_state::State;

use crate::error::{RunError, state_error};

/// The changes that write all of the state in which a thread, or a subgraph, begins. So a field that nobody has written
/// keeps its value, whatever a later build's default is.
pub(crate) fn first_values<S: State>(initial: &S) -> Result<Changes, RunError> {
    let fields = initial.to_fields().map_err(state_error)?;
    let set =
        |(name, field): (&str, &Field)| (name.to_owned().into(), Change::Set(field.to_stored()));
    Ok(Changes(fields.iter().map(set).collect()))
}

/// The changes of a turn's beginning, then those of its input. A field that the input sets occurs once.
pub(crate) fn with_input(mut first: Changes, input: Changes) -> Changes {
    first.0.retain(|(field, _)| !matches!(input.get(field), Some(Change::Set(_))));
    first.0.extend(input.0);
    first
}

/// Resets the ephemeral fields for a new turn, since the writes of the last super-step are over; returns their stored
/// form.
pub(crate) fn forget<S: State>(initial: &S, state: &mut Arc<S>) -> Result<Changes, RunError> {
    let schema = initial.schema();
    let ephemeral = |name: &str| schema.field(name).is_some_and(|field| field.ephemeral);
    let mut changes = Changes::default();
    if schema.fields.iter().all(|field| !field.ephemeral) {
        return Ok(changes);
    }
    let mut alone = S::clone(state);
    alone.retain(&ephemeral, initial);
    let before = alone.to_fields().map_err(state_error)?;
    Arc::make_mut(state).retain(&|name| !ephemeral(name), initial);
    for (name, field) in initial.to_fields().map_err(state_error)?.iter() {
        if ephemeral(name) && before.get(name) != Some(field) {
            changes.push(name.to_owned(), Change::Set(field.to_stored()));
        }
    }
    Ok(changes)
}
