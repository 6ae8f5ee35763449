//! Building a graph.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    marker::PhantomData,
    sync::Arc,
};

use hanok_core::Budget;
use hanok_state::State;

use crate::{
    error::{BuildError, Lint},
    graph::{
        definition::{
            Branch, Definition, FAN_OUT, Graph, Join, RECURSION_LIMIT, RETRIES, Router, Vertex,
            Ways,
        },
        draw::DrawInside,
        migration::{Migration, MigrationSpec},
        validate,
    },
    node::{
        cache::Results,
        command::IntoTargets,
        function::{ErasedNode, Node, Typed},
        handler::{ErasedHandler, Handler, TypedHandler},
        retry::Retry,
        settings::{NodeSettings, names},
    },
    runtime::Runtime,
    slots::Slots,
};

/// A node's name and the node.
pub(crate) struct NamedNode<S: State, C> {
    pub(crate) name: Arc<str>,
    pub(crate) node: Arc<dyn ErasedNode<S, C>>,
    /// Draws the graph that the node is, so many levels deep.
    pub(crate) inside: Option<DrawInside>,
}

/// Where it begins, how it chooses, and what it may choose.
type NamedBranch<S> = (Arc<str>, Router<S>, Vec<Arc<str>>);

/// Builds a [`Graph`]. Nothing is checked before [`build`](GraphBuilder::build), which reports every fault at once.
#[must_use]
pub struct GraphBuilder<S: State, C = ()> {
    pub(crate) name: String,
    pub(crate) initial: S,
    pub(crate) nodes: Vec<NamedNode<S, C>>,
    pub(crate) edges: Vec<(Arc<str>, Arc<str>)>,
    pub(crate) branches: Vec<NamedBranch<S>>,
    pub(crate) gotos: Vec<(Arc<str>, Vec<Arc<str>>)>,
    pub(crate) joins: Vec<Join>,
    pub(crate) former: MigrationSpec,
    pub(crate) deferred: BTreeSet<Arc<str>>,
    pub(crate) settings: BTreeMap<Arc<str>, NodeSettings<S, C>>,
    /// What was said about which node, for errors.
    pub(crate) named: Vec<(&'static str, Arc<str>)>,
    pub(crate) allowed: BTreeSet<(Arc<str>, Lint)>,
    pub(crate) input: Option<Vec<Arc<str>>>,
    pub(crate) output: Option<Vec<Arc<str>>>,
    pub(crate) allow_abort: bool,
    /// The handler of the nodes that have none of their own.
    handler: Option<Arc<dyn ErasedHandler<S, C>>>,
    handler_targets: Vec<Arc<str>>,
    retries: Vec<Retry>,
    before: BTreeSet<Arc<str>>,
    after: BTreeSet<Arc<str>>,
    fail_fast: bool,
    agent: bool,
    slots: Option<Slots>,
    fan_out: usize,
    budget: Budget,
    retry_budget: u32,
    recursion_limit: u32,
    runtime: Runtime,
}

impl<S: State, C: Send + Sync + 'static> Graph<S, C> {
    /// Begins a graph. The name is for people: drawings and errors.
    pub fn builder(name: &str) -> GraphBuilder<S, C> {
        GraphBuilder::new(name)
    }
}

