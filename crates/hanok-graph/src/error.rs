//! Errors: the faults of a graph that cannot be built, and the reasons why a run or a task cannot go on.

use std::{any::Any, fmt, sync::Arc, time::Duration};

use hanok_checkpoint::{CheckpointError, Holder};
use hanok_core::{
    BoxError, Chain, Namespace, Position, RequestId, Stored, StoredError, ThreadKey, Timestamp,
};
use hanok_state::{NewerVersion, ReduceError};
use thiserror::Error;

use crate::{
    names::{instead, listed, reserved, written},
    outcome::{Pending, Unfinished},
};

/// The faults of a graph, all at once.
///
/// ```
/// # use {hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", "print");
/// let error = graph.interrupt_before(["ad"]).build().unwrap_err();
/// assert_eq!(error.faults.len(), 2);
/// assert!(error.to_string().contains("no node `print`; there are `add`"));
/// ```
#[derive(Debug, Error)]
pub struct BuildError {
    /// The graph's name.
    pub graph: String,
    /// The faults, in the order in which the parts were added.
    pub faults: Vec<Fault>,
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graph `{}` cannot be built", self.graph)?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n- {fault}"))
    }
}

/// One fault of a graph. A [`BuildError`] lists all of them, and a [`Lint`] allows some.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// No edge or branch leads from [`START`](crate::START).
    #[error("nothing says where to begin: add `.edge(START, \"…\")`")]
    NoStart,
    /// An edge, branch, `goto` or join names an unknown node.
    #[error(
        "{kind} {} -> {}: no node {}; there are {}",
        written(from),
        written(to),
        written(node),
        instead(node, nodes)
    )]
    UnknownNode {
        /// `edge`, `branch`, `goto` or `join`.
        kind: &'static str,
        /// The source.
        from: String,
        /// The target.
        to: String,
        /// The unknown name.
        node: String,
        /// The nodes of the graph.
        nodes: Vec<String>,
    },
    /// Two nodes have one name.
    #[error("two nodes are named `{node}`")]
    TwiceNamed {
        /// The name.
        node: String,
    },
    /// A node's name is START's or END's, empty, too long, or holds a control character.
    #[error("a node cannot be named {node:?}{}", why(reserved(node)))]
    BadName {
        /// The name.
        node: String,
    },
    /// The program aborts when something panics.
    #[error(
        "this program aborts on a panic, so a node that panics would end it: build it with `panic = \"unwind\"`, or say `.allow_abort()`"
    )]
    Aborts,
    /// A declaration names an unknown node.
    #[error("{what}: no node {}; there are {}", written(node), instead(node, nodes))]
    NoSuchNode {
        /// The declaration: `retry`, `timeout`, `breakpoint`, …
        what: &'static str,
        /// The unknown name.
        node: String,
        /// The nodes of the graph.
        nodes: Vec<String>,
    },
    /// A node that is declared as renamed or removed is still in the graph.
    #[error("{what}: the graph has a node `{node}`")]
    StillThere {
        /// The declaration: `renamed` or `removed`.
        what: &'static str,
        /// The node.
        node: String,
    },
    /// The input or output of the graph names an unknown field of the state.
    #[error("{what}: the state has no field `{field}`; there are {}", instead(field, fields))]
    NoSuchField {
        /// The declaration: `input` or `output`.
        what: &'static str,
        /// The unknown name.
        field: String,
        /// The fields of the state.
        fields: Vec<String>,
    },
    /// A node that runs for [`SendTo`](crate::SendTo)s alone is the target of an edge or join, which carries no input.
    #[error(
        "{kind} {} -> `{to}`: `{to}` takes an input of its own, so only a `SendTo` can lead there",
        written(from)
    )]
    NeedsSend {
        /// `edge` or `join`.
        kind: &'static str,
        /// The source.
        from: String,
        /// The target.
        to: String,
    },
    /// Branches of different length meet in a node that is not joined. [`Lint::UnequalFanIn`] allows it.
    #[error(
        "`{node}` would run once for each branch from `{fork}`, which are of different length: `{short}` comes first, `{long}` later; join them with `.join([\"{short}\", \"{long}\"], \"{node}\")`, or compose `.defer()` or `.allow(Lint::UnequalFanIn)` on `{node}`"
    )]
    UnequalFanIn {
        /// The node where they meet.
        node: String,
        /// The node where they part.
        fork: String,
        /// The last node before it on the shorter branch.
        short: String,
        /// The last node before it on the longer branch.
        long: String,
    },
    /// No path leads to a node. [`Lint::Unreachable`] allows it.
    #[error("no path leads to `{node}`")]
    Unreachable {
        /// The node.
        node: String,
    },
    /// No edge, branch or command leads out of a node. [`Lint::DeadEnd`] allows it.
    #[error(
        "no way leads out of `{node}`: add `.edge(\"{node}\", END)`, a branch, or compose `.goto(…)` on it for its commands"
    )]
    DeadEnd {
        /// The node.
        node: String,
    },
}

