//! The `Store` in the same schema: items that are remembered across threads.

use hanok_checkpoint::{
    Batch, Batched, CheckpointError, Item, Namespaces, Page, Refresh, Search, Store, StoreError,
};
use hanok_core::{Labels, Timestamp};

use super::postgres::Postgres;
use crate::items::rows;

/// The items lie in the schema of the threads.
///
/// - A batch is one transaction. Two batches wait for each other if one writes an item that the other reads or writes. A batch
///   with vectors, or with more than 64 reads and writes, waits for every batch of its tenants.
/// - A batch that survives the machine (`Safety::Machine`) waits for the standbys that the server waits for, like an append.
/// - A sweep passes over an item that a batch is writing.
/// - A batch whose connection broke while it was committed is made again, unless one of its writes expects something: then
///   it is [`CheckpointError::Unavailable`], and whether it was made is to be read.
/// - Filters are evaluated here and never become SQL: a listing reads what its filter passes over.
/// - Texts are found by an index of the tenant's own terms. A search by meaning compares every vector of its namespaces: in the
///   server where the database has the extension pgvector, up to 16,000 numbers a vector, otherwise here, where each is fetched.
/// - A read that refreshes and cannot, because the store may not be written or is full, is a read all the same.
/// - What is removed is gone for every reader at once; its bytes go as by
///   [`Checkpointer::delete`](hanok_checkpoint::Checkpointer::delete).
impl Store for Postgres {
    async fn batch(&self, batch: Batch, now: Timestamp) -> Result<Batched, StoreError> {
        if !batch.writes.is_empty() {
            return self.name_store(self.database.write_items(&batch, now).await)?;
        }
        let keys: Vec<_> = batch.reads.iter().map(|read| &read.key).collect();
        let mut items = self.name_store(self.database.read_items(&keys, now).await)?;
        let reads = batch.reads.iter().zip(&mut items);
        let living = reads.filter(|(read, _)| read.refresh == Refresh::Yes);
        self.refresh(living.filter_map(|(_, item)| item.as_mut()), now).await?;
        Ok(Batched { items, written: Vec::new() })
    }

    async fn search(&self, search: &Search, now: Timestamp) -> Result<Page, StoreError> {
        let mut page = self.name_store(self.database.search(search, now).await)??;
        if search.refresh == Refresh::Yes {
            self.refresh(page.hits.iter_mut().map(|hit| &mut hit.item), now).await?;
        }
        Ok(page)
    }

    async fn namespaces(
        &self,
        query: &Namespaces,
        now: Timestamp,
    ) -> Result<Vec<Labels>, StoreError> {
        Ok(self.name_store(self.database.namespaces(query, now).await)?)
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
        Ok(self.name_store(self.database.sweep_items(now, limit).await)?)
    }
}

impl Postgres {
    /// Has those of `items` that have a time to live begin it again.
    async fn refresh<'a>(
        &self,
        items: impl Iterator<Item = &'a mut Item>,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let mut timed: Vec<_> = items.filter(|item| item.ttl.is_some()).collect();
        if timed.is_empty() {
            return Ok(());
        }
        let lives: Vec<_> =
            timed.iter().map(|item| (item.version, rows::refreshed(item, now))).collect();
        match self.name_store(self.database.refresh(&lives, now).await) {
            Ok(()) => {
                timed.iter_mut().zip(lives).for_each(|(item, (_, expires))| item.expires = expires);
                Ok(())
            }
            Err(CheckpointError::Denied(_) | CheckpointError::Full(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
