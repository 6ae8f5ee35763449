//! The run loop: super-steps, one after the other, until nothing is due. The thread's own graph and every subgraph are
//! driven by the same one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use futures::{StreamExt, channel::mpsc};
use hanok_checkpoint::{Body, Doubt, Due, Question, TaskWrite};
use hanok_core::{BoxFuture, Limit, Namespace, Position, RunId, TaskId};
use hanok_state::{State, StateUpdate};
use tracing::{Instrument, Span};

use crate::{
    AnyUpdate, Breakpoint, EventKind, NodeError, Outcome, Pending, Resolution, RunError,
    activity::Activity,
    commit::event,
    env::Env,
    graph::Inner,
    ids,
    journal::Keep,
    plan,
    progress::{Progress, in_doubt, open_questions, pending, state_error},
    scope::{Kept, Stop, TaskScope},
    slots::Held,
    task::{self, Done, Ended},
};

/// What a run of one graph is given.
pub(crate) struct Scope<S: State, C> {
    pub(crate) graph: Arc<Inner<S, C>>,
    pub(crate) services: Arc<C>,
    pub(crate) env: Arc<Env>,
    /// Where the graph's entries are written: the thread's log, or nowhere.
    pub(crate) namespace: Namespace,
    pub(crate) run: RunId,
    pub(crate) limit: u32,
    /// The signs of life of the task that called the graph.
    pub(crate) activity: Activity,
    /// The slots that task holds.
    pub(crate) held: Held,
}

/// A task that is due.
pub(crate) struct Task {
    pub(crate) id: TaskId,
    due: Due,
    pub(crate) node: Arc<str>,
}

/// The tasks of a super-step that ran, in task order.
pub(crate) type Ran<U> = Vec<(Task, Done<U>)>;

/// What came of the tasks of a super-step.
struct Came<U> {
    done: BTreeMap<usize, Done<U>>,
    /// By the index of the task.
    asked: Vec<(usize, Vec<Question>)>,
    waiting: Vec<Pending>,
    failed: Option<(usize, NodeError)>,
    stopped: Option<Stop>,
}

