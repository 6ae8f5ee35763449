//! The calls of a run that were announced and of which nobody knows whether they were made: an intent, and no result.
//!
//! An intent leaves the log by the result of its call, by a person's answer, or not at all. The future that made the call may be
//! dropped, and whoever awaited it may make something else of its error: the intent stands, and no task is done while one of its own
//! calls, or a call in a graph that it ran, is in doubt. A call that goes on from a note is in doubt once its task is over without it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use hanok_checkpoint::{
    Answer, Body, CheckpointError, Doubt, Intent, RunFold, Safety, StepRecords,
};
use hanok_core::{CallKey, Namespace, TaskId};

use crate::{
    node::{
        attempt::{TaskAttempt, locked},
        note,
    },
    outcome::{Pending, Resolution},
    run::{deep::DeepRuns, subgraph_place::Called},
};

/// The task that runs a graph, or makes a call, and those within which it does.
#[derive(Debug, Clone)]
pub(crate) struct Within {
    pub(crate) task: TaskId,
    /// What the graph is told from others of the task by, in this run.
    pub(crate) called: Called,
    pub(crate) outer: Option<Arc<Within>>,
    /// The graphs within graphs that are polled with it.
    pub(crate) deep: Arc<DeepRuns>,
}

impl Within {
    /// What is known of it when it does not run.
    fn of(task: TaskId, outer: Option<Arc<Self>>) -> Self {
        Self { task, called: Called::default(), outer, deep: Arc::default() }
    }

    /// It, and what is around it.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |within| within.outer.as_deref())
    }
}

/// Whether somebody goes on with the calls of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// It is tried again, or in a later run.
    GoesOn,
    /// It has returned, or was given up.
    IsOver,
}

/// A call without a result.
#[derive(Debug, Clone)]
pub(crate) struct OpenCall {
    path: Namespace,
    intent: Intent,
    within: Within,
    /// True once its work began.
    is_begun: bool,
    /// True where the log is known to hold the intent, and nothing after it about the call. A future that is dropped while it appends
    /// leaves that open.
    is_sure: bool,
}

/// The calls of a run without a result, which a person is asked about once their tasks are over.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// True once there was one.
    any: AtomicBool,
    open: Mutex<BTreeMap<(Namespace, String), OpenCall>>,
}

impl Doubts {
    /// Notes what the subgraphs of an earlier run left in doubt.
    pub(crate) fn restore(&self, runs: &BTreeMap<Namespace, RunFold>) {
        for (path, run) in runs {
            self.restore_of(path, &run.records, || around(runs, path));
        }
    }

    /// Notes what the graph at `path` left in doubt in an earlier run.
    pub(crate) fn restore_of(
        &self,
        path: &Namespace,
        records: &StepRecords,
        outer: impl Fn() -> Option<Arc<Within>>,
    ) {
        for intent in records.intents.values() {
            self.announce(path, intent, &outer);
            self.begin(path, intent);
        }
    }

    /// Notes that `intent` is about to be stored. The graph of its task runs within `outer`.
    fn announce(
        &self,
        path: &Namespace,
        intent: &Intent,
        outer: impl FnOnce() -> Option<Arc<Within>>,
    ) {
        if intent.doubt != Doubt::Ask {
            return;
        }
        let within = Within::of(intent.task, outer());
        let (path, intent) = (path.clone(), intent.clone());
        let place = (path.clone(), intent.key.clone());
        let call = OpenCall { path, intent, within, is_begun: false, is_sure: false };
        locked(&self.open).insert(place, call);
        self.any.store(true, Ordering::SeqCst);
    }

    /// Notes that `intent` is what the log says of its call now.
    fn begin(&self, path: &Namespace, intent: &Intent) {
        if intent.doubt != Doubt::Ask {
            return self.settle(path, &intent.key);
        }
        self.change(path, &intent.key, |call| {
            (call.intent.noted, call.is_begun, call.is_sure) = (intent.noted, true, true);
        });
    }

    /// Notes that something about a call is about to be stored.
    fn unsettle(&self, path: &Namespace, key: &str) {
        self.change(path, key, |call| call.is_sure = false);
    }

    /// Notes that the outcome of a call is known.
    fn settle(&self, path: &Namespace, key: &str) {
        if self.any.load(Ordering::SeqCst) {
            locked(&self.open).remove(&(path.clone(), key.to_owned()));
        }
    }

    fn change(&self, path: &Namespace, key: &str, change: impl FnOnce(&mut OpenCall)) {
        if self.any.load(Ordering::SeqCst) {
            locked(&self.open).get_mut(&(path.clone(), key.to_owned())).map(change);
        }
    }

    /// Checks whether every call has a result.
    pub(crate) fn is_empty(&self) -> bool {
        !self.any.load(Ordering::SeqCst) || locked(&self.open).is_empty()
    }

