//! Bulk edits: several super-steps at once, written between runs.

use std::{collections::BTreeMap, sync::Arc};

use hanok_checkpoint::{Body, Commit, End, RunEnd};
use hanok_core::{Changes, Namespace, Position, RunId, Spent, ThreadKey};
use hanok_state::{State, StateUpdate};

use crate::{
    error::{RunError, state_error},
    ids,
    run::{
        merge::{Unmerged, complete, merge},
        plan::{TaskExit, next_frontier},
        turn_start::{TurnInput, TurnStart},
    },
    thread::{app::App, handle::Thread},
};

/// One super-step of a bulk edit: [`Thread::edits`](crate::Thread::edits).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum EditStep<S: State> {
    /// Begins a turn with this input.
    Input(S::Update),
    /// Writes these updates as if the nodes had run. A node that occurs twice had two tasks.
    Nodes(Vec<(String, S::Update)>),
}

/// The work of a bulk edit so far.
struct Made<'a, S: State, C> {
    app: &'a App<S, C>,
    thread: &'a ThreadKey,
    opening: TurnStart<S>,
    run: RunId,
    /// True once a step was an input.
    has_input: bool,
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// Writes the entries of these super-steps, between runs and in one append: the inputs, and a checkpoint per
    /// super-step, with its number and the nodes that are due after it. Nodes and their tools are not called, and need
    /// not be due. An unfinished turn can be resumed. Returns the position of the last entry.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let steps = vec![
    ///     EditStep::Input(Count::update().n(5)),
    ///     EditStep::Nodes(vec![("add".to_owned(), Count::update().n(6))]),
    /// ];
    /// thread.edits(steps).await?;
    /// assert_eq!(thread.state(None).await?.map(|state| state.n), Some(6));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`edit_as`](Thread::edit_as); [`RunError::NoSuchThread`] when the first step of a new thread is no input. Then
    /// nothing was written.
    pub async fn edits(&self, steps: Vec<EditStep<S>>) -> Result<Position, RunError> {
        let log = self.log();
        self.app.release_dead(&log).await?;
        let opened = log.open(None).await.map_err(RunError::Checkpoint)?;
        let is_new = opened.is_none();
        let before = opened.as_ref().map(|opened| opened.fold.clone()).unwrap_or_default();
        if let Some(opened) = &opened {
            self.refuse_doubts(opened)?;
        }
        let (runtime, graph) = (self.app.runtime(), &self.app.graph().0);
        let epoch = opened.as_ref().map(|opened| opened.head.epoch).unwrap_or_default();
        let mut opening = TurnStart::of(
            graph,
            self.key(),
            opened,
            || self.app.new_tip(),
            self.app.holder(),
            runtime.clock.now(),
        )?;
        let tip = opening.tip;
        let (run, thread) = (RunId(runtime.ids.id()), self.key());
        opening.epoch = epoch;
        let mut made = Made { app: &self.app, thread, opening, run, has_input: false };
        if is_new && !matches!(steps.first(), Some(EditStep::Input(_))) {
            return Err(RunError::NoSuchThread(thread.clone()));
        }
        for step in steps {
            made = match step {
                EditStep::Input(update) => made.input(update)?,
                EditStep::Nodes(writes) => made.nodes(writes)?,
            };
        }
        let entries = made.ended().opening.first;
        if entries.is_empty() {
            return Ok(tip.position);
        }
        self.append(tip, before, entries).await
    }
}

impl<S: State, C: Send + Sync + 'static> Made<'_, S, C> {
    fn input(self, update: S::Update) -> Result<Self, RunError> {
        let Self { app, thread, opening, .. } = self.ended();
        let (run, tags) = (RunId(app.runtime().ids.id()), BTreeMap::new());
        let opening =
            opening.begin(&app.graph().0, thread, run, TurnInput::New(update.into()), tags)?;
        Ok(Self { app, thread, opening, run, has_input: true })
    }

    fn nodes(mut self, mut writes: Vec<(String, S::Update)>) -> Result<Self, RunError> {
        let (graph, root) = (&self.app.graph().0, Namespace::root());
        let identity = self.opening.identity(self.thread);
        let progress = &mut self.opening.progress;
        let step = progress.frontier.step;
        writes.sort_by(|a, b| a.0.cmp(&b.0));
        let mut changes = Changes::default();
        let (mut updates, mut index) = (Vec::with_capacity(writes.len()), 0);
        for (node, mut update) in writes {
            graph.has(&node)?;
            let node: Arc<str> = node.into();
            index = match updates.last() {
                Some((last, _)) if *last == node => index + 1,
                _ => 0,
            };
            let refused = |error| Unmerged::Refused(error).of_run(step, &root);
            progress.state.bind(&node, &mut update).map_err(refused)?;
            let of = &identity;
            let id = || ids::task(of, &root, progress.turn, step, &node, index);
            complete(&mut update, id);
            changes.0.extend(update.to_changes().map_err(state_error)?.0);
            updates.push((node, update));
        }
        let before = progress.state.clone();
        // A node's routers see the state before the super-step, and what it wrote itself.
        let mut goto = Vec::with_capacity(updates.len());
        for (node, update) in &updates {
            let mut seen = S::clone(&before);
            let merged = merge(&mut seen, &mut [(node, &mut update.clone())], false);
            merged.map_err(|refused| refused.of_run(step, &root))?;
            let targets = graph.ways_of(node, &seen);
            goto.push(targets.map_err(|source| RunError::node(node, step, &root, source))?);
        }
        let nodes: Vec<_> = updates.iter().map(|(node, _)| node.clone()).collect();
        let expired = graph.expire(progress);
        let mut written = updates.clone();
        let mut written: Vec<_> =
            written.iter_mut().map(|(node, update)| (&*node, update)).collect();
        let resolved = merge(Arc::make_mut(&mut progress.state), &mut written, true)
            .map_err(|refused| refused.of_run(step, &root))?;
        let reset = graph.reset(progress, updates.iter().map(|(_, update)| update), &expired)?;
        changes.0.retain(|(field, _)| resolved.get(field).is_none());
        changes.0.extend(resolved.0.into_iter().chain(reset.0));
        let exits = nodes.iter().zip(&goto).map(|(node, goto)| TaskExit { node, goto });
        let frontier = next_frontier(&progress.frontier, exits, graph.rules());
        let frontier = graph.not_too_wide(frontier, step, &root)?;
        let commit = Commit {
            step,
            nodes: nodes.clone(),
            folds: Vec::new(),
            changes,
            frontier: frontier.clone(),
            spent: Spent::default(),
            outbox: Vec::new(),
        };
        progress.scheduled(frontier, self.opening.now, nodes);
        self.opening.first.push((root, Body::Commit(commit)));
        Ok(self)
    }

    /// Ends the turn with an input, or leaves it to be resumed.
    fn ended(mut self) -> Self {
        if !std::mem::take(&mut self.has_input) {
            return self;
        }
        let is_done = self.opening.progress.frontier.is_done();
        let outcome = if is_done { RunEnd::Done } else { RunEnd::Cancelled };
        let (detail, spent) = (String::new(), Spent::default());
        let end = End { run: self.run, outcome, detail, spent, code: None, by: None };
        self.opening.first.push((Namespace::root(), Body::End(end)));
        self
    }
}
