//! The context of a node: the run's services, and its access to the engine.

use std::{any::TypeId, error::Error, fmt, sync::Arc};

use futures_util::FutureExt;
use hanok_checkpoint::{
    Answer, Body, CheckpointError, Doubt, Intent, Memo, Outbox, Safety, SharedStore, ThreadItems,
};
use hanok_core::{
    AskError, BoxError, Call, Cancellation, Chain, Check, Limit, LostCall, OverBudget, Request,
    Stored, StoredError, StoredState, Timestamp,
};
use serde::{Serialize, de::DeserializeOwned};
use thiserror::Error;

use crate::{
    ids::Digest,
    node::{
        attempt::{TaskAttempt, WatchedCall, locked},
        question::Asker,
    },
    observe::{
        event::{EventKind, Mode},
        tool_event::ToolEvent,
    },
    outcome::Resolution,
    runtime::Runtime,
    subgraph_error::SubgraphError,
};

/// The context of a node: the run's services, and the node's access to the engine. Clones are the same context.
///
/// ```
/// # use {hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// async fn add(state: Snapshot<Count>, cx: Context<u32>) -> Result<CountUpdate, BoxError> {
///     let by = *cx.services();
///     let sum = cx.step("sum", || async move { Ok::<_, BoxError>(state.n + by) }).await?;
///     Ok(Count::update().n(sum))
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count, u32>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// assert_eq!(graph.invoke(Count::update(), 5).await?.done()?.n, 5);
/// # Ok(()) }
/// ```
pub struct Context<C = ()> {
    services: Arc<C>,
    scope: Arc<TaskAttempt>,
}

/// The reason why a memoised step has no result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StepError {
    /// The work failed. Nothing was stored, and a retry of the task does the work again.
    #[error("{0}")]
    Failed(#[source] BoxError),
    /// Two steps of one task have one name.
    #[error("two steps of one task are named `{0}`")]
    Twice(String),
    /// The result cannot be stored, or was stored in another shape.
    #[error("the result of step `{name}` cannot be stored or read")]
    Stored {
        /// The step.
        name: String,
        /// The cause.
        #[source]
        source: StoredError,
    },
    /// A call in doubt was given up: nobody knows whether it was made, and it is not made again.
    #[error(
        "the call of `{tool}` with the key {key} was given up: nobody knows whether it was made"
    )]
    GivenUp {
        /// The tool.
        tool: String,
        /// The call's idempotency key.
        key: String,
    },
    /// A call that must not be repeated is to be made in a subgraph that stores nothing, of a thread that is stored.
    #[error("`{tool}` must not be called twice, and a subgraph that stores nothing could not tell")]
    NotKept {
        /// The tool.
        tool: String,
    },
    /// The store failed.
    #[error("the result of a step could not be kept")]
    Checkpoint(#[from] CheckpointError),
}

