//! The builder of a graph.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    marker::PhantomData,
    sync::Arc,
    time::Duration,
};

use hanok_core::Budget;
use hanok_state::State;

use crate::{
    error::{BuildError, Lint},
    graph::{
        definition::{
            AsyncBranch, Branch, Definition, FAN_OUT, Graph, Join, RECURSION_LIMIT, RETRIES,
            Router, Vertex, Ways,
        },
        draw::DrawInside,
        migration::{Migration, MigrationSpec},
        validate::Wiring,
    },
    node::{
        async_router::{AsyncRouter, ErasedRouter, TypedRouter},
        cache::Results,
        command::IntoTargets,
        function::{ErasedNode, Node, Typed},
        handler::{ErasedHandler, Handler, TypedHandler},
        retry::Retry,
        settings::{NodeSettings, names},
    },
    node_set::Breakpoints,
    runtime::Runtime,
    slots::Slots,
};

/// A node's name and the node.
pub(crate) struct NamedNode<S: State, C> {
    pub(crate) name: Arc<str>,
    pub(crate) node: Arc<dyn ErasedNode<S, C>>,
    /// Draws the graph that the node is, a number of levels deep.
    pub(crate) inside: Option<DrawInside>,
}

/// A branch whose router waits.
pub(crate) struct NamedRouter<S: State, C> {
    pub(crate) from: Arc<str>,
    pub(crate) router: Arc<dyn ErasedRouter<S, C>>,
    pub(crate) targets: Vec<Arc<str>>,
}

/// A branch: its source, its router and its targets.
type NamedBranch<S> = (Arc<str>, Router<S>, Vec<Arc<str>>);

