//! A store that is chosen at run time.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use hanok_core::{BoxFuture, Position, ThreadKey, Timestamp};

use crate::{
    Append, CheckpointError, Checkpointer, Codec, Cursor, Epoch, Head, Life, Opened, OutboxItem,
    Snapshots, ThreadInfo, Trim, Which,
};

/// How many threads are listed at once.
const PAGE: usize = 256;

/// Any [`Checkpointer`], chosen at run time. Clones share the store.
#[derive(Debug, Clone)]
pub struct SharedCheckpointer(Arc<dyn Erased>, Codec, bool);

impl SharedCheckpointer {
    /// Shares `store`, with its codec.
    pub fn new(store: impl Checkpointer) -> Self {
        let (codec, is_chained) = (store.codec(), store.is_chained());
        Self(Arc::new(store), codec, is_chained)
    }

    /// What is done with the bytes that go into the store, and come out of it. Default: nothing.
    #[must_use]
    pub fn with_codec(self, codec: Codec) -> Self {
        Self(self.0, codec, self.2)
    }

    /// What is done with the bytes that go into the store.
    pub fn codec(&self) -> &Codec {
        &self.1
    }

    /// As [`append`](Checkpointer::append), as a future that holds what it needs: whoever waits for it may be dropped, and
    /// somebody else goes on with it.
    pub fn append_owned(
        &self,
        thread: ThreadKey,
        append: Append,
    ) -> BoxFuture<'static, Result<(), CheckpointError>> {
        self.0.clone().append_owned(thread, append)
    }

    /// All threads that `which` names, by tenant and name.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn all_threads(&self, which: &Which) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let mut all: Vec<ThreadInfo> = Vec::new();
        loop {
            let after = all.last().map(|info| &info.thread);
            let page = self.threads(which.clone(), after, PAGE).await?;
            let last = page.len() < PAGE;
            all.extend(page);
            if last {
                return Ok(all);
            }
        }
    }
}

type Answer<'a, T> = BoxFuture<'a, Result<T, CheckpointError>>;

/// The object-safe twin of [`Checkpointer`].
trait Erased: fmt::Debug + Send + Sync {
    fn head_boxed<'a>(&'a self, thread: &'a ThreadKey) -> Answer<'a, Option<Head>>;
    fn append_boxed<'a>(&'a self, thread: &'a ThreadKey, append: Append) -> Answer<'a, ()>;
    fn append_owned(self: Arc<Self>, thread: ThreadKey, append: Append) -> Answer<'static, ()>;
    fn open_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Answer<'a, Option<Opened>>;
    fn history_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Answer<'a, Option<Opened>>;
    fn put_snapshot_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> Answer<'a, ()>;
    fn beat_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> Answer<'a, ()>;
    fn silence_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        epoch: Epoch,
    ) -> Answer<'a, Option<Duration>>;
    fn delete_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        expected: Option<&'a Head>,
    ) -> Answer<'a, bool>;
    fn trim_boxed<'a>(&'a self, thread: &'a ThreadKey, trim: Trim) -> Answer<'a, ()>;
    fn threads_boxed<'a>(
        &'a self,
        which: Which,
        after: Option<&'a ThreadKey>,
        limit: usize,
    ) -> Answer<'a, Vec<ThreadInfo>>;
    fn beyond_boxed<'a>(&'a self, thread: &'a ThreadKey, after: Position) -> Answer<'a, Position>;
    fn outbox_boxed<'a>(
        &'a self,
        consumer: &'a str,
        topic: &'a str,
        limit: usize,
    ) -> Answer<'a, Vec<OutboxItem>>;
    fn advance_boxed<'a>(&'a self, consumer: &'a str, topic: &'a str, to: Cursor)
    -> Answer<'a, ()>;
}

impl<C: Checkpointer> Erased for C {
    fn head_boxed<'a>(&'a self, thread: &'a ThreadKey) -> Answer<'a, Option<Head>> {
        Box::pin(self.head(thread))
    }

    fn append_boxed<'a>(&'a self, thread: &'a ThreadKey, append: Append) -> Answer<'a, ()> {
        Box::pin(self.append(thread, append))
    }

