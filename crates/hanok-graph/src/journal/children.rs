//! The subgraphs of a run's thread: those that an earlier run stored, those that run, and the states of those that
//! outlive their call.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use hanok_checkpoint::{CheckpointError, Log, Persistence, RunFold};
use hanok_core::{Fields, Namespace, TaskId};

use crate::{
    journal::journal::{Journal, lock},
    observe::any::AnyState,
    outcome::Pending,
};

/// The subgraphs of the run's thread.
#[derive(Default)]
pub(super) struct Children {
    /// The states of those that are not running.
    states: Mutex<BTreeMap<Namespace, ChildState>>,
    /// Those that began, or continued, in this run.
    entered: Mutex<BTreeSet<Namespace>>,
    running: Mutex<BTreeSet<Namespace>>,
    /// Those whose state outlives the call, and whose last call has not ended. Their state is in the log alone.
    unfinished: Mutex<BTreeSet<Namespace>>,
    /// True if the run before ended with questions to people.
    interrupted: AtomicBool,
}

impl Children {
    /// True if no subgraph has a state of its own that outlives the run.
    pub(super) fn is_empty(&self) -> bool {
        lock(&self.states).is_empty() && lock(&self.unfinished).is_empty()
    }
}

/// The state of a subgraph.
pub(crate) enum ChildState {
    /// The fold of the log.
    Stored(Box<RunFold>),
    /// The end of an earlier call in this process.
    Live(Box<Live>),
}

/// The state of a subgraph that outlives its call, with its frontier. Holding it costs pointers.
#[derive(Clone)]
pub(crate) struct Live {
    pub(crate) state: AnyState,
    pub(crate) unknown: Fields,
    /// The fold without the fields.
    pub(crate) run: RunFold,
}

impl Live {
    /// The graph's part of the thread, as a fold of the log.
    pub(crate) fn into_fold(self) -> Option<RunFold> {
        let mut fields = self.state.to_fields().ok()?;
        fields.fill(&self.unknown);
        Some(RunFold { fields, ..self.run })
    }
}

/// A subgraph that runs.
pub(crate) struct Running {
    journal: Arc<Journal>,
    namespace: Namespace,
}

impl Drop for Running {
    fn drop(&mut self) {
        lock(&self.journal.children.running).remove(&self.namespace);
    }
}

impl Journal {
    /// Notes the states of an earlier run's subgraphs, and that it ended with questions to people if it was `interrupted`.
    pub(crate) fn restore_children(
        &self,
        runs: impl IntoIterator<Item = (Namespace, RunFold)>,
        interrupted: bool,
    ) {
        self.children.interrupted.store(interrupted, Ordering::SeqCst);
        lock(&self.children.states)
            .extend(runs.into_iter().map(|(path, run)| (path, ChildState::Stored(Box::new(run)))));
    }

    /// Notes the state of a subgraph that outlives its call.
    pub(crate) fn keep_child(&self, namespace: Namespace, live: Live) {
        lock(&self.children.unfinished).remove(&namespace);
        lock(&self.children.states).insert(namespace, ChildState::Live(Box::new(live)));
    }

    /// Notes a call of a subgraph that outlives it. No snapshot can hold the subgraph until its state is
    /// [kept](Journal::keep_child).
    pub(crate) fn call_child(&self, namespace: &Namespace) {
        lock(&self.children.unfinished).insert(namespace.clone());
    }

    /// True if the run before ended with questions to people.
    pub(crate) fn was_interrupted(&self) -> bool {
        self.children.interrupted.load(Ordering::SeqCst)
    }

