//! What a log is told of the state in which a turn begins, besides the input.

use std::sync::Arc;

use hanok_core::{Change, Changes, Field};
use hanok_state::State;

use crate::error::{RunError, state_error};

/// What a log has to be told of the state in which a thread, or a subgraph, begins: all of it. What a field holds that
/// nothing has written stays what it was, whatever a later build's default is.
pub(crate) fn first_values<S: State>(initial: &S) -> Result<Changes, RunError> {
    let fields = initial.to_fields().map_err(state_error)?;
    let set =
        |(name, field): (&str, &Field)| (name.to_owned().into(), Change::Set(field.to_stored()));
    Ok(Changes(fields.iter().map(set).collect()))
}

/// What a turn begins with, and then what its input writes. A field that the input sets is said once.
pub(crate) fn with_input(mut first: Changes, input: Changes) -> Changes {
    first.0.retain(|(field, _)| !matches!(input.get(field), Some(Change::Set(_))));
    first.0.extend(input.0);
    first
}

/// Gives the ephemeral fields their initial value, for a turn that begins: what the one before wrote last is over. Returns
/// how that is stored.
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
