//! The tasks of a super-step: one by itself, or several at once.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, OnceLock},
};

use crate::{
    error::{NodeError, RunError},
    graph::definition::Vertex,
    journal::append::ClaimAfter,
    node::{
        attempt::{LazyStop, StoredSteps, TaskAttempt},
        doubts::Within,
        note,
        task_ref::TaskRef,
    },
    observe::{
        any::AnyUpdate,
        event::{EventKind, Mode},
        spoken::Spoken,
    },
    outcome::{Pending, Resolution},
    run::{
        deep::DeepRuns,
        graph_run::GraphRun,
        group::{Group, Part},
        plan::indices,
        run_state::RunState,
        step_outcome::{StepOutcome, stored_done},
        task,
        task_outcome::{Done, TaskOutcome, written},
    },
};
use futures_util::FutureExt;
use hanok_checkpoint::{Body, Doubt, Failed, StepRecords};
use hanok_core::{BoxFuture, Panicked, Position, TaskId};
use hanok_state::{State, StateUpdate};
use tracing::{Instrument, Span};

impl<S: State, C: Send + Sync + 'static> GraphRun<S, C> {
    /// The tasks that are due, in order, with their ids.
    pub(crate) fn tasks(&self, progress: &RunState<S>) -> Vec<Arc<TaskRef>> {
        let due = &progress.frontier.due;
        let (turn, step) = (progress.turn, progress.frontier.step);
        let task = |(index, due)| TaskRef::new(&self.namespace, turn, step, due, index);
        indices(due).into_iter().zip(due).map(task).collect()
    }

    /// The calls in doubt that a person is asked about.
    pub(crate) fn doubts(&self, progress: &RunState<S>) -> Vec<Pending> {
        let open = progress.records.intents.values().filter(|intent| intent.asks());
        open.map(|intent| Pending::of_intent(intent, &self.namespace)).collect()
    }

    /// Runs the tasks whose writes are not stored and that do not wait for an answer.
    pub(crate) async fn run_tasks(
        &self,
        progress: &RunState<S>,
        tasks: &[Arc<TaskRef>],
    ) -> Result<StepOutcome<S::Update>, RunError> {
        let mut outcome = StepOutcome::of(tasks.len());
        let mut to_run = Vec::new();
        let fresh = progress.records.is_empty()
            && !self.env.journal.was_interrupted()
            && self.env.doubts.is_empty();
        for (i, task) in tasks.iter().enumerate() {
            if fresh {
                to_run.push(i);
                continue;
            }
            let id = self.id(task);
            let stored = progress.records.pending.iter().find(|(_, write)| write.task == id);
            if let Some((position, write)) = stored {
                outcome.done(i, stored_done(&*progress.state, *position, write)?);
            } else if self.waits(progress, id) {
                continue;
            } else if let Some(asked) = self.in_doubt_below(task, id) {
                outcome.waiting.extend(asked);
            } else if let Some(asked) = self.env.journal.waiting_below(&self.namespace, id) {
                outcome.waiting.extend(asked);
            } else {
                to_run.push(i);
            }
        }
        let wide = tasks.len() > 1;
        if let (false, [i]) = (wide, to_run.as_slice())
            && let Some(task) = tasks.get(*i)
            && let Some(vertex) = self.graph.vertex(&task.node)
        {
            let scope = Arc::new(self.first_attempt(progress, task, vertex, false));
            let (attempt, failed) = (scope.clone(), self.failure(progress, task));
            let (state, services) = (&progress.state, &self.services);
            let ended = task::run(&self.graph, vertex, state, services, attempt, failed).await;
            // What a subgraph adds to its caller's state is what was written, and not what came of it.
            let ended = match progress.added {
                Some(_) => store(ended, &scope).await,
                None => ended,
            };
            outcome.add(*i, ended);
            return Ok(outcome);
        }
        self.run_wide(progress, tasks, &to_run, &mut outcome).await;
        Ok(outcome)
    }

    /// True if a task has a question without an answer or a call in doubt, so that it is not started again. A question
    /// past its deadline is not waited for.
    fn waits(&self, progress: &RunState<S>, task: TaskId) -> bool {
        let now = || self.env.runtime.clock.now();
        let mut questions = progress.records.questions.iter().filter(|q| q.task == task);
        let asks = questions.any(|question| {
            !progress.records.answers.contains_key(&question.id)
                && question.deadline.is_none_or(|deadline| deadline > now())
        });
        let mut intents = progress.records.intents.values().filter(|intent| intent.task == task);
        asks || intents.any(|i| i.asks())
    }

    /// The calls in doubt in the graphs that the task ran before, if there are any. Then it is not started: it might make another
    /// call for the one of which nobody knows. A task that is a subgraph makes no other, and its other tasks may go on.
    fn in_doubt_below(&self, task: &TaskRef, id: TaskId) -> Option<Vec<Pending>> {
        let vertex = self.graph.vertex(&task.node)?;
        let doubts = self.env.doubts.below(id);
        (vertex.inside.is_none() && !doubts.is_empty()).then_some(doubts)
    }

    /// Runs several tasks, each on its own. They run to their end, whatever their siblings do, unless the graph stops
    /// them when one fails.
    async fn run_wide(
        &self,
        progress: &RunState<S>,
        tasks: &[Arc<TaskRef>],
        to_run: &[usize],
        outcome: &mut StepOutcome<S::Update>,
    ) {
        let group = Group::of(to_run.len());
        let due = to_run.iter().filter_map(|i| Some((*i, tasks.get(*i)?)));
        let works = due.map(|(i, task)| self.part(progress, task, group.part(i))).collect();
        let mut started = Group::start(&group, &self.env.runtime.spawner, works);
        while let Some((i, ended)) = started.next().await {
            let failed = matches!(ended, TaskOutcome::Failed(_));
            outcome.add(i, ended);
            if failed && self.graph.fail_fast {
                break;
            }
        }
        // What still runs is aborted.
        drop(started);
        let lost = to_run.iter().find(|i| outcome.is_missing(**i));
        if let (Some(i), None) = (lost, &outcome.failed) {
            outcome.failed = Some((*i, NodeError::Lost));
        }
    }

    /// One task of a wide super-step, to be spawned.
    fn part(
        &self,
        progress: &RunState<S>,
        task: &Arc<TaskRef>,
        part: Part<TaskOutcome<S::Update>>,
    ) -> BoxFuture<'static, ()> {
        let Some(vertex) = self.graph.vertex(&task.node) else {
            return Box::pin(std::future::ready(()));
        };
        let mut scope = self.first_attempt(progress, task, vertex, false);
        // What is deep within it is polled where it is.
        let deep = scope.within.as_ref().map(|_| Arc::new(DeepRuns::default()));
        if let (Some(within), Some(deep)) = (&mut scope.within, &deep) {
            *within = Arc::new(Within { deep: deep.clone(), ..Within::clone(within) });
        }
        let scope = Arc::new(scope);
        let (graph, services) = (self.graph.clone(), self.services.clone());
        let (state, failed) = (progress.state.clone(), self.failure(progress, task));
        let work = async move {
            let Some(vertex) = graph.vertex(&scope.task.node) else { return };
            let run = AssertUnwindSafe(async {
                let attempt = scope.clone();
                let ended = task::run(&graph, vertex, &state, &services, attempt, failed).await;
                match scope.env.journal.is_kept() {
                    true => Box::pin(store(ended, &scope)).await,
                    false => shown(ended, &scope),
                }
            });
            // A panic of the node itself is an outcome; this is one of other code of the task.
            let ended = run.catch_unwind().await.unwrap_or_else(|panic| {
                TaskOutcome::Failed(NodeError::Panicked(Panicked::of(&*panic).0))
            });
            drop(state);
            let urgent = graph.fail_fast && matches!(ended, TaskOutcome::Failed(_));
            part.end(ended, urgent);
        };
        let work = async move {
            match deep {
                Some(deep) => deep.around(work).await,
                None => work.await,
            }
        };
        let span = Span::current();
        if span.is_disabled() { Box::pin(work) } else { Box::pin(work.instrument(span)) }
    }

    /// The earlier failure of the task, if only its error handler is left to run.
    fn failure(&self, progress: &RunState<S>, task: &TaskRef) -> Option<Box<Failed>> {
        if progress.records.failures.is_empty() {
            return None;
        }
        progress.records.failures.get(&self.id(task)).cloned().map(Box::new)
    }

    /// The records of a task in the log, if there are any.
    fn stored_steps(&self, progress: &RunState<S>, task: &TaskRef) -> OnceLock<Arc<StoredSteps>> {
        if progress.records.is_empty() {
            return OnceLock::new();
        }
        let id = self.id(task);
        let records = progress.records.of_task(id);
        let StepRecords { memos, intents, mut settled, questions, answers, earlier, .. } = records;
        let mut memos = memos.into_iter().map(|((_, name), value)| (name, value)).collect();
        let notes = note::taken_from(&mut memos);
        for intent in intents.values() {
            let resolution = match intent.doubt {
                _ if intent.repeats() => Resolution::NotMade,
                Doubt::GiveUp => Resolution::GiveUp,
                _ => continue,
            };
            settled.extend(
                resolution.to_stored().ok().map(|resolution| (intent.id.clone(), resolution)),
            );
        }
        let stored = StoredSteps {
            memos: Mutex::new(memos),
            notes: Mutex::new(notes),
            intents: Mutex::default(),
            settled,
            questions,
            answers,
            earlier,
            scripted: None,
        };
        Arc::new(stored).into()
    }

    pub(super) fn first_attempt(
        &self,
        progress: &RunState<S>,
        task: &Arc<TaskRef>,
        vertex: &Vertex<S, C>,
        alone: bool,
    ) -> TaskAttempt {
        let settings = &vertex.settings;
        let silent = settings.idle.or(settings.heartbeat).or(task.idle());
        let watched = silent.or(settings.timeout).or(task.timeout()).is_some();
        let activity = if watched { self.activity.child() } else { self.activity.clone() };
        let spoken = match self.env.sink.modes().has(Mode::Messages) {
            true => Spoken::within(&self.spoken),
            false => Spoken::default(),
        };
        TaskAttempt {
            env: self.env.clone(),
            task: task.clone(),
            within: self.within.clone(),
            alone: alone && progress.fresh.is_empty(),
            remaining: self.limit.saturating_sub(progress.frontier.step + 1),
            attempt: 1,
            handling: false,
            past_limits: vertex.settings.past_limits,
            at: progress.since,
            from: progress.at,
            deadline: None,
            waited: activity.waited(),
            stop: LazyStop::default(),
            activity,
            spoken,
            held: self.held.clone(),
            meter: OnceLock::new(),
            stored_steps: self.stored_steps(progress, task),
            log: OnceLock::new(),
        }
    }
}