    /// The questions in the subgraphs that `task` calls from `path`, if the run before ended with questions and nothing
    /// there can continue. Then the task need not be started.
    pub(crate) fn waiting_below(&self, path: &Namespace, task: TaskId) -> Option<Vec<Pending>> {
        if !self.was_interrupted() {
            return None;
        }
        let states = lock(&self.children.states);
        let stored = states.iter().filter_map(|(path, state)| match state {
            ChildState::Stored(run) => Some((path, &**run)),
            ChildState::Live(_) => None,
        });
        let stored: Vec<_> = stored.collect();
        let of_task = |(called, run): &&(&Namespace, &RunFold)| {
            run.parent == Some(task) && called.parent().as_ref() == Some(path)
        };
        let called: Vec<_> = stored.iter().filter(of_task).map(|(path, _)| *path).collect();
        let below = stored.iter().filter(|(path, _)| called.iter().any(|c| path.is_within(c)));
        let mut asked = Vec::new();
        for (path, run) in below {
            let open = |task| run.records.open_questions().any(|question| question.task == task);
            let answered = run.records.questions.iter().any(|question| !open(question.task));
            if answered || !run.records.settled.is_empty() || !run.records.intents.is_empty() {
                return None;
            }
            asked.extend(
                run.records.open_questions().map(|question| Pending::of_question(question, path)),
            );
        }
        let expires = asked.iter().any(|pending| pending.deadline.is_some());
        (!asked.is_empty() && !expires).then_some(asked)
    }

    /// Takes the states of an earlier run's subgraphs within `path`. Give the rest back with
    /// [`put_below`](Journal::put_below).
    pub(crate) fn take_below(&self, path: &Namespace) -> BTreeMap<Namespace, RunFold> {
        let mut below = BTreeMap::new();
        let mut states = lock(&self.children.states);
        let within = |called: &Namespace| called != path && called.is_within(path);
        for (called, one) in std::mem::take(&mut *states) {
            match one {
                ChildState::Stored(run) if within(&called) => drop(below.insert(called, *run)),
                one => drop(states.insert(called, one)),
            }
        }
        below
    }

    /// Notes the states of an earlier run's subgraphs.
    pub(crate) fn put_below(&self, below: BTreeMap<Namespace, RunFold>) {
        let below = below.into_iter().map(|(path, run)| (path, ChildState::Stored(Box::new(run))));
        lock(&self.children.states).extend(below);
    }

    /// Takes the state of one subgraph: of an earlier run, of an earlier call if its state outlives it, or of a failed
    /// attempt of this run.
    pub(crate) async fn take_child(
        &self,
        namespace: &Namespace,
    ) -> Result<Option<ChildState>, CheckpointError> {
        let state = lock(&self.children.states).remove(namespace);
        let entered = !lock(&self.children.entered).insert(namespace.clone());
        match (self.store(), state) {
            // It began in this run and did not end: what it has done since is in the log alone.
            (Some(store), None) if entered => {
                self.barrier().await?;
                let log = Log::new(store.clone(), self.thread().clone()).open(None).await?;
                let run = log.and_then(|mut log| log.fold.runs.remove(namespace));
                Ok(run.map(|run| ChildState::Stored(Box::new(run))))
            }
            (_, state) => Ok(state),
        }
    }

    /// Notes that a subgraph runs, until the guard is dropped; `None` if it runs already.
    pub(crate) fn enter(self: &Arc<Self>, namespace: &Namespace) -> Option<Running> {
        let new = lock(&self.children.running).insert(namespace.clone());
        new.then(|| Running { journal: self.clone(), namespace: namespace.clone() })
    }

    /// The states of subgraphs that outlive their call, for a snapshot; `None` if one is unknown here.
    pub(crate) fn child_states(&self) -> Option<Vec<(Namespace, Live)>> {
        if !lock(&self.children.unfinished).is_empty() {
            return None;
        }
        let states = lock(&self.children.states);
        let live = states.iter().filter_map(|(path, state)| match state {
            ChildState::Live(live) => Some((path.clone(), (**live).clone())),
            ChildState::Stored(run) if run.persistence == Persistence::PerThread => {
                let state = AnyState::stored(run.fields.clone(), None);
                let run = RunFold { fields: Fields::default(), ..(**run).clone() };
                Some((path.clone(), Live { state, unknown: Fields::default(), run }))
            }
            ChildState::Stored(_) => None,
        });
        Some(live.collect())
    }
}
