//! The run loop: super-steps, one after the other, until nothing is due. The thread's own graph and every subgraph are
//! driven by the same one.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, OnceLock},
};

use hanok_checkpoint::{Body, Doubt, Due, Failed, Question, Reopen, StepRecords, TaskWrite};
use hanok_core::{BoxFuture, Limit, Namespace, Position, RunId, TaskId};
use hanok_state::{State, StateUpdate};
use tracing::{Instrument, Span};

use crate::{
    error::{NodeError, RunError, state_error},
    graph::definition::{Definition, Vertex},
    journal::journal::ClaimAfter,
    node::{
        activity::Activity,
        attempt::{LazyId, LazyStop, Stop, StoredSteps, TaskAttempt},
        question::UnfitAnswer,
        run_context::RunContext,
    },
    observe::event::{AnyUpdate, Event, EventKind},
    outcome::{Breakpoint, Outcome, Pending, Resolution, open_questions},
    run::{
        group::{Group, Part},
        plan::indices,
        run_state::RunState,
        task::{self, Done, TaskOutcome},
    },
    slots::HeldSlots,
};

/// What a run of one graph is given.
pub(crate) struct GraphRun<S: State, C> {
    pub(crate) graph: Arc<Definition<S, C>>,
    pub(crate) services: Arc<C>,
    pub(crate) env: Arc<RunContext>,
    /// Where the graph's entries are written: the thread's log, or nowhere.
    pub(crate) namespace: Namespace,
    pub(crate) run: RunId,
    pub(crate) limit: u32,
    /// The signs of life of the task that called the graph.
    pub(crate) activity: Activity,
    /// The slots that task holds.
    pub(crate) held: HeldSlots,
}

/// A task that is due.
pub(crate) struct Task {
    id: LazyId,
    due: Due,
}

impl Task {
    pub(crate) fn node(&self) -> &Arc<str> {
        &self.due.node
    }
}

/// The tasks of a super-step that ran, in task order.
pub(crate) type Ran<U> = [(Task, Done<U>)];

/// What came of the tasks of a super-step.
struct StepOutcome<U: StateUpdate> {
    /// By the index of the task.
    done: Vec<Option<Done<U>>>,
    /// With the index of the task.
    asked: Vec<(usize, Vec<Question>)>,
    unfit: Vec<UnfitAnswer>,
    waiting: Vec<Pending>,
    failed: Option<(usize, NodeError)>,
    stopped: Option<Stop>,
}

