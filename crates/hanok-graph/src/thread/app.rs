//! Apps: graphs with a store for their threads.

use std::{fmt, sync::Arc, time::Duration};

use futures_util::FutureExt;
use hanok_checkpoint::{
    AppendId, CheckpointError, Checkpointer, Claim, Holder, Leases, Life, Log, SharedCheckpointer,
    SharedStore, Tip,
};
use hanok_core::{Cancellation, ThreadKey};
use hanok_state::State;

use crate::{
    graph::definition::Graph,
    journal::durability::Durability,
    observe::{
        event::{Event, Mode, Modes},
        sink::Teller,
    },
    run::thread_cache::ThreadCache,
    runtime::Runtime,
    thread::active::ActiveRuns,
};

/// A graph with a store for its threads. A clone costs a pointer.
///
/// ```
/// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
/// let app = graph.checkpointer(InMemoryCheckpointer::new());
/// let thread = app.thread(ThreadKey::new(Tenant::default(), "alice")?);
/// thread.invoke(Count::update(), ()).await?;
/// assert_eq!(thread.invoke(Count::update(), ()).await?.done()?.n, 2);
/// # Ok(()) }
/// ```
pub struct App<S: State, C = ()> {
    parts: Arc<AppParts<S, C>>,
    durability: Durability,
    ttl: Option<Duration>,
    /// The memory across threads.
    pub(crate) memory: Option<Arc<SharedStore>>,
    observers: Vec<(Modes, Observer)>,
}

/// A function that is told what the runs of an app do.
type Observer = Arc<dyn Fn(&ThreadKey, &Event) + Send + Sync>;

struct AppParts<S: State, C> {
    graph: Graph<S, C>,
    store: SharedCheckpointer,
    holder: Holder,
    active: Arc<ActiveRuns>,
    /// The request to all runs to end after their super-step. It refuses new runs.
    drain: Cancellation,
    /// The request to all runs to stop.
    stop: Cancellation,
    recents: ThreadCache<S>,
    leases: Leases,
}

/// The result of a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shutdown {
    /// The number of runs that were under way.
    pub running: usize,
    /// The number of those that had not ended within the grace time and were cancelled.
    pub cancelled: usize,
    /// The number of those that still run, because a node blocks its thread and heeds nothing. The next process finds
    /// their threads as those of lost runs.
    pub stuck: usize,
}

/// The least time that a cancelled run has to end.
const STOPPING: Duration = Duration::from_secs(1);

impl<S: State, C: Send + Sync + 'static> Graph<S, C> {
    /// Makes an app of the graph, whose threads are stored in `store`.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let key = ThreadKey::new(Tenant::default(), "t1")?;
    /// let app = graph.checkpointer(InMemoryCheckpointer::new());
    /// assert!(app.thread(key).state(None).await?.is_none());
    /// # Ok(()) }
    /// ```
    pub fn checkpointer(&self, store: impl Checkpointer) -> App<S, C> {
        App::new(self.clone(), SharedCheckpointer::new(store))
    }
}

