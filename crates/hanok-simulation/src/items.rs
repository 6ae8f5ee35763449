//! The store of items as one process sees it, with all that goes wrong.

use std::{fmt, sync::Arc};

use hanok_checkpoint::{
    Batch, Batched, Namespaces, Page, Search, SharedStore, Store, StoreError, Write,
};
use hanok_core::{Labels, Timestamp};

use crate::{
    core::{Core, WorldState},
    faults::Fault,
    numbers::Process,
    store_calls::StoreCalls,
};

type Answer<T> = Result<T, StoreError>;

/// The store of items of one process. A machine that dies forgets that a search had items live on.
pub(crate) struct Items {
    calls: StoreCalls,
    beneath: SharedStore,
}

impl Items {
    pub(crate) fn new(core: &Arc<Core>, process: Process) -> Self {
        let beneath = core.inner().disk.items();
        Self { calls: StoreCalls::new(core, process), beneath }
    }
}

impl fmt::Debug for Items {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Items").field(&self.calls.process).finish()
    }
}

impl Store for Items {
    async fn batch(&self, batch: Batch, now: Timestamp) -> Answer<Batched> {
        if batch.writes.is_empty() {
            self.calls.call("items", &Fault::OF_CALLS).await?;
            return self.calls.core.inner().disk.batch(batch, now);
        }
        let process = self.calls.process;
        let store = |world: &mut WorldState| {
            let words = summary(&batch);
            let stored = world.disk.batch(batch, now);
            let what = if stored.is_ok() { "batch" } else { "batch refused" };
            world.note(what, [u64::from(process), 0, 0], || match &stored {
                Ok(_) => words,
                Err(error) => format!("{words}: {error}"),
            });
            stored
        };
        self.calls.write(store).await
    }

    async fn search(&self, search: &Search, now: Timestamp) -> Answer<Page> {
        self.calls.call("search", &Fault::OF_CALLS).await?;
        self.beneath.search(search, now).await
    }

    async fn namespaces(&self, query: &Namespaces, now: Timestamp) -> Answer<Vec<Labels>> {
        self.calls.call("namespaces", &Fault::OF_CALLS).await?;
        self.beneath.namespaces(query, now).await
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Answer<usize> {
        self.calls.call("sweep", &Fault::OF_CALLS).await?;
        self.calls.core.inner().disk.sweep(now, limit)
    }
}

/// The writes of a batch, for people.
fn summary(batch: &Batch) -> String {
    let words = batch.writes.iter().map(|write| match write {
        Write::Put(key, _) => format!("put `{key}`"),
        Write::Remove(key, _) => format!("remove `{key}`"),
    });
    words.collect::<Vec<_>>().join(", ")
}
