//! What a run knows of the subgraphs of its thread: what an earlier run left of them, which run, and the states of those that
//! outlive their call.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

use hanok_checkpoint::{CheckpointError, Log, Persistence, RunFold};
use hanok_core::{Fields, Namespace, TaskId};

use super::{Journal, lock};
use crate::{AnyState, Pending, progress::pending};

/// What was left of a subgraph.
pub(crate) enum Left {
    Stored(Box<RunFold>),
    Live(Box<Live>),
}

/// The state of a subgraph that outlives its call, and where it stands. Holding it costs pointers.
#[derive(Clone)]
pub(crate) struct Live {
    pub(crate) state: AnyState,
    pub(crate) unknown: Fields,
    /// All but the fields.
    pub(crate) run: RunFold,
}

impl Live {
    /// The graph's part of the thread as a log amounts to it.
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
        lock(&self.journal.running).remove(&self.namespace);
    }
}

impl Journal {
    /// Notes what an earlier run left of subgraphs, and whether it ended because people were asked.
    pub(crate) fn leave(&self, runs: impl IntoIterator<Item = (Namespace, RunFold)>, asked: bool) {
        self.asked.store(asked, Ordering::SeqCst);
        lock(&self.left)
            .extend(runs.into_iter().map(|(path, run)| (path, Left::Stored(Box::new(run)))));
    }

    /// Notes the state of a subgraph that outlives its call.
    pub(crate) fn keep(&self, namespace: Namespace, live: Live) {
        lock(&self.unfinished).remove(&namespace);
        lock(&self.left).insert(namespace, Left::Live(Box::new(live)));
    }

    /// Notes that a subgraph that outlives its call is called: until its state is [kept](Journal::keep) no snapshot can hold
    /// it.
    pub(crate) fn call(&self, namespace: &Namespace) {
        lock(&self.unfinished).insert(namespace.clone());
    }

    /// Whether the run before ended because people were asked.
    pub(crate) fn has_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// What people are asked in the subgraphs that `task` calls from `path`, if the run before ended with that and nothing
    /// there can go on: then the task does not have to be started.
    pub(crate) fn waiting_below(&self, path: &Namespace, task: TaskId) -> Option<Vec<Pending>> {
        if !self.has_asked() {
            return None;
        }
        let left = lock(&self.left);
        let stored = left.iter().filter_map(|(path, left)| match left {
            Left::Stored(run) => Some((path, &**run)),
            Left::Live(_) => None,
        });
        let stored: Vec<_> = stored.collect();
        let of_task = |(called, run): &&(&Namespace, &RunFold)| {
            run.parent == Some(task) && called.parent().as_ref() == Some(path)
        };
        let called: Vec<_> = stored.iter().filter(of_task).map(|(path, _)| *path).collect();
        let below = stored.iter().filter(|(path, _)| called.iter().any(|c| path.is_within(c)));
        let mut asked = Vec::new();
        for (path, run) in below {
            let open = |task| run.open_questions().any(|question| question.task == task);
            let answered = run.questions.iter().any(|question| !open(question.task));
            if answered || !run.settled.is_empty() || !run.intents.is_empty() {
                return None;
            }
            asked.extend(run.open_questions().map(|question| pending(question, path)));
        }
        let expires = asked.iter().any(|pending| pending.deadline.is_some());
        (!asked.is_empty() && !expires).then_some(asked)
    }

    /// Takes what an earlier run left of the subgraphs within `path`. Give back what is still there with
    /// [`put_below`](Journal::put_below).
    pub(crate) fn take_below(&self, path: &Namespace) -> BTreeMap<Namespace, RunFold> {
        let mut below = BTreeMap::new();
        let mut left = lock(&self.left);
        let within = |called: &Namespace| called != path && called.is_within(path);
        for (called, one) in std::mem::take(&mut *left) {
            match one {
                Left::Stored(run) if within(&called) => drop(below.insert(called, *run)),
                one => drop(left.insert(called, one)),
            }
        }
        below
    }

    /// Notes what an earlier run left of subgraphs.
    pub(crate) fn put_below(&self, below: BTreeMap<Namespace, RunFold>) {
        let below = below.into_iter().map(|(path, run)| (path, Left::Stored(Box::new(run))));
        lock(&self.left).extend(below);
    }

    /// Takes what was left of one subgraph: by an earlier run, by an earlier call if its state outlives it, or by an
    /// attempt of this run that failed.
    pub(crate) async fn take_left(
        &self,
        namespace: &Namespace,
    ) -> Result<Option<Left>, CheckpointError> {
        let left = lock(&self.left).remove(namespace);
        let begun = !lock(&self.begun).insert(namespace.clone());
        match (&self.store, left) {
            // It was begun in this run and did not end: what it has done since is in the log alone.
            (Some(store), None) if begun => {
                self.barrier().await?;
                let log = Log::new(store.clone(), self.thread.clone()).open(None).await?;
                let run = log.and_then(|mut log| log.fold.runs.remove(namespace));
                Ok(run.map(|run| Left::Stored(Box::new(run))))
            }
            (_, left) => Ok(left),
        }
    }

    /// Notes that a subgraph runs, until the guard is dropped; `None` if it does already.
    pub(crate) fn enter(self: &Arc<Self>, namespace: &Namespace) -> Option<Running> {
        let new = lock(&self.running).insert(namespace.clone());
        new.then(|| Running { journal: self.clone(), namespace: namespace.clone() })
    }

    /// The states of subgraphs that outlive their call, for a snapshot; `None` if one is not known here.
    pub(crate) fn kept(&self) -> Option<Vec<(Namespace, Live)>> {
        if !lock(&self.unfinished).is_empty() {
            return None;
        }
        let left = lock(&self.left);
        let live = left.iter().filter_map(|(path, left)| match left {
            Left::Live(live) => Some((path.clone(), (**live).clone())),
            Left::Stored(run) if run.persistence == Persistence::PerThread => {
                let state = AnyState::stored(run.fields.clone());
                let run = RunFold { fields: Fields::default(), ..(**run).clone() };
                Some((path.clone(), Live { state, unknown: Fields::default(), run }))
            }
            Left::Stored(_) => None,
        });
        Some(live.collect())
    }
}
