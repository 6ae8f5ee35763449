//! Looking into a thread and changing its state between runs.

use std::sync::Arc;

use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Edit, Entry, Frontier, Goto, Guard,
    Labels, OpenLog, ThreadFold, Tip,
};
use hanok_core::{Changes, Fields, Namespace, Position};
use hanok_state::{State, StateUpdate};

use crate::{
    error::{RunError, state_error},
    graph::definition::Definition,
    outcome::{Pending, Unfinished},
    run::{
        answer,
        merge::{Unmerged, complete, merge},
        plan::{TaskExit, next_frontier},
        rebase::{Migrated, migrated},
        route::run_routers,
        run_state::RunState,
    },
    thread::handle::Thread,
};

/// Where one graph of a thread stands.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphView {
    /// Which graph: the thread's own (the root), or a subgraph.
    pub path: Namespace,
    /// The state, as it is stored.
    pub values: Fields,
    /// The nodes that are due.
    pub next: Vec<String>,
    /// The open requests.
    pub requests: Vec<Pending>,
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// Where the thread's graphs stand at `at` (`None`: now): its own first, then the subgraphs that are under way or
    /// outlive their calls.
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the log cannot be read.
    pub async fn views(&self, at: Option<Position>) -> Result<Vec<GraphView>, RunError> {
        let opened = self.log().open(at).await.map_err(RunError::Checkpoint)?;
        let runs = opened.map(|opened| opened.fold.runs).unwrap_or_default();
        let now = self.app.runtime().clock.now();
        let views = runs.into_iter().map(|(path, run)| GraphView {
            next: run.frontier.due.iter().map(|due| due.node.to_string()).collect(),
            requests: answer::questions(&run, &path, now),
            values: run.fields,
            path,
        });
        Ok(views.collect())
    }

    /// Writes `update` to the state, between runs; what is due stays due. The fields' reducers merge it.
    ///
    /// # Errors
    ///
    /// [`RunError::Reduce`] when it cannot be merged; [`RunError::Conflict`] while a run owns the thread, or when someone
    /// else wrote first; [`RunError::NoSuchThread`].
    pub async fn edit(&self, update: S::Update) -> Result<Position, RunError> {
        self.write(&Namespace::root(), &self.app.graph().0, update, None).await
    }

    /// Writes `update` as if `node` had, between runs: its edges and branches say what is due next. Without a node it is
    /// the one that wrote last.
    ///
    /// # Errors
    ///
    /// As [`edit`](Thread::edit); [`RunError::AmbiguousEdit`] when several nodes wrote last; [`RunError::Node`] when the
    /// node is not there or its router fails.
    pub async fn edit_as(
        &self,
        node: Option<&str>,
        update: S::Update,
    ) -> Result<Position, RunError> {
        self.write(&Namespace::root(), &self.app.graph().0, update, Some(node)).await
    }

    /// Writes `update` to the state of the subgraph at `path`, between runs; what is due there stays due. `graph` is that
    /// subgraph.
    ///
    /// # Errors
    ///
    /// As [`edit`](Thread::edit); [`RunError::NoSuchSubgraph`].
    pub async fn edit_subgraph<T: State, D: Send + Sync + 'static>(
        &self,
        path: &Namespace,
        graph: &crate::graph::definition::Graph<T, D>,
        update: T::Update,
    ) -> Result<Position, RunError> {
        self.write(path, &graph.0, update, None).await
    }

    async fn write<T: State, D: Send + Sync + 'static>(
        &self,
        path: &Namespace,
        graph: &Arc<Definition<T, D>>,
        update: T::Update,
        node: Option<Option<&str>>,
    ) -> Result<Position, RunError> {
        self.app.release_dead(&self.log()).await?;
        let opened = self.log().open(None).await.map_err(RunError::Checkpoint)?;
        // In place of a node what is due changes, and with it goes what is known of its calls.
        if let (Some(opened), Some(_)) = (&opened, node) {
            self.refuse_doubts(opened)?;
        }
        let Some(OpenLog { head, mut fold, .. }) = opened else {
            return Err(RunError::NoSuchThread(self.key().clone()));
        };
        let before = fold.clone();
        let Some(run) = fold.runs.remove(path) else {
            let (thread, path) = (self.key().clone(), path.clone());
            return Err(RunError::NoSuchSubgraph { thread, path });
        };
        let node = match node {
            None => None,
            Some(Some(node)) => Some(node.to_owned()),
            Some(None) => match run.last.as_slice() {
                [one] => Some(one.to_string()),
                several => {
                    let nodes = several.iter().map(ToString::to_string).collect();
                    return Err(RunError::AmbiguousEdit { nodes });
                }
            },
        };
        let read = migrated(&*graph.initial, path, run, &mut fold.runs)?;
        let Migrated { mut progress, mut entries, .. } = read;
        let step = progress.frontier.step;
        let writer: Arc<str> = node.as_deref().unwrap_or("edit").into();
        let changes = self.merge(&mut progress, path, head.position, writer, update)?;
        let frontier = match &node {
            Some(node) => {
                graph.adapt(&mut progress.frontier)?;
                let after = graph.after(node, &progress).map_err(|source| RunError::Node {
                    node: node.as_str().into(),
                    step,
                    namespace: path.clone(),
                    source,
                })?;
                Some(graph.not_too_wide(after, step, path)?)
            }
            None => None,
        };
        entries.push((path.clone(), Body::Edit(Edit { node, changes, frontier })));
        self.append(Tip::of(&head), before, entries).await
    }

    /// Merges what `writer` writes into the state of the graph at a path of the thread, which is at a position; says how it
    /// is stored.
    pub(crate) fn merge<T: State>(
        &self,
        progress: &mut RunState<T>,
        path: &Namespace,
        at: Position,
        writer: Arc<str>,
        mut update: T::Update,
    ) -> Result<Changes, RunError> {
        let step = progress.frontier.step;
        let id = crate::ids::task(self.key(), path, at.next(), step, &writer, usize::MAX);
        let refused = |error| Unmerged::Refused(error).of_run(step, path);
        progress.state.bind(&writer, &mut update).map_err(refused)?;
        complete(&mut update, || id);
        let mut changes = update.to_changes().map_err(state_error)?;
        let resolved =
            merge(Arc::make_mut(&mut progress.state), &mut [(&writer, &mut update)], true)
                .map_err(|refused| refused.of_run(step, path))?;
        changes.0.retain(|(field, _)| resolved.get(field).is_none());
        changes.0.extend(resolved.0);
        changes.fill(&progress.unknown);
        Ok(changes)
    }

    /// Refuses a change from outside while nobody knows whether a call was made: what is known of it would go.
    pub(crate) fn refuse_doubts(&self, opened: &OpenLog) -> Result<(), RunError> {
        let now = self.app.runtime().clock.now();
        let requests = answer::open(Some(opened), now);
        if self.options.discards || requests.iter().all(|pending| pending.doubt.is_none()) {
            return Ok(());
        }
        let why = Unfinished::InDoubt(requests);
        Err(RunError::Unfinished { thread: self.key().clone(), why })
    }

    /// Appends entries between runs, to a log that amounts to `fold`.
    pub(crate) async fn append(
        &self,
        mut tip: Tip,
        mut fold: ThreadFold,
        entries: Vec<(Namespace, Body)>,
    ) -> Result<Position, RunError> {
        let (runtime, thread) = (self.app.runtime(), self.key());
        let (codec, now) = (self.app.store().codec(), runtime.clock.now());
        let (expected, mut records) = (tip.position, Vec::with_capacity(entries.len()));
        for (namespace, body) in entries {
            let entry = Entry { at: now, namespace, body };
            let record = tip.push(codec, thread, tip.position, &entry);
            records.push(record.map_err(|error| CheckpointError::Encode(error.into()))?);
            fold.apply(tip.position, &entry).map_err(|error| RunError::State(error.into()))?;
        }
        let (id, guard) = (AppendId(runtime.ids.id()), Guard::Unclaimed);
        let append = tip.append(codec, thread, id, expected, guard, records);
        let is_new = expected == Position::START;
        let graph = is_new.then(|| self.app.graph().0.name.as_str().into());
        let labels = Labels { graph, ..Labels::of(&fold) }.since(None);
        let append = Append { updated: Some(now), labels, ..append };
        self.app.store().append(thread, append).await?;
        Ok(tip.position)
    }
}

