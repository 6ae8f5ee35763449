//! Waking threads that nobody answered in time.

use hanok_checkpoint::{CheckpointError, GRAPH, Which};
use hanok_core::{ThreadKey, Timestamp};
use hanok_state::State;

use crate::thread::{app::App, recover::Recovered};

impl<S: State, C: Send + Sync + 'static> App<S, C> {
    /// Resumes the threads of this graph, of every tenant, with a request whose deadline has passed at `now`: each node that asked is
    /// given [`AskError::Expired`](hanok_core::AskError::Expired), and goes on without an answer. Each is resumed with the services
    /// that `services` returns for it; a thread without services is left alone. There is no other timer: call it as often as a late
    /// thread matters. Any number of processes may do so at once: a thread that another one took first is not in the result.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{AskError, ThreadKey}, hanok_graph::*, hanok_state::State, std::time::Duration};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// async fn ask(_: Snapshot<Count>, cx: Context) -> Result<CountUpdate, AskError> {
    ///     // As long as a person may take; here no time at all.
    ///     let deadline = cx.now().plus(Duration::ZERO);
    ///     match cx.interrupt_until("how many?", deadline).await {
    ///         Err(AskError::Expired(_)) => Ok(Count::update().n(1)),
    ///         answer => Ok(Count::update().n(answer?)),
    ///     }
    /// }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("ask", ask).edge(START, "ask").edge("ask", END).build()?;
    /// let app = graph.checkpointer(InMemoryCheckpointer::new());
    /// app.thread(ThreadKey::named("t1")?).invoke(Count::update(), ()).await?;
    /// let (_, outcome) = app.wake(app.now(), |_| Some(())).await?.remove(0);
    /// assert_eq!(outcome?.done()?.n, 1);
    /// assert!(app.wake(app.now(), |_| Some(())).await?.is_empty());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError`] when the store cannot list the threads. The result has the outcome of each run.
    pub async fn wake(
        &self,
        now: Timestamp,
        services: impl Fn(&ThreadKey) -> Option<C>,
    ) -> Result<Recovered<S>, CheckpointError> {
        let graph = &self.graph().0;
        let mut late = self.store().all_threads(&Which::Waiting(now)).await?;
        late.retain(|info| {
            let is_other = info.labels.get(GRAPH).is_some_and(|name| !graph.is_called(name));
            info.damage.is_none() && !is_other
        });
        let late = late.into_iter().map(|info| info.thread).collect();
        Ok(self.resume_each(late, services).await)
    }

    /// The time now, as the app's clock says.
    pub fn now(&self) -> Timestamp {
        self.runtime().clock.now()
    }
}
