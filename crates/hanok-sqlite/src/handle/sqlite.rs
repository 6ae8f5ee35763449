//! The store, as its callers hold it.

use std::path::Path;

use bytes::Bytes;
use hanok_checkpoint::{
    Append, CheckpointError, Checkpointer, Cursor, Epoch, Head, Life, Opened, OutboxItem, Safety,
    Snapshots, ThreadInfo, Trim, Which,
};
use hanok_core::{Position, ThreadKey, Timestamp};
use rusqlite::Transaction;

use super::worker::Worker;
use crate::{
    file::{
        backup,
        database::{Database, WriteAhead},
        lock::FAREWELL,
        open,
    },
    log::{append, outbox, read},
    repair::{self, Repaired},
    scan,
};

/// The logs of threads in one SQLite file. Clones share the connection; several handles and processes may share the file.
///
/// Calls on one handle happen one after the other, on a thread of the handle's own, which ends with the last clone once
/// what is queued is done; dropping that clone waits for it. A call whose future is dropped after its first poll runs to its
/// end all the same.
///
/// When the last handle of the last process is dropped or [closed](Self::close), the file alone holds all that is stored: a
/// copy of it is a backup. So it is when `main` returns; `std::process::exit` and handles in a `static` drop nothing. While
/// the file is in use, a copy of it lacks what its write-ahead file holds: use [`backup`](Self::backup).
///
/// A file that another connection keeps locked is [`CheckpointError::Unavailable`] after 5 seconds. After a failed write
/// to the disk the handle refuses to write more: what reached the disk is unknown, and only a new handle reads it afresh.
///
/// On Unix each write looks whether the path still names the file that was opened. If that was removed, or replaced by another one, as
/// when a backup is restored, the write is refused with [`CheckpointError::Replaced`]: open the store again. Reads show the old file.
#[derive(Debug, Clone)]
pub struct Sqlite(Worker);

