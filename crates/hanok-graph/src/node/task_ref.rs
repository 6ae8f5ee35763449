//! Tasks: what is the same in every attempt of one.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use hanok_checkpoint::{Due, SendLimits, ThreadLife};
use hanok_core::{Namespace, Position, Stored, TaskId};

use crate::{ids, observe::event::EventTask};

/// A task that is due, shared by whatever runs, stores or reports it.
#[derive(Debug)]
pub(crate) struct TaskRef {
    /// The namespace of its graph.
    pub(crate) namespace: Namespace,
    pub(crate) node: Arc<str>,
    pub(crate) step: u32,
    /// The input of a `SendTo`.
    pub(crate) input: Option<Stored>,
    /// The time-outs of a `SendTo`.
    pub(crate) limits: SendLimits,
    /// The position at which the turn begins.
    pub(crate) turn: Position,
    /// The index among its node's tasks in the super-step.
    pub(crate) index: usize,
    id: OnceLock<TaskId>,
}

impl TaskRef {
    /// The task `index` of `node` in the super-step `step` of the graph at `namespace`.
    pub(crate) fn new(
        namespace: &Namespace,
        turn: Position,
        step: u32,
        due: &Due,
        index: usize,
    ) -> Arc<Self> {
        let (namespace, node, input) = (namespace.clone(), due.node.clone(), due.input.clone());
        let (limits, id) = (due.limits, OnceLock::new());
        Arc::new(Self { namespace, node, step, input, limits, turn, index, id })
    }

    /// The time of an attempt, if the `SendTo` limits it.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.limits.timeout.map(Duration::from_millis)
    }

    /// The longest silence of an attempt, if the `SendTo` limits it.
    pub(crate) fn idle(&self) -> Option<Duration> {
        self.limits.idle_timeout.map(Duration::from_millis)
    }

    /// The id, the same in every run of the task, hashed on first use since most tasks leave no record with it.
    pub(crate) fn id(&self, of: &ThreadLife) -> TaskId {
        let Self { namespace, node, step, turn, index, .. } = self;
        *self.id.get_or_init(|| ids::task(of, namespace, *turn, *step, node, *index))
    }

    /// Names an attempt of the task in an event.
    pub(crate) fn of_event(&self, of: &ThreadLife, attempt: u32) -> EventTask {
        EventTask { node: self.node.clone(), id: self.id(of), attempt }
    }
}
