//! The writes to a log, each within one transaction.

use bytes::Bytes;
use hanok_checkpoint::{Append, CheckpointError, Claim, Epoch, Head, Life, Safety, Trim};
use hanok_core::{Position, ThreadKey, Timestamp};
use rusqlite::{OptionalExtension, Transaction, params};

use super::{
    large::{Put, Table},
    read::{ThreadRow, row},
};
use crate::{
    failure::Failure,
    file::format::FORMAT,
    number::{bound, stored},
};

pub(crate) fn append(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    append: &Append,
) -> Result<(), Failure> {
    let row = row(tx, thread)?;
    let head = row.as_ref().map(|row| &row.head);
    let actual = head.map_or(Position::START, |head| head.position);
    if let Some(row) = &row
        && actual != append.expected
        && row.head.life == append.life
        && (append.is_base_of(row.head.life) || is_stored(tx, row.id, append)?)
    {
        return settle(tx, append.safety);
    }
    append.admit(thread, head.map_or(append.life, |head| head.life), actual)?;
    let (mut epoch, mut claim) =
        head.map_or((Epoch::default(), None), |head| (head.epoch, head.claim.clone()));
    append.guard.admit(thread, &mut epoch, &mut claim)?;
    let owner = Owner { epoch, claim };
    let follows = append.follows();
    let head = stored(follows.0.saturating_add(append.records.len() as u64))?;
    let id = put_row(tx, thread, row.map(|row| row.id), head, &owner, append)?;
    put_records(tx, id, append)?;
    put_labels(tx, id, append)?;
    for item in &append.outbox {
        tx.prepare_cached(
            "INSERT INTO outbox (topic, thread_id, position, bytes) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![item.topic, id, stored(item.position.0)?, &item.bytes[..]])?;
    }
    Ok(())
}

fn put_records(tx: &Transaction<'_>, id: i64, append: &Append) -> Result<(), Failure> {
    let mut statement = tx.prepare_cached(
        "INSERT INTO records (thread_id, position, append_id, bytes)
         VALUES (?1, ?2, ?3, iif(typeof(?4) = 'integer', zeroblob(?4), ?4))",
    )?;
    for (position, record) in (append.follows().next().0..).zip(&append.records) {
        statement.execute(params![
            id,
            stored(position)?,
            append.id.0.to_be_bytes(),
            Put(&record.bytes)
        ])?;
        Table::Records.write(tx, &record.bytes)?;
    }
    Ok(())
}

fn put_labels(tx: &Transaction<'_>, id: i64, append: &Append) -> Result<(), Failure> {
    for (name, value) in &append.labels {
        match value {
            Some(value) => tx
                .prepare_cached(
                    "INSERT INTO labels (thread_id, name, value) VALUES (?1, ?2, ?3)
                     ON CONFLICT (thread_id, name) DO UPDATE SET value = excluded.value",
                )?
                .execute(params![id, name, value])?,
            None => tx
                .prepare_cached("DELETE FROM labels WHERE thread_id = ?1 AND name = ?2")?
                .execute(params![id, name])?,
        };
    }
    Ok(())
}

/// True when `append` is stored where it belongs: then its answer was lost.
fn is_stored(tx: &Transaction<'_>, id: i64, append: &Append) -> Result<bool, Failure> {
    let mut statement =
        tx.prepare_cached("SELECT append_id FROM records WHERE thread_id = ?1 AND position = ?2")?;
    let at = bound(append.follows().next().0);
    let stored: Option<Vec<u8>> = statement.query_row((id, at), |row| row.get(0)).optional()?;
    Ok(stored.is_some_and(|stored| stored == append.id.0.to_be_bytes()))
}

/// Makes what is stored as safe as it is asked to be. An append whose answer was lost may have been on its way to the disk;
/// a commit syncs all before it, but only one that writes something does.
fn settle(tx: &Transaction<'_>, safety: Safety) -> Result<(), Failure> {
    if safety == Safety::Machine {
        tx.pragma_update(None, "user_version", FORMAT)?;
    }
    Ok(())
}

/// The run that a thread belongs to, if there is one, and the newest epoch of a claim on it.
struct Owner {
    epoch: Epoch,
    claim: Option<Claim>,
}

/// Writes the row of `thread`; returns the id of its records.
fn put_row(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    id: Option<i64>,
    head: i64,
    owner: &Owner,
    append: &Append,
) -> Result<i64, Failure> {
    let expires = append.expires.map(|at| stored(at.0)).transpose()?;
    let epoch = stored(owner.epoch.0)?;
    let claim = owner.claim.as_ref();
    let run = claim.map(|claim| claim.run.0.to_be_bytes());
    let holder = claim.map(|claim| claim.holder.to_bytes());
    let beat = claim.map(|claim| stored(claim.beat.0)).transpose()?;
    let updated = append.updated.map(|at| stored(at.0)).transpose()?;
    let (link, seal) = (append.link.map(|link| link.0), append.seal.map(|seal| seal.0));
    if let Some(id) = id {
        tx.prepare_cached(
            "UPDATE threads SET head = ?2, epoch = ?3, run = ?4, holder = ?5, beat = ?6,
                 expires = coalesce(?7, expires), link = ?8, seal = ?9,
                 updated = coalesce(?10, updated)
             WHERE id = ?1",
        )?
        .execute(params![id, head, epoch, run, holder, beat, expires, link, seal, updated])?;
        return Ok(id);
    }
    let floor = append.base.as_ref().map_or(Position::START, |base| base.floor);
    tx.prepare_cached(
        "INSERT INTO threads (tenant, thread, head, epoch, run, holder, beat, expires, origin,
             life, link, seal, updated, floor)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
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
        append.origin,
        append.life.to_bytes(),
        link,
        seal,
        updated,
        stored(floor.0)?,
    ])?;
    let id = tx.last_insert_rowid();
    if let Some(base) = &append.base {
        insert_snapshot(tx, id, base.floor, &base.bytes)?;
    }
    Ok(id)
}

