//! The reads of logs. Nothing here writes.

use std::collections::BTreeMap;

use bytes::Bytes;
use hanok_checkpoint::{
    CheckpointError, Claim, DEADLINE, Epoch, Head, HeadSeal, Holder, Life, Link, Opened, Record,
    Snapshots, ThreadInfo, Which, deadline_label,
};
use hanok_core::{Position, RunId, Tenant, ThreadKey, Timestamp};
use rusqlite::{
    Row, Transaction,
    types::{Value, ValueRef},
};

use super::large::{COLUMNS, Table};
use crate::{
    failure::Failure,
    number::{bound, read},
};

/// A thread's row.
#[derive(Debug)]
pub(crate) struct ThreadRow {
    /// The number that its records carry.
    pub(crate) id: i64,
    /// The head of its log.
    pub(crate) head: Head,
}

/// The row of `thread`.
pub(crate) fn row(tx: &Transaction<'_>, thread: &ThreadKey) -> Result<Option<ThreadRow>, Failure> {
    let mut statement = tx.prepare_cached(
        "SELECT head, epoch, run, holder, beat, floor, life, link, seal, id FROM threads
         WHERE tenant = ?1 AND thread = ?2",
    )?;
    let mut rows = statement.query((thread.tenant().as_str(), thread.thread()))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let read = || Ok(ThreadRow { id: row.get(9)?, head: read_head(row)? });
    match read() {
        Ok(row) => Ok(Some(row)),
        Err(failure) => Err(corrupt(thread, damage(failure)?)),
    }
}

/// The failure of a thread whose row cannot be read.
fn corrupt(thread: &ThreadKey, reason: String) -> Failure {
    let (thread, position, last_good) = (thread.clone(), Position::START, Position::START);
    CheckpointError::Corrupt { thread, position, reason, last_good }.into()
}

/// Why a row cannot be read, if that is what failed.
fn damage(failure: Failure) -> Result<String, Failure> {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType};
    match failure {
        Failure::Damaged(error) => Ok(format!("the thread's row: {error}")),
        Failure::Sql(
            error @ (FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)),
        ) => Ok(format!("the thread's row: {error}")),
        other => Err(other),
    }
}

pub(crate) fn head(tx: &Transaction<'_>, thread: &ThreadKey) -> Result<Option<Head>, Failure> {
    Ok(row(tx, thread)?.map(|row| row.head))
}

pub(crate) fn open(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    at: Option<Position>,
    snapshots: Snapshots,
) -> Result<Option<Opened>, Failure> {
    let Some(ThreadRow { id, head }) = row(tx, thread)? else { return Ok(None) };
    let to = at.unwrap_or(head.position);
    let snapshot = match snapshots {
        Snapshots::Use => snapshot(tx, id, to)?,
        // What stands for the records that were cut off.
        Snapshots::Ignore => snapshot(tx, id, to.min(head.floor))?,
    };
    let from = snapshot.as_ref().map_or(Position::START, |(position, _)| *position);
    let mut statement = tx.prepare_cached(&format!(
        "SELECT position, {COLUMNS} FROM records
         WHERE thread_id = ?1 AND position > ?2 AND position <= ?3 ORDER BY position"
    ))?;
    let mut rows = statement.query((id, bound(from.0), bound(to.0)))?;
    // A damaged head may say any number.
    let some = to.0.saturating_sub(from.0).min(4096);
    let mut records = Vec::with_capacity(some as usize);
    while let Some(row) = rows.next()? {
        records.push(read_record(tx, row)?);
    }
    if at.is_none() && from.0.saturating_add(records.len() as u64) == head.position.0 {
        nothing_follows(tx, thread, id, head.position)?;
    }
    Ok(Some(Opened { head, snapshot, records }))
}

pub(crate) fn history(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    before: Option<Position>,
    limit: usize,
) -> Result<Option<Opened>, Failure> {
    let Some(ThreadRow { id, head }) = row(tx, thread)? else { return Ok(None) };
    let to = before.map_or(i64::MAX, |before| bound(before.0.saturating_sub(1)));
    let mut statement = tx.prepare_cached(&format!(
        "SELECT position, {COLUMNS} FROM records
         WHERE thread_id = ?1 AND position <= ?2 ORDER BY position DESC LIMIT ?3"
    ))?;
    let mut rows = statement.query((id, to, bound(limit)))?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        records.push(read_record(tx, row)?);
    }
    Ok(Some(Opened { head, snapshot: None, records }))
}

