//! The repair of a damaged store: what is whole of it is copied into a new one.

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
    file::{
        beside::{beside, shared_memory_file, write_ahead_file},
        database::Database,
    },
    scan,
};

/// The outcome of a [repair](crate::Sqlite::repair).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The threads, by tenant and name.
    pub threads: Vec<RepairedThread>,
    /// The number of records whose thread was not found: the row with its name is lost.
    pub unlisted: usize,
    /// The tables that held rows that could not be read, or were refused.
    pub damaged: BTreeSet<String>,
}

/// A thread that a repair found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairedThread {
    /// The thread.
    pub thread: ThreadKey,
    /// The number of records that are whole.
    pub records: usize,
    /// The ranges of lost records, both ends included.
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
        for file in [self.0.clone(), write_ahead_file(&self.0), shared_memory_file(&self.0)] {
            // Not all of them are there.
            drop(fs::remove_file(file));
        }
    }
}

/// Puts what is whole of the file `from` into the new store.
pub(crate) fn repair(new: &mut Database, from: &Path) -> Result<Repaired, CheckpointError> {
    let name = from.display().to_string();
    let unread = |error: std::io::Error| CheckpointError::NotAStore {
        what: format!("`{name}`"),
        source: error.into(),
    };
    // Even reading may change the file: what stands beside it is moved into it.
    let copy = Copy(beside(&new.path()?.unwrap_or_default(), "-from"));
    let length = fs::copy(from, &copy.0).map_err(unread)?;
    // Half a page is none, and reading it would be a failure of the disk.
    let whole = fs::OpenOptions::new().write(true).open(&copy.0);
    whole.and_then(|file| file.set_len(length / PAGE * PAGE)).map_err(unread)?;
    let log = write_ahead_file(from);
    if log.exists() {
        fs::copy(log, write_ahead_file(&copy.0)).map_err(unread)?;
    }
    let old = readable(&copy).map_err(|failure| failure.into_error(&name))?;
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
    let new = Copy(beside(&copy.0, "-new"));
    graft::tables(&copy.0, &new.0)?;
    open()
}

/// Copies every table of `old`.
fn all(tx: &Transaction<'_>, old: &Connection) -> Result<Repaired, Failure> {
    let mut salvage =
        Salvage { tx, old, threads: BTreeMap::new(), unlisted: 0, damaged: BTreeSet::new() };
    salvage.threads()?;
    salvage.records()?;
    for (table, columns) in COPIED {
        salvage.table(table, columns)?;
    }
    for (table, columns) in SMALL {
        let lost = small(tx, old, table, columns)?;
        salvage.note(table, lost);
    }
    salvage.note("sqlite_sequence", numbers(tx, old)?);
    salvage.done()
}

/// A repair that is being made.
struct Salvage<'s> {
    tx: &'s Transaction<'s>,
    old: &'s Connection,
    threads: BTreeMap<i64, Thread>,
    unlisted: usize,
    damaged: BTreeSet<String>,
}

impl Salvage<'_> {
    fn note(&mut self, table: &str, lost: bool) {
        if lost {
            self.damaged.insert(table.to_owned());
        }
    }

    fn threads(&mut self) -> Result<(), Failure> {
        let mut refused = false;
        let lost = scan::rows(self.old, "threads", THREAD, |mut row| {
            let id = row.remove(0);
            let thread = thread(&row);
            match (id, thread) {
                (Value::Integer(id), Some(thread)) if put(self.tx, "threads", THREAD, &row)? => {
                    self.threads.insert(id, thread);
                }
                _ => refused = true,
            }
            Ok(())
        })?;
        self.note("threads", lost || refused);
        Ok(())
    }

    /// Copies the records whose checksums fit their thread, which is copied before.
    fn records(&mut self) -> Result<(), Failure> {
        let mut refused = false;
        let columns = "thread_id, position, append_id, bytes";
        let lost = scan::rows(self.old, "records", columns, |mut row| {
            row.remove(0);
            let [Value::Integer(of), Value::Integer(position), _, Value::Blob(bytes)] = &row[..]
            else {
                refused = true;
                return Ok(());
            };
            let Some(thread) = self.threads.get_mut(of) else {
                self.unlisted += 1;
                return Ok(());
            };
            let position = u64::try_from(*position).unwrap_or_default();
            let record = Record { position: Position(position), bytes: bytes.clone().into() };
            if record.check(&thread.key, thread.life).is_ok()
                && put(self.tx, "records", columns, &row)?
            {
                thread.positions.insert(position);
            } else {
                refused = true;
            }
            Ok(())
        })?;
        self.note("records", lost || refused);
        Ok(())
    }

    /// Copies a table as it is.
    fn table(&mut self, table: &str, columns: &str) -> Result<(), Failure> {
        let mut refused = false;
        // The terms of an item are found by its number.
        let numbered = (table == "texts").then(|| format!("rowid, {columns}"));
        let copied = scan::rows(self.old, table, columns, |mut row| {
            if numbered.is_none() {
                row.remove(0);
            }
            refused |= !put(self.tx, table, numbered.as_deref().unwrap_or(columns), &row)?;
            Ok(())
        });
        let lost = match copied {
            // The index of texts has errors of its own for its damage.
            Err(Failure::Sql(_)) if table == "texts" => true,
            copied => copied?,
        };
        self.note(table, lost || refused);
        Ok(())
    }

    fn done(self) -> Result<Repaired, Failure> {
        let mut threads = Vec::new();
        for (id, mut thread) in self.threads {
            mend_head(self.tx, id, &mut thread)?;
            let (lost, records) = (gaps(&thread), thread.positions.len());
            threads.push(RepairedThread { lost, records, thread: thread.key });
        }
        threads.sort_by(|a, b| a.thread.cmp(&b.thread));
        Ok(Repaired { threads, unlisted: self.unlisted, damaged: self.damaged })
    }
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
fn put(tx: &Transaction<'_>, table: &str, columns: &str, row: &[Value]) -> Result<bool, Failure> {
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
    table: &str,
    columns: &str,
) -> Result<bool, Failure> {
    let mut lost = false;
    let mut copy = || {
        let mut statement = old.prepare(&format!("SELECT {columns} FROM {table}"))?;
        let mut rows = statement.query(())?;
        while let Some(row) = rows.next()? {
            lost |= !put(tx, table, columns, &scan::values(row)?)?;
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
