//! The reasons why a run cannot go on; those of a task are a [`NodeError`], those of a graph a [`BuildError`].

use std::sync::Arc;

use hanok_checkpoint::{CheckpointError, Holder};
use hanok_core::{
    Answerer, Audience, BoxError, Chain, InvalidName, Namespace, Panicked, Position, RequestId,
    RunId, Stored, StoredError, ThreadKey, Timestamp,
};
use hanok_state::{InvalidJson, NewerVersion, ReduceError};
use thiserror::Error;

pub use crate::{
    build_error::{BuildError, Fault, Lint},
    node_error::NodeError,
};
use crate::{
    names::{START, instead, listed, written},
    outcome::{Pending, Unfinished},
};

/// The reason why a run could not go on. Committed super-steps stay, and the thread can be resumed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// A node failed.
    #[error("{} failed in super-step {step}{}", failed(node), within(namespace))]
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
    /// Code of the program panicked within the run, outside of its nodes and reducers: the key of a cache, the condition of a retry.
    #[error("code of the program {source}")]
    Panicked {
        /// The message of the panic.
        source: Panicked,
    },
    /// More tasks are due than a super-step may have. The super-step that schedules them was not applied.
    #[error(
        "super-step {step}{} schedules {tasks} tasks; the limit is {limit}: send fewer, or raise `max_fan_out`",
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
    /// A client's JSON does not fit the state: all its faults, each with its JSON pointer.
    #[error("the input does not fit: {0}")]
    Json(#[source] InvalidJson),
    /// A text is no name of a thread or of a tag.
    #[error("{0}")]
    Name(#[source] InvalidName),
    /// The caller is given no services, and so no run.
    #[error("the caller is not admitted: {0}")]
    NotAdmitted(#[source] BoxError),
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
    #[error("{0}")]
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
    #[error("there is no request `{0}`; `resume` shows those that are open")]
    NoSuchRequest(RequestId),
    /// An answer names a request that is answered already. Nothing was stored.
    #[error("request `{0}` has been answered already")]
    AlreadyAnswered(RequestId),
    /// An answer names a request that is not open any more, because its task asks something else, or the thread went on
    /// without it; or it was given to something else than what the request [shows](crate::NewAnswer::shown). Nothing was stored.
    #[error("request `{0}` is not open any more; `resume` shows those that are")]
    Stale(RequestId),
    /// An answer comes from somebody whom its request does not admit. Nothing was stored.
    #[error("request `{id}` is for {audience} to answer{}", not_for(by))]
    Forbidden {
        /// The request.
        id: RequestId,
        /// The people who may answer.
        audience: Box<Audience>,
        /// The person who tried to; `None` if they were not named.
        by: Option<Box<Answerer>>,
    },
    /// An answer came after its request's deadline. Nothing was stored; a resume reports [`AskError::Expired`](hanok_core::AskError::Expired) to the node.
    #[error("the deadline of request `{id}` has passed; `resume`, and its node is told so")]
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
    #[error("thread `{0}` asks nothing now; if it should, check its name, or `resume` it")]
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
    #[error("thread `{0}` does not exist; check its name, or begin it with `invoke`")]
    NoSuchThread(ThreadKey),
    /// The thread cannot go back by so many turns. Nothing was stored.
    #[error("thread `{thread}` cannot go back {turns} turns; it can go back {most}")]
    NoSuchTurn {
        /// The thread.
        thread: ThreadKey,
        /// The number of turns that was asked for.
        turns: usize,
        /// The most turns that it can go back.
        most: usize,
    },
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
        "the state{} was stored in version {stored} of its type, and this build has version {supported}; it takes a build that has version {stored}",
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
    /// The run of this name has begun before, and is over: another turn has begun since, or the thread has gone back.
    #[error(
        "run {run} of thread `{thread}` is over: the thread has gone on since; give a new run another id"
    )]
    PastRun {
        /// The thread.
        thread: ThreadKey,
        /// The run.
        run: RunId,
    },
    /// A value cannot be stored, or what was stored cannot be read: a state, an input or an answer.
    #[error("a value of the run cannot be stored or read")]
    State(#[source] BoxError),
}

// 409: the thread is not in the state that the call needs, and may be later. 410: what the call names was there and is over. 422: the
// call itself is at fault. 503: another attempt, or another process, may do it. 500: only the program's authors can do something.
hanok_core::error_codes! {
    RunError {
        // Also where the node's own error is the client's fault: only the program knows, by `RunError::downcast_ref`.
        "HNK-201" 500: Self::Node { .. },
        "HNK-202" 500: Self::Reduce { .. },
        "HNK-203" 500: Self::ReducerPanicked { .. },
        "HNK-204" 500: Self::TooWide { .. },
        "HNK-205" 422: Self::Input { .. },
        "HNK-206" 503: Self::Lost,
        "HNK-207" 503: Self::ShuttingDown,
        "HNK-208" 409: Self::Conflict { .. },
        "HNK-209" 409: Self::Superseded { .. },
        "HNK-210" 409: Self::Unfinished { .. },
        "HNK-211" 404: Self::NoSuchRequest(_),
        "HNK-212" 409: Self::AlreadyAnswered(_),
        "HNK-213" 410: Self::Stale(_),
        "HNK-214" 410: Self::Expired { .. },
        "HNK-215" 409: Self::Ambiguous { .. },
        "HNK-216" 422: Self::WrongAnswer { .. },
        // The thread exists, and a later turn may ask.
        "HNK-217" 409: Self::NothingAsked(_),
        "HNK-218" 422: Self::AmbiguousEdit { .. },
        "HNK-219" 404: Self::NoSuchNode { .. },
        "HNK-220" 404: Self::NoSuchSubgraph { .. },
        "HNK-221" 404: Self::NoSuchThread(_),
        // What a deploy broke, no client mends: 500 for this and the next two.
        "HNK-222" 500: Self::GraphChanged { .. },
        "HNK-223" 500: Self::SchemaTooNew { .. },
        "HNK-224" 500: Self::Unreadable { .. },
        // The name of the thread is taken by another graph's, so a client may take another name.
        "HNK-225" 409: Self::OtherGraph { .. },
        "HNK-226" 500: Self::State(_),
        "HNK-227" 404: Self::NoSuchTurn { .. },
        "HNK-228" 403: Self::Forbidden { .. },
        "HNK-229" 500: Self::Panicked { .. },
        "HNK-230" 422: Self::Json(_),
        "HNK-231" 422: Self::Name(_),
        "HNK-232" 403: Self::NotAdmitted(_),
        "HNK-233" 409: Self::PastRun { .. },
    }
    of { Self::Checkpoint(error) => error }
}

fn within(namespace: &Namespace) -> String {
    if namespace.is_root() { String::new() } else { format!(" of `{namespace}`") }
}

/// What failed: a node, or the branches from START.
fn failed(node: &str) -> String {
    match node {
        START => "what leads from START".to_owned(),
        node => format!("node `{node}`"),
    }
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

/// Why an answerer is not admitted.
fn not_for(by: &Option<Box<Answerer>>) -> String {
    match by {
        Some(by) => format!(", and not for {by}"),
        None => {
            ", and it is not known who answers: name them with `Thread::answering_as`".to_owned()
        }
    }
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

impl From<InvalidJson> for RunError {
    fn from(invalid: InvalidJson) -> Self {
        Self::Json(invalid)
    }
}

impl From<InvalidName> for RunError {
    fn from(invalid: InvalidName) -> Self {
        Self::Name(invalid)
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

/// The error of a run whose state cannot be read or written.
pub(crate) fn state_error(error: StoredError) -> RunError {
    RunError::State(error.into())
}
