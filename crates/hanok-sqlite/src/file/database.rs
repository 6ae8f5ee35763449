//! The connection: transactions, how safe they are, and what happens when the disk fails.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use hanok_checkpoint::{CheckpointError, Safety};
use rusqlite::{Connection, Row, Transaction, TransactionBehavior, config::DbConfig};
use thiserror::Error;

use super::{
    backup,
    beside::{beside, write_ahead_file},
    frozen::Frozen,
    identity::Identity,
    lock::{FAREWELL, PATIENCE, is_busy},
};
use crate::{failure::Failure, scan::is_damage};

/// One connection to a store.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    name: String,
    /// The file, if there is one.
    file: Option<Identity>,
    /// The file's state when it was opened, where SQLite takes for granted that nobody writes to it.
    frozen: Option<Frozen>,
    /// The safety that the connection is set to.
    safety: Safety,
    /// True after the disk failed under a write.
    poisoned: bool,
    /// True while the write-ahead file may still hold what was deleted.
    untruncated: bool,
    /// The number of this connection's transactions that wrote.
    writes: u64,
}

/// The content of the write-ahead file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteAhead {
    /// Nothing: the store's file holds all that is stored, and nothing of what was removed is beside it.
    Empty,
    /// The newest of what is stored, and perhaps what was removed: another connection still reads or writes. It belongs to the store's
    /// file until that one is done.
    InUse,
}

/// Why a handle does not write any more.
#[derive(Debug, Error)]
#[error("what an earlier write left on the disk is unknown: open the store again")]
struct Poisoned;

impl Database {
    /// The store `name` behind `connection`, which is set to SQLite's own safety, the highest.
    pub(crate) fn new(connection: Connection, name: String, path: Option<PathBuf>) -> Self {
        connection.set_prepared_statement_cache_capacity(64);
        Self {
            connection,
            name,
            file: path.map(Identity::of),
            frozen: None,
            safety: Safety::Machine,
            poisoned: false,
            untruncated: false,
            writes: 0,
        }
    }

    /// The connection, for tests that set a fault on it.
    #[cfg(test)]
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The store, as nobody writes to it.
    pub(crate) fn frozen(self, frozen: Frozen) -> Self {
        Self { frozen: Some(frozen), ..self }
    }