impl<S: State, C: Send + Sync + 'static> GraphBuilder<S, C> {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            initial: S::default(),
            nodes: Vec::new(),
            edges: Vec::new(),
            branches: Vec::new(),
            gotos: Vec::new(),
            joins: Vec::new(),
            former: MigrationSpec::default(),
            deferred: BTreeSet::new(),
            settings: BTreeMap::new(),
            named: Vec::new(),
            allowed: BTreeSet::new(),
            input: None,
            output: None,
            allow_abort: false,
            handler: None,
            handler_targets: Vec::new(),
            retries: Vec::new(),
            before: BTreeSet::new(),
            after: BTreeSet::new(),
            fail_fast: false,
            agent: false,
            slots: None,
            fan_out: FAN_OUT,
            budget: Budget::default(),
            retry_budget: RETRIES,
            recursion_limit: RECURSION_LIMIT,
            runtime: Runtime::default(),
        }
    }

    /// The state that a thread begins with. Default: the type's default.
    pub fn initial(self, initial: S) -> Self {
        Self { initial, ..self }
    }

    /// Adds a node: an `async fn(Snapshot<S>, Context<C>) -> Result<impl IntoCommand<S>, E>`.
    ///
    /// Its settings are composed on it: `node.retry(…).timeout(…)`, with the trait [`NodeExt`](crate::NodeExt) in scope.
    pub fn node<M: 'static>(mut self, name: &str, mut node: impl Node<S, C, M>) -> Self {
        let settings = node.take_settings();
        let node = Arc::new(Typed(node, PhantomData));
        self.nodes.push(NamedNode { name: name.into(), node, inside: None });
        self.apply(name, settings)
    }

    /// Adds an edge: when `from` is done, `to` is due.
    pub fn edge(mut self, from: &str, to: &str) -> Self {
        self.edges.push((from.into(), to.into()));
        self
    }

    /// Adds a branch: when `from` is done, `router` says where to go on, among `targets`.
    ///
    /// The router sees the state with what `from` wrote, and not what its siblings wrote. It belongs to the node: if it
    /// fails, the node's task has failed.
    pub fn branch<R: IntoTargets>(
        mut self,
        from: &str,
        router: impl Fn(&S) -> R + Send + Sync + 'static,
        targets: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        let router: Router<S> = Arc::new(move |state| router(state).into_targets());
        self.branches.push((from.into(), router, names(targets)));
        self
    }

    /// Adds a join: `to` is due once when all of `from` are done, in whichever super-steps; then it waits for all anew.
    pub fn join(mut self, from: impl IntoIterator<Item = impl AsRef<str>>, to: &str) -> Self {
        let sources = names(from);
        let name = Join::name_of(&sources, to);
        self.joins.push(Join { name, sources, target: to.into() });
        self
    }

    /// Says that the node `now` was called `former` in an earlier build: threads that wait at `former` go on with it. Keep
    /// it as long as there are such threads.
    ///
    /// The tasks that wait keep their ids, and so do the calls that they made once and the questions that they asked.
    pub fn renamed(mut self, former: &str, now: &str) -> Self {
        self.named.push(("renamed", now.into()));
        self.former.renamed.insert(former.into(), now.into());
        self
    }

    /// Says that the node `former` of an earlier build is gone: threads that wait at it go on with `next`, which may be
    /// [`END`](crate::END), as if it had run and written nothing.
    pub fn removed(mut self, former: &str, next: &str) -> Self {
        if next != crate::names::END {
            self.named.push(("removed", next.into()));
        }
        self.former.removed.insert(former.into(), next.into());
        self
    }

    /// Says that a join of an earlier build is gone, by the name that [`RunError::GraphChanged`](crate::RunError) gives it:
    /// what it has seen in threads that wait is forgotten.
    pub fn removed_join(mut self, former: &str) -> Self {
        self.former.joins.insert(former.to_owned());
        self
    }

    /// Stops the run before `nodes` run, each time; a resume goes on. Default: nowhere.
    pub fn interrupt_before(mut self, nodes: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let nodes = names(nodes);
        self.named.extend(nodes.iter().map(|node| ("breakpoint", node.clone())));
        self.before.extend(nodes);
        self
    }

    /// Stops the run after `nodes` have run, each time, unless nothing is left to do; a resume goes on. Default: nowhere.
    pub fn interrupt_after(mut self, nodes: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let nodes = names(nodes);
        self.named.extend(nodes.iter().map(|node| ("breakpoint", node.clone())));
        self.after.extend(nodes);
        self
    }

    /// Runs every node without a policy of its own again when it fails, as `retry` says. Default: none is.
    pub fn retry_all(mut self, retry: Retry) -> Self {
        self.retries.push(retry);
        self
    }

    /// How many retries a run may make, all nodes together. Default: 100.
    pub fn retry_budget(self, retry_budget: u32) -> Self {
        Self { retry_budget, ..self }
    }

    /// Runs `handler` for every node without a handler of its own.
    pub fn on_any_error<M: 'static>(
        self,
        handler: impl Handler<S, C, M>,
        targets: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        let handler_targets = names(targets);
        let handler = Arc::new(TypedHandler(handler, PhantomData));
        Self { handler: Some(handler), handler_targets, ..self }
    }

    /// How many tasks of this graph run at once, in all its runs in this process. Default: any number. For one run:
    /// [`Thread::max_concurrency`](crate::Thread::max_concurrency); for everything: [`Runtime::slots`].
    pub fn max_concurrency(self, tasks: usize) -> Self {
        Self { slots: Some(Slots::new(tasks)), ..self }
    }

    /// How many tasks a super-step may have. Default: 1,024.
    pub fn max_fan_out(self, tasks: usize) -> Self {
        Self { fan_out: tasks, ..self }
    }

    /// Stops the siblings of a task that fails. Default: they run to their end, and what they wrote is kept for a resume.
    pub fn fail_fast(self) -> Self {
        Self { fail_fast: true, ..self }
    }

    /// How much a turn may spend. Default: no limit. For one thread: [`Thread::budget`](crate::Thread::budget).
    pub fn budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// The fields that an input may write. Default: all.
    pub fn input(self, fields: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self { input: Some(names(fields)), ..self }
    }

    /// The fields that an outcome and the values of a stream show; the others have their initial value there. Default: all
    /// that are not private.
    pub fn output(self, fields: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self { output: Some(names(fields)), ..self }
    }

    /// How many super-steps a turn may take. Default: 100.
    pub fn recursion_limit(self, recursion_limit: u32) -> Self {
        Self { recursion_limit, ..self }
    }

    /// Accepts a program that was built with `panic = "abort"`, where a panic of a node ends the program and not its run
    /// alone. Default: such a graph is refused.
    pub fn allow_abort(self) -> Self {
        Self { allow_abort: true, ..self }
    }

    /// Says that the graph is an agent: whoever watches its runs sees them as an agent's. Default: as a workflow's.
    pub fn agent(self) -> Self {
        Self { agent: true, ..self }
    }

    /// Where time, ids, randomness and tasks come from. Default: the system's, and tokio's.
    pub fn runtime(self, runtime: Runtime) -> Self {
        Self { runtime, ..self }
    }

    /// Adds settings to the node of this name, wherever it was added: for graphs that are read from data. A node at hand is
    /// composed with its own: `node.retry(…)`.
    ///
    /// ```
    /// use hanok_graph::{Context, END, Graph, NodeSettings, START, Snapshot};
    /// # use hanok_state::State;
    /// # #[derive(State, Clone, Default)]
    /// # struct Page { text: String }
    /// # async fn load(_: Snapshot<Page>, _: Context) -> Result<PageUpdate, std::io::Error> { Ok(Page::update()) }
    ///
    /// let graph = Graph::<Page>::builder("page").node("load", load).edge(START, "load").edge("load", END);
    /// let slow = std::time::Duration::from_secs(60);
    /// let graph = graph.configure("load", NodeSettings::new().timeout(slow)).build()?;
    /// # Ok::<(), hanok_graph::BuildError>(())
    /// ```
    pub fn configure(mut self, node: &str, settings: NodeSettings<S, C>) -> Self {
        self.named.push(("settings", node.into()));
        self.apply(node, settings)
    }

    /// Notes the settings of a node, and what of them concerns the ways of the graph.
    pub(crate) fn apply(mut self, node: &str, mut settings: NodeSettings<S, C>) -> Self {
        let name: Arc<str> = node.into();
        if !settings.goto.is_empty() {
            self.gotos.push((name.clone(), std::mem::take(&mut settings.goto)));
        }
        if settings.deferred {
            self.deferred.insert(name.clone());
        }
        self.allowed.extend(settings.allowed.iter().map(|lint| (name.clone(), *lint)));
        let before = self.settings.remove(&name).unwrap_or_default();
        self.settings.insert(name, before.and(settings));
        self
    }

    /// The graph, checked.
    ///
    /// # Errors
    ///
    /// [`BuildError`] with every fault there is.
    pub fn build(mut self) -> Result<Graph<S, C>, BuildError> {
        if !self.handler_targets.is_empty() {
            let without = |node: &Arc<str>| {
                self.settings.get(node).is_none_or(|settings| settings.handler.is_none())
            };
            let nodes = self.nodes.iter().map(|node| node.name.clone()).filter(without);
            let ways: Vec<_> = nodes.map(|node| (node, self.handler_targets.clone())).collect();
            self.gotos.extend(ways);
        }
        let faults = validate::faults(&self);
        if !faults.is_empty() {
            return Err(BuildError { graph: self.name, faults });
        }
        let fingerprint = validate::fingerprint(&self);
        let mut inner = Definition {
            name: self.name,
            has_ephemeral: self.initial.schema().fields.iter().any(|field| field.ephemeral),
            shows_all: false,
            initial: Arc::new(self.initial),
            nodes: BTreeMap::new(),
            start: Ways::default(),
            former: Migration::new(self.former, &self.joins),
            joins: self.joins,
            deferred: self.deferred,
            before: self.before,
            after: self.after,
            input: self.input,
            output: self.output,
            results: Results::default(),
            fail_fast: self.fail_fast,
            agent: self.agent,
            slots: self.slots,
            fan_out: self.fan_out,
            budget: self.budget,
            retry_budget: self.retry_budget,
            recursion_limit: self.recursion_limit,
            fingerprint,
            runtime: self.runtime,
        };
        for NamedNode { name, node, inside } in self.nodes {
            let mut settings = self.settings.remove(&name).unwrap_or_default();
            if settings.retries.is_empty() {
                settings.retries.clone_from(&self.retries);
            }
            settings.handler = settings.handler.or_else(|| self.handler.clone());
            let kind = node.kind();
            let vertex = Vertex { node, kind, inside, ways: Ways::default(), settings };
            inner.nodes.insert(name, vertex);
        }
        for (from, to) in self.edges {
            if let Some(ways) = inner.ways_mut(&from) {
                ways.edges.push(to);
            }
        }
        for (from, router, declared) in self.branches {
            if let Some(ways) = inner.ways_mut(&from) {
                ways.branches.push(Branch { router, declared });
            }
        }
        for (from, targets) in self.gotos {
            if let Some(ways) = inner.ways_mut(&from) {
                let new: Vec<_> = targets.into_iter().filter(|t| !ways.goto.contains(t)).collect();
                ways.goto.extend(new);
            }
        }
        inner.shows_all =
            inner.initial.schema().fields.iter().all(|field| inner.shows(&field.name));
        Ok(Graph(Arc::new(inner)))
    }
}

impl<S: State, C> fmt::Debug for GraphBuilder<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<S: State, C> Definition<S, C> {
    fn ways_mut(&mut self, node: &str) -> Option<&mut Ways<S>> {
        if node == crate::names::START {
            return Some(&mut self.start);
        }
        self.nodes.get_mut(node).map(|vertex| &mut vertex.ways)
    }
}
