//! The reads of logs. Nothing here writes.

use std::time::Duration;

use bytes::Bytes;
use hanok_checkpoint::{
    CheckpointError, Claim, DEADLINE, Epoch, Head, HeadSeal, Holder, Life, Link, Opened, Record,
    Snapshots, ThreadInfo, Which, deadline_label,
};
use hanok_core::{Position, RunId, ThreadKey, Timestamp};
use tokio_postgres::{
    Row,
    types::{ToSql, Type},
};

use crate::{
    columns::{bytes, damaged, read_key},
    database::Database,
    failure::Failure,
    number::{bound, read},
    server::pool::{Access, Query},
};

/// The columns that [`read_head`] reads.
pub(crate) const HEAD: &str = "head, epoch, run, holder, beat, floor, life, link, seal";

/// The number of columns of [`HEAD`].
pub(crate) const HEAD_COLUMNS: usize = 9;

impl Database {
    pub(crate) async fn head(&self, thread: &ThreadKey) -> Result<Option<Head>, Failure> {
        let (tenant, name) = (thread.tenant().as_str(), thread.thread());
        let s = &self.schema;
        let sql = format!("SELECT {HEAD} FROM {s}.threads WHERE tenant = $1 AND thread = $2");
        let parameters = &[(&tenant as _, Type::TEXT), (&name as _, Type::TEXT)];
        let rows = self.look(&[Query { sql: &sql, parameters }]).await?;
        rows.first().and_then(|rows| rows.first()).map(|row| head_of(thread, row)).transpose()
    }

    /// The time since the last heartbeat of the claim of `epoch`, by the server's clock.
    pub(crate) async fn silence(
        &self,
        thread: &ThreadKey,
        epoch: Epoch,
    ) -> Result<Option<Duration>, Failure> {
        let (tenant, name) = (thread.tenant().as_str(), thread.thread());
        let (s, under): (_, i64) = (&self.schema, bound(epoch.0));
        let silent = format!(
            "SELECT (extract(epoch FROM clock_timestamp() - beaten) * 1000)::bigint FROM {s}.threads
             WHERE tenant = $1 AND thread = $2 AND epoch = $3 AND run IS NOT NULL"
        );
        let parameters =
            [(&tenant as _, Type::TEXT), (&name as _, Type::TEXT), (&under as _, Type::INT8)];
        let rows = self.look(&[Query { sql: &silent, parameters: &parameters }]).await?;
        let Some(row) = rows.first().and_then(|rows| rows.first()) else { return Ok(None) };
        let millis: Option<i64> = row.try_get(0)?;
        // A clock that was set back has seen no silence yet.
        Ok(millis.map(|millis| Duration::from_millis(u64::try_from(millis).unwrap_or_default())))
    }

    pub(crate) async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, Failure> {
        let (tenant, name) = (thread.tenant().as_str(), thread.thread());
        let (to, used) = (at.map_or(i64::MAX, |at| bound(at.0)), snapshots == Snapshots::Use);
        let s = &self.schema;
        let head = format!("SELECT {HEAD} FROM {s}.threads WHERE tenant = $1 AND thread = $2");
        // Without snapshots a read begins at what stands for the records that were cut off.
        let begins = format!(
            "FROM {s}.snapshots JOIN {s}.threads ON thread_id = id
             WHERE tenant = $1 AND thread = $2
                   AND position <= CASE WHEN $4 THEN $3 ELSE least($3, floor) END"
        );
        let snapshot = format!("SELECT position, bytes {begins} ORDER BY position DESC LIMIT 1");
        let records = format!(
            "SELECT position, bytes FROM {s}.records
             WHERE thread_id = (SELECT id FROM {s}.threads WHERE tenant = $1 AND thread = $2)
                   AND position > coalesce((SELECT max(position) {begins}), 0)
                   AND position <= $3
             ORDER BY position"
        );
        let parameters = [
            (&tenant as _, Type::TEXT),
            (&name as _, Type::TEXT),
            (&to as _, Type::INT8),
            (&used as _, Type::BOOL),
        ];
        let [of_key, all] = [&parameters[..2], &parameters[..]];
        let answers = self
            .look(&[
                Query { sql: &head, parameters: of_key },
                Query { sql: &snapshot, parameters: all },
                Query { sql: &records, parameters: all },
            ])
            .await?;
        let [heads, snapshots, records] = &answers[..] else { return Ok(None) };
        let Some(head) = heads.first().map(|row| head_of(thread, row)).transpose()? else {
            return Ok(None);
        };
        let snapshot = snapshots.first().map(read_record).transpose()?;
        let snapshot = snapshot.map(|it| (it.position, it.bytes));
        let mut records = records.iter().map(read_record).collect::<Result<Vec<_>, _>>()?;
        if at.is_none() {
            let from = snapshot.as_ref().map_or(Position::START, |(position, _)| *position);
            records = up_to_the_end(thread, from, head.position, records)?;
        }
        Ok(Some(Opened { head, snapshot, records }))
    }

