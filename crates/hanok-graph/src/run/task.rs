//! One task: its attempts, its error handler and its router.

use hanok_checkpoint::{Body, CheckpointError, Failed, Goto, Intent};
use hanok_core::{BoxError, Chain, Panicked};
use hanok_state::{State, StateUpdate};
use std::{panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};
use tracing::Instrument;

use crate::{
    error::NodeError,
    graph::definition::{Definition, Vertex},
    node::{
        attempt::{LazyStop, Shown, Stop, TaskAttempt, locked},
        command::{Command, Target},
        context::Context,
        doubts::Work,
        handler::{Failure, FailureKind},
        retry::caused_by,
    },
    node_error::find_cause,
    observe::event::EventKind,
    outcome::Pending,
    run::{
        merge::{Unmerged, complete, merge},
        parent_command::{handed, of_child},
        route::{edges, run_routers, to_strings, unknown_target},
        task_limits::{TimeLimits, in_time, until_stopped},
        task_outcome::{Ahead, AttemptOutcome, Done, Interrupted, TaskOutcome},
        told_messages::tell_messages,
    },
    slots,
};
use futures_util::FutureExt;

/// Runs one task to its end: attempts, then its error handler. With `failed` only the handler is left to run.
///
/// The work of few tasks (waiting for slots, looking into a cache, keeping time, failing) has a box of its own, so that
/// the others carry no room for it.
/// The work itself has none: thousands of runs that wait are a tenth cheaper so.
pub(crate) async fn run<S: State, C: Send + Sync + 'static>(
    graph: &Definition<S, C>,
    vertex: &Vertex<S, C>,
    state: &Arc<S>,
    services: &Arc<C>,
    scope: Arc<TaskAttempt>,
    failed: Option<Box<Failed>>,
) -> TaskOutcome<S::Update> {
    let work = pin!(work(graph, vertex, state, services, &scope, failed));
    until_stopped(&scope, work).await
}

async fn work<S: State, C: Send + Sync + 'static>(
    graph: &Definition<S, C>,
    vertex: &Vertex<S, C>,
    state: &Arc<S>,
    services: &Arc<C>,
    scope: &Arc<TaskAttempt>,
    failed: Option<Box<Failed>>,
) -> TaskOutcome<S::Update> {
    let run_and_graph = scope.env.slots.iter().chain(&graph.slots);
    let slots_needed: Vec<_> = run_and_graph.chain(&vertex.settings.slots).cloned().collect();
    let (scope, _permits) = if slots_needed.is_empty() && failed.is_none() {
        (scope.clone(), Vec::new())
    } else {
        let (held, permits) = Box::pin(slots::acquire(slots_needed, &scope.held)).await;
        (Arc::new(TaskAttempt { held, ..scope.again(scope.attempt, failed.is_some()) }), permits)
    };
    let task = TaskRunner { graph, vertex, state, services };
    let ended = match (failed, &vertex.settings.cache) {
        (Some(failed), _) => Box::pin(task.handle(&scope, &failed)).await,
        (None, Some(cache)) => Box::pin(task.cached(&scope, cache)).await,
        (None, None) => task.attempts(&scope, |_| {}).await,
    };
    match &ended {
        TaskOutcome::Failed(error) => {
            scope.emit(EventKind::TaskFailed { error: Chain(error).to_string(), handled: false });
        }
        TaskOutcome::Interrupted(..) => scope.emit(EventKind::TaskInterrupted),
        TaskOutcome::Done(_) | TaskOutcome::Stopped(_) => {}
    }
    ended
}

/// A task's node, with the state and the services.
pub(super) struct TaskRunner<'a, S: State, C> {
    pub(super) graph: &'a Definition<S, C>,
    vertex: &'a Vertex<S, C>,
    pub(super) state: &'a Arc<S>,
    pub(super) services: &'a Arc<C>,
}

/// The calls in doubt of an attempt that has `ended`, its own and those in graphs that it ran.
async fn in_doubt<S: State>(
    scope: &TaskAttempt,
    ended: &AttemptOutcome<S>,
) -> Result<Vec<Pending>, CheckpointError> {
    let work = match ended {
        AttemptOutcome::Returned(_) => Work::IsOver,
        _ => Work::GoesOn,
    };
    if scope.env.doubts.is_empty() {
        return Ok(Vec::new());
    }
    match (Box::pin(scope.in_doubt(work)).await, ended) {
        // What the store refused first is what matters.
        (Err(_), AttemptOutcome::Failed(error)) if is_refused(error) => Ok(Vec::new()),
        (doubts, _) => doubts,
    }
}

/// True if the store refused something. That is no failure of the node's.
fn is_refused(error: &NodeError) -> bool {
    caused_by::<CheckpointError>(error).is_some()
}

