//! Whoever is given items for others.

use hanok_core::{Position, Stored, ThreadKey};

use crate::{CheckpointError, Checkpointer, Cursor, Outbox, SharedCheckpointer};

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

/// An item of a [`Consumer`].
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The item's id, the same whenever it is handed out.
    pub id: String,
    /// The thread that it comes from.
    pub thread: ThreadKey,
    /// The record that says it.
    pub position: Position,
    /// The item.
    pub payload: Stored,
    cursor: Cursor,
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

    /// The next items, at most `limit`.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] for an item that is damaged, [`CheckpointError::Locked`] for one that the store's codec
    /// does not read; what the store says.
    pub async fn next(&self, limit: usize) -> Result<Vec<Delivery>, CheckpointError> {
        let items = self.store.outbox(&self.name, &self.topic, limit).await?;
        let codec = self.store.codec();
        let read = items.into_iter().map(|item| match Outbox::opened(codec, &item) {
            Ok(Outbox { id, payload, .. }) => {
                let (thread, position, cursor) = (item.thread, item.position, item.cursor);
                Ok(Delivery { id, thread, position, payload, cursor })
            }
            Err(error) => Err(error.at(item.thread, item.position)),
        });
        read.collect()
    }

    /// Notes that `item`, and all before it, are done.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn done(&self, item: &Delivery) -> Result<(), CheckpointError> {
        self.store.advance(&self.name, &self.topic, item.cursor).await
    }
}
