//! The writes beside the log: snapshots, heartbeats, deletions and cuts.

use bytes::Bytes;
use deadpool_postgres::{Object, Transaction};
use hanok_checkpoint::{Append, CheckpointError, Epoch, Head, Life, Record, Safety, Trim};
use hanok_core::{Position, ThreadKey, Timestamp};
use tokio_postgres::types::Type;

use super::append::{Find, Put, settled};
use crate::{
    columns::bytes,
    database::Database,
    failure::{Failure, Outlook},
    number::{bound, read, stored},
    server::pool::{Access, Pool, Query},
};

impl Database {
    pub(crate) async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: &Bytes,
    ) -> Result<(), Failure> {
        let (tenant, name) = (thread.tenant().as_str(), thread.thread());
        let (position, snapshot) = (stored(position.0)?, &snapshot[..]);
        let of = life.to_bytes();
        let (s, of) = (&self.schema, &of[..]);
        // The lock keeps the thread from being deleted or cut off meanwhile, and lets appends go on.
        let sql = format!(
            "INSERT INTO {s}.snapshots (thread_id, position, bytes)
             SELECT id, $3, $4 FROM {s}.threads
             WHERE tenant = $1 AND thread = $2 AND life = $5 AND floor < $3 FOR KEY SHARE
             ON CONFLICT (thread_id, position) DO NOTHING"
        );
        let look = format!("SELECT life FROM {s}.threads WHERE tenant = $1 AND thread = $2");
        let parameters = &[
            (&tenant as _, Type::TEXT),
            (&name as _, Type::TEXT),
            (&position as _, Type::INT8),
            (&snapshot as _, Type::BYTEA),
            (&of as _, Type::BYTEA),
        ];
        let look = Query { sql: &look, parameters: &parameters[..2] };
        let answers = self.write(&[Query { sql: &sql, parameters }, look]).await?;
        match answers.get(1).and_then(|rows| rows.first()) {
            Some(row) => Ok(Life::from_bytes(bytes(row.try_get(0)?)?).admit(thread, life)?),
            None => Ok(()),
        }
    }

    pub(crate) async fn beat(
        &self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<(), Failure> {
        let (tenant, name) = (thread.tenant().as_str(), thread.thread());
        let (under, beat): (i64, _) = (bound(epoch.0), stored(now.0)?);
        let of = life.to_bytes();
        let (s, of) = (&self.schema, &of[..]);
        let set = format!(
            "UPDATE {s}.threads SET beat = $4, beaten = clock_timestamp()
             WHERE tenant = $1 AND thread = $2 AND epoch = $3 AND life = $5 AND run IS NOT NULL
             RETURNING id"
        );
        let parameters = [
            (&tenant as _, Type::TEXT),
            (&name as _, Type::TEXT),
            (&under as _, Type::INT8),
            (&beat as _, Type::INT8),
            (&of as _, Type::BYTEA),
        ];
        let look = format!("SELECT epoch, life FROM {s}.threads WHERE tenant = $1 AND thread = $2");
        let answers = self
            .write(&[
                Query { sql: &set, parameters: &parameters },
                Query { sql: &look, parameters: &parameters[..2] },
            ])
            .await?;
        if answers.first().is_some_and(|rows| !rows.is_empty()) {
            return Ok(());
        }
        let row = answers.get(1).and_then(|rows| rows.first());
        if let Some(row) = row {
            Life::from_bytes(bytes(row.try_get(1)?)?).admit(thread, life)?;
        }
        let actual = row.map_or(Ok(0), |row| row.try_get(0))?;
        let (thread, actual) = (thread.clone(), Epoch(read(actual)?));
        Err(CheckpointError::Fenced { thread, expected: epoch, actual }.into())
    }

    /// Removes every row of `thread`; says whether it was there.
    pub(crate) async fn delete(
        &self,
        thread: &ThreadKey,
        expected: Option<&Head>,
    ) -> Result<bool, Failure> {
        let (tenant, name) = (thread.tenant().as_str(), thread.thread());
        let at: Option<i64> = expected.map(|expected| bound(expected.position.0));
        let of: Option<Vec<u8>> = expected.map(|expected| expected.life.to_bytes().to_vec());
        let s = &self.schema;
        // A statement sees what was committed before it began: so the thread is locked by one of its own, and what an append
        // under way still brings is there for the next.
        let lock = format!(
            "SELECT head, life FROM {s}.threads WHERE tenant = $1 AND thread = $2 FOR UPDATE"
        );
        let delete = format!(
            "WITH gone AS (
                 DELETE FROM {s}.threads
                 WHERE tenant = $1 AND thread = $2 AND ($3 IS NULL OR head = $3 AND life = $4)
                 RETURNING id
             ), records AS (
                 DELETE FROM {s}.records USING gone WHERE thread_id = gone.id
             ), labels AS (
                 DELETE FROM {s}.labels USING gone WHERE thread_id = gone.id
             ), snapshots AS (
                 DELETE FROM {s}.snapshots USING gone WHERE thread_id = gone.id
             ), outbox AS (
                 DELETE FROM {s}.outbox USING gone WHERE thread_id = gone.id
             )
             SELECT id FROM gone"
        );
        let all = [
            (&tenant as _, Type::TEXT),
            (&name as _, Type::TEXT),
            (&at as _, Type::INT8),
            (&of as _, Type::BYTEA),
        ];
        let queries =
            [Query { sql: &lock, parameters: &all[..2] }, Query { sql: &delete, parameters: &all }];
        let answers = self.pool.ask(Access::Write(Safety::Machine), &queries).await?;
        let Some(row) = answers.first().and_then(|rows| rows.first()) else { return Ok(false) };
        let (actual, life) = (Position(read(row.try_get(0)?)?), bytes(row.try_get(1)?)?);
        if let Some(expected) = expected {
            expected.admit(thread, Life::from_bytes(life), actual)?;
        }
        Ok(true)
    }

    /// Cuts off a log, and appends what comes with it. It may be done twice: an append has an id, and a floor only rises.
    pub(crate) async fn trim(&self, thread: &ThreadKey, trim: &Trim) -> Result<(), Failure> {
        let mut trying = self.pool.trying();
        loop {
            let mode = Access::Write(Safety::Machine);
            match self.try_trim(mode, thread, trim).await {
                Err(failure) if failure.outlook() != Outlook::Hopeless => {
                    trying.pause(failure).await?;
                }
                done => return done,
            }
        }
    }

    async fn try_trim(&self, mode: Access, thread: &ThreadKey, trim: &Trim) -> Result<(), Failure> {
        let mut client = self.pool.connection().await?;
        let trimmed = self.pool.in_time(5, self.trim_on(&mut client, mode, thread, trim)).await;
        Pool::give_back(client, trimmed)
    }

    async fn trim_on(
        &self,
        client: &mut Object,
        mode: Access,
        thread: &ThreadKey,
        trim: &Trim,
    ) -> Result<(), Failure> {
        let transaction = client.transaction().await?;
        transaction.batch_execute(self.pool.settings(mode)).await?;
        let s = &self.schema;
        let (tenant, name) = (thread.tenant().as_str(), thread.thread());
        let lock = format!(
            "SELECT head, floor, life FROM {s}.threads WHERE tenant = $1 AND thread = $2 FOR UPDATE"
        );
        let key = [(&tenant as _, Type::TEXT), (&name as _, Type::TEXT)];
        let row = transaction.query_typed_opt(&lock, &key).await?;
        let (head, known, life): (i64, i64, Life) = match row {
            Some(row) => {
                (row.try_get(0)?, row.try_get(1)?, Life::from_bytes(bytes(row.try_get(2)?)?))
            }
            None => (0, 0, trim.life),
        };
        let floor: i64 = bound(trim.floor.0);
        trim.admit(thread, life, Position(read(head)?))?;
        if let Some(then) = &trim.then {
            self.append_within(&transaction, thread, then).await?;
        }
        if floor > known {
            let base = &trim.base[..];
            let cut = format!(
                "WITH cut AS (
                     UPDATE {s}.threads SET floor = $3 WHERE tenant = $1 AND thread = $2 RETURNING id
                 ), records AS (
                     DELETE FROM {s}.records USING cut WHERE thread_id = cut.id AND position <= $3
                 ), snapshots AS (
                     DELETE FROM {s}.snapshots USING cut WHERE thread_id = cut.id AND position < $3
                 )
                 INSERT INTO {s}.snapshots (thread_id, position, bytes) SELECT id, $3, $4 FROM cut
                 ON CONFLICT (thread_id, position) DO UPDATE SET bytes = excluded.bytes"
            );
            let [tenant, name] = key;
            let parameters = [tenant, name, (&floor, Type::INT8), (&base, Type::BYTEA)];
            transaction.execute_typed(&cut, &parameters).await?;
            self.put_envelopes(&transaction, thread, &trim.envelopes).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Puts what is left of erased records in their place. Of what they were appended by, nothing is left.
    async fn put_envelopes(
        &self,
        transaction: &Transaction<'_>,
        thread: &ThreadKey,
        envelopes: &[Record],
    ) -> Result<(), Failure> {
        if envelopes.is_empty() {
            return Ok(());
        }
        let (tenant, name) = (thread.tenant().as_str(), thread.thread());
        let positions = envelopes.iter().map(|record| stored(record.position.0));
        let positions = positions.collect::<Result<Vec<_>, _>>()?;
        let bytes: Vec<_> = envelopes.iter().map(|record| &record.bytes[..]).collect();
        let s = &self.schema;
        let put = format!(
            "INSERT INTO {s}.records (thread_id, position, append_id, bytes)
             SELECT id, new.position, '', new.bytes
             FROM {s}.threads, unnest($3, $4) AS new (position, bytes)
             WHERE tenant = $1 AND thread = $2"
        );
        let parameters = [
            (&tenant as _, Type::TEXT),
            (&name as _, Type::TEXT),
            (&positions as _, Type::INT8_ARRAY),
            (&bytes as _, Type::BYTEA_ARRAY),
        ];
        transaction.execute_typed(&put, &parameters).await?;
        Ok(())
    }

    /// Appends to a thread whose row is locked.
    async fn append_within(
        &self,
        transaction: &Transaction<'_>,
        thread: &ThreadKey,
        append: &Append,
    ) -> Result<(), Failure> {
        if let Some(put) = Put::new(thread, append, &self.schema, self.notifies())?
            && !transaction.query_typed(&put.sql, &put.parameters()).await?.is_empty()
        {
            return Ok(());
        }
        let find = Find::new(thread, append, &self.schema);
        let found = transaction.query_typed_opt(&find.sql, &find.parameters()).await?;
        if settled(found.as_ref(), thread, append)? {
            return Ok(());
        }
        // Only a thread that was not there could change meanwhile: somebody made and removed it.
        let (thread, expected, actual) = (thread.clone(), append.expected, append.expected);
        Err(CheckpointError::Conflict { thread, expected, actual }.into())
    }

    async fn write(&self, queries: &[Query<'_>]) -> Result<Vec<Vec<tokio_postgres::Row>>, Failure> {
        self.pool.ask(Access::Write(Safety::Process), queries).await
    }
}