/// A task whose node has returned, whatever it made of a call in doubt, is not done: it asks.
fn asks<U: StateUpdate>(doubts: Vec<Pending>) -> TaskOutcome<U> {
    TaskOutcome::Interrupted(Interrupted { below: doubts, ..Interrupted::default() })
}

/// Stops the work that an attempt leaves behind at its end, also when it is dropped.
struct CancelOnDrop<'a>(&'a LazyStop);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<S: State, C: Send + Sync + 'static> TaskRunner<'_, S, C> {
    /// Runs the node until it is done, asks, stops, or has failed for the last time; then its error handler. `made`
    /// receives the command that the node returned, and `None` if the task failed nevertheless.
    pub(super) async fn attempts(
        &self,
        first: &Arc<TaskAttempt>,
        mut made: impl FnMut(Option<&Command<S>>),
    ) -> TaskOutcome<S::Update> {
        let mut scope = self.timed(first.clone());
        loop {
            scope.started();
            let ended = self.attempt(&scope, None).await;
            let doubts = match in_doubt(&scope, &ended).await {
                Ok(doubts) => doubts,
                Err(error) => return TaskOutcome::Failed(error.into()),
            };
            let error = match ended {
                AttemptOutcome::Returned(_) if !doubts.is_empty() => return asks(doubts),
                AttemptOutcome::Returned(command) => {
                    made(Some(&command));
                    match self.finish(command, &scope) {
                        TaskOutcome::Failed(error) => {
                            made(None);
                            error
                        }
                        ended => {
                            scope.emit(EventKind::TaskFinished { cached: false });
                            return ended;
                        }
                    }
                }
                AttemptOutcome::Interrupted(interrupted) => {
                    return TaskOutcome::Interrupted(interrupted);
                }
                AttemptOutcome::Stopped(stop) => return TaskOutcome::Stopped(stop),
                AttemptOutcome::Failed(error) => error,
            };
            if is_refused(&error) {
                return TaskOutcome::Failed(error);
            }
            // A call in doubt has to be settled before anything of the task is done again, and before a handler answers for it.
            let own = |intent: &Intent| !intent.repeats();
            let in_doubt =
                locked(&scope.stored_steps().intents).values().any(own) || !doubts.is_empty();
            if let (false, Some(delay)) = (in_doubt, self.retry(&scope, &error)) {
                scope.emit(EventKind::TaskRetried { error: Chain(&error).to_string(), delay });
                scope.env.runtime.clock.sleep(delay).await;
                scope = self.timed(Arc::new(scope.again(scope.attempt + 1, false)));
                continue;
            }
            if in_doubt || self.vertex.settings.handler.is_none() {
                return TaskOutcome::Failed(error);
            }
            return Box::pin(self.failed(&scope, error)).await;
        }
    }

    /// The attempt with its deadline, if the node has a time-out.
    fn timed(&self, scope: Arc<TaskAttempt>) -> Arc<TaskAttempt> {
        match scope.task.timeout().or(self.vertex.settings.timeout) {
            Some(timeout) => {
                let deadline = Some(scope.env.runtime.clock.now().plus(timeout));
                Arc::new(TaskAttempt { deadline, ..scope.again(scope.attempt, scope.handling) })
            }
            None => scope,
        }
    }

    /// The delay before another attempt, if there is to be one.
    fn retry(&self, scope: &TaskAttempt, error: &NodeError) -> Option<Duration> {
        let rng = &*scope.env.runtime.rng;
        let policies = &self.vertex.settings.retries;
        let delay = policies.iter().find_map(|retry| retry.delay(scope.attempt, error, rng))?;
        delay.filter(|_| scope.env.take_retry())
    }

    /// Stores that the node has failed, then runs its error handler.
    async fn failed(&self, scope: &Arc<TaskAttempt>, error: NodeError) -> TaskOutcome<S::Update> {
        let spent = scope.spend();
        let failed = Failed {
            task: scope.id(),
            node: scope.task.node.to_string(),
            kind: FailureKind::of(&error).word().to_owned(),
            message: Chain(&error).to_string(),
            attempts: scope.attempt,
            spent,
        };
        scope.env.record_spent(spent);
        let body = Body::Failed(failed.clone());
        let wait = scope.awaits_store();
        let stored = scope.env.journal.append(&scope.task.namespace, body).await;
        drop(wait);
        if let Err(error) = stored {
            return TaskOutcome::Failed(error.into());
        }
        scope.emit(EventKind::TaskFailed { error: failed.message.clone(), handled: true });
        self.handle(&Arc::new(scope.again(scope.attempt, true)), &failed).await
    }

