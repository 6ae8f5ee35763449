//! The writes of items, each within one transaction.

use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::{Object, Transaction};
use hanok_checkpoint::{
    Batch, Batched, Expect, Item, Put, Refresh, Safety, Space, Version, Write, Written,
};
use hanok_core::{ItemKey, Tenant, Timestamp};
use tokio_postgres::types::Type;

use super::{
    Answer,
    lock::Tenants,
    rows::{Names, by_name, refreshed},
};
use crate::{
    database::Database,
    failure::{Failure, Outlook},
    number::{bound, read, stored},
    server::pool::{Access, Pool, Query},
};

/// The most statements of a batch, besides those for each write.
const STATEMENTS: usize = 11;

impl Database {
    pub(crate) async fn write_items(&self, batch: &Batch, now: Timestamp) -> Answer<Batched> {
        // What expects nothing may be done twice.
        let guarded = batch.writes.iter().any(|write| write.expect() != Expect::Any);
        let mut trying = self.pool.trying();
        loop {
            let mut committing = false;
            match self.try_write(batch, now, &mut committing).await {
                Err(failure) if failure.outlook() == Outlook::Hopeless => return Err(failure),
                Err(failure) if committing && guarded && failure.outlook() == Outlook::Unknown => {
                    return Err(failure);
                }
                Err(failure) => trying.pause(failure).await?,
                Ok(done) => {
                    if done.is_ok() && batch.removes() {
                        let names = batch.writes.iter().map(|write| write.key().tenant().as_str());
                        self.forget_tenants(&names.collect::<Vec<_>>()).await;
                    }
                    return Ok(done);
                }
            }
        }
    }

    async fn try_write(
        &self,
        batch: &Batch,
        now: Timestamp,
        committing: &mut bool,
    ) -> Answer<Batched> {
        let mut client = self.pool.connection().await?;
        let statements = STATEMENTS + 3 * batch.writes.len();
        let made = self.write_on(&mut client, batch, now, committing);
        let made = self.pool.in_time(statements, made).await;
        Pool::give_back(client, made)
    }

    /// Nothing is written before everything is known to be allowed.
    async fn write_on(
        &self,
        client: &mut Object,
        batch: &Batch,
        now: Timestamp,
        committing: &mut bool,
    ) -> Answer<Batched> {
        let tx = client.transaction().await?;
        let access = Access::Write(batch.required_safety());
        tx.batch_execute(self.pool.settings(access)).await?;
        self.lock(&tx, batch).await?;
        let keys: Vec<_> = batch.writes.iter().map(Write::key).collect();
        let rows = self.rows(&tx, &keys).await?;
        let live = |item: &Option<Item>| item.clone().filter(|item| item.is_live(now));
        let before: Vec<_> = rows.iter().map(live).collect();
        for (write, item) in batch.writes.iter().zip(&before) {
            let actual = item.as_ref().map(|item| item.version);
            if let Err(error) = write.expect().admit(write.key(), actual) {
                return Ok(Err(error));
            }
        }
        let last: BTreeMap<&ItemKey, usize> = keys.iter().copied().zip(0..).collect();
        let counts = |at: usize| keys.get(at).is_some_and(|key| last.get(key) == Some(&at));
        let gone: Vec<i64> = rows.iter().flatten().map(|item| bound(item.version.0)).collect();
        let mut puts: Vec<(&ItemKey, &Put, Option<&Item>)> = Vec::new();
        for (at, (write, item)) in batch.writes.iter().zip(&before).enumerate() {
            if let Write::Put(key, put) = write
                && counts(at)
            {
                puts.push((key, put, item.as_ref()));
            }
        }
        let tenants =
            self.tenants(&tx, puts.iter().map(|(key, ..)| key.tenant()).collect()).await?;
        if let Err(error) = self.check_vectors(&tx, &puts, &tenants, &gone).await? {
            return Ok(Err(error));
        }
        let items = self.read_within(&tx, batch, now).await?;
        let s = &self.schema;
        let remove = format!("DELETE FROM {s}.items WHERE id = ANY ($1)");
        tx.execute_typed(&remove, &[(&gone, Type::INT8_ARRAY)]).await?;
        let mut after = BTreeMap::new();
        for (key, put, item) in puts {
            let tenant = tenants.get(key.tenant().as_str()).copied().unwrap_or_default();
            after.insert(key, self.insert(&tx, tenant, key, put, item, now).await?);
        }
        *committing = true;
        tx.commit().await?;
        let written = keys.iter().zip(before).map(|(key, item)| Written {
            before: item.map(|item| item.version),
            after: after.get(key).copied(),
        });
        Ok(Ok(Batched { items, written: written.collect() }))
    }

