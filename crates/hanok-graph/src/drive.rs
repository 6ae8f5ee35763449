//! The run loop: super-steps, one after the other, until nothing is due. The thread's own graph and every subgraph are
//! driven by the same one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use futures::{StreamExt, channel::mpsc};
use hanok_checkpoint::{
    Body, Commit, Due, End, Frontier, Goto, Question, Rebase, RunFold, SchemaRef, TaskWrite,
    ThreadFold, Void,
};
use hanok_core::{
    Cancellation, Changes, Fields, Meter, Namespace, Position, RequestId, RunId, Spent, Stored,
    StoredError, TaskId,
};
use hanok_state::{State, StateUpdate};

use crate::{
    AnyState, AnyUpdate, Event, EventKind, Limit, NodeError, Outcome, Pending, RunError, Runtime,
    context::TaskScope,
    event::Sink,
    graph::Inner,
    ids,
    journal::{Journal, Keep},
    plan,
    task::{self, Done, Ended, Unmerged},
};

/// What a run of one graph is given.
pub(crate) struct Scope<S: State, C> {
    pub(crate) graph: Arc<Inner<S, C>>,
    pub(crate) services: Arc<C>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) namespace: Namespace,
    pub(crate) run: RunId,
    pub(crate) runtime: Runtime,
    pub(crate) cancellation: Cancellation,
    pub(crate) sink: Sink,
    pub(crate) total: Meter,
    pub(crate) limit: u32,
}

/// How far a run has come.
pub(crate) struct Progress<S> {
    pub(crate) state: Arc<S>,
    /// Fields that this build does not know; they ride along.
    pub(crate) unknown: Fields,
    pub(crate) frontier: Frontier,
    /// Where the turn begins: the ids of tasks derive from it.
    pub(crate) turn: Position,
    /// The last commit, or where the run began.
    pub(crate) at: Position,
    pub(crate) pending: BTreeMap<Position, TaskWrite>,
    pub(crate) memos: BTreeMap<(TaskId, String), Stored>,
    pub(crate) questions: BTreeMap<String, Question>,
    pub(crate) answers: BTreeMap<String, Stored>,
    pub(crate) spent: Spent,
}

/// A task that is due.
struct Task {
    id: TaskId,
    due: Due,
    node: Arc<str>,
}

/// The tasks of a super-step that ran, in task order.
type Ran<U> = Vec<(Task, Done<U>)>;

/// What came of the tasks of a super-step.
struct Came<U> {
    done: BTreeMap<usize, Done<U>>,
    asked: Vec<Question>,
    waiting: Vec<Pending>,
    failed: Option<(usize, NodeError)>,
    cancelled: bool,
}

