//! The book of rows: reads and writes of items.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hanok_checkpoint::{
    Batch, CheckpointError, Codec, Expect, Index, Item, Place, Put, Read, Refresh, Safety, Search,
    SharedStore, Store as _, StoreError, Ttl, Version, Write,
};
use hanok_core::{ItemKey, RunId, Stored, StoredError, Tenant, ThreadKey, Timestamp};
use hanok_graph::Runtime;
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use super::{
    keys,
    queue::Queue,
    run::RunRow,
    thread::{ThreadRow, ThreadStatus},
};
use crate::error::ServeError;

/// How often a change is tried whose rows others change.
pub(super) const ATTEMPTS: usize = 100;

/// The queues that are read at a time.
const PAGE: usize = 500;

/// What is over: it expires at once.
const AT_ONCE: Ttl = Ttl::After(Duration::from_millis(1));

/// How long a run is kept that has ended.
const KEPT: Ttl = Ttl::After(Duration::from_hours(30 * 24));

/// The rows of runs and threads.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    pub(super) store: SharedStore,
    codec: Codec,
    pub(super) runtime: Runtime,
    loads: Arc<Mutex<BTreeMap<Tenant, usize>>>,
}

/// A queue with its version.
#[derive(Debug, Clone)]
pub(crate) struct HeldQueue {
    pub(crate) queue: Queue,
    pub(crate) version: Option<Version>,
}

/// A run with its version.
#[derive(Debug, Clone)]
pub(crate) struct HeldRun {
    pub(crate) row: RunRow,
    pub(crate) version: Version,
}

/// What is known of a thread, each with its version.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) queue: HeldQueue,
    pub(super) thread: Option<(ThreadRow, Version)>,
}

impl Held {
    pub(super) fn status(&self, over: ThreadStatus) -> ThreadStatus {
        if self.queue.queue.is_empty() { over } else { ThreadStatus::Busy }
    }
}

impl Rows {
    pub(crate) fn new(store: SharedStore, codec: Codec, runtime: Runtime) -> Self {
        Self { store, codec, runtime, loads: Arc::default() }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.runtime.clock.now()
    }

    /// The runs of each tenant that are not over, as they were counted last.
    pub(crate) fn loads(&self) -> MutexGuard<'_, BTreeMap<Tenant, usize>> {
        self.loads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn read(&self, keys: Vec<ItemKey>) -> Result<Vec<Option<Item>>, ServeError> {
        let read = |key| Read { key, refresh: Refresh::No };
        let batch = Batch { reads: keys.into_iter().map(read).collect(), ..Batch::default() };
        Ok(self.store.batch(batch, self.now()).await?.items)
    }

    /// Writes all or nothing; the versions that were written. `None` if somebody else was first.
    pub(super) async fn write(
        &self,
        writes: Vec<Write>,
    ) -> Result<Option<Vec<Version>>, ServeError> {
        self.made(Batch { writes, ..Batch::default() }).await
    }

