//! Appends: records at the end of a thread's log.

use hanok_checkpoint::{Append, Claim, Epoch, Guard, Safety};
use hanok_core::{Position, ThreadKey};
use tokio_postgres::{
    Row,
    types::{ToSql, Type},
};

use super::read::{HEAD, HEAD_COLUMNS, read_head};
use crate::{
    database::{Database, schema::Schema},
    failure::{Failure, Outlook},
    number::{bound, stored},
    server::pool::{Access, Query},
};

impl Database {
    /// Appends. Normally that is one statement, which stores nothing unless the thread is where it has to be and the guard
    /// admits it; only when it stored nothing, or that is not known, the thread is looked at.
    pub(crate) async fn append(&self, thread: &ThreadKey, append: &Append) -> Result<(), Failure> {
        let mut trying = self.pool.trying();
        loop {
            match self.try_append(thread, append).await {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(failure) if failure.outlook() == Outlook::Hopeless => return Err(failure),
                Err(failure) => trying.pause(failure).await?,
            }
            if self.is_settled(thread, append).await? {
                return Ok(());
            }
        }
    }

    /// Appends; `false` when nothing was stored because the thread is elsewhere or the guard does not admit it.
    async fn try_append(&self, thread: &ThreadKey, append: &Append) -> Result<bool, Failure> {
        let Some(put) = Put::new(thread, append, &self.schema, self.notifies())? else {
            return Ok(false);
        };
        let query = Query { sql: &put.sql, parameters: &put.parameters() };
        let answers = self.pool.ask_once(Access::Write(append.safety), &[query]).await?;
        Ok(answers.iter().any(|rows| !rows.is_empty()))
    }

    /// True when the append is stored already; an error when it may not be made.
    async fn is_settled(&self, thread: &ThreadKey, append: &Append) -> Result<bool, Failure> {
        let find = Find::new(thread, append, &self.schema);
        let query = Query { sql: &find.sql, parameters: &find.parameters() };
        let answers = self.pool.ask(Access::Read, &[query]).await?;
        let is_stored = settled(answers.first().and_then(|rows| rows.first()), thread, append)?;
        if is_stored {
            self.settle(thread, append.safety).await?;
        }
        Ok(is_stored)
    }

    /// Makes what is stored as safe as it is asked to be: an append whose answer was lost may have waited for a standby when
    /// its connection ended. A commit waits for all before it, but only one that writes something does.
    async fn settle(&self, thread: &ThreadKey, safety: Safety) -> Result<(), Failure> {
        if safety == Safety::Process {
            return Ok(());
        }
        let (tenant, name) = (thread.tenant().as_str(), thread.thread());
        let s = &self.schema;
        let sql = format!("UPDATE {s}.threads SET head = head WHERE tenant = $1 AND thread = $2");
        let parameters = &[(&tenant as _, Type::TEXT), (&name as _, Type::TEXT)];
        self.pool.ask(Access::Write(safety), &[Query { sql: &sql, parameters }]).await?;
        Ok(())
    }
}

/// The statement that appends. It gives a row if it did.
pub(crate) struct Put<'a> {
    pub(crate) sql: String,
    tenant: &'a str,
    thread: &'a str,
    expected: i64,
    id: Vec<u8>,
    records: Vec<&'a [u8]>,
    epoch: i64,
    run: Option<Vec<u8>>,
    holder: Option<Vec<u8>>,
    beat: Option<i64>,
    origin: Option<&'a str>,
    expires: Option<i64>,
    topics: Vec<&'a [u8]>,
    positions: Vec<i64>,
    items: Vec<&'a [u8]>,
    life: Vec<u8>,
    link: Option<&'a [u8]>,
    seal: Option<&'a [u8]>,
    updated: Option<i64>,
    follows: i64,
    base: Option<&'a [u8]>,
    names: Vec<&'a str>,
    values: Vec<Option<&'a str>>,
}

