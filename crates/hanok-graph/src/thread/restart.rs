//! Going on from elsewhere: back in the thread, or in a thread of its own.

use hanok_checkpoint::AppendId;
use hanok_core::{Position, ThreadKey};
use hanok_state::State;

use crate::{error::RunError, outcome::Doubted, thread::handle::Thread};

/// What became of a fork or a rewind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restarted {
    /// Of a fork, the position that it begins with; of a rewind, where the log says that it happened.
    pub position: Position,
    /// The calls that must not be made twice and that the thread has made, or may have made, since the position that is gone
    /// on from, or in the super-step that is due there. What is due runs anew there: it makes them again, under other keys.
    pub repeats: Vec<Doubted>,
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// Begins the thread `to` with the state of this one at `at` (`None`: now), and none of its history. What is due there is
    /// due in the fork, as tasks of its own: they make their calls again ([`Restarted::repeats`]).
    ///
    /// # Errors
    ///
    /// [`RunError::Unfinished`] when at that position nobody knows whether a call was made
    /// ([`discarding_doubts`](Thread::discarding_doubts)); [`RunError::Checkpoint`] with
    /// [`CheckpointError::Conflict`](hanok_checkpoint::CheckpointError::Conflict) when `to` exists already.
    pub async fn fork(&self, at: Option<Position>, to: &ThreadKey) -> Result<Restarted, RunError> {
        let (log, runtime) = (self.log(), self.app.runtime());
        let opened = log.open(at).await.map_err(RunError::Checkpoint)?;
        let opened = opened.ok_or_else(|| RunError::NoSuchThread(self.key().clone()))?;
        self.refuse_doubts(&opened)?;
        let at = Some(opened.fold.position);
        let repeats = self.repeats(at).await?;
        let position = log.fork(at, to, AppendId(runtime.ids.id()), runtime.clock.now()).await;
        Ok(Restarted { position: position.map_err(RunError::Checkpoint)?, repeats })
    }

    /// Makes the thread go on from `to`; what came after stays in the log. What is due there runs anew: it makes its calls
    /// again ([`Restarted::repeats`]).
    ///
    /// # Errors
    ///
    /// [`RunError::Conflict`] while a run owns the thread; [`RunError::Unfinished`] while nobody knows whether a call was made
    /// ([`discarding_doubts`](Thread::discarding_doubts)).
    pub async fn rewind(&self, to: Position) -> Result<Restarted, RunError> {
        let (log, runtime) = (self.log(), self.app.runtime());
        self.app.release_dead(&log).await?;
        let opened = log.open(None).await.map_err(RunError::Checkpoint)?;
        let opened = opened.ok_or_else(|| RunError::NoSuchThread(self.key().clone()))?;
        self.refuse_doubts(&opened)?;
        let repeats = match to <= opened.head.position {
            true => self.repeats(Some(to)).await?,
            false => Vec::new(),
        };
        let position = log.rewind(to, AppendId(runtime.ids.id()), runtime.clock.now()).await?;
        Ok(Restarted { position, repeats })
    }

    async fn repeats(&self, at: Option<Position>) -> Result<Vec<Doubted>, RunError> {
        let calls = self.log().calls_since(at).await.map_err(RunError::Checkpoint)?;
        Ok(calls.iter().map(Doubted::of).collect())
    }
}
