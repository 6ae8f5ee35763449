//! What is to be done with a run that is not driven any more.

use std::time::Duration;

use hanok_checkpoint::{CheckpointError, End, RunEnd};
use hanok_graph::{AnyState, FoundRun, Limit, Outcome, RunError};

use crate::rows::{request::Request, run::Ended};

/// What is to be done with a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// It has ended so.
    Ended(Ended),
    /// Nobody drives it, and it can go on.
    Goes,
    /// It is left as it is, and looked at again later.
    Left,
}

/// The end that a run's caller is told.
pub(crate) fn of_outcome(outcome: &Outcome<AnyState>) -> Verdict {
    let end = match outcome {
        Outcome::Done(_) => RunEnd::Done,
        Outcome::Interrupted(_) => RunEnd::Interrupted,
        Outcome::InDoubt(_) => RunEnd::InDoubt,
        Outcome::Breakpoint(_) => RunEnd::Breakpoint,
        Outcome::LimitReached { which, .. } => {
            let out_of_time = matches!(which, Limit::Time(_));
            let detail = format!("the turn reached its limit of {which}");
            return Verdict::Ended(Ended { detail, out_of_time, ..Ended::of(RunEnd::Limit) });
        }
        Outcome::Poisoned(_) => RunEnd::Poisoned,
        Outcome::Cancelled(_) | Outcome::Drained(_) => return Verdict::Goes,
        _ => return Verdict::Left,
    };
    Verdict::Ended(Ended::of(end))
}

/// What the log says of a run, for one that was asked for by `request`.
pub(crate) fn of_log(found: Option<FoundRun>, request: &Request) -> Verdict {
    let Some(found) = found else { return Verdict::Goes };
    match found.end {
        Some(end) if goes_on(&end) && found.is_newest => Verdict::Goes,
        Some(end) => Verdict::Ended(of_end(end, request)),
        None if found.is_newest => Verdict::Goes,
        // Another turn has begun in its place.
        None => Verdict::Ended(Ended::of(RunEnd::Cancelled)),
    }
}

/// True for an end that nobody asked for: that of a process which was shut down.
fn goes_on(end: &End) -> bool {
    match end.outcome {
        RunEnd::Drained => true,
        RunEnd::Cancelled => end.by.is_none(),
        _ => false,
    }
}

fn of_end(end: End, request: &Request) -> Ended {
    let most = request.options.budget.and_then(|budget| budget.time);
    let spent = Duration::from_millis(end.spent.millis);
    let out_of_time = end.outcome == RunEnd::Limit && most.is_some_and(|most| spent >= most);
    Ended { code: end.code, detail: end.detail, out_of_time, ..Ended::of(end.outcome) }
}

/// True for an error after which a run may go well when it is tried again.
pub(crate) fn is_passing(error: &RunError) -> bool {
    match error {
        RunError::Conflict { .. } | RunError::Superseded { .. } => true,
        // The log has the run, though what was read of it did not.
        RunError::PastRun { .. } => true,
        RunError::Checkpoint(
            CheckpointError::Conflict { .. }
            | CheckpointError::Fenced { .. }
            | CheckpointError::OtherLife { .. },
        ) => true,
        error => error.status() == 503,
    }
}
