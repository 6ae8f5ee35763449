//! Why a graph could not be built, or a run could not go on.

use std::{any::Any, fmt, sync::Arc, time::Duration};

use hanok_checkpoint::{CheckpointError, Holder};
use hanok_core::{
    BoxError, Namespace, Position, RequestId, Stored, StoredError, ThreadKey, Timestamp,
};
use hanok_state::{NewerVersion, ReduceError};
use thiserror::Error;

use crate::outcome::{Pending, Unfinished};

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
    #[error("{kind} `{from}` -> `{to}`: no node `{node}`; there are {}", listed(nodes))]
    UnknownNode {
        /// `edge`, `branch`, `goto` or `join`.
        kind: &'static str,
        /// Where the way begins.
        from: String,
        /// Where it leads.
        to: String,
        /// The one that is not there.
        node: String,
        /// The nodes that are.
        nodes: Vec<String>,
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
    /// A declaration names a node that is not there.
    #[error("{what}: no node `{node}`; there are {}", listed(nodes))]
    NoSuchNode {
        /// What names it: `retry`, `timeout`, `breakpoint`, …
        what: &'static str,
        /// The one that is not there.
        node: String,
        /// The nodes that are.
        nodes: Vec<String>,
    },
    /// A node is said to be gone, and is there.
    #[error("{what}: the graph has a node `{node}`")]
    StillThere {
        /// `renamed` or `removed`.
        what: &'static str,
        /// The node.
        node: String,
    },
    /// The input or output of the graph names a field that the state has not.
    #[error("{what}: the state has no field `{field}`; there are {}", listed(fields))]
    NoSuchField {
        /// `input` or `output`.
        what: &'static str,
        /// The one that is not there.
        field: String,
        /// The fields that are.
        fields: Vec<String>,
    },
    /// A node that takes an input of its own is the target of a way that gives none.
    #[error(
        "{kind} `{from}` -> `{to}`: `{to}` takes an input of its own, so only a `SendTo` can lead there"
    )]
    NeedsSend {
        /// `edge` or `join`.
        kind: &'static str,
        /// Where the way begins.
        from: String,
        /// Where it leads.
        to: String,
    },
    /// Branches of different length meet in a node that waits for none of them.
    #[error(
        "`{node}` would run once for each branch from `{fork}`, which are of different length: `{short}` comes first, `{long}` later; join them with `.join([\"{short}\", \"{long}\"], \"{node}\")`, or compose `.defer()` or `.allow(Lint::UnequalFanIn)` on `{node}`"
    )]
    UnequalFanIn {
        /// Where they meet.
        node: String,
        /// Where they part.
        fork: String,
        /// The node before it on the shorter branch.
        short: String,
        /// The node before it on the longer one.
        long: String,
    },
    /// No path leads to a node. [`Lint::Unreachable`] allows it.
    #[error("no path leads to `{node}`")]
    Unreachable {
        /// The node.
        node: String,
    },
    /// No way leads out of a node. [`Lint::DeadEnd`] allows it.
    #[error(
        "no way leads out of `{node}`: add `.edge(\"{node}\", END)`, a branch, or compose `.goto(…)` on it for its commands"
    )]
    DeadEnd {
        /// The node.
        node: String,
    },
}

/// A fault that a graph may be allowed to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Lint {
    /// [`Fault::Unreachable`].
    Unreachable,
    /// [`Fault::DeadEnd`].
    DeadEnd,
    /// [`Fault::UnequalFanIn`].
    UnequalFanIn,
}

