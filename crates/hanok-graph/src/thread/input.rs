//! What a run is to do with its thread.

use hanok_core::{RequestId, Stored};
use serde::Serialize;

use crate::error::RunError;
use hanok_state::State;

/// What a run is to do.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Input<S: State> {
    /// Begins a turn with this update. A turn that a lost run left is finished first.
    New(S::Update),
    /// Goes on with what is due: after a crash, an error, a limit, a breakpoint or a cancellation.
    Resume,
    /// Goes on with answers to some of the open requests: to all of these, or, if one cannot be given, to none. Tasks that
    /// still wait are not started.
    Answers(Vec<(RequestId, Stored)>),
    /// Goes on with the answer to the one request that is open.
    Reply(Stored),
}

/// What becomes of a new input for a thread that runs, or whose turn is not over because it waits for a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum NewInput {
    /// It is refused: [`RunError::Conflict`] or [`RunError::Unfinished`].
    #[default]
    Reject,
    /// It waits until the turn is over: first come, first served within a process, and by looking again between
    /// processes. An input that waits is lost with its process.
    Queue,
    /// It takes the turn's place: a run is cancelled, wherever it runs; what it committed stays, what was due is over, and
    /// the new turn begins at [`START`](crate::START).
    Replace,
}

impl<S: State> Input<S> {
    /// Goes on with `answer` to the request `id`.
    ///
    /// # Errors
    ///
    /// [`RunError::State`] when the answer cannot be stored.
    pub fn answer(id: RequestId, answer: &(impl Serialize + ?Sized)) -> Result<Self, RunError> {
        Ok(Self::Answers(vec![(id, stored(answer)?)]))
    }

    /// Goes on with `answer` to the one request that is open.
    ///
    /// # Errors
    ///
    /// [`RunError::State`] when the answer cannot be stored.
    pub fn reply(answer: &(impl Serialize + ?Sized)) -> Result<Self, RunError> {
        Ok(Self::Reply(stored(answer)?))
    }
}

fn stored(answer: &(impl Serialize + ?Sized)) -> Result<Stored, RunError> {
    Stored::encode(answer).map_err(|error| RunError::State(error.into()))
}
