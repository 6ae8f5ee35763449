//! The `Store` on the same file: items that are remembered across threads.

use hanok_checkpoint::{
    Batch, Batched, CheckpointError, Item, Namespaces, Page, Refresh, Safety, Search, Store,
    StoreError,
};
use hanok_core::{Labels, Timestamp};

use super::sqlite::Sqlite;
use crate::{
    file::database::Database,
    items::{find, rows, write},
};

/// The items lie in the file of the threads; each call is one transaction.
///
/// - A listing reads what it shows and what its filter passes over; filters are evaluated here and never become SQL.
/// - Texts are found by FTS5, of the tenant's own items only.
/// - A search by meaning compares with every vector of its namespaces: README.md says how long that takes.
/// - A read that refreshes and cannot, because the file may not be written or is full, is a read all the same.
/// - What is removed or swept is overwritten in the file, as by
///   [`Checkpointer::delete`](hanok_checkpoint::Checkpointer::delete). A batch that removes something, and a sweep, therefore
///   empties the write-ahead file, once: that takes far longer than a batch that only puts, so remove many items at once.
impl Store for Sqlite {
    async fn batch(&self, batch: Batch, now: Timestamp) -> Result<Batched, StoreError> {
        self.ask(move |database| self::batch(database, &batch, now)).await?
    }

    async fn search(&self, search: &Search, now: Timestamp) -> Result<Page, StoreError> {
        let search = search.clone();
        self.ask(move |database| self::search(database, &search, now)).await?
    }

    async fn namespaces(
        &self,
        query: &Namespaces,
        now: Timestamp,
    ) -> Result<Vec<Labels>, StoreError> {
        let query = query.clone();
        let names =
            self.ask(move |database| database.read(|tx| find::namespaces(tx, &query, now))).await?;
        Ok(names)
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
        let swept = self.ask(move |database| {
            let swept = database.write(Safety::Machine, |tx| write::sweep(tx, now, limit))?;
            if swept > 0 {
                database.truncate_log();
            }
            Ok(swept)
        });
        Ok(swept.await?)
    }
}

/// The file's error outside, the contract's inside.
type Answer<T> = Result<Result<T, StoreError>, CheckpointError>;

fn batch(database: &mut Database, batch: &Batch, now: Timestamp) -> Answer<Batched> {
    if batch.writes.is_empty() {
        let mut items = database.read(|tx| rows::read(tx, &batch.reads, now))?;
        let reads = batch.reads.iter().zip(&mut items);
        let living = reads.filter(|(read, _)| read.refresh == Refresh::Yes);
        refresh(database, living.filter_map(|(_, item)| item.as_mut()), now)?;
        return Ok(Ok(Batched { items, written: Vec::new() }));
    }
    let done = database.write(batch.required_safety(), |tx| write::batch(tx, batch, now))?;
    if batch.removes() && done.is_ok() {
        database.truncate_log();
    }
    Ok(done)
}

fn search(database: &mut Database, search: &Search, now: Timestamp) -> Answer<Page> {
    if let Err(error) = search.check() {
        return Ok(Err(error));
    }
    let mut page = match database.read(|tx| find::search(tx, search, now))? {
        Ok(page) => page,
        Err(error) => return Ok(Err(error)),
    };
    if search.refresh == Refresh::Yes {
        refresh(database, page.hits.iter_mut().map(|hit| &mut hit.item), now)?;
    }
    Ok(Ok(page))
}

/// Has those of `items` that have a time to live begin it again.
fn refresh<'a>(
    database: &mut Database,
    items: impl Iterator<Item = &'a mut Item>,
    now: Timestamp,
) -> Result<(), CheckpointError> {
    let mut timed: Vec<_> = items.filter(|item| item.ttl.is_some()).collect();
    if timed.is_empty() {
        return Ok(());
    }
    let lives: Vec<_> =
        timed.iter().map(|item| (item.version, rows::refreshed(item, now))).collect();
    match database.write(Safety::Process, |tx| write::refresh(tx, &lives, now)) {
        Ok(()) => {
            timed.iter_mut().zip(lives).for_each(|(item, (_, expires))| item.expires = expires);
            Ok(())
        }
        Err(CheckpointError::Denied(_) | CheckpointError::Full(_)) => Ok(()),
        Err(error) => Err(error),
    }
}
