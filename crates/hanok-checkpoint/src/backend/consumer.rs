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
///
/// ```
/// # use hanok_checkpoint::*;
/// # futures::executor::block_on(async {
/// # use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
/// # let (store, codec) = (SharedCheckpointer::new(InMemoryCheckpointer::new()), Codec::new());
/// # let thread = ThreadKey::new(Tenant::default(), "t")?;
/// # let log = Log::new(store.clone(), thread.clone());
/// # let nothing = Edit { frontier: Some(Frontier::default()), ..Edit::default() };
/// # let entry = Entry { at: Timestamp(7), namespace: Namespace::root(), body: Body::Edit(nothing) };
/// # let mut tip = Tip::new(Life::new(1), false);
/// # let record = tip.push(&codec, &thread, Position::START, &entry)?;
/// # let append = tip.append(&codec, &thread, AppendId(1), Position::START, Guard::Unclaimed, vec![record]);
/// # store.append(&thread, append).await?;
/// # use hanok_core::Stored;
/// let mailer = Consumer::new(store.clone(), "mailer", "mail");
/// mailer.register().await?;
///
/// # let mut tip = Tip::of(&store.head(&thread).await?.ok_or("no log")?);
/// # let record = tip.push(&codec, &thread, Position(1), &entry)?;
/// let item = Outbox { id: "1".into(), topic: "mail".into(), payload: Stored::encode("Hello!")? };
/// let outbox = vec![item.outgoing(&codec, &thread, tip.life, tip.position)?];
/// let append = tip.append(&codec, &thread, AppendId(2), Position(1), Guard::Unclaimed, vec![record]);
/// store.append(&thread, Append { outbox, ..append }).await?;
///
/// for delivery in mailer.next(10).await? {
///     let item = delivery.item.as_ref().map_err(|error| error.to_string())?;
///     assert_eq!((item.id.as_str(), item.payload.as_str()?), ("1", "Hello!"));
///     mailer.done(&delivery).await?;
/// }
/// assert!(mailer.next(10).await?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Consumer {
    store: SharedCheckpointer,
    name: String,
    topic: String,
}

/// An item, as a [`Consumer`] receives it.
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
    /// The payload that a node handed over.
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
            let item = item.map_err(|error| error.at(&thread, position));
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
