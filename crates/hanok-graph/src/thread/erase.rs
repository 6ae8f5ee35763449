//! Erasure: something is removed from a thread for good.

mod pending;
pub(super) mod words;

use std::collections::BTreeMap;

use hanok_checkpoint::{
    AppendId, CheckpointError, Claim, Forks, Head, Log, OpenLog, RunFold, ThreadFold, ThreadLife,
};
use hanok_core::{Namespace, Position, RunId, ThreadKey, Timestamp};
use hanok_state::{State, StateUpdate};

use crate::{
    error::RunError,
    run::{
        merge_edit::{EditPlace, merge_edit},
        rebase::{LogPlace, migrated},
        run_state::RunState,
    },
    thread::handle::Thread,
};

use words::Words;

/// The result of an erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    /// The position of the erasure's entry in the log.
    pub position: Position,
    /// The forks of the thread, and theirs, which held the erased values. They were removed or stay, as requested.
    pub forks: Vec<ThreadKey>,
    /// The graphs whose stored state, or the inputs of whose tasks, still hold a word of the erased values. Look at them
    /// by [`views`](Thread::views).
    pub remains: Vec<Namespace>,
}

impl<S: State, C: Send + Sync + 'static> Thread<S, C> {
    /// Erases for good the values that `update` removes (messages, keys, a value), between runs. The fields' reducers
    /// merge the update, the resulting state is written whole, and all earlier entries are cut off. The log then has an
    /// entry of the erasure and its author `by`, without the erased values.
    ///
    /// Due nodes stay due, and pending records stay, so that nothing is paid for twice: updates of tasks, results of
    /// their steps and calls, questions and answers. Records are dropped if they hold a word (of three letters or more)
    /// that was in the state and is not any more. Then the task runs again, the question is asked again, and a call that
    /// must not be made twice is in doubt, since its result is gone.
    ///
    /// Calls of subgraphs continue. The update is also merged into a subgraph that shares the thread's state. The states
    /// of other subgraphs stay as they are, and so do inputs of tasks: [`Erasure::remains`] names them. Items in the
    /// outbox stay until their consumers are done with them. [Items](crate::Context::items) of the thread go if they hold an erased word, or if
    /// nothing of the thread names them any more.
    ///
    /// Forks hold the state with which they began. With [`Forks::Too`] they are removed, and so are their forks; with
    /// [`Forks::Keep`] they are listed. Copies and exports are not known.
    ///
    /// ```
    /// # use {hanok_checkpoint::Forks, hanok_checkpoint::InMemoryCheckpointer, hanok_core::{Tenant, ThreadKey}, hanok_graph::*, hanok_state::State};
    /// # #[derive(State, Clone, Debug, Default)] struct Person { name: String }
    /// # async fn nothing(_: Snapshot<Person>, _: Context) -> Result<(), std::io::Error> { Ok(()) }
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let graph = Graph::<Person>::builder("p").node("nothing", nothing).edge(START, "nothing").edge("nothing", END).build()?;
    /// # let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::new(Tenant::default(), "t1")?);
    /// thread.invoke(Person::update().name("Gildong"), ()).await?;
    /// let erasure = thread.erase(Person::update().name(""), "the data officer", Forks::Too).await?;
    /// assert!(erasure.forks.is_empty() && erasure.remains.is_empty());
    /// assert_eq!(thread.state(None).await?.map(|state| state.name), Some(String::new()));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`RunError::Conflict`] while a run owns the thread, or when another writer was first; [`RunError::Unfinished`]
    /// while a call is in doubt; [`RunError::Reduce`] when the update cannot be merged; [`RunError::NoSuchThread`]. Then
    /// nothing was erased, except that forks and items may have been removed.
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
        let opened = self.existing(opened)?;
        if let Some(claim) = &opened.head.claim {
            return Err(RunError::conflict(self.key(), &claim.holder));
        }
        self.refuse_doubts(&opened)?;
        let OpenLog { head, mut fold, .. } = opened;
        let run = self.existing(fold.runs.remove(&root))?;
        let before = Words::of_state(&run.fields);
        let run = self.without(&root, &head, run, &mut fold.runs, &update)?;
        let gone = before.without(&Words::of_state(&run.fields));
        fold.runs.insert(root.clone(), run);
        let shared: Vec<_> =
            fold.runs.keys().filter(|path| shares(&fold.runs, path)).cloned().collect();
        for path in shared {
            if let Some(run) = fold.runs.remove(&path) {
                let run = self.without(&path, &head, run, &mut fold.runs, &update)?;
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
            Forks::Too => self.erase_forks(&log).await,
            Forks::Keep => log.forks().await,
        };
        let forks = forks.map_err(RunError::Checkpoint)?;
        let position = match self.app.has_items() {
            true => self.rewrite_with_items(&log, &head, fold, &gone, by).await?,
            false => log.rewrite(&head, fold, by, self.append_id(), self.now()).await?,
        };
        Ok(Erasure { position, forks, remains: left })
    }

    /// Rewrites the thread and removes its items that are `gone`, while it is taken: a run that begins meanwhile would lose what it has just
    /// stored, for nothing names that yet. The items go first. If this breaks off then, the words are in the log still, and another
    /// erasure finds them.
    async fn rewrite_with_items(
        &self,
        log: &Log,
        head: &Head,
        fold: ThreadFold,
        gone: &Words,
        by: &str,
    ) -> Result<Position, RunError> {
        // Our own claim is that of a dead run, unless one is active.
        let Some(_active) = self.app.active().enter_free(self.key()).await else {
            return Err(RunError::Conflict { thread: self.key().clone(), holder: None });
        };
        let (run, now) = (RunId(self.app.runtime().ids.id()), self.now());
        let holder = self.app.holder().clone();
        let claim = Claim { run, holder, epoch: head.epoch.next(now), beat: now };
        let held = log.claim(head, claim, self.append_id(), now).await?;
        let erased = async {
            self.app.erase_items(self.key(), head.life, &fold, gone).await?;
            log.rewrite_held(&held, fold, by, self.append_id(), self.now()).await
        };
        let erased = erased.await;
        if erased.is_err() {
            // What cannot be given back now is as that of a run that died.
            drop(log.release(&held, self.append_id(), self.now()).await);
        }
        Ok(erased?)
    }

    fn append_id(&self) -> AppendId {
        AppendId(self.app.runtime().ids.id())
    }

    fn now(&self) -> Timestamp {
        self.app.runtime().clock.now()
    }

    /// Removes the forks and their items; returns which.
    async fn erase_forks(&self, log: &Log) -> Result<Vec<ThreadKey>, CheckpointError> {
        let forks = log.erase_forks().await?;
        for fork in &forks {
            self.app.forget_items(fork).await?;
        }
        Ok(forks)
    }

    /// A graph's part of the thread with `update` merged into its state, in this build's schema.
    fn without(
        &self,
        path: &Namespace,
        head: &Head,
        run: RunFold,
        below: &mut BTreeMap<Namespace, RunFold>,
        update: &S::Update,
    ) -> Result<RunFold, RunError> {
        let initial = &*self.app.graph().0.initial;
        let place = LogPlace { thread: self.key(), path };
        if path.is_root() {
            self.app.graph().0.owns(place, &run)?;
        }
        let mut progress = migrated(initial, place, run.clone(), below)?.progress;
        let of = &ThreadLife { thread: self.key().clone(), life: head.life };
        let edit = EditPlace { of, path, at: head.position };
        merge_edit(&mut progress, &edit, &"erase".into(), S::Update::clone(update))?;
        let fields = progress.fields().map_err(crate::error::state_error)?;
        let RunState { schema, records, added, .. } = progress;
        let added = added.map(|added| added.to_changes()).transpose();
        let added = added.map_err(crate::error::state_error)?;
        // In this build's schema, as the state is.
        let added = added.into_iter().filter(|added| !added.is_empty()).collect();
        Ok(RunFold { fields, schema, records, added, ..run })
    }
}

/// True if the graph at `path`, one of `runs`, shares the thread's own state, directly or through graphs that do.
fn shares(runs: &BTreeMap<Namespace, RunFold>, path: &Namespace) -> bool {
    let around = std::iter::successors(Some(path.clone()), Namespace::parent);
    let mut around = around.take_while(|path| !path.is_root()).peekable();
    around.peek().is_some() && around.all(|path| runs.get(&path).is_some_and(|run| run.shared))
}
