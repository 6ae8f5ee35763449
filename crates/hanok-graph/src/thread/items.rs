//! What becomes of the items of a thread when it is removed, forked or erased.

use hanok_checkpoint::{CheckpointError, Life, OpenLog, RunFold, ThreadFold, ThreadItems};
use hanok_core::ThreadKey;
use hanok_state::State;

use super::{app::App, erase::words::Words};

impl<S: State, C: Send + Sync + 'static> App<S, C> {
    /// Removes the items of all lives of `thread`.
    pub(super) async fn forget_items(&self, thread: &ThreadKey) -> Result<(), CheckpointError> {
        let Some(memory) = &self.memory else { return Ok(()) };
        ThreadItems::forget(memory, thread, None, self.runtime().clock.now()).await
    }

    /// Removes the items of a thread that was removed. Those of one that was begun anew stay.
    pub(super) async fn forget_removed(&self, thread: &ThreadKey) -> Result<(), CheckpointError> {
        let Some(memory) = &self.memory else { return Ok(()) };
        let now = self.runtime().clock.now();
        ThreadItems::forget_removed(memory, &self.log(thread), now).await
    }

    /// True if threads have items: there is a store for them.
    pub(super) fn has_items(&self) -> bool {
        self.memory.is_some()
    }

    /// The items of this life of `thread`, if the app has a store for them.
    fn items(&self, thread: &ThreadKey, life: Life) -> Option<ThreadItems> {
        let memory = self.memory.as_deref()?.clone();
        Some(ThreadItems::new(memory, self.store().codec().clone(), thread.clone(), life))
    }

    /// Makes of `opened`, the thread `thread`, another one by `fork`, which begins with this life. It has the items that it
    /// names from its beginning on.
    pub(super) async fn forking<T>(
        &self,
        thread: &ThreadKey,
        opened: &OpenLog,
        to: &ThreadKey,
        life: Life,
        fork: impl Future<Output = Result<T, CheckpointError>>,
    ) -> Result<T, CheckpointError> {
        let items = self.items(thread, opened.head.life);
        let Some((items, copies)) = items.zip(self.items(to, life)) else { return fork.await };
        let (named, now) = (Named::by(&opened.fold), self.runtime().clock.now());
        items.copy_to_new(&copies, &|name| named.has(name), now, fork).await
    }

    /// Removes the items of the thread that `fold` does not name, and those that hold a word that is `gone`.
    pub(super) async fn erase_items(
        &self,
        thread: &ThreadKey,
        life: Life,
        fold: &ThreadFold,
        gone: &Words,
    ) -> Result<(), CheckpointError> {
        let Some(items) = self.items(thread, life) else { return Ok(()) };
        let (named, now) = (Named::by(fold), self.runtime().clock.now());
        items.retain(&|name, value| named.has(name) && !gone.are_in(value), now).await
    }
}

/// The names of items that stand in a thread: in its states, in what is due and in what is pending.
struct Named<'a> {
    states: Words,
    fold: &'a ThreadFold,
}

impl<'a> Named<'a> {
    fn by(fold: &'a ThreadFold) -> Self {
        let mut states = Words::default();
        for run in fold.runs.values() {
            states.add_state(&run.fields);
        }
        Self { states, fold }
    }

    fn has(&self, name: &str) -> bool {
        let name = Words::of_text(name);
        let is_pending = |run: &RunFold| {
            let mut sent = run.frontier.due.iter().filter_map(|due| due.input.as_ref());
            sent.any(|input| name.are_in(input))
                || run.added.iter().any(|added| name.are_in_changes(added))
                || run.records.memos.values().any(|memo| name.are_in(memo))
                || run.records.pending.values().any(|write| name.are_in_changes(&write.changes))
        };
        self.states.meet(&name) || self.fold.runs.values().any(is_pending)
    }
}
