//! Memory across threads.

pub(crate) mod error;
pub(crate) mod filter;
pub(crate) mod filter_form;
pub(crate) mod item;
pub(crate) mod memory;
mod postings;
pub(crate) mod rank;
pub(crate) mod sealed;
pub(crate) mod search;
mod slots;
pub(crate) mod terms;
mod value;
pub(crate) mod vector;

use std::{fmt, sync::Arc, time::Duration};

use hanok_core::{ItemKey, Labels, Timestamp};

use self::{
    error::StoreError,
    item::{Batch, Batched, Expect, Item, Put, Read, Ttl, Version, Write},
    search::{Namespaces, Page, Search},
};
use crate::erased::erased;

/// Keeps items across threads, each a value under a tenant, a namespace and a key: long-term memory.
///
/// # Contract
///
/// - A [`batch`](Store::batch) is made as a whole or not at all. Its reads, and what its writes expect, are held to what was
///   there before it.
/// - What a batch wrote survives what [`Batch::required_safety`] says, where anything does: the death of this process, or that
///   of the machine if the batch asks for it or removes an item.
/// - Of two writers that expect one version, one gets [`StoreError::Conflict`].
/// - Names and values are data: namespaces are compared label by label and keys by their bytes, a filter means what
///   [`Filter`](crate::Filter) says, and no call sees another tenant's items.
/// - What has expired is not seen, whether it was swept or not; `now` is the time that the caller says it is.
/// - All vectors of a tenant have one length and are of one model: those of the first there is.
/// - What was removed, replaced or swept is gone from every index.
///
/// `hanok_testkit::store_conforms!` makes a test of each.
///
/// # Cancel safety
///
/// A dropped batch may have been made: read again, or expect a version.
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Makes reads and writes together.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`], [`StoreError::Dimensions`] and [`StoreError::Model`]: nothing was written; others as
    /// storage fails.
    fn batch(
        &self,
        batch: Batch,
        now: Timestamp,
    ) -> impl Future<Output = Result<Batched, StoreError>> + Send;

    /// The items that `search` is for, one page of them.
    ///
    /// # Errors
    ///
    /// [`StoreError::Dimensions`] and [`StoreError::Model`] when the vector cannot be compared with the tenant's; others as
    /// storage fails.
    fn search(
        &self,
        search: &Search,
        now: Timestamp,
    ) -> impl Future<Output = Result<Page, StoreError>> + Send;

    /// The namespaces that hold an item, in order.
    fn namespaces(
        &self,
        query: &Namespaces,
        now: Timestamp,
    ) -> impl Future<Output = Result<Vec<Labels>, StoreError>> + Send;

    /// Removes at most `limit` items of any tenant that have expired; says how many. What is left over is for the next
    /// call.
    fn sweep(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> impl Future<Output = Result<usize, StoreError>> + Send;

    /// The item of `key`, which lives on from now; `None` when it is not there.
    fn get(
        &self,
        key: &ItemKey,
        now: Timestamp,
    ) -> impl Future<Output = Result<Option<Item>, StoreError>> + Send {
        let batch = Batch { reads: vec![Read::new(key.clone())], ..Batch::default() };
        async move { Ok(self.batch(batch, now).await?.items.pop().flatten()) }
    }

    /// Puts a value under `key`; gives its version.
    ///
    /// # Errors
    ///
    /// As [`batch`](Store::batch).
    fn put(
        &self,
        key: &ItemKey,
        put: Put,
        now: Timestamp,
    ) -> impl Future<Output = Result<Version, StoreError>> + Send {
        let batch = Batch { writes: vec![Write::Put(key.clone(), put)], ..Batch::default() };
        async move {
            let written = self.batch(batch, now).await?.written.pop();
            Ok(written.and_then(|written| written.after).unwrap_or(Version(0)))
        }
    }

    /// Removes the item of `key` if it is as `expect` says; tells whether it was there.
    ///
    /// # Errors
    ///
    /// As [`batch`](Store::batch).
    fn remove(
        &self,
        key: &ItemKey,
        expect: Expect,
        now: Timestamp,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send {
        let batch = Batch { writes: vec![Write::Remove(key.clone(), expect)], ..Batch::default() };
        async move {
            let written = self.batch(batch, now).await?.written.pop();
            Ok(written.is_some_and(|written| written.before.is_some()))
        }
    }
}

/// Any [`Store`], chosen at run time. Clones share it.
#[derive(Debug, Clone)]
pub struct SharedStore {
    store: Arc<dyn Erased>,
    ttl: Option<Duration>,
}

impl SharedStore {
    /// Shares `store`.
    pub fn new(store: impl Store) -> Self {
        Self { store: Arc::new(store), ttl: None }
    }

    /// Sets the time that what is put through this handle and its clones lives, where the [`Put`] does not say it. Default: for
    /// ever.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// # futures::executor::block_on(async {
    /// # use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
    /// # let (store, now) = (SharedStore::new(InMemoryStore::new()), Timestamp(0));
    /// # let labels = Labels::new(["memories", "kim"])?;
    /// # let key = ItemKey::new(Tenant::default(), labels.clone(), "city")?;
    /// # use std::time::Duration;
    /// let store = store.default_ttl(Duration::from_secs(60));
    /// store.put(&key, Put::new(Stored::encode("Seoul")?), now).await?;
    /// assert!(store.get(&key, Timestamp(61_000)).await?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn default_ttl(self, ttl: Duration) -> Self {
        Self { ttl: Some(ttl), ..self }
    }

    /// `batch`, with the time to live that it leaves open.
    fn timed(&self, mut batch: Batch) -> Batch {
        let Some(ttl) = self.ttl else { return batch };
        for write in &mut batch.writes {
            if let Write::Put(_, put) = write
                && put.ttl == Ttl::Default
            {
                put.ttl = Ttl::After(ttl);
            }
        }
        batch
    }
}

erased! {
    Erased of Store for SharedStore.store, StoreError;
    fn search(search: ref Search, now: own Timestamp) -> Page;
    fn namespaces(query: ref Namespaces, now: own Timestamp) -> Vec<Labels>;
    fn sweep(now: own Timestamp, limit: own usize) -> usize;
    twin fn batch(batch: own Batch, now: own Timestamp) -> Batched;
    impl {
        async fn batch(&self, batch: Batch, now: Timestamp) -> Result<Batched, StoreError> {
            Erased::batch(&*self.store, self.timed(batch), now).await
        }
    }
}
