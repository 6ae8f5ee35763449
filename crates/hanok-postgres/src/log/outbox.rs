//! Items for others.
//!
//! An item is numbered by its transaction, in the order in which transactions begin to write; they end in another. So only items
//! of transactions before the oldest that still runs are handed out: none can appear before them any more.

use std::time::Duration;

use bytes::Bytes;
use hanok_checkpoint::{Cursor, Life, OutboxItem, Safety};
use hanok_core::Position;
use tokio::time;
use tokio_postgres::{Row, types::Type};

use crate::{
    columns::{bytes, read_key},
    database::Database,
    failure::Failure,
    number::{bound, read},
    server::pool::{Access, Query},
};

/// The number of looks for items that are stored and may not be handed out yet, and their pauses.
const LOOKS: usize = 50;
const PAUSE: Duration = Duration::from_millis(20);

impl Database {
    pub(crate) async fn outbox(
        &self,
        consumer: &str,
        topic: &str,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, Failure> {
        let (consumer, topic) = (consumer.as_bytes(), topic.as_bytes());
        let limit: i64 = bound(limit);
        let s = &self.schema;
        let sql = format!(
            "WITH done AS (
                 SELECT coalesce(max(xact), 0) AS xact, coalesce(max(seq), 0) AS seq
                 FROM {s}.consumers WHERE topic = $1 AND consumer = $2
             )
             SELECT xact, seq, position, bytes, tenant, thread, life,
                    xact < (SELECT xact_base FROM {s}.hanok_format)
                           + pg_snapshot_xmin(pg_current_snapshot())::text::bigint
             FROM {s}.outbox JOIN {s}.threads ON id = thread_id
             WHERE topic = $1 AND (xact, seq) > (SELECT xact, seq FROM done)
             ORDER BY xact, seq LIMIT $3"
        );
        let parameters =
            &[(&topic as _, Type::BYTEA), (&consumer as _, Type::BYTEA), (&limit as _, Type::INT8)];
        let mut looks = 0;
        loop {
            let answers = self.pool.ask(Access::Read, &[Query { sql: &sql, parameters }]).await?;
            let rows: Vec<Row> = answers.into_iter().flatten().collect();
            let ready = rows.iter().map(|row| row.try_get(7)).collect::<Result<Vec<bool>, _>>()?;
            let ready = ready.iter().take_while(|ready| **ready).count();
            looks += 1;
            // Most transactions end at once: who asks for the items of one need not ask twice.
            if ready == rows.len() || looks == LOOKS {
                return rows.iter().take(ready).map(read_item).collect();
            }
            time::sleep(PAUSE).await;
        }
    }

    pub(crate) async fn advance(
        &self,
        consumer: &str,
        topic: &str,
        to: Cursor,
    ) -> Result<(), Failure> {
        let (consumer, topic) = (consumer.as_bytes(), topic.as_bytes());
        let (xact, seq): (i64, i64) = (bound(to.0 >> 64), bound(to.0 & u128::from(u64::MAX)));
        let s = &self.schema;
        let advance = format!(
            "INSERT INTO {s}.consumers AS known (topic, consumer, xact, seq) VALUES ($1, $2, $3, $4)
             ON CONFLICT (topic, consumer) DO UPDATE SET xact = excluded.xact, seq = excluded.seq
             WHERE (known.xact, known.seq) < (excluded.xact, excluded.seq)"
        );
        let clear = format!(
            "DELETE FROM {s}.outbox WHERE topic = $1 AND (xact, seq) <= (
                 SELECT xact, seq FROM {s}.consumers WHERE topic = $1 ORDER BY xact, seq LIMIT 1
             )"
        );
        let parameters = [
            (&topic as _, Type::BYTEA),
            (&consumer as _, Type::BYTEA),
            (&xact as _, Type::INT8),
            (&seq as _, Type::INT8),
        ];
        let queries = [
            Query { sql: &advance, parameters: &parameters },
            Query { sql: &clear, parameters: &parameters[..1] },
        ];
        self.pool.ask(Access::Write(Safety::Process), &queries).await?;
        Ok(())
    }
}

/// Reads `xact, seq, position, bytes, tenant, thread, life`.
fn read_item(row: &Row) -> Result<OutboxItem, Failure> {
    let (xact, seq) = (read(row.try_get(0)?)?, read(row.try_get(1)?)?);
    Ok(OutboxItem {
        cursor: Cursor(u128::from(xact) << 64 | u128::from(seq)),
        thread: read_key(row, 4)?,
        life: Life::from_bytes(bytes(row.try_get(6)?)?),
        position: Position(read(row.try_get(2)?)?),
        bytes: Bytes::copy_from_slice(row.try_get(3)?),
    })
}
