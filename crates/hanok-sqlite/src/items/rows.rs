//! The rows of items, as they are read.

use std::time::Duration;

use hanok_checkpoint::{Item, Read, Version};
use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
use rusqlite::{OptionalExtension, Row, Transaction, params};

use crate::{
    failure::Failure,
    number::{bound, read as number},
};

/// The columns that [`item`] reads.
pub(crate) const COLUMNS: &str = "id, namespace, key, created, updated, ttl, expires, value";

/// The number of `tenant` in the file; `None` while it has no items.
pub(crate) fn tenant_id(tx: &Transaction<'_>, tenant: &Tenant) -> Result<Option<i64>, Failure> {
    let mut statement = tx.prepare_cached("SELECT id FROM tenants WHERE tenant = ?1")?;
    Ok(statement.query_row([tenant.as_str()], |row| row.get(0)).optional()?)
}

/// The item of each of `reads`.
pub(crate) fn read(
    tx: &Transaction<'_>,
    reads: &[Read],
    now: Timestamp,
) -> Result<Vec<Option<Item>>, Failure> {
    reads.iter().map(|read| live(tx, &read.key, now)).collect()
}

/// The item of `key`, if it is there.
pub(crate) fn live(
    tx: &Transaction<'_>,
    key: &ItemKey,
    now: Timestamp,
) -> Result<Option<Item>, Failure> {
    let Some(tenant) = tenant_id(tx, key.tenant())? else { return Ok(None) };
    let mut statement = tx.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM items WHERE tenant_id = ?1 AND namespace = ?2 AND key = ?3"
    ))?;
    let mut rows = statement.query(params![tenant, key.labels().as_bytes(), key.key()])?;
    let item = rows.next()?.map(|row| item(row, key.tenant())).transpose()?;
    Ok(item.filter(|item| item.is_live(now)))
}

/// The item of a row of [`COLUMNS`].
pub(crate) fn item(row: &Row<'_>, tenant: &Tenant) -> Result<Item, Failure> {
    let timestamp = |at| Ok::<_, Failure>(Timestamp(number(row.get(at)?)?));
    let option = |at| row.get::<_, Option<i64>>(at)?.map(number).transpose();
    let value: Vec<u8> = row.get(7)?;
    Ok(Item {
        version: Version(number(row.get(0)?)?),
        key: key(row, tenant)?,
        created: timestamp(3)?,
        updated: timestamp(4)?,
        ttl: option(5)?.map(Duration::from_millis),
        expires: option(6)?.map(Timestamp),
        value: stored(value)?,
    })
}

/// The name of the item of a row whose second and third columns are its namespace and its key.
pub(crate) fn key(row: &Row<'_>, tenant: &Tenant) -> Result<ItemKey, Failure> {
    let namespace = row.get_ref(1)?.as_blob().map_err(damaged)?;
    let labels =
        Labels::from_bytes(namespace).ok_or_else(|| damaged("a namespace has no labels"))?;
    ItemKey::new(tenant.clone(), labels, row.get_ref(2)?.as_str().map_err(damaged)?)
        .map_err(damaged)
}

pub(crate) fn stored(value: Vec<u8>) -> Result<Stored, Failure> {
    Stored::from_bytes(value).map_err(damaged)
}

/// When `item` expires that was read at `now`.
pub(crate) fn refreshed(item: &Item, now: Timestamp) -> Option<Timestamp> {
    item.expires.max(item.ttl.map(|ttl| now.plus(ttl)))
}

/// A moment or a duration to store; what is beyond all that can be stored is as good as never.
pub(crate) fn saturated(time: Option<Timestamp>) -> Option<i64> {
    time.map(|time| bound(time.0))
}

pub(crate) fn damaged(error: impl Into<hanok_core::BoxError>) -> Failure {
    Failure::Damaged(error.into())
}
