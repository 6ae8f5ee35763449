//! Taking back a run: its thread goes to where it was before.

use hanok_checkpoint::{AppendId, CheckpointError, Checkpointer};
use hanok_core::{Position, RunId};
use hanok_state::State;

use crate::{
    error::RunError,
    thread::{find_run::find_run, handle::Thread},
};

/// The number of times that a thread which moves meanwhile is tried.
const ATTEMPTS: usize = 100;

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// Takes back the newest turn, if it is that of `run`, which began after `since`: the thread goes to where it was at `since`. A
    /// thread that began with the run is deleted. Returns false when there is nothing to take back: the run has not begun, or the
    /// thread has gone on or back since. However often it is called, and however late, no other turn is taken back.
    ///
    /// ```
    /// # use {hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Position, RunId, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Count { n: u32 }
    /// # async fn add(state: Snapshot<Count>, _: Context) -> Result<CountUpdate, std::io::Error> { Ok(Count::update().n(state.n + 1)) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Count>::builder("count").node("add", add).edge(START, "add").edge("add", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t1")?);
    /// thread.invoke(Count::update(), ()).await?;
    /// let (run, since) = (RunId(7), thread.history(None, 1).await?[0].position);
    /// thread.clone().run_id(run, since).invoke(Count::update().n(100), ()).await?;
    /// assert!(thread.roll_back(run, since).await?);
    /// assert_eq!(thread.state(None).await?.map(|state| state.n), Some(1));
    /// assert!(!thread.roll_back(run, since).await?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Conflict`] while a run owns the thread; [`RunError::Unfinished`] while a call is in doubt
    /// ([`discarding_doubts`](Thread::discarding_doubts)); [`RunError::Checkpoint`] when the log cannot be read or written.
    pub async fn roll_back(&self, run: RunId, since: Position) -> Result<bool, RunError> {
        for _ in 0..ATTEMPTS {
            match self.try_roll_back(run, since).await {
                Err(RunError::Checkpoint(
                    CheckpointError::Conflict { .. } | CheckpointError::OtherLife { .. },
                )) => {}
                rolled => return rolled,
            }
        }
        Err(RunError::Conflict { thread: self.key().clone(), holder: None })
    }

    async fn try_roll_back(&self, run: RunId, since: Position) -> Result<bool, RunError> {
        let (log, runtime) = (self.log(), self.app.runtime());
        self.app.release_dead(&log).await?;
        let Some(opened) = log.open(None).await? else { return Ok(false) };
        if let Some(claim) = &opened.head.claim {
            return Err(RunError::conflict(self.key(), &claim.holder));
        }
        // What is appended behind the head that was read makes it a conflict.
        match find_run(&log, run, since).await? {
            Some(found) if found.is_newest => {}
            _ => return Ok(false),
        }
        self.refuse_doubts(&opened)?;
        if since == Position::START {
            drop(self.app.recents().take(self.key()));
            let deleted = log.store().delete(self.key(), Some(&opened.head)).await?;
            self.app.forget_removed(self.key()).await?;
            return Ok(deleted);
        }
        let (by, now) = (self.options.answerer.as_ref(), runtime.clock.now());
        log.rewind_at(&opened.head, since, by, AppendId(runtime.ids.id()), now).await?;
        Ok(true)
    }
}
