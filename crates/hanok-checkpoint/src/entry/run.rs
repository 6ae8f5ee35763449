//! Records of runs.

use std::{collections::BTreeMap, sync::Arc};

use hanok_core::{Answerer, Changes, RunId, Spent, StoredSchema, TaskId};

use crate::{
    claim::Epoch,
    entry::{frontier::Frontier, graph_id::GraphId, run_end::RunEnd},
    wire::{record, wire},
};

record! {
    /// A run begins.
    Begin {
        /// The run.
        run: RunId,
        /// Its claim's number; nothing for a subgraph's run.
        epoch: Epoch,
        /// For a subgraph's run: the task that calls it. That task, run again, goes on with this run.
        parent: Option<TaskId>,
        /// True if the state of a subgraph outlives the call.
        persistence: Persistence,
        /// True if a subgraph begins with its caller's state, and gives back what it added.
        shared: bool,
        /// The writes of the input. Empty for a run that goes on.
        input: Changes,
        /// The tasks that are due first, `None` for a run that goes on with what was due.
        frontier: Option<Frontier>,
        /// The schema of a state that begins here, and holds nothing before the input. `None` for a run whose state is there
        /// already: the log has said its schema, or its caller's is that of a state which it shares.
        schema: Option<Arc<StoredSchema>>,
        /// The graph.
        graph: GraphId,
        /// The number of runs, since the last commit, that went on with what a lost one left.
        takeovers: u32,
        /// Tags that the run's caller gives it, for whoever looks for it later.
        tags: BTreeMap<String, String>,
    }
}

/// The lifetime of the state of a subgraph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Persistence {
    /// As long as the call.
    #[default]
    PerCall,
    /// As long as the thread.
    PerThread,
}

wire! {
    Persistence: |persistence, to| to.bool(*persistence == Persistence::PerThread),
    |from| Ok(if from.bool()? { Self::PerThread } else { Self::PerCall });
}

record! {
    /// A run ends.
    End {
        /// The run.
        run: RunId,
        /// The end.
        outcome: RunEnd,
        /// Details of it; for people.
        detail: String,
        /// Spending that no other entry says.
        spent: Spent,
        ;
        /// The code of the error with which the run failed.
        code: Option<String>,
        /// The person who cancelled the run, if somebody did who is known.
        by: Option<Answerer>,
    }
}
