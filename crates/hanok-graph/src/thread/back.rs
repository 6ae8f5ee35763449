//! Going back: a thread as it was at an earlier position, from which an append goes on.

use hanok_checkpoint::{Body, CheckpointError, Entry, Head, Log, OpenLog, Rewind};
use hanok_core::{Answerer, Namespace, Position, Timestamp};

use crate::error::RunError;

/// The entry with which a thread goes back.
pub(crate) struct WentBack {
    /// The position that it follows.
    pub(crate) to: Position,
    pub(crate) now: Timestamp,
    pub(crate) entry: (Namespace, Body),
}

/// The thread that is at `head` as it is once it has gone back to `to`, in the name of `by`, and the entry that says so.
pub(crate) async fn go_back(
    log: &Log,
    head: &Head,
    to: Position,
    by: Option<Answerer>,
    now: Timestamp,
) -> Result<(OpenLog, WentBack), RunError> {
    let thread = log.thread().clone();
    let opened = match to {
        Position::START => None,
        to => log.open(Some(to)).await.map_err(RunError::Checkpoint)?,
    };
    let Some(mut opened) = opened else {
        let (position, end) = (to, head.position);
        return Err(CheckpointError::NoSuchPosition { thread, position, end }.into());
    };
    let place = |head: &Head| (head.life, head.position, head.epoch);
    // Whoever has moved the thread meanwhile was first.
    if place(&opened.head) != place(head) {
        return Err(RunError::Conflict { thread, holder: None });
    }
    let rewind = Body::Rewind(Rewind { by });
    let entry = Entry { at: now, namespace: Namespace::root(), body: rewind };
    let applied = opened.fold.apply(opened.head.position.next(), &entry);
    applied.map_err(|error| RunError::State(error.into()))?;
    let entry = (entry.namespace, entry.body);
    Ok((opened, WentBack { to, now, entry }))
}
