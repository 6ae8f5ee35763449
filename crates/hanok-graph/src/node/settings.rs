//! The settings of a node, composed on the node itself.

use std::{collections::BTreeSet, fmt, marker::PhantomData, sync::Arc, time::Duration};

use hanok_core::{BoxError, BoxFuture};
use hanok_state::State;

use crate::{
    error::Lint,
    node::{
        cache::Cache,
        command::Command,
        context::Context,
        function::{Node, SentKind},
        handler::{ErasedHandler, Handler, TypedHandler},
        retry::Retry,
    },
    slots::Slots,
};

/// The settings of a node that is known by name only: [`GraphBuilder::configure`](crate::GraphBuilder::configure). A node
/// at hand is composed with its settings instead, as `node.retry(…)`.
///
/// ```
/// # use {std::time::Duration, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// let careful = NodeSettings::<Count>::new().retry(Retry::attempts(3)).timeout(Duration::from_secs(10));
/// let graph = Graph::builder("count").node("add", add).edge(START, "add").edge("add", END);
/// let graph = graph.configure("add", careful).build()?;
/// # Ok::<(), BuildError>(())
/// ```
#[must_use]
pub struct NodeSettings<S: State, C = ()> {
    pub(crate) retries: Vec<Retry>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) idle: Option<Duration>,
    pub(crate) heartbeat: Option<Duration>,
    pub(crate) handler: Option<Arc<dyn ErasedHandler<S, C>>>,
    pub(crate) cache: Option<Cache<S, C>>,
    pub(crate) slots: Option<Slots>,
    /// The targets of the node's commands.
    pub(crate) goto: Vec<Arc<str>>,
    pub(crate) deferred: bool,
    /// True for a node that the limits of the turn do not end.
    pub(crate) past_limits: bool,
    pub(crate) allowed: BTreeSet<Lint>,
}

impl<S: State, C> Default for NodeSettings<S, C> {
    fn default() -> Self {
        Self {
            retries: Vec::new(),
            timeout: None,
            idle: None,
            heartbeat: None,
            handler: None,
            cache: None,
            slots: None,
            goto: Vec::new(),
            deferred: false,
            past_limits: false,
            allowed: BTreeSet::new(),
        }
    }
}

impl<S: State, C> fmt::Debug for NodeSettings<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeSettings").field("goto", &self.goto).finish_non_exhaustive()
    }
}