impl<S: State, C: Send + Sync + 'static> GraphRun<S, C> {
    /// Runs super-steps until nothing is due, or the run has to end.
    pub(crate) async fn drive(&self, progress: &mut RunState<S>) -> Result<Outcome<S>, RunError> {
        self.graph.adapt(&mut progress.frontier)?;
        while !progress.frontier.is_done() {
            if let Some(stop) = self.stop(progress) {
                return Ok(self.stopped(progress, stop));
            }
            let ended = match self.alone(progress) {
                Some((task, vertex)) => self.step_alone(progress, task, vertex).await?,
                None => self.boxed_step(progress).await?,
            };
            if let Some(outcome) = ended {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Done(self.shown(progress)))
    }

    /// The state as an outcome shows it.
    pub(crate) fn shown(&self, progress: &RunState<S>) -> S {
        S::clone(&self.graph.shown(&progress.state))
    }

    fn check_nodes(&self, progress: &RunState<S>) -> Result<(), RunError> {
        let due = progress.frontier.due.iter().map(|due| &due.node);
        let missing = due.filter(|node| self.graph.vertex(node).is_none());
        let missing: Vec<_> = missing.map(ToString::to_string).collect();
        if missing.is_empty() { Ok(()) } else { Err(RunError::GraphChanged { missing }) }
    }

    /// Why no further super-step may start, if none may.
    fn stop(&self, progress: &RunState<S>) -> Option<Stop> {
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
        let current = |node| self.graph.current_name(node);
        let before = next.iter().map(current).filter(|node| self.graph.before.contains(*node));
        let after = progress.last.iter().map(current);
        let after = after.filter(|node| self.graph.after.contains(*node));
        let nodes: BTreeSet<_> = before.chain(after).collect();
        let nodes: Vec<_> = nodes.into_iter().map(ToString::to_string).collect();
        let next = next.iter().map(ToString::to_string).collect();
        let path = self.namespace.clone();
        let at = Breakpoint { path, nodes, next, state: () };
        (!at.nodes.is_empty()).then_some(Stop::Breakpoint(at))
    }

    fn stopped(&self, progress: &RunState<S>, stop: Stop) -> Outcome<S> {
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

    /// [`super_step`](GraphRun::super_step) on the heap: graphs call each other sixteen deep, and all of them are polled on
    /// one stack.
    fn boxed_step<'a>(
        &'a self,
        progress: &'a mut RunState<S>,
    ) -> BoxFuture<'a, Result<Option<Outcome<S>>, RunError>> {
        Box::pin(self.super_step(progress))
    }

    /// Runs one super-step; an outcome if the run ends in it.
    async fn super_step(&self, progress: &mut RunState<S>) -> Result<Option<Outcome<S>>, RunError> {
        self.check_nodes(progress)?;
        let tasks = self.tasks(progress);
        let came = self.run_tasks(progress, &tasks).await?;
        self.ended(progress, tasks, came).await
    }

    /// Commits what came of the tasks of a super-step; an outcome if the run ends with it.
    async fn ended(
        &self,
        progress: &mut RunState<S>,
        tasks: Vec<Task>,
        mut came: StepOutcome<S::Update>,
    ) -> Result<Option<Outcome<S>>, RunError> {
        let doubts = self.doubts(progress);
        let step = progress.frontier.step;
        if !came.asked.is_empty() || !came.unfit.is_empty() {
            // In task order, not in time.
            came.asked.sort_by_key(|(index, _)| *index);
            let asked: Vec<_> = came.asked.drain(..).flat_map(|(_, asked)| asked).collect();
            self.ask(progress, asked, std::mem::take(&mut came.unfit)).await;
        }
        if let Some((index, source)) = came.failed {
            let node = tasks.get(index).map_or_else(|| "?".into(), |task| task.node().clone());
            let namespace = self.namespace.clone();
            return Err(match source {
                NodeError::Checkpoint(error) => error.into(),
                // Whatever the node made of it.
                _ if self.env.journal.is_lost() => {
                    let thread = self.env.journal.thread().clone();
                    // How much of the run is stored is told at its end.
                    RunError::Conflict { thread, holder: None }
                }
                source => RunError::Node { node, step, namespace, source },
            });
        }
        if let Some(stop) = came.stopped {
            return Ok(Some(self.stopped(progress, stop)));
        }
        let mut waiting = came.waiting;
        let done = |id| {
            let mut done = tasks.iter().zip(&came.done).filter(|(_, done)| done.is_some());
            done.any(|(task, _)| self.id(task) == id)
        };
        let now = self.env.runtime.clock.now();
        let open =
            open_questions(&progress.records.questions, &progress.records.answers, done, now);
        waiting.extend(
            open.into_iter().map(|question| Pending::of_question(question, &self.namespace)),
        );
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
        let ran = tasks.into_iter().zip(came.done);
        let ran = ran.filter_map(|(task, done)| done.map(|done| (task, done)));
        let mut ran: Vec<_> = ran.collect();
        self.commit(progress, &mut ran).await?;
        Ok(None)
    }

    /// The one task that is due, if nothing of it is in the log: most super-steps of most graphs.
    fn alone(&self, progress: &RunState<S>) -> Option<(Task, &Vertex<S, C>)> {
        let [due] = progress.frontier.due.as_slice() else { return None };
        let waits = self.env.journal.was_interrupted();
        if waits || !progress.records.is_empty() || progress.added.is_some() {
            return None;
        }
        let vertex = self.graph.vertex(&due.node)?;
        let id = LazyId::new(progress.turn, progress.frontier.step, 0);
        Some((Task { id, due: due.clone() }, vertex))
    }

    /// As [`super_step`](GraphRun::super_step), of one task.
    async fn step_alone(
        &self,
        progress: &mut RunState<S>,
        task: Task,
        vertex: &Vertex<S, C>,
    ) -> Result<Option<Outcome<S>>, RunError> {
        let scope = self.task_scope(progress, &task, vertex, true);
        let (state, services) = (&progress.state, &self.services);
        let ended = task::run(&self.graph, vertex, state, services, (scope, None)).await;
        if let TaskOutcome::Done(done) = ended {
            self.commit(progress, &mut [(task, done)]).await?;
            return Ok(None);
        }
        self.boxed_ended(progress, task, ended).await
    }

    fn boxed_ended<'a>(
        &'a self,
        progress: &'a mut RunState<S>,
        task: Task,
        ended: TaskOutcome<S::Update>,
    ) -> BoxFuture<'a, Result<Option<Outcome<S>>, RunError>> {
        let mut came = StepOutcome::of(1);
        came.add(0, ended);
        Box::pin(self.ended(progress, vec![task], came))
    }

    /// The id of a task of this graph.
    pub(crate) fn id(&self, task: &Task) -> TaskId {
        task.id.get(self.env.journal.identity(), &self.namespace, task.node())
    }

    /// The tasks that are due, in order, with their ids.
    fn tasks(&self, progress: &RunState<S>) -> Vec<Task> {
        let due = &progress.frontier.due;
        let (turn, step) = (progress.turn, progress.frontier.step);
        let task = |(index, due): (usize, &Due)| Task {
            id: LazyId::new(turn, step, index),
            due: due.clone(),
        };
        indices(due).into_iter().zip(due).map(task).collect()
    }

    /// The calls of which nobody knows whether they were made, and that a person is asked about.
    fn doubts(&self, progress: &RunState<S>) -> Vec<Pending> {
        let open = progress.records.intents.values().filter(|intent| intent.doubt == Doubt::Ask);
        open.map(|intent| Pending::of_intent(intent, &self.namespace)).collect()
    }

    /// Runs the tasks whose writes are not stored and that do not wait for an answer.
    async fn run_tasks(
        &self,
        progress: &RunState<S>,
        tasks: &[Task],
    ) -> Result<StepOutcome<S::Update>, RunError> {
        let mut came = StepOutcome::of(tasks.len());
        let mut to_run = Vec::new();
        let fresh = progress.records.is_empty() && !self.env.journal.was_interrupted();
        for (i, task) in tasks.iter().enumerate() {
            if fresh {
                to_run.push(i);
                continue;
            }
            let id = self.id(task);
            let stored = progress.records.pending.iter().find(|(_, write)| write.task == id);
            if let Some((position, write)) = stored {
                came.done(i, stored_done(&*progress.state, *position, write)?);
            } else if self.waits(progress, id) {
                continue;
            } else if let Some(asked) = self.env.journal.waiting_below(&self.namespace, id) {
                came.waiting.extend(asked);
            } else {
                to_run.push(i);
            }
        }
        let wide = tasks.len() > 1;
        if let (false, [i]) = (wide, to_run.as_slice())
            && let Some(task) = tasks.get(*i)
            && let Some(vertex) = self.graph.vertex(task.node())
        {
            let scope = self.task_scope(progress, task, vertex, false);
            let ran = (scope.clone(), self.failure(progress, task));
            let (state, services) = (&progress.state, &self.services);
            let ended = task::run(&self.graph, vertex, state, services, ran).await;
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
    fn waits(&self, progress: &RunState<S>, task: TaskId) -> bool {
        let now = || self.env.runtime.clock.now();
        let mut questions = progress.records.questions.iter().filter(|q| q.task == task);
        let asks = questions.any(|question| {
            !progress.records.answers.contains_key(&question.id)
                && question.deadline.is_none_or(|deadline| deadline > now())
        });
        let mut intents = progress.records.intents.values().filter(|intent| intent.task == task);
        asks || intents.any(|i| i.doubt == Doubt::Ask)
    }

    /// Runs several tasks, each on its own. They run to their end, whatever becomes of their siblings, unless the graph
    /// stops them when one fails.
    async fn run_wide(
        &self,
        progress: &RunState<S>,
        tasks: &[Task],
        to_run: &[usize],
        came: &mut StepOutcome<S::Update>,
    ) {
        let group = Group::of(to_run.len());
        let due = to_run.iter().filter_map(|i| Some((*i, tasks.get(*i)?)));
        let works = due.map(|(i, task)| self.part(progress, task, group.part(i))).collect();
        let mut started = Group::start(&group, &self.env.runtime.spawner, works);
        while let Some((i, ended)) = started.next().await {
            let failed = matches!(ended, TaskOutcome::Failed(_));
            came.add(i, ended);
            if failed && self.graph.fail_fast {
                break;
            }
        }
        // What still runs is aborted.
        drop(started);
        let lost = to_run.iter().find(|i| came.is_missing(**i));
        if let (Some(i), None) = (lost, &came.failed) {
            came.failed = Some((*i, NodeError::Lost));
        }
    }

    /// One task of a wide super-step, to be spawned.
    fn part(
        &self,
        progress: &RunState<S>,
        task: &Task,
        part: Part<TaskOutcome<S::Update>>,
    ) -> BoxFuture<'static, ()> {
        let Some(vertex) = self.graph.vertex(task.node()) else {
            return Box::pin(std::future::ready(()));
        };
        let scope = self.task_scope(progress, task, vertex, false);
        let (graph, services) = (self.graph.clone(), self.services.clone());
        let (state, failed) = (progress.state.clone(), self.failure(progress, task));
        let work = async move {
            let ran = (scope.clone(), failed);
            let ended = task::run_apart(&graph, &state, &services, ran).await;
            drop(state);
            let ended = match scope.env.journal.is_kept() {
                true => Box::pin(store(ended, &scope)).await,
                false => shown(ended, &scope),
            };
            let urgent = graph.fail_fast && matches!(ended, TaskOutcome::Failed(_));
            part.end(ended, urgent);
        };
        let span = Span::current();
        if span.is_disabled() { Box::pin(work) } else { Box::pin(work.instrument(span)) }
    }

    /// How the task failed before, if its error handler is all that is left to run.
    fn failure(&self, progress: &RunState<S>, task: &Task) -> Option<Box<Failed>> {
        if progress.records.failures.is_empty() {
            return None;
        }
        progress.records.failures.get(&self.id(task)).cloned().map(Box::new)
    }

    /// What the log says of a task, if it says anything.
    fn kept(&self, progress: &RunState<S>, task: &Task) -> OnceLock<Arc<StoredSteps>> {
        if progress.records.is_empty() {
            return OnceLock::new();
        }
        let id = self.id(task);
        let records = progress.records.of_task(id);
        let StepRecords { memos, intents, mut settled, questions, answers, .. } = records;
        let memos = memos.into_iter().map(|((_, name), value)| (name, value)).collect();
        for intent in intents.values() {
            let said = match intent.doubt {
                Doubt::Ask => continue,
                Doubt::Repeat => Resolution::NotMade,
                Doubt::GiveUp => Resolution::GiveUp,
            };
            settled.extend(said.to_stored().ok().map(|said| (intent.id.clone(), said)));
        }
        let kept = StoredSteps {
            memos: Mutex::new(memos),
            intents: Mutex::default(),
            settled,
            questions,
            answers,
        };
        Arc::new(kept).into()
    }

    fn task_scope(
        &self,
        progress: &RunState<S>,
        task: &Task,
        vertex: &Vertex<S, C>,
        alone: bool,
    ) -> Arc<TaskAttempt> {
        let watched = vertex.settings.idle.is_some();
        let activity = if watched { self.activity.child() } else { self.activity.clone() };
        Arc::new(TaskAttempt {
            env: self.env.clone(),
            namespace: self.namespace.clone(),
            node: task.node().clone(),
            id: task.id.clone(),
            alone: alone && progress.fresh.is_empty(),
            step: progress.frontier.step,
            remaining: self.limit.saturating_sub(progress.frontier.step + 1),
            attempt: 1,
            handling: false,
            input: task.due.input.clone(),
            at: progress.since,
            deadline: None,
            stop: LazyStop::default(),
            activity,
            held: self.held.clone(),
            meter: OnceLock::new(),
            kept: self.kept(progress, task),
            seen: OnceLock::new(),
        })
    }

    /// Lets questions be stored with the end of the run, and those whose answers do not fit be open again.
    async fn ask(&self, progress: &mut RunState<S>, asked: Vec<Question>, unfit: Vec<UnfitAnswer>) {
        let path = &self.namespace;
        let question = |question: &Question| (path.clone(), Body::Question(question.clone()));
        let mut entries: Vec<_> = asked.iter().map(question).collect();
        let count = entries.len() as u64 + unfit.len() as u64;
        for UnfitAnswer { id, wanted, answer, reason } in unfit {
            progress.records.answers.remove(&id);
            let again = Reopen { id: id.clone(), reason: reason.clone() };
            entries.push((path.clone(), Body::Reopen(again)));
            let Some(question) =
                progress.records.questions.iter().find(|question| question.id == id)
            else {
                continue;
            };
            let request = Pending::of_question(question, path);
            let task = (question.node.as_str().into(), question.task, 1);
            let voided =
                EventKind::AnswerVoided { request: request.clone(), reason: reason.clone() };
            self.emit(progress, Some(task), None, voided);
            let (id, question, faults) = (request.id.clone(), Box::new(request), vec![reason]);
            self.env.refuse(RunError::WrongAnswer { id, question, wanted, answer, faults });
        }
        let (sink, step, shown) = (self.env.sink.clone(), progress.frontier.step, asked.clone());
        let path = path.clone();
        let tell = move |last: Position| {
            for (i, question) in (1..).zip(&shown) {
                let at = Position(last.0.saturating_sub(count) + i);
                let task = (question.node.as_str().into(), question.task, 1);
                let request = EventKind::Request(Pending::of_question(question, &path));
                sink.emit(|| Event::new(&path, step, Some(task), Some(at), request));
            }
        };
        self.env.journal.hold(entries, Box::new(tell)).await;
        asked.into_iter().for_each(|question| progress.records.ask(question));
    }
}

