//! Views of a thread, and edits of its state between runs.

use std::sync::Arc;

use hanok_checkpoint::{AppendId, Body, Edit, Frontier, Goto, OpenLog, ThreadFold, Tip};
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
        rebase::{LogPlace, Migrated, migrated},
        run_state::RunState,
    },
    thread::{
        handle::Thread,
        task_view::TaskView,
        unclaimed::{Stamp, append},
    },
};

/// The view of one graph of a thread: its state, its due nodes and its open requests.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphView {
    /// The graph: the thread's own (the root), or a subgraph.
    pub path: Namespace,
    /// The stored state.
    pub values: Fields,
    /// The nodes that are due.
    pub next: Vec<String>,
    /// The open requests.
    pub requests: Vec<Pending>,
    /// The tasks that are due, with the records that they have left so far.
    pub tasks: Vec<TaskView>,
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// The views of the thread's graphs at `at` (`None`: now): its own first, then the subgraphs that are under way or
    /// outlive their calls.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # async fn ask(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, hanok_core::AskError> {
    /// #     Ok(Count::update().n(cx.interrupt("how many?").await?))
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("ask", ask).edge(START, "ask").edge("ask", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// let views = thread.views(None).await?;
    /// assert_eq!((views[0].next.as_slice(), views[0].requests.len()), (["ask".to_owned()].as_slice(), 1));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the log cannot be read.
    pub async fn views(&self, at: Option<Position>) -> Result<Vec<GraphView>, RunError> {
        let opened = self.log().open(at).await.map_err(RunError::Checkpoint)?;
        let fold = opened.map(|opened| opened.fold).unwrap_or_default();
        // The tasks of a copy are those of the thread that it was copied from.
        let (runs, identity) = (fold.runs, fold.identity);
        let identity = identity.as_ref().unwrap_or(self.key());
        let now = self.app.runtime().clock.now();
        let views = runs.into_iter().map(|(path, run)| GraphView {
            next: run.frontier.due.iter().map(|due| due.node.to_string()).collect(),
            requests: answer::questions(&run, &path, now),
            tasks: TaskView::all(identity, &path, &run),
            values: run.fields,
            path,
        });
        Ok(views.collect())
    }

    /// Merges `update` into the state by the fields' reducers, between runs. Due nodes stay due.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// thread.edit(Count::update().n(100)).await?;
    /// assert_eq!(thread.invoke(Count::update(), ()).await?.done()?.n, 101);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Reduce`] when it cannot be merged; [`RunError::Conflict`] while a run owns the thread, or when another
    /// writer was first; [`RunError::NoSuchThread`].
    pub async fn edit(&self, update: S::Update) -> Result<Position, RunError> {
        self.write(&Namespace::root(), &self.app.graph().0, update, None).await
    }

    /// Writes `update` as if `node` had, between runs. The node's edges and branches decide which nodes are due next.
    /// Without a node it is the one that wrote last.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State, hanok_state::List};
    /// # #[derive(State, Clone, Debug, Default)] struct Log { #[reduce(append)] lines: List<String> }
    /// # async fn work(_: Snapshot<Log>, cx: Context) -> Result<LogUpdate, std::io::Error> { Ok(Log::update().push_lines(cx.node().to_owned())) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Log>::builder("review").node("draft", work).node("send", work);
    /// # let graph = graph.edge(START, "draft").edge("draft", "send").edge("send", END);
    /// # let graph = graph.interrupt_before(["draft"]).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Log::update(), ()).await?;
    /// thread.edit_as(Some("draft"), Log::update().push_lines("a draft by hand")).await?;
    /// let state = thread.resume(()).await?.done()?;
    /// assert_eq!(state.lines.iter().collect::<Vec<_>>(), ["a draft by hand", "send"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`edit`](Thread::edit); [`RunError::AmbiguousEdit`] when several nodes wrote last; [`RunError::NoSuchNode`] for
    /// an unknown node; [`RunError::Node`] when its router fails.
    pub async fn edit_as(
        &self,
        node: Option<&str>,
        update: S::Update,
    ) -> Result<Position, RunError> {
        self.write(&Namespace::root(), &self.app.graph().0, update, Some(node)).await
    }

    /// Merges `update` into the state of the subgraph at `path`, between runs. Its due nodes stay due. `graph` is that
    /// subgraph.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let inner = Graph::<Count>::builder("inner").node("add", add).edge(START, "add").edge("add", END);
    /// let inner = inner.interrupt_before(["add"]).build()?;
    /// let call = Subgraph::new(inner.clone(), |_: &Count| Count::update(), |inner: &Count| Count::update().n(inner.n));
    /// let graph = Graph::<Count>::builder("outer").subgraph("call", call).edge(START, "call").edge("call", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let Outcome::Breakpoint(at) = thread.invoke(Count::update(), ()).await? else { panic!() };
    /// thread.edit_subgraph(&at.path, &inner, Count::update().n(10)).await?;
    /// assert_eq!(thread.resume(()).await?.done()?.n, 11);
    /// # Ok(()) }
    /// ```
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
        let OpenLog { head, mut fold, .. } = self.existing(opened)?;
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
        node.as_ref().map_or(Ok(()), |node| graph.has(node))?;
        let place = LogPlace { thread: self.key(), path };
        graph.owns(place, &run)?;
        let read = migrated(&*graph.initial, place, run, &mut fold.runs)?;
        let Migrated { mut progress, mut entries, .. } = read;
        let step = progress.frontier.step;
        let writer: Arc<str> = node.as_deref().unwrap_or("edit").into();
        let changes = self.merge(&mut progress, path, head.position, writer, update)?;
        let frontier = match &node {
            Some(node) => {
                graph.adapt(&mut progress.frontier)?;
                let after = graph.after(node, &progress);
                let after = after
                    .map_err(|source| RunError::node(&node.as_str().into(), step, path, source))?;
                Some(graph.not_too_wide(after, step, path)?)
            }
            None => None,
        };
        entries.push((path.clone(), Body::Edit(Edit { node, changes, frontier })));
        self.append(Tip::of(&head), before, entries).await
    }

    /// Merges the update of `writer` into the state of the graph at a path of the thread, which is at a position; returns
    /// the stored form.
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

    /// The part of the thread that was read, unless the thread does not exist.
    pub(crate) fn existing<T>(&self, part: Option<T>) -> Result<T, RunError> {
        part.ok_or_else(|| RunError::NoSuchThread(self.key().clone()))
    }

    /// Refuses a change from outside while a call is in doubt, since its record would be dropped.
    pub(crate) fn refuse_doubts(&self, opened: &OpenLog) -> Result<(), RunError> {
        let now = self.app.runtime().clock.now();
        let requests = answer::open(Some(opened), now);
        if self.options.discards || requests.iter().all(|pending| pending.doubt.is_none()) {
            return Ok(());
        }
        let why = Unfinished::InDoubt(requests);
        Err(RunError::Unfinished { thread: self.key().clone(), why })
    }

    /// Appends entries between runs, to a log with this fold.
    pub(crate) async fn append(
        &self,
        tip: Tip,
        fold: ThreadFold,
        entries: Vec<(Namespace, Body)>,
    ) -> Result<Position, RunError> {
        let runtime = self.app.runtime();
        let stamp = Stamp { id: AppendId(runtime.ids.id()), now: runtime.clock.now() };
        let graph = Some(self.app.graph().0.name.clone());
        append(&self.log(), stamp, graph, tip, fold, entries).await
    }
}

impl<S: State, C> Definition<S, C> {
    /// The frontier after `node` alone, from a state with its update.
    fn after(
        &self,
        node: &str,
        progress: &RunState<S>,
    ) -> Result<Frontier, crate::error::NodeError> {
        let goto = self.ways_of(node, &progress.state)?;
        let node: Arc<str> = node.into();
        let exits = std::iter::once(TaskExit { node: self.current_name(&node), goto: &goto });
        let before = Frontier { due: Vec::new(), ..progress.frontier.clone() };
        Ok(next_frontier(&before, exits, self.rules()))
    }

    /// The targets of `node` from `state`, as of a task of it.
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
        self.targets(&vertex.ways, state)
    }
}
