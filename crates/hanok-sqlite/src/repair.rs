//! What is whole of a damaged store, in a new one.

mod graft;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use hanok_checkpoint::{CheckpointError, Life, Record, Safety};
use hanok_core::{Position, Tenant, ThreadKey};
use rusqlite::{Connection, ErrorCode, Transaction, params_from_iter, types::Value};

use crate::{
    failure::Failure,
    file::{database::Database, open::write_ahead_file},
    scan,
};

/// What was found in a damaged store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The threads, by tenant and name.
    pub threads: Vec<RepairedThread>,
    /// How many records were found whose thread is not: the row with its name is lost.
    pub unlisted: usize,
    /// The tables that held rows that could not be read, or were refused.
    pub damaged: BTreeSet<String>,
}

/// What was found of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedThread {
    /// The thread.
    pub thread: ThreadKey,
    /// How many records are whole.
    pub records: usize,
    /// From where to where records are lost, both included.
    pub lost: Vec<(Position, Position)>,
}

/// The tables whose rows are copied as they are, and their columns. What `threads` and `records` hold is looked at.
const COPIED: [(&str, &str); 6] = [
    ("snapshots", "thread_id, position, bytes"),
    ("outbox", "cursor, topic, thread_id, position, bytes"),
    ("tenants", "id, tenant"),
    ("items", "id, tenant_id, namespace, key, created, updated, ttl, expires, terms, value"),
    ("vectors", "tenant_id, item_id, nth, model, vector"),
    ("texts", "terms"),
];

/// Those without row numbers: they are read as far as they can be.
const SMALL: [(&str, &str); 2] =
    [("labels", "thread_id, name, value"), ("consumers", "topic, consumer, done")];

/// The size of a page, which no store changes.
const PAGE: u64 = 4096;

const THREAD: &str =
    "id, tenant, thread, life, head, epoch, run, holder, beat, floor, origin, expires,
    link, seal, updated";

/// A thread's row, as far as it is looked at.
struct Thread {
    key: ThreadKey,
    life: Life,
    head: u64,
    floor: u64,
    positions: BTreeSet<u64>,
}

/// A copy to read from, which is gone with this.
struct Copy(PathBuf);

impl Drop for Copy {
    fn drop(&mut self) {
        for file in [self.0.clone(), write_ahead_file(&self.0), shared(&self.0)] {
            // Not all of them are there.
            drop(fs::remove_file(file));
        }
    }
}

fn shared(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push("-shm");
    name.into()
}

/// Puts what is whole of the file `from` into the new store.
pub(crate) fn repair(new: &mut Database, from: &Path) -> Result<Repaired, CheckpointError> {
    let name = from.display().to_string();
    let told = |error: std::io::Error| CheckpointError::NotAStore {
        what: format!("`{name}`"),
        source: error.into(),
    };
    // Even reading may change the file: what stands beside it is moved into it.
    let mut beside = new.path().unwrap_or_default().into_os_string();
    beside.push("-from");
    let copy = Copy(beside.into());
    let length = fs::copy(from, &copy.0).map_err(told)?;
    // Half a page is none, and reading it would be a failure of the disk.
    let whole = fs::OpenOptions::new().write(true).open(&copy.0);
    whole.and_then(|file| file.set_len(length / PAGE * PAGE)).map_err(told)?;
    let log = write_ahead_file(from);
    if log.exists() {
        fs::copy(log, write_ahead_file(&copy.0)).map_err(told)?;
    }
    let old = readable(&copy).map_err(|failure| failure.told_of(&name))?;
    let repaired = new.write(Safety::Machine, |tx| all(tx, &old));
    repaired.map_err(|error| match error {
        CheckpointError::NotAStore { source, .. } => {
            CheckpointError::NotAStore { what: format!("`{name}`"), source }
        }
        other => other,
    })
}

/// A connection to the copy, whose tables are found.
fn readable(copy: &Copy) -> Result<Connection, Failure> {
    let open = || {
        let connection = Connection::open(&copy.0)?;
        // A file that was cut is read as far as it goes then. Not every damaged file takes that.
        drop(connection.pragma_update(None, "writable_schema", true));
        Ok::<_, Failure>(connection)
    };
    let connection = open()?;
    if graft::is_readable(&connection) {
        return Ok(connection);
    }
    // What was beside it is moved into it now, or cannot be.
    drop(connection);
    drop(fs::remove_file(write_ahead_file(&copy.0)));
    let mut new = copy.0.clone().into_os_string();
    new.push("-new");
    let new = Copy(new.into());
    graft::tables(&copy.0, &new.0)?;
    open()
}

