//! The run loop: super-steps, one after the other, until no task is due. It drives the thread's own graph and every
//! subgraph.

use std::{collections::BTreeSet, sync::Arc};

use hanok_checkpoint::{Body, Question, Reopen};
use hanok_core::{Limit, Position};
use hanok_state::State;

use crate::{
    error::{NodeError, RunError},
    node::{attempt::Stop, question::UnfitAnswer, task_ref::TaskRef},
    node_set::Breakpoints,
    observe::event::{Event, EventKind, EventTask},
    outcome::{Breakpoint, Outcome, Pending, Waiting, open_questions},
    run::{graph_run::GraphRun, on_heap::on_heap, run_state::RunState, step_outcome::StepOutcome},
};

impl<S: State, C: Send + Sync + 'static> GraphRun<S, C> {
    /// Runs super-steps until no task is due, or the run has to end.
    pub(crate) async fn drive(&self, progress: &mut RunState<S>) -> Result<Outcome<S>, RunError> {
        self.graph.adapt(&mut progress.frontier)?;
        while !progress.frontier.is_done() {
            if let Some(stop) = self.stop(progress) {
                return Ok(self.stopped(progress, stop));
            }
            let ended = match self.alone(progress) {
                Some((task, vertex)) => self.step_alone(progress, task, vertex).await?,
                None => on_heap(self.super_step(progress)).await?,
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

    /// The requests that a run waits for, with its state.
    fn waiting(&self, progress: &RunState<S>, requests: Vec<Pending>) -> Waiting<S> {
        Waiting::new(requests, self.shown(progress))
    }

    fn check_nodes(&self, progress: &RunState<S>) -> Result<(), RunError> {
        let due = progress.frontier.due.iter().map(|due| &due.node);
        let missing = due.filter(|node| self.graph.vertex(node).is_none());
        let missing: Vec<_> = missing.map(ToString::to_string).collect();
        if missing.is_empty() { Ok(()) } else { Err(RunError::GraphChanged { missing }) }
    }

    /// The reason why no further super-step may start, if there is one.
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
        if let Some(limit) = self.env.total.exhausted().filter(|_| !self.outlasts(progress)) {
            return Some(Stop::Limit(limit));
        }
        let is_kept = self.env.journal.is_kept() || self.namespace.is_root();
        // Those of a run are of the thread's own graph.
        let of_run = Some(&self.env.breakpoints).filter(|_| self.namespace.is_root());
        let breakpoints = || std::iter::once(&self.graph.breakpoints).chain(of_run);
        if progress.passed || !is_kept || breakpoints().all(Breakpoints::is_empty) {
            return None;
        }
        let next: Vec<_> = progress.frontier.due.iter().map(|due| due.node.clone()).collect();
        let current = |node| self.graph.current_name(node);
        let before = next
            .iter()
            .map(current)
            .filter(|node| breakpoints().any(|at| at.before.contains(node)));
        let after = progress.last.iter().map(current);
        let after = after.filter(|node| breakpoints().any(|at| at.after.contains(node)));
        let nodes: BTreeSet<_> = before.chain(after).collect();
        let nodes: Vec<_> = nodes.into_iter().map(ToString::to_string).collect();
        let next = next.iter().map(ToString::to_string).collect();
        let path = self.namespace.clone();
        let at = Breakpoint { path, nodes, next, state: () };
        (!at.nodes.is_empty()).then_some(Stop::Breakpoint(at))
    }

    /// True if the limits of the turn end no node that is due.
    fn outlasts(&self, progress: &RunState<S>) -> bool {
        let mut due = progress.frontier.due.iter().map(|due| self.graph.vertex(&due.node));
        due.all(|vertex| vertex.is_some_and(|vertex| vertex.settings.past_limits))
    }

    fn stopped(&self, progress: &RunState<S>, stop: Stop) -> Outcome<S> {
        match stop {
            Stop::Cancelled => Outcome::Cancelled(self.shown(progress)),
            Stop::Drained => Outcome::Drained(self.shown(progress)),
            Stop::Limit(which) => Outcome::LimitReached { which, state: self.shown(progress) },
            Stop::Breakpoint(Breakpoint { path, nodes, next, state: () }) => {
                let state = self.shown(progress);
                Outcome::Breakpoint(Breakpoint { path, nodes, next, state })
            }
        }
    }

    /// Runs one super-step; returns an outcome if the run ends in it.
    async fn super_step(&self, progress: &mut RunState<S>) -> Result<Option<Outcome<S>>, RunError> {
        self.check_nodes(progress)?;
        let tasks = self.tasks(progress);
        let outcome = self.run_tasks(progress, &tasks).await?;
        self.ended(progress, tasks, outcome).await
    }

    /// Commits the outcome of a super-step's tasks; returns an outcome if the run ends with it.
    pub(crate) async fn ended(
        &self,
        progress: &mut RunState<S>,
        tasks: Vec<Arc<TaskRef>>,
        mut outcome: StepOutcome<S::Update>,
    ) -> Result<Option<Outcome<S>>, RunError> {
        let doubts = self.doubts(progress);
        let step = progress.frontier.step;
        if !outcome.questions.is_empty() || !outcome.unfit.is_empty() {
            // In task order, not in time.
            outcome.questions.sort_by_key(|(index, _)| *index);
            let questions: Vec<_> =
                outcome.questions.drain(..).flat_map(|(_, questions)| questions).collect();
            self.ask(progress, questions, std::mem::take(&mut outcome.unfit)).await;
        }
        if let Some((index, source)) = outcome.failed {
            let unknown = "?".into();
            let node = tasks.get(index).map_or(&unknown, |task| &task.node);
            return Err(match source {
                NodeError::Checkpoint(error) => error.into(),
                // Whatever the node made of it.
                _ if self.env.journal.is_lost() => {
                    let thread = self.env.journal.thread().clone();
                    // How much of the run is stored is told at its end.
                    RunError::Conflict { thread, holder: None }
                }
                source => RunError::node(node, step, &self.namespace, source),
            });
        }
        if let Some(stop) = outcome.stopped {
            return Ok(Some(self.stopped(progress, stop)));
        }
        let mut waiting = outcome.waiting;
        let done = |id| {
            let mut done = tasks.iter().zip(&outcome.done).filter(|(_, done)| done.is_some());
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
            return Ok(Some(Outcome::InDoubt(self.waiting(progress, waiting))));
        }
        if !waiting.is_empty() {
            return Ok(Some(Outcome::Interrupted(self.waiting(progress, waiting))));
        }
        let ran = tasks.into_iter().zip(outcome.done);
        let ran = ran.filter_map(|(task, done)| done.map(|done| (task, done)));
        let mut ran: Vec<_> = ran.collect();
        self.commit(progress, &mut ran).await?;
        Ok(None)
    }

    /// Stores questions with the end of the run, and reopens those whose answers do not fit.
    async fn ask(
        &self,
        progress: &mut RunState<S>,
        questions: Vec<Question>,
        unfit: Vec<UnfitAnswer>,
    ) {
        let path = &self.namespace;
        let question = |question: &Question| (path.clone(), Body::Question(question.clone()));
        let mut entries: Vec<_> = questions.iter().map(question).collect();
        let count = entries.len() as u64 + unfit.len() as u64;
        for UnfitAnswer { id, expected, answer, reason } in unfit {
            progress.records.answers.remove(&id);
            let again = Reopen { id: id.clone(), reason: reason.clone() };
            entries.push((path.clone(), Body::Reopen(again)));
            let Some(question) =
                progress.records.questions.iter().find(|question| question.id == id)
            else {
                continue;
            };
            let request = Pending::of_question(question, path);
            let task = EventTask::of_question(question);
            let voided =
                EventKind::AnswerVoided { request: request.clone(), reason: reason.clone() };
            self.emit(progress, Some(task), None, voided);
            let (id, question, faults) = (request.id.clone(), Box::new(request), vec![reason]);
            self.env.refuse(RunError::WrongAnswer { id, question, expected, answer, faults });
        }
        let shown = |question| {
            (EventTask::of_question(question), Pending::of_question(question, &self.namespace))
        };
        let shown: Vec<_> = questions.iter().map(shown).collect();
        let (sink, step, path) = (self.env.sink.clone(), progress.frontier.step, path.clone());
        let report = move |last: Position| {
            for (i, (task, request)) in (1..).zip(shown) {
                let at = Some(Position(last.0.saturating_sub(count) + i));
                let request = EventKind::Request(request);
                sink.emit(|| Event::new(&path, step, Some(task), at, request));
            }
        };
        let wait = self.awaits_store();
        self.env.journal.hold(entries, Box::new(report)).await;
        drop(wait);
        questions.into_iter().for_each(|question| progress.records.ask(question));
    }
}
