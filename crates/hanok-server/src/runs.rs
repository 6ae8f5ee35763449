//! The runs of a server, without its ways in.

use std::{sync::Arc, time::Duration};

use hanok_checkpoint::{Place, SharedStore};
use hanok_core::{Clock, RunId, ThreadKey};
use hanok_graph::{AnyApp, Runtime};
use serde_json::Value;

use crate::{
    dispatch::{
        apps::{Apps, Asks},
        dispatcher::Dispatcher,
    },
    error::ServeError,
    rows::{
        accept::{Multitask, Order},
        book::Rows,
        keys,
        request::Request,
        run::{RunRow, RunStatus, Stop},
    },
};

/// Runs of graphs that are accepted, wait in the queues of their threads, and end, over crashes and in any number of processes.
///
/// A run that [`post`](Runs::post) has accepted is a row in the store, and ends exactly once: whoever takes it up begins it by its id,
/// and what a dead process leaves is gone on with by another. Processes on one store share the work and need to know nothing of each
/// other.
///
/// ```
/// # use {hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, SharedStore}, hanok_core::ThreadKey, hanok_graph::*, std::sync::Arc};
/// use hanok_server::{Post, Request, RunStatus, Runs};
/// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
/// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
///
/// let app = graph.checkpointer(InMemoryCheckpointer::new());
/// let runs = Runs::start(SharedStore::new(InMemoryStore::new()), [Arc::new(app.any(|_caller| Ok(()))) as _]);
///
/// let request = Request::new("count", serde_json::json!({"new": {"n": 6}}));
/// let posted = runs.post(Post::new(ThreadKey::named("t1")?, request)).await?;
/// let row = runs.ended(&posted.row.thread, posted.row.run).await?;
/// assert_eq!(row.status, RunStatus::Success);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Runs {
    dispatcher: Dispatcher,
    /// Ends the loop with the last handle.
    _loop: Arc<Looping>,
}

#[derive(Debug)]
struct Looping(Dispatcher);

impl Drop for Looping {
    fn drop(&mut self) {
        self.0.stop_taking();
    }
}

/// A request for a run.
#[derive(Debug, Clone)]
pub struct Post {
    /// The thread.
    pub thread: ThreadKey,
    /// What is to be done.
    pub request: Request,
    /// What becomes of the run if the thread has one already.
    pub multitask: Multitask,
    /// The key by which a request is known that is made again, within a day.
    pub idempotency_key: Option<String>,
}

impl Post {
    /// A request for a run of `thread`, which waits for its turn.
    pub fn new(thread: ThreadKey, request: Request) -> Self {
        let (multitask, idempotency_key) = Default::default();
        Self { thread, request, multitask, idempotency_key }
    }
}

/// A run that was accepted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Posted {
    /// The run.
    pub row: RunRow,
    /// True if it had been accepted before, under the same idempotency key.
    pub again: bool,
}

impl Runs {
    /// Starts to take up runs of `apps`, whose rows are in `store`.
    pub fn start(store: SharedStore, apps: impl IntoIterator<Item = Arc<dyn AnyApp>>) -> Self {
        Self::start_on(store, apps, Runtime::default())
    }

    /// As [`start`](Runs::start), on other sources of time, ids and tasks.
    pub fn start_on(
        store: SharedStore,
        apps: impl IntoIterator<Item = Arc<dyn AnyApp>>,
        runtime: Runtime,
    ) -> Self {
        let apps = apps.into_iter().map(|app| (app.name().to_owned(), app));
        Self::start_apps(store, Apps::new(apps, Asks::new()), runtime)
    }

    /// As [`start_on`](Runs::start_on), each graph under a name of its own.
    pub(crate) fn start_apps(store: SharedStore, apps: Apps, runtime: Runtime) -> Self {
        // The rows are sealed as the logs are.
        let codec = apps.0.values().next().map(|app| app.store().codec().clone());
        let rows = Rows::new(store, codec.unwrap_or_default(), runtime.clone());
        let dispatcher = Dispatcher::new(rows, apps, runtime);
        dispatcher.start();
        Self { _loop: Arc::new(Looping(dispatcher.clone())), dispatcher }
    }

