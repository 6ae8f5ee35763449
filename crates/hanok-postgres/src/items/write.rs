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
    rows::{Names, by_name, refreshed},
};
use crate::{
    database::Database,
    failure::{Failure, Outlook},
    number::{bound, read, stored},
    server::pool::{Access, Pool, Query},
};

/// The most statements of a batch, for each tenant more.
const STATEMENTS: usize = 12;

/// The tenants of a batch, with the numbers by which their items are found.
type Tenants<'a> = BTreeMap<&'a Tenant, i64>;

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
                done => return done,
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
        let statements = STATEMENTS + 2 * batch.writes.len();
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
        let removes = batch.writes.iter().any(|write| matches!(write, Write::Remove(..)));
        let safety = if removes { Safety::Machine } else { Safety::Process };
        let tx = client.transaction().await?;
        tx.batch_execute(self.pool.settings(Access::Write(safety))).await?;
        let tenants = self.lock(&tx, batch.writes.iter().map(|write| write.key().tenant())).await?;
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
        if let Err(error) = self.check_vectors(&tx, &puts, &tenants, &gone).await? {
            return Ok(Err(error));
        }
        let items = self.read_within(&tx, batch, now).await?;
        let s = &self.schema;
        let remove = format!("DELETE FROM {s}.items WHERE id = ANY ($1)");
        tx.execute_typed(&remove, &[(&gone, Type::INT8_ARRAY)]).await?;
        let mut after = BTreeMap::new();
        for (key, put, item) in puts {
            let tenant = tenants.get(key.tenant()).copied().unwrap_or_default();
            after.insert(key, self.insert(&tx, tenant, key, put, item, now).await?);
        }
        self.forget_tenants(&tx, &tenants.into_values().collect::<Vec<_>>()).await?;
        *committing = true;
        tx.commit().await?;
        let written = keys.iter().zip(before).map(|(key, item)| Written {
            before: item.map(|item| item.version),
            after: after.get(key).copied(),
        });
        Ok(Ok(Batched { items, written: written.collect() }))
    }

    /// Makes whoever else writes items of `tenants` wait, in one order for all.
    async fn lock<'a>(
        &self,
        tx: &Transaction<'_>,
        tenants: impl Iterator<Item = &'a Tenant>,
    ) -> Result<Tenants<'a>, Failure> {
        let s = &self.schema;
        let sql = format!(
            "INSERT INTO {s}.tenants (tenant) VALUES ($1)
             ON CONFLICT (tenant) DO UPDATE SET tenant = excluded.tenant RETURNING id"
        );
        let mut ids = Tenants::new();
        for tenant in tenants.collect::<BTreeSet<_>>() {
            let row = tx.query_typed_one(&sql, &[(&tenant.as_str(), Type::TEXT)]).await?;
            ids.insert(tenant, row.try_get(0)?);
        }
        Ok(ids)
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
        tenants: &Tenants<'_>,
        gone: &[i64],
    ) -> Answer<()> {
        let mut spaces: BTreeMap<&Tenant, Space> = BTreeMap::new();
        for (key, put, _) in puts {
            for vector in &put.vectors {
                let common = match spaces.remove(key.tenant()) {
                    Some(common) => Some(common),
                    None => {
                        let tenant = tenants.get(key.tenant()).copied().unwrap_or_default();
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

    /// Forgets those of `tenants`, whose rows are locked, that have no item.
    async fn forget_tenants(&self, tx: &Transaction<'_>, tenants: &[i64]) -> Result<(), Failure> {
        let s = &self.schema;
        let sql = format!(
            "DELETE FROM {s}.tenants WHERE id = ANY ($1)
             AND NOT EXISTS (SELECT FROM {s}.items WHERE tenant_id = tenants.id)"
        );
        tx.execute_typed(&sql, &[(&tenants, Type::INT8_ARRAY)]).await?;
        Ok(())
    }

    /// Removes items that have expired, of every tenant, those first that did so first. It may be done twice.
    pub(crate) async fn sweep_items(&self, now: Timestamp, limit: usize) -> Result<usize, Failure> {
        let mut trying = self.pool.trying();
        loop {
            match self.try_sweep(now, limit).await {
                Err(failure) if failure.outlook() != Outlook::Hopeless => {
                    trying.pause(failure).await?;
                }
                done => return done,
            }
        }
    }

    async fn try_sweep(&self, now: Timestamp, limit: usize) -> Result<usize, Failure> {
        let mut client = self.pool.connection().await?;
        let swept = self.pool.in_time(STATEMENTS, self.sweep_on(&mut client, now, limit)).await;
        Pool::give_back(client, swept)
    }

    async fn sweep_on(
        &self,
        client: &mut Object,
        now: Timestamp,
        limit: usize,
    ) -> Result<usize, Failure> {
        let tx = client.transaction().await?;
        tx.batch_execute(self.pool.settings(Access::Write(Safety::Machine))).await?;
        let s = &self.schema;
        let (now, limit): (i64, i64) = (bound(now.0), bound(limit));
        let find = format!(
            "SELECT id, tenant_id FROM {s}.items WHERE expires <= $1 ORDER BY expires, id LIMIT $2"
        );
        let parameters = [(&now as _, Type::INT8), (&limit as _, Type::INT8)];
        let (mut ids, mut tenants) = (Vec::<i64>::new(), BTreeSet::<i64>::new());
        for row in tx.query_typed(&find, &parameters).await? {
            ids.push(row.try_get(0)?);
            tenants.insert(row.try_get(1)?);
        }
        // Tenants before items, as a batch does it: so neither waits for the other for ever. What a batch brought meanwhile
        // is there for the statements that follow.
        let tenants: Vec<_> = tenants.into_iter().collect();
        let lock =
            format!("SELECT FROM {s}.tenants WHERE id = ANY ($1) ORDER BY tenant FOR UPDATE");
        tx.query_typed(&lock, &[(&tenants, Type::INT8_ARRAY)]).await?;
        let remove = format!("DELETE FROM {s}.items WHERE id = ANY ($1) AND expires <= $2");
        let parameters = [(&ids as _, Type::INT8_ARRAY), (&now as _, Type::INT8)];
        let swept = tx.execute_typed(&remove, &parameters).await?;
        self.forget_tenants(&tx, &tenants).await?;
        tx.commit().await?;
        Ok(usize::try_from(swept)?)
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
