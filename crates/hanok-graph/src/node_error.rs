//! The reasons why a task cannot go on.

use std::{error::Error as StdError, time::Duration};

use hanok_checkpoint::CheckpointError;
use hanok_core::{BoxError, Chain, StoredError};
use hanok_state::ReduceError;
use thiserror::Error;

use crate::names::{declare, written};

/// The reason why a task failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The node returned an error.
    #[error("{0}")]
    Failed(#[source] BoxError),
    /// The node has an async router, and an edit that stands for the node has no run in which it could wait.
    #[error(
        "`{node}` has an async router, which runs in runs alone: edit the state, and begin the next turn where it is to \
         go on with `Input::goto`"
    )]
    RouterWaits {
        /// The node.
        node: String,
    },
    /// The node panicked.
    #[error("it panicked: {0}")]
    Panicked(String),
    /// The router of one of its branches failed.
    #[error("the router of a branch failed")]
    Router(#[source] BoxError),
    /// The node has a target that it did not declare, or that does not exist.
    #[error("it goes on to {}; declared are {}", written(target), declare(target, declared))]
    UnknownTarget {
        /// The target.
        target: String,
        /// The declared targets.
        declared: Vec<String>,
    },
    /// The attempt exceeded its time limit.
    #[error("it took longer than {after:?}, its time-out")]
    TimedOut {
        /// The limit.
        after: Duration,
    },
    /// The attempt gave no sign of life for longer than its idle time-out.
    #[error("it gave no sign of life for {after:?}")]
    Idle {
        /// The idle time-out.
        after: Duration,
    },
    /// The node sends an input of one type to a node that takes another.
    #[error("it sends a `{sent}` to `{target}`, which takes a `{takes}`")]
    WrongInput {
        /// The node.
        target: String,
        /// The type that the target takes.
        takes: &'static str,
        /// The type of the input.
        sent: &'static str,
    },
    /// A node that runs for [`SendTo`](crate::SendTo)s alone was scheduled without an input.
    #[error("`{node}` takes an input of its own, so only a `SendTo` can lead there")]
    NoInput {
        /// The node.
        node: String,
    },
    /// The node commands a parent graph, and its graph is not a subgraph here.
    #[error("it commands a parent, and this graph is not a subgraph here")]
    NoParent,
    /// A subgraph's command writes a field that the state of the calling graph does not have.
    #[error("its subgraph's command writes `{field}`, which this graph's state has not")]
    ForeignUpdate {
        /// The field.
        field: String,
    },
    /// The error handler failed.
    #[error("its error handler failed, after it had failed itself with: {failure}")]
    Handler {
        /// The failure of the node, as text.
        failure: String,
        /// The failure of the handler.
        #[source]
        source: Box<NodeError>,
    },
    /// The update, or the input of a `SendTo`, cannot be stored.
    #[error("what it wrote cannot be stored")]
    Stored(#[from] StoredError),
    /// The update cannot be applied to the state for the node's router.
    #[error("{0}")]
    Reduce(#[from] ReduceError),
    /// The task was lost, because there is no runtime to run it on.
    #[error("its task was lost: a super-step with several tasks needs a tokio runtime")]
    Lost,
    /// The store failed while the task ran.
    #[error("{0}")]
    Checkpoint(#[from] CheckpointError),
}

/// The error of this type in `error` and its causes.
pub(crate) fn find_cause<'a, E: StdError + 'static>(
    error: &'a (dyn StdError + 'static),
) -> Option<&'a E> {
    Chain(error).causes().find_map(|error| error.downcast_ref::<E>())
}