impl Sqlite {
    /// Opens the file at `path`, and makes it if it is not there.
    ///
    /// A file that may only be read opens; its appends get [`CheckpointError::Denied`]. So does one in a folder that may not be
    /// written, as on a medium that is read-only; if somebody else writes to that file all the same, its reads get
    /// [`CheckpointError::Unavailable`].
    ///
    /// # Errors
    ///
    /// - [`CheckpointError::NotAStore`] when the file is no database, or another program's, or its folder is missing;
    /// - [`CheckpointError::TooNew`] when a newer hanok wrote it;
    /// - [`CheckpointError::Denied`] when rights are missing, or a SQLite before 3.51.3 is linked, which can damage the file.
    ///
    /// The file is not changed by any of them.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// use hanok_sqlite::Sqlite;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("threads.db");
    /// let store = Sqlite::open(&path).await?; // or Sqlite::open("threads.db")
    /// assert!(path.is_file());
    /// # drop(store);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Cancel safety
    ///
    /// A dropped call may have made the file, with nothing in it.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        let path = path.as_ref().to_owned();
        Worker::start(move || open::open(&path)).await.map(Self)
    }

    /// A store that is gone with its last clone, for tests.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Unavailable`] when no thread can be started for it.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// use hanok_checkpoint::{Checkpointer, Which};
    /// use hanok_sqlite::Sqlite;
    ///
    /// let store = Sqlite::in_memory().await?;
    /// assert!(store.threads(Which::All, None, 10).await?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn in_memory() -> Result<Self, CheckpointError> {
        Worker::start(open::in_memory).await.map(Self)
    }

    /// Copies the store, as it is at one moment, into the new file `to`, which opens as a store. Others read and write
    /// meanwhile; so does this handle, unless it is [in memory](Self::in_memory).
    ///
    /// # Errors
    ///
    /// - [`CheckpointError::Denied`] when `to` is there already, or may not be made;
    /// - [`CheckpointError::Full`] when the copy does not fit on its disk.
    ///
    /// Nothing is left of a copy that failed.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// use hanok_sqlite::Sqlite;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let copy = folder.path().join("copy.db");
    /// let store = Sqlite::open(folder.path().join("threads.db")).await?;
    /// store.backup(&copy).await?;
    /// // A backup overwrites nothing.
    /// assert!(store.backup(&copy).await.is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Cancel safety
    ///
    /// A dropped call may still make the copy.
    pub async fn backup(&self, to: impl AsRef<Path>) -> Result<(), CheckpointError> {
        let to = to.as_ref().to_owned();
        let apart = match self.ask(|database| database.path()).await? {
            Some(path) => Self::open(path).await?,
            None => self.clone(),
        };
        apart.ask(move |database| database.back_up(&to)).await
    }

    /// The faults that SQLite itself finds in the file: damaged pages, and indexes that differ from their tables. The list is empty for
    /// a file that is whole. The checksums of the records are checked by [`Log::verify`](hanok_checkpoint::Log::verify).
    ///
    /// # Errors
    ///
    /// [`CheckpointError`], as the disk fails. Damage is part of the answer.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// let store = hanok_sqlite::Sqlite::in_memory().await?;
    /// assert!(store.check().await?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn check(&self) -> Result<Vec<String>, CheckpointError> {
        self.ask(Database::check).await
    }

    /// True when `error` says that pages of the file are damaged, so that a [repair](Self::repair) is due.
    ///
    /// ```
    /// use hanok_checkpoint::CheckpointError;
    /// use hanok_sqlite::Sqlite;
    ///
    /// let full = CheckpointError::Full("no room".into());
    /// assert!(!Sqlite::is_damage(&full));
    /// ```
    #[must_use]
    pub fn is_damage(error: &CheckpointError) -> bool {
        let CheckpointError::NotAStore { source, .. } = error else { return false };
        source.downcast_ref().is_some_and(scan::is_damage)
    }

    /// Writes what is whole of the damaged store in the file `from` into the new store `to`, row by row, without its indexes, and
    /// says what was lost of each thread. Records are whole when their own checksums say so; no key is needed. A thread of which
    /// records were lost goes on after a [rewind](hanok_checkpoint::Log::rewind) to the last position before them.
    ///
    /// `from` stays as it is. Close it before: what another process writes meanwhile may be missed.
    ///
    /// # Errors
    ///
    /// - [`CheckpointError::Denied`] when `to` is there already, or may not be made;
    /// - [`CheckpointError::NotAStore`] when not even the tables of `from` can be found.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// use hanok_sqlite::Sqlite;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let (damaged, new) = (folder.path().join("damaged.db"), folder.path().join("new.db"));
    /// # Sqlite::open(&damaged).await?.close().await?;
    /// let repaired = Sqlite::repair(&damaged, &new).await?;
    /// for thread in &repaired.threads {
    ///     println!("{:?}: {} records, lost {:?}", thread.thread, thread.records, thread.lost);
    /// }
    /// let store = Sqlite::open(&new).await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Cancel safety
    ///
    /// A dropped call may still make the new store.
    pub async fn repair(
        from: impl AsRef<Path>,
        to: impl AsRef<Path>,
    ) -> Result<Repaired, CheckpointError> {
        let (from, to) = (from.as_ref().to_owned(), to.as_ref().to_owned());
        let new = Worker::start(move || {
            backup::make(&to, &to.display().to_string())?;
            open::open(&to)
        });
        let new = new.await?;
        let repaired = new.ask(move |database| repair::repair(database, &from)).await;
        new.close().await?;
        repaired
    }

    /// Moves what the write-ahead file holds into the store's file and empties it, and says whether nobody else reads from it:
    /// only then nothing is left of what was removed. Waits for readers for a second.
    ///
    /// # Errors
    ///
    /// [`CheckpointError`], as the disk fails.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// use hanok_sqlite::{Sqlite, WriteAhead};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let store = Sqlite::open(folder.path().join("threads.db")).await?;
    /// assert_eq!(store.truncate().await?, WriteAhead::Empty);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn truncate(&self) -> Result<WriteAhead, CheckpointError> {
        self.ask(|database| database.truncate(FAREWELL)).await
    }

    /// Closes the store once what is queued is done, for its clones too: whoever asks them later gets
    /// [`CheckpointError::Unavailable`].
    ///
    /// With [`WriteAhead::Empty`] the file held all that was stored, at this moment: a copy of it is a backup.
    ///
    /// ```
    /// # futures::executor::block_on(async {
    /// use hanok_checkpoint::{CheckpointError, Checkpointer, Which};
    /// use hanok_sqlite::{Sqlite, WriteAhead};
    ///
    /// let store = Sqlite::in_memory().await?;
    /// let clone = store.clone();
    /// assert_eq!(store.close().await?, WriteAhead::Empty);
    /// let refused = clone.threads(Which::All, None, 10).await;
    /// assert!(matches!(refused, Err(CheckpointError::Unavailable { .. })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Unavailable`] when the disk failed, now or under an earlier write, or the store was closed before. The
    /// store is closed all the same.
    ///
    /// # Cancel safety
    ///
    /// A call that is dropped after its first poll closes the store all the same.
    pub async fn close(self) -> Result<WriteAhead, CheckpointError> {
        self.0.close().await
    }

    /// Runs `job` on the database's thread.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Database) -> Result<T, CheckpointError> + Send + 'static,
    ) -> Result<T, CheckpointError> {
        self.0.ask(job).await
    }
}

