//! Taking something out of a thread for good.

mod pending;
mod words;

use std::collections::BTreeMap;

use hanok_checkpoint::{AppendId, Forks, OpenLog, RunFold};
use hanok_core::{Namespace, Position, ThreadKey};
use hanok_state::{State, StateUpdate};

use crate::{
    error::RunError,
    run::{rebase::migrated, run_state::RunState},
    thread::handle::Thread,
};

use words::Words;

/// What became of an erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// Where the log says that it happened.
    pub position: Position,
    /// The forks of the thread, and theirs, which held what was erased: they were removed or stay, as was asked.
    pub forks: Vec<ThreadKey>,
    /// The graphs whose stored state, or what their tasks were sent, still holds a word of what was erased. Look at them by
    /// [`views`](Thread::views).
    pub remains: Vec<Namespace>,
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// Takes what `update` removes (messages, keys, a value) out of the thread for good, between runs: the fields' reducers
    /// merge the update, the state that results is written whole, and all that led to it is cut off. The log then says that
    /// something was erased, and `by` whom, not what.
    ///
    /// What is due stays due, and what is pending of it stays, so that nothing is paid for twice: what tasks wrote, the results
    /// of their steps and calls, questions and answers. But none of it that holds a word (of three letters or more) which was
    /// in the state and is not any more: then a task runs again, a question is asked again, and a call that must not be made
    /// twice is in doubt, for its result is gone.
    ///
    /// Calls of subgraphs go on. One that shares the thread's state is written to as well; of the others the states stay as
    /// they are, and so do inputs that tasks were sent: [`Erasure::remains`] names them. Items for others that are on their way
    /// stay until their consumers are done with them.
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
        // What this process remembers of it goes as well.
        drop(self.app.recents().take(self.key()));
        let opened = log.open(None).await.map_err(RunError::Checkpoint)?;
        let no_such = || RunError::NoSuchThread(self.key().clone());
        let opened = opened.ok_or_else(no_such)?;
        if let Some(claim) = &opened.head.claim {
            let holder = Some(Box::new(claim.holder.clone()));
            return Err(RunError::Conflict { thread: self.key().clone(), holder });
        }
        self.refuse_doubts(&opened)?;
        let OpenLog { head, mut fold, .. } = opened;
        let run = fold.runs.remove(&root).ok_or_else(no_such)?;
        let before = Words::of_state(&run.fields);
        let run = self.without(&root, head.position, run, &mut fold.runs, &update)?;
        let gone = before.without(&Words::of_state(&run.fields));
        fold.runs.insert(root.clone(), run);
        let shared: Vec<_> =
            fold.runs.keys().filter(|path| shares(&fold.runs, path)).cloned().collect();
        for path in shared {
            if let Some(run) = fold.runs.remove(&path) {
                let run = self.without(&path, head.position, run, &mut fold.runs, &update)?;
                fold.runs.insert(path, run);
            }
        }
        let meant = pending::meant(&log, &fold, &gone).await.map_err(RunError::Checkpoint)?;
        let mut left = Vec::new();
        for (path, run) in &mut fold.runs {
            pending::forget(run, &gone, &meant);
            let sent = run.frontier.due.iter().filter_map(|due| due.input.as_ref());
            let holds = gone.are_in_state(&run.fields) || sent.into_iter().any(|i| gone.are_in(i));
            if holds || run.added.iter().any(|added| gone.are_in_changes(added)) {
                left.push(path.clone());
            }
        }
        // While the thread is there its forks can be found, so they go first.
        let forks = match forks {
            Forks::Too => log.erase_forks().await,
            Forks::Keep => log.forks().await,
        };
        let forks = forks.map_err(RunError::Checkpoint)?;
        let (id, now) = (AppendId(self.app.runtime().ids.id()), self.app.runtime().clock.now());
        let position = log.rewrite(&head, fold, by, id, now).await?;
        Ok(Erasure { position, forks, remains: left })
    }

    /// A graph's part of the thread with `update` written to its state, and in this build's schema.
    fn without(
        &self,
        path: &Namespace,
        at: Position,
        run: RunFold,
        below: &mut BTreeMap<Namespace, RunFold>,
        update: &S::Update,
    ) -> Result<RunFold, RunError> {
        let initial = &*self.app.graph().0.initial;
        let mut progress = migrated(initial, path, run.clone(), below)?.progress;
        self.merge(&mut progress, path, at, "erase".into(), S::Update::clone(update))?;
        let fields = progress.fields().map_err(crate::error::state_error)?;
        let RunState { schema, records, added, .. } = progress;
        let added = added.map(|added| added.to_changes()).transpose();
        let added = added.map_err(crate::error::state_error)?;
        // In this build's schema, as the state is.
        let added = added.into_iter().filter(|added| !added.is_empty()).collect();
        Ok(RunFold { fields, schema, records, added, ..run })
    }
}

/// Whether the graph at `path`, one of `runs`, has begun with the thread's own state, by way of others that have.
fn shares(runs: &BTreeMap<Namespace, RunFold>, path: &Namespace) -> bool {
    let around = std::iter::successors(Some(path.clone()), Namespace::parent);
    let mut around = around.take_while(|path| !path.is_root()).peekable();
    around.peek().is_some() && around.all(|path| runs.get(&path).is_some_and(|run| run.shared))
}