pub(crate) fn names(names: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<Arc<str>> {
    names.into_iter().map(|name| name.as_ref().into()).collect()
}

impl<S: State, C: Send + Sync + 'static> NodeSettings<S, C> {
    /// Settings that change nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// These settings, overridden by those of `later`.
    pub(crate) fn and(mut self, later: Self) -> Self {
        self.retries.extend(later.retries);
        self.goto.extend(later.goto);
        self.allowed.extend(later.allowed);
        Self {
            timeout: later.timeout.or(self.timeout),
            idle: later.idle.or(self.idle),
            heartbeat: later.heartbeat.or(self.heartbeat),
            handler: later.handler.or(self.handler),
            cache: later.cache.or(self.cache),
            slots: later.slots.or(self.slots),
            deferred: later.deferred || self.deferred,
            past_limits: later.past_limits || self.past_limits,
            ..self
        }
    }

    /// Retries the node when it fails, under the policy `retry`. Of several policies, the first that applies to the error counts.
    /// Default: the policies of [`retry_all`](crate::GraphBuilder::retry_all).
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retries.push(retry);
        self
    }

    /// Limits the time of one attempt. Time in which the node waits for the store does not count. Default: no limit.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Limits the time of an attempt without a sign of life. Default: no limit.
    ///
    /// Signs of life are a token, a custom item, a memoised step, a call, any event of a subgraph, and
    /// [`Context::heartbeat`](crate::Context::heartbeat).
    pub fn idle_timeout(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Limits the time between two [heartbeats](crate::Context::heartbeat) of an attempt. Default: no limit.
    pub fn heartbeat_timeout(mut self, idle: Duration) -> Self {
        self.heartbeat = Some(idle);
        self
    }

    /// Runs `handler` when the node has failed for the last time. The handler's result stands for the node's. Its
    /// commands may go to `targets`, and a command with a target goes there alone.
    ///
    /// The failure is stored first, so after a crash only the handler runs. A failure of the handler fails the run.
    pub fn on_error<H: 'static>(
        mut self,
        handler: impl Handler<S, C, H>,
        targets: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Self {
        self.goto.extend(names(targets));
        self.handler = Some(Arc::new(TypedHandler(handler, PhantomData)));
        self
    }

    /// Caches results of the node: a task with an equal key does not run it. Default: every task runs.
    pub fn cache(mut self, cache: Cache<S, C>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Limits the tasks of the node that run at once, in all runs of the graph in this process. Default: no limit.
    pub fn concurrency(mut self, tasks: usize) -> Self {
        self.slots = Some(Slots::new(tasks));
        self
    }

    /// Declares the targets of the node's commands.
    pub fn goto(mut self, targets: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.goto.extend(names(targets));
        self
    }

    /// Defers the node: it runs once, when no other node is due, whichever edges lead to it.
    pub fn defer(mut self) -> Self {
        self.deferred = true;
        self
    }

    /// Runs the node past the limits of the turn, so that the turn can end with what there is. Default: it ends there, as
    /// [`Outcome::LimitReached`](crate::Outcome::LimitReached).
    ///
    /// A call past the budget is refused as ever, and nothing more is spent on calls; what the node makes of the refusal
    /// holds, unless it hands the error on. A subgraph that the node runs and that a limit ends is its caller's
    /// `Outcome::LimitReached`. When the time is over, the node goes on and its subgraphs stop. Super-steps stay limited.
    /// [`Context::limit`](crate::Context::limit) says which limit was reached.
    pub fn past_limits(mut self) -> Self {
        self.past_limits = true;
        self
    }

    /// Accepts a fault that is usually a mistake.
    pub fn allow(mut self, lint: Lint) -> Self {
        self.allowed.insert(lint);
        self
    }
}

/// The settings of a node, composed on it. Bring the trait into scope and write `node.retry(…).timeout(…)`.
///
/// Every type has these methods, so that a function that is no node is reported where it is added to a graph.
///
/// A closure with settings names the types of its parameters:
///
/// ```
/// # use {hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Default)] struct Page { text: String }
/// let shout = |page: Snapshot<Page>, _: Context| async move {
///     Ok::<_, std::io::Error>(Page::update().text(page.text.to_uppercase()))
/// };
/// let graph = Graph::<Page>::builder("page").node("shout", shout.retry(Retry::attempts(2)));
/// # graph.edge(START, "shout").edge("shout", END).build()?;
/// # Ok::<(), BuildError>(())
/// ```
pub trait NodeExt: Sized {
    /// Retries the node when it fails, under the policy `retry`. Of several policies, the first that applies to the error counts.
    /// Default: the policies of [`retry_all`](crate::GraphBuilder::retry_all).
    ///
    /// ```
    /// # use {std::time::Duration, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Default)] struct Page { url: String, text: String }
    /// # async fn load(_: Snapshot<Page>, _: Context) -> Result<PageUpdate, std::io::Error> { Ok(Page::update()) }
    /// let load = load.retry(Retry::attempts(3)).timeout(Duration::from_secs(5));
    /// let graph = Graph::<Page>::builder("page").node("load", load);
    /// # graph.edge(START, "load").edge("load", END).build()?; Ok::<(), BuildError>(())
    /// ```
    fn retry<S: State, C: Send + Sync + 'static, M>(
        self,
        retry: Retry,
    ) -> Configured<Self, S, C, M> {
        Configured::new(self, NodeSettings::new().retry(retry))
    }

    /// Limits the time of one attempt. Time in which the node waits for the store does not count. Default: no limit.
    ///
    /// ```
    /// # use {std::time::Duration, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Default)] struct Page { url: String, text: String }
    /// # async fn load(_: Snapshot<Page>, _: Context) -> Result<PageUpdate, std::io::Error> { Ok(Page::update()) }
    /// let graph = Graph::<Page>::builder("page").node("load", load.timeout(Duration::from_secs(5)));
    /// # graph.edge(START, "load").edge("load", END).build()?; Ok::<(), BuildError>(())
    /// ```
    fn timeout<S: State, C: Send + Sync + 'static, M>(
        self,
        timeout: Duration,
    ) -> Configured<Self, S, C, M> {
        Configured::new(self, NodeSettings::new().timeout(timeout))
    }

    /// Limits the time of an attempt without a sign of life. Default: no limit.
    ///
    /// Signs of life are a token, a custom item, a memoised step, a call, any event of a subgraph, and
    /// [`Context::heartbeat`](crate::Context::heartbeat).
    ///
    /// ```
    /// # use {std::time::Duration, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Default)] struct Page { url: String, text: String }
    /// # async fn load(_: Snapshot<Page>, _: Context) -> Result<PageUpdate, std::io::Error> { Ok(Page::update()) }
    /// // As long as it likes, but never five seconds in silence.
    /// let graph = Graph::<Page>::builder("page").node("load", load.idle_timeout(Duration::from_secs(5)));
    /// # graph.edge(START, "load").edge("load", END).build()?; Ok::<(), BuildError>(())
    /// ```
    fn idle_timeout<S: State, C: Send + Sync + 'static, M>(
        self,
        idle: Duration,
    ) -> Configured<Self, S, C, M> {
        Configured::new(self, NodeSettings::new().idle_timeout(idle))
    }

    /// Limits the time between two [heartbeats](crate::Context::heartbeat) of an attempt, its start counting as the first: no
    /// other sign of life counts, for a node that tells tokens or calls and gets nowhere. Default: no limit.
    ///
    /// ```
    /// # use {std::time::Duration, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Default)] struct Pages { done: u32 }
    /// async fn crawl(_: Snapshot<Pages>, context: Context) -> Result<PagesUpdate, BoxError> {
    ///     for _page in 0..10 {
    ///         // … whatever is said meanwhile, a page is to take no longer than a minute.
    ///         context.heartbeat();
    ///     }
    ///     Ok(Pages::update().done(10))
    /// }
    /// let graph = Graph::<Pages>::builder("pages").node("crawl", crawl.heartbeat_timeout(Duration::from_secs(60)));
    /// # graph.sequence([START, "crawl", END]).build()?; Ok::<(), BuildError>(())
    /// ```
    fn heartbeat_timeout<S: State, C: Send + Sync + 'static, M>(
        self,
        idle: Duration,
    ) -> Configured<Self, S, C, M> {
        Configured::new(self, NodeSettings::new().heartbeat_timeout(idle))
    }

    /// Runs `handler` when the node has failed for the last time. The handler's result stands for the node's. Its
    /// commands may go to `targets`, and a command with a target goes there alone.
    ///
    /// The failure is stored first, so after a crash only the handler runs. A failure of the handler fails the run.
    ///
    /// ```
    /// # use {std::time::Duration, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Default)] struct Page { url: String, text: String }
    /// # async fn load(_: Snapshot<Page>, _: Context) -> Result<PageUpdate, std::io::Error> { Ok(Page::update()) }
    /// async fn fallback(_: Snapshot<Page>, failure: Failure, _: Context) -> Result<Command<Page>, std::io::Error> {
    ///     Ok(Command::new().update(Page::update().text(failure.message)).goto(END))
    /// }
    ///
    /// let graph = Graph::<Page>::builder("page").node("load", load.on_error(fallback, [END]));
    /// # graph.edge(START, "load").edge("load", END).build()?; Ok::<(), BuildError>(())
    /// ```
    fn on_error<S: State, C: Send + Sync + 'static, M, H: 'static>(
        self,
        handler: impl Handler<S, C, H>,
        targets: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Configured<Self, S, C, M> {
        Configured::new(self, NodeSettings::new().on_error(handler, targets))
    }

    /// Caches results of the node: a task with an equal key does not run it. Default: every task runs.
    ///
    /// ```
    /// # use {std::time::Duration, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Default)] struct Page { url: String, text: String }
    /// # async fn load(_: Snapshot<Page>, _: Context) -> Result<PageUpdate, std::io::Error> { Ok(Page::update()) }
    /// let hour = Duration::from_secs(3_600);
    /// let load = load.cache(Cache::new(hour, |page: &Page, _: &()| page.url.clone()));
    /// let graph = Graph::<Page>::builder("page").node("load", load);
    /// # graph.edge(START, "load").edge("load", END).build()?; Ok::<(), BuildError>(())
    /// ```
    fn cache<S: State, C: Send + Sync + 'static, M>(
        self,
        cache: Cache<S, C>,
    ) -> Configured<Self, S, C, M> {
        Configured::new(self, NodeSettings::new().cache(cache))
    }

    /// Limits the tasks of the node that run at once, in all runs of the graph in this process. Default: no limit.
    ///
    /// ```
    /// # use {std::time::Duration, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Default)] struct Page { url: String, text: String }
    /// # async fn load(_: Snapshot<Page>, _: Context) -> Result<PageUpdate, std::io::Error> { Ok(Page::update()) }
    /// // The site bears two requests at once.
    /// let graph = Graph::<Page>::builder("page").node("load", load.concurrency(2));
    /// # graph.edge(START, "load").edge("load", END).build()?; Ok::<(), BuildError>(())
    /// ```
    fn concurrency<S: State, C: Send + Sync + 'static, M>(
        self,
        tasks: usize,
    ) -> Configured<Self, S, C, M> {
        Configured::new(self, NodeSettings::new().concurrency(tasks))
    }

    /// Declares the targets of the node's commands.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Default)] struct Count { n: u32 }
    /// async fn count(state: Snapshot<Count>, _: Context) -> Result<Command<Count>, std::io::Error> {
    ///     let target = if state.n < 2 { "count" } else { END };
    ///     Ok(Command::new().update(Count::update().n(state.n + 1)).goto(target))
    /// }
    ///
    /// let graph = Graph::<Count>::builder("count").node("count", count.goto(["count", END]));
    /// # graph.edge(START, "count").build()?; Ok::<(), BuildError>(())
    /// ```
    fn goto<S: State, C: Send + Sync + 'static, M>(
        self,
        targets: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Configured<Self, S, C, M> {
        Configured::new(self, NodeSettings::new().goto(targets))
    }

    /// Defers the node: it runs once, when no other node is due, whichever edges lead to it.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State, hanok_state::List};
    /// # #[derive(State, Clone, Debug, Default)] struct Log { #[reduce(append)] lines: List<String> }
    /// # async fn work(_: Snapshot<Log>, cx: Context) -> Result<LogUpdate, std::io::Error> { Ok(Log::update().push_lines(cx.node().to_owned())) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Log>::builder("sum").node("a", work).node("b", work).node("b2", work).node("sum", work.defer());
    /// let graph = graph.edge(START, "a").edge(START, "b").edge("b", "b2").edge("a", "sum").edge("b2", "sum");
    /// let graph = graph.edge("sum", END).build()?;
    /// let state = graph.invoke(Log::update(), ()).await?.done()?;
    /// assert_eq!(state.lines.iter().collect::<Vec<_>>(), ["a", "b", "b2", "sum"]);
    /// # Ok(()) }
    /// ```
    fn defer<S: State, C: Send + Sync + 'static, M>(self) -> Configured<Self, S, C, M> {
        Configured::new(self, NodeSettings::new().defer())
    }

    /// Runs the node past the limits of the turn, so that the turn can end with what there is. Default: it ends there, as
    /// [`Outcome::LimitReached`](crate::Outcome::LimitReached).
    ///
    /// A call past the budget is refused as ever, and nothing more is spent on calls; what the node makes of the refusal
    /// holds, unless it hands the error on. A subgraph that the node runs and that a limit ends is its caller's
    /// `Outcome::LimitReached`. When the time is over, the node goes on and its subgraphs stop. Super-steps stay limited.
    /// [`Context::limit`](crate::Context::limit) says which limit was reached.
    ///
    /// ```
    /// # use {hanok_core::Charge, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Default)] struct Page { text: String }
    /// async fn write(_: Snapshot<Page>, cx: Context) -> Result<PageUpdate, BoxError> {
    ///     let text = match cx.call("tool", "search", "").admit(Charge::Tool) {
    ///         Ok(()) => "searched".to_owned(),
    ///         Err(refused) => format!("not searched: {refused}"),
    ///     };
    ///     Ok(Page::update().text(text))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BoxError> {
    /// let graph = Graph::<Page>::builder("page").node("write", write.past_limits()).edge(START, "write").edge("write", END);
    /// let graph = graph.budget(Budget { tool_calls: Some(0), ..Budget::default() }).build()?;
    /// let page = graph.invoke(Page::update(), ()).await?.done()?;
    /// assert_eq!(page.text, "not searched: the turn has reached its limit of 0 tool calls");
    /// # Ok(()) }
    /// ```
    fn past_limits<S: State, C: Send + Sync + 'static, M>(self) -> Configured<Self, S, C, M> {
        Configured::new(self, NodeSettings::new().past_limits())
    }

    /// Accepts a fault that is usually a mistake.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// // Nothing leads to `later` yet.
    /// let graph = Graph::<Count>::builder("count").node("add", add).node("later", add.allow(Lint::Unreachable));
    /// # graph.edge(START, "add").edge("add", END).edge("later", END).build()?; Ok::<(), BuildError>(())
    /// ```
    fn allow<S: State, C: Send + Sync + 'static, M>(self, lint: Lint) -> Configured<Self, S, C, M> {
        Configured::new(self, NodeSettings::new().allow(lint))
    }
}