    /// Reads one moment of the store.
    pub(crate) fn read<T>(
        &mut self,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, CheckpointError> {
        let connection = &mut self.connection;
        let read = transact(connection, TransactionBehavior::Deferred, job);
        self.frozen.as_ref().map_or(Ok(()), Frozen::is_unchanged)?;
        read.map_err(|failure| failure.into_error(&self.name))
    }

    /// Writes all that `job` writes, or nothing.
    pub(crate) fn write<T>(
        &mut self,
        safety: Safety,
        job: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
    ) -> Result<T, CheckpointError> {
        self.sound()?;
        let written = self
            .be(safety)
            .and_then(|()| transact(&mut self.connection, TransactionBehavior::Immediate, job));
        self.writes += 1;
        let written = written.map_err(|failure| self.report(failure))?;
        // The file may have gone since the first look: then nobody finds what was written.
        self.in_place()?;
        Ok(written)
    }

    /// A number that changes with every commit to the store, this connection's and any other's.
    pub(crate) fn version(&self) -> Result<(i64, u64), CheckpointError> {
        let others = self.connection.pragma_query_value(None, "data_version", |row| row.get(0));
        let others = others.map_err(|error| Failure::Sql(error).into_error(&self.name))?;
        Ok((others, self.writes))
    }

    /// Has what the write-ahead file holds moved into the store, and the file emptied, when this job is done; while somebody reads
    /// from it, after each job that follows. What was deleted is deleted all the same, so this never fails and never waits.
    pub(crate) fn truncate_log(&mut self) {
        self.untruncated = true;
    }

    /// Empties the write-ahead file, if that is due and nobody reads from it.
    pub(crate) fn truncate_again(&mut self) {
        if self.untruncated && !self.poisoned {
            // What cannot be emptied now is tried after the next job; where the disk failed, the next write says so.
            drop(self.truncate(Duration::ZERO));
        }
    }

    /// Moves what the write-ahead file holds into the store and empties it, as soon as nobody reads from it within `patience`.
    pub(crate) fn truncate(&mut self, patience: Duration) -> Result<WriteAhead, CheckpointError> {
        self.sound()?;
        let truncated = self.try_truncate(patience);
        let patient = self.connection.busy_timeout(PATIENCE).map_err(Failure::Sql);
        let state = truncated.and_then(|state| patient.map(|()| state));
        let state = state.map_err(|failure| self.report(failure))?;
        self.untruncated = state == WriteAhead::InUse;
        Ok(state)
    }

    fn try_truncate(&self, patience: Duration) -> Result<WriteAhead, Failure> {
        if self.connection.is_readonly("main")? {
            return Ok(self.write_ahead());
        }
        self.connection.busy_timeout(patience)?;
        let busy = |row: &Row<'_>| row.get::<_, i64>(0);
        match self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), busy) {
            Ok(0) => Ok(WriteAhead::Empty),
            Ok(_) => Ok(WriteAhead::InUse),
            Err(error) if is_busy(&error) => Ok(WriteAhead::InUse),
            Err(error) => Err(error.into()),
        }
    }

    /// The content of the write-ahead file of a store that may only be read.
    fn write_ahead(&self) -> WriteAhead {
        let Some(file) = &self.file else { return WriteAhead::Empty };
        match write_ahead_file(file.path()).metadata() {
            Ok(file) if file.len() > 0 => WriteAhead::InUse,
            _ => WriteAhead::Empty,
        }
    }

    /// Closes the connection; the last one of a file takes along what stands beside it.
    pub(crate) fn close(mut self) -> Result<WriteAhead, CheckpointError> {
        let state = self.truncate(FAREWELL);
        let closed = self.connection.close();
        closed.map_err(|(_, error)| Failure::Sql(error).into_error(&self.name))?;
        state
    }

    /// Refuses a handle whose disk failed, and one whose file was removed or replaced.
    fn sound(&self) -> Result<(), CheckpointError> {
        match self.poisoned {
            false => self.in_place(),
            true => Err(CheckpointError::Unavailable {
                reason: "the disk failed under an earlier write",
                source: Poisoned.into(),
            }),
        }
    }

    /// Refuses a handle whose file was removed or replaced. What is beside the path belongs to the new file then, and SQLite does not look
    /// at that in write-ahead mode.
    fn in_place(&self) -> Result<(), CheckpointError> {
        match self.file.as_ref().is_none_or(Identity::is_in_place) {
            true => Ok(()),
            false => Err(CheckpointError::Replaced { what: format!("`{}`", self.name) }),
        }
    }

    /// The faults that SQLite finds in its pages and indexes.
    pub(crate) fn check(&mut self) -> Result<Vec<String>, CheckpointError> {
        let faults =
            self.connection.prepare("PRAGMA integrity_check(20)").and_then(|mut statement| {
                let rows = statement.query_map((), |row| row.get::<_, String>(0))?;
                rows.collect::<Result<Vec<_>, _>>()
            });
        match faults {
            Ok(faults) => Ok(faults.into_iter().filter(|fault| fault != "ok").collect()),
            Err(error) if is_damage(&error) => Ok(vec![error.to_string()]),
            Err(error) => Err(self.report(error.into())),
        }
    }

    /// The path of the file, if there is one; refused when another file is there now.
    pub(crate) fn path(&self) -> Result<Option<PathBuf>, CheckpointError> {
        self.in_place()?;
        Ok(self.file.as_ref().map(|file| file.path().to_owned()))
    }

    /// Copies the store, as it is at one moment, into a new file.
    pub(crate) fn back_up(&self, to: &Path) -> Result<(), CheckpointError> {
        backup::back_up(&self.connection, to)
    }

    /// Sets how safe the next transaction is; SQLite takes it between transactions only.
    fn be(&mut self, safety: Safety) -> Result<(), Failure> {
        if self.safety != safety {
            let synchronous = match safety {
                Safety::Process => "NORMAL",
                Safety::Machine => "FULL",
            };
            self.connection.pragma_update(None, "synchronous", synchronous)?;
            self.safety = safety;
        }
        Ok(())
    }

    /// A disk that failed once is not asked again: a second fsync may say `Ok` of pages that are lost.
    fn report(&mut self, failure: Failure) -> CheckpointError {
        let failure = failure.with(|| self.file.as_ref().is_some_and(|file| has_room(file.path())));
        if failure.is_of_the_disk() {
            self.poisoned = true;
            let untouched = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            if let Err(error) = self.connection.set_db_config(untouched, true) {
                return Failure::Sql(error).into_error(&self.name);
            }
        }
        failure.into_error(&self.name)
    }
}