    pub(crate) async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Option<Opened>, Failure> {
        let (tenant, name) = (thread.tenant().as_str(), thread.thread());
        let to = before.map_or(i64::MAX, |before| bound(before.0.saturating_sub(1)));
        let limit: i64 = bound(limit);
        let s = &self.schema;
        let sql = format!(
            "SELECT position, bytes FROM {s}.records
             WHERE thread_id = (SELECT id FROM {s}.threads WHERE tenant = $1 AND thread = $2)
                   AND position <= $3
             ORDER BY position DESC LIMIT $4"
        );
        let parameters = &[
            (&tenant as _, Type::TEXT),
            (&name as _, Type::TEXT),
            (&to as _, Type::INT8),
            (&limit as _, Type::INT8),
        ];
        let head = format!("SELECT {HEAD} FROM {s}.threads WHERE tenant = $1 AND thread = $2");
        let head = Query { sql: &head, parameters: &parameters[..2] };
        let answers = self.look(&[head, Query { sql: &sql, parameters }]).await?;
        let [heads, records] = &answers[..] else { return Ok(None) };
        let Some(head) = heads.first().map(|row| head_of(thread, row)).transpose()? else {
            return Ok(None);
        };
        let records = records.iter().map(read_record).collect::<Result<_, _>>()?;
        Ok(Some(Opened { head, snapshot: None, records }))
    }

