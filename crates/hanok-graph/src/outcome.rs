//! How a run ends when nothing went wrong.

use hanok_core::{RequestId, Stored, StoredError};
use serde::de::DeserializeOwned;
use thiserror::Error;

/// How a run ended. Only `Done` is an end; the others can be resumed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outcome<S> {
    /// Nothing is left to do.
    Done(S),
    /// A person is asked; the run goes on with the answer.
    Interrupted(Vec<Pending>),
    /// A limit of the turn was reached. The state is what was committed; resume with a higher limit, or say something new.
    LimitReached {
        /// Which limit.
        which: Limit,
        /// The state so far.
        state: S,
    },
    /// It was asked to stop. What was committed stays.
    Cancelled,
}

/// A limit of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Limit {
    /// So many super-steps.
    #[error("{0} super-steps")]
    Steps(u32),
}

/// A request that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// Names it, for the answer.
    pub id: RequestId,
    /// The node that asks.
    pub node: String,
    /// What it shows.
    pub payload: Stored,
}

impl Pending {
    /// What the request shows, as a `T`.
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it has another shape.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, StoredError> {
        self.payload.decode()
    }
}

/// A run that ended otherwise than done, for callers that expect nothing else.
#[derive(Debug, Clone, Error)]
#[non_exhaustive]
pub enum Unfinished {
    /// A person is asked.
    #[error("the run waits for {} answers", .0.len())]
    Interrupted(Vec<Pending>),
    /// A limit was reached.
    #[error("the turn reached its limit of {0}")]
    LimitReached(Limit),
    /// It was asked to stop.
    #[error("the run was cancelled")]
    Cancelled,
}

impl<S> Outcome<S> {
    /// The final state.
    ///
    /// # Errors
    ///
    /// [`Unfinished`] when the run ended otherwise.
    pub fn done(self) -> Result<S, Unfinished> {
        match self {
            Self::Done(state) => Ok(state),
            Self::Interrupted(requests) => Err(Unfinished::Interrupted(requests)),
            Self::LimitReached { which, .. } => Err(Unfinished::LimitReached(which)),
            Self::Cancelled => Err(Unfinished::Cancelled),
        }
    }

    /// The outcome's name as a log says it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Interrupted(_) => "interrupted",
            Self::LimitReached { .. } => "limit",
            Self::Cancelled => "cancelled",
        }
    }
}