    /// Accepts a run. When this returns it is stored, and ends. After an error it may have been stored: a request with an
    /// idempotency key is made again without harm.
    ///
    /// # Errors
    ///
    /// [`ServeError::NoSuchGraph`]; [`ServeError::Busy`] for [`Multitask::Reject`]; [`ServeError::ThreadFull`] and
    /// [`ServeError::TenantFull`]; [`ServeError::OtherRequest`] for an idempotency key of another request; others as the store fails.
    pub async fn post(&self, post: Post) -> Result<Posted, ServeError> {
        let Post { thread, request, multitask, idempotency_key } = post;
        let once = match idempotency_key {
            Some(key) => {
                let body = serde_json::to_vec(&request).map_err(ServeError::Input)?;
                let texting = serde_json::to_vec(&multitask).map_err(ServeError::Input)?;
                Some((key, keys::digest([thread.thread().as_bytes(), &body, &texting])))
            }
            None => None,
        };
        let run = self.dispatcher.new_run();
        let accepted =
            self.dispatcher.accept(Order { thread, run, request, multitask, once }).await?;
        Ok(Posted { row: accepted.row, again: accepted.again })
    }

    /// The run.
    ///
    /// # Errors
    ///
    /// [`ServeError::NoSuchRun`]; others as the store fails.
    pub async fn run(&self, thread: &ThreadKey, run: RunId) -> Result<RunRow, ServeError> {
        let held = self.dispatcher.rows().run(thread, run).await?;
        held.map(|held| held.row).ok_or(ServeError::NoSuchRun(run))
    }

    /// A page of the runs of `thread`, the newest first, and where the next one begins.
    ///
    /// # Errors
    ///
    /// As the store fails.
    pub async fn list(
        &self,
        thread: &ThreadKey,
        after: Option<Place>,
        limit: usize,
    ) -> Result<(Vec<RunRow>, Option<Place>), ServeError> {
        self.dispatcher.rows().runs(thread, after, limit).await
    }

    /// Waits until a run has ended.
    ///
    /// # Errors
    ///
    /// As [`run`](Runs::run).
    pub async fn ended(&self, thread: &ThreadKey, run: RunId) -> Result<RunRow, ServeError> {
        loop {
            let ending = self.dispatcher.ending(run);
            let row = self.run(thread, run).await?;
            if row.status.is_over() {
                return Ok(row);
            }
            ending.await;
        }
    }

    /// Stops a run: one that waits has ended then, one that is under way ends soon.
    ///
    /// # Errors
    ///
    /// As [`run`](Runs::run).
    pub async fn stop(
        &self,
        thread: &ThreadKey,
        run: RunId,
        stop: Stop,
    ) -> Result<RunRow, ServeError> {
        Ok(self.dispatcher.stop(thread, run, stop).await?.row)
    }

    /// Stops all runs of `thread` that are not over, and waits until they have ended.
    pub(crate) async fn stop_all(&self, thread: &ThreadKey) -> Result<(), ServeError> {
        let queue = self.rows().queue(thread).await?.queue;
        let runs = || queue.pending.iter().rev().chain(&queue.running);
        // Those that wait first, so that none of them begins meanwhile.
        for run in runs() {
            self.stop(thread, *run, Stop::Interrupt).await?;
        }
        for run in runs() {
            self.ended(thread, *run).await?;
        }
        Ok(())
    }

    /// Takes up nothing more, lets what is under way finish its super-steps for `grace`, and gives it back to whoever takes it up
    /// next. The number of threads whose runs were not given back in time; others find out after a lease.
    pub async fn shutdown(&self, grace: Duration) -> usize {
        self.dispatcher.shutdown(grace).await
    }

    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.dispatcher.runtime().clock)
    }

    pub(crate) fn apps(&self) -> &Apps {
        self.dispatcher.apps()
    }

    pub(crate) fn rows(&self) -> &Rows {
        self.dispatcher.rows()
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        self.dispatcher.runtime()
    }
}

impl RunStatus {
    /// The status of this name.
    pub fn named(name: &str) -> Option<Self> {
        serde_json::from_value(Value::from(name)).ok()
    }
}