impl Checkpointer for Sqlite {
    async fn head(&self, thread: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        let thread = thread.clone();
        self.ask(move |database| database.read(|tx| read::head(tx, &thread))).await
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        let thread = thread.clone();
        self.ask(move |database| {
            database.write(append.safety, |tx| append::append(tx, &thread, &append))
        })
        .await
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        let thread = thread.clone();
        self.ask(move |database| database.read(|tx| read::open(tx, &thread, at, snapshots))).await
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Option<Opened>, CheckpointError> {
        let thread = thread.clone();
        self.ask(move |database| database.read(|tx| read::history(tx, &thread, before, limit)))
            .await
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> Result<(), CheckpointError> {
        let thread = thread.clone();
        self.ask(move |database| {
            database.write(Safety::Process, |tx| {
                append::put_snapshot(tx, &thread, life, position, &snapshot)
            })
        })
        .await
    }

    async fn beat(
        &self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        let thread = thread.clone();
        self.ask(move |database| {
            database.write(Safety::Process, |tx| append::beat(tx, &thread, life, epoch, now))
        })
        .await
    }

    /// The bytes of what was deleted are overwritten, in the file and, unless another connection is reading from it at
    /// this moment, in the write-ahead file too.
    async fn delete(
        &self,
        thread: &ThreadKey,
        expected: Option<&Head>,
    ) -> Result<bool, CheckpointError> {
        let (thread, expected) = (thread.clone(), expected.cloned());
        self.ask(move |database| {
            let job = |tx: &Transaction<'_>| append::delete(tx, &thread, expected.as_ref());
            let was_there = database.write(Safety::Machine, job)?;
            database.truncate_log();
            Ok(was_there)
        })
        .await
    }

    /// The bytes of what is cut off are overwritten, as those of what is deleted.
    async fn trim(&self, thread: &ThreadKey, trim: Trim) -> Result<(), CheckpointError> {
        let thread = thread.clone();
        self.ask(move |database| {
            database.write(Safety::Machine, |tx| append::trim(tx, &thread, &trim))?;
            database.truncate_log();
            Ok(())
        })
        .await
    }

    async fn threads(
        &self,
        which: Which,
        after: Option<&ThreadKey>,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let after = after.cloned();
        self.ask(move |database| {
            database.read(|tx| read::threads(tx, &which, after.as_ref(), limit))
        })
        .await
    }

    async fn beyond(
        &self,
        thread: &ThreadKey,
        after: Position,
    ) -> Result<Position, CheckpointError> {
        self.0.beyond(thread.clone(), after).await
    }

    async fn outbox(
        &self,
        consumer: &str,
        topic: &str,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, CheckpointError> {
        let (consumer, topic) = (consumer.to_owned(), topic.to_owned());
        self.ask(move |database| database.read(|tx| outbox::items(tx, &consumer, &topic, limit)))
            .await
    }

    async fn advance(
        &self,
        consumer: &str,
        topic: &str,
        to: Cursor,
    ) -> Result<(), CheckpointError> {
        let (consumer, topic) = (consumer.to_owned(), topic.to_owned());
        self.ask(move |database| {
            database.write(Safety::Process, |tx| outbox::advance(tx, &consumer, &topic, to))
        })
        .await
    }
}
