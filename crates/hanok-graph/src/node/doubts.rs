//! The calls of a run that were announced and of which nobody knows whether they were made: an intent, and no result.
//!
//! An intent leaves the log by the result of its call, by a person's answer, or not at all. The future that made the call may be
//! dropped, and whoever awaited it may make something else of its error: the intent stands, and no task is done while one of its own
//! calls, or a call in a graph that it ran, is in doubt.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use hanok_checkpoint::{Doubt, Intent, RunFold};
use hanok_core::{CallKey, Namespace, TaskId};

use crate::{node::attempt::locked, outcome::Pending, run::subgraph_place::Called};

/// The task that runs a graph, or makes a call, and those within which it does.
#[derive(Debug)]
pub(crate) struct Within {
    pub(crate) task: TaskId,
    /// What the graph is told from others of the task by, in this run.
    pub(crate) called: Called,
    pub(crate) outer: Option<Arc<Within>>,
}

impl Within {
    /// It, and what is around it.
    fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |within| within.outer.as_deref())
    }
}

/// The calls of a run that a person is asked about once their tasks are over.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// True once there was one.
    any: AtomicBool,
    open: Mutex<BTreeMap<(Namespace, String), (Intent, Within)>>,
}

impl Doubts {
    /// Notes what the subgraphs of an earlier run left in doubt.
    pub(crate) fn restore(&self, runs: &BTreeMap<Namespace, RunFold>) {
        for (path, run) in runs {
            for intent in run.records.intents.values() {
                self.note(path, intent, || around(runs, path));
            }
        }
    }

    /// Notes what an intent says of its call. The graph of its task runs within `outer`.
    pub(crate) fn note(
        &self,
        path: &Namespace,
        intent: &Intent,
        outer: impl FnOnce() -> Option<Arc<Within>>,
    ) {
        if intent.doubt != Doubt::Ask {
            return self.settle(path, &intent.key);
        }
        let called = Called::default();
        let within = Within { task: intent.task, called, outer: outer() };
        let place = (path.clone(), intent.key.clone());
        locked(&self.open).insert(place, (intent.clone(), within));
        self.any.store(true, Ordering::SeqCst);
    }

    /// Notes that the outcome of a call is known.
    pub(crate) fn settle(&self, path: &Namespace, key: &str) {
        if self.any.load(Ordering::SeqCst) {
            locked(&self.open).remove(&(path.clone(), key.to_owned()));
        }
    }

    /// Checks whether nothing is in doubt.
    pub(crate) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::SeqCst) || locked(&self.open).is_empty()
    }

    /// What the task, and the graphs that it ran, left in doubt.
    pub(crate) fn of(&self, task: impl FnOnce() -> TaskId) -> Vec<Pending> {
        if self.is_empty() {
            return Vec::new();
        }
        let task = task();
        self.chosen(|within| within.all().any(|within| within.task == task))
    }

    /// What the graphs that the task ran left in doubt.
    pub(crate) fn below(&self, task: TaskId) -> Vec<Pending> {
        let is_below = |within: &Within| within.all().skip(1).any(|within| within.task == task);
        self.chosen(is_below)
    }

    /// What graphs that ran within `call` left in doubt.
    pub(crate) fn within(&self, call: &CallKey) -> Vec<Pending> {
        self.chosen(|within| within.all().any(|it| it.called.call.as_ref() == Some(call)))
    }

    /// What the graph that the task ran under `name` left in doubt.
    pub(crate) fn named(&self, task: TaskId, name: &str) -> Vec<Pending> {
        let is_it = |it: &Within| it.task == task && it.called.name.as_deref() == Some(name);
        self.chosen(|within| within.all().any(is_it))
    }

    fn chosen(&self, is_chosen: impl Fn(&Within) -> bool) -> Vec<Pending> {
        if self.is_empty() {
            return Vec::new();
        }
        let open = locked(&self.open);
        let chosen = open.iter().filter(|(_, (_, within))| is_chosen(within));
        chosen.map(|((path, _), (intent, _))| Pending::of_intent(intent, path)).collect()
    }
}

/// The tasks within which the graph at `path` runs, as the log knows them.
fn around(runs: &BTreeMap<Namespace, RunFold>, path: &Namespace) -> Option<Arc<Within>> {
    let task = runs.get(path)?.parent?;
    let outer = path.parent().and_then(|parent| around(runs, &parent));
    Some(Arc::new(Within { task, called: Called::default(), outer }))
}