/// Stores what a task wrote, if it is done.
async fn store<U: StateUpdate>(ended: TaskOutcome<U>, scope: &TaskAttempt) -> TaskOutcome<U> {
    let done = match ended {
        TaskOutcome::Done(done) => done,
        ended => return ended,
    };
    let env = &scope.env;
    if !env.journal.is_kept() {
        return shown(TaskOutcome::Done(done), scope);
    }
    let write = match task::written(&done, scope.task(), &scope.node, &env.readable) {
        Ok(write) => write,
        Err(error) => return TaskOutcome::Failed(error.into()),
    };
    env.record_spent(done.spent);
    let entry = (scope.namespace.clone(), Body::Write(write));
    let tell = |at| tell(&done, scope, Some(at));
    match env.journal.append_then(vec![entry], ClaimAfter::Held, tell).await {
        Ok(position) => TaskOutcome::Done(Done { position: Some(position), ..done }),
        Err(error) => TaskOutcome::Failed(error.into()),
    }
}

/// Tells what a task wrote where nothing is kept.
fn shown<U: StateUpdate>(ended: TaskOutcome<U>, scope: &TaskAttempt) -> TaskOutcome<U> {
    let TaskOutcome::Done(done) = ended else { return ended };
    tell(&done, scope, None);
    TaskOutcome::Done(Done { position: Some(Position::START), ..done })
}

