//! The claim of a run on its thread: the error of a run that does not get it, and its release.

use std::borrow::Borrow;

use hanok_checkpoint::{Body, CheckpointError, Checkpointer, End, Labels, Log, RunEnd, Status};
use hanok_core::{Answerer, Chain, Namespace};
use hanok_state::State;

use crate::{
    error::RunError,
    journal::append::ClaimAfter,
    observe::{event::EventKind, sink::end_of},
    outcome::Outcome,
    run::{graph_run::GraphRun, run_state::RunState},
    thread::active::Active,
};

/// The error of a refused append, with the holder of the thread's claim if it can be read.
pub(crate) async fn conflict_holder(log: &Log, error: CheckpointError) -> RunError {
    let conflict = matches!(
        error,
        CheckpointError::Conflict { .. }
            | CheckpointError::Fenced { .. }
            | CheckpointError::OtherLife { .. }
    );
    let head = if conflict { log.store().head(log.thread()).await.ok().flatten() } else { None };
    match head.and_then(|head| head.claim) {
        Some(claim) => {
            let holder = Some(Box::new(claim.holder));
            RunError::Conflict { thread: log.thread().clone(), holder }
        }
        None => error.into(),
    }
}

/// The end of a run, with the requests that stopped it from outside.
pub(crate) struct Ending<'a, S: State, C> {
    pub(crate) run: &'a GraphRun<S, C>,
    pub(crate) state: &'a RunState<S>,
    pub(crate) log: &'a Log,
    /// The run's place in this process.
    pub(crate) active: &'a Active,
    /// True if the heartbeat found the claim lost.
    pub(crate) lost: bool,
}

impl<S: State, C: Send + Sync + 'static> Ending<'_, S, C> {
    /// Writes the run's end into the log and releases the thread. A run that is done has written its end with its last
    /// commit.
    pub(crate) async fn give_back(
        &self,
        outcome: Result<Outcome<S>, RunError>,
    ) -> Result<Outcome<S>, RunError> {
        let journal = &self.run.env.journal;
        let spent = self.run.env.unreported();
        // A claim that was given back is not lost, even if the last heartbeat comes too late to be taken.
        if (self.lost || journal.is_lost()) && !journal.is_released() {
            let error = self.superseded().await;
            self.run.emit(self.state, None, None, self.ended(Err(&error)));
            return Err(error);
        }
        if let Err(RunError::Checkpoint(_)) = outcome {
            self.run.emit(self.state, None, None, self.ended(outcome.as_ref()));
            return outcome;
        }
        // The last commit has ended the run and given the thread back in one append.
        if journal.is_released() {
            return outcome;
        }
        let (name, detail) = match &outcome {
            Ok(outcome) => (outcome.name(), String::new()),
            Err(error) => (RunEnd::Failed, Chain(error).to_string()),
        };
        self.relabel(name.clone(), &outcome).await;
        let code = outcome.as_ref().err().map(|error| error.code().to_owned());
        let by = self.cancelled_by(&outcome);
        let body = Body::End(End { code, by, ..self.run.end(name, &detail, spent) });
        let ended = self.ended(outcome.as_ref());
        let report = |at| self.run.emit(self.state, None, Some(at), ended);
        let now = self.run.env.runtime.clock.now();
        let entries = vec![(Namespace::root(), body)];
        match (journal.append_then(now, entries, ClaimAfter::Released, report).await, outcome) {
            // In this process, too, it is not its own caller who has cancelled it.
            (Ok(_), Ok(Outcome::Cancelled(_))) if self.active.stop.is_cancelled() => {
                Err(self.superseded().await)
            }
            (Ok(_), outcome) => outcome,
            (Err(_), _) if journal.is_lost() => Err(self.superseded().await),
            (Err(error), Ok(_)) => Err(error.into()),
            // What went wrong first is what matters.
            (Err(_), Err(error)) => Err(error),
        }
    }

    fn ended(&self, outcome: Result<&Outcome<S>, &RunError>) -> EventKind {
        end_of(outcome, self.run.env.turn(), self.cancelled_by(&outcome))
    }

    /// Whoever has cancelled a run that ended by it, if they are known.
    fn cancelled_by<O: Borrow<Outcome<S>>, E>(&self, outcome: &Result<O, E>) -> Option<Answerer> {
        let is_cancelled =
            outcome.as_ref().is_ok_and(|it| matches!(it.borrow(), Outcome::Cancelled(_)));
        is_cancelled.then(|| self.active.cancelled_by.get().cloned()).flatten()
    }

    /// Labels the thread by how the run ended and by who waits, whether it ended with that or beside it.
    async fn relabel(&self, end: RunEnd, outcome: &Result<Outcome<S>, RunError>) {
        let journal = &self.run.env.journal;
        let waits = match outcome {
            Ok(Outcome::Done(_)) => Some((0, None)),
            Ok(Outcome::Interrupted(waiting) | Outcome::InDoubt(waiting)) => {
                let deadlines = waiting.iter().filter_map(|request| request.deadline);
                Some((waiting.len(), deadlines.min()))
            }
            // Of a run that was stopped its own graph is known.
            Ok(_) => {
                let open: Vec<_> = self.state.records.open_questions().collect();
                let deadlines = open.iter().filter_map(|question| question.deadline);
                Some((open.len() + self.run.doubts(self.state).len(), deadlines.min()))
            }
            // A store that does not say now is no reason to end otherwise.
            Err(_) => journal.fold().await.ok().flatten().map(|fold| {
                let Labels { requests, deadline, .. } = Labels::of(&fold);
                (requests, deadline)
            }),
        };
        journal.relabel(|before| {
            let (requests, deadline) = waits.unwrap_or((before.requests, before.deadline));
            Labels { graph: before.graph.clone(), status: Status::Ended(end), requests, deadline }
        });
    }

    /// The error of a run that has lost its thread after it had begun.
    async fn superseded(&self) -> RunError {
        let stored = self.run.env.journal.stored();
        // The holder is told if it can be: that the thread is lost is certain already.
        let head = self.log.store().head(self.log.thread()).await.ok().flatten();
        let claim = head.and_then(|head| head.claim);
        let holder = claim.map(|claim| Box::new(claim.holder));
        RunError::Superseded { thread: self.log.thread().clone(), stored, holder }
    }
}
