//! The writes of items, each within one transaction.

use std::collections::{BTreeMap, BTreeSet};

use hanok_checkpoint::{
    Batch, Batched, Item, Put, Refresh, Space, StoreError, Version, Write, Written,
};
use hanok_core::{ItemKey, Tenant, Timestamp};
use rusqlite::{OptionalExtension, Transaction, params};

use super::rows::{live, read, refreshed, saturated, tenant_id};
use crate::{
    failure::Failure,
    number::{bound, stored},
};

/// Nothing is written before everything is known to be allowed.
pub(crate) fn batch(
    tx: &Transaction<'_>,
    batch: &Batch,
    now: Timestamp,
) -> Result<Result<Batched, StoreError>, Failure> {
    let mut before = Vec::new();
    for write in &batch.writes {
        let item = live(tx, write.key(), now)?;
        let actual = item.as_ref().map(|item| item.version);
        if let Err(error) = write.expect().admit(write.key(), actual) {
            return Ok(Err(error));
        }
        before.push(item);
    }
    let last: BTreeMap<&ItemKey, &Write> =
        batch.writes.iter().map(|write| (write.key(), write)).collect();
    if let Err(error) = check_vectors(tx, &last)? {
        return Ok(Err(error));
    }
    let mut items = read(tx, &batch.reads, now)?;
    for (item, read) in items.iter_mut().zip(&batch.reads) {
        if let Some(item) = item.as_mut().filter(|_| read.refresh == Refresh::Yes) {
            let expires = refreshed(item, now);
            refresh(tx, &[(item.version, expires)], now)?;
            item.expires = expires;
        }
    }
    let mut after = BTreeMap::new();
    for (write, item) in batch.writes.iter().zip(&before) {
        let key = write.key();
        // A later write of the same item is the one that counts.
        if !last.get(key).is_some_and(|last| std::ptr::eq(*last, write)) {
            continue;
        }
        remove(tx, key)?;
        if let Write::Put(_, put) = write {
            after.insert(key, insert(tx, key, put, item.as_ref(), now)?);
        }
        if let Some(tenant_id) = tenant_id(tx, key.tenant())? {
            forget_tenant(tx, tenant_id)?;
        }
    }
    let written = batch.writes.iter().zip(before).map(|(write, item)| Written {
        before: item.map(|item| item.version),
        after: after.get(write.key()).copied(),
    });
    Ok(Ok(Batched { items, written: written.collect() }))
}

/// Refuses vectors that cannot be compared with those that stay.
fn check_vectors(
    tx: &Transaction<'_>,
    last: &BTreeMap<&ItemKey, &Write>,
) -> Result<Result<(), StoreError>, Failure> {
    let mut spaces: BTreeMap<&Tenant, Option<Space>> = BTreeMap::new();
    for (key, write) in last {
        let Write::Put(_, put) = write else { continue };
        for vector in &put.vectors {
            let common = match spaces.remove(key.tenant()) {
                Some(common) => common,
                None => space(tx, key.tenant(), last.keys().copied())?,
            };
            let common = common.unwrap_or_else(|| vector.space());
            if let Err(error) = common.admit(vector) {
                return Ok(Err(error));
            }
            spaces.insert(key.tenant(), Some(common));
        }
    }
    Ok(Ok(()))
}

/// The model and dimensions of the vectors of `tenant`, those of the items of `without` left out.
pub(crate) fn space<'a>(
    tx: &Transaction<'_>,
    tenant: &Tenant,
    without: impl Iterator<Item = &'a ItemKey>,
) -> Result<Option<Space>, Failure> {
    let Some(tenant_id) = tenant_id(tx, tenant)? else { return Ok(None) };
    let mut left_out = BTreeSet::new();
    for key in without.filter(|key| key.tenant() == tenant) {
        left_out.extend(id(tx, tenant_id, key)?);
    }
    let mut statement = tx.prepare_cached(
        "SELECT item_id, length(vector), model FROM vectors WHERE tenant_id = ?1",
    )?;
    let mut rows = statement.query([tenant_id])?;
    while let Some(row) = rows.next()? {
        if !left_out.contains(&row.get::<_, i64>(0)?) {
            let bytes: u32 = row.get(1)?;
            let model: String = row.get(2)?;
            let dimensions = bytes as usize / size_of::<f32>();
            return Ok(Some(Space { dimensions, model: model.into() }));
        }
    }
    Ok(None)
}

/// The id of the item of `key`, whether it has expired or not.
fn id(tx: &Transaction<'_>, tenant_id: i64, key: &ItemKey) -> Result<Option<i64>, Failure> {
    let mut statement = tx.prepare_cached(
        "SELECT id FROM items WHERE tenant_id = ?1 AND namespace = ?2 AND key = ?3",
    )?;
    let parameters = params![tenant_id, key.labels().as_bytes(), key.key()];
    Ok(statement.query_row(parameters, |row| row.get(0)).optional()?)
}

