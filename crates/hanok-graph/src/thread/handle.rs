//! One thread of an app.

use std::{collections::BTreeMap, fmt, sync::Arc};

use hanok_checkpoint::{CheckpointError, Checkpointer, Log, LogEntry, ThreadFold};
use hanok_core::{
    Answerer, BoxFuture, Budget, Cancellation, InvalidName, Namespace, Position, RequestId, RunId,
    ThreadKey,
};
use hanok_state::State;
use serde::Serialize;

use crate::{
    error::RunError,
    journal::durability::Durability,
    node::{context::Context, settings::names},
    observe::{
        event::{Event, EventId, EventPlace, Mode, Modes},
        events::Events,
    },
    outcome::{Outcome, Resolution},
    run::rebase::{LogPlace, migrated},
    slots::Slots,
    thread::{
        admission::Admission,
        app::App,
        follow::Follow,
        input::{Input, NewInput},
        options::{NamedRun, RunOptions},
        pages::Recorded,
        queue::run_input,
        replay::{Replay, Shows},
        seat::Seat,
    },
};

/// The longest key or value of a tag, in bytes.
const LONGEST_TAG: usize = 256;

/// The most tags of a run.
const MOST_TAGS: usize = 32;

/// One conversation, one graph through time: an append-only log. Clones are handles of the same thread.
///
/// A handle's settings, such as [`budget`](Thread::budget) or [`cancellation`](Thread::cancellation), count for the runs
/// that it begins.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
/// thread.invoke(Count::update().n(10), ()).await?;
/// assert_eq!(thread.invoke(Count::update(), ()).await?.done()?.n, 12);
/// assert_eq!(thread.state(None).await?.map(|state| state.n), Some(12));
/// # Ok(()) }
/// ```
pub struct Thread<S: State, C = ()> {
    pub(crate) app: App<S, C>,
    key: ThreadKey,
    pub(crate) options: RunOptions,
    modes: Modes,
}

