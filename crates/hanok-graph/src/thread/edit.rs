//! Views of a thread, and edits of its state between runs.

use std::sync::Arc;

use hanok_checkpoint::{
    AppendId, Body, Edit, Frontier, Goto, OpenLog, RunEnd, ThreadFold, ThreadLife, Tip,
};
use hanok_core::{Fields, Namespace, Position};
use hanok_state::State;
use serde::{Deserialize, Serialize};

use crate::{
    error::{NodeError, RunError},
    graph::definition::Definition,
    outcome::{Pending, Unfinished},
    run::{
        answer,
        merge_edit::{EDIT, EditPlace, merge_edit},
        plan::{TaskExit, next_frontier},
        rebase::{LogPlace, Migrated, migrated},
        run_state::RunState,
    },
    thread::{
        back::go_back,
        handle::Thread,
        task_view::TaskView,
        unclaimed::{AppendPlace, Stamp, append},
    },
};

/// The entries that are read at a time.
const PAGE: usize = 64;

/// The view of one graph of a thread: its state, its due nodes and its open requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphView {
    /// The graph: the thread's own (the root), or a subgraph.
    pub path: Namespace,
    /// The stored state.
    pub values: Fields,
    /// The nodes that are due, without those of tasks that are done and wait for others of their super-step.
    pub next: Vec<String>,
    /// The open requests.
    pub requests: Vec<Pending>,
    /// The tasks of the super-step that is due, with what they have done so far.
    pub tasks: Vec<TaskView>,
    /// The error with which the last run failed, if it did; of the thread's own graph.
    pub error: Option<String>,
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
        match self.log().open(at).await.map_err(RunError::Checkpoint)? {
            Some(opened) => self.views_of(opened).await,
            None => Ok(Vec::new()),
        }
    }

    /// As [`views`](Thread::views), of a log that was read.
    pub(crate) async fn views_of(&self, opened: OpenLog) -> Result<Vec<GraphView>, RunError> {
        let OpenLog { head, fold, .. } = opened;
        let (life, at) = (head.life, fold.position);
        // The tasks of a copy are those of the thread that it was copied from.
        let failed =
            fold.run(&Namespace::root()).is_some_and(|run| run.ended == Some(RunEnd::Failed));
        let (runs, identity) = (fold.runs, fold.identity);
        let of = identity.unwrap_or_else(|| ThreadLife { thread: self.key().clone(), life });
        let now = self.app.runtime().clock.now();
        let mut views: Vec<_> = runs
            .into_iter()
            .map(|(path, run)| {
                let tasks = TaskView::all(&of, &path, &run, now);
                let due = tasks.iter().filter(|task| !task.is_done);
                GraphView {
                    next: due.map(|task| task.node.clone()).collect(),
                    requests: answer::questions(&run, &path, now),
                    tasks,
                    values: run.fields,
                    error: None,
                    path,
                }
            })
            .collect();
        if failed && let Some(root) = views.iter_mut().find(|view| view.path.is_root()) {
            root.error = self.last_error(Some(at)).await?;
        }
        Ok(views)
    }

    /// The error of the newest run that ended at or before `at`.
    async fn last_error(&self, at: Option<Position>) -> Result<Option<String>, RunError> {
        let mut before = at.map(Position::next);
        loop {
            let page = self.log().history(before, PAGE).await.map_err(RunError::Checkpoint)?;
            let Some(last) = page.last().map(|entry| entry.position) else { return Ok(None) };
            let ends = page.into_iter().filter(|entry| entry.entry.namespace.is_root());
            let end = ends.into_iter().find_map(|entry| match entry.entry.body {
                Body::End(end) => Some(end),
                _ => None,
            });
            match end {
                Some(end) => return Ok(Some(end.detail).filter(|detail| !detail.is_empty())),
                None if last <= Position::START.next() => return Ok(None),
                None => before = Some(last),
            }
        }
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

    /// Writes `update` as if `node` of the subgraph at `path` had, between runs. The node's edges and branches decide which of its
    /// nodes are due next, as [`edit_as`](Thread::edit_as) does in the thread's own graph. `graph` is that subgraph.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let inner = Graph::<Count>::builder("inner").node("look", add).node("add", add).sequence([START, "look", "add", END]);
    /// let inner = inner.interrupt_before(["look"]).build()?;
    /// let call = Subgraph::new(inner.clone(), |_: &Count| Count::update(), |inner: &Count| Count::update().n(inner.n));
    /// let graph = Graph::<Count>::builder("outer").subgraph("call", call).sequence([START, "call", END]).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// let Outcome::Breakpoint(at) = thread.invoke(Count::update(), ()).await? else { panic!() };
    /// // `look` is not run: this is what it would have written.
    /// thread.edit_subgraph_as(&at.path, &inner, Some("look"), Count::update().n(10)).await?;
    /// assert_eq!(thread.resume(()).await?.done()?.n, 11);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`edit_as`](Thread::edit_as); [`RunError::NoSuchSubgraph`].
    pub async fn edit_subgraph_as<T: State, D: Send + Sync + 'static>(
        &self,
        path: &Namespace,
        graph: &crate::graph::definition::Graph<T, D>,
        node: Option<&str>,
        update: T::Update,
    ) -> Result<Position, RunError> {
        self.write(path, &graph.0, update, Some(node)).await
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
        let opened = self.existing(opened)?;
        // In place of a node, or at an earlier position, other tasks are due, and with it goes what is known of calls.
        if node.is_some() || self.options.at.is_some() {
            self.refuse_doubts(&opened)?;
        }
        let (OpenLog { head, mut fold, .. }, back) = match self.options.at {
            Some(to) => {
                let (by, now) = (self.options.answerer.clone(), self.app.runtime().clock.now());
                let (opened, back) = go_back(&self.log(), &opened.head, to, by, now).await?;
                (opened, Some(back.entry))
            }
            None => (opened, None),
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
        node.as_ref().map_or(Ok(()), |node| graph.has(node))?;
        let place = LogPlace { thread: self.key(), path };
        graph.owns(place, &run)?;
        let read = migrated(&*graph.initial, place, run, &mut fold.runs)?;
        let Migrated { mut progress, entries, .. } = read;
        let step = progress.frontier.step;
        let writer: Arc<str> = node.as_deref().unwrap_or(EDIT).into();
        let of = &ThreadLife { thread: self.key().clone(), life: head.life };
        let place = AppendPlace { tip: Tip::of(&head), back_to: self.options.at, fold: before };
        let mut entries: Vec<_> = back.into_iter().chain(entries).collect();
        let edit = EditPlace { of, path, at: Position(head.position.0 + entries.len() as u64) };
        let changes = merge_edit(&mut progress, &edit, &writer, update)?;
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
        let by = self.options.answerer.clone();
        entries.push((path.clone(), Body::Edit(Edit { node, changes, frontier, by })));
        self.append_at(place, entries).await
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
        self.append_at(AppendPlace::end(tip, fold), entries).await
    }

    async fn append_at(
        &self,
        place: AppendPlace,
        entries: Vec<(Namespace, Body)>,
    ) -> Result<Position, RunError> {
        let runtime = self.app.runtime();
        let stamp = Stamp { id: AppendId(runtime.ids.id()), now: runtime.clock.now() };
        let graph = Some(self.app.graph().0.name.clone());
        append(&self.log(), stamp, graph, place, entries).await
    }
}

impl<S: State, C> Definition<S, C> {
    /// The frontier after `node` alone, from a state with its update.
    fn after(&self, node: &str, progress: &RunState<S>) -> Result<Frontier, NodeError> {
        let goto = self.ways_of(node, &progress.state)?;
        let node: Arc<str> = node.into();
        let exits = std::iter::once(TaskExit { node: self.current_name(&node), goto: &goto });
        let before = Frontier { due: Vec::new(), ..progress.frontier.clone() };
        Ok(next_frontier(&before, exits, self.rules()))
    }

    /// The targets of `node` from `state`, as of a task of it.
    pub(crate) fn ways_of(&self, node: &str, state: &S) -> Result<Vec<Goto>, NodeError> {
        let Some(vertex) = self.vertex(node) else {
            let declared = self.nodes.keys().map(ToString::to_string).collect();
            return Err(NodeError::UnknownTarget { target: node.to_owned(), declared });
        };
        if !vertex.routers.is_empty() {
            return Err(NodeError::RouterWaits { node: node.to_owned() });
        }
        self.targets(&vertex.ways, Some(vertex), state)
    }
}
