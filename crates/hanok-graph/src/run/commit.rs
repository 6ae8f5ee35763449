//! Commits: the updates of a super-step are merged, stored, and reported.

use std::sync::Arc;

use hanok_checkpoint::{Body, Commit, End, Frontier, Labels, RunEnd, RunFold, ThreadFold, Void};
use hanok_core::{Changes, Namespace, Position, Spent, StoredError, Timestamp};
use hanok_state::{State, StateUpdate};

use crate::{
    error::RunError,
    journal::{append::ClaimAfter, children::Live},
    observe::{
        any::{AnyState, AnyUpdate},
        event::{Event, EventKind, EventTask},
    },
    run::{
        graph_run::{GraphRun, Ran},
        merge::{Unmerged, merge},
        on_heap::on_heap,
        plan::{TaskExit, next_frontier},
        run_state::RunState,
        unknown::Riding,
    },
};
use smallvec::SmallVec;

/// The place of a commit in the log.
pub(super) struct Committed {
    pub(super) at: Position,
    /// The last entry of the append.
    pub(super) last: Position,
    /// True if the append also ends the run.
    pub(super) ends: bool,
}

impl<S: State, C: Send + Sync + 'static> GraphRun<S, C> {
    /// Merges the updates of the tasks, stores them, and schedules the next super-step.
    pub(crate) async fn commit(
        &self,
        progress: &mut RunState<S>,
        ran: &mut Ran<S::Update>,
    ) -> Result<(), RunError> {
        if self.env.journal.is_kept() {
            return on_heap(self.commit_step(progress, ran)).await;
        }
        self.commit_unsaved(progress, ran)
    }

    /// Merges the updates of the tasks, and stores them.
    async fn commit_step(
        &self,
        progress: &mut RunState<S>,
        ran: &mut Ran<S::Update>,
    ) -> Result<(), RunError> {
        let step = progress.frontier.step;
        let frontier = self.next(progress, ran)?;
        let mut changes = Changes::default();
        for (task, done) in ran.iter().filter(|(_, done)| done.position.is_none()) {
            let unreadable =
                |error: StoredError| RunError::node(&task.node, step, &self.namespace, error);
            let written = done.update.to_changes().map_err(unreadable)?;
            self.env.readable.check::<S::Update>(&written).map_err(unreadable)?;
            if changes.is_empty() {
                changes = written;
            } else {
                changes.0.extend(written.0);
            }
        }
        let expired = self.graph.expire(progress);
        let folds: Vec<_> = ran.iter().filter_map(|(_, done)| done.position).collect();
        let riding = Riding::of(progress, ran)?;
        let resolved = match self.reduce(progress, ran) {
            Ok(resolved) => resolved,
            Err(refused) => return Err(self.void(refused, step, folds).await?),
        };
        self.spend(ran);
        let spent = ran.iter().fold(self.worked(), |sum, (_, done)| sum.plus(done.spent));
        let wrote = ran.iter().map(|(_, done)| &*done.update);
        let reset = self.graph.reset(progress, wrote, &expired)?;
        let over = frontier.is_done();
        let ends = over && self.namespace.is_root();
        if !resolved.is_empty() {
            changes.0.retain(|(field, _)| resolved.get(field).is_none());
            changes.0.extend(resolved.0);
        }
        changes.0.extend(reset.0.iter().cloned());
        riding.complete(progress, &folds, &mut changes)?;
        let commit = Commit {
            step,
            nodes: nodes(ran).collect(),
            folds,
            changes,
            frontier: frontier.clone(),
            spent,
            outbox: ran.iter().flat_map(|(_, done)| done.outbox.iter().cloned()).collect(),
        };
        let mut entries = vec![(self.namespace.clone(), Body::Commit(commit))];
        let keep = if ends { ClaimAfter::Released } else { ClaimAfter::Held };
        if ends {
            let end = self.end(RunEnd::Done, "", Spent::default());
            entries.push((Namespace::root(), Body::End(end)));
            self.env.journal.relabel(|before| Labels::done(before.graph.clone()));
        }
        // With the end of the run in one append, the commit stands before it.
        let of_commit = |last: Position| Position(last.0.saturating_sub(u64::from(ends)));
        let before = &*progress;
        let report = |last: Position| {
            if self.env.sink.is_on() {
                self.report(before, &*ran, &reset, &Committed { at: of_commit(last), last, ends });
            }
        };
        let now = self.env.runtime.clock.now();
        let wait = self.awaits_store();
        let last = self.env.journal.append_then(now, entries, keep, report).await?;
        drop(wait);
        progress.at = of_commit(last);
        self.scheduled(progress, ran, frontier, now)?;
        if self.namespace.is_root() {
            self.env.journal.snapshot(|| self.fold(progress, over)).await;
        }
        Ok(())
    }

    /// The frontier that the super-step schedules.
    pub(super) fn next(
        &self,
        progress: &RunState<S>,
        ran: &Ran<S::Update>,
    ) -> Result<Frontier, RunError> {
        let exits = ran.iter().map(|(task, done)| TaskExit {
            node: self.graph.current_name(&task.node),
            goto: &done.goto,
        });
        let frontier = next_frontier(&progress.frontier, exits, self.graph.rules());
        self.graph.not_too_wide(frontier, progress.frontier.step, &self.namespace)
    }

    /// Notes the spending of the tasks that no entry has recorded.
    pub(super) fn spend(&self, ran: &Ran<S::Update>) {
        let fresh = ran.iter().filter(|(_, done)| done.position.is_none());
        let fresh = fresh.fold(Spent::default(), |sum, (_, done)| sum.plus(done.spent));
        if !fresh.is_nothing() {
            self.env.record_spent(fresh);
        }
    }

    /// Reports the updates of the super-step, its commit and the state after it.
    pub(super) fn report(
        &self,
        progress: &RunState<S>,
        ran: &Ran<S::Update>,
        reset: &Changes,
        committed: &Committed,
    ) {
        let Committed { at, last, ends } = *committed;
        for (task, done) in ran.iter().filter(|(_, done)| done.position.is_none()) {
            let task = task.of_event(self.env.journal.identity(), done.attempt);
            let update = EventKind::Updates(AnyUpdate::new(S::Update::clone(&done.update)));
            self.emit(progress, Some(task), Some(at), update);
        }
        self.emit(progress, None, Some(at), EventKind::Checkpoint);
        if let Some(state) = self.shows(progress, ran, reset) {
            self.emit(progress, None, Some(at), EventKind::Values(AnyState::new(&state)));
        }
        if ends {
            let (outcome, spent) = (RunEnd::Done, self.env.turn());
            let ended = EventKind::Ended { outcome, error: None, code: None, spent, by: None };
            self.emit(progress, None, Some(last), ended);
        }
    }

    /// Moves on to the next frontier.
    pub(super) fn scheduled(
        &self,
        progress: &mut RunState<S>,
        ran: &mut Ran<S::Update>,
        frontier: Frontier,
        now: Timestamp,
    ) -> Result<(), RunError> {
        let mut last = std::mem::take(&mut progress.last);
        last.clear();
        last.extend(nodes(ran));
        if let Some(added) = progress.added.take() {
            let step = progress.frontier.step;
            let updates = ran.iter_mut().map(|(_, done)| std::mem::take(&mut *done.update));
            let all = updates.into_iter().try_fold(added, |all, update| all.then(update));
            let refused = |source| Unmerged::Refused(source).of_run(step, &self.namespace);
            progress.added = Some(all.map_err(refused)?);
        }
        progress.scheduled(frontier, now, last);
        Ok(())
    }

    /// Merges the updates of the tasks into the state. The updates stay for their later readers.
    pub(super) fn reduce(
        &self,
        progress: &mut RunState<S>,
        ran: &mut Ran<S::Update>,
    ) -> Result<Changes, Unmerged> {
        let looked_at =
            self.env.sink.is_on() || self.graph.has_ephemeral || progress.added.is_some();
        if let [(_, done)] = ran
            && let Some(ahead) = done.ahead.take()
        {
            // Its routers have seen the state that it makes.
            let (state, resolved) = ahead;
            progress.state = state;
            return Ok(resolved);
        }
        let mut copies = Vec::new();
        if looked_at {
            copies.extend(ran.iter().map(|(_, done)| S::Update::clone(&done.update)));
        }
        let mut writes: SmallVec<[_; 1]> = match looked_at {
            true => ran.iter().map(|(task, _)| &task.node).zip(&mut copies).collect(),
            false => ran.iter_mut().map(|(task, done)| (&task.node, &mut *done.update)).collect(),
        };
        // In place when nobody else holds the state, otherwise on a copy that costs a pointer per field.
        merge(Arc::make_mut(&mut progress.state), &mut writes, self.env.journal.is_kept())
    }

    /// Voids writes that could not be merged, whose tasks run again; returns the error of the run.
    async fn void(
        &self,
        refused: Unmerged,
        step: u32,
        writes: Vec<Position>,
    ) -> Result<RunError, RunError> {
        let field = match &refused {
            Unmerged::Refused(error) => error.field.clone(),
            Unmerged::Panicked(_) => String::new(),
        };
        let error = refused.of_run(step, &self.namespace);
        if !writes.is_empty() {
            let void = Void { writes, field, reason: error.to_string() };
            let _wait = self.awaits_store();
            self.env.journal.append(&self.namespace, Body::Void(void)).await?;
        }
        Ok(error)
    }

    /// The state as a stream shows it, if the super-step changed a shown field.
    fn shows(
        &self,
        progress: &RunState<S>,
        ran: &Ran<S::Update>,
        reset: &Changes,
    ) -> Option<Arc<S>> {
        let schema = self.graph.initial.schema();
        let stored = |field: &str| schema.field(field).is_none_or(|f| f.rule.is_stored());
        let written = ran.iter().flat_map(|(_, done)| done.update.written());
        let written = written.filter(|field| stored(field));
        let mut changed = written.chain(reset.0.iter().map(|(field, _)| field.clone()));
        changed.any(|field| self.graph.shows(&field)).then(|| self.graph.shown(&progress.state))
    }

    /// The time that an entry of this graph records. The thread's own graph records all of it.
    fn worked(&self) -> Spent {
        if self.namespace.is_root() { self.env.worked() } else { Spent::default() }
    }

    /// The entry of the end of this run.
    pub(crate) fn end(&self, outcome: RunEnd, detail: &str, spent: Spent) -> End {
        End { run: self.run, outcome, detail: detail.to_owned(), spent, code: None, by: None }
    }

    /// Prepares the fold of the log that a snapshot holds, from the current state. Holding the state costs a pointer.
    fn fold(
        &self,
        progress: &RunState<S>,
        ended: bool,
    ) -> impl FnOnce() -> Option<ThreadFold> + use<S, C> {
        let live = self.live(progress, !ended);
        let (kept, identity) =
            (self.env.journal.child_states(), self.env.journal.other_identity().cloned());
        // An end that stands in the same append is part of what the snapshot says.
        let position = Position(progress.at.0 + u64::from(ended));
        move || {
            let all = kept?.into_iter().chain([(Namespace::root(), live)]);
            let runs = all.map(|(path, live)| Some((path, live.into_fold()?)));
            Some(ThreadFold { position, runs: runs.collect::<Option<_>>()?, identity })
        }
    }

    /// The graph's part of the thread as it is now. Holding it costs a pointer.
    pub(crate) fn live(&self, progress: &RunState<S>, open: bool) -> Live {
        let run = RunFold {
            run: Some(self.run),
            open,
            schema: progress.schema.clone(),
            graph: self.graph.id(),
            frontier: progress.frontier.clone(),
            since: progress.since,
            turn: progress.turn,
            last: progress.last.clone(),
            spent: if self.namespace.is_root() { self.env.turn() } else { Spent::default() },
            ..RunFold::default()
        };
        Live { state: AnyState::new(&progress.state), unknown: progress.unknown.clone(), run }
    }

    /// Reports an event, recorded if it has a position and the thread is stored.
    pub(crate) fn emit(
        &self,
        progress: &RunState<S>,
        task: Option<EventTask>,
        position: Option<Position>,
        kind: EventKind,
    ) {
        let position = position.filter(|_| self.env.journal.is_kept());
        let (path, step) = (&self.namespace, progress.frontier.step);
        self.env.sink.emit(|| Event::new(path, step, task, position, kind));
    }
}

/// The nodes that ran, in the order of their tasks.
fn nodes<U: StateUpdate>(ran: &Ran<U>) -> impl Iterator<Item = Arc<str>> {
    ran.iter().map(|(task, _)| task.node.clone())
}