/// A fault that a graph may be allowed to have: [`NodeExt::allow`](crate::NodeExt::allow).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Lint {
    /// Allows [`Fault::Unreachable`].
    Unreachable,
    /// Allows [`Fault::DeadEnd`].
    DeadEnd,
    /// Allows [`Fault::UnequalFanIn`].
    UnequalFanIn,
}

/// The reason why a task failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The node returned an error.
    #[error("{0}")]
    Failed(#[source] BoxError),
    /// The node panicked.
    #[error("it panicked: {0}")]
    Panicked(String),
    /// The router of one of its branches failed.
    #[error("the router of a branch failed")]
    Router(#[source] BoxError),
    /// The node has a target that it did not declare, or that does not exist.
    #[error("it goes on to {}; declared are {}", written(target), instead(target, declared))]
    UnknownTarget {
        /// The target.
        target: String,
        /// The declared targets.
        declared: Vec<String>,
    },
    /// The attempt exceeded its time limit.
    #[error("it took longer than {after:?}")]
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

/// The reason why a run could not go on. Committed super-steps stay, and the thread can be resumed.
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
        /// The node's graph.
        namespace: Namespace,
        /// The cause.
        #[source]
        source: NodeError,
    },
    /// The updates of a super-step could not be merged.
    #[error("super-step {step} could not be committed{}", within(namespace))]
    Reduce {
        /// The super-step.
        step: u32,
        /// The graph.
        namespace: Namespace,
        /// The cause.
        #[source]
        source: ReduceError,
    },
    /// A reducer panicked.
    #[error("a reducer panicked in super-step {step}: {message}")]
    ReducerPanicked {
        /// The super-step.
        step: u32,
        /// The message of the panic.
        message: String,
    },
    /// More tasks are due than a super-step may have. The super-step that schedules them was not applied.
    #[error(
        "super-step {step} schedules {tasks} tasks, and at most {limit} may run at once{}",
        within(namespace)
    )]
    TooWide {
        /// The super-step that schedules them.
        step: u32,
        /// The number of tasks.
        tasks: usize,
        /// The limit: [`GraphBuilder::max_fan_out`](crate::GraphBuilder::max_fan_out).
        limit: usize,
        /// The graph.
        namespace: Namespace,
    },
    /// An input writes a field that is no [input](crate::GraphBuilder::input) of the graph. Nothing was stored.
    #[error("the input writes `{field}`; the graph's input is {}", listed(allowed))]
    Input {
        /// The field.
        field: String,
        /// The fields that an input may write.
        allowed: Vec<String>,
    },
    /// An observed run was lost, because there is no runtime to run it on, or the runtime is gone.
    #[error("the run was lost: an observed run needs a tokio runtime")]
    Lost,
    /// The app is shutting down, so no run begins.
    #[error("the app is shutting down")]
    ShuttingDown,
    /// Another run owns the thread. The input was neither run nor stored; try again later.
    #[error("thread `{thread}` is in use{}; try again later", by(holder))]
    Conflict {
        /// The thread.
        thread: ThreadKey,
        /// The owner, if it is known.
        holder: Option<Box<Holder>>,
    },
    /// The run was superseded: a replacing input or a takeover took the thread from it. Its input and its committed
    /// super-steps stay in the thread, so do not send the input again.
    #[error(
        "the run was superseded{}; thread `{thread}` keeps what it stored, up to {stored}",
        by(holder)
    )]
    Superseded {
        /// The thread.
        thread: ThreadKey,
        /// The last position at which something of the run is known to be stored.
        stored: Position,
        /// The owner of the thread now, if there is one and it is known.
        holder: Option<Box<Holder>>,
    },
    /// The store failed.
    #[error("the thread's log could not be read or written")]
    Checkpoint(#[source] CheckpointError),
    /// The thread's turn is not finished, and a new input is refused. Answer its requests, resume it, or replace the turn
    /// with [`NewInput::Replace`](crate::NewInput::Replace).
    #[error("thread `{thread}` has not finished its turn: {why}")]
    Unfinished {
        /// The thread.
        thread: ThreadKey,
        /// The reason why the turn is not finished.
        why: Unfinished,
    },
    /// An answer names a request that never existed. Nothing was stored.
    #[error("there is no request `{0}`")]
    NoSuchRequest(RequestId),
    /// An answer names a request that is answered already. Nothing was stored.
    #[error("request `{0}` has been answered already")]
    AlreadyAnswered(RequestId),
    /// An answer names a request that is not open any more, because its task asks something else, or the thread went on
    /// without it. Nothing was stored.
    #[error("request `{0}` is not open any more")]
    Stale(RequestId),
    /// An answer came after its request's deadline. Nothing was stored; a resume reports [`AskError::Expired`](hanok_core::AskError::Expired) to the node.
    #[error("request `{id}` had to be answered by {deadline:?}")]
    Expired {
        /// The request.
        id: RequestId,
        /// Its deadline.
        deadline: Timestamp,
    },
    /// An answer names no request, although several are open. Nothing was stored.
    #[error("{} requests are open; say which one is answered: {}", requests.len(), request_ids(requests))]
    Ambiguous {
        /// The open requests.
        requests: Vec<Pending>,
    },
    /// An answer does not fit its request: its schema, or the type that its node reads. The request stays open. If it was
    /// the schema, nothing ran and nothing was stored.
    #[error("the answer to request `{id}` does not fit: {}", faults.join("; "))]
    WrongAnswer {
        /// The request.
        id: RequestId,
        /// The request itself.
        question: Box<Pending>,
        /// The expected type: the name of a type, or a JSON Schema.
        expected: String,
        /// The answer.
        answer: Stored,
        /// The parts that do not fit, each with its path.
        faults: Vec<String>,
    },
    /// No request is open.
    #[error("thread `{0}` asks nothing")]
    NothingAsked(ThreadKey),
    /// Several nodes wrote last, so [`Thread::edit_as`](crate::Thread::edit_as) needs the name of one.
    #[error(
        "the state was last written by {}; say in which one's place it is edited",
        listed(nodes)
    )]
    AmbiguousEdit {
        /// The nodes that wrote last.
        nodes: Vec<String>,
    },
    /// The graph has no such node.
    #[error("there is no node {}; there are {}", written(node), instead(node, nodes))]
    NoSuchNode {
        /// The name that was looked up.
        node: String,
        /// The nodes of the graph.
        nodes: Vec<String>,
    },
    /// The thread has no such subgraph.
    #[error("thread `{thread}` has no subgraph at `{path}`")]
    NoSuchSubgraph {
        /// The thread.
        thread: ThreadKey,
        /// The path that was looked up.
        path: Namespace,
    },
    /// The thread does not exist, so there is nothing to resume.
    #[error("thread `{0}` does not exist")]
    NoSuchThread(ThreadKey),
    /// The graph has changed: nodes or joins that the thread waits at do not exist any more.
    #[error(
        "the graph has changed: the thread waits at {}, not in the graph any more; say what became of that with `renamed`, `removed` or `removed_join`",
        listed(missing)
    )]
    GraphChanged {
        /// The missing nodes that are due, and the missing joins that have counted some of their nodes.
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
        /// The stored version.
        stored: u32,
        /// The version of this build.
        supported: u32,
    },
    /// The stored state has another shape than its type: the cause says which field.
    #[error(
        "thread `{thread}`: the state{}{} does not fit the state of this build",
        within(namespace),
        stored_by(graph)
    )]
    Unreadable {
        /// The thread.
        thread: ThreadKey,
        /// The graph's place in the thread.
        namespace: Namespace,
        /// The name of the graph that stored it, if it is known.
        graph: Option<String>,
        /// The cause: a [`StoredError::Field`] names the field, what it holds, and the type that reads it.
        #[source]
        source: BoxError,
    },
    /// The thread, or the place of a subgraph in it, is that of a graph of another name. Nothing was read or stored.
    #[error(
        "thread `{thread}`{} is of graph `{stored}`, and this is graph `{graph}`; if it had that name once, say `.formerly(\"{stored}\")`",
        at(namespace)
    )]
    OtherGraph {
        /// The thread.
        thread: ThreadKey,
        /// The graph's place in the thread.
        namespace: Namespace,
        /// The name of the graph that stored it.
        stored: String,
        /// The name of this graph.
        graph: String,
    },
    /// A value cannot be stored, or what was stored cannot be read: a state, an input or an answer.
    #[error("a value of the run cannot be stored or read")]
    State(#[source] BoxError),
}

