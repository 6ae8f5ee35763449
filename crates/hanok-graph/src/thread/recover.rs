//! Maintenance of all threads of a store: recovery, expiry and pruning.

use futures_util::{StreamExt, stream::FuturesUnordered};
use hanok_checkpoint::{
    CheckpointError, Checkpointer, Claim, Keep, REQUESTS, STATUS, Status, ThreadInfo, Which,
};
use hanok_core::{Position, Tenant, ThreadKey};
use hanok_state::State;

use crate::{error::RunError, outcome::Outcome, thread::app::App};

/// The number of threads that are resumed at once.
const AT_ONCE: usize = 8;

/// The threads that were pruned, each with the position up to which it was cut, or the error.
pub type Pruned = Vec<(ThreadKey, Result<Position, CheckpointError>)>;

/// The threads that were recovered, each with the outcome of its run.
pub type Recovered<S> = Vec<(ThreadKey, Result<Outcome<S>, RunError>)>;

impl<S: State, C: std::marker::Send + Sync + 'static> App<S, C> {
    /// The threads of the store, of every tenant, whose run was lost: their claim is dead. [`recover`](App::recover)
    /// finishes their turns, or the next run of each does.
    ///
    /// The claim of a holder on another host, which cannot be looked at, is dead without a sign of life for
    /// [`LEASE`](hanok_checkpoint::LEASE). A store with a shared clock (PostgreSQL) knows that at once. With any other
    /// store this process has to watch the claim for that long, so call again after it. A thread whose row is damaged, so
    /// that its owner is unknown, counts as abandoned.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let app = graph.checkpointer(InMemoryCheckpointer::new());
    /// # let key = ThreadKey::new(Tenant::default(), "t1")?;
    /// app.thread(key).invoke(Count::update(), ()).await?;
    /// assert!(app.abandoned().await?.is_empty());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the store fails.
    pub async fn abandoned(&self) -> Result<Vec<ThreadKey>, CheckpointError> {
        let mut abandoned = Vec::new();
        for info in self.store().all_threads(&Which::Claimed).await? {
            let claim = info.head.claim.as_ref();
            if info.damage.is_some() || self.has_lost(&info.thread, claim).await? {
                abandoned.push(info.thread);
            }
        }
        Ok(abandoned)
    }

    /// Checks whether the run that owns `thread` is lost, as that of an [abandoned](App::abandoned) thread is. False for a thread
    /// that nobody owns.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::ThreadKey, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// let (app, key) = (graph.checkpointer(InMemoryCheckpointer::new()), ThreadKey::named("t1")?);
    /// if app.is_lost(&key).await? {
    ///     app.thread(key).resume(()).await?;
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the store fails.
    pub async fn is_lost(&self, thread: &ThreadKey) -> Result<bool, CheckpointError> {
        let head = self.store().head(thread).await?;
        self.has_lost(thread, head.as_ref().and_then(|head| head.claim.as_ref())).await
    }

    /// True if the run of this claim is lost.
    async fn has_lost(
        &self,
        thread: &ThreadKey,
        claim: Option<&Claim>,
    ) -> Result<bool, CheckpointError> {
        match claim {
            Some(claim) if !self.active().is_running(thread) => self.is_dead(thread, claim).await,
            _ => Ok(false),
        }
    }

    /// Finishes the turns of the [abandoned](App::abandoned) threads, a few at once, each with the services that
    /// `services` returns for it. A thread without services is left alone. Any number of processes may recover at once: a
    /// thread that another one took first is not in the result.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let app = graph.checkpointer(InMemoryCheckpointer::new());
    /// # let key = ThreadKey::new(Tenant::default(), "t1")?;
    /// for (thread, outcome) in app.recover(|_: &ThreadKey| Some(())).await? {
    ///     println!("{thread}: {:?}", outcome?);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the store cannot list the threads. The result has the outcome of each run.
    pub async fn recover(
        &self,
        services: impl Fn(&ThreadKey) -> Option<C>,
    ) -> Result<Recovered<S>, CheckpointError> {
        Ok(self.resume_each(self.abandoned().await?, services).await)
    }

    /// Resumes `threads`, a few at once, so that one that takes long holds up no other. One without services is left alone, and one
    /// that another process took first is not in the result.
    pub(super) async fn resume_each(
        &self,
        threads: Vec<ThreadKey>,
        services: impl Fn(&ThreadKey) -> Option<C>,
    ) -> Recovered<S> {
        let (mut running, mut resumed) = (FuturesUnordered::new(), Vec::new());
        let mut due = threads.into_iter().enumerate();
        loop {
            while running.len() < AT_ONCE
                && let Some((place, thread)) = due.next()
            {
                let Some(services) = services(&thread) else { continue };
                let run = self.thread(thread.clone());
                running.push(async move { (place, thread, run.resume(services).await) });
            }
            match running.next().await {
                Some((_, _, Err(RunError::Conflict { .. }))) => {}
                Some(ended) => resumed.push(ended),
                None => break,
            }
        }
        resumed.sort_unstable_by_key(|(place, ..)| *place);
        resumed.into_iter().map(|(_, thread, outcome)| (thread, outcome)).collect()
    }

    /// Deletes the expired threads (see [`keep_for`](App::keep_for)) that no run owns and in which nobody waits, and their
    /// [items](crate::Context::items); returns their keys. A thread with an open request stays, and one with an answer that no run has
    /// taken.
    ///
    /// ```
    /// # use {std::time::Duration, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let app = graph.checkpointer(InMemoryCheckpointer::new());
    /// # let key = ThreadKey::new(Tenant::default(), "t1")?;
    /// let app = app.keep_for(Duration::ZERO);
    /// app.thread(key.clone()).invoke(Count::update(), ()).await?;
    /// assert_eq!(app.sweep().await?, [key]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the store fails. A thread that was used meanwhile stays.
    pub async fn sweep(&self) -> Result<Vec<ThreadKey>, CheckpointError> {
        let mut swept = Vec::new();
        let expired = self.store().all_threads(&Which::Expired(self.runtime().clock.now())).await?;
        // What cannot be read says nothing about when it was used.
        for info in expired.into_iter().filter(|info| info.damage.is_none() && !is_awaited(info)) {
            match self.store().delete(&info.thread, Some(&info.head)).await {
                Ok(true) => {
                    self.forget_removed(&info.thread).await?;
                    swept.push(info.thread);
                }
                Ok(false)
                | Err(CheckpointError::Conflict { .. } | CheckpointError::OtherLife { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(swept)
    }

    /// Prunes every thread of `tenant`: cuts off the entries before the checkpoints that `keep` names (see
    /// [`Log::prune`](hanok_checkpoint::Log::prune)). Returns the threads that were cut, each with the position up to
    /// which it was.
    ///
    /// ```
    /// # use {hanok_checkpoint::Keep, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let app = graph.checkpointer(InMemoryCheckpointer::new());
    /// # let key = ThreadKey::new(Tenant::default(), "t1")?;
    /// let thread = app.thread(key);
    /// thread.invoke(Count::update(), ()).await?;
    /// thread.invoke(Count::update(), ()).await?;
    /// assert_eq!(app.prune(&Tenant::default(), Keep::Newest).await?.len(), 1);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the store cannot list the threads. The result has the error of each thread that could not
    /// be cut.
    pub async fn prune(&self, tenant: &Tenant, keep: Keep) -> Result<Pruned, CheckpointError> {
        let mut pruned = Vec::new();
        for info in self.store().all_threads(&Which::Of(tenant.clone())).await? {
            let log = self.log(&info.thread);
            if let Some(cut) = log.prune(keep).await.transpose() {
                pruned.push((info.thread, cut));
            }
        }
        Ok(pruned)
    }
}

/// Checks whether somebody waits in a thread: a person's answer is missing, or has not been taken.
fn is_awaited(info: &ThreadInfo) -> bool {
    let is_due = info.labels.get(STATUS).is_some_and(|status| status == Status::Due.as_str());
    is_due || info.labels.contains_key(REQUESTS)
}
