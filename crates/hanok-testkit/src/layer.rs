//! A store around another one.

use std::{fmt, time::Duration};

use bytes::Bytes;
use hanok_checkpoint::{
    Append, CheckpointError, Checkpointer, Codec, Cursor, Epoch, Head, Life, Opened, OutboxItem,
    SharedCheckpointer, Snapshots, ThreadInfo, Trim, Which,
};
use hanok_core::{Position, ThreadKey, Timestamp};

type Answer<T> = Result<T, CheckpointError>;

/// The calls of a store that a test changes: every other call goes through to [`inner`](Layer::inner).
/// [`Layered`] makes a [`Checkpointer`] of it.
pub trait Layer: fmt::Debug + Send + Sync + 'static {
    /// The store beneath.
    fn inner(&self) -> &SharedCheckpointer;

    /// As [`Checkpointer::head`].
    fn head(&self, thread: &ThreadKey) -> impl Future<Output = Answer<Option<Head>>> + Send {
        self.inner().head(thread)
    }

    /// As [`Checkpointer::append`].
    fn append(
        &self,
        thread: &ThreadKey,
        append: Append,
    ) -> impl Future<Output = Answer<()>> + Send {
        self.inner().append(thread, append)
    }

    /// As [`Checkpointer::open`].
    fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> impl Future<Output = Answer<Option<Opened>>> + Send {
        self.inner().open(thread, at, snapshots)
    }

    /// As [`Checkpointer::history`].
    fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> impl Future<Output = Answer<Option<Opened>>> + Send {
        self.inner().history(thread, before, limit)
    }

    /// As [`Checkpointer::put_snapshot`].
    fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> impl Future<Output = Answer<()>> + Send {
        self.inner().put_snapshot(thread, life, position, snapshot)
    }

    /// As [`Checkpointer::beat`].
    fn beat(
        &self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> impl Future<Output = Answer<()>> + Send {
        self.inner().beat(thread, life, epoch, now)
    }

    /// As [`Checkpointer::silence`].
    fn silence(
        &self,
        thread: &ThreadKey,
        epoch: Epoch,
    ) -> impl Future<Output = Answer<Option<Duration>>> + Send {
        self.inner().silence(thread, epoch)
    }

    /// As [`Checkpointer::delete`].
    fn delete(
        &self,
        thread: &ThreadKey,
        expected: Option<&Head>,
    ) -> impl Future<Output = Answer<bool>> + Send {
        self.inner().delete(thread, expected)
    }

    /// As [`Checkpointer::trim`].
    fn trim(&self, thread: &ThreadKey, trim: Trim) -> impl Future<Output = Answer<()>> + Send {
        self.inner().trim(thread, trim)
    }

    /// As [`Checkpointer::threads`].
    fn threads(
        &self,
        which: Which,
        after: Option<&ThreadKey>,
        limit: usize,
    ) -> impl Future<Output = Answer<Vec<ThreadInfo>>> + Send {
        self.inner().threads(which, after, limit)
    }

    /// As [`Checkpointer::beyond`].
    fn beyond(
        &self,
        thread: &ThreadKey,
        after: Position,
    ) -> impl Future<Output = Answer<Position>> + Send {
        self.inner().beyond(thread, after)
    }

    /// As [`Checkpointer::outbox`].
    fn outbox(
        &self,
        consumer: &str,
        topic: &str,
        limit: usize,
    ) -> impl Future<Output = Answer<Vec<OutboxItem>>> + Send {
        self.inner().outbox(consumer, topic, limit)
    }

    /// As [`Checkpointer::advance`].
    fn advance(
        &self,
        consumer: &str,
        topic: &str,
        to: Cursor,
    ) -> impl Future<Output = Answer<()>> + Send {
        self.inner().advance(consumer, topic, to)
    }
}

/// The store that a [`Layer`] makes of the one beneath it.
#[derive(Debug, Clone)]
pub struct Layered<L>(pub L);

impl<L: Layer> Checkpointer for Layered<L> {
    async fn head(&self, thread: &ThreadKey) -> Answer<Option<Head>> {
        self.0.head(thread).await
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Answer<()> {
        self.0.append(thread, append).await
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Answer<Option<Opened>> {
        self.0.open(thread, at, snapshots).await
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Answer<Option<Opened>> {
        self.0.history(thread, before, limit).await
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> Answer<()> {
        self.0.put_snapshot(thread, life, position, snapshot).await
    }

    async fn beat(
        &self,
        thread: &ThreadKey,
        life: Life,
        epoch: Epoch,
        now: Timestamp,
    ) -> Answer<()> {
        self.0.beat(thread, life, epoch, now).await
    }

    async fn silence(&self, thread: &ThreadKey, epoch: Epoch) -> Answer<Option<Duration>> {
        self.0.silence(thread, epoch).await
    }

    async fn delete(&self, thread: &ThreadKey, expected: Option<&Head>) -> Answer<bool> {
        self.0.delete(thread, expected).await
    }

    async fn trim(&self, thread: &ThreadKey, trim: Trim) -> Answer<()> {
        self.0.trim(thread, trim).await
    }

    async fn threads(
        &self,
        which: Which,
        after: Option<&ThreadKey>,
        limit: usize,
    ) -> Answer<Vec<ThreadInfo>> {
        self.0.threads(which, after, limit).await
    }

    async fn beyond(&self, thread: &ThreadKey, after: Position) -> Answer<Position> {
        self.0.beyond(thread, after).await
    }

    async fn outbox(&self, consumer: &str, topic: &str, limit: usize) -> Answer<Vec<OutboxItem>> {
        self.0.outbox(consumer, topic, limit).await
    }

    async fn advance(&self, consumer: &str, topic: &str, to: Cursor) -> Answer<()> {
        self.0.advance(consumer, topic, to).await
    }

    fn codec(&self) -> Codec {
        self.0.inner().codec().clone()
    }

    fn is_chained(&self) -> bool {
        self.0.inner().is_chained()
    }
}
