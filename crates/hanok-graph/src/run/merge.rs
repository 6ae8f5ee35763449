//! Merging: what the tasks of a super-step wrote becomes part of the state.

use std::{fmt::Write, panic::AssertUnwindSafe, sync::Arc};

use hanok_core::{Changes, Namespace, TaskId};
use hanok_state::{ReduceError, State, StateUpdate};

use crate::error::{NodeError, RunError, panic_message};

/// Room for the id of a message.
const ID: usize = 24;

/// Gives ids to messages without one: derived from the task and a count, so that they are the same whenever it runs.
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

/// Merges `writes`, each with its node, into `state`, and takes them out of the updates. What reducers made of them is
/// returned if it is to be `recorded`.
///
/// A reducer is a user's code and may panic: that is its run's error and nobody else's.
pub(crate) fn merge<S: State>(
    state: &mut S,
    writes: &mut [(&Arc<str>, &mut S::Update)],
    recorded: bool,
) -> Result<Changes, Unmerged> {
    match std::panic::catch_unwind(AssertUnwindSafe(|| state.merge_writes(writes, recorded))) {
        Ok(merged) => merged.map_err(Unmerged::Refused),
        Err(panic) => Err(Unmerged::Panicked(panic_message(&*panic))),
    }
}

impl Unmerged {
    pub(crate) fn of_node(self) -> NodeError {
        match self {
            Self::Refused(error) => error.into(),
            Self::Panicked(message) => NodeError::Panicked(message),
        }
    }

    /// The error of the run whose super-step `step` it was.
    pub(crate) fn of_run(self, step: u32, namespace: &Namespace) -> RunError {
        match self {
            Self::Refused(source) => {
                RunError::Reduce { step, namespace: namespace.clone(), source }
            }
            Self::Panicked(message) => RunError::ReducerPanicked { step, message },
        }
    }
}