/// True when as much can be written beside `store` as the index of its write-ahead file grows by.
fn has_room(store: &Path) -> bool {
    // Another process may ask the same.
    let name = beside(store, &format!("-room-{}", std::process::id()));
    let written = fs::write(&name, [7; 32_768]).and_then(|()| fs::File::open(&name)?.sync_all());
    // What was not made cannot be removed.
    drop(fs::remove_file(&name));
    written.is_ok()
}

fn transact<T>(
    connection: &mut Connection,
    behavior: TransactionBehavior,
    job: impl FnOnce(&Transaction<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let transaction = connection.transaction_with_behavior(behavior)?;
    // An early return rolls back.
    let done = job(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::executor::block_on;
    use hanok_checkpoint::{
        Append, AppendId, Batch, Checkpointer, Expect, Guard, Put, Record, Snapshots, Store, Write,
    };
    use hanok_core::{ItemKey, Labels, Position, Stored, Tenant, ThreadKey, Timestamp};
    use rusqlite::{Error, ffi};
    use tempfile::TempDir;

    use super::*;
    use crate::Sqlite;

    struct Fixture {
        folder: TempDir,
        store: Sqlite,
        thread: ThreadKey,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = block_on(Sqlite::open(folder.path().join("threads.db"))).unwrap();
            let thread = ThreadKey::new(Tenant::default(), "t").unwrap();
            Self { folder, store, thread }
        }

        fn connection(&self) -> Connection {
            Connection::open(self.folder.path().join("threads.db")).unwrap()
        }

        /// Sets something on the store's own connection.
        fn set<T: Send + 'static>(
            &self,
            set: impl FnOnce(&mut Database) -> T + Send + 'static,
        ) -> T {
            block_on(self.store.ask(move |database| Ok(set(database)))).unwrap()
        }

        fn append(&self, at: u64, bytes: usize) -> Result<(), CheckpointError> {
            let record = Record { position: Position(at + 1), bytes: vec![7; bytes].into() };
            let id = AppendId(u128::from(at));
            let append = Append::new(id, Position(at), Guard::Unclaimed, vec![record]);
            block_on(self.store.append(&self.thread, append))
        }

        /// The setting under which the last transaction wrote.
        fn synchronous(&self) -> u8 {
            self.set(|database| {
                let read = |row: &rusqlite::Row<'_>| row.get(0);
                database.connection.pragma_query_value(None, "synchronous", read).unwrap()
            })
        }

        fn stored(&self) -> usize {
            let opened = block_on(self.store.open(&self.thread, None, Snapshots::Use)).unwrap();
            opened.map_or(0, |opened| opened.records.len())
        }
    }

    fn message(result: Result<(), CheckpointError>) -> String {
        result.unwrap_err().to_string()
    }

    /// P8, P9
    #[test]
    fn a_file_that_stays_locked_is_unavailable_and_later_works() {
        let it = Fixture::new();
        it.append(0, 100).unwrap();
        it.set(|database| database.connection.busy_timeout(Duration::from_millis(50)).unwrap());
        let other = it.connection();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();

        assert_eq!(message(it.append(1, 100)), "the store is not available: it is locked");
        assert_eq!(it.stored(), 1);
        other.execute_batch("COMMIT").unwrap();
        it.append(1, 100).unwrap();
        assert_eq!(it.stored(), 2);
    }

    /// P8
    #[test]
    fn a_full_store_says_so_stays_readable_and_works_again_with_room() {
        let it = Fixture::new();
        it.append(0, 100).unwrap();
        it.set(|database| {
            let sql = "SELECT page_count FROM pragma_page_count";
            let pages: u32 = database.connection.query_row(sql, (), |row| row.get(0)).unwrap();
            database.connection.pragma_update(None, "max_page_count", pages + 2).unwrap();
        });

        let error = it.append(1, 100_000).unwrap_err();
        assert!(matches!(error, CheckpointError::Full(_)), "{error:?}");
        assert_eq!(it.stored(), 1);
        it.append(1, 100).unwrap();
        it.set(|database| {
            database.connection.pragma_update(None, "max_page_count", 10_000).unwrap();
        });
        it.append(2, 100_000).unwrap();
        assert_eq!(it.stored(), 3);
    }

    /// P8
    #[test]
    fn a_store_that_may_not_be_written_is_readable() {
        let it = Fixture::new();
        it.append(0, 100).unwrap();
        it.set(|database| database.connection.pragma_update(None, "query_only", true).unwrap());
        let error = it.append(1, 100).unwrap_err();
        assert!(matches!(error, CheckpointError::Denied(_)), "{error:?}");
        assert_eq!(it.stored(), 1);
    }

    /// P6
    #[test]
    fn after_a_failure_of_the_disk_a_handle_writes_no_more_and_still_reads() {
        let it = Fixture::new();
        it.append(0, 100).unwrap();
        for (code, reason) in [
            (ffi::SQLITE_FULL, "the store is full"),
            (ffi::SQLITE_IOERR_FSYNC, "the store is not available: the disk failed"),
        ] {
            it.append(it.stored() as u64, 100).unwrap();
            let failure = Error::SqliteFailure(ffi::Error::new(code), None);
            let failed = it.set(|database| {
                database.write::<()>(Safety::Process, |_| Err(Failure::Sql(failure)))
            });
            assert_eq!(message(failed), reason);
        }
        let refused = "the store is not available: the disk failed under an earlier write";
        assert_eq!(message(it.append(3, 100)), refused);
        assert_eq!(message(it.append(3, 100)), refused);
        assert_eq!(it.stored(), 3);
        // A new handle reads what the disk holds, and writes.
        let store = block_on(Sqlite::open(it.folder.path().join("threads.db"))).unwrap();
        let it = Fixture { store, ..it };
        it.append(3, 100).unwrap();
        assert_eq!(it.stored(), 4);
    }

    /// P6, P8: SQLite says the same of a full disk and of one that failed.
    #[test]
    fn an_index_that_cannot_grow_where_there_is_room_is_a_failure_of_the_disk() {
        let it = Fixture::new();
        it.append(0, 100).unwrap();
        let failure = Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_IOERR_SHMSIZE), None);
        let failed = it
            .set(|database| database.write::<()>(Safety::Process, |_| Err(Failure::Sql(failure))));
        assert_eq!(message(failed), "the store is not available: the disk failed");
        let refused = "the store is not available: the disk failed under an earlier write";
        assert_eq!(message(it.append(1, 100)), refused);
        assert_eq!(it.stored(), 1);
    }

    #[test]
    fn there_is_no_room_where_nothing_can_be_written() {
        let folder = tempfile::tempdir().unwrap();
        assert!(has_room(&folder.path().join("threads.db")));
        assert!(!has_room(&folder.path().join("none/threads.db")));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// P5
    #[test]
    fn an_append_is_as_safe_as_it_asks_to_be() {
        let it = Fixture::new();
        for (at, safety, synchronous) in
            [(0, Safety::Process, 1), (1, Safety::Machine, 2), (2, Safety::Process, 1)]
        {
            it.set(move |database| database.write(safety, |_| Ok(())).unwrap());
            assert_eq!(it.synchronous(), synchronous, "{at}: {safety:?}");
        }
    }

    /// P5
    #[test]
    fn a_batch_is_as_safe_as_it_asks_to_be_and_one_that_removes_is_safest() {
        let it = Fixture::new();
        let key = ItemKey::new(Tenant::default(), Labels::new(["runs"]).unwrap(), "1").unwrap();
        let put = Write::Put(key.clone(), Put::new(Stored::encode("queued").unwrap()));
        let remove = Write::Remove(key, Expect::Any);
        for (write, safety, synchronous) in [
            (&put, Safety::Process, 1),
            (&put, Safety::Machine, 2),
            (&put, Safety::Process, 1),
            (&remove, Safety::Process, 2),
        ] {
            let batch = Batch { writes: vec![write.clone()], safety, ..Batch::default() };
            block_on(it.store.batch(batch, Timestamp(0))).unwrap();
            assert_eq!(it.synchronous(), synchronous, "{write:?} {safety:?}");
        }
    }
}