impl<'a> Put<'a> {
    /// `None` for a position that no log can be at.
    pub(crate) fn new(
        thread: &'a ThreadKey,
        append: &'a Append,
        schema: &Schema,
        notifies: bool,
    ) -> Result<Option<Self>, Failure> {
        if stored(append.follows().0.saturating_add(append.records.len() as u64)).is_err() {
            return Ok(None);
        }
        let (epoch, claim) = match &append.guard {
            Guard::Take(claim) => (claim.epoch, Some(claim)),
            Guard::Hold(epoch) | Guard::Release(epoch) | Guard::Clear(epoch) => (*epoch, None),
            Guard::Unclaimed => (Epoch::default(), None),
        };
        // A claim of a number that cannot be stored is refused; any other only has to compare as unequal.
        let epoch = claim.map_or(Ok(bound(epoch.0)), |claim| stored(claim.epoch.0))?;
        let positions = append.outbox.iter().map(|item| stored(item.position.0));
        Ok(Some(Self {
            sql: sql(append, schema, notifies),
            tenant: thread.tenant().as_str(),
            thread: thread.thread(),
            expected: stored(append.expected.0)?,
            id: append.id.0.to_be_bytes().to_vec(),
            records: append.records.iter().map(|record| &record.bytes[..]).collect(),
            epoch,
            run: claim.map(|claim| claim.run.0.to_be_bytes().to_vec()),
            holder: claim.map(|claim| claim.holder.to_bytes()),
            beat: claim.map(|Claim { beat, .. }| stored(beat.0)).transpose()?,
            origin: append.origin.as_deref(),
            expires: append.expires.map(|at| stored(at.0)).transpose()?,
            topics: append.outbox.iter().map(|item| item.topic.as_bytes()).collect(),
            positions: positions.collect::<Result<_, _>>()?,
            items: append.outbox.iter().map(|item| &item.bytes[..]).collect(),
            life: append.life.to_bytes().to_vec(),
            link: append.link.as_ref().map(|link| &link.0[..]),
            seal: append.seal.as_ref().map(|seal| &seal.0[..]),
            updated: append.updated.map(|at| stored(at.0)).transpose()?,
            follows: stored(append.follows().0)?,
            base: append.base.as_ref().map(|base| &base.bytes[..]),
            names: append.labels.iter().map(|(name, _)| name.as_str()).collect(),
            values: append.labels.iter().map(|(_, value)| value.as_deref()).collect(),
        }))
    }

    pub(crate) fn parameters(&self) -> [(&(dyn ToSql + Sync), Type); 22] {
        [
            (&self.tenant, Type::TEXT),
            (&self.thread, Type::TEXT),
            (&self.expected, Type::INT8),
            (&self.id, Type::BYTEA),
            (&self.records, Type::BYTEA_ARRAY),
            (&self.epoch, Type::INT8),
            (&self.run, Type::BYTEA),
            (&self.holder, Type::BYTEA),
            (&self.beat, Type::INT8),
            (&self.origin, Type::TEXT),
            (&self.expires, Type::INT8),
            (&self.topics, Type::BYTEA_ARRAY),
            (&self.positions, Type::INT8_ARRAY),
            (&self.items, Type::BYTEA_ARRAY),
            (&self.life, Type::BYTEA),
            (&self.link, Type::BYTEA),
            (&self.seal, Type::BYTEA),
            (&self.updated, Type::INT8),
            (&self.follows, Type::INT8),
            (&self.base, Type::BYTEA),
            (&self.names, Type::TEXT_ARRAY),
            (&self.values, Type::TEXT_ARRAY),
        ]
    }
}

/// One statement: the head moves if it may, and if it moved, the records and the items for others follow.
///
/// A concurrent append makes it wait for the row, and look at it again as it is then.
fn sql(append: &Append, s: &Schema, notifies: bool) -> String {
    let moved = moved(append, s);
    let sent = if append.outbox.is_empty() {
        String::new()
    } else {
        format!(
            ", sent AS (
                 INSERT INTO {s}.outbox (xact, topic, thread_id, position, bytes)
                 SELECT xact_base + pg_current_xact_id()::text::bigint, topic, id, position, bytes
                 FROM {s}.hanok_format, moved, unnest($12, $13, $14) WITH ORDINALITY AS new (topic, position, bytes, n)
                 ORDER BY new.n
             )"
        )
    };
    let labelled = if append.labels.is_empty() {
        String::new()
    } else {
        format!(
            ", labelled AS (
                 INSERT INTO {s}.labels (thread_id, name, value)
                 SELECT id, name, value FROM moved, unnest($21, $22) AS new (name, value)
                 WHERE value IS NOT NULL
                 ON CONFLICT (thread_id, name) DO UPDATE SET value = excluded.value
             ), unlabelled AS (
                 DELETE FROM {s}.labels USING moved, unnest($21, $22) AS gone (name, value)
                 WHERE thread_id = id AND labels.name = gone.name AND gone.value IS NULL
             )"
        )
    };
    let based = if append.base.is_none() || append.expected > Position::START {
        String::new()
    } else {
        format!(
            ", based AS (
                 INSERT INTO {s}.snapshots (thread_id, position, bytes) SELECT id, $19, $20 FROM moved
             )"
        )
    };
    let notify = if notifies {
        format!(", pg_notify({}, head || E'\\n' || $1 || E'\\n' || $2)", s.literal())
    } else {
        String::new()
    };
    format!(
        "WITH moved AS ({moved} RETURNING id, head),
         put AS (
             INSERT INTO {s}.records (thread_id, position, append_id, bytes)
             SELECT moved.id, $19 + new.n, $4, new.bytes
             FROM moved, unnest($5) WITH ORDINALITY AS new (bytes, n)
         ){sent}{labelled}{based}
         SELECT id{notify} FROM moved"
    )
}

