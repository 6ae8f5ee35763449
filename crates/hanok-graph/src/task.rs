//! One task: its node, its router, and what came of them.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc};

use futures::FutureExt;
use hanok_checkpoint::{Body, Due, Goto, Question, TaskWrite};
use hanok_core::{Changes, Namespace, Position, Spent, TaskId};
use hanok_state::{ReduceError, State, StateUpdate};

use crate::{
    Command, Context, END, EventKind, NodeError, Pending, RunError, Snapshot, Target,
    context::TaskScope,
    graph::{Inner, Ways},
    journal::Keep,
};

/// A task that is done.
pub(crate) struct Done<U> {
    pub(crate) update: U,
    pub(crate) goto: Vec<Goto>,
    pub(crate) spent: Spent,
    /// Where its write stands, if it was stored on its own.
    pub(crate) position: Option<Position>,
}

/// What came of a task.
pub(crate) enum Ended<U> {
    Done(Done<U>),
    /// It waits for a person; the questions are to be stored, or are a subgraph's and stored already.
    Asked(Vec<Question>, Vec<Pending>),
    Failed(NodeError),
    Cancelled,
}

/// Runs one task. A wide super-step stores each task's write at once, so that a failed sibling costs nobody their work.
pub(crate) async fn run<S: State, C: Send + Sync + 'static>(
    graph: &Inner<S, C>,
    state: Arc<S>,
    services: Arc<C>,
    scope: Arc<TaskScope>,
    wide: bool,
) -> Ended<S::Update> {
    scope.emit(EventKind::TaskStarted);
    let stop = scope.cancellation.clone();
    let work = work(graph, state, services, &scope);
    let ended = if stop.is_cancelled() {
        Ended::Cancelled
    } else {
        futures::select_biased! {
            () = stop.cancelled().fuse() => Ended::Cancelled,
            ended = work.fuse() => ended,
        }
    };
    match ended {
        Ended::Done(done) if wide && scope.journal.is_kept() => store(done, &scope).await,
        Ended::Failed(error) => {
            scope.emit(EventKind::TaskFailed(error.to_string()));
            Ended::Failed(error)
        }
        ended => ended,
    }
}

async fn work<S: State, C: Send + Sync + 'static>(
    graph: &Inner<S, C>,
    state: Arc<S>,
    services: Arc<C>,
    scope: &Arc<TaskScope>,
) -> Ended<S::Update> {
    let Some(vertex) = graph.nodes.get(&scope.node) else {
        return Ended::Failed(unknown(&scope.node, Vec::new()));
    };
    let context = Context::new(services, scope.clone());
    let snapshot = Snapshot::shared(state.clone());
    // The future is made inside as well: a node may panic before its first await.
    let node = AssertUnwindSafe(async move { vertex.node.run(snapshot, context).await });
    let returned = node.catch_unwind().await;
    // A node that asked is suspended, whatever it made of the error.
    let (asked, waiting) = {
        let mut seen = scope.seen();
        (std::mem::take(&mut seen.asked), std::mem::take(&mut seen.waiting))
    };
    if !asked.is_empty() || !waiting.is_empty() {
        return Ended::Asked(asked, waiting);
    }
    let command = match returned {
        Ok(Ok(command)) => command,
        Ok(Err(error)) => return Ended::Failed(NodeError::Failed(error)),
        Err(panic) => return Ended::Failed(NodeError::Panicked(said(&*panic))),
    };
    match finish(command, &vertex.ways, &state, scope) {
        Ok(done) => Ended::Done(done),
        Err(error) => Ended::Failed(error),
    }
}

/// Completes a task's update and asks the routers where to go on.
fn finish<S: State>(
    command: Command<S>,
    ways: &Ways<S>,
    state: &Arc<S>,
    scope: &TaskScope,
) -> Result<Done<S::Update>, NodeError> {
    let Command { mut update, goto } = command;
    complete(&mut update, scope.task);
    let targets = route(ways, state, &update, &scope.node, goto)?;
    let goto = targets.into_iter().map(stored).collect::<Result<_, _>>()?;
    Ok(Done { update, goto, spent: scope.spend(), position: None })
}

/// Gives ids to messages without one: derived from the task and a count, so that they are the same whenever it runs.
pub(crate) fn complete<U: StateUpdate>(update: &mut U, task: TaskId) {
    let mut count = 0;
    let task = task.to_string();
    let prefix = task.get(..16).unwrap_or(&task).to_owned();
    update.complete(&mut || {
        count += 1;
        format!("{prefix}-{count}")
    });
}