pub(crate) fn listed(names: &[String]) -> String {
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
    /// It took longer than it may.
    #[error("it took longer than {after:?}")]
    TimedOut {
        /// How long it may take.
        after: Duration,
    },
    /// It was silent for longer than it may be.
    #[error("it gave no sign of life for {after:?}")]
    Idle {
        /// How long it may be silent.
        after: Duration,
    },
    /// It sends an input of one type to a node that takes another.
    #[error("it sends a `{sent}` to `{target}`, which takes a `{takes}`")]
    WrongInput {
        /// The node.
        target: String,
        /// What it takes.
        takes: &'static str,
        /// What was sent.
        sent: &'static str,
    },
    /// A node that takes an input of its own was scheduled without one.
    #[error("`{node}` takes an input of its own, so only a `SendTo` can lead there")]
    NoInput {
        /// The node.
        node: String,
    },
    /// It commands the graph that called this one, and nobody called this one.
    #[error("it commands a parent, and this graph is not a subgraph here")]
    NoParent,
    /// A subgraph commands what the state of the graph that called it cannot take.
    #[error("its subgraph's command writes `{field}`, which this graph's state has not")]
    ForeignUpdate {
        /// The field.
        field: String,
    },
    /// Its error handler failed.
    #[error("its error handler failed, after it had failed itself with: {failure}")]
    Handler {
        /// Why the node failed.
        failure: String,
        /// Why the handler failed.
        #[source]
        source: Box<NodeError>,
    },
    /// What it wrote, or the input of a `SendTo`, cannot be stored.
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
    /// More tasks are due than a super-step may have. Nothing of this super-step was applied.
    #[error(
        "super-step {step} schedules {tasks} tasks, and at most {limit} may run at once{}",
        within(namespace)
    )]
    TooWide {
        /// The super-step that schedules them.
        step: u32,
        /// How many.
        tasks: usize,
        /// How many there may be.
        limit: usize,
        /// Whose it is.
        namespace: Namespace,
    },
    /// An input writes a field that is not the graph's input. Nothing was stored.
    #[error("the input writes `{field}`; the graph's input is {}", listed(allowed))]
    Input {
        /// The field.
        field: String,
        /// What an input may write.
        allowed: Vec<String>,
    },
    /// An observed run was lost: there is no runtime to run it on, or the runtime is gone.
    #[error("the run was lost: an observed run needs a tokio runtime")]
    Lost,
    /// The app is shutting down: no run begins.
    #[error("the app is shutting down")]
    ShuttingDown,
    /// Another run owns the thread. Nothing of the input was run and nothing of it stored: try again later.
    #[error("thread `{thread}` is in use{}; try again later", by(holder))]
    Conflict {
        /// The thread.
        thread: ThreadKey,
        /// Who owns it, if that is known.
        holder: Option<Box<Holder>>,
    },
    /// The run had begun, and another one took the thread from it: a replacing input, or a takeover. Its input and what it
    /// committed stay in the thread, so the input is not to be sent again.
    #[error(
        "the run was superseded{}; thread `{thread}` keeps what it stored, up to {stored}",
        by(holder)
    )]
    Superseded {
        /// The thread.
        thread: ThreadKey,
        /// The last position at which something of the run is known to be stored.
        stored: Position,
        /// Who owns the thread now, if anyone does and that is known.
        holder: Option<Box<Holder>>,
    },
    /// The store failed.
    #[error("the thread's log could not be read or written")]
    Checkpoint(#[source] CheckpointError),
    /// The thread's turn is not over, and a new input is refused: answer what it asks, resume it, or replace it with
    /// [`NewInput::Replace`](crate::NewInput::Replace).
    #[error("thread `{thread}` has not finished its turn: {why}")]
    Unfinished {
        /// The thread.
        thread: ThreadKey,
        /// What it waits for.
        why: Unfinished,
    },
    /// An answer names a request that never was. Nothing was stored.
    #[error("there is no request `{0}`")]
    NoSuchRequest(RequestId),
    /// An answer names a request that was answered. Nothing was stored.
    #[error("request `{0}` has been answered already")]
    AlreadyAnswered(RequestId),
    /// An answer names a request that is not open any more: its task asked something else, or the thread went on without
    /// it. Nothing was stored.
    #[error("request `{0}` is not open any more")]
    Stale(RequestId),
    /// An answer came after its request's deadline. Nothing was stored; a resume tells the node.
    #[error("request `{id}` had to be answered by {deadline:?}")]
    Expired {
        /// The request.
        id: RequestId,
        /// Its deadline.
        deadline: Timestamp,
    },
    /// An answer names no request, and several are open. Nothing was stored.
    #[error("{} requests are open; say which one is answered: {}", requests.len(), request_ids(requests))]
    Ambiguous {
        /// The open requests.
        requests: Vec<Pending>,
    },
    /// An answer does not fit its request, which is still open: its schema, or what its node wants to read. In the first case
    /// nothing ran and nothing was stored.
    #[error("the answer to request `{id}` does not fit: {}", faults.join("; "))]
    WrongAnswer {
        /// The request.
        id: RequestId,
        /// What was asked.
        question: Box<Pending>,
        /// The expected type: the name of a type, or a JSON Schema.
        expected: String,
        /// What came.
        answer: Stored,
        /// What does not fit, and where.
        faults: Vec<String>,
    },
    /// No request is open.
    #[error("thread `{0}` asks nothing")]
    NothingAsked(ThreadKey),
    /// It cannot be told in which node's place the state is edited.
    #[error(
        "the state was last written by {}; say in which one's place it is edited",
        listed(nodes)
    )]
    AmbiguousEdit {
        /// The nodes that wrote last.
        nodes: Vec<String>,
    },
    /// There is no such subgraph in the thread.
    #[error("thread `{thread}` has no subgraph at `{path}`")]
    NoSuchSubgraph {
        /// The thread.
        thread: ThreadKey,
        /// Where it was looked for.
        path: Namespace,
    },
    /// There is nothing to go on with.
    #[error("thread `{0}` does not exist")]
    NoSuchThread(ThreadKey),
    /// The graph has changed: what is due is not there any more.
    #[error(
        "the graph has changed: the thread waits at {}, not in the graph any more; say what became of that with `renamed`, `removed` or `removed_join`",
        listed(missing)
    )]
    GraphChanged {
        /// The nodes that are due and missing, and the joins that have seen some of their nodes and are missing.
        missing: Vec<String>,
    },
    /// The state was written by a newer version of its type.
    #[error(
        "the state{} was stored in version {stored} of its type, and this build has version {supported}",
        nested(field)
    )]
    SchemaTooNew {
        /// The nested state, as `memories.plan`; empty for the state itself.
        field: String,
        /// The version that is stored.
        stored: u32,
        /// This build's.
        supported: u32,
    },
    /// The stored state has another shape than the type.
    #[error("the stored state cannot be read")]
    State(#[source] BoxError),
}

