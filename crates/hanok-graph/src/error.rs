//! Why a graph could not be built, or a run could not go on.

use std::{fmt, sync::Arc};

use hanok_checkpoint::{CheckpointError, Holder};
use hanok_core::{BoxError, Namespace, RequestId, StoredError, ThreadKey};
use hanok_state::ReduceError;
use thiserror::Error;

use crate::Pending;

/// The faults of a graph, all at once.
#[derive(Debug, Error)]
pub struct BuildError {
    /// The graph.
    pub graph: String,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph `{}` cannot be built", self.graph)?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n- {fault}"))
    }
}

/// One fault of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// No way leads from [`START`](crate::START).
    #[error("nothing says where to begin: add `.edge(START, \"…\")`")]
    NoStart,
    /// A way names a node that is not there.
    #[error("{way} `{from}` -> `{to}`: no node `{node}`; there are {}", listed(known))]
    UnknownNode {
        /// `edge`, `branch`, `goto` or `join`.
        way: &'static str,
        /// Where the way begins.
        from: String,
        /// Where it leads.
        to: String,
        /// The one that is not there.
        node: String,
        /// The nodes that are.
        known: Vec<String>,
    },
    /// Two nodes have one name.
    #[error("two nodes are named `{node}`")]
    TwiceNamed {
        /// The name.
        node: String,
    },
    /// A node's name is START's or END's, empty, too long, or holds a control character.
    #[error("a node cannot be named {node:?}")]
    BadName {
        /// The name.
        node: String,
    },
    /// The program aborts when something panics.
    #[error(
        "this program aborts on a panic, so a node that panics would end it: build it with `panic = \"unwind\"`, or say `.allow_abort()`"
    )]
    Aborts,
    /// No path leads to a node.
    #[error("no path leads to `{node}`")]
    Unreachable {
        /// The node.
        node: String,
    },
    /// No way leads out of a node.
    #[error(
        "no way leads out of `{node}`: add `.edge(\"{node}\", END)`, a branch, or `.goto(…)` for its commands"
    )]
    DeadEnd {
        /// The node.
        node: String,
    },
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Why a task failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The node returned an error.
    #[error(transparent)]
    Failed(BoxError),
    /// The node panicked.
    #[error("it panicked: {0}")]
    Panicked(String),
    /// The router of one of its branches failed.
    #[error("the router of a branch failed")]
    Router(#[source] BoxError),
    /// It goes on to a node that it did not declare, or that is not there.
    #[error("it goes on to `{target}`; declared are {}", listed(declared))]
    UnknownTarget {
        /// Where it wanted to go.
        target: String,
        /// Where it may go.
        declared: Vec<String>,
    },
    /// What it wrote, or the input of a `Send`, cannot be stored.
    #[error("what it wrote cannot be stored")]
    Stored(#[from] StoredError),
    /// Its update cannot be applied to the state that its router is to see.
    #[error(transparent)]
    Reduce(#[from] ReduceError),
    /// The task was lost: there is no runtime to run it on.
    #[error("its task was lost: a super-step with several tasks needs a tokio runtime")]
    Lost,
    /// The store failed while the task ran.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// Why a run could not go on. What was committed stays; the thread can be resumed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// A node failed.
    #[error("node `{node}` failed in super-step {step}{}", within(namespace))]
    Node {
        /// The node.
        node: Arc<str>,
        /// The super-step, counted from 0 in its turn.
        step: u32,
        /// Whose node it is.
        namespace: Namespace,
        /// Why.
        #[source]
        source: NodeError,
    },
    /// What the nodes of a super-step wrote could not be merged.
    #[error("super-step {step} could not be committed{}", within(namespace))]
    Reduce {
        /// The super-step.
        step: u32,
        /// Whose it is.
        namespace: Namespace,
        /// Why.
        #[source]
        source: ReduceError,
    },
    /// A reducer panicked.
    #[error("a reducer panicked in super-step {step}: {message}")]
    ReducerPanicked {
        /// The super-step.
        step: u32,
        /// What it said.
        message: String,
    },
    /// Another run owns the thread. Nothing was run and nothing stored: try again later.
    #[error("thread `{thread}` is in use{}; try again later", by(holder))]
    Conflict {
        /// The thread.
        thread: ThreadKey,
        /// Who owns it, if that is known.
        holder: Option<Box<Holder>>,
    },
    /// The store failed.
    #[error("the thread's log could not be read or written")]
    Checkpoint(#[source] CheckpointError),
    /// The thread waits for answers; a new input is refused.
    #[error("thread `{thread}` waits for an answer to {}", asked(requests))]
    Waiting {
        /// The thread.
        thread: ThreadKey,
        /// The questions.
        requests: Vec<Pending>,
    },
    /// An answer names a request that is not open.
    #[error("there is no open request `{0}`; it may have been answered already")]
    NoSuchRequest(RequestId),
    /// There is nothing to go on with.
    #[error("thread `{0}` does not exist")]
    NoSuchThread(ThreadKey),
    /// The graph has changed: what is due is not there any more.
    #[error("the graph has changed: {} due and not there any more", listed(missing))]
    GraphChanged {
        /// The nodes that are due and missing.
        missing: Vec<String>,
    },
    /// The state was written by a newer version of its type.
    #[error(
        "the state was stored in version {found} of its type, and this build has version {supported}"
    )]
    SchemaTooNew {
        /// The version that was found.
        found: u32,
        /// This build's.
        supported: u32,
    },
    /// The stored state has another shape than the type.
    #[error("the stored state cannot be read")]
    State(#[source] BoxError),
}

fn within(namespace: &Namespace) -> String {
    if namespace.is_root() { String::new() } else { format!(" of `{namespace}`") }
}

fn by(holder: &Option<Box<Holder>>) -> String {
    holder.as_ref().map(|holder| format!(" by {holder}")).unwrap_or_default()
}

fn asked(requests: &[Pending]) -> String {
    requests.iter().map(|request| format!("`{}`", request.id)).collect::<Vec<_>>().join(", ")
}

impl From<CheckpointError> for RunError {
    fn from(error: CheckpointError) -> Self {
        match error {
            CheckpointError::Conflict { thread, .. } | CheckpointError::Fenced { thread, .. } => {
                Self::Conflict { thread, holder: None }
            }
            error => Self::Checkpoint(error),
        }
    }
}
