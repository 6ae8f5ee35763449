//! Taking something out of a thread for good.

use hanok_checkpoint::{AppendId, Forks, OpenLog};
use hanok_core::{Namespace, Position, ThreadKey};
use hanok_state::State;

use crate::{RunError, Thread, migration::migrated};

/// What became of an erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// Where the log says that it happened.
    pub position: Position,
    /// The forks of the thread, and theirs, which held what was erased: they were removed or stay, as was asked.
    pub forks: Vec<ThreadKey>,
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// Takes what `update` removes (messages, keys, a value) out of the thread for good, between runs: the fields' reducers
    /// merge the update, the state that results is written whole, and all that led to it is cut off. The log then says that
    /// something was erased, and `by` whom, not what.
    ///
    /// What is due stays due, but what was pending of it goes: tasks run again, under the same keys, and questions are asked
    /// again. Calls of subgraphs begin anew; the state of a subgraph that outlives its calls stays as it is, and so do inputs
    /// that tasks were sent: look at them by [`views`](Thread::views). Items for others that are on their way stay until
    /// their consumers are done with them.
    ///
    /// Forks hold what they began with: with [`Forks::Too`] they are removed, and their forks; with [`Forks::Keep`] they are
    /// listed. Copies and exports are not known.
    ///
    /// # Errors
    ///
    /// [`RunError::Conflict`] while a run owns the thread, or when someone else wrote first; [`RunError::Unfinished`] while
    /// nobody knows whether a call was made; [`RunError::Reduce`] when the update cannot be merged;
    /// [`RunError::NoSuchThread`]. Then nothing was erased, except that forks may have been removed.
    pub async fn erase(
        &self,
        update: S::Update,
        by: &str,
        forks: Forks,
    ) -> Result<Erasure, RunError> {
        let (log, root) = (self.log(), Namespace::root());
        self.app.release_dead(&log).await?;
        let opened = log.open(None).await.map_err(RunError::Checkpoint)?;
        let no_such = || RunError::NoSuchThread(self.key().clone());
        let opened = opened.ok_or_else(no_such)?;
        if let Some(claim) = &opened.head.claim {
            let holder = Some(Box::new(claim.holder.clone()));
            return Err(RunError::Conflict { thread: self.key().clone(), holder });
        }
        self.refuse_doubts(&opened)?;
        let OpenLog { head, mut fold, .. } = opened;
        let initial = &*self.app.graph().0.initial;
        let run = fold.runs.remove(&root).ok_or_else(no_such)?;
        let mut progress = migrated(initial, &root, run.clone(), &mut fold.runs)?.progress;
        self.merge(&mut progress, (&root, head.position), "erase".into(), update)?;
        let fields = progress.fields().map_err(crate::progress::state_error)?;
        let schema = progress.schema;
        fold.runs.insert(root, hanok_checkpoint::RunFold { fields, schema, ..run });
        // While the thread is there its forks can be found, so they go first.
        let forks = match forks {
            Forks::Too => log.erase_forks().await,
            Forks::Keep => log.forks().await,
        };
        let forks = forks.map_err(RunError::Checkpoint)?;
        let (id, now) = (AppendId(self.app.runtime().ids.id()), self.app.runtime().clock.now());
        let position = log.rewrite(&head, fold, by, id, now).await?;
        Ok(Erasure { position, forks })
    }
}
