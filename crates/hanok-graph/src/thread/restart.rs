//! Rewinds and forks: a thread continues from an earlier position, or another thread from its state.

use hanok_checkpoint::{AppendId, Life};
use hanok_core::{Position, ThreadKey};
use hanok_state::State;

use crate::{error::RunError, outcome::Doubted, thread::handle::Thread};

/// The result of a fork or a rewind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restarted {
    /// The position with which a fork begins; for a rewind, the position of its entry in the log.
    pub position: Position,
    /// The calls that must not be made twice and that the thread has made, or may have made, since the position of the
    /// restart, or in the super-step that is due there. The due tasks run anew and make these calls again, under other
    /// keys.
    pub repeats: Vec<Doubted>,
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// Begins the thread `to` with the state of this one at `at` (`None`: now), and none of its history. Due nodes are
    /// due in the fork, as tasks of its own, which make their calls again ([`Restarted::repeats`]). It has copies of the
    /// [items](crate::Context::items) that its state names.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let app = graph.checkpointer(InMemoryCheckpointer::new());
    /// # let key = ThreadKey::new(Tenant::default(), "t1")?;
    /// let thread = app.thread(key);
    /// thread.invoke(Count::update(), ()).await?;
    /// let other = ThreadKey::new(Tenant::default(), "t2")?;
    /// thread.fork(None, &other).await?;
    /// assert_eq!(app.thread(other).invoke(Count::update(), ()).await?.done()?.n, 2);
    /// assert_eq!(thread.state(None).await?.map(|state| state.n), Some(1));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Unfinished`] when a call is in doubt at that position
    /// ([`discarding_doubts`](Thread::discarding_doubts)); [`RunError::Checkpoint`] with
    /// [`CheckpointError::ThreadExists`](hanok_checkpoint::CheckpointError::ThreadExists) when `to` exists already, with
    /// [`CheckpointError::NoSuchPosition`](hanok_checkpoint::CheckpointError::NoSuchPosition) when `at` is not in the log.
    pub async fn fork(&self, at: Option<Position>, to: &ThreadKey) -> Result<Restarted, RunError> {
        let (log, runtime) = (self.log(), self.app.runtime());
        let opened = log.open(at).await.map_err(RunError::Checkpoint)?;
        let opened = self.existing(opened)?;
        self.refuse_doubts(&opened)?;
        let at = Some(opened.fold.position);
        let repeats = self.repeats(at).await?;
        let id = AppendId(runtime.ids.id());
        let fork = log.fork(at, to, id, runtime.clock.now());
        let position = self.app.forking(self.key(), &opened, to, Life::new(id.0), fork).await;
        Ok(Restarted { position: position.map_err(RunError::Checkpoint)?, repeats })
    }

    /// Rewinds the thread to `to`. Later entries stay in the log. Nodes that are due there run anew and make their calls
    /// again ([`Restarted::repeats`]).
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
    /// thread.invoke(Count::update().n(100), ()).await?;
    /// thread.rewind(before).await?;
    /// assert_eq!(thread.state(None).await?.map(|state| state.n), Some(1));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Conflict`] while a run owns the thread; [`RunError::Unfinished`] while a call is in doubt
    /// ([`discarding_doubts`](Thread::discarding_doubts)).
    pub async fn rewind(&self, to: Position) -> Result<Restarted, RunError> {
        let (log, runtime) = (self.log(), self.app.runtime());
        self.app.release_dead(&log).await?;
        let opened = log.open(None).await.map_err(RunError::Checkpoint)?;
        let opened = self.existing(opened)?;
        self.refuse_doubts(&opened)?;
        let repeats = match to <= opened.head.position {
            true => self.repeats(Some(to)).await?,
            false => Vec::new(),
        };
        let by = self.options.answerer.as_ref();
        let position = log.rewind(to, by, AppendId(runtime.ids.id()), runtime.clock.now()).await?;
        Ok(Restarted { position, repeats })
    }

    async fn repeats(&self, at: Option<Position>) -> Result<Vec<Doubted>, RunError> {
        let calls = self.log().calls_since(at).await.map_err(RunError::Checkpoint)?;
        Ok(calls.iter().map(Doubted::of).collect())
    }
}