    async fn made(&self, batch: Batch) -> Result<Option<Vec<Version>>, ServeError> {
        match self.store.batch(batch, self.now()).await {
            Ok(made) => Ok(Some(made.written.iter().filter_map(|one| one.after).collect())),
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// As [`write`](Rows::write): a client is told of it, so that it outlives the machine.
    pub(super) async fn write_for_good(
        &self,
        writes: Vec<Write>,
    ) -> Result<Option<Vec<Version>>, ServeError> {
        self.made(Batch { writes, safety: Safety::Machine, ..Batch::default() }).await
    }

    /// Waits a moment before a change is tried again.
    pub(super) async fn again(&self) {
        let millis = 1 + self.runtime.rng.bits() % 20;
        self.runtime.clock.sleep(Duration::from_millis(millis)).await;
    }

    /// What is known of `thread`.
    pub(super) async fn held(
        &self,
        thread: &ThreadKey,
        others: Vec<ItemKey>,
    ) -> Result<(Held, Vec<Option<Item>>), ServeError> {
        let row = keys::thread(thread.tenant(), keys::public_id(thread.thread()))?;
        let mut items = self.read([vec![keys::queue(thread)?, row], others].concat()).await?;
        let others = items.split_off(2);
        let mut items = items.into_iter();
        let queue = queue_of(items.next().flatten(), thread)?;
        let thread = match items.next().flatten() {
            Some(item) => Some((decoded(&item.value)?, item.version)),
            None => None,
        };
        Ok((Held { queue, thread }, others))
    }

    /// The run, if it is there.
    pub(crate) async fn run(
        &self,
        thread: &ThreadKey,
        run: RunId,
    ) -> Result<Option<HeldRun>, ServeError> {
        let item = self.read(vec![keys::run(thread, run)?]).await?.pop().flatten();
        item.map(|item| self.opened(&item)).transpose()
    }

    pub(super) fn opened(&self, item: &Item) -> Result<HeldRun, ServeError> {
        let row = RunRow::read(&self.codec, &item.key, &item.value)?;
        Ok(HeldRun { row, version: item.version })
    }

    /// The thread of `tenant` with this UUID, and the version of its row.
    pub(crate) async fn thread(
        &self,
        tenant: &Tenant,
        id: Uuid,
    ) -> Result<Option<(ThreadRow, Version)>, ServeError> {
        let item = self.read(vec![keys::thread(tenant, id)?]).await?.pop().flatten();
        item.map(|item| Ok((decoded(&item.value)?, item.version))).transpose()
    }

    /// The queue of `thread`.
    pub(crate) async fn queue(&self, thread: &ThreadKey) -> Result<HeldQueue, ServeError> {
        let item = self.read(vec![keys::queue(thread)?]).await?.pop().flatten();
        queue_of(item, thread)
    }

    /// A page of the queues of all tenants in which something is left, and where the next one begins.
    pub(crate) async fn queues(
        &self,
        after: Option<Place>,
    ) -> Result<(Vec<HeldQueue>, Option<Place>), ServeError> {
        let (server, labels) = keys::queues()?;
        let search = Search::within(server, labels).limit(PAGE).after(after);
        let page = self.store.search(&search.refresh(Refresh::No), self.now()).await?;
        let mut queues = Vec::new();
        for hit in page.hits {
            let queue: Queue = decoded(&hit.item.value)?;
            // To a clock that is behind, what is empty may not have expired yet.
            if !queue.is_empty() {
                queues.push(HeldQueue { queue, version: Some(hit.item.version) });
            }
        }
        Ok((queues, page.next))
    }

    /// A page of the runs of `thread`, the newest first.
    pub(crate) async fn runs(
        &self,
        thread: &ThreadKey,
        after: Option<Place>,
        limit: usize,
    ) -> Result<(Vec<RunRow>, Option<Place>), ServeError> {
        let search = Search::within(thread.tenant().clone(), keys::runs(thread)?);
        let search = search.limit(limit).after(after).refresh(Refresh::No);
        let page = self.store.search(&search, self.now()).await?;
        let rows = page.hits.iter().map(|hit| Ok(self.opened(&hit.item)?.row));
        Ok((rows.collect::<Result<_, ServeError>>()?, page.next))
    }

    /// Removes what has expired.
    pub(crate) async fn sweep(&self) -> Result<usize, ServeError> {
        Ok(self.store.sweep(self.now(), 1_000).await?)
    }

    /// The writes of a queue that was changed, and of its thread.
    pub(super) fn put_held(
        &self,
        held: &Held,
        thread: ThreadRow,
    ) -> Result<Vec<Write>, ServeError> {
        let tenant = held.queue.queue.thread.tenant();
        let row = keys::thread(tenant, keys::public_id(&thread.name))?;
        let expected = expect(held.thread.as_ref().map(|(_, version)| *version));
        let thread = put(row, encoded(&thread)?, expected, Ttl::Never);
        Ok(vec![self.put_queue(&held.queue)?, thread])
    }

    /// The write of a queue that was changed.
    pub(super) fn put_queue(&self, held: &HeldQueue) -> Result<Write, ServeError> {
        let HeldQueue { queue, version } = held;
        let ttl = if queue.is_empty() { AT_ONCE } else { Ttl::Never };
        Ok(put(keys::queue(&queue.thread)?, encoded(queue)?, expect(*version), ttl))
    }

    /// The write of a row that was changed.
    pub(super) fn put_run(&self, run: &HeldRun) -> Result<Write, ServeError> {
        self.put_row(&run.row, Expect::Version(run.version))
    }

    pub(super) fn put_row(&self, row: &RunRow, expect: Expect) -> Result<Write, ServeError> {
        let key = keys::run(&row.thread, row.run)?;
        let ttl = if row.status.is_over() { KEPT } else { Ttl::Never };
        let value = row.to_stored(&self.codec, &key)?;
        Ok(put(key, value, expect, ttl))
    }
}

pub(super) fn expect(version: Option<Version>) -> Expect {
    version.map_or(Expect::Absent, Expect::Version)
}

pub(super) fn put(key: ItemKey, value: Stored, expect: Expect, ttl: Ttl) -> Write {
    Write::Put(key, Put { expect, ttl, index: Index::Off, ..Put::new(value) })
}

pub(super) fn encoded(value: &impl Serialize) -> Result<Stored, ServeError> {
    Stored::encode(value).map_err(unreadable)
}

pub(super) fn decoded<T: DeserializeOwned>(value: &Stored) -> Result<T, ServeError> {
    value.decode().map_err(unreadable)
}

fn unreadable(error: StoredError) -> ServeError {
    CheckpointError::Encode(error.into()).into()
}

fn queue_of(item: Option<Item>, thread: &ThreadKey) -> Result<HeldQueue, ServeError> {
    let Some(item) = item else {
        return Ok(HeldQueue { queue: Queue::new(thread.clone()), version: None });
    };
    Ok(HeldQueue { queue: decoded(&item.value)?, version: Some(item.version) })
}