    /// The items of `keys`, live or not.
    async fn rows(
        &self,
        tx: &Transaction<'_>,
        keys: &[&ItemKey],
    ) -> Result<Vec<Option<Item>>, Failure> {
        let names = Names::new(keys);
        let parameters = names.parameters();
        let rows = tx.query_typed(&self.find_items(), &parameters).await?;
        by_name(rows.iter(), keys)
    }

    /// Makes the reads of a batch.
    async fn read_within(
        &self,
        tx: &Transaction<'_>,
        batch: &Batch,
        now: Timestamp,
    ) -> Result<Vec<Option<Item>>, Failure> {
        if batch.reads.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<_> = batch.reads.iter().map(|read| &read.key).collect();
        let mut items = self.rows(tx, &keys).await?;
        let mut lives = Vec::new();
        for (item, read) in items.iter_mut().zip(&batch.reads) {
            *item = item.take().filter(|item| item.is_live(now));
            if let Some(item) = item.as_mut().filter(|_| read.refresh == Refresh::Yes) {
                item.expires = refreshed(item, now);
                lives.push((item.version, item.expires));
            }
        }
        let (ids, expires) = lists(&lives);
        let parameters = [
            (&ids as _, Type::INT8_ARRAY),
            (&expires as _, Type::INT8_ARRAY),
            (&bound(now.0) as _, Type::INT8),
        ];
        tx.execute_typed(&self.refreshing(), &parameters).await?;
        Ok(items)
    }

    fn refreshing(&self) -> String {
        let s = &self.schema;
        format!(
            "UPDATE {s}.items SET expires = lives.expires FROM unnest($1, $2) AS lives (id, expires)
             WHERE items.id = lives.id AND items.expires > $3"
        )
    }

    /// Sets when items expire that are still there.
    pub(crate) async fn refresh(
        &self,
        lives: &[(Version, Option<Timestamp>)],
        now: Timestamp,
    ) -> Result<(), Failure> {
        let (ids, expires) = lists(lives);
        let parameters = [
            (&ids as _, Type::INT8_ARRAY),
            (&expires as _, Type::INT8_ARRAY),
            (&bound(now.0) as _, Type::INT8),
        ];
        let sql = self.refreshing();
        let queries = [Query { sql: &sql, parameters: &parameters }];
        self.pool.ask(Access::Write(Safety::Process), &queries).await?;
        Ok(())
    }

    /// Refuses vectors that cannot be compared with those that stay.
    async fn check_vectors(
        &self,
        tx: &Transaction<'_>,
        puts: &[(&ItemKey, &Put, Option<&Item>)],
        tenants: &Tenants,
        gone: &[i64],
    ) -> Answer<()> {
        let mut spaces: BTreeMap<&Tenant, Space> = BTreeMap::new();
        for (key, put, _) in puts {
            for vector in &put.vectors {
                let common = match spaces.remove(key.tenant()) {
                    Some(common) => Some(common),
                    None => {
                        let name = key.tenant().as_str();
                        let tenant = tenants.get(name).copied().unwrap_or_default();
                        let parameters =
                            [(&tenant as _, Type::INT8), (&gone as _, Type::INT8_ARRAY)];
                        let sql = self.spaces("$1");
                        let row = tx.query_typed_opt(&sql, &parameters).await?;
                        row.as_ref().map(space).transpose()?
                    }
                };
                let common = common.unwrap_or_else(|| vector.space());
                if let Err(error) = common.admit(vector) {
                    return Ok(Err(error));
                }
                spaces.insert(key.tenant(), common);
            }
        }
        Ok(Ok(()))
    }

    /// The statement that finds the [`Space`] of the vectors of `tenant`, an expression, without those of the items `$2`.
    pub(crate) fn spaces(&self, tenant: &str) -> String {
        let s = &self.schema;
        format!(
            "SELECT cardinality(vector), model FROM {s}.vectors
             WHERE tenant_id = {tenant} AND item_id <> ALL ($2) LIMIT 1"
        )
    }