impl<S: State, C: Send + Sync + 'static> Scope<S, C> {
    /// Runs super-steps until nothing is due, or the run has to end.
    pub(crate) async fn drive(&self, progress: &mut Progress<S>) -> Result<Outcome<S>, RunError> {
        while !progress.frontier.is_done() {
            self.check_nodes(progress)?;
            if self.cancellation.is_cancelled() {
                return Ok(Outcome::Cancelled);
            }
            if progress.frontier.step >= self.limit {
                let which = Limit::Steps(self.limit);
                return Ok(Outcome::LimitReached { which, state: S::clone(&progress.state) });
            }
            if let Some(outcome) = self.super_step(progress).await? {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Done(S::clone(&progress.state)))
    }

    fn check_nodes(&self, progress: &Progress<S>) -> Result<(), RunError> {
        let due = progress.frontier.due.iter().map(|due| due.node.as_str());
        let missing: Vec<_> =
            due.filter(|node| !self.graph.nodes.contains_key(*node)).map(str::to_owned).collect();
        if missing.is_empty() { Ok(()) } else { Err(RunError::GraphChanged { missing }) }
    }

    /// Runs one super-step; an outcome if the run ends in it.
    async fn super_step(&self, progress: &mut Progress<S>) -> Result<Option<Outcome<S>>, RunError> {
        let tasks = self.tasks(progress);
        let mut came = self.run_tasks(progress, &tasks).await?;
        let step = progress.frontier.step;
        if !came.asked.is_empty() {
            self.store_questions(&came.asked).await?;
            progress.questions.extend(came.asked.drain(..).map(|q| (q.id.clone(), q)));
        }
        if came.cancelled {
            return Ok(Some(Outcome::Cancelled));
        }
        if let Some((index, source)) = came.failed {
            let node = tasks.get(index).map_or_else(|| "?".into(), |task| task.node.clone());
            let namespace = self.namespace.clone();
            return Err(match source {
                NodeError::Checkpoint(error) => error.into(),
                source => RunError::Node { node, step, namespace, source },
            });
        }
        let mut waiting = came.waiting;
        let open = progress.questions.values().filter(|q| !progress.answers.contains_key(&q.id));
        waiting.extend(open.map(pending));
        if !waiting.is_empty() {
            self.emit(progress, None, None, None, EventKind::Requests(waiting.clone()));
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
        let thread = self.journal.thread();
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
            cancelled: false,
        };
        let mut to_run = Vec::new();
        for (i, task) in tasks.iter().enumerate() {
            if let Some((position, write)) =
                progress.pending.iter().find(|(_, write)| write.task == task.id)
            {
                came.done.insert(i, stored_done(*position, write)?);
            } else if !self.waits(progress, task) {
                to_run.push(i);
            }
        }
        let wide = tasks.len() > 1;
        if let (false, [i]) = (wide, to_run.as_slice())
            && let Some(task) = tasks.get(*i)
        {
            let scope = self.task_scope(progress, task);
            let (state, services) = (progress.state.clone(), self.services.clone());
            came.add(*i, task::run(&self.graph, state, services, scope, false).await);
            return Ok(came);
        }
        self.run_wide(progress, tasks, &to_run, &mut came).await;
        Ok(came)
    }

    /// Whether a task asked something that has no answer: then it is not started again.
    fn waits(&self, progress: &Progress<S>, task: &Task) -> bool {
        let mut questions = progress.questions.values().filter(|q| q.task == task.id);
        questions.any(|question| !progress.answers.contains_key(&question.id))
    }

    /// Runs several tasks, each on its own; all of them run to their end, whatever becomes of their siblings.
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
            let state = progress.state.clone();
            let work = async move {
                let ended = task::run(&graph, state, services, scope, true).await;
                // A run that is gone does not want to know.
                drop(send.unbounded_send((i, ended)));
            };
            spawned.push(self.runtime.spawner.spawn(Box::pin(work)));
        }
        drop(send);
        while let Some((i, ended)) = receive.next().await {
            if let (Ended::Done(done), Some(task)) = (&ended, tasks.get(i)) {
                self.emit_update(progress, task, done);
            }
            came.add(i, ended);
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
        Arc::new(TaskScope {
            journal: self.journal.clone(),
            namespace: self.namespace.clone(),
            node: task.node.clone(),
            task: task.id,
            step: progress.frontier.step,
            remaining: self.limit.saturating_sub(progress.frontier.step + 1),
            input: task.due.input.clone(),
            started: self.runtime.clock.now(),
            runtime: self.runtime.clone(),
            cancellation: self.cancellation.clone(),
            sink: self.sink.clone(),
            meter: Meter::default(),
            total: self.total.clone(),
            memos: memos.map(|((_, name), value)| (name.clone(), value.clone())).collect(),
            answers: progress.answers.clone(),
            seen: Mutex::default(),
        })
    }

    async fn store_questions(&self, asked: &[Question]) -> Result<(), RunError> {
        let entries = asked
            .iter()
            .map(|question| (self.namespace.clone(), Body::Question(question.clone())))
            .collect();
        self.journal.append(entries, Keep::Claim).await?;
        Ok(())
    }

    /// Merges what the tasks wrote, stores it, and says what is due next.
    async fn commit(
        &self,
        progress: &mut Progress<S>,
        ran: Ran<S::Update>,
    ) -> Result<(), RunError> {
        let step = progress.frontier.step;
        let gotos = ran.iter().map(|(task, done)| (task.node.as_ref(), done.goto.as_slice()));
        let frontier = plan::next(&progress.frontier, gotos, &self.graph.joins);
        let kept = self.journal.is_kept();
        let mut said = Changes::default();
        if kept {
            for (_, done) in ran.iter().filter(|(_, done)| done.position.is_none()) {
                said.0.extend(done.update.to_changes().map_err(state_error)?.0);
            }
        }
        let resolved = self.reduce(progress, &ran).await?;
        let spent = ran.iter().fold(Spent::default(), |sum, (_, done)| sum.plus(done.spent));
        let done = frontier.is_done();
        if kept {
            said.0.retain(|(field, _)| resolved.get(field).is_none());
            said.0.extend(resolved.0);
            let commit = Commit {
                step,
                nodes: ran.iter().map(|(task, _)| task.node.to_string()).collect(),
                folds: ran.iter().filter_map(|(_, done)| done.position).collect(),
                changes: said,
                frontier: frontier.clone(),
                spent,
                outbox: Vec::new(),
            };
            let mut entries = vec![(self.namespace.clone(), Body::Commit(commit))];
            let keep = if done && self.namespace.is_root() {
                entries.push((Namespace::root(), Body::End(self.end("done", ""))));
                Keep::Nothing
            } else {
                Keep::Claim
            };
            let last = self.journal.append(entries, keep).await?;
            // With the end of the run in one append, the commit stands before it.
            let back = u64::from(keep == Keep::Nothing);
            progress.at = Position(last.0.saturating_sub(back));
        }
        if let [(task, done)] = ran.as_slice() {
            self.emit_update(progress, task, done);
        }
        progress.frontier = frontier;
        progress.pending.clear();
        progress.memos.clear();
        progress.questions.clear();
        progress.answers.clear();
        progress.spent = progress.spent.plus(spent);
        if self.sink.is_on() {
            let values = EventKind::Values(AnyState::new(&progress.state));
            self.emit(progress, None, None, self.position(progress), values);
        }
        if self.namespace.is_root() {
            self.journal.snapshot(|| self.fold(progress, done)).await;
        }
        Ok(())
    }

    /// Merges what the tasks wrote into the state. What cannot be merged is voided, and its tasks run again.
    async fn reduce(
        &self,
        progress: &mut Progress<S>,
        ran: &Ran<S::Update>,
    ) -> Result<Changes, RunError> {
        let step = progress.frontier.step;
        let writes = ran.iter().map(|(task, done)| (task.node.clone(), done.update.clone()));
        let writes: Vec<_> = writes.collect();
        // In place when nobody else holds the state, otherwise on a copy that costs a pointer per field.
        let refused = match task::merge(Arc::make_mut(&mut progress.state), writes) {
            Ok(resolved) => return Ok(resolved),
            Err(refused) => refused,
        };
        let field = match &refused {
            Unmerged::Refused(error) => error.field.clone(),
            Unmerged::Panicked(_) => String::new(),
        };
        let error = refused.of_run(step, &self.namespace);
        let writes: Vec<_> = ran.iter().filter_map(|(_, done)| done.position).collect();
        if !writes.is_empty() {
            let void = Void { writes, field, reason: error.to_string() };
            let entry = (self.namespace.clone(), Body::Void(void));
            self.journal.append(vec![entry], Keep::Claim).await?;
        }
        Err(error)
    }

    /// The end of this run, as a log says it.
    pub(crate) fn end(&self, outcome: &str, detail: &str) -> End {
        End { run: self.run, outcome: outcome.to_owned(), detail: detail.to_owned() }
    }

    /// What makes of the state as it is now what the log amounts to, for a snapshot. Holding the state costs a pointer.
    fn fold(
        &self,
        progress: &Progress<S>,
        ended: bool,
    ) -> impl FnOnce() -> Option<ThreadFold> + use<S, C> {
        let (state, unknown) = (progress.state.clone(), progress.unknown.clone());
        let run = RunFold {
            run: Some(self.run),
            open: !ended,
            schema: schema::<S>(),
            graph: self.graph.fingerprint,
            frontier: progress.frontier.clone(),
            turn: progress.turn,
            spent: progress.spent,
            ..RunFold::default()
        };
        // An end that stands in the same append is part of what the snapshot says.
        let position = Position(progress.at.0 + u64::from(ended));
        move || {
            let run = RunFold { fields: fields(&*state, &unknown).ok()?, ..run };
            Some(ThreadFold { position, runs: BTreeMap::from([(Namespace::root(), run)]) })
        }
    }

    fn position(&self, progress: &Progress<S>) -> Option<Position> {
        self.journal.is_kept().then_some(progress.at)
    }

    fn emit_update(&self, progress: &Progress<S>, task: &Task, done: &Done<S::Update>) {
        if self.sink.is_on() {
            let position = done.position.or_else(|| self.position(progress));
            let update = EventKind::Updates(AnyUpdate::new(done.update.clone()));
            self.emit(progress, Some(task.node.clone()), Some(task.id), position, update);
        }
    }

    pub(crate) fn emit(
        &self,
        progress: &Progress<S>,
        node: Option<Arc<str>>,
        task: Option<TaskId>,
        position: Option<Position>,
        kind: EventKind,
    ) {
        let (path, step) = (self.namespace.clone(), progress.frontier.step);
        self.sink.emit(|| Event { path, step, node, task, position, kind });
    }
}