/// Marks an error of a call that was certainly not made, so that the call may be made again.
///
/// ```
/// # use {hanok_graph::*, hanok_core::Call};
/// // The connection was refused, so no money has moved.
/// async fn pay(_: Call) -> Result<String, BoxError> {
///     Err(NotMade("connection refused".into()).into())
/// }
/// ```
#[derive(Debug, Error)]
#[error("{0}")]
pub struct NotMade(#[source] pub BoxError);

impl<C> Context<C> {
    pub(crate) fn new(services: Arc<C>, scope: Arc<TaskAttempt>) -> Self {
        Self { services, scope }
    }

    pub(crate) fn scope(&self) -> &Arc<TaskAttempt> {
        &self.scope
    }

    /// The services of the run: models, tools, the user.
    pub fn services(&self) -> &C {
        &self.services
    }

    /// The same context with other services: for a part of the node that is written for those.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// struct App {
    ///     step: u32,
    /// }
    ///
    /// async fn add(state: Snapshot<Count>, cx: Context<u32>) -> Result<CountUpdate, BoxError> {
    ///     Ok(Count::update().n(state.n + cx.services()))
    /// }
    /// async fn own(state: Snapshot<Count>, cx: Context<App>) -> Result<CountUpdate, BoxError> {
    ///     add(state, cx.with_services(cx.services().step)).await
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count, App>::builder("count").node("own", own).edge(START, "own").edge("own", END).build()?;
    /// assert_eq!(graph.invoke(Count::update(), App { step: 5 }).await?.done()?.n, 5);
    /// # Ok(()) }
    /// ```
    pub fn with_services<D>(&self, services: impl Into<Arc<D>>) -> Context<D> {
        Context::new(services.into(), self.scope.clone())
    }

    /// The services of the run, shared.
    pub fn shared_services(&self) -> Arc<C> {
        self.services.clone()
    }

    /// The store across threads, if the app [has one](crate::App::remembering).
    pub fn memory(&self) -> Option<&SharedStore> {
        self.scope.env.memory.as_deref()
    }

    /// The items of the thread in the [store](Context::memory) across threads: values too large for its state, each under a name.
    /// `None` where the app has no store, or nothing of the run is stored. A tool has them by
    /// [`Call::provided`](hanok_core::Call::provided).
    ///
    /// They go with the thread: [`Thread::delete`](crate::Thread::delete) and [`App::sweep`](crate::App::sweep) remove them,
    /// [`Thread::fork`](crate::Thread::fork) copies those whose name is a word of the state, and of those
    /// [`Thread::erase`](crate::Thread::erase) removes the ones whose name is none, or that hold what is erased. So a name is one word, of letters
    /// and digits, and a node that stores an item writes its name into the state.
    ///
    /// ```
    /// use hanok_checkpoint::{InMemoryStore, SharedStore};
    /// # use {hanok_core::{Stored, ThreadKey}, hanok_graph::*, hanok_state::State};
    ///
    /// #[derive(State, Clone, Debug, Default)]
    /// struct Page {
    ///     text: String,
    /// }
    ///
    /// async fn load(_: Snapshot<Page>, cx: Context) -> Result<PageUpdate, BoxError> {
    ///     let items = cx.items().ok_or("a run with a store")?;
    ///     items.put("page1", &Stored::encode(&"very long ".repeat(1_000))?, cx.now()).await?;
    ///     Ok(Page::update().text("stored as page1"))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Page>::builder("page").node("load", load).sequence([START, "load", END]).build()?;
    /// let app = graph.checkpointer(InMemoryCheckpointer::new()).remembering(SharedStore::new(InMemoryStore::new()));
    /// let page = app.thread(ThreadKey::named("t")?).invoke(Page::update(), ()).await?.done()?;
    /// assert_eq!(page.text, "stored as page1");
    /// # Ok(()) }
    /// ```
    pub fn items(&self) -> Option<ThreadItems> {
        self.scope.env.journal.items(self.memory()?)
    }

    /// The number of super-steps that may follow this one.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// async fn add(state: Snapshot<Count>, cx: Context) -> Result<Command<Count>, BoxError> {
    ///     // Ends in good order before the limit does.
    ///     let target = if cx.remaining_steps() == 0 { END } else { "add" };
    ///     Ok(Command::new().update(Count::update().n(state.n + 1)).goto(target))
    /// }
    /// let graph = Graph::<Count>::builder("count").node("add", add.goto(["add", END])).edge(START, "add");
    /// let graph = graph.recursion_limit(3).build()?;
    /// assert_eq!(graph.invoke(Count::update(), ()).await?.done()?.n, 3);
    /// # Ok(()) }
    /// ```
    pub fn remaining_steps(&self) -> u32 {
        self.scope.remaining
    }

    /// The time at which the task was scheduled, by the clock of the process that scheduled it. It is the same in every
    /// retry and resume, so a question, a deadline or a call that names the time does not change. [`Context::runtime`]
    /// has the clock of this moment.
    ///
    /// ```
    /// # use {std::time::Duration, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// async fn ask(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, BoxError> {
    ///     let deadline = cx.now().plus(Duration::from_secs(3_600));
    ///     Ok(Count::update().n(cx.interrupt_until("how many?", deadline).await?))
    /// }
    /// let graph = Graph::<Count>::builder("count").node("ask", ask);
    /// # graph.edge(START, "ask").edge("ask", END).build()?; Ok::<(), BuildError>(())
    /// ```
    pub fn now(&self) -> Timestamp {
        self.scope.at
    }

    /// The sources of time, ids, randomness and tasks.
    pub fn runtime(&self) -> &Runtime {
        &self.scope.env.runtime
    }

    /// The request to stop that this task heeds: of the run, or of its own time limit.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// async fn search(state: Snapshot<Count>, cx: Context) -> Result<CountUpdate, BoxError> {
    ///     // Work on a thread of its own is not dropped with the node, so it looks by itself.
    ///     let stop = cx.cancellation().clone();
    ///     let work = move || (state.n..1_000_000).find(|n| stop.is_cancelled() || n % 4711 == 1);
    ///     let found = tokio::task::spawn_blocking(work).await?;
    ///     Ok(Count::update().n(found.unwrap_or_default()))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("search", search).edge(START, "search").edge("search", END).build()?; assert_eq!(graph.invoke(Count::update(), ()).await?.done()?.n, 1);
    /// # Ok(()) }
    /// ```
    pub fn cancellation(&self) -> &Cancellation {
        self.scope.cancellation()
    }

    /// The limit that the turn has reached, if it has: one that refused a call of this task, or the tokens, the cost or the time of
    /// the turn. For a node that goes on [past the limits](crate::NodeExt::past_limits).
    ///
    /// ```
    /// # use {hanok_core::Charge, hanok_graph::*};
    /// let cx = Context::for_test(()).budget(Budget { model_calls: Some(1), ..Budget::default() }).build()?;
    /// cx.call("model", "a", "").admit(Charge::Model)?;
    /// assert_eq!(cx.limit(), None);
    /// assert!(cx.call("model", "b", "").admit(Charge::Model).is_err());
    /// assert_eq!(cx.limit().map(|limit| limit.to_string()).as_deref(), Some("1 model call"));
    /// # Ok::<(), BoxError>(())
    /// ```
    pub fn limit(&self) -> Option<Limit> {
        self.scope.limit()
    }

    /// The output of `work`, unless the time of the turn is over before. For a node that goes on
    /// [past the limits](crate::NodeExt::past_limits); any other one ends then by itself.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// async fn search(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, BoxError> {
    ///     let found = cx.within_time(async { 3 }).await;
    ///     Ok(Count::update().n(found.unwrap_or_default()))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BoxError> {
    /// # let graph = Graph::<Count>::builder("search").node("search", search.past_limits()).edge(START, "search").edge("search", END).build()?;
    /// # assert_eq!(graph.invoke(Count::update(), ()).await?.done()?.n, 3); Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`OverBudget`] with the limit. `work` is dropped where it waits.
    pub async fn within_time<T>(&self, work: impl Future<Output = T>) -> Result<T, OverBudget> {
        let limited = &self.scope.env.limited;
        let mut work = std::pin::pin!(work.fuse());
        futures_util::select_biased! {
            () = limited.cancelled().fuse() => match self.scope.env.total.exhausted() {
                Some(limit) => Err(self.scope.meter().refuse(limit)),
                // The run stops, and the task with it.
                None => Ok(work.await),
            },
            output = work => Ok(output),
        }
    }

    /// Gives a sign of life, for a node with an [idle time-out](crate::NodeExt::idle_timeout) or a
    /// [heartbeat time-out](crate::NodeExt::heartbeat_timeout).
    ///
    /// ```
    /// # use {std::time::Duration, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// async fn import(state: Snapshot<Count>, cx: Context) -> Result<CountUpdate, BoxError> {
    ///     for _page in 0..10 {
    ///         cx.heartbeat();
    ///         // … loads the page
    ///     }
    ///     Ok(Count::update().n(state.n + 10))
    /// }
    /// let graph = Graph::<Count>::builder("import").node("import", import.idle_timeout(Duration::from_secs(30)));
    /// # graph.edge(START, "import").edge("import", END).build()?; Ok::<(), BuildError>(())
    /// ```
    pub fn heartbeat(&self) {
        self.scope.activity.beat();
    }

    /// The input that a [`SendTo`](crate::SendTo) gave this task, `None` for a task that an edge scheduled.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// async fn read(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, BoxError> {
    ///     Ok(Count::update().n(cx.input::<u32>()?.unwrap_or(1)))
    /// }
    /// let graph = Graph::<Count>::builder("count").node("read", read).edge("read", END);
    /// let graph = graph.branch(START, |_: &Count| SendTo::new("read", &7u32), ["read"]).build()?;
    /// assert_eq!(graph.invoke(Count::update(), ()).await?.done()?.n, 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StoredError`] when it has another shape.
    pub fn input<T: DeserializeOwned>(&self) -> Result<Option<T>, StoredError> {
        self.scope.task.input.as_ref().map(Stored::decode).transpose()
    }

    /// True when somebody watches the events of the run: whoever does not has no use for an item that is large to make.
    pub fn is_watched(&self) -> bool {
        self.scope.env.sink.is_on()
    }

    /// Sends `item` to the observers of the run, at once. An item that cannot be stored is not sent.
    ///
    /// ```
    /// # use {futures::StreamExt, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// async fn work(_: Snapshot<Count>, cx: Context) -> Result<(), BoxError> {
    ///     cx.custom("half done");
    ///     Ok(())
    /// }
    /// let graph = Graph::<Count>::builder("work").node("work", work).edge(START, "work").edge("work", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let mut events = thread.modes([Mode::Custom]).stream(Input::New(Count::update()), ());
    /// let Some(Event { kind: EventKind::Custom(item), .. }) = events.next().await else { panic!() };
    /// assert_eq!(item.as_str()?, "half done");
    /// # Ok(()) }
    /// ```
    pub fn custom<T: Serialize + ?Sized>(&self, item: &T) {
        self.scope.activity.touch();
        if self.scope.env.sink.is_on()
            && let Ok(item) = Stored::encode(item)
        {
            self.scope.emit(EventKind::Custom(item));
        }
    }

    /// Tells the observers of the run what becomes of `call`, one of a tool, at once: for whoever makes calls of tools, as an
    /// agent does. What the tool itself sends with [`Call::output`] comes between its start and its end.
    ///
    /// ```
    /// # use {futures::StreamExt, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// async fn look(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, BoxError> {
    ///     let call = cx.call("tool", "look", "{}").identified("call-1");
    ///     cx.tool_event(&call, || ToolEvent::Started { arguments: "{}".to_owned() });
    ///     call.output("a first line");
    ///     cx.tool_event(&call, || ToolEvent::Ended { text: "two lines".to_owned() });
    ///     Ok(Count::update())
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("look", look).edge(START, "look").edge("look", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// let mut events = thread.modes([Mode::Tools]).stream(Input::New(Count::update()), ());
    /// let started = events.next().await.ok_or("no event")?;
    /// assert!(matches!(started.kind, EventKind::Tool(ToolEvent::Started { .. })));
    /// assert_eq!(started.call.and_then(|call| call.id.clone()).as_deref(), Some("call-1"));
    /// # Ok(()) }
    /// ```
    pub fn tool_event(&self, call: &Call, event: impl FnOnce() -> ToolEvent) {
        self.scope.emit_of(call.info(), || EventKind::Tool(event()));
    }

    /// Puts `payload` into the outbox for the readers of `topic`, if and when the super-step is committed. A [`Consumer`]
    /// of the store receives it at least once, with an id that stays the same.
    ///
    /// Without a checkpointer nobody receives it. A node that fails puts nothing into the outbox.
    ///
    /// ```
    /// # use {hanok_checkpoint::{Consumer, SharedCheckpointer}, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// async fn greet(_: Snapshot<Count>, cx: Context) -> Result<(), BoxError> {
    ///     Ok(cx.hand_out("mail", "Hello!")?)
    /// }
    /// let graph = Graph::<Count>::builder("greet").node("greet", greet).edge(START, "greet").edge("greet", END).build()?;
    /// let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    /// let mailer = Consumer::new(store.clone(), "mailer", "mail");
    /// mailer.register().await?;
    /// # let key = ThreadKey::new(Tenant::default(), "t1")?;
    /// graph.checkpointer(store).thread(key).invoke(Count::update(), ()).await?;
    /// assert_eq!(mailer.next(10).await?.len(), 1);
    /// # Ok(()) }
    /// ```
    ///
    /// [`Consumer`]: hanok_checkpoint::Consumer
    ///
    /// # Errors
    ///
    /// [`StoredError`] when the payload cannot be stored.
    pub fn hand_out(
        &self,
        topic: &str,
        payload: &(impl Serialize + ?Sized),
    ) -> Result<(), StoredError> {
        let payload = Stored::encode(payload)?;
        let mut log = self.scope.log();
        let number = log.outbox.len().to_string();
        // In a copy of the thread it is another item.
        let life = self.scope.env.journal.own().life.to_bytes();
        let id = Digest::new("item").part(self.scope.id().as_bytes()).part(&life);
        let id = id.part(number.as_bytes()).hex();
        log.outbox.push(Outbox { id, topic: topic.to_owned(), payload });
        Ok(())
    }

    /// Waits until everything that the run has stored so far is safe, for use before an effect that a lost run should not
    /// have. With [`Durability::Sync`](crate::Durability::Sync) everything is safe already.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// async fn announce(_: Snapshot<Count>, cx: Context) -> Result<(), BoxError> {
    ///     cx.barrier().await?;
    ///     println!("everything up to here is stored");
    ///     Ok(())
    /// }
    /// # let graph = Graph::<Count>::builder("g").node("announce", announce).edge(START, "announce").edge("announce", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// let thread = thread.durability(Durability::Exit);
    /// thread.invoke(Count::update(), ()).await?.done()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StepError::Checkpoint`] when the store fails.
    pub async fn barrier(&self) -> Result<(), StepError> {
        let _wait = self.scope.awaits_store();
        Ok(self.scope.env.journal.barrier().await?)
    }

    /// Does `work` once: its result is stored, and a task that runs again after a crash receives the stored result
    /// instead.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Page { text: String }
    /// async fn load(_: Snapshot<Page>, cx: Context) -> Result<PageUpdate, BoxError> {
    ///     let fetch = || async { Ok::<_, BoxError>("expensive text".to_owned()) };
    ///     Ok(Page::update().text(cx.step("fetch", fetch).await?))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Page>::builder("page").node("load", load).edge(START, "load").edge("load", END).build()?;
    /// assert_eq!(graph.invoke(Page::update(), ()).await?.done()?.text, "expensive text");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StepError::Failed`] with the work's own error, which is not stored; [`StepError::Twice`] for a name that this
    /// task has used.
    pub async fn step<T, E, F>(&self, name: &str, work: impl FnOnce() -> F) -> Result<T, StepError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<BoxError>,
        F: Future<Output = Result<T, E>>,
    {
        let key = self.scope.named(name);
        if !self.scope.log().steps.insert(key.clone()) {
            return Err(StepError::Twice(name.to_owned()));
        }
        if let Some(memo) = self.remembered(&key)? {
            return Ok(memo);
        }
        let value = work().await.map_err(|error| StepError::Failed(error.into()))?;
        self.remember(&key, &value).await?;
        Ok(value)
    }

    /// Makes a call as [`once`](Context::once) does, under the key of an earlier [`call`](Context::call).
    ///
    /// ```
    /// # use {hanok_core::Call, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Bill { receipt: String }
    /// # async fn transfer(call: Call) -> Result<String, BoxError> { Ok(format!("paid under {}", call.key())) }
    /// async fn pay(_: Snapshot<Bill>, cx: Context) -> Result<BillUpdate, BoxError> {
    ///     let arguments = r#"{"amount": 5}"#;
    ///     let call = cx.call("payment", "pay", arguments);
    ///     // What was told about the call before it is made knows it by its key.
    ///     cx.custom(&call.key().to_string());
    ///     let receipt = cx.once_as(call, "pay", arguments, Doubt::Ask, transfer).await?;
    ///     Ok(Bill::update().receipt(receipt))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Bill>::builder("bill").node("pay", pay).edge(START, "pay").edge("pay", END).build()?;
    /// assert!(graph.invoke(Bill::update(), ()).await?.done()?.receipt.starts_with("paid"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`once`](Context::once).
    pub async fn once_as<T, E, F>(
        &self,
        call: Call,
        tool: &str,
        arguments: &str,
        doubt: Doubt,
        work: impl FnOnce(Call) -> F,
    ) -> Result<T, StepError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<BoxError>,
        F: Future<Output = Result<T, E>>,
    {
        let scope = &self.scope;
        if scope.env.unsaved {
            return Err(StepError::NotKept { tool: tool.to_owned() });
        }
        let key = call.key().to_string();
        if let Some(memo) = self.remembered(&key)? {
            return Ok(memo);
        }
        let (said, id) = scope.doubt(&key);
        let stored = |source| StepError::Stored { name: tool.to_owned(), source };
        match said {
            Some(Resolution::Made(value)) => return value.decode().map_err(stored),
            Some(Resolution::GiveUp) => {
                return Err(StepError::GivenUp { tool: tool.to_owned(), key });
            }
            Some(Resolution::NotMade) | None => {}
        }
        let intent = Intent {
            task: scope.id(),
            key: key.clone(),
            tool: tool.to_owned(),
            arguments: arguments.to_owned(),
            id: id.clone(),
            node: scope.task.node.to_string(),
            doubt,
            noted: scope.noted(&key).is_some(),
        };
        scope.announce(&intent);
        let waited = scope.activity.waited();
        if scope.env.journal.is_kept() {
            let entry = (scope.task.namespace.clone(), Body::Intent(intent.clone()));
            let _wait = scope.awaits_store();
            scope.env.journal.append_safely(vec![entry], Safety::Machine).await?;
        }
        scope.intend(intent);
        // The call has waited for that as well.
        let call = call.extended(scope.activity.waited().saturating_sub(waited));
        match work(call).await {
            Ok(value) => {
                scope.unsettle(&key);
                self.remember(&key, &value).await?;
                scope.settle(&key);
                Ok(value)
            }
            Err(error) => {
                let error = error.into();
                if is_not_made(&*error) || (suspends(&*error) && scope.noted(&key).is_none()) {
                    self.withdraw(&key, id).await?;
                } else if Chain(&*error).causes().any(|error| error.is::<LostCall>()) {
                    scope.lose(&key).await?;
                }
                Err(StepError::Failed(error))
            }
        }
    }

    /// Checks whether this task has announced `call` as one that must not be repeated ([`once_as`](Context::once_as)), in this run or an
    /// earlier one: the log has its result, a note of it, or a person's answer about it. A build that may repeat the call makes it by
    /// `once_as` then as well, which heeds them.
    pub fn is_announced(&self, call: &Call) -> bool {
        let key = call.key().as_str();
        self.scope.is_recorded(key) || self.scope.doubt(key).0.is_some()
    }

    /// Asks a person: shows `payload`, ends the run, and returns the answer when the thread is resumed with one.
    ///
    /// The node runs again from its beginning then, and repeats all its earlier work that is not a
    /// [`step`](Context::step). A question is identified by its content. A node that asks something else asks anew, and
    /// the answer to its earlier question is void ([`EventKind::AnswerVoided`]). An answer that is no `T` is refused: the
    /// question stays open, and the answering call fails with [`RunError::WrongAnswer`](crate::RunError::WrongAnswer).
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// async fn ask(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, BoxError> {
    ///     Ok(Count::update().n(cx.interrupt("how many?").await?))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("ask", ask).edge(START, "ask").edge("ask", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// assert!(matches!(thread.invoke(Count::update(), ()).await?, Outcome::Interrupted(_)));
    /// assert_eq!(thread.reply(&7, ()).await?.done()?.n, 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AskError::Waiting`] until there is an answer: return it with `?`. [`AskError::Nobody`] without a checkpointer.
    pub async fn interrupt<T: DeserializeOwned>(
        &self,
        payload: &(impl Serialize + ?Sized),
    ) -> Result<T, AskError> {
        let failed = |error: StoredError| AskError::Failed(error.into());
        let payload = Stored::encode(payload).map_err(failed)?;
        let request = Request { check: Some(Check::of::<T>()), ..Request::new(payload) };
        self.scope.ask(request)?.decode().map_err(failed)
    }

    /// Asks a person as [`interrupt`](Context::interrupt) does, for an answer before `deadline`. A resume after it
    /// returns [`AskError::Expired`], so that the node can continue without an answer.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State, hanok_core::AskError, std::time::Duration};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// async fn ask(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, AskError> {
    ///     let deadline = cx.now().plus(Duration::ZERO);
    ///     match cx.interrupt_until("how many?", deadline).await {
    ///         Err(AskError::Expired(_)) => Ok(Count::update().n(1)),
    ///         answer => Ok(Count::update().n(answer?)),
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("ask", ask).edge(START, "ask").edge("ask", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// assert_eq!(thread.resume(()).await?.done()?.n, 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`interrupt`](Context::interrupt), and [`AskError::Expired`].
    pub async fn interrupt_until<T: DeserializeOwned>(
        &self,
        payload: &(impl Serialize + ?Sized),
        deadline: Timestamp,
    ) -> Result<T, AskError> {
        let failed = |error: StoredError| AskError::Failed(error.into());
        let payload = Stored::encode(payload).map_err(failed)?;
        let (deadline, check) = (Some(deadline), Some(Check::of::<T>()));
        let request = Request { deadline, check, ..Request::new(payload) };
        self.scope.ask(request)?.decode().map_err(failed)
    }

    /// Asks a person for a `T`, optionally before a deadline. An answer that does not fit the JSON Schema of `T` is
    /// refused at once, and the question stays open.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// async fn ask(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, BoxError> {
    ///     Ok(Count::update().n(cx.ask::<u32>("how many?", None).await?))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("ask", ask).edge(START, "ask").edge("ask", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// let refused = thread.reply("many", ()).await.unwrap_err();
    /// assert!(matches!(refused, RunError::WrongAnswer { .. }));
    /// assert_eq!(thread.reply(&7, ()).await?.done()?.n, 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`interrupt_until`](Context::interrupt_until).
    #[cfg(feature = "schema")]
    pub async fn ask<T: DeserializeOwned + schemars::JsonSchema>(
        &self,
        payload: &(impl Serialize + ?Sized),
        deadline: Option<Timestamp>,
    ) -> Result<T, AskError> {
        let failed = |error: StoredError| AskError::Failed(error.into());
        let payload = Stored::encode(payload).map_err(failed)?;
        let schema = Some(crate::schema::of::<T>().into());
        let check = Some(Check::of::<T>());
        let request = Request { schema, deadline, check, ..Request::new(payload) };
        self.scope.ask(request)?.decode().map_err(failed)
    }

    /// The result of the [step](Context::step) `name`, if this attempt, an earlier one or an earlier run of the task has stored
    /// one. It does no work, and may be asked any number of times.
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// async fn count(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, BoxError> {
    ///     assert_eq!(cx.memoised::<u32>("count")?, None);
    ///     cx.step("count", || async { Ok::<_, BoxError>(7) }).await?;
    ///     Ok(Count::update().n(cx.memoised("count")?.unwrap_or_default()))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("count", count).edge(START, "count").edge("count", END).build()?;
    /// assert_eq!(graph.invoke(Count::update(), ()).await?.done()?.n, 7);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StepError::Stored`] when it has another shape.
    pub fn memoised<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StepError> {
        self.remembered(&self.scope.named(name))
    }

    /// The stored forms that the graph's state had in earlier builds since the task began, oldest first. What a step has stored of
    /// such a form, as a write of a tool ([`StateWrite::read`](hanok_state::StateWrite::read)), is translated by it. Empty without a deploy.
    pub fn earlier_states(&self) -> &[StoredState] {
        &self.scope.stored_steps().earlier
    }

    /// The result of an earlier run of a step, or of an earlier attempt.
    fn remembered<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, StepError> {
        let memo = locked(&self.scope.stored_steps().memos).get(key).cloned();
        let stored = |source| StepError::Stored { name: key.to_owned(), source };
        memo.map(|memo| memo.decode()).transpose().map_err(stored)
    }

    async fn remember<T: Serialize>(&self, key: &str, value: &T) -> Result<(), StepError> {
        let scope = &self.scope;
        scope.activity.touch();
        let stored = |source| StepError::Stored { name: key.to_owned(), source };
        let value = Stored::encode(value).map_err(stored)?;
        if scope.env.journal.is_kept() {
            let spent = scope.spend();
            scope.env.record_spent(spent);
            let memo = Memo { task: scope.id(), name: key.to_owned(), value: value.clone(), spent };
            let _wait = scope.awaits_store();
            scope.env.journal.append(&scope.task.namespace, Body::Memo(memo)).await?;
        }
        locked(&scope.stored_steps().memos).insert(key.to_owned(), value);
        Ok(())
    }

    /// Stores that an intended call was not made.
    async fn withdraw(&self, key: &str, id: String) -> Result<(), StepError> {
        let scope = &self.scope;
        if scope.env.journal.is_kept() {
            let stored = |source| StepError::Stored { name: key.to_owned(), source };
            let value = Resolution::NotMade.to_stored().map_err(stored)?;
            let answer = Body::Answer(Answer { id, value, by: None, key: None });
            scope.unsettle(key);
            let _wait = scope.awaits_store();
            scope.env.journal.append(&scope.task.namespace, answer).await?;
        }
        scope.settle(key);
        Ok(())
    }
}

impl<C: Send + Sync + 'static> Context<C> {
    /// A call of a model or a tool: `kind` and `name` identify it, `arguments` are its arguments. Its idempotency key is
    /// the same in every retry and resume of the task, and another for every other call. It carries the services of
    /// the run ([`Call::provided`]), and runs graphs as parts of this task ([`RunGraph`](crate::RunGraph)).
    ///
    /// ```
    /// # use {hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// async fn pay(_: Snapshot<Count>, cx: Context) -> Result<(), BoxError> {
    ///     let call = cx.call("tool", "pay", r#"{"amount": 5}"#);
    ///     // A server that receives the key twice pays once.
    ///     println!("Idempotency-Key: {}", call.key());
    ///     Ok(())
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("pay").node("pay", pay).edge(START, "pay").edge("pay", END).build()?; graph.invoke(Count::update(), ()).await?.done()?;
    /// # Ok(()) }
    /// ```
    pub fn call(&self, kind: &str, name: &str, arguments: &str) -> Call {
        let scope = &self.scope;
        scope.activity.touch();
        let key = scope.call_key(kind, name, arguments);
        let call = Call::new(key, scope.env.runtime.clock.clone())
            .tenant_of(scope.env.journal.thread().tenant().clone())
            .cancellation(scope.cancellation().clone())
            .meter(scope.meter().clone())
            .ask(Arc::new(Asker(scope.clone())))
            // What it takes to run a graph within the call.
            .provide(scope.clone());
        let call = match TypeId::of::<C>() == TypeId::of::<()>() {
            true => call,
            false => call.provide(self.services.clone()),
        };
        let call = match &scope.env.memory {
            Some(memory) => call.provide(memory.clone()),
            None => call,
        };
        let call = match self.items() {
            Some(items) => call.provide(Arc::new(items)),
            None => call,
        };
        let call = match scope.deadline() {
            Some(deadline) => call.deadline(deadline),
            None => call,
        };
        // A token is a sign of life, so a model is to stream as well where only an idle time-out looks.
        let modes = scope.env.sink.modes();
        let heard =
            [Mode::Messages, Mode::Custom, Mode::Tools].into_iter().any(|mode| modes.has(mode));
        if !heard && !scope.activity.is_watched() {
            return call;
        }
        let call = call.described(kind, name);
        let description = call.description().cloned();
        let watched = Arc::new(WatchedCall { scope: scope.clone(), description });
        call.tokens(watched.clone()).items(watched)
    }

    /// Makes a call that must not be repeated: `tool` with `arguments` (JSON text).
    ///
    /// The intent to make it is stored first and survives the death of the machine; then the result is stored. A task
    /// with an intent and no result is not started again until a person has settled whether the call was made
    /// ([`Outcome::InDoubt`](crate::Outcome::InDoubt)), or `doubt` settles it.
    ///
    /// An error of `work` leaves that doubt too, unless it is a [`NotMade`] or reports that a person is asked. The node's
    /// [`Retry`](crate::Retry) does not retry a node that leaves a doubt, with or without a checkpointer, unless `doubt`
    /// is [`Doubt::Repeat`].
    ///
    /// ```
    /// # use {hanok_core::Call, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Bill { receipt: String }
    /// # async fn transfer(call: Call) -> Result<String, BoxError> { Ok(format!("paid under {}", call.key())) }
    /// async fn pay(_: Snapshot<Bill>, cx: Context) -> Result<BillUpdate, BoxError> {
    ///     let arguments = r#"{"amount": 5}"#;
    ///     let receipt = cx.once("pay", arguments, Doubt::Ask, transfer).await?;
    ///     Ok(Bill::update().receipt(receipt))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Bill>::builder("bill").node("pay", pay).edge(START, "pay").edge("pay", END).build()?;
    /// assert!(graph.invoke(Bill::update(), ()).await?.done()?.receipt.starts_with("paid"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`StepError::Failed`] with the work's own error; [`StepError::GivenUp`] when the doubt was settled that way;
    /// [`StepError::NotKept`] in a subgraph that stores nothing, of a thread that is stored.
    pub async fn once<T, E, F>(
        &self,
        tool: &str,
        arguments: &str,
        doubt: Doubt,
        work: impl FnOnce(Call) -> F,
    ) -> Result<T, StepError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<BoxError>,
        F: Future<Output = Result<T, E>>,
    {
        self.once_as(self.call("once", tool, arguments), tool, arguments, doubt, work).await
    }
}

/// True for an error of a call that was certainly not made.
fn is_not_made(error: &(dyn Error + 'static)) -> bool {
    Chain(error).causes().any(|error| error.is::<NotMade>())
}

/// True for an error of a call that stops with its run: a person is asked, or a graph within it stopped. Without a note it was not made,
/// for it is entered again from its beginning; with one it was begun, and goes on from there.
fn suspends(error: &(dyn Error + 'static)) -> bool {
    Chain(error).causes().any(|error| {
        matches!(error.downcast_ref(), Some(AskError::Waiting(_)))
            || error.downcast_ref().is_some_and(SubgraphError::suspends)
    })
}

impl<C> Clone for Context<C> {
    fn clone(&self) -> Self {
        Self { services: self.services.clone(), scope: self.scope.clone() }
    }
}

impl<C> fmt::Debug for Context<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("node", &self.scope.task.node)
            .field("task", &self.scope.id())
            .field("step", &self.scope.task.step)
            .field("attempt", &self.scope.attempt)
            .finish_non_exhaustive()
    }
}