/// Stores the update of a task, if it is done.
async fn store<U: StateUpdate>(ended: TaskOutcome<U>, scope: &TaskAttempt) -> TaskOutcome<U> {
    let done = match ended {
        TaskOutcome::Done(done) => done,
        ended => return ended,
    };
    let env = &scope.env;
    if !env.journal.is_kept() {
        return shown(TaskOutcome::Done(done), scope);
    }
    let write = match written(&done, scope.id(), &scope.task.node, &env.readable) {
        Ok(write) => write,
        Err(error) => return TaskOutcome::Failed(error.into()),
    };
    env.record_spent(done.spent);
    let entry = (scope.task.namespace.clone(), Body::Write(write));
    let now = env.runtime.clock.now();
    let report_at = |at| report(&done, scope, Some(at));
    let _wait = scope.awaits_store();
    match env.journal.append_then(now, vec![entry], ClaimAfter::Held, report_at).await {
        Ok(position) => TaskOutcome::Done(Done { position: Some(position), ..done }),
        Err(error) => TaskOutcome::Failed(error.into()),
    }
}

/// Reports the update of a task where nothing is stored.
fn shown<U: StateUpdate>(ended: TaskOutcome<U>, scope: &TaskAttempt) -> TaskOutcome<U> {
    let TaskOutcome::Done(done) = ended else { return ended };
    report(&done, scope, None);
    TaskOutcome::Done(Done { position: Some(Position::START), ..done })
}

fn report<U: StateUpdate>(done: &Done<U>, scope: &TaskAttempt, position: Option<Position>) {
    // The scope is of the first attempt.
    scope.report(done.attempt, position, || {
        EventKind::Updates(AnyUpdate::new(U::clone(&done.update)))
    });
}