fn insert_snapshot(
    tx: &Transaction<'_>,
    id: i64,
    position: Position,
    bytes: &[u8],
) -> Result<(), Failure> {
    let mut statement = tx.prepare_cached(
        "INSERT INTO snapshots (thread_id, position, bytes)
         VALUES (?1, ?2, iif(typeof(?3) = 'integer', zeroblob(?3), ?3))
         ON CONFLICT (thread_id, position) DO NOTHING",
    )?;
    match statement.execute(params![id, stored(position.0)?, Put(bytes)])? {
        0 => Ok(()),
        _ => Table::Snapshots.write(tx, bytes),
    }
}

pub(crate) fn put_snapshot(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    life: Life,
    position: Position,
    snapshot: &Bytes,
) -> Result<(), Failure> {
    let Some(ThreadRow { id, head }) = row(tx, thread)? else { return Ok(()) };
    head.life.admit(thread, life)?;
    match position > head.floor {
        true => insert_snapshot(tx, id, position, snapshot),
        false => Ok(()),
    }
}

pub(crate) fn beat(
    tx: &Transaction<'_>,
    thread: &ThreadKey,
    life: Life,
    epoch: Epoch,
    now: Timestamp,
) -> Result<(), Failure> {
    let row = row(tx, thread)?;
    row.as_ref().map_or(Ok(()), |row| row.head.life.admit(thread, life))?;
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
    expected: Option<&Head>,
) -> Result<bool, Failure> {
    let Some(ThreadRow { id, head }) = row(tx, thread)? else { return Ok(false) };
    expected.map_or(Ok(()), |expected| expected.admit(thread, head.life, head.position))?;
    for statement in [
        "DELETE FROM outbox WHERE thread_id = ?1",
        "DELETE FROM records WHERE thread_id = ?1",
        "DELETE FROM labels WHERE thread_id = ?1",
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
    let head = row.as_ref().map(|row| (row.head.life, row.head.position));
    let (life, head) = head.unwrap_or((trim.life, Position::START));
    trim.admit(thread, life, head)?;
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
    insert_snapshot(tx, id, trim.floor, &trim.base)?;
    // Of what an erased record was appended by, nothing is left either.
    let mut statement = tx.prepare_cached(
        "INSERT INTO records (thread_id, position, append_id, bytes)
         VALUES (?1, ?2, x'', iif(typeof(?3) = 'integer', zeroblob(?3), ?3))",
    )?;
    for record in &trim.envelopes {
        statement.execute(params![id, stored(record.position.0)?, Put(&record.bytes)])?;
        Table::Records.write(tx, &record.bytes)?;
    }
    Ok(())
}