/// An error, what caused it, what caused that, and so on.
pub(crate) fn causes<'a>(
    error: &'a (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'a (dyn std::error::Error + 'static)> {
    let mut next = Some(error);
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}

fn within(namespace: &Namespace) -> String {
    if namespace.is_root() { String::new() } else { format!(" of `{namespace}`") }
}

fn nested(field: &str) -> String {
    if field.is_empty() { String::new() } else { format!(" `{field}`") }
}

fn by(holder: &Option<Box<Holder>>) -> String {
    holder.as_ref().map(|holder| format!(" by {holder}")).unwrap_or_default()
}

fn request_ids(requests: &[Pending]) -> String {
    requests.iter().map(|request| format!("`{}`", request.id)).collect::<Vec<_>>().join(", ")
}

impl From<NewerVersion> for RunError {
    fn from(error: NewerVersion) -> Self {
        let NewerVersion { field, stored, supported } = error;
        Self::SchemaTooNew { field, stored, supported }
    }
}

impl From<CheckpointError> for RunError {
    fn from(error: CheckpointError) -> Self {
        match error {
            CheckpointError::Conflict { thread, .. }
            | CheckpointError::Fenced { thread, .. }
            | CheckpointError::OtherLife { thread, .. } => Self::Conflict { thread, holder: None },
            error => Self::Checkpoint(error),
        }
    }
}

/// An error as text, with what caused it.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let cause_text = error.to_string();
        // A transparent error says what its cause says.
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        cause = error.source();
    }
    text
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}

/// The error of a run whose state cannot be read or written.
pub(crate) fn state_error(error: StoredError) -> RunError {
    RunError::State(error.into())
}
