//! Merging: the updates of a super-step's tasks become part of the state.

use std::{fmt::Write, sync::Arc};

use hanok_core::{Changes, Namespace, Panicked, TaskId};
use hanok_state::{ReduceError, State, StateUpdate};

use crate::error::{NodeError, RunError};

/// Room for the id of a message.
const ID: usize = 24;

/// Sets the ids of messages without one. They derive from the task and a count, so that they are the same in every run.
pub(crate) fn complete<U: StateUpdate>(update: &mut U, task: impl Fn() -> TaskId) {
    let mut count = 0;
    update.complete(&mut || {
        count += 1;
        let mut begins = [0; 8];
        begins.iter_mut().zip(task().as_bytes()).for_each(|(byte, of_task)| *byte = *of_task);
        let mut id = String::with_capacity(ID);
        // Writing into memory does not fail.
        let _ = write!(id, "{:016x}-{count}", u64::from_be_bytes(begins));
        id
    });
}

/// Writes that were not merged.
pub(crate) enum Unmerged {
    Refused(ReduceError),
    /// A reducer of the user's panicked.
    Panicked(String),
}

/// Merges `writes`, each with its node, into `state`, and takes them out of the updates. Returns the resulting changes if
/// they are to be `recorded`.
///
/// A reducer is a user's code and may panic. That is an error of its run and of no other.
pub(crate) fn merge<S: State>(
    state: &mut S,
    writes: &mut [(&Arc<str>, &mut S::Update)],
    recorded: bool,
) -> Result<Changes, Unmerged> {
    match Panicked::catch(|| state.merge_writes(writes, recorded)) {
        Ok(merged) => merged.map_err(Unmerged::Refused),
        Err(Panicked(message)) => Err(Unmerged::Panicked(message)),
    }
}

impl Unmerged {
    pub(crate) fn of_node(self) -> NodeError {
        match self {
            Self::Refused(error) => error.into(),
            Self::Panicked(message) => NodeError::Panicked(message),
        }
    }

    /// The error of the run whose super-step `step` could not be merged.
    pub(crate) fn of_run(self, step: u32, namespace: &Namespace) -> RunError {
        match self {
            Self::Refused(source) => {
                RunError::Reduce { step, namespace: namespace.clone(), source }
            }
            Self::Panicked(message) => RunError::ReducerPanicked { step, message },
        }
    }
}
