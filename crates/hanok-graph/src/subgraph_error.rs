//! The reason why a subgraph has no outcome.

use std::time::Duration;

use hanok_checkpoint::CheckpointError;
use hanok_core::{AskError, InvalidName};
use thiserror::Error;

use crate::{error::RunError, node_error::find_cause};

/// The deepest nesting of graphs that call each other.
pub(crate) const DEEPEST: usize = 16;

/// The reason why a subgraph has no outcome. Return it with `?`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SubgraphError {
    /// A person is asked in the subgraph. The run ends here, and the answer resumes it.
    #[error("{0}")]
    Waiting(#[source] AskError),
    /// The subgraph stopped with the run. A resume continues it.
    #[error("subgraph `{graph}` has stopped with its run")]
    Stopped {
        /// The subgraph.
        graph: String,
    },
    /// The subgraph has ended with a [command](crate::Command::parent) that the calling node returns.
    #[error("subgraph `{graph}` has given its caller a command")]
    Commanded {
        /// The subgraph.
        graph: String,
    },
    /// The subgraph could not go on.
    #[error("subgraph `{graph}` could not go on")]
    Run {
        /// The subgraph.
        graph: String,
        /// The cause.
        #[source]
        source: Box<RunError>,
    },
    /// Too many graphs call each other.
    #[error("subgraph `{graph}` would be more than {DEEPEST} graphs deep")]
    TooDeep {
        /// The subgraph.
        graph: String,
    },
    /// Two tasks call one subgraph whose state outlives the call, at the same time.
    #[error(
        "subgraph `{graph}` keeps its state for the thread, and another task of the node runs it"
    )]
    Busy {
        /// The subgraph.
        graph: String,
    },
    /// The node's name is too long to be part of a namespace.
    #[error("a namespace for subgraph `{graph}` cannot be made")]
    Name {
        /// The subgraph.
        graph: String,
        /// The cause.
        #[source]
        source: InvalidName,
    },
    /// One task runs two graphs under one name in one attempt.
    #[error(
        "the task runs two graphs by the name `{name}`: give each run of a task a name of its own"
    )]
    Twice {
        /// The subgraph.
        graph: String,
        /// The name.
        name: String,
    },
    /// The call that ran the graph was asked to stop. What the graph has stored stays until the call's task is over.
    #[error("the call that runs graph `{graph}` was asked to stop")]
    Cancelled {
        /// The graph.
        graph: String,
    },
    /// The time of the call that ran the graph was over before the graph came to its end.
    #[error("graph `{graph}` did not end within {after:?}, the time of the call that runs it")]
    TimedOut {
        /// The graph.
        graph: String,
        /// The time that it had.
        after: Duration,
    },
}

impl SubgraphError {
    /// True for a graph that the store let down: its run, and the one that called it, cannot go on. It is no failure that the caller can
    /// do without.
    pub fn is_of_store(&self) -> bool {
        matches!(self, Self::Run { .. }) && find_cause::<CheckpointError>(self).is_some()
    }

    /// True for a graph that has not failed: it waits for a person, stops with its run, or has given its caller a command. The
    /// task ends with that, whatever its node makes of the error, and goes on within the graph when the run does.
    pub fn suspends(&self) -> bool {
        matches!(self, Self::Waiting(_) | Self::Stopped { .. } | Self::Commanded { .. })
    }
}
