//! The run of one graph, which its super-steps share.

use std::sync::Arc;

use crate::{
    graph::definition::Definition,
    node::{
        activity::{Activity, Wait},
        doubts::Within,
        run_context::RunContext,
        task_ref::TaskRef,
    },
    observe::spoken::Spoken,
    run::task_outcome::Done,
    slots::HeldSlots,
};
use hanok_core::{Namespace, RunId, TaskId};
use hanok_state::State;

/// A run of one graph.
pub(crate) struct GraphRun<S: State, C> {
    pub(crate) graph: Arc<Definition<S, C>>,
    pub(crate) services: Arc<C>,
    pub(crate) env: Arc<RunContext>,
    /// The namespace of the graph's entries in the thread's log.
    pub(crate) namespace: Namespace,
    /// The task that called the graph; `None` for that of the thread.
    pub(crate) within: Option<Arc<Within>>,
    pub(crate) run: RunId,
    pub(crate) limit: u32,
    /// The signs of life of the task that called the graph.
    pub(crate) activity: Activity,
    /// Whether a model wrote within the task that called the graph.
    pub(crate) spoken: Spoken,
    /// The slots that the calling task holds.
    pub(crate) held: HeldSlots,
}

/// The tasks of a super-step that ran, in task order.
pub(crate) type Ran<U> = [(Arc<TaskRef>, Done<U>)];

impl<S: State, C: Send + Sync + 'static> GraphRun<S, C> {
    /// The id of a task of this graph.
    pub(crate) fn id(&self, task: &TaskRef) -> TaskId {
        task.id(self.env.journal.identity())
    }

    /// Begins a wait for the store, which is not the time of the task that called the graph. It ends when it is dropped.
    pub(crate) fn awaits_store(&self) -> Option<Wait<'_>> {
        self.activity.waits(&*self.env.runtime.clock)
    }
}