fn tell<U: StateUpdate>(done: &Done<U>, scope: &TaskAttempt, position: Option<Position>) {
    scope.env.sink.emit(|| {
        let task = (scope.node.clone(), scope.task(), done.attempt);
        let update = EventKind::Updates(AnyUpdate::new(U::clone(&done.update)));
        Event::new(&scope.namespace, scope.step, Some(task), position, update)
    });
}

impl<U: StateUpdate> StepOutcome<U> {
    /// Nothing, of so many tasks.
    fn of(tasks: usize) -> Self {
        Self {
            done: (0..tasks).map(|_| None).collect(),
            asked: Vec::new(),
            unfit: Vec::new(),
            waiting: Vec::new(),
            failed: None,
            stopped: None,
        }
    }

    fn done(&mut self, index: usize, done: Done<U>) {
        if let Some(place) = self.done.get_mut(index) {
            *place = Some(done);
        }
    }

    fn add(&mut self, index: usize, ended: TaskOutcome<U>) {
        match ended {
            TaskOutcome::Done(done) => self.done(index, done),
            TaskOutcome::Interrupted(asked) => {
                if !asked.questions.is_empty() {
                    self.asked.push((index, asked.questions));
                }
                self.unfit.extend(asked.unfit);
                self.waiting.extend(asked.below);
            }
            TaskOutcome::Failed(error) => {
                // The first in task order, not in time.
                if self.failed.as_ref().is_none_or(|(first, _)| index < *first) {
                    self.failed = Some((index, error));
                }
            }
            TaskOutcome::Stopped(stop) => {
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
        let asks = !(self.asked.is_empty() && self.unfit.is_empty() && self.waiting.is_empty());
        let nothing_else = !asks && self.stopped.is_none();
        nothing_else && self.failed.is_none() && self.done.get(index).is_none_or(Option::is_none)
    }
}

fn stored_done<S: State>(
    state: &S,
    position: Position,
    write: &TaskWrite,
) -> Result<Done<S::Update>, RunError> {
    let mut update = S::Update::from_changes(&write.changes).map_err(state_error)?;
    state.bind(&write.node, &mut update).map_err(|error| RunError::State(error.into()))?;
    Ok(Done {
        update: Box::new(update),
        goto: write.goto.clone(),
        spent: write.spent,
        position: Some(position),
        attempt: 1,
        outbox: write.outbox.clone(),
        ahead: None,
    })
}