fn why(reason: Option<&str>) -> String {
    reason.map(|reason| format!(": {reason}")).unwrap_or_default()
}

fn within(namespace: &Namespace) -> String {
    if namespace.is_root() { String::new() } else { format!(" of `{namespace}`") }
}

fn at(namespace: &Namespace) -> String {
    if namespace.is_root() { String::new() } else { format!(" at `{namespace}`") }
}

fn stored_by(graph: &Option<String>) -> String {
    graph.as_ref().map(|graph| format!(" that graph `{graph}` stored")).unwrap_or_default()
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

impl RunError {
    /// The first error of type `E` among the causes: the one that a node returned, or that its model gave.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// async fn read(_: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> {
    ///     Err(std::io::ErrorKind::NotFound.into())
    /// }
    ///
    /// let graph = Graph::<Count>::builder("count").node("read", read).edge(START, "read").edge("read", END).build()?;
    /// let error = graph.invoke(Count::update(), ()).await.unwrap_err();
    /// let missing = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    /// assert_eq!(missing, Some(std::io::ErrorKind::NotFound));
    /// # Ok(()) }
    /// ```
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        Chain(self).causes().find_map(|error| error.downcast_ref::<E>())
    }

    /// The error of `node`, in a super-step of the graph at `namespace`.
    pub(crate) fn node(
        node: &Arc<str>,
        step: u32,
        namespace: &Namespace,
        source: impl Into<NodeError>,
    ) -> Self {
        let (node, namespace) = (node.clone(), namespace.clone());
        Self::Node { node, step, namespace, source: source.into() }
    }

    /// The error of a run that does not get `thread` from its `holder`.
    pub(crate) fn conflict(thread: &ThreadKey, holder: &Holder) -> Self {
        Self::Conflict { thread: thread.clone(), holder: Some(Box::new(holder.clone())) }
    }
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
            CheckpointError::NoSuchThread(thread) => Self::NoSuchThread(thread),
            error => Self::Checkpoint(error),
        }
    }
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
