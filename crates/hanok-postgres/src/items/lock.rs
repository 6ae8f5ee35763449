//! The locks of a batch: which batches wait for each other.

use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::Transaction;
use hanok_checkpoint::{Batch, Safety, Write};
use hanok_core::Tenant;
use tokio_postgres::{Row, types::Type};

use crate::{
    database::{Database, schema::Schema},
    failure::Failure,
    server::pool::{Access, Query},
};

/// The most items that a batch locks one by one: the server's table of locks has room for 64 of each connection.
const MOST_ITEMS: usize = 64;

/// The ids of tenants, by their names.
pub(crate) type Tenants = BTreeMap<String, i64>;

impl Database {
    /// Locks what `batch` reads and writes until the transaction ends. Batches without a common item do not wait for each other.
    ///
    /// The locks are advisory, so that an item that is absent can be locked, and are taken in the order of their hashes, so that two
    /// batches never wait for each other in a circle. Two names with the same hash share a lock.
    pub(crate) async fn lock(&self, tx: &Transaction<'_>, batch: &Batch) -> Result<(), Failure> {
        let (names, exclusive): (Vec<_>, Vec<_>) = locks(&self.schema, batch).into_iter().unzip();
        let sql = "SELECT CASE WHEN exclusive THEN pg_advisory_xact_lock(hash)
                               ELSE pg_advisory_xact_lock_shared(hash) END
                   FROM (SELECT hashtextextended(name, 0) AS hash, bool_or(exclusive) AS exclusive
                         FROM unnest($1, $2) AS named (name, exclusive)
                         GROUP BY hash ORDER BY hash) AS locks";
        let parameters = [(&names as _, Type::TEXT_ARRAY), (&exclusive as _, Type::BOOL_ARRAY)];
        tx.query_typed(sql, &parameters).await?;
        Ok(())
    }

    /// The ids of the tenants `names`, whose rows are made where they are missing and stay until the transaction ends.
    pub(crate) async fn tenants(
        &self,
        tx: &Transaction<'_>,
        names: BTreeSet<&Tenant>,
    ) -> Result<Tenants, Failure> {
        let s = &self.schema;
        let names: Vec<_> = names.into_iter().map(Tenant::as_str).collect();
        let parameters = [(&names as _, Type::TEXT_ARRAY)];
        let find = format!(
            "SELECT tenant, id FROM {s}.tenants WHERE tenant = ANY ($1) ORDER BY tenant FOR KEY SHARE"
        );
        let add = format!(
            "INSERT INTO {s}.tenants (tenant) SELECT unnest($1) ON CONFLICT (tenant) DO NOTHING"
        );
        loop {
            let rows = tx.query_typed(&find, &parameters).await?;
            if rows.len() == names.len() {
                let entry = |row: &Row| Ok((row.try_get(0)?, row.try_get(1)?));
                return rows.iter().map(entry).collect();
            }
            // Another transaction may have made a row meanwhile, or forgotten one.
            tx.execute_typed(&add, &parameters).await?;
        }
    }

    /// Forgets those of the tenants `names` that have no item. To be called after the items were removed: of two
    /// transactions that remove a tenant's last items, neither sees what the other removes.
    pub(crate) async fn forget_tenants(&self, names: &[&str]) {
        let s = &self.schema;
        let empty = format!(
            "tenant = ANY ($1) AND NOT EXISTS (SELECT FROM {s}.items WHERE tenant_id = tenants.id)"
        );
        // The first statement waits for batches that are about to put an item, and the second one sees what they put.
        let wait = format!("SELECT FROM {s}.tenants WHERE {empty} ORDER BY tenant FOR UPDATE");
        let forget = format!("DELETE FROM {s}.tenants WHERE {empty}");
        let parameters = [(&names as _, Type::TEXT_ARRAY)];
        let queries = [&wait, &forget].map(|sql| Query { sql, parameters: &parameters });
        // The items are removed all the same, and the next removal of the tenant tries again.
        drop(self.pool.ask(Access::Write(Safety::Machine), &queries).await);
    }
}

/// The names of the locks of `batch`, each with whether no other batch may share it.
///
/// A batch shares its tenants and locks its items. A batch with vectors has its tenants alone, because all vectors of a tenant
/// have one length and one model; so does a batch of more than [`MOST_ITEMS`].
fn locks(schema: &Schema, batch: &Batch) -> Vec<(String, bool)> {
    let has_vectors =
        |write: &Write| matches!(write, Write::Put(_, put) if !put.vectors.is_empty());
    let alone =
        batch.reads.len() + batch.writes.len() > MOST_ITEMS || batch.writes.iter().any(has_vectors);
    let reads = batch.reads.iter().map(|read| (&read.key, false));
    let writes = batch.writes.iter().map(|write| (write.key(), true));
    let mut locks = Vec::new();
    for (key, exclusive) in reads.chain(writes) {
        locks.push((format!("{schema} {}", key.tenant()), alone));
        if !alone {
            locks.push((format!("{schema} {key}"), exclusive));
        }
    }
    locks
}

#[cfg(test)]
mod tests {
    use hanok_checkpoint::{Expect, Put, Read, Vector};
    use hanok_core::{ItemKey, Labels, Stored};

    use super::*;

    fn key(name: &str) -> ItemKey {
        ItemKey::new(Tenant::new("t").unwrap(), Labels::new(["runs"]).unwrap(), name).unwrap()
    }

    fn named(batch: &Batch) -> Vec<(String, bool)> {
        let mut locks = locks(&Schema::new("s").unwrap(), batch);
        locks.sort();
        locks.dedup();
        locks
    }

    #[test]
    fn a_batch_locks_its_items_and_one_with_vectors_or_of_very_many_its_tenants() {
        let put = Put::new(Stored::encode("v").unwrap());
        let vector = Vector::new(&[1.0]).unwrap();
        let reads = vec![Read::new(key("a")), Read::new(key("b"))];
        let mut writes =
            vec![Write::Put(key("b"), put.clone()), Write::Remove(key("c"), Expect::Any)];
        let lock = |name: &str, exclusive| (format!("\"s\" {name}"), exclusive);
        let shared = [lock("t", false), lock("t/runs/a", false), lock("t/runs/b", false)];
        let exclusive = [lock("t/runs/b", true), lock("t/runs/c", true)];
        let batch = Batch { reads, writes: writes.clone(), ..Batch::default() };
        assert_eq!(named(&batch), [&shared[..], &exclusive].concat());

        writes.push(Write::Put(key("d"), put.clone().vector(vector)));
        assert_eq!(named(&Batch { writes, ..Batch::default() }), [lock("t", true)]);
        let many = |count| {
            let writes = (0..count).map(|n| Write::Put(key(&n.to_string()), put.clone()));
            named(&Batch { writes: writes.collect(), ..Batch::default() })
        };
        assert_eq!(many(MOST_ITEMS).len(), 1 + MOST_ITEMS);
        assert_eq!(many(MOST_ITEMS + 1), [lock("t", true)]);
    }
}