impl<N: Send + Sync + 'static> NodeExt for N {}

/// The methods by which what has `settings` composes them.
macro_rules! composes_settings {
    () => {
        /// Retries the node when it fails, under the policy `retry`. Of several policies, the first that applies to the error counts.
        /// Default: the policies of [`retry_all`](crate::GraphBuilder::retry_all).
        pub fn retry(self, retry: $crate::node::retry::Retry) -> Self {
            Self { settings: self.settings.retry(retry), ..self }
        }

        /// Limits the time of one attempt. Default: no limit.
        pub fn timeout(self, timeout: std::time::Duration) -> Self {
            Self { settings: self.settings.timeout(timeout), ..self }
        }

        /// Limits the time of an attempt without a sign of life. Default: no limit.
        ///
        /// Signs of life are a token, a custom item, a memoised step, a call, any event of a subgraph, and
        /// [`Context::heartbeat`](crate::Context::heartbeat).
        pub fn idle_timeout(self, idle: std::time::Duration) -> Self {
            Self { settings: self.settings.idle_timeout(idle), ..self }
        }

        /// Limits the time between two [heartbeats](crate::Context::heartbeat) of an attempt. Default: no limit.
        pub fn heartbeat_timeout(self, idle: std::time::Duration) -> Self {
            Self { settings: self.settings.heartbeat_timeout(idle), ..self }
        }

        /// Runs `handler` when the node has failed for the last time. The handler's result stands for the node's. Its commands
        /// may go to `targets`, and a command with a target goes there alone.
        ///
        /// The failure is stored first, so after a crash only the handler runs. A failure of the handler fails the run.
        pub fn on_error<H: 'static>(
            self,
            handler: impl $crate::node::handler::Handler<S, C, H>,
            targets: impl IntoIterator<Item = impl AsRef<str>>,
        ) -> Self {
            Self { settings: self.settings.on_error(handler, targets), ..self }
        }

        /// Caches results of the node: a task with an equal key does not run it. Default: every task runs.
        pub fn cache(self, cache: $crate::node::cache::Cache<S, C>) -> Self {
            Self { settings: self.settings.cache(cache), ..self }
        }

        /// Limits the tasks of the node that run at once, in all runs of the graph in this process. Default: no limit.
        pub fn concurrency(self, tasks: usize) -> Self {
            Self { settings: self.settings.concurrency(tasks), ..self }
        }

        /// Declares the targets of the node's commands.
        pub fn goto(self, targets: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
            Self { settings: self.settings.goto(targets), ..self }
        }

        /// Defers the node: it runs once, when no other node is due, whichever edges lead to it.
        pub fn defer(self) -> Self {
            Self { settings: self.settings.defer(), ..self }
        }

        /// Runs the node past the limits of the turn, so that the turn can end with what there is. Default: it ends there, as
        /// [`Outcome::LimitReached`](crate::Outcome::LimitReached).
        ///
        /// A call past the budget is refused as ever, and nothing more is spent on calls; what the node makes of the refusal
        /// holds, unless it hands the error on. A subgraph that the node runs and that a limit ends is its caller's
        /// `Outcome::LimitReached`. When the time is over, the node goes on and its subgraphs stop. Super-steps stay limited.
        /// [`Context::limit`](crate::Context::limit) says which limit was reached.
        pub fn past_limits(self) -> Self {
            Self { settings: self.settings.past_limits(), ..self }
        }

        /// Accepts a fault that is usually a mistake.
        pub fn allow(self, lint: $crate::error::Lint) -> Self {
            Self { settings: self.settings.allow(lint), ..self }
        }
    };
}
pub(crate) use composes_settings;