impl<U> Came<U> {
    fn add(&mut self, index: usize, ended: Ended<U>) {
        match ended {
            Ended::Done(done) => {
                self.done.insert(index, done);
            }
            Ended::Asked(asked, waiting) => {
                self.asked.extend(asked);
                self.waiting.extend(waiting);
            }
            Ended::Failed(error) => {
                // The first in task order, not in time.
                if self.failed.as_ref().is_none_or(|(first, _)| index < *first) {
                    self.failed = Some((index, error));
                }
            }
            Ended::Cancelled => self.cancelled = true,
        }
    }

    /// Whether nothing at all came of a task.
    fn is_missing(&self, index: usize) -> bool {
        let nothing_else = self.asked.is_empty() && self.waiting.is_empty() && !self.cancelled;
        nothing_else && self.failed.is_none() && !self.done.contains_key(&index)
    }
}

impl<S: State> Progress<S> {
    /// Where a log says that a run stands.
    pub(crate) fn of(mut run: RunFold) -> Result<Self, RunError> {
        let state = S::from_fields(&mut run.fields).map_err(state_error)?;
        Ok(Self {
            state: Arc::new(state),
            unknown: run.fields,
            frontier: run.frontier,
            turn: run.turn,
            at: Position::START,
            pending: run.pending,
            memos: run.memos,
            questions: run.questions,
            answers: run.answers,
            spent: run.spent,
        })
    }

