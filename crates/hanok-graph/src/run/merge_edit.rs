//! An edit of a state that no node makes: its merge, and its stored form.

use std::sync::Arc;

use hanok_checkpoint::ThreadLife;
use hanok_core::{Changes, Namespace, Position};
use hanok_state::{State, StateUpdate};

use crate::{
    error::{RunError, state_error},
    ids,
    run::{
        merge::{Unmerged, complete, merge},
        run_state::RunState,
    },
};

/// The writer of an edit that stands for no node.
pub(crate) const EDIT: &str = "edit";

/// The place of an edit: the life of a thread that ids derive from, the graph, and the position before it.
pub(crate) struct EditPlace<'a> {
    pub(crate) of: &'a ThreadLife,
    pub(crate) path: &'a Namespace,
    pub(crate) at: Position,
}

/// Merges the update of `writer` into the state; returns the stored form.
pub(crate) fn merge_edit<T: State>(
    progress: &mut RunState<T>,
    place: &EditPlace<'_>,
    writer: &Arc<str>,
    mut update: T::Update,
) -> Result<Changes, RunError> {
    let EditPlace { of, path, at } = *place;
    let step = progress.frontier.step;
    let id = ids::task(of, path, at.next(), step, writer, usize::MAX);
    let refused = |error| Unmerged::Refused(error).of_run(step, path);
    progress.state.bind(writer, &mut update).map_err(refused)?;
    complete(&mut update, || id);
    let mut changes = update.to_changes().map_err(state_error)?;
    let resolved = merge(Arc::make_mut(&mut progress.state), &mut [(writer, &mut update)], true)
        .map_err(|refused| refused.of_run(step, path))?;
    changes.0.retain(|(field, _)| resolved.get(field).is_none());
    changes.0.extend(resolved.0);
    changes.fill(&progress.unknown);
    Ok(changes)
}