/// Where a node goes on: along its edges, where its routers say, and where its command says.
fn route<S: State>(
    ways: &Ways<S>,
    state: &Arc<S>,
    update: &S::Update,
    node: &Arc<str>,
    goto: Vec<Target>,
) -> Result<Vec<Target>, NodeError> {
    for target in &goto {
        if !target.is_end() && !ways.goto.contains(target.node()) {
            return Err(unknown(target.node(), listed(&ways.goto)));
        }
    }
    let mut targets: Vec<_> = ways.edges.iter().cloned().map(Target::Node).collect();
    if !ways.branches.is_empty() {
        // The state with the node's own writes, and not its siblings'. Cloning it costs a pointer per field.
        let mut view = S::clone(state);
        merge(&mut view, vec![(node.clone(), update.clone())]).map_err(Unmerged::of_node)?;
        targets.extend(branches(ways, &view)?);
    }
    targets.extend(goto);
    Ok(targets)
}

/// Writes that were not merged.
pub(crate) enum Unmerged {
    Refused(ReduceError),
    /// A reducer of the user's panicked.
    Panicked(String),
}

/// Merges `writes` into `state`. A reducer is a user's code and may panic: that is its run's error and nobody else's.
pub(crate) fn merge<S: State>(
    state: &mut S,
    writes: Vec<(Arc<str>, S::Update)>,
) -> Result<Changes, Unmerged> {
    match std::panic::catch_unwind(AssertUnwindSafe(|| state.reduce(writes))) {
        Ok(reduced) => reduced.map_err(Unmerged::Refused),
        Err(panic) => Err(Unmerged::Panicked(said(&*panic))),
    }
}

impl Unmerged {
    fn of_node(self) -> NodeError {
        match self {
            Self::Refused(error) => error.into(),
            Self::Panicked(message) => NodeError::Panicked(message),
        }
    }

    /// The error of the run whose super-step `step` it was.
    pub(crate) fn of_run(self, step: u32, namespace: &Namespace) -> RunError {
        match self {
            Self::Refused(source) => {
                RunError::Reduce { step, namespace: namespace.clone(), source }
            }
            Self::Panicked(message) => RunError::ReducerPanicked { step, message },
        }
    }
}

/// Where the routers of some ways lead from `view`.
pub(crate) fn branches<S>(ways: &Ways<S>, view: &S) -> Result<Vec<Target>, NodeError> {
    let mut targets = Vec::new();
    for branch in &ways.branches {
        let routed = std::panic::catch_unwind(AssertUnwindSafe(|| (branch.router)(view)))
            .map_err(|panic| NodeError::Panicked(said(&*panic)))?
            .map_err(NodeError::Router)?;
        for target in &routed {
            if !branch.declared.contains(target.node()) {
                return Err(unknown(target.node(), listed(&branch.declared)));
            }
        }
        targets.extend(routed);
    }
    Ok(targets)
}

pub(crate) fn stored(target: Target) -> Result<Goto, NodeError> {
    Ok(match target {
        Target::Node(node) if node.as_ref() == END => Goto::End,
        Target::Node(node) => Goto::Node(node.to_string()),
        Target::Send(send) => {
            let input = send.input.map_err(|reason| NodeError::Failed(reason.into()))?;
            Goto::Send(Due { node: send.node.to_string(), input: Some(input) })
        }
    })
}

/// Stores the write of one task of a wide super-step.
async fn store<U: StateUpdate>(done: Done<U>, scope: &TaskScope) -> Ended<U> {
    let changes = match done.update.to_changes() {
        Ok(changes) => changes,
        Err(error) => return Ended::Failed(error.into()),
    };
    let write = TaskWrite {
        task: scope.task,
        node: scope.node.to_string(),
        changes,
        goto: done.goto.clone(),
        spent: done.spent,
    };
    let entry = (scope.namespace.clone(), Body::Write(write));
    match scope.journal.append(vec![entry], Keep::Claim).await {
        Ok(position) => Ended::Done(Done { position: Some(position), ..done }),
        Err(error) => Ended::Failed(error.into()),
    }
}

fn unknown(target: &str, declared: Vec<String>) -> NodeError {
    NodeError::UnknownTarget { target: target.to_owned(), declared }
}

fn listed(names: &[Arc<str>]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// What a panic said.
pub(crate) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "without a message".to_owned())
}