    async fn handle(&self, scope: &Arc<TaskAttempt>, failed: &Failed) -> TaskOutcome<S::Update> {
        let of_handler = |source: NodeError| {
            let failure = failed.message.clone();
            TaskOutcome::Failed(NodeError::Handler { failure, source: Box::new(source) })
        };
        let ended = self.attempt(scope, Some(failed)).await;
        let doubts = match in_doubt(scope, &ended).await {
            Ok(doubts) => doubts,
            Err(error) => return TaskOutcome::Failed(error.into()),
        };
        match ended {
            AttemptOutcome::Returned(_) if !doubts.is_empty() => asks(doubts),
            AttemptOutcome::Returned(command) => {
                // Where the handler goes, it goes alone.
                let only = command.only || !command.goto.is_empty();
                match self.finish(Command { only, ..command }, scope) {
                    TaskOutcome::Failed(error) => of_handler(error),
                    ended => ended,
                }
            }
            AttemptOutcome::Interrupted(interrupted) => TaskOutcome::Interrupted(interrupted),
            AttemptOutcome::Stopped(stop) => TaskOutcome::Stopped(stop),
            AttemptOutcome::Failed(error) => of_handler(error),
        }
    }

    /// Runs the node, or its error handler, once, within its time.
    async fn attempt(
        &self,
        scope: &Arc<TaskAttempt>,
        failed: Option<&Failed>,
    ) -> AttemptOutcome<S> {
        let settings = &self.vertex.settings;
        let handling = failed.is_some();
        let timeout = scope.task.timeout().or(settings.timeout).filter(|_| !handling);
        let _over = CancelOnDrop(&scope.stop);
        let (graph, step) = (&self.graph.name, scope.task.step);
        let span =
            hanok_telemetry::node(graph, &scope.task.node, step, scope.attempt, Shown(scope));
        let node = self.node(scope, failed).instrument(span.clone());
        let idle = scope.task.idle().or(settings.idle).filter(|_| !handling);
        let heartbeat = settings.heartbeat.filter(|_| !handling);
        if idle.is_some() {
            scope.activity.watch();
        }
        let limits = TimeLimits { timeout, idle, heartbeat };
        let ended = match limits {
            TimeLimits { timeout: None, idle: None, heartbeat: None } => node.await,
            limits => Box::pin(in_time(node, scope, limits)).await,
        };
        if let AttemptOutcome::Failed(error) = &ended {
            hanok_telemetry::record_error(&span, FailureKind::of(error).word());
        }
        ended
    }

    async fn node(&self, scope: &Arc<TaskAttempt>, failed: Option<&Failed>) -> AttemptOutcome<S> {
        let context = Context::new(self.services.clone(), scope.clone());
        // The future is made inside as well: a node may panic before its first await.
        let node = AssertUnwindSafe(async {
            let made = match (failed, &self.vertex.settings.handler) {
                (Some(failed), Some(handler)) => {
                    handler.run(self.state, Failure::of(failed), context.clone())
                }
                _ => self.vertex.node.run(self.state, context.clone()),
            };
            let command = made.await?;
            if failed.is_some() || command.only || self.vertex.routers.is_empty() {
                return Ok(command);
            }
            Box::pin(self.routed_later(command, context)).await
        });
        let returned = node.catch_unwind().await;
        // A node that asked is suspended, and one that was stopped stops, whatever it made of the error.
        let (interrupted, stopped, command) = match scope.log_so_far() {
            Some(mut log) => {
                let interrupted = Interrupted {
                    questions: std::mem::take(&mut log.questions_asked),
                    below: std::mem::take(&mut log.waiting),
                    unfit: std::mem::take(&mut log.unfit),
                };
                (interrupted, log.stopped.take(), log.command.take())
            }
            None => (Interrupted::default(), None, None),
        };
        if !interrupted.is_empty() {
            if !interrupted.questions.is_empty() && failed.is_none() {
                self.voided(scope);
            }
            return AttemptOutcome::Interrupted(interrupted);
        }
        if let Some(stop) = stopped {
            return AttemptOutcome::Stopped(stop);
        }
        let limit = match (scope.past_limits, &returned) {
            (false, _) => scope.refused(),
            // What the store refused, no limit explains.
            (true, Ok(Err(error))) if find_cause::<CheckpointError>(error.as_ref()).is_none() => {
                scope.limit()
            }
            (true, _) => None,
        };
        if let Some(limit) = limit {
            return AttemptOutcome::Stopped(Stop::Limit(limit));
        }
        if let Some(command) = command {
            return match of_child::<S>(command, &self.graph.initial.schema().fields) {
                Ok(command) => AttemptOutcome::Returned(command),
                Err(error) => AttemptOutcome::Failed(error),
            };
        }
        match returned {
            Ok(Ok(command)) => AttemptOutcome::Returned(command),
            Ok(Err(error)) => match error.downcast::<NodeError>() {
                Ok(error) => AttemptOutcome::Failed(*error),
                Err(error) => AttemptOutcome::Failed(NodeError::Failed(error)),
            },
            Err(panic) => AttemptOutcome::Failed(NodeError::Panicked(Panicked::of(&*panic).0)),
        }
    }