    /// The state as it is stored, with the fields that this build does not know.
    pub(crate) fn fields(&self) -> Result<Fields, StoredError> {
        fields(&*self.state, &self.unknown)
    }

    /// The entry that writes the state whole, in this build's schema.
    pub(crate) fn rebase(&self) -> Result<Body, RunError> {
        let fields = self.fields().map_err(state_error)?.to_stored();
        Ok(Body::Rebase(Rebase { schema: schema::<S>(), fields }))
    }

    /// A run that begins with `state`.
    pub(crate) fn beginning(state: S, unknown: Fields) -> Self {
        Self {
            state: Arc::new(state),
            unknown,
            frontier: Frontier::default(),
            turn: Position::START,
            at: Position::START,
            pending: BTreeMap::new(),
            memos: BTreeMap::new(),
            questions: BTreeMap::new(),
            answers: BTreeMap::new(),
            spent: Spent::default(),
        }
    }
}

impl<S: State, C> Inner<S, C> {
    /// What is due first, from a state that holds the input.
    pub(crate) fn first(&self, state: &S) -> Result<Frontier, NodeError> {
        let edges = self.start.edges.iter().map(|node| Goto::Node(node.to_string()));
        let routed = task::branches(&self.start, state)?.into_iter().map(task::stored);
        let gotos: Vec<_> = edges.map(Ok).chain(routed).collect::<Result<_, _>>()?;
        let begun = plan::next(
            &Frontier::default(),
            std::iter::once((crate::START, gotos.as_slice())),
            &[],
        );
        Ok(Frontier { step: 0, ..begun })
    }
}

/// A state as it is stored, with the fields that this build does not know.
fn fields<S: State>(state: &S, unknown: &Fields) -> Result<Fields, StoredError> {
    let mut fields = state.to_fields()?;
    for (name, field) in unknown.iter() {
        fields.insert(name, field.clone());
    }
    Ok(fields)
}

pub(crate) fn schema<S: State>() -> SchemaRef {
    SchemaRef { version: S::SCHEMA.version, fingerprint: S::SCHEMA.fingerprint }
}

pub(crate) fn pending(question: &Question) -> Pending {
    Pending {
        id: RequestId(question.id.as_str().into()),
        node: question.node.clone(),
        payload: question.payload.clone(),
    }
}

fn stored_done<U: StateUpdate>(position: Position, write: &TaskWrite) -> Result<Done<U>, RunError> {
    Ok(Done {
        update: U::from_changes(&write.changes).map_err(state_error)?,
        goto: write.goto.clone(),
        spent: write.spent,
        position: Some(position),
    })
}

pub(crate) fn state_error(error: StoredError) -> RunError {
    RunError::State(error.into())
}
