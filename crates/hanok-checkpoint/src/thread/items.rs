//! What belongs to a thread and stands in a store beside its log.

use hanok_core::{BoxError, ItemKey, Labels, Position, Stored, ThreadKey, Timestamp};

use crate::{
    backend::checkpointer::Checkpointer as _,
    codec::Codec,
    error::CheckpointError,
    format::seal::SealPlace,
    life::Life,
    store::{
        SharedStore, Store as _,
        error::StoreError,
        item::{Batch, Expect, Index, Item, Put, Refresh, Ttl, Write},
        sealed::{damaged, open_named, seal_named},
        search::{Page, Place, Search},
    },
    thread::log::Log,
};

/// The namespace of all items of threads.
const ROOT: &str = "hanok:threads";

/// The items that are read at a time: each may be large.
const PAGE: usize = 16;

/// Values that belong to one life of a thread, are too large for its state, and stand in a [`Store`](crate::Store): each under a
/// name, sealed by a codec as the records of the log are. Texts of them are in no index; a search through all namespaces lists
/// them, in `hanok:threads`.
///
/// The store does not know the thread. Whoever removes, forks or erases that does the same with its items, as the graph's `Thread`
/// and the program `hanok` do. An export of a log has none of them.
///
/// ```
/// # use hanok_checkpoint::*;
/// # futures::executor::block_on(async {
/// # use hanok_core::{Stored, ThreadKey, Timestamp};
/// let (store, now) = (SharedStore::new(InMemoryStore::new()), Timestamp(7));
/// let items = ThreadItems::new(store.clone(), Codec::new(), ThreadKey::named("t1")?, Life::new(1));
/// items.put("report", &Stored::encode("a long text")?, now).await?;
/// let fork = ThreadItems::new(store.clone(), Codec::new(), ThreadKey::named("t2")?, Life::new(2));
/// items.copy(&fork, &|name| name == "report", now).await?;
///
/// ThreadItems::forget(&store, &ThreadKey::named("t1")?, None, now).await?;
/// assert!(items.get("report", now).await?.is_none());
/// let copied = fork.get("report", now).await?.ok_or("it was copied")?;
/// assert_eq!(copied.decode::<String>()?, "a long text");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct ThreadItems {
    store: SharedStore,
    codec: Codec,
    thread: ThreadKey,
    life: Life,
}

impl ThreadItems {
    /// The items of this life of `thread` in `store`.
    pub fn new(store: SharedStore, codec: Codec, thread: ThreadKey, life: Life) -> Self {
        Self { store, codec, thread, life }
    }

    /// Puts `value` under `name`, in place of what is there.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Encode`] for a name that no [item](ItemKey) can have, or a value that cannot be sealed; others as storage
    /// fails.
    pub async fn put(
        &self,
        name: &str,
        value: &Stored,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let (key, put) = (self.key(name)?, self.sealed(name, value)?);
        self.store.put(&key, put, now).await.map_err(failed)?;
        Ok(())
    }

    /// The value under `name`; `None` when it is not there.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] and [`CheckpointError::Locked`] for a value that cannot be read; others as storage fails.
    pub async fn get(&self, name: &str, now: Timestamp) -> Result<Option<Stored>, CheckpointError> {
        // Nothing can be there under what is no name.
        let Ok(key) = self.key(name) else { return Ok(None) };
        let item = self.store.get(&key, now).await.map_err(failed)?;
        item.map(|item| self.opened(name, &item)).transpose()
    }

