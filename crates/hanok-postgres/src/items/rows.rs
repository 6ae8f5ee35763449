//! The rows of items, as they are read.

use std::time::Duration;

use hanok_checkpoint::{Item, Version};
use hanok_core::{ItemKey, Labels, Stored, Tenant, Timestamp};
use tokio_postgres::{
    Row,
    types::{ToSql, Type},
};

use crate::{
    database::Database,
    failure::Failure,
    number::read as number,
    server::pool::{Access, Query},
};

/// The columns that [`item`] reads.
pub(crate) const COLUMNS: &str =
    "items.id, namespace, items.key, created, updated, ttl, expires, value";

/// The parts of names, one list each.
pub(crate) struct Names<'a> {
    pub(crate) tenants: Vec<&'a str>,
    pub(crate) namespaces: Vec<&'a [u8]>,
    pub(crate) keys: Vec<&'a str>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(keys: &[&'a ItemKey]) -> Self {
        Self {
            tenants: keys.iter().map(|key| key.tenant().as_str()).collect(),
            namespaces: keys.iter().map(|key| key.labels().as_bytes()).collect(),
            keys: keys.iter().map(|key| key.key()).collect(),
        }
    }

    /// The parameters of [`Database::find_items`].
    pub(crate) fn parameters(&self) -> [(&(dyn ToSql + Sync), Type); 3] {
        [
            (&self.tenants as _, Type::TEXT_ARRAY),
            (&self.namespaces as _, Type::BYTEA_ARRAY),
            (&self.keys as _, Type::TEXT_ARRAY),
        ]
    }
}

impl Database {
    /// The statement that finds the rows of [`Names`], live or not. Before the columns stands whose name it is.
    pub(crate) fn find_items(&self) -> String {
        let s = &self.schema;
        format!(
            "SELECT named.n, {COLUMNS} FROM unnest($1, $2, $3) WITH ORDINALITY
                 AS named (tenant, namespace_asked, key, n)
             JOIN {s}.tenants ON tenants.tenant = named.tenant
             JOIN {s}.items ON tenant_id = tenants.id AND namespace = namespace_asked
                 AND items.key = named.key"
        )
    }

    /// The items of `keys` that are there.
    pub(crate) async fn read_items(
        &self,
        keys: &[&ItemKey],
        now: Timestamp,
    ) -> Result<Vec<Option<Item>>, Failure> {
        let names = Names::new(keys);
        let parameters = names.parameters();
        let sql = self.find_items();
        let queries = [Query { sql: &sql, parameters: &parameters }];
        let answers = self.pool.ask(Access::Read, &queries).await?;
        let found = by_name(answers.iter().flatten(), keys)?;
        Ok(found.into_iter().map(|item| item.filter(|item| item.is_live(now))).collect())
    }
}

/// The row that [`Database::find_items`] found for each of `keys`.
pub(crate) fn by_name<'r>(
    rows: impl Iterator<Item = &'r Row>,
    keys: &[&ItemKey],
) -> Result<Vec<Option<Item>>, Failure> {
    let mut found = vec![None; keys.len()];
    for row in rows {
        // Ordinals count from 1.
        let at = usize::try_from(row.try_get::<_, i64>(0)?)?.saturating_sub(1);
        if let (Some(place), Some(key)) = (found.get_mut(at), keys.get(at)) {
            *place = Some(item(row, 1, key.tenant())?);
        }
    }
    Ok(found)
}

/// The item of a row whose columns from `at` on are [`COLUMNS`].
pub(crate) fn item(row: &Row, at: usize, tenant: &Tenant) -> Result<Item, Failure> {
    let timestamp = |at| Ok::<_, Failure>(Timestamp(number(row.try_get(at)?)?));
    let option = |at| row.try_get::<_, Option<i64>>(at)?.map(number).transpose();
    Ok(Item {
        version: Version(number(row.try_get(at)?)?),
        key: key(row, at + 1, tenant)?,
        created: timestamp(at + 3)?,
        updated: timestamp(at + 4)?,
        ttl: option(at + 5)?.map(Duration::from_millis),
        expires: option(at + 6)?.map(Timestamp),
        value: stored(row.try_get(at + 7)?)?,
    })
}

/// The name of the item of a row whose columns from `at` on are its namespace and its key.
pub(crate) fn key(row: &Row, at: usize, tenant: &Tenant) -> Result<ItemKey, Failure> {
    let labels = labels(row, at)?;
    ItemKey::new(tenant.clone(), labels, row.try_get(at + 1)?).map_err(damaged)
}

pub(crate) fn labels(row: &Row, at: usize) -> Result<Labels, Failure> {
    Labels::from_bytes(row.try_get(at)?).ok_or_else(|| damaged("a namespace has no labels"))
}

pub(crate) fn stored(value: &[u8]) -> Result<Stored, Failure> {
    Stored::from_bytes(value.to_vec()).map_err(damaged)
}

/// When `item` expires that was read at `now`.
pub(crate) fn refreshed(item: &Item, now: Timestamp) -> Option<Timestamp> {
    item.expires.max(item.ttl.map(|ttl| now.plus(ttl)))
}

pub(crate) fn damaged(error: impl Into<hanok_core::BoxError>) -> Failure {
    Failure::Damaged(error.into())
}
