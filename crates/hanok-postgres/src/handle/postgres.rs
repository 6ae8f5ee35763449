//! The store, as its callers hold it.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use hanok_checkpoint::{
    Append, CheckpointError, Checkpointer, Cursor, Epoch, Head, Life, Opened, OutboxItem,
    Snapshots, ThreadInfo, Trim, Which,
};
use hanok_core::{Position, ThreadKey, Timestamp};

use crate::{config::Config, database::Database, failure::Failure};

/// The logs of threads in PostgreSQL. Clones share the connections; any number of processes and machines may share the
/// store.
///
/// While the server is away every call is tried again, as long as [`Config::retry_for`] says; then it is
/// [`CheckpointError::Unavailable`]. An append whose connection broke before its answer is looked for by its id before it is
/// made again. Calls need a tokio runtime that outlives the store: its connections live there.
#[derive(Clone)]
pub struct Postgres {
    pub(crate) database: Arc<Database>,
    name: Arc<str>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Postgres").field(&self.name).finish()
    }
}

impl Postgres {
    /// Connects to a database, and makes the schema and its tables where they are missing. Several processes may do so at
    /// once.
    ///
    /// # Errors
    ///
    /// - [`CheckpointError::NotAStore`] when the URL cannot be read, there is no such database, or the schema holds tables of
    ///   others;
    /// - [`CheckpointError::TooNew`] when a newer hanok made the tables; they are not touched;
    /// - [`CheckpointError::Denied`] when the password is wrong or a right is missing, with the server's words on which;
    /// - [`CheckpointError::Unavailable`] when the server cannot be reached.
    ///
    /// ```
    /// use hanok_checkpoint::CheckpointError;
    /// use hanok_postgres::{Config, Postgres};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let connected = Postgres::connect(Config::new("db example")).await;
    /// assert!(matches!(connected, Err(CheckpointError::NotAStore { .. })));
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// A dropped call may have made the tables.
    pub async fn connect(config: impl Into<Config>) -> Result<Self, CheckpointError> {
        let config = config.into();
        // Errors name the schema and never the URL: it may hold a password.
        let name = format!("PostgreSQL, schema {}", config.schema);
        let database = Database::connect(&config).await.map_err(|error| error.into_error(&name))?;
        Ok(Self { database: Arc::new(database), name: name.into() })
    }

    pub(crate) fn name_store<T>(&self, answer: Result<T, Failure>) -> Result<T, CheckpointError> {
        answer.map_err(|failure| failure.into_error(&self.name))
    }
}

impl Postgres {
    /// True when the server compares vectors itself in a search by meaning: when the database had the extension pgvector as
    /// this connected. Otherwise the vectors are fetched and compared here, with the same result.
    pub fn compares_vectors(&self) -> bool {
        self.database.pgvector.is_some()
    }
}

impl Checkpointer for Postgres {
    async fn head(&self, thread: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.name_store(self.database.head(thread).await)
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        self.name_store(self.database.append(thread, &append).await)
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        self.name_store(self.database.open(thread, at, snapshots).await)
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Option<Opened>, CheckpointError> {
        self.name_store(self.database.history(thread, before, limit).await)
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> Result<(), CheckpointError> {
        self.name_store(self.database.put_snapshot(thread, life, position, &snapshot).await)
    }

    async fn beat(
        &self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        self.name_store(self.database.beat(thread, life, epoch, now).await)
    }

    async fn silence(
        &self,
        thread: &ThreadKey,
        epoch: Epoch,
    ) -> Result<Option<Duration>, CheckpointError> {
        self.name_store(self.database.silence(thread, epoch).await)
    }

    /// The rows are gone for every reader at once; their bytes stay in the server's files until they are vacuumed, and in its
    /// log and backups as long as those are kept. When the connection breaks meanwhile, the answer may be `false` for a thread
    /// that was there.
    async fn delete(
        &self,
        thread: &ThreadKey,
        expected: Option<&Head>,
    ) -> Result<bool, CheckpointError> {
        self.name_store(self.database.delete(thread, expected).await)
    }

    /// The bytes of what is cut off go as those of what is deleted.
    async fn trim(&self, thread: &ThreadKey, trim: Trim) -> Result<(), CheckpointError> {
        self.name_store(self.database.trim(thread, &trim).await)
    }

    async fn threads(
        &self,
        which: Which,
        after: Option<&ThreadKey>,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, CheckpointError> {
        self.name_store(self.database.threads(&which, after, limit).await)
    }

    async fn beyond(
        &self,
        thread: &ThreadKey,
        after: Position,
    ) -> Result<Position, CheckpointError> {
        self.name_store(self.database.beyond(thread, after).await)
    }

    /// An item is handed out once every transaction of the server that began to write before its own has ended: one that stays
    /// open holds up all that follow it.
    async fn outbox(
        &self,
        consumer: &str,
        topic: &str,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, CheckpointError> {
        self.name_store(self.database.outbox(consumer, topic, limit).await)
    }

    async fn advance(
        &self,
        consumer: &str,
        topic: &str,
        to: Cursor,
    ) -> Result<(), CheckpointError> {
        self.name_store(self.database.advance(consumer, topic, to).await)
    }
}
