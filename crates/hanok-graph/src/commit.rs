//! How a super-step is committed: merged, stored, and told.

use std::{collections::BTreeSet, sync::Arc};

use hanok_checkpoint::{Body, Commit, End, Frontier, RunFold, ThreadFold, Void};
use hanok_core::{BoxFuture, Change, Changes, Namespace, Position, Spent, TaskId};
use hanok_state::{State, StateUpdate};

use crate::{
    AnyState, AnyUpdate, Event, EventId, EventKind, RunError,
    drive::{Ran, Scope},
    graph::Inner,
    journal::{Keep, Live},
    plan::{self, Said},
    progress::{Progress, schema, state_error},
    task::{self, Done, Unmerged},
};

impl<S: State, C: Send + Sync + 'static> Scope<S, C> {
    /// Merges what the tasks wrote, stores it, and says what is due next. On the heap: of graphs that call each other only
    /// the innermost commits, and the stack of the others need not have room for it.
    pub(crate) fn commit<'a>(
        &'a self,
        progress: &'a mut Progress<S>,
        ran: Ran<S::Update>,
    ) -> BoxFuture<'a, Result<(), RunError>> {
        Box::pin(self.commit_step(progress, ran))
    }

    async fn commit_step(
        &self,
        progress: &mut Progress<S>,
        ran: Ran<S::Update>,
    ) -> Result<(), RunError> {
        let step = progress.frontier.step;
        let said =
            ran.iter().map(|(task, done)| Said { node: task.node.as_ref(), goto: &done.goto });
        let frontier = plan::next(&progress.frontier, said, self.graph.rules());
        let frontier = self.graph.not_too_wide(frontier, step, &self.namespace)?;
        let kept = self.env.journal.is_kept();
        let mut changes = Changes::default();
        if kept {
            for (_, done) in ran.iter().filter(|(_, done)| done.position.is_none()) {
                changes.0.extend(done.update.to_changes().map_err(state_error)?.0);
            }
        }
        let expired = self.expire(progress);
        let resolved = self.reduce(progress, &ran).await?;
        let fresh = ran.iter().filter(|(_, done)| done.position.is_none());
        let fresh = fresh.fold(Spent::default(), |sum, (_, done)| sum.plus(done.spent));
        self.env.said(fresh);
        let worked = self.worked();
        let spent = ran.iter().fold(worked, |sum, (_, done)| sum.plus(done.spent));
        let reset = self.reset(progress, &ran, &expired)?;
        let over = frontier.is_done();
        let shows = self.shows(progress, &ran, &reset);
        let nodes: Vec<_> = ran.iter().map(|(task, _)| task.node.to_string()).collect();
        let total = self.env.turn();
        let ends = over && self.namespace.is_root();
        // With the end of the run in one append, the commit stands before it.
        let after = u64::from(ends);
        let mut at = progress.at;
        let before = &*progress;
        let tell = |last: Position| {
            at = Position(last.0.saturating_sub(after));
            if !self.env.sink.is_on() {
                return;
            }
            for (task, done) in ran.iter().filter(|(_, done)| done.position.is_none()) {
                self.emit_update(before, (task.node.clone(), task.id), done, at);
            }
            self.emit(before, None, Some(at), EventKind::Checkpoint);
            if let Some(state) = shows {
                self.emit(before, None, Some(at), EventKind::Values(AnyState::new(&state)));
            }
            if ends {
                let (outcome, error) = ("done".to_owned(), None);
                let ended = EventKind::Ended { outcome, error, spent: total };
                self.emit(before, None, Some(last), ended);
            }
        };
        if kept {
            changes.0.retain(|(field, _)| resolved.get(field).is_none());
            changes.0.extend(resolved.0);
            changes.0.extend(reset.0);
            let commit = Commit {
                step,
                nodes: nodes.clone(),
                folds: ran.iter().filter_map(|(_, done)| done.position).collect(),
                changes,
                frontier: frontier.clone(),
                spent,
                outbox: ran.iter().flat_map(|(_, done)| done.outbox.clone()).collect(),
            };
            let mut entries = vec![(self.namespace.clone(), Body::Commit(commit))];
            let keep = if ends { Keep::Nothing } else { Keep::Claim };
            if ends {
                let end = self.end("done", "", Spent::default());
                entries.push((Namespace::root(), Body::End(end)));
            }
            self.env.journal.append_then(entries, keep, tell).await?;
        } else {
            tell(Position(before.at.0 + after));
        }
        progress.at = at;
        if let Some(added) = progress.added.take() {
            let updates = ran.into_iter().map(|(_, done)| done.update);
            let all = updates.into_iter().try_fold(added, |all, update| all.then(update));
            progress.added = Some(all.map_err(|source| {
                let namespace = self.namespace.clone();
                RunError::Reduce { step, namespace, source }
            })?);
        }
        progress.scheduled(frontier, nodes);
        if self.namespace.is_root() {
            self.env.journal.snapshot(|| self.fold(progress, over)).await;
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
            self.env.journal.append(vec![entry], Keep::Claim).await?;
        }
        Err(error)
    }

    /// Gives the ephemeral fields that the super-step before wrote their initial value, and says which they were. What
    /// this one writes to them is merged into that.
    fn expire(&self, progress: &mut Progress<S>) -> BTreeSet<String> {
        let over = std::mem::take(&mut progress.fresh);
        if !over.is_empty() {
            let state = Arc::make_mut(&mut progress.state);
            state.retain(&|field| !over.contains(field), &self.graph.initial);
        }
        over
    }

    /// Notes which ephemeral fields the super-step wrote; returns how those that are `over` are stored.
    fn reset(
        &self,
        progress: &mut Progress<S>,
        ran: &Ran<S::Update>,
        over: &BTreeSet<String>,
    ) -> Result<Changes, RunError> {
        let schema = self.graph.initial.schema();
        if schema.fields.iter().all(|field| !field.ephemeral) {
            return Ok(Changes::default());
        }
        let written = ran.iter().flat_map(|(_, done)| done.update.written());
        let written: BTreeSet<_> = written.map(std::borrow::Cow::into_owned).collect();
        let ephemeral = |name: &String| schema.field(name).is_some_and(|field| field.ephemeral);
        progress.fresh = written.iter().filter(|name| ephemeral(name)).cloned().collect();
        // A last value is stored as it was written. A field that is written by parts has them put to its old value.
        let by_parts = |name: &str| schema.field(name).is_some_and(|f| f.rule != "last value");
        let whole = |name: &str| over.contains(name) && (by_parts(name) || !written.contains(name));
        if !over.iter().any(|name| whole(name)) {
            return Ok(Changes::default());
        }
        let mut alone = S::clone(&progress.state);
        alone.retain(&whole, &self.graph.initial);
        let mut changes = Changes::default();
        for (name, value) in alone.to_fields().map_err(state_error)?.iter() {
            if whole(name) {
                changes.push(name.to_owned(), Change::Set(value.to_stored()));
            }
        }
        Ok(changes)
    }

    /// The state as a stream shows it, if the super-step changed what is shown.
    fn shows(
        &self,
        progress: &Progress<S>,
        ran: &Ran<S::Update>,
        reset: &Changes,
    ) -> Option<Arc<S>> {
        if !self.env.sink.is_on() {
            return None;
        }
        let schema = self.graph.initial.schema();
        let stored = |field: &str| schema.field(field).is_none_or(|f| f.rule != "transient");
        let written = ran.iter().flat_map(|(_, done)| done.update.written());
        let written = written.filter(|field| stored(field));
        let mut changed = written.chain(reset.0.iter().map(|(field, _)| field.clone()));
        changed.any(|field| self.graph.shows(&field)).then(|| self.graph.shown(&progress.state))
    }

    /// The time that an entry of this graph says: the thread's own says all of it.
    fn worked(&self) -> Spent {
        if self.namespace.is_root() { self.env.worked() } else { Spent::default() }
    }

    /// The end of this run, as a log says it.
    pub(crate) fn end(&self, outcome: &str, detail: &str, spent: Spent) -> End {
        End { run: self.run, outcome: outcome.to_owned(), detail: detail.to_owned(), spent }
    }

    /// What makes of the state as it is now what the log amounts to, for a snapshot. Holding the state costs a pointer.
    fn fold(
        &self,
        progress: &Progress<S>,
        ended: bool,
    ) -> impl FnOnce() -> Option<ThreadFold> + use<S, C> {
        let live = self.live(progress, !ended);
        let kept = self.env.journal.kept();
        // An end that stands in the same append is part of what the snapshot says.
        let position = Position(progress.at.0 + u64::from(ended));
        move || {
            let all = kept?.into_iter().chain([(Namespace::root(), live)]);
            let runs = all.map(|(path, live)| Some((path, live.into_fold()?)));
            Some(ThreadFold { position, runs: runs.collect::<Option<_>>()? })
        }
    }

    /// The graph's part of the thread as it is now. Holding it costs a pointer.
    pub(crate) fn live(&self, progress: &Progress<S>, open: bool) -> Live {
        let run = RunFold {
            run: Some(self.run),
            open,
            schema: schema(&*self.graph.initial),
            graph: self.graph.fingerprint,
            frontier: progress.frontier.clone(),
            turn: progress.turn,
            last: progress.last.clone(),
            spent: if self.namespace.is_root() { self.env.turn() } else { Spent::default() },
            ..RunFold::default()
        };
        Live { state: AnyState::new(&progress.state), unknown: progress.unknown.clone(), run }
    }

    fn emit_update(
        &self,
        progress: &Progress<S>,
        (node, task): (Arc<str>, TaskId),
        done: &Done<S::Update>,
        at: Position,
    ) {
        let update = EventKind::Updates(AnyUpdate::new(done.update.clone()));
        self.emit(progress, Some((node, task, done.attempt)), Some(at), update);
    }

    /// Reports what happened; with a position it is recorded, if anything is.
    pub(crate) fn emit(
        &self,
        progress: &Progress<S>,
        task: Option<(Arc<str>, TaskId, u32)>,
        position: Option<Position>,
        kind: EventKind,
    ) {
        let position = position.filter(|_| self.env.journal.is_kept());
        let (path, step) = (&self.namespace, progress.frontier.step);
        self.env.sink.emit(|| event(path, step, task, position, kind));
    }
}

impl<S: State, C> Inner<S, C> {
    /// What the super-step `step` schedules, if it is no more than may run at once.
    pub(crate) fn not_too_wide(
        &self,
        frontier: Frontier,
        step: u32,
        namespace: &Namespace,
    ) -> Result<Frontier, RunError> {
        let (tasks, limit) = (frontier.due.len(), self.fan_out);
        if tasks > limit {
            let namespace = namespace.clone();
            return Err(RunError::TooWide { step, tasks, limit, namespace });
        }
        Ok(frontier)
    }
}

/// An event; with a position it is recorded.
pub(crate) fn event(
    path: &Namespace,
    step: u32,
    task: Option<(Arc<str>, TaskId, u32)>,
    position: Option<Position>,
    kind: EventKind,
) -> Event {
    let (node, task, attempt) = match task {
        Some((node, task, attempt)) => (Some(node), Some(task), attempt),
        None => (None, None, 0),
    };
    let id = position.map(|position| EventId { position, index: kind.index() });
    Event { path: path.clone(), step, node, task, attempt, sequence: None, id, kind }
}