    /// Copies the items that `is_named` to `to`.
    ///
    /// # Errors
    ///
    /// As those of [`get`](Self::get) and [`put`](Self::put). Then some may have been copied.
    pub async fn copy(
        &self,
        to: &Self,
        is_named: &(dyn Fn(&str) -> bool + Sync),
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let (labels, mut after) = (self.labels()?, None);
        loop {
            let page = page(&self.store, &self.thread, &labels, after, now).await?;
            for hit in &page.hits {
                let name = hit.item.key.key();
                if is_named(name) {
                    to.put(name, &self.opened(name, &hit.item)?, now).await?;
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// Copies the items that `is_named` to `to`, whose thread `begin` begins: it has them from its beginning on. Where it is not begun, none
    /// stays.
    ///
    /// # Errors
    ///
    /// As [`copy`](Self::copy), and what `begin` says.
    pub async fn copy_to_new<T, E: From<CheckpointError>>(
        &self,
        to: &Self,
        is_named: &(dyn Fn(&str) -> bool + Sync),
        now: Timestamp,
        begin: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        self.copy(to, is_named, now).await?;
        let begun = begin.await;
        if begun.is_err() {
            to.retain(&|_, _| false, now).await?;
        }
        begun
    }

    /// Removes the items that do not stay. One that cannot be read does not.
    ///
    /// # Errors
    ///
    /// As storage fails. Then some may have been removed.
    pub async fn retain(
        &self,
        stays: &(dyn Fn(&str, &Stored) -> bool + Sync),
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let goes = |item: &Item| {
            let name = item.key.key();
            !self.opened(name, item).is_ok_and(|value| stays(name, &value))
        };
        remove(&self.store, &self.thread, &self.labels()?, &goes, now).await
    }

    /// Removes the items of every life of `thread` but that of `living`.
    ///
    /// # Errors
    ///
    /// As storage fails. Then some may have been removed.
    pub async fn forget(
        store: &SharedStore,
        thread: &ThreadKey,
        living: Option<Life>,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let living = living.map(|life| life.to_string());
        let goes = |item: &Item| item.key.labels().iter().last() != living.as_deref();
        remove(store, thread, &labels(thread)?, &goes, now).await
    }

    /// Removes the items of the thread of `log`, which was removed. Those of one that was begun anew stay.
    ///
    /// # Errors
    ///
    /// As storage fails. Then some may have been removed.
    pub async fn forget_removed(
        store: &SharedStore,
        log: &Log,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let living = log.store().head(log.thread()).await?.map(|head| head.life);
        Self::forget(store, log.thread(), living, now).await
    }

    fn labels(&self) -> Result<Labels, CheckpointError> {
        labels(&self.thread)?.child(&self.life.to_string()).map_err(unnamed)
    }

    fn key(&self, name: &str) -> Result<ItemKey, CheckpointError> {
        ItemKey::new(self.thread.tenant().clone(), self.labels()?, name).map_err(unnamed)
    }

    fn place(&self) -> SealPlace<'_> {
        SealPlace { thread: &self.thread, life: self.life, position: Position::START }
    }

    fn sealed(&self, name: &str, value: &Stored) -> Result<Put, CheckpointError> {
        // What is sealed for one name is read under no other.
        let value = seal_named(&self.codec, self.place(), name, value)?;
        Ok(Put { index: Index::Off, ttl: Ttl::Never, ..Put::new(value) })
    }

    fn opened(&self, name: &str, item: &Item) -> Result<Stored, CheckpointError> {
        let opened = open_named(&self.codec, self.place(), name, &item.value)?;
        opened.ok_or_else(|| damaged(&self.thread, name))
    }
}

/// Where the items of all lives of `thread` stand. A thread may have a name that no label can.
fn labels(thread: &ThreadKey) -> Result<Labels, CheckpointError> {
    let name = blake3::hash(thread.thread().as_bytes()).to_hex();
    Labels::new([ROOT, name.as_str()]).map_err(unnamed)
}

/// The items of `thread` below `labels` that stand behind `after`.
async fn page(
    store: &SharedStore,
    thread: &ThreadKey,
    labels: &Labels,
    after: Option<Place>,
    now: Timestamp,
) -> Result<Page, CheckpointError> {
    let search = Search::within(thread.tenant().clone(), labels.clone());
    let search = search.limit(PAGE).after(after).refresh(Refresh::No);
    store.search(&search, now).await.map_err(failed)
}

/// Removes what `goes` of the items of `thread` below `labels`.
async fn remove(
    store: &SharedStore,
    thread: &ThreadKey,
    labels: &Labels,
    goes: &(dyn Fn(&Item) -> bool + Sync),
    now: Timestamp,
) -> Result<(), CheckpointError> {
    let mut after = None;
    loop {
        let page = page(store, thread, labels, after, now).await?;
        let gone = page.hits.iter().map(|hit| &hit.item).filter(|item| goes(item));
        let writes: Vec<_> =
            gone.map(|item| Write::Remove(item.key.clone(), Expect::Any)).collect();
        if !writes.is_empty() {
            let batch = Batch { writes, ..Batch::default() };
            store.batch(batch, now).await.map_err(failed)?;
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// The error of what can be no item.
fn unnamed(error: impl Into<BoxError>) -> CheckpointError {
    CheckpointError::Encode(error.into())
}

fn failed(error: StoreError) -> CheckpointError {
    match error {
        StoreError::Storage(error) => error,
        error => CheckpointError::Unavailable {
            reason: "an item of a thread could not be read or written",
            source: error.into(),
        },
    }
}