    /// The command of the node with the targets of its async routers, which see the state with the node's own writes.
    async fn routed_later(
        &self,
        mut command: Command<S>,
        context: Context<C>,
    ) -> Result<Command<S>, BoxError> {
        let scope = context.scope();
        let mut update = command.update.clone();
        let node = &scope.task.node;
        self.state.bind(node, &mut update).map_err(NodeError::from)?;
        complete(&mut *update, || scope.id());
        let mut view = S::clone(self.state);
        merge(&mut view, &mut [(node, &mut update)], false).map_err(Unmerged::of_node)?;
        let view = Arc::new(view);
        for branch in &self.vertex.routers {
            let targets = branch.router.route(&view, context.clone()).await?;
            let declares = |target: &Target| branch.declared.contains(target.node());
            if let Some(target) = targets.iter().find(|target| !declares(target)) {
                return Err(unknown_target(target.node(), to_strings(&branch.declared)).into());
            }
            command.goto.extend(targets);
        }
        Ok(command)
    }

    /// Reports the answers that are void because the node asks something else now.
    fn voided(&self, scope: &TaskAttempt) {
        for question in scope.unused() {
            let (request, reason) = (
                Pending::of_question(&question, &scope.task.namespace),
                "its task asks something else",
            );
            scope.env.void(request.clone());
            scope.emit(EventKind::AnswerVoided { request, reason: reason.to_owned() });
        }
    }

    /// Completes a task's update and runs its routers.
    pub(super) fn finish(
        &self,
        command: Command<S>,
        scope: &TaskAttempt,
    ) -> TaskOutcome<S::Update> {
        match self.routed(command, scope) {
            Ok((update, goto, ahead)) => {
                tell_messages(scope, self.graph.initial.schema(), &*update);
                let (spent, attempt) = (scope.spend(), scope.attempt);
                let outbox = scope.log_so_far().map(|mut log| std::mem::take(&mut log.outbox));
                let outbox = outbox.unwrap_or_default();
                TaskOutcome::Done(Done {
                    update,
                    goto,
                    spent,
                    position: None,
                    attempt,
                    ahead,
                    outbox,
                })
            }
            Err(error) => TaskOutcome::Failed(error),
        }
    }

    fn routed(
        &self,
        command: Command<S>,
        scope: &TaskAttempt,
    ) -> Result<Routed<S::Update>, NodeError> {
        let Command { mut update, goto, only, parent } = command;
        self.state.bind(&scope.task.node, &mut update)?;
        complete(&mut *update, || scope.id());
        let ways = &self.vertex.ways;
        for target in &goto {
            if !target.is_end() && !ways.goto.contains(target.node()) {
                return Err(unknown_target(target.node(), to_strings(&ways.goto)));
            }
        }
        let ways_on = usize::from(only) + ways.edges.len() + ways.branches.len() + goto.len();
        let (mut gotos, mut ahead) = (Vec::with_capacity(ways_on), None);
        if only {
            gotos.push(Goto::Only);
        } else {
            gotos.extend(edges(ways));
        }
        if !ways.branches.is_empty() && !only {
            // The state with the node's own writes, and not its siblings'. Cloning it costs a pointer per field.
            let mut view = S::clone(self.state);
            let recorded = scope.env.journal.is_kept();
            let looked_at = recorded || scope.env.sink.is_on() || self.graph.has_ephemeral;
            let made = match scope.alone && !looked_at {
                true => merge(&mut view, &mut [(&scope.task.node, &mut update)], recorded),
                false => merge(&mut view, &mut [(&scope.task.node, &mut update.clone())], recorded),
            };
            let made = made.map_err(Unmerged::of_node)?;
            let seen = self.graph.seen_by_routers(Some(self.vertex), &view);
            for target in run_routers(ways, &*seen)? {
                gotos.push(self.graph.stored(target)?);
            }
            ahead = scope.alone.then(|| (Arc::new(view), made));
        }
        for target in goto {
            gotos.push(self.graph.stored(target)?);
        }
        if let Some(parent) = parent {
            if scope.task.namespace.is_root() {
                return Err(NodeError::NoParent);
            }
            gotos.push(Goto::Parent(handed(*parent)?));
        }
        Ok((update, gotos, ahead))
    }
}

/// A task's update, its targets, and the state that its routers saw.
type Routed<U> = (Box<U>, Vec<Goto>, Option<Ahead<U>>);