impl<S: State, C: Send + Sync + 'static> Scope<S, C> {
    /// Runs super-steps until nothing is due, or the run has to end.
    pub(crate) async fn drive(&self, progress: &mut Progress<S>) -> Result<Outcome<S>, RunError> {
        while !progress.frontier.is_done() {
            self.check_nodes(progress)?;
            if let Some(stop) = self.stop(progress) {
                return Ok(self.stopped(progress, stop));
            }
            if let Some(outcome) = self.boxed_step(progress).await? {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Done(self.shown(progress)))
    }

    /// The state as an outcome shows it.
    pub(crate) fn shown(&self, progress: &Progress<S>) -> S {
        S::clone(&self.graph.shown(&progress.state))
    }

    fn check_nodes(&self, progress: &Progress<S>) -> Result<(), RunError> {
        let due = progress.frontier.due.iter().map(|due| due.node.as_str());
        let missing: Vec<_> =
            due.filter(|node| !self.graph.nodes.contains_key(*node)).map(str::to_owned).collect();
        if missing.is_empty() { Ok(()) } else { Err(RunError::GraphChanged { missing }) }
    }

    /// Why no further super-step may start, if none may.
    fn stop(&self, progress: &Progress<S>) -> Option<Stop> {
        if self.env.cancellation.is_cancelled() {
            return Some(Stop::Cancelled);
        }
        if self.env.is_draining() {
            return Some(Stop::Drained);
        }
        if progress.frontier.step >= self.limit {
            return Some(Stop::Limit(Limit::Steps(self.limit)));
        }
        if let Some(limit) = self.env.total.exhausted() {
            return Some(Stop::Limit(limit));
        }
        let is_kept = self.env.journal.is_kept() || self.namespace.is_root();
        let has_none = self.graph.before.is_empty() && self.graph.after.is_empty();
        if progress.passed || has_none || !is_kept {
            return None;
        }
        let next: Vec<_> = progress.frontier.due.iter().map(|due| due.node.clone()).collect();
        let before = next.iter().filter(|node| self.graph.before.contains(node.as_str()));
        let after = progress.last.iter().filter(|node| self.graph.after.contains(node.as_str()));
        let nodes: BTreeSet<_> = before.chain(after).cloned().collect();
        let (nodes, path) = (nodes.into_iter().collect::<Vec<_>>(), self.namespace.clone());
        let at = Breakpoint { path, nodes, next, state: () };
        (!at.nodes.is_empty()).then_some(Stop::Breakpoint(at))
    }

    fn stopped(&self, progress: &Progress<S>, stop: Stop) -> Outcome<S> {
        match stop {
            Stop::Cancelled => Outcome::Cancelled,
            Stop::Drained => Outcome::Drained,
            Stop::Limit(which) => Outcome::LimitReached { which, state: self.shown(progress) },
            Stop::Breakpoint(Breakpoint { path, nodes, next, state: () }) => {
                let state = self.shown(progress);
                Outcome::Breakpoint(Breakpoint { path, nodes, next, state })
            }
        }
    }

    /// [`super_step`](Scope::super_step) on the heap: graphs call each other sixteen deep, and all of them are polled on
    /// one stack.
    fn boxed_step<'a>(
        &'a self,
        progress: &'a mut Progress<S>,
    ) -> BoxFuture<'a, Result<Option<Outcome<S>>, RunError>> {
        Box::pin(self.super_step(progress))
    }

    /// Runs one super-step; an outcome if the run ends in it.
    async fn super_step(&self, progress: &mut Progress<S>) -> Result<Option<Outcome<S>>, RunError> {
        let tasks = self.tasks(progress);
        let doubts = self.doubts(progress);
        let mut came = self.run_tasks(progress, &tasks).await?;
        let step = progress.frontier.step;
        if !came.asked.is_empty() {
            // In task order, not in time.
            came.asked.sort_by_key(|(index, _)| *index);
            let asked: Vec<_> = came.asked.drain(..).flat_map(|(_, asked)| asked).collect();
            self.store_questions(progress, &asked).await?;
            progress.questions.retain(|before| !asked.iter().any(|q| q.id == before.id));
            progress.questions.extend(asked);
        }
        if let Some((index, source)) = came.failed {
            let node = tasks.get(index).map_or_else(|| "?".into(), |task| task.node.clone());
            let namespace = self.namespace.clone();
            return Err(match source {
                NodeError::Checkpoint(error) => error.into(),
                // Whatever the node made of it.
                _ if self.env.journal.is_lost() => {
                    let thread = self.env.journal.thread().clone();
                    RunError::Conflict { thread, holder: None }
                }
                source => RunError::Node { node, step, namespace, source },
            });
        }
        if let Some(stop) = came.stopped {
            return Ok(Some(self.stopped(progress, stop)));
        }
        let mut waiting = came.waiting;
        let done = |id| came.done.keys().any(|i| tasks.get(*i).is_some_and(|task| task.id == id));
        let now = self.env.runtime.clock.now();
        let open = open_questions(&progress.questions, &progress.answers, done, now);
        waiting.extend(open.into_iter().map(|question| pending(question, &self.namespace)));
        if !doubts.is_empty() {
            waiting.splice(0..0, doubts);
        }
        if waiting.iter().any(|pending| pending.doubt.is_some()) {
            let of_this = |p: &&Pending| p.doubt.is_some() && p.path == self.namespace;
            for doubt in waiting.iter().filter(of_this) {
                self.emit(progress, None, None, EventKind::Request(doubt.clone()));
            }
            return Ok(Some(Outcome::InDoubt(waiting)));
        }
        if !waiting.is_empty() {
            return Ok(Some(Outcome::Interrupted(waiting)));
        }
        let ran = tasks
            .into_iter()
            .enumerate()
            .filter_map(|(i, task)| came.done.remove(&i).map(|done| (task, done)))
            .collect();
        self.commit(progress, ran).await?;
        Ok(None)
    }

    /// The tasks that are due, in order, with their ids.
    fn tasks(&self, progress: &Progress<S>) -> Vec<Task> {
        let due = &progress.frontier.due;
        let thread = self.env.journal.thread();
        let (turn, step) = (progress.turn, progress.frontier.step);
        plan::indices(due)
            .into_iter()
            .zip(due)
            .map(|(index, due)| Task {
                id: ids::task(thread, &self.namespace, turn, step, &due.node, index),
                node: due.node.as_str().into(),
                due: due.clone(),
            })
            .collect()
    }

    /// The calls of which nobody knows whether they were made, and that a person is asked about.
    fn doubts(&self, progress: &Progress<S>) -> Vec<Pending> {
        let open = progress.intents.values().filter(|intent| intent.doubt == Doubt::Ask);
        open.map(|intent| in_doubt(intent, &self.namespace)).collect()
    }

    /// Runs the tasks whose writes are not stored and that do not wait for an answer.
    async fn run_tasks(
        &self,
        progress: &Progress<S>,
        tasks: &[Task],
    ) -> Result<Came<S::Update>, RunError> {
        let mut came = Came {
            done: BTreeMap::new(),
            asked: Vec::new(),
            waiting: Vec::new(),
            failed: None,
            stopped: None,
        };
        let mut to_run = Vec::new();
        for (i, task) in tasks.iter().enumerate() {
            if let Some((position, write)) =
                progress.pending.iter().find(|(_, write)| write.task == task.id)
            {
                came.done.insert(i, stored_done(&*progress.state, *position, write)?);
            } else if self.waits(progress, task) {
                continue;
            } else if let Some(asked) = self.env.journal.waiting_below(&self.namespace, task.id) {
                came.waiting.extend(asked);
            } else {
                to_run.push(i);
            }
        }
        let wide = tasks.len() > 1;
        if let (false, [i]) = (wide, to_run.as_slice())
            && let Some(task) = tasks.get(*i)
        {
            let scope = self.task_scope(progress, task);
            let failed = progress.failures.get(&task.id).cloned();
            let (state, services) = (&progress.state, &self.services);
            let ended = task::run(&self.graph, state, services, scope.clone(), failed).await;
            // What a subgraph adds to its caller's state is what was written, and not what came of it.
            let ended = match progress.added {
                Some(_) => store(ended, &scope).await,
                None => ended,
            };
            came.add(*i, ended);
            return Ok(came);
        }
        self.run_wide(progress, tasks, &to_run, &mut came).await;
        Ok(came)
    }

    /// Whether a task asked something that has no answer, or may have made a call: then it is not started again. A
    /// question that is past its deadline is not waited for.
    fn waits(&self, progress: &Progress<S>, task: &Task) -> bool {
        let now = || self.env.runtime.clock.now();
        let mut questions = progress.questions.iter().filter(|q| q.task == task.id);
        let asks = questions.any(|question| {
            !progress.answers.contains_key(&question.id)
                && question.deadline.is_none_or(|deadline| deadline > now())
        });
        let mut intents = progress.intents.values().filter(|intent| intent.task == task.id);
        asks || intents.any(|intent| intent.doubt == Doubt::Ask)
    }

    /// Runs several tasks, each on its own. They run to their end, whatever becomes of their siblings, unless the graph
    /// stops them when one fails.
    async fn run_wide(
        &self,
        progress: &Progress<S>,
        tasks: &[Task],
        to_run: &[usize],
        came: &mut Came<S::Update>,
    ) {
        let (send, mut receive) = mpsc::unbounded();
        let mut spawned = Vec::with_capacity(to_run.len());
        for i in to_run {
            let Some(task) = tasks.get(*i) else { continue };
            let (i, scope, send) = (*i, self.task_scope(progress, task), send.clone());
            let (graph, services) = (self.graph.clone(), self.services.clone());
            let (state, failed) =
                (progress.state.clone(), progress.failures.get(&task.id).cloned());
            let work = async move {
                let ended = task::run(&graph, &state, &services, scope.clone(), failed).await;
                drop(state);
                let ended = store(ended, &scope).await;
                // A run that is gone does not want to know.
                drop(send.unbounded_send((i, ended)));
            };
            let work = work.instrument(Span::current());
            spawned.push(self.env.runtime.spawner.spawn(Box::pin(work)));
        }
        drop(send);
        while let Some((i, ended)) = receive.next().await {
            let failed = matches!(ended, Ended::Failed(_));
            came.add(i, ended);
            if failed && self.graph.fail_fast {
                break;
            }
        }
        // Handles are dropped only now: dropping one aborts its task.
        drop(spawned);
        let lost = to_run.iter().find(|i| came.is_missing(**i));
        if let (Some(i), None) = (lost, &came.failed) {
            came.failed = Some((*i, NodeError::Lost));
        }
    }

    fn task_scope(&self, progress: &Progress<S>, task: &Task) -> Arc<TaskScope> {
        let memos = progress.memos.iter().filter(|((id, _), _)| *id == task.id);
        let memos = memos.map(|((_, name), value)| (name.clone(), value.clone())).collect();
        let mut settled = progress.settled.clone();
        for intent in progress.intents.values().filter(|intent| intent.task == task.id) {
            let said = match intent.doubt {
                Doubt::Ask => continue,
                Doubt::Repeat => Resolution::NotMade,
                Doubt::GiveUp => Resolution::GiveUp,
            };
            settled.extend(said.to_stored().ok().map(|said| (intent.id.clone(), said)));
        }
        let kept = Kept {
            memos: Mutex::new(memos),
            intents: Mutex::default(),
            settled,
            questions: progress.questions.clone(),
            answers: progress.answers.clone(),
        };
        Arc::new(TaskScope {
            env: self.env.clone(),
            namespace: self.namespace.clone(),
            node: task.node.clone(),
            task: task.id,
            step: progress.frontier.step,
            remaining: self.limit.saturating_sub(progress.frontier.step + 1),
            attempt: 1,
            handling: false,
            input: task.due.input.clone(),
            started: self.env.runtime.clock.now(),
            deadline: None,
            cancellation: self.env.cancellation.child(),
            activity: self.activity.child(),
            held: self.held.clone(),
            meter: self.env.total.child(),
            kept: Arc::new(kept),
            seen: Mutex::default(),
        })
    }

    async fn store_questions(
        &self,
        progress: &Progress<S>,
        asked: &[Question],
    ) -> Result<(), RunError> {
        let entries: Vec<_> = asked
            .iter()
            .map(|question| (self.namespace.clone(), Body::Question(question.clone())))
            .collect();
        let count = entries.len() as u64;
        let tell = |last: Position| {
            for (i, question) in (1..).zip(asked) {
                let at = Position(last.0.saturating_sub(count) + i);
                let task = (question.node.as_str().into(), question.task, 1);
                let request = EventKind::Request(pending(question, &self.namespace));
                self.emit(progress, Some(task), Some(at), request);
            }
        };
        self.env.journal.append_then(entries, Keep::Claim, tell).await?;
        Ok(())
    }
}