/// Builds a [`Graph`]. Nothing is checked before [`build`](GraphBuilder::build), which reports every fault at once.
///
/// ```
/// # use {hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// let graph = Graph::<Count>::builder("count")
///     .node("add", add)
///     .edge(START, "add")
///     .branch("add", |state: &Count| if state.n < 10 { "add" } else { END }, ["add", END])
///     .recursion_limit(20)
///     .build()?;
/// assert_eq!(graph.name(), "count");
/// # Ok::<(), BuildError>(())
/// ```
#[must_use]
pub struct GraphBuilder<S: State, C = ()> {
    pub(crate) name: String,
    pub(crate) initial: S,
    pub(crate) nodes: Vec<NamedNode<S, C>>,
    pub(crate) edges: Vec<(Arc<str>, Arc<str>)>,
    pub(crate) branches: Vec<NamedBranch<S>>,
    pub(crate) routers: Vec<NamedRouter<S, C>>,
    pub(crate) gotos: Vec<(Arc<str>, Vec<Arc<str>>)>,
    pub(crate) joins: Vec<Join>,
    pub(crate) former: MigrationSpec,
    pub(crate) deferred: BTreeSet<Arc<str>>,
    pub(crate) settings: BTreeMap<Arc<str>, NodeSettings<S, C>>,
    /// The nodes that declarations name, for errors.
    pub(crate) named: Vec<(&'static str, Arc<str>)>,
    formerly: Vec<Arc<str>>,
    pub(crate) allowed: BTreeSet<(Arc<str>, Lint)>,
    pub(crate) input: Option<Vec<Arc<str>>>,
    pub(crate) output: Option<Vec<Arc<str>>>,
    pub(crate) allow_abort: bool,
    /// The handler of the nodes that have none of their own.
    handler: Option<Arc<dyn ErasedHandler<S, C>>>,
    handler_targets: Vec<Arc<str>>,
    retries: Vec<Retry>,
    breakpoints: Breakpoints,
    timeouts: (Option<Duration>, Option<Duration>),
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
    /// Begins a graph. Its name stands in drawings, errors and logs: a thread is of the graph of that name, and no other runs
    /// on it ([`GraphBuilder::formerly`]).
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
            routers: Vec::new(),
            gotos: Vec::new(),
            joins: Vec::new(),
            former: MigrationSpec::default(),
            deferred: BTreeSet::new(),
            settings: BTreeMap::new(),
            named: Vec::new(),
            formerly: Vec::new(),
            allowed: BTreeSet::new(),
            input: None,
            output: None,
            allow_abort: false,
            handler: None,
            handler_targets: Vec::new(),
            retries: Vec::new(),
            breakpoints: Breakpoints::default(),
            timeouts: (None, None),
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

    /// Declares a name that the graph had in earlier builds, so that threads of that name go on.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let key = ThreadKey::new(Tenant::default(), "t1")?;
    /// # let store = hanok_checkpoint::SharedCheckpointer::new(InMemoryCheckpointer::new());
    /// let graph = |name| Graph::<Count>::builder(name).node("add", add).edge(START, "add").edge("add", END);
    /// graph("count").build()?.checkpointer(store.clone()).thread(key.clone()).invoke(Count::update(), ()).await?;
    ///
    /// let renamed = graph("sum").build()?.checkpointer(store.clone()).thread(key.clone());
    /// assert!(matches!(renamed.state(None).await, Err(RunError::OtherGraph { stored, .. }) if stored == "count"));
    /// let declared = graph("sum").formerly("count").build()?.checkpointer(store).thread(key);
    /// assert_eq!(declared.state(None).await?.map(|state| state.n), Some(1));
    /// # Ok(()) }
    /// ```
    pub fn formerly(mut self, name: &str) -> Self {
        self.formerly.push(name.into());
        self
    }

    /// Sets the state that a thread begins with. Default: the type's default.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
    /// let graph = graph.initial(Count { n: 41 }).build()?;
    /// assert_eq!(graph.invoke(Count::update(), ()).await?.done()?.n, 42);
    /// # Ok(()) }
    /// ```
    pub fn initial(self, initial: S) -> Self {
        Self { initial, ..self }
    }

    /// Adds a node: an `async fn(Snapshot<S>, Context<C>) -> Result<impl IntoCommand<S>, E>`.
    ///
    /// Compose its settings on it, with the trait [`NodeExt`](crate::NodeExt) in scope: `node.retry(…).timeout(…)`.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Default)] struct Count { n: u32 }
    /// async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> {
    ///     Ok(Count::update().n(state.n + 1))
    /// }
    ///
    /// let graph = Graph::<Count>::builder("count").node("add", add.retry(Retry::attempts(3)));
    /// # graph.edge(START, "add").edge("add", END).build()?; Ok::<(), BuildError>(())
    /// ```
    pub fn node<M: 'static>(mut self, name: &str, mut node: impl Node<S, C, M>) -> Self {
        let settings = node.take_settings();
        let node = Arc::new(Typed(node, PhantomData));
        self.nodes.push(NamedNode { name: name.into(), node, inside: None });
        self.apply(name, settings)
    }

    /// Adds an edge: when `from` is done, `to` is due. Several edges from one node run their targets at the same time.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State, hanok_state::List};
    /// # #[derive(State, Clone, Debug, Default)] struct Log { #[reduce(append)] lines: List<String> }
    /// # async fn work(_: Snapshot<Log>, cx: Context) -> Result<LogUpdate, std::io::Error> { Ok(Log::update().push_lines(cx.node().to_owned())) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Log>::builder("diamond").node("a", work).node("b", work).node("c", work);
    /// let graph = graph.edge(START, "a").edge(START, "b").edge("a", "c").edge("b", "c").edge("c", END).build()?;
    /// let state = graph.invoke(Log::update(), ()).await?.done()?;
    /// assert_eq!(state.lines.iter().collect::<Vec<_>>(), ["a", "b", "c"]);
    /// # Ok(()) }
    /// ```
    pub fn edge(mut self, from: &str, to: &str) -> Self {
        self.edges.push((from.into(), to.into()));
        self
    }

    /// Adds an edge from each of `nodes` to the next one, for nodes that run one after the other.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Count>::builder("count").node("one", add).node("two", add).node("three", add);
    /// let graph = graph.sequence([START, "one", "two", "three", END]).build()?;
    /// assert_eq!(graph.invoke(Count::update(), ()).await?.done()?.n, 3);
    /// # Ok(()) }
    /// ```
    pub fn sequence(mut self, nodes: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let nodes = names(nodes);
        let pairs = nodes.iter().zip(nodes.iter().skip(1));
        self.edges.extend(pairs.map(|(from, to)| (from.clone(), to.clone())));
        self
    }