    pub(crate) async fn threads(
        &self,
        which: &Which,
        after: Option<&ThreadKey>,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, Failure> {
        // No name is empty, so all names follow the empty ones.
        let mut after = after.map_or_else(Default::default, |after| {
            (after.tenant().as_str().to_owned(), after.thread().to_owned())
        });
        let mut threads = Vec::new();
        loop {
            let rows = self.page(which, &after, limit).await?;
            let Some(last) = rows.last() else { return Ok(threads) };
            after = (last.try_get(HEAD_COLUMNS)?, last.try_get(HEAD_COLUMNS + 1)?);
            let is_named = read_key(last, HEAD_COLUMNS).is_ok();
            for row in &rows {
                threads.push(read_row(row)?);
            }
            // The last of a page has to be a name to go on from.
            if is_named || rows.len() < limit {
                return Ok(threads);
            }
        }
    }

    /// The rows that follow two names, in order.
    async fn page(
        &self,
        which: &Which,
        after: &(String, String),
        limit: usize,
    ) -> Result<Vec<Row>, Failure> {
        let limit: i64 = bound(limit);
        let mut parameters: Vec<(&(dyn ToSql + Sync), Type)> =
            vec![(&after.0, Type::TEXT), (&after.1, Type::TEXT), (&limit, Type::INT8)];
        let waiting = match which {
            Which::Waiting(before) => deadline_label(*before),
            _ => String::new(),
        };
        let (tenant, text, value, now): (&str, &str, &str, i64) = match which {
            Which::Of(tenant) => (tenant.as_str(), "", "", 0),
            Which::ForksOf(origin) => (origin.tenant().as_str(), origin.thread(), "", 0),
            Which::Labelled { tenant, name, value } => (tenant.as_str(), name, value, 0),
            Which::Expired(now) => ("", "", "", bound(now.0)),
            Which::Waiting(_) => ("", DEADLINE, &waiting, 0),
            _ => ("", "", "", 0),
        };
        let s = &self.schema;
        let labelled = format!(
            "tenant = $4 AND id IN (SELECT thread_id FROM {s}.labels WHERE name = $5 AND value = $7)"
        );
        let waits =
            format!("id IN (SELECT thread_id FROM {s}.labels WHERE name = $5 AND value <= $7)");
        let named = match which {
            Which::Of(_) => "tenant = $4",
            Which::ForksOf(_) => "tenant = $4 AND origin = $5",
            Which::Labelled { .. } => &labelled,
            Which::Claimed => "run IS NOT NULL",
            Which::Expired(_) => "run IS NULL AND expires <= $6",
            Which::Waiting(_) => &waits,
            Which::All => "true",
        };
        parameters.extend([
            (&tenant as &(dyn ToSql + Sync), Type::TEXT),
            (&text, Type::TEXT),
            (&now, Type::INT8),
            (&value, Type::TEXT),
        ]);
        let sql = format!(
            "SELECT {HEAD}, tenant, thread, origin, expires, updated,
                    ARRAY(SELECT name FROM {s}.labels WHERE thread_id = id ORDER BY name),
                    ARRAY(SELECT value FROM {s}.labels WHERE thread_id = id ORDER BY name), id
             FROM {s}.threads
             WHERE (tenant, thread) > ($1, $2) AND {named} ORDER BY tenant, thread LIMIT $3"
        );
        let answers = self.look(&[Query { sql: &sql, parameters: &parameters }]).await?;
        Ok(answers.into_iter().flatten().collect())
    }

    pub(crate) async fn look(&self, queries: &[Query<'_>]) -> Result<Vec<Vec<Row>>, Failure> {
        self.pool.ask(Access::Read, queries).await
    }
}

/// The number in a thread's row has no checksum. One that is too high is noticed where records are missing, one that is
/// too low here.
fn up_to_the_end(
    thread: &ThreadKey,
    from: Position,
    end: Position,
    mut records: Vec<Record>,
) -> Result<Vec<Record>, Failure> {
    let within = records.partition_point(|record| record.position <= end);
    if within < records.len() && from.0.saturating_add(within as u64) == end.0 {
        let (thread, position, last_good) = (thread.clone(), end.next(), end);
        let reason = "it stands after the thread's end".to_owned();
        return Err(CheckpointError::Corrupt { thread, position, reason, last_good }.into());
    }
    records.truncate(within);
    Ok(records)
}

/// The entry of a row in a listing, readable or not.
fn read_row(row: &Row) -> Result<ThreadInfo, Failure> {
    let Ok(thread) = read_key(row, HEAD_COLUMNS) else {
        let (tenant, thread) = (row.try_get(HEAD_COLUMNS)?, row.try_get(HEAD_COLUMNS + 1)?);
        let id = row.try_get(HEAD_COLUMNS + 7)?;
        return ThreadInfo::unnamed(tenant, thread, id).map_err(damaged);
    };
    match read_info(row) {
        Err(Failure::Damaged(error)) => {
            Ok(ThreadInfo::damaged(thread, format!("the thread's row: {error}")))
        }
        info => info,
    }
}

/// Reads [`HEAD`]`, tenant, thread, origin, expires, updated` and the names and values of labels.
fn read_info(row: &Row) -> Result<ThreadInfo, Failure> {
    let at = |column: usize| HEAD_COLUMNS + column;
    let time = |column| {
        let time = row.try_get::<_, Option<i64>>(column)?.map(read).transpose()?;
        Ok::<_, Failure>(time.map(Timestamp))
    };
    let (thread, origin) = (read_key(row, at(0))?, row.try_get(at(2))?);
    let (expires, updated) = (time(at(3))?, time(at(4))?);
    let (names, values): (Vec<String>, Vec<String>) = (row.try_get(at(5))?, row.try_get(at(6))?);
    let labels = names.into_iter().zip(values).collect();
    let (head, damage) = (read_head(row)?, None);
    Ok(ThreadInfo { thread, head, origin, expires, updated, labels, damage })
}

/// Reads `position, bytes`.
fn read_record(row: &Row) -> Result<Record, Failure> {
    let bytes = Bytes::copy_from_slice(row.try_get(1)?);
    Ok(Record { position: Position(read(row.try_get(0)?)?), bytes })
}

/// The head of `thread`, from a row that may be damaged.
fn head_of(thread: &ThreadKey, row: &Row) -> Result<Head, Failure> {
    read_head(row).map_err(|failure| match failure {
        Failure::Damaged(error) => {
            let (position, last_good) = (Position::START, Position::START);
            let (thread, reason) = (thread.clone(), format!("the thread's row: {error}"));
            CheckpointError::Corrupt { thread, position, reason, last_good }.into()
        }
        other => other,
    })
}

/// Reads [`HEAD`].
pub(crate) fn read_head(row: &Row) -> Result<Head, Failure> {
    let position = Position(read(row.try_get(0)?)?);
    let epoch = Epoch(read(row.try_get(1)?)?);
    let floor = Position(read(row.try_get(5)?)?);
    let life = Life::from_bytes(bytes(row.try_get(6)?)?);
    let link = row.try_get::<_, Option<&[u8]>>(7)?.map(bytes).transpose()?.map(Link);
    let seal = row.try_get::<_, Option<&[u8]>>(8)?.map(bytes).transpose()?.map(HeadSeal);
    let mut claim = None;
    if let Some(run) = row.try_get::<_, Option<&[u8]>>(2)? {
        let run = RunId(u128::from_be_bytes(bytes(run)?));
        let holder = Holder::from_bytes(row.try_get(3)?).map_err(damaged)?;
        let beat = Timestamp(read(row.try_get(4)?)?);
        claim = Some(Claim { run, holder, epoch, beat });
    }
    Ok(Head { life, position, floor, epoch, claim, link, seal })
}