pub(crate) fn threads(
    tx: &Transaction<'_>,
    which: &Which,
    after: Option<&ThreadKey>,
    limit: usize,
) -> Result<Vec<ThreadInfo>, Failure> {
    let text = |text: &str| Value::Text(text.to_owned());
    let (which, mut values) = match which {
        Which::Of(tenant) => ("tenant = ?3", vec![text(tenant.as_str())]),
        Which::ForksOf(origin) => (
            "tenant = ?3 AND origin = ?4",
            vec![text(origin.tenant().as_str()), text(origin.thread())],
        ),
        Which::Labelled { tenant, name, value } => (
            "tenant = ?3 AND id IN (SELECT thread_id FROM labels WHERE name = ?4 AND value = ?5)",
            vec![text(tenant.as_str()), text(name), text(value)],
        ),
        Which::Claimed => ("run IS NOT NULL", Vec::new()),
        Which::Expired(now) => {
            ("run IS NULL AND expires <= ?3", vec![Value::Integer(bound(now.0))])
        }
        Which::Waiting(before) => (
            "id IN (SELECT thread_id FROM labels WHERE name = ?3 AND value <= ?4)",
            vec![text(DEADLINE), text(&deadline_label(*before))],
        ),
        Which::All => ("true", Vec::new()),
    };
    // No name is empty, so all names follow the empty ones.
    let after = after.map_or(("", ""), |after| (after.tenant().as_str(), after.thread()));
    values.splice(0..0, [text(after.0), text(after.1)]);
    let mut statement = tx.prepare_cached(&format!(
        "SELECT head, epoch, run, holder, beat, floor, life, link, seal,
                tenant, thread, origin, expires, updated, id FROM threads
         WHERE (tenant, thread) > (?1, ?2) AND {which} ORDER BY tenant, thread"
    ))?;
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    let (mut threads, mut named) = (Vec::new(), true);
    while threads.len() < limit || !named {
        let Some(row) = rows.next()? else { break };
        let id = row.get(14)?;
        let name = |column| Ok::<_, Failure>(String::from_utf8_lossy(bytes(row, column)?));
        let (tenant, thread) = (name(9)?, name(10)?);
        let key = Tenant::new(&tenant).and_then(|tenant| ThreadKey::new(tenant, &thread));
        named = key.is_ok();
        threads.push(match key {
            Err(_) => ThreadInfo::unnamed(&tenant, &thread, id).map_err(damaged)?,
            Ok(key) => match read_info(tx, row, &key, id) {
                Ok(info) => info,
                Err(failure) => ThreadInfo::damaged(key, damage(failure)?),
            },
        });
    }
    Ok(threads)
}

/// The bytes of a text, whatever they are.
fn bytes<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r [u8], Failure> {
    match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes),
        _ => Ok(&[]),
    }
}

/// Reads what [`threads`] selects.
fn read_info(
    tx: &Transaction<'_>,
    row: &Row<'_>,
    thread: &ThreadKey,
    id: i64,
) -> Result<ThreadInfo, Failure> {
    let time = |column| {
        let time = row.get::<_, Option<i64>>(column)?.map(read).transpose()?;
        Ok::<_, Failure>(time.map(Timestamp))
    };
    let (thread, origin, expires, updated) = (thread.clone(), row.get(11)?, time(12)?, time(13)?);
    let (head, labels, damage) = (read_head(row)?, labels(tx, id)?, None);
    Ok(ThreadInfo { thread, head, origin, expires, updated, labels, damage })
}

fn labels(tx: &Transaction<'_>, id: i64) -> Result<BTreeMap<String, String>, Failure> {
    let mut statement = tx.prepare_cached("SELECT name, value FROM labels WHERE thread_id = ?1")?;
    let labels = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(labels.collect::<Result<_, _>>()?)
}

/// The number in a thread's row has no checksum. One that is too high is noticed where records are missing, one that is
/// too low here.
fn nothing_follows(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    id: i64,
    end: Position,
) -> Result<(), Failure> {
    let mut statement =
        tx.prepare_cached("SELECT 1 FROM records WHERE thread_id = ?1 AND position > ?2 LIMIT 1")?;
    if statement.exists((id, bound(end.0)))? {
        let (thread, position, last_good) = (thread.clone(), end.next(), end);
        let reason = "it stands after the thread's end".to_owned();
        return Err(CheckpointError::Corrupt { thread, position, reason, last_good }.into());
    }
    Ok(())
}

/// The newest snapshot at or before `to`.
fn snapshot(
    tx: &Transaction<'_>,
    id: i64,
    to: Position,
) -> Result<Option<(Position, Bytes)>, Failure> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT position, {COLUMNS} FROM snapshots
         WHERE thread_id = ?1 AND position <= ?2 ORDER BY position DESC LIMIT 1"
    ))?;
    let mut rows = statement.query((id, bound(to.0)))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some((Position(read(row.get(0)?)?), Table::Snapshots.read(tx, row, 1)?)))
}

fn read_record(tx: &Transaction<'_>, row: &Row<'_>) -> Result<Record, Failure> {
    let position = Position(read(row.get(0)?)?);
    Ok(Record { position, bytes: Table::Records.read(tx, row, 1)? })
}

/// Reads `head, epoch, run, holder, beat, floor, life, link, seal`.
fn read_head(row: &Row<'_>) -> Result<Head, Failure> {
    let position = Position(read(row.get(0)?)?);
    let epoch = Epoch(read(row.get(1)?)?);
    let floor = Position(read(row.get(5)?)?);
    let life = Life::from_bytes(row.get(6)?);
    let link = row.get::<_, Option<_>>(7)?.map(Link);
    let seal = row.get::<_, Option<_>>(8)?.map(HeadSeal);
    let mut claim = None;
    if let Some(run) = row.get::<_, Option<[u8; 16]>>(2)? {
        let holder = row.get_ref(3)?.as_blob().map_err(damaged)?;
        let holder = Holder::from_bytes(holder).map_err(damaged)?;
        let beat = Timestamp(read(row.get(4)?)?);
        claim = Some(Claim { run: RunId(u128::from_be_bytes(run)), holder, epoch, beat });
    }
    Ok(Head { life, position, floor, epoch, claim, link, seal })
}

fn damaged(error: impl Into<hanok_core::BoxError>) -> Failure {
    Failure::Damaged(error.into())
}
