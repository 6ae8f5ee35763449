//! The fold of a log.

use std::{collections::BTreeMap, sync::Arc};

use hanok_core::{
    Changes, Fields, Namespace, Position, RunId, Spent, StoredSchema, TaskId, Timestamp,
};

use crate::{
    claim::Epoch,
    entry::{
        frontier::Frontier, graph_id::GraphId, run::Persistence, run_end::RunEnd,
        state::ThreadLife, step_records::StepRecords,
    },
};

/// The position from which the ids of tasks derive in a subgraph whose calls share a namespace: a number that the calling task has to
/// itself.
pub fn turn_of(parent: TaskId) -> Position {
    let bytes = parent.as_bytes().iter().take(8);
    Position(bytes.fold(0, |number, byte| (number << 8) | u64::from(*byte)))
}

/// The fold of a thread's log at a position: per namespace its state, what is due and what is pending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ThreadFold {
    /// The position folded up to.
    pub position: Position,
    /// The thread's own graph under the root, and the subgraphs that are running or outlive their call.
    pub runs: BTreeMap<Namespace, RunFold>,
    /// The life from which the ids of the turn's tasks derive, if it is another: the turn was copied from there.
    pub identity: Option<ThreadLife>,
}

/// One graph's part of a thread.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFold {
    /// The run that is under way or was last.
    pub run: Option<RunId>,
    /// The epoch of the claim it ran under.
    pub epoch: Epoch,
    /// True if a run began that did not end.
    pub open: bool,
    /// The task that calls this subgraph.
    pub parent: Option<TaskId>,
    /// True if the state outlives the call.
    pub persistence: Persistence,
    /// The state.
    pub fields: Fields,
    /// The schema that it is stored in.
    pub schema: Arc<StoredSchema>,
    /// The graph that ran.
    pub graph: GraphId,
    /// The tasks that are due.
    pub frontier: Frontier,
    /// When it was scheduled: what its tasks take for the time.
    pub since: Timestamp,
    /// The position at which the turn begins, or was rewound to begin anew: with the super-step, the ids of the tasks derive from
    /// it. A run that goes on after a crash keeps it. A subgraph's is the start, for its namespace names the task that calls it;
    /// that of one which outlives its calls is [`turn_of`] the task.
    pub turn: Position,
    /// The nodes of the last super-step.
    pub last: Vec<Arc<str>>,
    /// The records of the tasks that are due.
    pub records: StepRecords,
    /// True if a run stopped at a breakpoint here, which the next ones pass.
    pub paused: bool,
    /// The end of the last run, as its [`End`](crate::End) says; `None` while one is under way.
    pub ended: Option<RunEnd>,
    /// True if a subgraph began with its caller's state.
    pub shared: bool,
    /// The writes of the tasks of such a subgraph, in order.
    pub added: Vec<Changes>,
    /// The spending of the turn; the thread's own graph counts its subgraphs too.
    pub spent: Spent,
    /// The number of runs that went on with what a lost one left, since the thread last came nearer to the turn's end.
    pub takeovers: u32,
}

/// Checks whether the state of the subgraph at `path`, one of `runs`, outlives the calls of the graph at `parent`: a call within
/// one that is over is over, however long its own state would live.
///
/// ```
/// # use hanok_checkpoint::*;
/// # use hanok_core::{Namespace};
/// # use std::collections::BTreeMap;
/// let (root, called) = (Namespace::root(), Namespace::root().child("research")?);
/// let run = |persistence| RunFold { persistence, ..RunFold::default() };
/// let runs = BTreeMap::from([(called.clone(), run(Persistence::PerThread))]);
/// assert!(outlives(&runs, &called, &root));
/// let runs = BTreeMap::from([(called.clone(), run(Persistence::PerCall))]);
/// assert!(!outlives(&runs, &called, &root));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn outlives(runs: &BTreeMap<Namespace, RunFold>, path: &Namespace, parent: &Namespace) -> bool {
    std::iter::successors(Some(path.clone()), Namespace::parent)
        .take_while(|path| path != parent)
        .all(|path| runs.get(&path).is_some_and(|run| run.persistence == Persistence::PerThread))
}

impl ThreadFold {
    /// The part of one graph.
    pub fn run(&self, namespace: &Namespace) -> Option<&RunFold> {
        self.runs.get(namespace)
    }

    /// Checks whether nothing is under way that a snapshot would have to hold.
    pub fn is_quiet(&self) -> bool {
        self.runs.values().all(|run| run.records.is_empty() && run.added.is_empty())
    }

    /// The number of bytes that the states take as stored, about.
    pub fn size(&self) -> usize {
        self.runs.values().map(|run| run.fields.size()).sum()
    }
}