/// Stores what a task wrote, if it is done and anything is kept.
async fn store<U: StateUpdate>(ended: Ended<U>, scope: &TaskScope) -> Ended<U> {
    let done = match ended {
        Ended::Done(done) => done,
        ended => return ended,
    };
    let (env, path) = (&scope.env, &scope.namespace);
    let task = (scope.node.clone(), scope.task, done.attempt);
    let tell = |position: Option<Position>| {
        env.sink.emit(|| {
            let update = EventKind::Updates(AnyUpdate::new(done.update.clone()));
            event(path, scope.step, Some(task), position, update)
        });
    };
    if !env.journal.is_kept() {
        tell(None);
        return Ended::Done(Done { position: Some(Position::START), ..done });
    }
    let write = match task::written(&done, scope.task, &scope.node) {
        Ok(write) => write,
        Err(error) => return Ended::Failed(error.into()),
    };
    env.said(done.spent);
    let entry = (scope.namespace.clone(), Body::Write(write));
    match env.journal.append_then(vec![entry], Keep::Claim, |at| tell(Some(at))).await {
        Ok(position) => Ended::Done(Done { position: Some(position), ..done }),
        Err(error) => Ended::Failed(error.into()),
    }
}

impl<U> Came<U> {
    fn add(&mut self, index: usize, ended: Ended<U>) {
        match ended {
            Ended::Done(done) => {
                self.done.insert(index, done);
            }
            Ended::Asked(asked, waiting) => {
                if !asked.is_empty() {
                    self.asked.push((index, asked));
                }
                self.waiting.extend(waiting);
            }
            Ended::Failed(error) => {
                // The first in task order, not in time.
                if self.failed.as_ref().is_none_or(|(first, _)| index < *first) {
                    self.failed = Some((index, error));
                }
            }
            Ended::Stopped(stop) => {
                // Being asked to stop is what the caller wanted; anything else they have to be told.
                match (&self.stopped, &stop) {
                    (Some(_), Stop::Cancelled) => {}
                    _ => self.stopped = Some(stop),
                }
            }
        }
    }

    /// Whether nothing at all came of a task.
    fn is_missing(&self, index: usize) -> bool {
        let nothing_else =
            self.asked.is_empty() && self.waiting.is_empty() && self.stopped.is_none();
        nothing_else && self.failed.is_none() && !self.done.contains_key(&index)
    }
}

fn stored_done<S: State>(
    state: &S,
    position: Position,
    write: &TaskWrite,
) -> Result<Done<S::Update>, RunError> {
    let update = S::Update::from_changes(&write.changes).map_err(state_error)?;
    let bound = state.bind(&write.node.as_str().into(), update);
    Ok(Done {
        update: bound.map_err(|error| RunError::State(error.into()))?,
        goto: write.goto.clone(),
        spent: write.spent,
        position: Some(position),
        attempt: 1,
        outbox: write.outbox.clone(),
    })
}
