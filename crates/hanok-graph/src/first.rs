//! What a log is told of the state in which a turn begins, besides the input.

use std::sync::Arc;

use hanok_core::{Change, Changes, Stored};
use hanok_state::State;

use crate::{RunError, progress::state_error};

/// What a log has to be told of the state in which a thread, or a subgraph, begins: the fields that are changed by parts
/// and hold something already. The fold of a log begins with nothing, and would hold the parts alone.
pub(crate) fn first_values<S: State>(initial: &S) -> Result<Changes, RunError> {
    let mut changes = Changes::default();
    for (name, field) in initial.to_fields().map_err(state_error)?.iter() {
        let rule = initial.schema().field(name).map_or("", |field| field.rule.as_ref());
        let value = field.to_stored();
        if holds(rule, &value) {
            changes.push(name.to_owned(), Change::Set(value));
        }
    }
    Ok(changes)
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

/// Whether a field with this rule is changed by parts, and holds something.
fn holds(rule: &str, value: &Stored) -> bool {
    match rule {
        "nested" => true,
        "append" | "merge" | "messages" | "operations" => {
            value.to_items().is_ok_and(|items| !items.is_empty())
                || value.to_entries().is_ok_and(|entries| !entries.is_empty())
        }
        _ => false,
    }
}