    fn append_owned(self: Arc<Self>, thread: ThreadKey, append: Append) -> Answer<'static, ()> {
        Box::pin(async move { self.append(&thread, append).await })
    }

    fn open_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Answer<'a, Option<Opened>> {
        Box::pin(self.open(thread, at, snapshots))
    }

    fn history_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Answer<'a, Option<Opened>> {
        Box::pin(self.history(thread, before, limit))
    }

    fn put_snapshot_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> Answer<'a, ()> {
        Box::pin(self.put_snapshot(thread, life, position, snapshot))
    }

    fn beat_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> Answer<'a, ()> {
        Box::pin(self.beat(thread, life, epoch, now))
    }

    fn silence_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        epoch: Epoch,
    ) -> Answer<'a, Option<Duration>> {
        Box::pin(self.silence(thread, epoch))
    }

    fn delete_boxed<'a>(
        &'a self,
        thread: &'a ThreadKey,
        expected: Option<&'a Head>,
    ) -> Answer<'a, bool> {
        Box::pin(self.delete(thread, expected))
    }

    fn trim_boxed<'a>(&'a self, thread: &'a ThreadKey, trim: Trim) -> Answer<'a, ()> {
        Box::pin(self.trim(thread, trim))
    }

    fn threads_boxed<'a>(
        &'a self,
        which: Which,
        after: Option<&'a ThreadKey>,
        limit: usize,
    ) -> Answer<'a, Vec<ThreadInfo>> {
        Box::pin(self.threads(which, after, limit))
    }

    fn beyond_boxed<'a>(&'a self, thread: &'a ThreadKey, after: Position) -> Answer<'a, Position> {
        Box::pin(self.beyond(thread, after))
    }

    fn outbox_boxed<'a>(
        &'a self,
        consumer: &'a str,
        topic: &'a str,
        limit: usize,
    ) -> Answer<'a, Vec<OutboxItem>> {
        Box::pin(self.outbox(consumer, topic, limit))
    }

    fn advance_boxed<'a>(
        &'a self,
        consumer: &'a str,
        topic: &'a str,
        to: Cursor,
    ) -> Answer<'a, ()> {
        Box::pin(self.advance(consumer, topic, to))
    }
}

impl Checkpointer for SharedCheckpointer {
    async fn head(&self, thread: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.0.head_boxed(thread).await
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        self.0.append_boxed(thread, append).await
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        self.0.open_boxed(thread, at, snapshots).await
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Option<Opened>, CheckpointError> {
        self.0.history_boxed(thread, before, limit).await
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> Result<(), CheckpointError> {
        self.0.put_snapshot_boxed(thread, life, position, snapshot).await
    }

    async fn beat(
        &self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> Result<(), CheckpointError> {
        self.0.beat_boxed(thread, life, epoch, now).await
    }

    async fn silence(
        &self,
        thread: &ThreadKey,
        epoch: Epoch,
    ) -> Result<Option<Duration>, CheckpointError> {
        self.0.silence_boxed(thread, epoch).await
    }

    async fn delete(
        &self,
        thread: &ThreadKey,
        expected: Option<&Head>,
    ) -> Result<bool, CheckpointError> {
        self.0.delete_boxed(thread, expected).await
    }

    async fn trim(&self, thread: &ThreadKey, trim: Trim) -> Result<(), CheckpointError> {
        self.0.trim_boxed(thread, trim).await
    }

    async fn threads(
        &self,
        which: Which,
        after: Option<&ThreadKey>,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, CheckpointError> {
        self.0.threads_boxed(which, after, limit).await
    }

    async fn beyond(
        &self,
        thread: &ThreadKey,
        after: Position,
    ) -> Result<Position, CheckpointError> {
        self.0.beyond_boxed(thread, after).await
    }

    async fn outbox(
        &self,
        consumer: &str,
        topic: &str,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, CheckpointError> {
        self.0.outbox_boxed(consumer, topic, limit).await
    }

    async fn advance(
        &self,
        consumer: &str,
        topic: &str,
        to: Cursor,
    ) -> Result<(), CheckpointError> {
        self.0.advance_boxed(consumer, topic, to).await
    }

    fn codec(&self) -> Codec {
        self.1.clone()
    }

    fn is_chained(&self) -> bool {
        self.2
    }
}
