//! Taking an answer back.

use hanok_checkpoint::{Body, Reopen, Tip};
use hanok_core::{Position, RequestId};
use hanok_state::State;

use crate::{error::RunError, run::answer::why_not, thread::handle::Thread};

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// Takes the answer to `question` back, between runs: the question is open again, and its task runs again once there is
    /// another answer. What the task did before it asked stays done. Returns where the log says so.
    ///
    /// # Errors
    ///
    /// [`RunError::NoSuchRequest`] for a question that never was; [`RunError::Stale`] for one that has no answer to be taken
    /// back, because it is open or because its task is done; [`RunError::Conflict`] while a run owns the thread, or when
    /// someone else wrote first; [`RunError::NoSuchThread`].
    pub async fn reopen(&self, question: &RequestId) -> Result<Position, RunError> {
        let log = self.log();
        self.app.release_dead(&log).await?;
        let opened = log.open(None).await.map_err(RunError::Checkpoint)?;
        let Some(opened) = opened else {
            return Err(RunError::NoSuchThread(self.key().clone()));
        };
        let id = &*question.0;
        let answered = opened.fold.runs.iter().find(|(_, run)| {
            let of_task = run.records.questions.iter().find(|question| question.id == id);
            let is_due =
                of_task.is_some_and(|question| !run.records.written().contains(&question.task));
            is_due && run.records.answers.contains_key(id)
        });
        let Some((path, _)) = answered else {
            return Err(match why_not(&log, question.clone()).await? {
                RunError::AlreadyAnswered(id) => RunError::Stale(id),
                error => error,
            });
        };
        let again = Reopen { id: id.to_owned(), reason: "it was taken back".to_owned() };
        let entries = vec![(path.clone(), Body::Reopen(again))];
        self.append(Tip::of(&opened.head), opened.fold, entries).await
    }
}