fn insert(
    tx: &Transaction<'_>,
    key: &ItemKey,
    put: &Put,
    before: Option<&Item>,
    now: Timestamp,
) -> Result<Version, Failure> {
    tx.prepare_cached("INSERT INTO tenants (tenant) VALUES (?1) ON CONFLICT (tenant) DO NOTHING")?
        .execute([key.tenant().as_str()])?;
    let tenant_id = tenant_id(tx, key.tenant())?;
    let ttl = put.ttl.duration();
    let terms = put.terms();
    tx.prepare_cached(
        "INSERT INTO items (tenant_id, namespace, key, created, updated, ttl, expires, terms, value)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        tenant_id,
        key.labels().as_bytes(),
        key.key(),
        stored(before.map_or(now, |item| item.created).0)?,
        stored(now.0)?,
        ttl.map(|ttl| bound(ttl.as_millis())),
        saturated(ttl.map(|ttl| now.plus(ttl))),
        bound(terms.len()),
        put.value.as_bytes(),
    ])?;
    let id = tx.last_insert_rowid();
    if !terms.is_empty() {
        let terms: Vec<_> = terms.iter().map(|term| token(tenant_id, term)).collect();
        tx.prepare_cached("INSERT INTO texts (rowid, terms) VALUES (?1, ?2)")?
            .execute((id, terms.join(" ")))?;
    }
    for (nth, vector) in put.vectors.iter().enumerate() {
        tx.prepare_cached(
            "INSERT INTO vectors (tenant_id, item_id, nth, model, vector) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![tenant_id, id, bound(nth), &*vector.space().model, vector.to_bytes()])?;
    }
    Ok(Version(crate::number::read(id)?))
}

/// A term as it stands in the index.
pub(crate) fn token(tenant_id: Option<i64>, term: &str) -> String {
    format!("{}.{term}", tenant_id.unwrap_or_default())
}

/// Removes the item of `key` from every table.
fn remove(tx: &Transaction<'_>, key: &ItemKey) -> Result<(), Failure> {
    if let Some(tenant_id) = tenant_id(tx, key.tenant())?
        && let Some(id) = id(tx, tenant_id, key)?
    {
        remove_row(tx, tenant_id, id)?;
    }
    Ok(())
}

fn remove_row(tx: &Transaction<'_>, tenant_id: i64, id: i64) -> Result<(), Failure> {
    tx.prepare_cached("DELETE FROM vectors WHERE tenant_id = ?1 AND item_id = ?2")?
        .execute([tenant_id, id])?;
    tx.prepare_cached("DELETE FROM texts WHERE rowid = ?1")?.execute([id])?;
    tx.prepare_cached("DELETE FROM items WHERE id = ?1")?.execute([id])?;
    Ok(())
}

/// Forgets a tenant if it has no item.
fn forget_tenant(tx: &Transaction<'_>, tenant_id: i64) -> Result<(), Failure> {
    tx.prepare_cached(
        "DELETE FROM tenants WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM items WHERE tenant_id = ?1)",
    )?
    .execute([tenant_id])?;
    Ok(())
}

/// Removes items that have expired, of every tenant, those first that did so first.
pub(crate) fn sweep(tx: &Transaction<'_>, now: Timestamp, limit: usize) -> Result<usize, Failure> {
    let mut statement = tx.prepare_cached(
        "SELECT id, tenant_id FROM items WHERE expires <= ?1 ORDER BY expires, id LIMIT ?2",
    )?;
    let rows = statement.query_map((bound(now.0), bound(limit)), |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
    })?;
    let expired = rows.collect::<Result<Vec<_>, _>>()?;
    for (id, tenant_id) in &expired {
        remove_row(tx, *tenant_id, *id)?;
    }
    for tenant_id in expired.iter().map(|(_, tenant_id)| *tenant_id).collect::<BTreeSet<_>>() {
        forget_tenant(tx, tenant_id)?;
    }
    Ok(expired.len())
}

/// Sets when items expire that are still there.
pub(crate) fn refresh(
    tx: &Transaction<'_>,
    lives: &[(Version, Option<Timestamp>)],
    now: Timestamp,
) -> Result<(), Failure> {
    let mut statement =
        tx.prepare_cached("UPDATE items SET expires = ?2 WHERE id = ?1 AND expires > ?3")?;
    for (version, expires) in lives {
        statement.execute(params![bound(version.0), saturated(*expires), bound(now.0)])?;
    }
    Ok(())
}