    /// The calls of the task, and of the graphs that it ran.
    fn of(&self, task: TaskId) -> Vec<OpenCall> {
        self.chosen(|within| within.all().any(|within| within.task == task))
    }

    /// What the graphs that the task ran in an earlier run left in doubt. A call with a note goes on from it.
    pub(crate) fn below(&self, task: TaskId) -> Vec<Pending> {
        let is_below = |within: &Within| within.all().skip(1).any(|within| within.task == task);
        let calls = self.chosen(is_below);
        calls.iter().filter(|call| call.intent.asks()).map(OpenCall::pending).collect()
    }

    /// The calls of graphs that ran within `call`.
    pub(crate) fn within(&self, call: &CallKey) -> Vec<OpenCall> {
        self.chosen(|within| within.all().any(|it| it.called.call.as_ref() == Some(call)))
    }

    /// The calls of the graph that the task ran under `name`.
    pub(crate) fn named(&self, task: TaskId, name: &str) -> Vec<OpenCall> {
        let is_it = |it: &Within| it.task == task && it.called.name.as_deref() == Some(name);
        self.chosen(|within| within.all().any(is_it))
    }

    fn chosen(&self, is_chosen: impl Fn(&Within) -> bool) -> Vec<OpenCall> {
        if self.is_empty() {
            return Vec::new();
        }
        let open = locked(&self.open);
        open.values().filter(|call| is_chosen(&call.within)).cloned().collect()
    }
}

impl OpenCall {
    fn pending(&self) -> Pending {
        Pending::of_intent(&self.intent, &self.path)
    }
}

impl TaskAttempt {
    /// Notes that `intent` is about to be stored.
    pub(crate) fn announce(&self, intent: &Intent) {
        self.env.doubts.announce(&self.task.namespace, intent, || self.within.clone());
    }

    /// Notes that `intent` is what the log says of its call now.
    pub(crate) fn intend(&self, intent: Intent) {
        self.env.doubts.begin(&self.task.namespace, &intent);
        locked(&self.stored_steps().intents).insert(intent.key.clone(), intent);
    }

    /// Notes that something about the call `key` is about to be stored.
    pub(crate) fn unsettle(&self, key: &str) {
        self.env.doubts.unsettle(&self.task.namespace, key);
    }

    /// Notes that it is known of the call `key` whether it was made.
    pub(crate) fn settle(&self, key: &str) {
        self.env.doubts.settle(&self.task.namespace, key);
        locked(&self.stored_steps().intents).remove(key);
    }

    /// What of the task's calls, and of those in the graphs that it ran, is in doubt when an attempt ends. With its `work` over the
    /// calls that have a note are, too.
    pub(crate) async fn in_doubt(&self, work: Work) -> Result<Vec<Pending>, CheckpointError> {
        self.doubted(self.env.doubts.of(self.id()), work).await
    }

    /// What of `calls` is in doubt, now that nobody works on them. Of a call whose future was dropped while it stored something the log
    /// says how far it came. One that was announced and not begun was not made.
    pub(crate) async fn doubted(
        &self,
        calls: Vec<OpenCall>,
        work: Work,
    ) -> Result<Vec<Pending>, CheckpointError> {
        let journal = &self.env.journal;
        let fold = match calls.iter().all(|call| call.is_sure) {
            true => None,
            false => Box::pin(journal.fold()).await?,
        };
        let mut doubts = Vec::new();
        for call in calls {
            let (path, key) = (&call.path, &call.intent.key);
            let intents = fold.as_ref().and_then(|fold| fold.run(path));
            let intent = match call.is_sure {
                true => Some(&call.intent),
                false => intents
                    .and_then(|run| run.records.intents.get(&(call.intent.task, key.clone())))
                    .filter(|intent| intent.doubt == Doubt::Ask),
            };
            match intent {
                Some(intent) if intent.noted && work == Work::GoesOn => {}
                Some(intent) if intent.noted => {
                    journal.append_safely(note::lost(path, intent), Safety::Machine).await?;
                    doubts.push(Pending::of_intent(intent, path));
                }
                Some(intent) if call.is_begun => doubts.push(Pending::of_intent(intent, path)),
                Some(intent) => {
                    let value = Resolution::NotMade
                        .to_stored()
                        .map_err(|error| CheckpointError::Encode(error.into()))?;
                    let answer = Answer { id: intent.id.clone(), value, by: None, key: None };
                    journal.append(path, Body::Answer(answer)).await?;
                    self.env.doubts.settle(path, key);
                }
                None => self.env.doubts.settle(path, key),
            }
        }
        Ok(doubts)
    }
}

/// The tasks within which the graph at `path` runs, as the log knows them.
fn around(runs: &BTreeMap<Namespace, RunFold>, path: &Namespace) -> Option<Arc<Within>> {
    let task = runs.get(path)?.parent?;
    let outer = path.parent().and_then(|parent| around(runs, &parent));
    Some(Arc::new(Within::of(task, outer)))
}
