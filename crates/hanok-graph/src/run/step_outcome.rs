//! The outcome of a super-step.

use crate::{
    error::{NodeError, RunError, state_error},
    node::{attempt::Stop, question::UnfitAnswer},
    outcome::Pending,
    run::task_outcome::{Done, TaskOutcome},
};
use hanok_checkpoint::{Question, TaskWrite};
use hanok_core::Position;
use hanok_state::{State, StateUpdate};

/// The outcome of a super-step, task by task.
pub(crate) struct StepOutcome<U: StateUpdate> {
    /// The tasks that are done, by index.
    pub(crate) done: Vec<Option<Done<U>>>,
    /// The questions of tasks, with the index of each task.
    pub(crate) questions: Vec<(usize, Vec<Question>)>,
    pub(crate) unfit: Vec<UnfitAnswer>,
    pub(crate) waiting: Vec<Pending>,
    pub(crate) failed: Option<(usize, NodeError)>,
    pub(crate) stopped: Option<Stop>,
}

impl<U: StateUpdate> StepOutcome<U> {
    /// The outcome of this many tasks before any of them has ended.
    pub(crate) fn of(tasks: usize) -> Self {
        Self {
            done: (0..tasks).map(|_| None).collect(),
            questions: Vec::new(),
            unfit: Vec::new(),
            waiting: Vec::new(),
            failed: None,
            stopped: None,
        }
    }

    pub(crate) fn done(&mut self, index: usize, done: Done<U>) {
        if let Some(place) = self.done.get_mut(index) {
            *place = Some(done);
        }
    }

    pub(crate) fn add(&mut self, index: usize, ended: TaskOutcome<U>) {
        match ended {
            TaskOutcome::Done(done) => self.done(index, done),
            TaskOutcome::Interrupted(asked) => {
                if !asked.questions.is_empty() {
                    self.questions.push((index, asked.questions));
                }
                self.unfit.extend(asked.unfit);
                self.waiting.extend(asked.below);
            }
            TaskOutcome::Failed(error) => {
                // The first in task order, not in time.
                if self.failed.as_ref().is_none_or(|(first, _)| index < *first) {
                    self.failed = Some((index, error));
                }
            }
            TaskOutcome::Stopped(stop) => {
                // Being asked to stop is what the caller wanted; anything else they have to be told.
                match (&self.stopped, &stop) {
                    (Some(_), Stop::Cancelled) => {}
                    _ => self.stopped = Some(stop),
                }
            }
        }
    }

    /// True if a task has no outcome at all.
    pub(crate) fn is_missing(&self, index: usize) -> bool {
        let asks = !(self.questions.is_empty() && self.unfit.is_empty() && self.waiting.is_empty());
        let nothing_else = !asks && self.stopped.is_none();
        nothing_else && self.failed.is_none() && self.done.get(index).is_none_or(Option::is_none)
    }
}

pub(crate) fn stored_done<S: State>(
    state: &S,
    position: Position,
    write: &TaskWrite,
) -> Result<Done<S::Update>, RunError> {
    let mut update = S::Update::from_changes(&write.changes).map_err(state_error)?;
    state.bind(&write.node, &mut update).map_err(|error| RunError::State(error.into()))?;
    Ok(Done {
        update: Box::new(update),
        goto: write.goto.clone(),
        spent: write.spent,
        position: Some(position),
        attempt: 1,
        outbox: write.outbox.clone(),
        ahead: None,
    })
}