    /// Adds a branch: when `from` is done, `router` chooses among `targets`.
    ///
    /// The router sees the state with the update of `from`, and without those of its siblings. It belongs to the node: if
    /// it fails, the node's task fails.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Count>::builder("count")
    ///     .node("add", add)
    ///     .edge(START, "add")
    ///     .branch("add", |state: &Count| if state.n < 5 { "add" } else { END }, ["add", END])
    ///     .build()?;
    /// assert_eq!(graph.invoke(Count::update(), ()).await?.done()?.n, 5);
    /// # Ok(()) }
    /// ```
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

    /// Adds a branch behind the node `from` whose router is an `async fn`: it may wait, and sees the services of the run. Its
    /// targets are all in `targets`. It is given the state with the node's own writes, and the node's context.
    ///
    /// The router is a part of the node: the node's time-outs and retries are for both, and a question of the router ends the run
    /// as one of the node does; both run again with the answer, and what is to be done once is a [step](crate::Context::step). It does
    /// not run after a [`Command::only`](crate::Command::only), nor after the node's error handler. A cached result is cached
    /// with where it went. Of the private fields it may show those that the node shows.
    ///
    /// A router that neither waits nor needs services is a [`branch`](GraphBuilder::branch). START has no other, and
    /// [`edit_as`](crate::Thread::edit_as) refuses a node with an async router, for it has no services.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Case { text: String, answer: String }
    /// /// A service: here it could ask a model.
    /// struct Desk;
    /// impl Desk {
    ///     async fn is_urgent(&self, text: &str) -> Result<bool, std::io::Error> {
    ///         Ok(text.contains("fire"))
    ///     }
    /// }
    ///
    /// async fn read(case: Snapshot<Case>, _: Context<Desk>) -> Result<CaseUpdate, BoxError> {
    ///     Ok(Case::update().text(case.text.to_lowercase()))
    /// }
    /// async fn triage(case: Snapshot<Case>, context: Context<Desk>) -> Result<&'static str, BoxError> {
    ///     Ok(if context.services().is_urgent(&case.text).await? { "call" } else { END })
    /// }
    /// async fn call(_: Snapshot<Case>, _: Context<Desk>) -> Result<CaseUpdate, BoxError> {
    ///     Ok(Case::update().answer("on our way"))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Case, Desk>::builder("desk").node("read", read).node("call", call);
    /// let graph = graph.edge(START, "read").route("read", triage, ["call", END]).edge("call", END).build()?;
    /// let case = graph.invoke(Case::update().text("FIRE"), Desk).await?.done()?;
    /// assert_eq!(case.answer, "on our way");
    /// # Ok(()) }
    /// ```
    pub fn route<M: 'static>(
        mut self,
        from: &str,
        router: impl AsyncRouter<S, C, M>,
        targets: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        let (from, targets) = (Arc::<str>::from(from), names(targets));
        self.gotos.push((from.clone(), targets.clone()));
        let router = Arc::new(TypedRouter(router, PhantomData));
        self.routers.push(NamedRouter { from, router, targets });
        self
    }

    /// Adds a join: `to` is due once when all of `from` are done, in whichever super-steps. Then the join waits for all
    /// of them anew.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State, hanok_state::List};
    /// # #[derive(State, Clone, Debug, Default)] struct Log { #[reduce(append)] lines: List<String> }
    /// # async fn work(_: Snapshot<Log>, cx: Context) -> Result<LogUpdate, std::io::Error> { Ok(Log::update().push_lines(cx.node().to_owned())) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Log>::builder("join").node("a", work).node("b", work).node("b2", work).node("end", work);
    /// let graph = graph.edge(START, "a").edge(START, "b").edge("b", "b2");
    /// let graph = graph.join(["a", "b2"], "end").edge("end", END).build()?;
    /// let state = graph.invoke(Log::update(), ()).await?.done()?;
    /// assert_eq!(state.lines.iter().collect::<Vec<_>>(), ["a", "b", "b2", "end"]);
    /// # Ok(()) }
    /// ```
    pub fn join(mut self, from: impl IntoIterator<Item = impl AsRef<str>>, to: &str) -> Self {
        let sources = names(from);
        let name = Join::name_of(&sources, to);
        self.joins.push(Join { name, sources, target: to.into() });
        self
    }

    /// Declares that the node `now` was called `former` in an earlier build. Threads that wait at `former` continue with
    /// it. Keep the declaration for as long as there are such threads.
    ///
    /// The waiting tasks keep their ids, and with them the calls that they made once and the questions that they asked.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
    /// let graph = graph.renamed("increment", "add").build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn renamed(mut self, former: &str, now: &str) -> Self {
        self.named.push(("renamed", now.into()));
        self.former.renamed.insert(former.into(), now.into());
        self
    }

    /// Declares that the node `former` of an earlier build is removed. Threads that wait at it continue with `next`, as
    /// if it had run and written nothing. `next` may be [`END`](crate::END).
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
    /// let graph = graph.removed("validate", "add").removed("print", END).build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn removed(mut self, former: &str, next: &str) -> Self {
        if next != crate::names::END {
            self.named.push(("removed", next.into()));
        }
        self.former.removed.insert(former.into(), next.into());
        self
    }

    /// Declares that a join of an earlier build is removed. Threads that wait forget the nodes that it has counted.
    /// `former` is the join's name in [`RunError::GraphChanged`](crate::RunError).
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
    /// // Until now a join of `left` and `right` led to `add`.
    /// let graph = graph.removed_join("left+right->add").build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn removed_join(mut self, former: &str) -> Self {
        self.former.joins.insert(former.to_owned());
        self
    }

    /// Stops the run before `nodes` run, each time. A resume continues. Default: nowhere.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
    /// let graph = graph.interrupt_before(["add"]).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// assert!(matches!(thread.invoke(Count::update(), ()).await?, Outcome::Breakpoint(_)));
    /// assert_eq!(thread.resume(()).await?.done()?.n, 1);
    /// # Ok(()) }
    /// ```
    pub fn interrupt_before(mut self, nodes: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.breakpoints.before.names.extend(breakpoints(&mut self.named, nodes));
        self
    }

    /// Stops the run after `nodes` have run, each time, unless nothing else is due. A resume continues. Default: nowhere.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State, hanok_state::List};
    /// # #[derive(State, Clone, Debug, Default)] struct Log { #[reduce(append)] lines: List<String> }
    /// # async fn work(_: Snapshot<Log>, cx: Context) -> Result<LogUpdate, std::io::Error> { Ok(Log::update().push_lines(cx.node().to_owned())) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Log>::builder("review").node("draft", work).node("send", work);
    /// let graph = graph.edge(START, "draft").edge("draft", "send").edge("send", END);
    /// let graph = graph.interrupt_after(["draft"]).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let Outcome::Breakpoint(at) = thread.invoke(Log::update(), ()).await? else { panic!() };
    /// assert_eq!((at.nodes, at.next), (vec!["draft".to_owned()], vec!["send".to_owned()]));
    /// # Ok(()) }
    /// ```
    pub fn interrupt_after(mut self, nodes: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.breakpoints.after.names.extend(breakpoints(&mut self.named, nodes));
        self
    }

    /// Stops each run before every node that is due, as [`interrupt_before`](GraphBuilder::interrupt_before) does for some: for
    /// one who looks at a graph step by step.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Count>::builder("count").node("a", add).node("b", add).sequence([START, "a", "b", END]);
    /// let graph = graph.interrupt_before_all().build()?;
    /// let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// assert!(matches!(thread.invoke(Count::update(), ()).await?, Outcome::Breakpoint(at) if at.nodes == ["a"]));
    /// assert!(matches!(thread.resume(()).await?, Outcome::Breakpoint(at) if at.nodes == ["b"]));
    /// assert_eq!(thread.resume(()).await?.done()?.n, 2);
    /// # Ok(()) }
    /// ```
    pub fn interrupt_before_all(mut self) -> Self {
        self.breakpoints.before.all = true;
        self
    }

    /// Stops each run after every super-step that is not the last, as [`interrupt_after`](GraphBuilder::interrupt_after) does
    /// after some nodes.
    pub fn interrupt_after_all(mut self) -> Self {
        self.breakpoints.after.all = true;
        self
    }

    /// Limits the time of an attempt of each node that has no [`timeout`](crate::NodeExt::timeout) of its own. Default: no limit.
    ///
    /// ```
    /// # use {std::time::Duration, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Default)] struct Page { text: String }
    /// # async fn load(_: Snapshot<Page>, _: Context) -> Result<PageUpdate, std::io::Error> { Ok(Page::update()) }
    /// let graph = Graph::<Page>::builder("page")
    ///     .timeout_all(Duration::from_secs(10))
    ///     .node("load", load)
    ///     .node("render", load.timeout(Duration::from_secs(60)));
    /// # graph.sequence([START, "load", "render", END]).build()?; Ok::<(), BuildError>(())
    /// ```
    pub fn timeout_all(mut self, timeout: Duration) -> Self {
        self.timeouts.0 = Some(timeout);
        self
    }

    /// Limits the silence of each node that has no [`idle_timeout`](crate::NodeExt::idle_timeout) of its own. Default: no limit.
    pub fn idle_timeout_all(mut self, idle: Duration) -> Self {
        self.timeouts.1 = Some(idle);
        self
    }

    /// Retries every node without a policy of its own when it fails, under the policy `retry`. Default: no retry.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
    /// let graph = graph.retry_all(Retry::attempts(3)).build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn retry_all(mut self, retry: Retry) -> Self {
        self.retries.push(retry);
        self
    }

    /// Limits the retries of a run, all nodes together. Default: 100.
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn fail(_: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Err(std::io::Error::other("closed")) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let retry = Retry::attempts(5).first(std::time::Duration::ZERO);
    /// let graph = Graph::<Count>::builder("count").node("fail", fail.retry(retry)).edge(START, "fail").edge("fail", END);
    /// // Of the four retries of the node, the run makes one.
    /// let graph = graph.retry_budget(1).build()?;
    /// assert!(graph.invoke(Count::update(), ()).await.is_err());
    /// # Ok(()) }
    /// ```
    pub fn retry_budget(self, retry_budget: u32) -> Self {
        Self { retry_budget, ..self }
    }

    /// Runs `handler` for every node without a handler of its own, when the node has failed for the last time. The
    /// handler's commands may go to `targets`.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State, hanok_state::List};
    /// # #[derive(State, Clone, Debug, Default)] struct Log { #[reduce(append)] lines: List<String> }
    /// # async fn work(_: Snapshot<Log>, cx: Context) -> Result<LogUpdate, std::io::Error> { Ok(Log::update().push_lines(cx.node().to_owned())) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// async fn broken(_: Snapshot<Log>, _: Context) -> Result<(), std::io::Error> {
    ///     Err(std::io::Error::other("no disk"))
    /// }
    /// async fn note(_: Snapshot<Log>, failure: Failure, _: Context) -> Result<LogUpdate, std::io::Error> {
    ///     Ok(Log::update().push_lines(format!("{}: {}", failure.node, failure.message)))
    /// }
    ///
    /// let graph = Graph::<Log>::builder("disk").node("load", broken).edge(START, "load").edge("load", END);
    /// let graph = graph.on_any_error(note, [END]).build()?;
    /// let state = graph.invoke(Log::update(), ()).await?.done()?;
    /// assert_eq!(state.lines.iter().collect::<Vec<_>>(), ["load: no disk"]);
    /// # Ok(()) }
    /// ```
    pub fn on_any_error<M: 'static>(
        self,
        handler: impl Handler<S, C, M>,
        targets: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        let handler_targets = names(targets);
        let handler = Arc::new(TypedHandler(handler, PhantomData));
        Self { handler: Some(handler), handler_targets, ..self }
    }

    /// Limits the tasks of this graph that run at once, in all its runs in this process. Default: any number. The limit
    /// of one run is [`Thread::max_concurrency`](crate::Thread::max_concurrency), and the limit of everything is
    /// [`Runtime::slots`].
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
    /// let graph = graph.max_concurrency(4).build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn max_concurrency(self, tasks: usize) -> Self {
        Self { slots: Some(Slots::new(tasks)), ..self }
    }

    /// Limits the tasks of one super-step. Default: 1,024. A super-step that schedules more fails the run with
    /// [`RunError::TooWide`](crate::RunError::TooWide).
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// async fn split(_: Snapshot<Count>, _: Context) -> Result<Command<Count>, std::io::Error> {
    ///     Ok((0..3).fold(Command::new(), |command, part: u32| command.goto(SendTo::new("part", &part))))
    /// }
    /// async fn part(_: Snapshot<Count>, _: Sent<u32>, _: Context) -> Result<(), std::io::Error> { Ok(()) }
    ///
    /// let graph = Graph::<Count>::builder("split").node("split", split.goto(["part"])).node("part", part);
    /// let graph = graph.edge(START, "split").edge("part", END).max_fan_out(2).build()?;
    /// let error = graph.invoke(Count::update(), ()).await.unwrap_err();
    /// assert!(matches!(error, RunError::TooWide { tasks: 3, limit: 2, .. }));
    /// # Ok(()) }
    /// ```
    pub fn max_fan_out(self, tasks: usize) -> Self {
        Self { fan_out: tasks, ..self }
    }

    /// Stops the siblings of a task that fails. Default: siblings run to their end, and a resume finds their updates
    /// stored.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State, hanok_state::List};
    /// # #[derive(State, Clone, Default)] struct Log { #[reduce(append)] lines: List<String> }
    /// # async fn work(_: Snapshot<Log>, cx: Context) -> Result<LogUpdate, std::io::Error> { Ok(Log::update().push_lines(cx.node().to_owned())) }
    /// let graph = Graph::<Log>::builder("race").node("a", work).node("b", work);
    /// let graph = graph.edge(START, "a").edge(START, "b").edge("a", END).edge("b", END);
    /// let graph = graph.fail_fast().build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn fail_fast(self) -> Self {
        Self { fail_fast: true, ..self }
    }

    /// Limits the spending of a turn. Default: no limit. The limit of one thread is
    /// [`Thread::budget`](crate::Thread::budget).
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
    /// let budget = Budget { model_calls: Some(20), tokens: Some(100_000), ..Budget::default() };
    /// let graph = graph.budget(budget).build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn budget(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Names the fields that an input may write. Default: all.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Chat { question: String, answer: String }
    /// # async fn reply(chat: Snapshot<Chat>, _: Context) -> Result<ChatUpdate, std::io::Error> { Ok(Chat::update().answer(chat.question.to_uppercase())) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Chat>::builder("chat").node("reply", reply).edge(START, "reply").edge("reply", END);
    /// let graph = graph.input(["question"]).build()?;
    /// let error = graph.invoke(Chat::update().answer("42"), ()).await.unwrap_err();
    /// assert!(matches!(error, RunError::Input { field, .. } if field == "answer"));
    /// # Ok(()) }
    /// ```
    pub fn input(self, fields: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self { input: Some(names(fields)), ..self }
    }

    /// Names the fields that an outcome and the values of a stream show. The other fields have their initial value there.
    /// Default: all fields that are not private.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Chat { question: String, answer: String }
    /// # async fn reply(chat: Snapshot<Chat>, _: Context) -> Result<ChatUpdate, std::io::Error> { Ok(Chat::update().answer(chat.question.to_uppercase())) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Chat>::builder("chat").node("reply", reply).edge(START, "reply").edge("reply", END);
    /// let graph = graph.output(["answer"]).build()?;
    /// let chat = graph.invoke(Chat::update().question("hi"), ()).await?.done()?;
    /// assert_eq!((chat.question.as_str(), chat.answer.as_str()), ("", "HI"));
    /// # Ok(()) }
    /// ```
    pub fn output(self, fields: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Self { output: Some(names(fields)), ..self }
    }

    /// Limits the super-steps of a turn, counted over all its runs: one that a question or a crash parts in two counts on. Default:
    /// 100. A turn that reaches the limit ends with [`Outcome::LimitReached`](crate::Outcome::LimitReached) and the state so
    /// far; [`Thread::recursion_limit`](crate::Thread::recursion_limit) with a higher one, and a resume, go on.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add");
    /// let graph = graph.branch("add", |_: &Count| "add", ["add"]).recursion_limit(5).build()?;
    /// let outcome = graph.invoke(Count::update(), ()).await?;
    /// assert!(matches!(outcome, Outcome::LimitReached { state, .. } if state.n == 5));
    /// # Ok(()) }
    /// ```
    pub fn recursion_limit(self, recursion_limit: u32) -> Self {
        Self { recursion_limit, ..self }
    }

    /// Accepts a program that is built with `panic = "abort"`, where a panic of a node ends the program and not only its
    /// run. Default: such a graph is refused.
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
    /// let graph = graph.allow_abort().build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn allow_abort(self) -> Self {
        Self { allow_abort: true, ..self }
    }

    /// Marks the graph as an agent: spans of its runs are those of an agent. Default: those of a workflow.
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
    /// let graph = graph.agent().build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn agent(self) -> Self {
        Self { agent: true, ..self }
    }

    /// Sets the sources of time, ids, randomness and tasks. Default: the system's, and tokio's.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
    /// let runtime = Runtime { slots: Some(Slots::new(16)), ..Runtime::default() };
    /// let graph = graph.runtime(runtime).build()?;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn runtime(self, runtime: Runtime) -> Self {
        Self { runtime, ..self }
    }

    /// Adds settings to the node of this name, for graphs that are read from data. The node may be added before or after.
    /// A node at hand is composed with its settings instead, as `node.retry(…)`.
    ///
    /// ```
    /// use hanok_graph::{Context, END, Graph, NodeSettings, START, Snapshot};
    /// # use hanok_state::State;
    /// # #[derive(State, Clone, Default)] struct Page { text: String }
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

    /// Notes the settings of a node, and those of them that concern the edges of the graph.
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

    /// Checks the graph and builds it.
    ///
    /// # Errors
    ///
    /// [`BuildError`] with every fault of the graph.
    pub fn build(mut self) -> Result<Graph<S, C>, BuildError> {
        if !self.handler_targets.is_empty() {
            let without = |node: &Arc<str>| {
                self.settings.get(node).is_none_or(|settings| settings.handler.is_none())
            };
            let nodes = self.nodes.iter().map(|node| node.name.clone()).filter(without);
            let ways: Vec<_> = nodes.map(|node| (node, self.handler_targets.clone())).collect();
            self.gotos.extend(ways);
        }
        let (faults, fingerprint) = {
            let wiring = Wiring::of(&self);
            (wiring.faults(), wiring.fingerprint())
        };
        if !faults.is_empty() {
            return Err(BuildError { graph: self.name, faults });
        }
        let mut inner = Definition {
            name: self.name.into(),
            has_ephemeral: self.initial.schema().fields.iter().any(|field| field.ephemeral),
            shows_all: false,
            initial: Arc::new(self.initial),
            nodes: BTreeMap::new(),
            start: Ways::default(),
            former: Migration::new(self.former, &self.joins),
            joins: self.joins,
            deferred: self.deferred,
            breakpoints: self.breakpoints,
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
            formerly: self.formerly,
            runtime: self.runtime,
        };
        for NamedNode { name, node, inside } in self.nodes {
            let mut settings = self.settings.remove(&name).unwrap_or_default();
            if settings.retries.is_empty() {
                settings.retries.clone_from(&self.retries);
            }
            let (timeout, idle) = self.timeouts;
            settings.timeout = settings.timeout.or(timeout);
            settings.idle = settings.idle.or(idle);
            settings.handler = settings.handler.or_else(|| self.handler.clone());
            let kind = node.kind();
            let (ways, routers) = (Ways::default(), Vec::new());
            let vertex = Vertex { node, kind, inside, ways, routers, settings };
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
        for NamedRouter { from, router, targets } in self.routers {
            if let Some(vertex) = inner.nodes.get_mut(&from) {
                vertex.routers.push(AsyncBranch { router, declared: targets });
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

/// Notes the names of `nodes` as those of breakpoints, and returns them.
fn breakpoints(
    named: &mut Vec<(&'static str, Arc<str>)>,
    nodes: impl IntoIterator<Item = impl AsRef<str>>,
) -> Vec<Arc<str>> {
    let nodes = names(nodes);
    named.extend(nodes.iter().map(|node| ("breakpoint", node.clone())));
    nodes
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
