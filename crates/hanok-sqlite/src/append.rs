//! What is written to a store, each within one transaction.

use bytes::Bytes;
use hanok_checkpoint::{Append, CheckpointError, Claim, Epoch, Safety};
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
    let id = put_row(tx, thread, row.map(|row| row.id), head, &owner)?;
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
) -> Result<i64, Failure> {
    let epoch = stored(epoch.0)?;
    let run = claim.as_ref().map(|claim| claim.run.0.to_be_bytes());
    let holder = claim.as_ref().map(|claim| claim.holder.to_bytes());
    let beat = claim.as_ref().map(|claim| stored(claim.beat.0)).transpose()?;
    if let Some(id) = id {
        tx.prepare_cached(
            "UPDATE threads SET head = ?2, epoch = ?3, run = ?4, holder = ?5, beat = ?6 WHERE id = ?1",
        )?
        .execute(params![id, head, epoch, run, holder, beat])?;
        return Ok(id);
    }
    tx.prepare_cached(
        "INSERT INTO threads (tenant, thread, head, epoch, run, holder, beat)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        thread.tenant().as_str(),
        thread.thread(),
        head,
        epoch,
        run,
        holder,
        beat
    ])?;
    Ok(tx.last_insert_rowid())
}

pub(crate) fn put_snapshot(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    position: Position,
    snapshot: &Bytes,
) -> Result<(), Failure> {
    let Some(ThreadRow { id, .. }) = row(tx, thread)? else { return Ok(()) };
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
pub(crate) fn delete(tx: &Transaction<'_>, thread: &ThreadKey) -> Result<bool, Failure> {
    let Some(ThreadRow { id, .. }) = row(tx, thread)? else { return Ok(false) };
    for statement in [
        "DELETE FROM records WHERE thread_id = ?1",
        "DELETE FROM snapshots WHERE thread_id = ?1",
        "DELETE FROM threads WHERE id = ?1",
    ] {
        tx.prepare_cached(statement)?.execute([id])?;
    }
    Ok(true)
}
