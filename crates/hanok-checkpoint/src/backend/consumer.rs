//! Whoever is given items for others.

use hanok_core::{Position, Stored, ThreadKey};

use crate::{
    backend::checkpointer::Checkpointer,
    backend::shared::SharedCheckpointer,
    entry::outbox::{Cursor, Outbox, OutboxItem},
    error::CheckpointError,
};

/// Reads the items of one topic, of all threads, in the order in which they were committed.
///
/// Every item is handed out at least once: again and again until it is [`done`](Consumer::done), after a crash of the
/// consumer too. Its id is always the same, so what an item causes can be told from what it has caused before.
#[derive(Debug, Clone)]
pub struct Consumer {
    store: SharedCheckpointer,
    name: String,
    topic: String,
}

/// What a [`Consumer`] is given.
#[derive(Debug)]
pub struct Delivery {
    /// The thread that it comes from.
    pub thread: ThreadKey,
    /// The record that says it.
    pub position: Position,
    /// The item, or why it cannot be read: [`CheckpointError::Corrupt`] for one that is damaged, [`CheckpointError::Locked`]
    /// for one that the store's codec does not read. What follows can be read all the same; whoever notes that one which
    /// cannot is [done](Consumer::done) leaves it behind.
    pub item: Result<Delivered, CheckpointError>,
    cursor: Cursor,
}

/// A whole item of a [`Consumer`].
#[derive(Debug, Clone, PartialEq)]
pub struct Delivered {
    /// The item's id, the same whenever it is handed out.
    pub id: String,
    /// What a node handed over.
    pub payload: Stored,
}

impl Consumer {
    /// The consumer `name` of `topic`. Consumers of one name share what they are done with.
    pub fn new(store: SharedCheckpointer, name: &str, topic: &str) -> Self {
        Self { store, name: name.to_owned(), topic: topic.to_owned() }
    }

    /// Makes the consumer known, so that the items from now on are kept for it. One that was done with an item is known.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn register(&self) -> Result<(), CheckpointError> {
        self.store.advance(&self.name, &self.topic, Cursor::START).await
    }

    /// The next items, at most `limit`. One that cannot be read is among them, and says so.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn next(&self, limit: usize) -> Result<Vec<Delivery>, CheckpointError> {
        let items = self.store.outbox(&self.name, &self.topic, limit).await?;
        let codec = self.store.codec();
        let read = items.into_iter().map(|stored| {
            let read = Outbox::opened(codec, &stored);
            let OutboxItem { thread, position, cursor, .. } = stored;
            let item = read.map(|Outbox { id, payload, .. }| Delivered { id, payload });
            let item = item.map_err(|error| error.at(thread.clone(), position));
            Delivery { thread, position, item, cursor }
        });
        Ok(read.collect())
    }

    /// Notes that `delivery`, and all before it, are done.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn done(&self, delivery: &Delivery) -> Result<(), CheckpointError> {
        self.store.advance(&self.name, &self.topic, delivery.cursor).await
    }
}
