//! Records of runs.

use std::{collections::BTreeMap, sync::Arc};

use hanok_core::{Changes, RunId, Spent, StoredSchema, TaskId};

use crate::{
    claim::Epoch,
    entry::frontier::Frontier,
    entry::run_end::RunEnd,
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
        /// Whether the state of a subgraph outlives the call.
        persistence: Persistence,
        /// Whether a subgraph begins with its caller's state, and gives back what it added.
        shared: bool,
        /// What the input writes. Empty for a run that goes on.
        input: Changes,
        /// What is due first, `None` for a run that goes on with what was due.
        frontier: Option<Frontier>,
        /// The schema of a state that begins here, and holds nothing before the input. `None` for a run whose state is there
        /// already: the log has said its schema, or its caller's is that of a state which it shares.
        schema: Option<Arc<StoredSchema>>,
        /// The fingerprint of the graph.
        graph: u64,
        /// How often, since the last commit, a run went on with what a lost one left.
        takeovers: u32,
        /// What the run's caller calls it, for whoever looks for it later.
        tags: BTreeMap<String, String>,
    }
}

/// How long the state of a subgraph lives.
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
        /// How it ended.
        outcome: RunEnd,
        /// What to know about it; for people.
        detail: String,
        /// What was spent and no other entry says.
        spent: Spent,
    }
}