    async fn insert(
        &self,
        tx: &Transaction<'_>,
        tenant: i64,
        key: &ItemKey,
        put: &Put,
        before: Option<&Item>,
        now: Timestamp,
    ) -> Result<Version, Failure> {
        let s = &self.schema;
        let (namespace, name) = (key.labels().as_bytes(), key.key());
        let created = stored(before.map_or(now, |item| item.created).0)?;
        let updated = stored(now.0)?;
        let ttl: Option<i64> = put.ttl.duration().map(|ttl| bound(ttl.as_millis()));
        let expires: Option<i64> = put.ttl.duration().map(|ttl| bound(now.plus(ttl).0));
        let terms: Vec<_> = put.terms().iter().map(|term| format!("{tenant}.{term}")).collect();
        let value = put.value.as_bytes();
        let sql = format!(
            "INSERT INTO {s}.items
                 (tenant_id, namespace, key, created, updated, ttl, expires, terms, value)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id"
        );
        let parameters = [
            (&tenant as _, Type::INT8),
            (&namespace as _, Type::BYTEA),
            (&name as _, Type::TEXT),
            (&created as _, Type::INT8),
            (&updated as _, Type::INT8),
            (&ttl as _, Type::INT8),
            (&expires as _, Type::INT8),
            (&terms as _, Type::TEXT_ARRAY),
            (&value as _, Type::BYTEA),
        ];
        let id: i64 = tx.query_typed_one(&sql, &parameters).await?.try_get(0)?;
        if !put.vectors.is_empty() {
            self.insert_vectors(tx, tenant, id, put).await?;
        }
        Ok(Version(read(id)?))
    }

    async fn insert_vectors(
        &self,
        tx: &Transaction<'_>,
        tenant: i64,
        id: i64,
        put: &Put,
    ) -> Result<(), Failure> {
        let s = &self.schema;
        let spaces: Vec<_> = put.vectors.iter().map(|vector| vector.space()).collect();
        let models: Vec<&str> = spaces.iter().map(|space| &*space.model).collect();
        let all: Vec<f32> =
            put.vectors.iter().flat_map(|vector| vector.numbers()).copied().collect();
        let each: i64 = bound(spaces.first().map_or(0, |space| space.dimensions));
        // An array of arrays would be one of two dimensions: they come as one, and each takes its part.
        let sql = format!(
            "INSERT INTO {s}.vectors (tenant_id, item_id, nth, model, vector)
             SELECT $1, $2, n, model, ($4)[((n - 1) * $5 + 1)::integer : (n * $5)::integer]
             FROM unnest($3) WITH ORDINALITY AS new (model, n)"
        );
        let parameters = [
            (&tenant as _, Type::INT8),
            (&id as _, Type::INT8),
            (&models as _, Type::TEXT_ARRAY),
            (&all as _, Type::FLOAT4_ARRAY),
            (&each as _, Type::INT8),
        ];
        tx.execute_typed(&sql, &parameters).await?;
        Ok(())
    }

    /// Removes items that have expired, of every tenant, those first that did so first. It may be done twice.
    ///
    /// Passes over an item that a batch is writing, so that it waits for no batch.
    pub(crate) async fn sweep_items(&self, now: Timestamp, limit: usize) -> Result<usize, Failure> {
        let s = &self.schema;
        let sql = format!(
            "DELETE FROM {s}.items WHERE id = ANY (ARRAY(
                 SELECT id FROM {s}.items WHERE expires <= $1
                 ORDER BY expires, id LIMIT $2 FOR UPDATE SKIP LOCKED
             )) RETURNING (SELECT tenant FROM {s}.tenants WHERE tenants.id = tenant_id)"
        );
        let (now, limit): (i64, i64) = (bound(now.0), bound(limit));
        let parameters = [(&now as _, Type::INT8), (&limit as _, Type::INT8)];
        let queries = [Query { sql: &sql, parameters: &parameters }];
        let answers = self.pool.ask(Access::Write(Safety::Machine), &queries).await?;
        let swept: Vec<_> = answers.iter().flatten().collect();
        if !swept.is_empty() {
            let names: BTreeSet<&str> =
                swept.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
            self.forget_tenants(&names.into_iter().collect::<Vec<_>>()).await;
        }
        Ok(swept.len())
    }
}

/// The model and dimensions of the vectors of this row.
pub(crate) fn space(row: &tokio_postgres::Row) -> Result<Space, Failure> {
    let dimensions = usize::try_from(row.try_get::<_, i32>(0)?)?;
    let model: &str = row.try_get(1)?;
    Ok(Space { dimensions, model: model.into() })
}

fn lists(lives: &[(Version, Option<Timestamp>)]) -> (Vec<i64>, Vec<Option<i64>>) {
    let expires = |time: Option<Timestamp>| time.map(|time| bound(time.0));
    lives.iter().map(|(version, time)| (bound(version.0), expires(*time))).unzip()
}
