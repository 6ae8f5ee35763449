//! Items for others.

use hanok_checkpoint::{Cursor, Life, OutboxItem};
use hanok_core::{Position, Tenant, ThreadKey};
use rusqlite::{OptionalExtension, Transaction, params};

use crate::{
    failure::Failure,
    number::{bound, read},
};

pub(crate) fn items(
    tx: &Transaction<'_>,
    consumer: &str,
    topic: &str,
    limit: usize,
) -> Result<Vec<OutboxItem>, Failure> {
    let done = "SELECT done FROM consumers WHERE topic = ?1 AND consumer = ?2";
    let done =
        tx.prepare_cached(done)?.query_row((topic, consumer), |row| row.get(0)).optional()?;
    let mut statement = tx.prepare_cached(
        "SELECT cursor, position, bytes, tenant, thread, life
         FROM outbox JOIN threads ON threads.id = outbox.thread_id
         WHERE topic = ?1 AND cursor > ?2 ORDER BY cursor LIMIT ?3",
    )?;
    let mut rows = statement.query(params![topic, done.unwrap_or(0_i64), bound(limit)])?;
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        let damaged = |error: hanok_core::BoxError| Failure::Damaged(error);
        let tenant = Tenant::new(&row.get::<_, String>(3)?).map_err(|e| damaged(e.into()))?;
        let thread = ThreadKey::new(tenant, &row.get::<_, String>(4)?);
        items.push(OutboxItem {
            cursor: Cursor(u128::from(read(row.get(0)?)?)),
            thread: thread.map_err(|e| damaged(e.into()))?,
            life: Life::from_bytes(row.get(5)?),
            position: Position(read(row.get(1)?)?),
            bytes: row.get::<_, Vec<u8>>(2)?.into(),
        });
    }
    Ok(items)
}

pub(crate) fn advance(
    tx: &Transaction<'_>,
    consumer: &str,
    topic: &str,
    to: Cursor,
) -> Result<(), Failure> {
    tx.prepare_cached(
        "INSERT INTO consumers (topic, consumer, done) VALUES (?1, ?2, ?3)
         ON CONFLICT (topic, consumer) DO UPDATE SET done = max(done, excluded.done)",
    )?
    .execute((topic, consumer, bound(to.0)))?;
    tx.prepare_cached(
        "DELETE FROM outbox WHERE topic = ?1
         AND cursor <= (SELECT min(done) FROM consumers WHERE topic = ?1)",
    )?
    .execute([topic])?;
    Ok(())
}
