//! Threads: begun, changed, listed and forgotten.

use hanok_checkpoint::{
    Expect, Filter, Place, Refresh, Search, SharedStore, Store as _, Ttl, Version, Write,
};
use hanok_core::{Tenant, ThreadKey};
use uuid::Uuid;

use super::{
    book::{ATTEMPTS, Rows, decoded, encoded, put},
    keys,
    thread::ThreadRow,
};
use crate::error::ServeError;

/// The threads, and the runs, that are read at a time.
const PAGE: usize = 200;

impl Rows {
    /// The store of the rows, which holds the items of clients too.
    pub(crate) fn store(&self) -> &SharedStore {
        &self.store
    }

    /// Writes the row of a new thread. Returns false if the thread has a row.
    pub(crate) async fn begin_thread(
        &self,
        tenant: &Tenant,
        row: &ThreadRow,
    ) -> Result<bool, ServeError> {
        let key = keys::thread(tenant, keys::public_id(&row.name))?;
        let write = put(key, encoded(row)?, Expect::Absent, Ttl::Never);
        Ok(self.write(vec![write]).await?.is_some())
    }

    /// Changes the row of a thread, again whenever another writer was first. Returns the row; `None` if there is none.
    pub(crate) async fn change_thread(
        &self,
        tenant: &Tenant,
        id: Uuid,
        change: impl Fn(&mut ThreadRow),
    ) -> Result<Option<ThreadRow>, ServeError> {
        for _ in 0..ATTEMPTS {
            let Some((mut row, version)) = self.thread(tenant, id).await? else { return Ok(None) };
            change(&mut row);
            row.updated = self.now();
            let (key, expect) = (keys::thread(tenant, id)?, Expect::Version(version));
            if self.write(vec![put(key, encoded(&row)?, expect, Ttl::Never)]).await?.is_some() {
                return Ok(Some(row));
            }
            self.again().await;
        }
        Err(ServeError::Contended(ThreadKey::new(tenant.clone(), &id.to_string())?))
    }

    /// A page of the tenant's threads, in the order of their UUIDs, and the place of the next page.
    pub(crate) async fn threads(
        &self,
        tenant: &Tenant,
        filter: Filter,
        after: Option<Place>,
    ) -> Result<(Vec<ThreadRow>, Option<Place>), ServeError> {
        let search = Search::within(tenant.clone(), keys::threads()?).filter(filter);
        let search = search.limit(PAGE).after(after).refresh(Refresh::No);
        let page = self.store.search(&search, self.now()).await?;
        let rows = page.hits.iter().map(|hit| decoded(&hit.item.value));
        Ok((rows.collect::<Result<_, _>>()?, page.next))
    }

    /// Removes the row of a thread, and those of its runs. Returns false if the row has another version: nothing is removed then.
    pub(crate) async fn forget_thread(
        &self,
        thread: &ThreadKey,
        version: Version,
    ) -> Result<bool, ServeError> {
        let id = keys::public_id(thread.thread());
        let row = Write::Remove(keys::thread(thread.tenant(), id)?, Expect::Version(version));
        if self.write(vec![row]).await?.is_none() {
            return Ok(false);
        }
        let mut after = None;
        loop {
            let (runs, next) = self.runs(thread, after, PAGE).await?;
            let remove = |run| Ok(Write::Remove(keys::run(thread, run)?, Expect::Any));
            let runs = runs.iter().map(|row| remove(row.run)).collect::<Result<_, ServeError>>()?;
            self.write(runs).await?;
            after = next;
            if after.is_none() {
                return Ok(true);
            }
        }
    }
}