/// A node with settings, made by the methods of [`NodeExt`].
#[must_use]
pub struct Configured<N, S: State, C, M> {
    node: N,
    settings: NodeSettings<S, C>,
    inferred: PhantomData<fn() -> M>,
}

impl<N, S: State, C, M> fmt::Debug for Configured<N, S, C, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Configured").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// The inferred parameters of a [`Configured`] node.
#[derive(Debug)]
pub struct WithSettings<M>(PhantomData<M>);

#[diagnostic::do_not_recommend]
impl<N, S, C, M> Node<S, C, WithSettings<M>> for Configured<N, S, C, M>
where
    N: Node<S, C, M>,
    S: State,
    C: Send + Sync + 'static,
    M: 'static,
{
    fn run(
        &self,
        state: &Arc<S>,
        context: Context<C>,
    ) -> BoxFuture<'static, Result<Command<S>, BoxError>> {
        self.node.run(state, context)
    }

    fn kind(&self) -> Option<SentKind> {
        self.node.kind()
    }

    fn reads_private(&self, field: &str) -> bool {
        self.node.reads_private(field)
    }

    fn take_settings(&mut self) -> NodeSettings<S, C> {
        self.node.take_settings().and(std::mem::take(&mut self.settings))
    }
}

impl<N, S: State, C: Send + Sync + 'static, M> Configured<N, S, C, M> {
    fn new(node: N, settings: NodeSettings<S, C>) -> Self {
        Self { node, settings, inferred: PhantomData }
    }

    composes_settings!();
}