impl<S: State, C> Definition<S, C> {
    /// What is due after `node` alone, from a state that holds what it wrote.
    fn after(
        &self,
        node: &str,
        progress: &RunState<S>,
    ) -> Result<Frontier, crate::error::NodeError> {
        let goto = self.ways_of(node, &progress.state)?;
        let node: Arc<str> = node.into();
        let said = std::iter::once(TaskExit { node: self.current_name(&node), goto: &goto });
        let before = Frontier { due: Vec::new(), ..progress.frontier.clone() };
        Ok(next_frontier(&before, said, self.rules()))
    }

    /// Where `node` leads from `state`, as a task of it would say.
    pub(crate) fn ways_of(
        &self,
        node: &str,
        state: &S,
    ) -> Result<Vec<Goto>, crate::error::NodeError> {
        let Some(vertex) = self.vertex(node) else {
            let declared = self.nodes.keys().map(ToString::to_string).collect();
            return Err(crate::error::NodeError::UnknownTarget {
                target: node.to_owned(),
                declared,
            });
        };
        let edges = vertex.ways.edges.iter().map(|to| Ok(Goto::Node(to.clone())));
        let routed = run_routers(&vertex.ways, state)?.into_iter();
        edges.chain(routed.map(|target| self.stored(target))).collect()
    }
}