impl<S: State, C: Send + Sync + 'static> App<S, C> {
    /// The thread that `key` names. It need not exist yet.
    pub fn thread(&self, key: ThreadKey) -> Thread<S, C> {
        Thread::new(self.clone(), key)
    }
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    fn new(app: App<S, C>, key: ThreadKey) -> Self {
        let memory = app.memory.clone();
        Self {
            app,
            key,
            options: RunOptions { memory, ..RunOptions::default() },
            modes: Modes::ALL,
        }
    }

    /// The key that names the thread.
    pub fn key(&self) -> &ThreadKey {
        &self.key
    }

    /// Limits the super-steps of a turn, and of a turn of each subgraph. Default: the limit of each graph.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").branch("add", |_: &Count| "add", ["add"]).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let stopped = thread.clone().recursion_limit(3).invoke(Count::update(), ()).await?;
    /// assert!(matches!(stopped, Outcome::LimitReached { state, .. } if state.n == 3));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn recursion_limit(self, limit: u32) -> Self {
        Self { options: RunOptions { limit: Some(limit), ..self.options }, ..self }
    }

    /// Stops the runs of this handle before these nodes of the thread's own graph, beside those that
    /// [the graph](crate::GraphBuilder::interrupt_before) stops before. Default: none.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Count>::builder("count").node("a", add).node("b", add).sequence([START, "a", "b", END]).build()?;
    /// let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// let stopped = thread.clone().interrupt_before(["b"]).invoke(Count::update(), ()).await?;
    /// assert!(matches!(stopped, Outcome::Breakpoint(at) if at.nodes == ["b"] && at.state.n == 1));
    /// assert_eq!(thread.resume(()).await?.done()?.n, 2);
    /// # Ok(()) }
    /// ```
    ///
    /// A run with a name that is no node's is refused with [`RunError::NoSuchNode`].
    #[must_use]
    pub fn interrupt_before(mut self, nodes: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.options.breakpoints.before.names.extend(names(nodes));
        self
    }

    /// Stops the runs of this handle after these nodes of the thread's own graph, as
    /// [`interrupt_before`](Thread::interrupt_before) does before some.
    #[must_use]
    pub fn interrupt_after(mut self, nodes: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.options.breakpoints.after.names.extend(names(nodes));
        self
    }

    /// Stops the runs of this handle before every node of the thread's own graph, and so after each super-step. Default: not.
    #[must_use]
    pub fn interrupt_before_all(mut self) -> Self {
        self.options.breakpoints.before.all = true;
        self
    }

    /// Stops the runs of this handle after every super-step of the thread's own graph that is not the last. Default: not.
    #[must_use]
    pub fn interrupt_after_all(mut self) -> Self {
        self.options.breakpoints.after.all = true;
        self
    }

    /// Reports the events of the runs of this handle to whoever observes the run of `context`, for a node that runs another
    /// thread: below the node, in a namespace of its own, between [`EventKind::GraphStarted`](crate::EventKind::GraphStarted)
    /// and [`EventKind::GraphEnded`](crate::EventKind::GraphEnded). They have no ids, for they are recorded in their own thread.
    /// Default: to nobody.
    ///
    /// ```
    /// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let store = InMemoryCheckpointer::new();
    /// # let child = Graph::<Count>::builder("child").node("add", add).sequence([START, "add", END]).build()?.checkpointer(store);
    /// let call = move |_: Snapshot<Count>, context: Context| {
    ///     let child = child.clone();
    ///     async move {
    ///         let thread = child.thread(ThreadKey::named("its own")?).reporting_to(&context);
    ///         Ok::<_, BoxError>(Count::update().n(thread.invoke(Count::update(), ()).await?.done()?.n))
    ///     }
    /// };
    /// let graph = Graph::<Count>::builder("parent").node("call", call).sequence([START, "call", END]).build()?;
    /// let events: Vec<_> = graph.stream(Count::update(), ()).collect().await;
    /// let below = events.iter().filter(|event| event.path.depth() == 1);
    /// assert!(below.clone().any(|event| event.node.as_deref() == Some("add")));
    /// assert!(below.clone().any(|event| matches!(event.kind, EventKind::GraphEnded { .. })));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn reporting_to<D>(mut self, context: &Context<D>) -> Self {
        self.options.parent = context.parent_watch(&self.key);
        self
    }

    /// Limits the spending of a turn. Default: the budget of the graph.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let thread = thread.budget(Budget { model_calls: Some(5), ..Budget::default() });
    /// thread.invoke(Count::update(), ()).await?.done()?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn budget(self, budget: Budget) -> Self {
        Self { options: RunOptions { budget: Some(budget), ..self.options }, ..self }
    }

    /// Limits the tasks that run at once in the runs of this handle. Default: the limit of the graph.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let thread = thread.max_concurrency(2);
    /// thread.invoke(Count::update(), ()).await?.done()?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn max_concurrency(self, tasks: usize) -> Self {
        Self { options: RunOptions { slots: Some(Slots::new(tasks)), ..self.options }, ..self }
    }

    /// Limits the runs in a row that may be lost since the last commit, before the thread counts as
    /// [poisoned](Outcome::Poisoned). Default: 5.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// // A thread that was poisoned has one more chance.
    /// let thread = thread.takeover_limit(6);
    /// thread.invoke(Count::update(), ()).await?.done()?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn takeover_limit(self, takeovers: u32) -> Self {
        Self { options: RunOptions { takeovers, ..self.options }, ..self }
    }

    /// Sets the policy for a new input while the thread runs or waits. Default: [`NewInput::Reject`].
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
    /// assert!(matches!(thread.invoke(Count::update(), ()).await, Err(RunError::Unfinished { .. })));
    /// let thread = thread.new_input(NewInput::Replace);
    /// assert!(matches!(thread.invoke(Count::update(), ()).await?, Outcome::Interrupted(_)));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn new_input(self, new_input: NewInput) -> Self {
        Self { options: RunOptions { new_input, ..self.options }, ..self }
    }

    /// Lets this handle discard records of calls in doubt: by an edit in a node's place, an erasure, a rewind, a fork, or
    /// an input that [replaces](NewInput::Replace) the turn. Nobody is asked about a discarded call, and it may be made
    /// twice. Default: these are refused while a call is in doubt.
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Call, Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Bill { receipt: String }
    /// # async fn transfer(_: Call) -> Result<String, BoxError> { Err("the connection broke".into()) }
    /// # async fn pay(_: Snapshot<Bill>, cx: Context) -> Result<BillUpdate, BoxError> {
    /// #     Ok(Bill::update().receipt(cx.once("pay", "{}", Doubt::Ask, transfer).await?))
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Bill>::builder("bill").node("pay", pay).edge(START, "pay").edge("pay", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// assert!(thread.invoke(Bill::update(), ()).await.is_err());
    /// // Nobody knows whether the transfer was made.
    /// assert!(matches!(thread.resume(()).await?, Outcome::InDoubt(_)));
    /// let replacing = thread.new_input(NewInput::Replace);
    /// assert!(replacing.invoke(Bill::update(), ()).await.is_err());
    /// let Err(error) = replacing.discarding_doubts().invoke(Bill::update(), ()).await else { panic!() };
    /// assert!(matches!(error, RunError::Node { .. }));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn discarding_doubts(self) -> Self {
        Self { options: RunOptions { discards: true, ..self.options }, ..self }
    }

    /// Sets when the work of this handle's runs is safe from a crash. Default: the durability of the app.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let thread = thread.durability(Durability::Exit);
    /// thread.invoke(Count::update(), ()).await?.done()?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        let durability = Some(durability);
        Self { options: RunOptions { durability, ..self.options }, ..self }
    }

    /// Lets runs be stopped at once. Committed super-steps stay, and the thread can be resumed. Default: runs cannot be
    /// stopped.
    ///
    /// ```
    /// # use {hanok_core::Cancellation, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let stop = Cancellation::default();
    /// let stoppable = thread.clone().cancellation(stop.clone());
    /// stop.cancel();
    /// assert!(matches!(stoppable.invoke(Count::update(), ()).await?, Outcome::Cancelled(_)));
    /// assert_eq!(thread.resume(()).await?.done()?.n, 1);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn cancellation(self, cancellation: Cancellation) -> Self {
        Self { options: RunOptions { cancellation, ..self.options }, ..self }
    }

    /// Lets runs be stopped after the super-step under way: [`Outcome::Drained`]. Default: runs cannot be drained.
    ///
    /// ```
    /// # use {hanok_core::Cancellation, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let drain = Cancellation::default();
    /// let draining = thread.clone().drain(drain.clone());
    /// drain.cancel();
    /// assert!(matches!(draining.invoke(Count::update(), ()).await?, Outcome::Drained(_)));
    /// assert_eq!(thread.resume(()).await?.done()?.n, 1);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn drain(self, drain: Cancellation) -> Self {
        Self { options: RunOptions { drains: vec![drain], ..self.options }, ..self }
    }

    /// Names the person who answers, edits, goes back and cancels through this handle, for requests that are not for everybody and
    /// for the record. Whoever lets
    /// people in knows who they are; nothing here checks it. Default: nobody is named.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Answerer, AskError, Audience, Request, Stored, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// async fn ask(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, BoxError> {
    ///     let audience = Audience::everybody().role("approver");
    ///     let request = Request { audience, ..Request::new(Stored::encode("how many?")?) };
    ///     let answer = cx.call("ask", "how many", "").question(request).await?;
    ///     Ok(Count::update().n(answer.decode()?))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("ask", ask).edge(START, "ask").edge("ask", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// assert!(matches!(thread.reply(&7, ()).await, Err(RunError::Forbidden { .. })));
    /// let ann = Answerer::new("ann", "http").role("approver");
    /// assert_eq!(thread.answering_as(ann).reply(&7, ()).await?.done()?.n, 7);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn answering_as(self, answerer: Answerer) -> Self {
        Self { options: RunOptions { answerer: Some(answerer), ..self.options }, ..self }
    }

    /// Names the run that this handle begins or goes on with: for whoever has promised that a run will end, and may have to say so
    /// twice. If the log has entries of `run` after `since`, the position at which the thread was before the run can have begun, the
    /// input is not taken again, and the run goes on as with [`Input::Resume`]. Two runs that are not the same must not have one id.
    /// Default: each run draws an id, and none is looked for.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Position, RunId, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// let (run, since) = (RunId(7), Position::START);
    /// for _ in 0..2 {
    ///     assert_eq!(thread.clone().run_id(run, since).invoke(Count::update().n(10), ()).await?.done()?.n, 11);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// A run that is over, because another turn has begun since, is refused with [`RunError::PastRun`]. To find out without running
    /// anything, see [`find_run`](Thread::find_run).
    #[must_use]
    pub fn run_id(self, run: RunId, since: Position) -> Self {
        let run = Some(NamedRun { run, since });
        Self { options: RunOptions { run, ..self.options }, ..self }
    }

    /// Goes back to `at` before a run of this handle begins or resumes, or before an edit: in the same append, as if
    /// [`rewind`](Thread::rewind) came first. Later entries stay in the log. Nothing goes back when what is due at `at` is nothing,
    /// and the input resumes. Default: the thread goes on where it is.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// let first = thread.history(None, 1).await?[0].position;
    /// thread.invoke(Count::update().n(100), ()).await?;
    /// assert_eq!(thread.clone().at(first).invoke(Count::update(), ()).await?.done()?.n, 2);
    /// # Ok(()) }
    /// ```
    ///
    /// A thread that a run owns is refused with [`RunError::Conflict`], one with a call in doubt with [`RunError::Unfinished`]
    /// ([`discarding_doubts`](Thread::discarding_doubts)). A question of the turn that is left behind is not open at `at`: its node
    /// asks again.
    #[must_use]
    pub fn at(self, at: Position) -> Self {
        Self { options: RunOptions { at: Some(at), ..self.options }, ..self }
    }

    /// Tags the runs of this handle, so that the [history](hanok_checkpoint::Select::tag) can be searched for them. Any
    /// texts will do, and are stored as they are.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let thread = thread.tag("experiment", "42")?;
    /// thread.invoke(Count::update(), ()).await?;
    /// let mut pages = thread.log().pages(hanok_checkpoint::Select::all().tag("experiment", "42"), 50);
    /// assert!(pages.next().await?.is_some());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`InvalidName::TooLong`] for a key or a value of more than 256 bytes, [`InvalidName::TooMany`] for more than 32
    /// tags.
    pub fn tag(
        mut self,
        key: impl Into<String>,
        value: impl Into<String>,
    ) -> Result<Self, InvalidName> {
        let (what, key, value) = ("tag", key.into(), value.into());
        let bytes = key.len().max(value.len());
        if bytes > LONGEST_TAG {
            return Err(InvalidName::TooLong { what, bytes });
        }
        self.options.tags.insert(key, value);
        match self.options.tags.len() {
            count if count > MOST_TAGS => Err(InvalidName::TooMany { what: "tags", count }),
            _ => Ok(self),
        }
    }

    /// Selects the events of this handle's streams. Default: all.
    ///
    /// ```
    /// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let mut events = thread.modes([Mode::Updates]).stream(Input::New(Count::update()), ());
    /// while let Some(event) = events.next().await {
    ///     assert!(matches!(event.kind, EventKind::Updates(_) | EventKind::Ended { .. }));
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn modes(self, modes: impl IntoIterator<Item = Mode>) -> Self {
        Self { modes: Modes::of(modes), ..self }
    }

    /// Begins a turn with `update` and runs it to its end.
    ///
    /// If an earlier run of the thread was lost or drained, its turn is finished first. A run that is cancelled or
    /// drained meanwhile ends there, and has not taken `update`.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let state = thread.invoke(Count::update().n(41), ()).await?.done()?;
    /// assert_eq!(state.n, 42);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Conflict`] while another run owns the thread: then nothing ran and nothing was stored. After any other
    /// [`RunError`] committed super-steps stay, and the thread can be resumed.
    ///
    /// # Cancel safety
    ///
    /// A dropped run is a lost one: the next run of the thread finishes its turn.
    pub async fn invoke(&self, update: S::Update, services: C) -> Result<Outcome<S>, RunError> {
        self.run(Input::New(update), services).await
    }

    /// Begins the thread's first turn with `update`, or continues the thread as [`resume`](Thread::resume) does where it has begun:
    /// however often the same is said, by however many processes, it is one turn.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// assert_eq!(thread.begin(Count::update().n(1), ()).await?.done()?.n, 2);
    /// assert_eq!(thread.begin(Count::update().n(1), ()).await?.done()?.n, 2);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Thread::invoke`].
    pub async fn begin(&self, update: S::Update, services: C) -> Result<Outcome<S>, RunError> {
        self.run(Input::Begin(update), services).await
    }

    /// Continues with the due nodes, after a crash, an error, a limit, a breakpoint or a cancellation. On a finished
    /// thread it returns the state.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END);
    /// # let graph = graph.interrupt_before(["add"]).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// assert!(matches!(thread.invoke(Count::update(), ()).await?, Outcome::Breakpoint(_)));
    /// assert_eq!(thread.resume(()).await?.done()?.n, 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Thread::invoke`]; [`RunError::NoSuchThread`] for a thread that never ran.
    pub async fn resume(&self, services: C) -> Result<Outcome<S>, RunError> {
        self.run(Input::Resume, services).await
    }

    /// Answers the request `id` and resumes the run.
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
    /// let Outcome::Interrupted(requests) = thread.invoke(Count::update(), ()).await? else { panic!() };
    /// let state = thread.answer(requests[0].id.clone(), &7, ()).await?.done()?;
    /// assert_eq!(state.n, 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Thread::invoke`]. An answer that is refused changes nothing: [`RunError::NoSuchRequest`],
    /// [`RunError::AlreadyAnswered`], [`RunError::Stale`], [`RunError::Expired`], [`RunError::Forbidden`],
    /// [`RunError::WrongAnswer`].
    pub async fn answer(
        &self,
        id: RequestId,
        answer: &(impl Serialize + ?Sized),
        services: C,
    ) -> Result<Outcome<S>, RunError> {
        self.run(Input::answer(id, answer)?, services).await
    }

    /// Answers the only open request and resumes the run.
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
    /// assert_eq!(thread.reply(&7, ()).await?.done()?.n, 7);
    /// assert!(matches!(thread.reply(&8, ()).await, Err(RunError::NothingAsked(_))));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Thread::answer`]; [`RunError::NothingAsked`], and [`RunError::Ambiguous`] when several are open.
    pub async fn reply(
        &self,
        answer: &(impl Serialize + ?Sized),
        services: C,
    ) -> Result<Outcome<S>, RunError> {
        self.run(Input::reply(answer)?, services).await
    }

    /// Settles the call in doubt that the request `id` is about, and resumes the run.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Bill { receipt: String }
    /// # use hanok_core::Call;
    /// async fn pay(_: Snapshot<Bill>, cx: Context) -> Result<BillUpdate, BoxError> {
    ///     let transfer = |_: Call| async { Err::<String, _>("the connection broke") };
    ///     Ok(Bill::update().receipt(cx.once("pay", "{}", Doubt::Ask, transfer).await?))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Bill>::builder("bill").node("pay", pay).edge(START, "pay").edge("pay", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Bill::update(), ()).await.unwrap_err();
    /// let Outcome::InDoubt(requests) = thread.resume(()).await? else { panic!() };
    /// // A person looked at the account: the money has moved.
    /// let made = Resolution::made("receipt 4711")?;
    /// let state = thread.settle(requests[0].id.clone(), made, ()).await?.done()?;
    /// assert_eq!(state.receipt, "receipt 4711");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Thread::answer`].
    pub async fn settle(
        &self,
        id: RequestId,
        resolution: Resolution,
        services: C,
    ) -> Result<Outcome<S>, RunError> {
        let value = resolution.to_stored().map_err(|error| RunError::State(error.into()))?;
        self.run(Input::Answers(vec![(id, value)]), services).await
    }

    /// Runs the thread with `input`: a new turn, a resume, or answers.
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
    /// thread.run(Input::New(Count::update()), ()).await?;
    /// assert_eq!(thread.run(Input::reply(&7)?, ()).await?.done()?.n, 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Thread::invoke`] and [`Thread::answer`].
    pub async fn run(&self, input: Input<S>, services: C) -> Result<Outcome<S>, RunError> {
        let options = self.options.clone();
        run_input(self.app.clone(), self.key.clone(), input, Arc::new(services), options).await
    }

    /// Runs the thread with `input`, observed. The run starts at once and does not wait for its reader.
    ///
    /// ```
    /// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let mut events = thread.stream(Input::New(Count::update()), ());
    /// while let Some(event) = events.next().await {
    ///     if let EventKind::Values(state) = event.kind {
    ///         println!("n is {}", state.get::<Count>()?.n);
    ///     }
    /// }
    /// assert_eq!(events.outcome().await?.done()?.n, 1);
    /// # Ok(()) }
    /// ```
    pub fn stream(&self, input: Input<S>, services: C) -> Events<S> {
        self.streamed(input, services, None)
    }

    /// Runs the thread with `input`, observed as [`stream`](Thread::stream) does, once the input is taken: an input that is refused is
    /// an error and no stream. A service answers with its [status](RunError::status) before it answers with events.
    ///
    /// With [`NewInput::Queue`] it waits for the thread to be free. Dropping the future does not take the input back.
    ///
    /// ```
    /// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn ask(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, hanok_core::AskError> {
    /// #     Ok(Count::update().n(cx.interrupt("how many?").await?))
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("ask", ask).edge(START, "ask").edge("ask", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// let events = thread.try_stream(Input::New(Count::update()), ()).await?;
    /// assert!(matches!(events.outcome().await?, Outcome::Interrupted(_)));
    /// let refused = thread.try_stream(Input::New(Count::update()), ()).await.unwrap_err();
    /// assert!(matches!(refused, RunError::Unfinished { .. }));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// Those with which [`Thread::run`] refuses an input; [`RunError::Lost`] when there is no runtime to run it on.
    pub async fn try_stream(&self, input: Input<S>, services: C) -> Result<Events<S>, RunError> {
        let (admission, taken) = Admission::new();
        let events = self.streamed(input, services, Some(admission));
        match taken.await {
            Ok(()) => Ok(events),
            Err(_) => events.not_refused().await,
        }
    }

    fn streamed(&self, input: Input<S>, services: C, admission: Option<Admission>) -> Events<S> {
        let (app, key, services) = (self.app.clone(), self.key.clone(), Arc::new(services));
        let spawner = &*self.app.runtime().spawner;
        Events::new(spawner, self.modes, Some(self.recorded().catch_up()), |trail| {
            let options = RunOptions { trail: Some(trail), admission, ..self.options.clone() };
            run_input(app, key, input, services, options)
        })
    }

    /// Follows the thread: the recorded events after `after` (`None`: from the thread's beginning), then what happens from now on, in
    /// this handle's [modes](Thread::modes). The stream does not end with a run; drop it to leave.
    ///
    /// Recorded events come without gap or duplicate, whoever writes them, in whatever process: earlier ones from the log, page by
    /// page, later ones when the log moves. Live events come of runs in this process, through this app, each in its
    /// [place](Event::place) among the recorded ones; a reader who comes in the middle of a run hears those that follow. A
    /// message whose tokens a reader has not all heard comes as a whole ([`EventKind::Message`](crate::EventKind)).
    ///
    /// A reader who is slow costs at most 256 KiB, and no run waits for it. A log that cannot be read ends the stream with
    /// [`EventKind::Cut`](crate::EventKind), and so does the deletion of the thread.
    ///
    /// ```
    /// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// let thread = thread.modes([Mode::Values]);
    /// thread.invoke(Count::update(), ()).await?;
    /// let mut events = thread.follow(None);
    /// thread.invoke(Count::update(), ()).await?;
    /// let mut seen = Vec::new();
    /// while let (Some(event), true) = (events.next().await, seen.len() < 5) {
    ///     seen.push(match event.kind {
    ///         EventKind::Values(state) => state.get::<Count>()?.n.to_string(),
    ///         kind => kind.name().to_owned(),
    ///     });
    /// }
    /// assert_eq!(seen, ["0", "1", "ended", "1", "2"]);
    /// # Ok(()) }
    /// ```
    pub fn follow(&self, after: Option<EventPlace>) -> Follow {
        let seat = Seat::take(self.app.active(), &self.key, self.modes);
        Follow::new(self.log(), seat, self.recorded(), after)
    }

    /// Reads the recorded events after `after` (`None`: from the thread's beginning) up to now, of the thread's current
    /// branch and this handle's [modes](Thread::modes).
    ///
    /// A reader that was cut off continues from the id of its last event, without gap or duplicate, in any process.
    /// [`AnyState::get`](crate::AnyState::get) reads the state of an event from its stored form. The states after all
    /// super-steps ([`Mode::Values`]) are large together, so read them only from some event on, or page by page with
    /// [`replay`](Thread::replay).
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// let events = thread.events(None).await?;
    /// assert!(matches!(events.last().map(|event| &event.kind), Some(EventKind::Ended { .. })));
    /// let last = events.last().and_then(|event| event.id);
    /// assert!(thread.events(last).await?.is_empty());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the log cannot be read, is of another life of the thread, was cut off after `after`,
    /// or ends before it, because an older copy of the store was put in its place. [`RunError::NoSuchThread`] when the
    /// thread is deleted.
    pub async fn events(&self, after: Option<EventId>) -> Result<Vec<Event>, RunError> {
        let Some(mut replay) = self.replay(after).await? else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        loop {
            let mut page = replay.next().await?;
            if page.is_empty() {
                return Ok(all);
            }
            all.append(&mut page);
        }
    }

    /// Reads the recorded events as [`events`](Thread::events) does, page by page, for a long thread. Each page is
    /// dropped before the next is read. `None` for a thread that has no log.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// let mut replay = thread.replay(None).await?.ok_or("no log")?;
    /// loop {
    ///     let page = replay.next().await?;
    ///     if page.is_empty() {
    ///         break;
    ///     }
    ///     println!("{} events", page.len());
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`events`](Thread::events).
    pub async fn replay(&self, after: Option<EventId>) -> Result<Option<Replay>, RunError> {
        self.open_replay(after, None).await
    }

    /// The recorded events, in this handle's modes.
    fn recorded(&self) -> Recorded {
        let (thread, clock) = (self.clone(), self.app.runtime().clock.clone());
        let open = move |after, to| -> BoxFuture<'static, _> {
            let thread = thread.clone();
            Box::pin(async move { thread.open_replay(after, to).await })
        };
        Recorded { open: Arc::new(open), clock }
    }

    async fn open_replay(
        &self,
        after: Option<EventId>,
        to: Option<EventId>,
    ) -> Result<Option<Replay>, RunError> {
        let shows = Shows::of(&self.app.graph().0)?;
        Replay::of(self.log(), after, to, shows, self.modes).await
    }

    /// The state at `at` (`None`: now); `None` for a thread that has none.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// let before = thread.history(None, 1).await?[0].position;
    /// thread.invoke(Count::update(), ()).await?;
    /// assert_eq!(thread.state(None).await?.map(|state| state.n), Some(2));
    /// assert_eq!(thread.state(Some(before)).await?.map(|state| state.n), Some(1));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Checkpoint`] when the log cannot be read; [`RunError::Unreadable`] when the state has another shape, and
    /// [`RunError::OtherGraph`] when a graph of another name stored it.
    pub async fn state(&self, at: Option<Position>) -> Result<Option<S>, RunError> {
        let opened = self.log().open(at).await.map_err(RunError::Checkpoint)?;
        opened.map_or(Ok(None), |opened| self.state_of(opened.fold))
    }

    /// As [`state`](Thread::state), of a log that was read.
    pub(crate) fn state_of(&self, mut fold: ThreadFold) -> Result<Option<S>, RunError> {
        let Some(run) = fold.runs.remove(&Namespace::root()) else { return Ok(None) };
        let (graph, root) = (&self.app.graph().0, Namespace::root());
        let place = LogPlace { thread: &self.key, path: &root };
        graph.owns(place, &run)?;
        let read = migrated(&*graph.initial, place, run, &mut BTreeMap::new())?;
        Ok(Some(S::clone(&read.progress.state)))
    }

    /// Reads a page of at most `limit` entries of the log before `before` (`None`: its end), newest first.
    ///
    /// ```
    /// # use {hanok_checkpoint::Body, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// let newest = thread.history(None, 10).await?;
    /// assert!(matches!(newest[0].entry.body, Body::End(_)));
    /// let older = thread.history(Some(newest[0].position), 10).await?;
    /// assert_eq!(older.len(), newest.len() - 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the log cannot be read.
    pub async fn history(
        &self,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Vec<LogEntry>, CheckpointError> {
        self.log().history(before, limit).await
    }

    /// Deletes the thread and everything that belongs to it, its [items](crate::Context::items) too; returns true if it existed.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// assert!(thread.delete().await?);
    /// assert!(thread.state(None).await?.is_none());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the store fails.
    pub async fn delete(&self) -> Result<bool, CheckpointError> {
        // What this process remembers of it goes as well.
        drop(self.app.recents().take(&self.key));
        // Its items first: what broke off is finished by another call.
        self.app.forget_items(&self.key).await?;
        let was_there = self.app.store().delete(&self.key, None).await?;
        // A run that went on meanwhile may have written some.
        self.app.forget_removed(&self.key).await?;
        Ok(was_there)
    }

    /// The app whose thread it is.
    pub fn app(&self) -> &App<S, C> {
        &self.app
    }

    /// The thread's log.
    pub fn log(&self) -> Log {
        self.app.log(&self.key)
    }
}

impl<S: State, C> Clone for Thread<S, C> {
    fn clone(&self) -> Self {
        Self {
            app: self.app.clone(),
            key: self.key.clone(),
            options: self.options.clone(),
            modes: self.modes,
        }
    }
}

impl<S: State, C> fmt::Debug for Thread<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").field("key", &self.key).finish_non_exhaustive()
    }
}