impl<S: State, C: Send + Sync + 'static> App<S, C> {
    pub(crate) fn new(graph: Graph<S, C>, store: SharedCheckpointer) -> Self {
        let holder = Holder::this_process(graph.0.runtime.ids.id());
        let (drain, stop) = (Cancellation::default(), Cancellation::default());
        let (active, recents, leases) = (Arc::default(), ThreadCache::default(), Leases::default());
        let parts = AppParts { graph, store, holder, active, drain, stop, recents, leases };
        Self {
            parts: Arc::new(parts),
            durability: Durability::default(),
            ttl: None,
            memory: None,
            observers: Vec::new(),
        }
    }

    /// Sets when the work of runs is safe from a crash. Default: [`Durability::Sync`].
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let app = graph.checkpointer(InMemoryCheckpointer::new());
    /// # let key = ThreadKey::new(Tenant::default(), "t1")?;
    /// let app = app.durable(Durability::Async);
    /// assert_eq!(app.thread(key).invoke(Count::update(), ()).await?.done()?.n, 1);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn durable(&self, durability: Durability) -> Self {
        Self { durability, ..self.clone() }
    }

    /// Sets how long a thread is kept after a run of it has begun or ended. Older threads may be
    /// [swept](crate::App::sweep). Default: for ever.
    ///
    /// ```
    /// # use {std::time::Duration, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let app = graph.checkpointer(InMemoryCheckpointer::new());
    /// # let key = ThreadKey::new(Tenant::default(), "t1")?;
    /// let app = app.keep_for(Duration::from_secs(30 * 86_400));
    /// app.thread(key).invoke(Count::update(), ()).await?;
    /// assert!(app.sweep().await?.is_empty());
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn keep_for(&self, ttl: Duration) -> Self {
        Self { ttl: Some(ttl), ..self.clone() }
    }

    /// Gives the nodes and tools of all runs a store across threads: [`Context::memory`](crate::Context::memory), and
    /// [`Call::provided`](hanok_core::Call::provided) in a tool. Default: none.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// use hanok_checkpoint::{InMemoryStore, SharedStore};
    ///
    /// async fn known(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, BoxError> {
    ///     Ok(Count::update().n(u32::from(cx.memory().is_some())))
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = Graph::<Count>::builder("g").node("known", known).edge(START, "known").edge("known", END).build()?;
    /// let app = graph.checkpointer(InMemoryCheckpointer::new()).remembering(SharedStore::new(InMemoryStore::new()));
    /// assert_eq!(app.thread(ThreadKey::named("t")?).invoke(Count::update(), ()).await?.done()?.n, 1);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn remembering(&self, memory: SharedStore) -> Self {
        Self { memory: Some(Arc::new(memory)), ..self.clone() }
    }

    /// Tells `observer` the events of these modes of every run of this app, whoever calls it and whether it is streamed or not: for a
    /// program that counts, logs, or notifies people whom a run asks. The end of a run, [`EventKind::Ended`](crate::EventKind), is
    /// told in every mode. Several observers are told one after the other. Default: none.
    ///
    /// It is called where the event happens, one event of a run at a time, and the run waits for it: hand on what takes long. An
    /// observer that panics has not seen the event, and the run goes on.
    ///
    /// ```
    /// # use {std::sync::{Arc, Mutex}, hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn ask(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, hanok_core::AskError> {
    /// #     Ok(Count::update().n(cx.interrupt("how many?").await?))
    /// # }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("ask", ask).sequence([START, "ask", END]).build()?;
    /// let mail = Arc::new(Mutex::new(Vec::new()));
    /// let sent = mail.clone();
    /// let app = graph.checkpointer(InMemoryCheckpointer::new()).observing([Mode::Interrupts], move |thread, event| {
    ///     if let EventKind::Request(request) = &event.kind {
    ///         let asked = request.payload::<String>().unwrap_or_default();
    ///         sent.lock().unwrap().push(format!("{}: {asked}", thread.thread()));
    ///     }
    /// });
    /// app.thread(ThreadKey::named("ada")?).invoke(Count::update(), ()).await?;
    /// assert_eq!(*mail.lock().unwrap(), ["ada: how many?"]);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn observing(
        &self,
        modes: impl IntoIterator<Item = Mode>,
        observer: impl Fn(&ThreadKey, &Event) + Send + Sync + 'static,
    ) -> Self {
        let mut app = self.clone();
        app.observers.push((Modes::of(modes), Arc::new(observer)));
        app
    }

    /// The app's observers, for a run of `thread`.
    pub(crate) fn observers(&self, thread: &ThreadKey) -> impl Iterator<Item = Teller> {
        self.observers.iter().map(|(modes, observer)| {
            let (thread, observer) = (thread.clone(), observer.clone());
            Teller { modes: *modes, tell: Arc::new(move |event: &Event| observer(&thread, event)) }
        })
    }

    /// The graph.
    pub fn graph(&self) -> &Graph<S, C> {
        &self.parts.graph
    }

    /// The store.
    pub fn store(&self) -> &SharedCheckpointer {
        &self.parts.store
    }

    /// The number of threads that run now, through this app.
    pub fn running(&self) -> usize {
        self.parts.active.count()
    }

    /// Ends all runs in good order. No new run begins, those under way end after their super-step, and those that have
    /// not ended after `grace` are cancelled.
    ///
    /// It returns when no run is left, and at the latest after a second `grace` (of a second at least), because a node
    /// that blocks its thread cannot be stopped. Every thread can be resumed, by an app that is not shut down. Dropping
    /// the future does not take the shutdown back.
    ///
    /// ```
    /// # use {std::time::Duration, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let app = graph.checkpointer(InMemoryCheckpointer::new());
    /// # let key = ThreadKey::new(Tenant::default(), "t1")?;
    /// let shutdown = app.shutdown(Duration::from_secs(5)).await;
    /// assert_eq!((shutdown.running, shutdown.stuck), (0, 0));
    /// let refused = app.thread(key).invoke(Count::update(), ()).await;
    /// assert!(matches!(refused, Err(RunError::ShuttingDown)));
    /// # Ok(()) }
    /// ```
    pub async fn shutdown(&self, grace: Duration) -> Shutdown {
        let AppParts { active, drain, stop, .. } = &*self.parts;
        let running = active.count();
        drain.cancel();
        let clock = &self.runtime().clock;
        let cancelled = futures_util::select_biased! {
            () = Box::pin(active.none()).fuse() => 0,
            () = clock.sleep(grace).fuse() => active.count(),
        };
        stop.cancel();
        let stuck = futures_util::select_biased! {
            () = Box::pin(active.none()).fuse() => 0,
            () = clock.sleep(grace.max(STOPPING)).fuse() => active.count(),
        };
        Shutdown { running, cancelled, stuck }
    }

    /// The log of the thread that `key` names.
    pub(crate) fn log(&self, key: &ThreadKey) -> Log {
        Log::new(self.parts.store.clone(), key.clone())
    }

    pub(crate) fn holder(&self) -> &Holder {
        &self.parts.holder
    }

    /// The tip of a thread that has no log.
    pub(crate) fn new_tip(&self) -> Tip {
        Tip::new(Life::new(self.runtime().ids.id()), self.parts.store.is_chained())
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.parts.graph.0.runtime
    }

    pub(crate) fn active(&self) -> &Arc<ActiveRuns> {
        &self.parts.active
    }

    pub(crate) fn durability(&self) -> Durability {
        self.durability
    }

    pub(crate) fn ttl(&self) -> Option<Duration> {
        self.ttl
    }

    pub(crate) fn recents(&self) -> &ThreadCache<S> {
        &self.parts.recents
    }

    /// True if a run of this app may take `thread` over from `claim`.
    pub(crate) async fn is_dead(
        &self,
        thread: &ThreadKey,
        claim: &Claim,
    ) -> Result<bool, CheckpointError> {
        if claim.is_known_dead(&self.parts.holder) {
            return Ok(true);
        }
        let silent = self.store().silence(thread, claim.epoch).await?;
        let now = self.runtime().clock.monotonic();
        Ok(self.parts.leases.is_over(thread, claim, silent, now))
    }

    /// Releases the thread of a dead run, for a change between runs. The claim of a live run stays, and the change is
    /// refused.
    pub(crate) async fn release_dead(&self, log: &Log) -> Result<(), CheckpointError> {
        let head = log.store().head(log.thread()).await?;
        let Some((head, claim)) = head.as_ref().and_then(|head| Some((head, head.claim.as_ref()?)))
        else {
            return Ok(());
        };
        if !self.is_dead(log.thread(), claim).await? {
            return Ok(());
        }
        // Our own claim is that of a live run, if one is active.
        if let Some(_active) = self.active().enter_free(log.thread()).await {
            let runtime = self.runtime();
            log.release(head, AppendId(runtime.ids.id()), runtime.clock.now()).await?;
        }
        Ok(())
    }

    pub(crate) fn drain(&self) -> &Cancellation {
        &self.parts.drain
    }

    pub(crate) fn stop(&self) -> &Cancellation {
        &self.parts.stop
    }
}

impl<S: State, C> Clone for App<S, C> {
    fn clone(&self) -> Self {
        let Self { parts, durability, ttl, memory, observers } = self;
        let (parts, memory, observers) = (parts.clone(), memory.clone(), observers.clone());
        Self { parts, durability: *durability, ttl: *ttl, memory, observers }
    }
}

impl<S: State, C> fmt::Debug for App<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("graph", &self.parts.graph)
            .field("store", &self.parts.store)
            .finish_non_exhaustive()
    }
}