/// The part that moves the head, if it may.
fn moved(append: &Append, s: &Schema) -> String {
    match (append.expected == Position::START, &append.guard) {
        // A thread that is not there has epoch 0 and no claim.
        (true, Guard::Take(_)) => insert("$6 > 0", "$6, $7, $8, $9, clock_timestamp()", s),
        (true, Guard::Clear(_)) => insert("$6 > 0", "$6, NULL, NULL, NULL, NULL", s),
        (true, Guard::Unclaimed) => insert("true", "0, NULL, NULL, NULL, NULL", s),
        (true, Guard::Hold(_) | Guard::Release(_)) => {
            insert("false", "0, NULL, NULL, NULL, NULL", s)
        }
        (false, Guard::Take(_)) => {
            let owner =
                ", epoch = $6, run = $7, holder = $8, beat = $9, beaten = clock_timestamp()";
            update("epoch < $6", owner, s)
        }
        (false, Guard::Hold(_)) => update("epoch = $6 AND run IS NOT NULL", "", s),
        (false, Guard::Release(_)) => {
            update("epoch = $6 AND run IS NOT NULL", ", run = NULL, holder = NULL, beat = NULL", s)
        }
        (false, Guard::Clear(_)) => {
            update("epoch < $6", ", epoch = $6, run = NULL, holder = NULL, beat = NULL", s)
        }
        (false, Guard::Unclaimed) => update("run IS NULL", "", s),
    }
}

/// A new thread, if `admitted`.
fn insert(admitted: &str, owner: &str, s: &Schema) -> String {
    format!(
        "INSERT INTO {s}.threads (tenant, thread, head, epoch, run, holder, beat, beaten, origin, expires,
             life, link, seal, updated, floor)
         SELECT $1, $2, $19 + cardinality($5), {owner}, $10, $11, $15, $16, $17, $18, $19
         WHERE {admitted}
         ON CONFLICT (tenant, thread) DO NOTHING"
    )
}

/// A thread that is where it has to be, if `admitted`.
fn update(admitted: &str, owner: &str, s: &Schema) -> String {
    format!(
        "UPDATE {s}.threads
         SET head = $3 + cardinality($5), expires = coalesce($11, expires), link = $16,
             seal = $17, updated = coalesce($18, updated){owner}
         WHERE tenant = $1 AND thread = $2 AND head = $3 AND life = $15 AND {admitted}"
    )
}

/// The statement that looks for an append: where the thread is, and whether the append stands where it is to stand.
pub(crate) struct Find<'a> {
    pub(crate) sql: String,
    tenant: &'a str,
    thread: &'a str,
    position: i64,
    id: Vec<u8>,
    life: Vec<u8>,
}

impl<'a> Find<'a> {
    pub(crate) fn new(thread: &'a ThreadKey, append: &Append, s: &Schema) -> Self {
        let sql = format!(
            "SELECT {HEAD}, EXISTS (
                 SELECT FROM {s}.records
                 WHERE thread_id = threads.id AND position = $3 AND append_id = $4
                       AND threads.life = $5
             )
             FROM {s}.threads WHERE tenant = $1 AND thread = $2"
        );
        let (tenant, thread) = (thread.tenant().as_str(), thread.thread());
        let position = bound(append.follows().0.saturating_add(1));
        let (id, life) = (append.id.0.to_be_bytes().to_vec(), append.life.to_bytes().to_vec());
        Self { sql, tenant, thread, position, id, life }
    }

    pub(crate) fn parameters(&self) -> [(&(dyn ToSql + Sync), Type); 5] {
        [
            (&self.tenant, Type::TEXT),
            (&self.thread, Type::TEXT),
            (&self.position, Type::INT8),
            (&self.id, Type::BYTEA),
            (&self.life, Type::BYTEA),
        ]
    }
}

/// True when [`Find`] found the append stored already; an error when it may not be made.
pub(crate) fn settled(
    row: Option<&Row>,
    thread: &ThreadKey,
    append: &Append,
) -> Result<bool, Failure> {
    let head = match row {
        Some(row) if row.try_get(HEAD_COLUMNS)? => return Ok(true),
        Some(row) => Some(read_head(row)?),
        None => None,
    };
    let life = head.as_ref().map_or(append.life, |head| head.life);
    let position = head.as_ref().map_or(Position::START, |head| head.position);
    if head.is_some() && append.is_base_of(life) {
        return Ok(true);
    }
    append.admit(thread, life, position)?;
    let (mut epoch, mut claim) =
        head.map_or_else(Default::default, |head| (head.epoch, head.claim));
    append.guard.admit(thread, &mut epoch, &mut claim)?;
    Ok(false)
}