fn all(tx: &Transaction<'_>, old: &Connection) -> Result<Repaired, Failure> {
    let mut repaired = Repaired::default();
    let mut threads = BTreeMap::new();
    let mut note = |table: &str, lost: bool| {
        if lost {
            repaired.damaged.insert(table.to_owned());
        }
    };
    let mut refused = false;
    let lost = scan::rows(old, ("threads", THREAD), |mut row| {
        let id = row.remove(0);
        let thread = thread(&row);
        match (id, thread) {
            (Value::Integer(id), Some(thread)) if put(tx, ("threads", THREAD), &row)? => {
                threads.insert(id, thread);
            }
            _ => refused = true,
        }
        Ok(())
    })?;
    note("threads", lost || refused);
    let (mut unlisted, mut refused) = (0, false);
    let columns = "thread_id, position, append_id, bytes";
    let lost = scan::rows(old, ("records", columns), |mut row| {
        row.remove(0);
        let (of, position, bytes) = match &row[..] {
            [Value::Integer(of), Value::Integer(position), _, Value::Blob(bytes)] => {
                (*of, u64::try_from(*position).unwrap_or_default(), bytes)
            }
            _ => {
                refused = true;
                return Ok(());
            }
        };
        let Some(thread) = threads.get_mut(&of) else {
            unlisted += 1;
            return Ok(());
        };
        let record = Record { position: Position(position), bytes: bytes.clone().into() };
        if record.check(&thread.key, thread.life).is_ok() && put(tx, ("records", columns), &row)? {
            thread.positions.insert(position);
        } else {
            refused = true;
        }
        Ok(())
    })?;
    note("records", lost || refused);
    for table in COPIED {
        let mut refused = false;
        let copied = scan::rows(old, table, |mut row| {
            let number = row.remove(0);
            // The terms of an item are found by its number.
            let done = match table {
                ("texts", terms) => {
                    let row = [number, row.remove(0)];
                    put(tx, ("texts", &format!("rowid, {terms}")), &row)?
                }
                table => put(tx, table, &row)?,
            };
            refused |= !done;
            Ok(())
        });
        let lost = match copied {
            // What finds texts has words of its own for its damage.
            Err(Failure::Sql(_)) if table.0 == "texts" => true,
            copied => copied?,
        };
        note(table.0, lost || refused);
    }
    for (table, columns) in SMALL {
        note(table, small(tx, old, (table, columns))?);
    }
    note("sqlite_sequence", numbers(tx, old)?);
    for (id, thread) in &mut threads {
        mend_head(tx, *id, thread)?;
    }
    let found = |thread: Thread| RepairedThread {
        lost: gaps(&thread),
        records: thread.positions.len(),
        thread: thread.key,
    };
    repaired.unlisted = unlisted;
    repaired.threads = threads.into_values().map(found).collect();
    repaired.threads.sort_by(|a, b| a.thread.cmp(&b.thread));
    Ok(repaired)
}

/// The row of a thread, if it can be one.
fn thread(row: &[Value]) -> Option<Thread> {
    let [_, tenant, name, life, head, _, _, _, _, floor, ..] = row else { return None };
    let text = |value: &Value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let number = |value: &Value| match value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    };
    let key = ThreadKey::new(Tenant::new(&text(tenant)?).ok()?, &text(name)?).ok()?;
    let Value::Blob(life) = life else { return None };
    let life = Life::from_bytes(life.as_slice().try_into().ok()?);
    let (head, floor, positions) = (number(head)?, number(floor)?, BTreeSet::new());
    Some(Thread { key, life, head, floor, positions })
}

/// Inserts a row; says whether the table took it.
fn put(
    tx: &Transaction<'_>,
    (table, columns): (&str, &str),
    row: &[Value],
) -> Result<bool, Failure> {
    let places = vec!["?"; row.len()].join(", ");
    let sql = format!("INSERT INTO {table} ({columns}) VALUES ({places})");
    match tx.prepare_cached(&sql)?.execute(params_from_iter(row)) {
        Ok(_) => Ok(true),
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch)
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

/// Copies a table without row numbers up to its first damage; says whether there is one.
fn small(
    tx: &Transaction<'_>,
    old: &Connection,
    (table, columns): (&str, &str),
) -> Result<bool, Failure> {
    let mut lost = false;
    let mut copy = || {
        let mut statement = old.prepare(&format!("SELECT {columns} FROM {table}"))?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            lost |= !put(tx, (table, columns), &scan::values(row)?)?;
        }
        Ok(())
    };
    match copy() {
        Ok(()) => Ok(lost),
        Err(Failure::Sql(error)) if scan::is_damage(&error) => Ok(true),
        Err(failure) => Err(failure),
    }
}

/// No number that was given is given again.
fn numbers(tx: &Transaction<'_>, old: &Connection) -> Result<bool, Failure> {
    let mut lost = false;
    for table in ["outbox", "tenants", "items"] {
        let sql = "SELECT seq FROM sqlite_sequence WHERE name = ?1";
        let seq = old.query_row(sql, [table], |row| row.get::<_, i64>(0));
        match seq {
            Ok(seq) => {
                tx.execute(
                    "INSERT INTO sqlite_sequence (name, seq) SELECT ?1, 0
                     WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)",
                    [table],
                )?;
                tx.execute(
                    "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1",
                    (table, seq),
                )?;
            }
            Err(rusqlite::Error::QueryReturnedNoRows) => {}
            Err(error) if scan::is_damage(&error) => lost = true,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(lost)
}

/// A head before records of its life that follow it without a gap is damaged. Where it is then, its link is not known.
fn mend_head(tx: &Transaction<'_>, id: i64, thread: &mut Thread) -> Result<(), Failure> {
    let Some(last) = thread.positions.last().copied().filter(|last| *last > thread.head) else {
        return Ok(());
    };
    thread.head = last;
    let sql = "UPDATE threads SET head = ?2, link = NULL, seal = NULL WHERE id = ?1";
    tx.execute(sql, (id, i64::try_from(last)?))?;
    Ok(())
}

/// The positions between floor and head that no record stands at.
fn gaps(thread: &Thread) -> Vec<(Position, Position)> {
    let (mut gaps, mut next) = (Vec::new(), thread.floor.saturating_add(1));
    let end = thread.head.saturating_add(1);
    for at in thread.positions.range(next..).copied().chain([end]) {
        if at > next {
            gaps.push((Position(next), Position(at - 1)));
        }
        next = at.saturating_add(1);
    }
    gaps
}
