//! The outcome of a task.

use std::sync::Arc;

use crate::{
    error::NodeError,
    node::{attempt::Stop, command::Command, question::UnfitAnswer, readable::Readable},
    outcome::Pending,
};
use hanok_checkpoint::{Goto, Outbox, Question, TaskWrite};
use hanok_core::{Changes, Position, Spent, StoredError, TaskId};
use hanok_state::{State, StateUpdate};

/// A task that is done.
pub(crate) struct Done<U: StateUpdate> {
    pub(crate) update: Box<U>,
    pub(crate) goto: Vec<Goto>,
    pub(crate) spent: Spent,
    /// The position of its write, if it was stored on its own.
    pub(crate) position: Option<Position>,
    /// The state with its update, and the resulting changes, if the super-step has no other update.
    pub(crate) ahead: Option<Ahead<U>>,
    /// The number of the attempt.
    pub(crate) attempt: u32,
    /// Items for the outbox.
    pub(crate) outbox: Vec<Outbox>,
}

/// The questions of a task that waits for a person.
#[derive(Default)]
pub(crate) struct Interrupted {
    /// Its questions, which are to be stored.
    pub(crate) questions: Vec<Question>,
    /// The questions of a subgraph, which are stored already.
    pub(crate) below: Vec<Pending>,
    /// Answers that the task cannot read. Their questions are open again.
    pub(crate) unfit: Vec<UnfitAnswer>,
}

impl Interrupted {
    pub(crate) fn is_empty(&self) -> bool {
        self.questions.is_empty() && self.below.is_empty() && self.unfit.is_empty()
    }
}

/// A state with the update of one task, as its routers saw it.
pub(crate) type Ahead<U> = (Arc<<U as StateUpdate>::State>, Changes);

/// The outcome of a task.
pub(crate) enum TaskOutcome<U: StateUpdate> {
    Done(Done<U>),
    /// It waits for a person.
    Interrupted(Interrupted),
    Failed(NodeError),
    Stopped(Stop),
}

/// The stored form of a task's update.
pub(crate) fn written<U: StateUpdate>(
    done: &Done<U>,
    task: TaskId,
    node: &Arc<str>,
    readable: &Readable,
) -> Result<TaskWrite, StoredError> {
    let changes = done.update.to_changes()?;
    readable.check::<U>(&changes)?;
    Ok(TaskWrite {
        task,
        node: node.clone(),
        changes,
        goto: done.goto.clone(),
        spent: done.spent,
        outbox: done.outbox.clone(),
    })
}

/// The outcome of one attempt.
pub(crate) enum AttemptOutcome<S: State> {
    Returned(Command<S>),
    Interrupted(Interrupted),
    Failed(NodeError),
    Stopped(Stop),
}
