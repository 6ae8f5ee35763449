//! What is written to a store, each within one transaction.

use bytes::Bytes;
use hanok_checkpoint::{Append, CheckpointError, Claim, Epoch, Safety, Trim};
use hanok_core::{Position, ThreadKey, Timestamp};
use rusqlite::{OptionalExtension, Transaction, params};

use crate::{
    failure::Failure,
    file,
    number::{bound, stored},
    read::{ThreadRow, row},
};

pub(crate) fn append(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    append: &Append,
) -> Result<(), Failure> {
    let row = row(tx, thread)?;
    let actual = row.as_ref().map_or(Position::START, |row| row.head.position);
    if actual != append.expected {
        if let Some(row) = &row
            && is_stored(tx, row.id, append)?
        {
            return settle(tx, append.safety);
        }
        let (thread, expected) = (thread.clone(), append.expected);
        return Err(CheckpointError::Conflict { thread, expected, actual }.into());
    }
    let (epoch, claim) = row
        .as_ref()
        .map_or((Epoch::default(), None), |row| (row.head.epoch, row.head.claim.clone()));
    let owner = append.guard.admit(thread, epoch, claim)?;
    let head = stored(actual.0.saturating_add(append.records.len() as u64))?;
    let id = put_row(tx, thread, row.map(|row| row.id), head, &owner, append)?;
    let mut statement = tx.prepare_cached(
        "INSERT INTO records (thread_id, position, append_id, bytes) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (position, record) in (actual.next().0..).zip(&append.records) {
        statement.execute(params![
            id,
            stored(position)?,
            append.id.0.to_be_bytes(),
            &record.bytes[..]
        ])?;
    }
    for item in &append.outbox {
        tx.prepare_cached(
            "INSERT INTO outbox (topic, thread_id, position, bytes) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![item.topic, id, stored(item.position.0)?, &item.bytes[..]])?;
    }
    Ok(())
}

/// Whether `append` stands where it is to stand: then its answer was lost.
fn is_stored(tx: &Transaction<'_>, id: i64, append: &Append) -> Result<bool, Failure> {
    let mut statement =
        tx.prepare_cached("SELECT append_id FROM records WHERE thread_id = ?1 AND position = ?2")?;
    let at = bound(append.expected.next().0);
    let found: Option<Vec<u8>> = statement.query_row((id, at), |row| row.get(0)).optional()?;
    Ok(found.is_some_and(|found| found == append.id.0.to_be_bytes()))
}

/// Makes what is stored as safe as it is asked to be. An append whose answer was lost may have been on its way to the disk;
/// a commit syncs all before it, but only one that writes something does.
fn settle(tx: &Transaction<'_>, safety: Safety) -> Result<(), Failure> {
    if safety == Safety::Machine {
        tx.pragma_update(None, "user_version", file::FORMAT)?;
    }
    Ok(())
}

/// Writes the row of `thread`; returns by which id its records are found.
fn put_row(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    id: Option<i64>,
    head: i64,
    (epoch, claim): &(Epoch, Option<Claim>),
    append: &Append,
) -> Result<i64, Failure> {
    let expires = append.expires.map(|at| stored(at.0)).transpose()?;
    let epoch = stored(epoch.0)?;
    let run = claim.as_ref().map(|claim| claim.run.0.to_be_bytes());
    let holder = claim.as_ref().map(|claim| claim.holder.to_bytes());
    let beat = claim.as_ref().map(|claim| stored(claim.beat.0)).transpose()?;
    if let Some(id) = id {
        tx.prepare_cached(
            "UPDATE threads SET head = ?2, epoch = ?3, run = ?4, holder = ?5, beat = ?6,
                 expires = coalesce(?7, expires)
             WHERE id = ?1",
        )?
        .execute(params![id, head, epoch, run, holder, beat, expires])?;
        return Ok(id);
    }
    tx.prepare_cached(
        "INSERT INTO threads (tenant, thread, head, epoch, run, holder, beat, expires, origin)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?
    .execute(params![
        thread.tenant().as_str(),
        thread.thread(),
        head,
        epoch,
        run,
        holder,
        beat,
        expires,
        append.origin
    ])?;
    Ok(tx.last_insert_rowid())
}

pub(crate) fn put_snapshot(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    position: Position,
    snapshot: &Bytes,
) -> Result<(), Failure> {
    let Some(ThreadRow { id, head }) = row(tx, thread)? else { return Ok(()) };
    if position <= head.floor {
        return Ok(());
    }
    tx.prepare_cached(
        "INSERT INTO snapshots (thread_id, position, bytes) VALUES (?1, ?2, ?3)
         ON CONFLICT (thread_id, position) DO NOTHING",
    )?
    .execute(params![id, stored(position.0)?, &snapshot[..]])?;
    Ok(())
}

pub(crate) fn beat(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    epoch: Epoch,
    now: Timestamp,
) -> Result<(), Failure> {
    let row = row(tx, thread)?;
    let actual = row.as_ref().map_or(Epoch::default(), |row| row.head.epoch);
    match row.filter(|row| row.head.claim.is_some() && actual == epoch) {
        Some(row) => {
            tx.prepare_cached("UPDATE threads SET beat = ?2 WHERE id = ?1")?
                .execute((row.id, stored(now.0)?))?;
            Ok(())
        }
        None => {
            let thread = thread.clone();
            Err(CheckpointError::Fenced { thread, expected: epoch, actual }.into())
        }
    }
}

/// Removes every row of `thread`; says whether it was there.
pub(crate) fn delete(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    expected: Option<Position>,
) -> Result<bool, Failure> {
    let Some(ThreadRow { id, head }) = row(tx, thread)? else { return Ok(false) };
    if let Some(expected) = expected.filter(|expected| *expected != head.position) {
        let (thread, actual) = (thread.clone(), head.position);
        return Err(CheckpointError::Conflict { thread, expected, actual }.into());
    }
    for statement in [
        "DELETE FROM outbox WHERE thread_id = ?1",
        "DELETE FROM records WHERE thread_id = ?1",
        "DELETE FROM snapshots WHERE thread_id = ?1",
        "DELETE FROM threads WHERE id = ?1",
    ] {
        tx.prepare_cached(statement)?.execute([id])?;
    }
    Ok(true)
}

/// Cuts off a log, and appends what comes with it.
pub(crate) fn trim(tx: &Transaction<'_>, thread: &ThreadKey, trim: &Trim) -> Result<(), Failure> {
    let row = row(tx, thread)?;
    let head = row.as_ref().map_or(Position::START, |row| row.head.position);
    if let Some(expected) = trim.refused_at(head) {
        let thread = thread.clone();
        return Err(CheckpointError::Conflict { thread, expected, actual: head }.into());
    }
    if let Some(then) = &trim.then {
        append(tx, thread, then)?;
    }
    let Some(ThreadRow { id, .. }) = row.filter(|row| row.head.floor < trim.floor) else {
        return Ok(());
    };
    let floor = stored(trim.floor.0)?;
    for statement in [
        "DELETE FROM records WHERE thread_id = ?1 AND position <= ?2",
        "DELETE FROM snapshots WHERE thread_id = ?1 AND position <= ?2",
        "UPDATE threads SET floor = ?2 WHERE id = ?1",
    ] {
        tx.prepare_cached(statement)?.execute((id, floor))?;
    }
    tx.prepare_cached("INSERT INTO snapshots (thread_id, position, bytes) VALUES (?1, ?2, ?3)")?
        .execute(params![id, floor, &trim.base[..]])?;
    Ok(())
}
