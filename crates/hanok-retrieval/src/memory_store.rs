use std::{
    collections::BTreeSet,
    ops::Range,
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use crate::{
    document::Passage,
    error::RetrievalError,
    memory::{MemoryIndex, told},
    query::Query,
    retriever::{Hit, Retriever},
    store::{DocumentStore, StoredDocument},
    terms::Terms,
};

/// A [`DocumentStore`] in this process's memory, searched by keywords and, where passages have vectors, by every one of these.
/// Nothing lasts.
///
/// One `upsert` of many documents costs little more than one of a single document: put them together.
///
/// ```
/// use hanok_retrieval::{Document, DocumentStore, MemoryStore, Query, Retriever, Splitter, Terms};
/// # use std::{pin::pin, task::{Context, Poll, Waker}};
/// # fn now<T>(future: impl Future<Output = T>) -> T {
/// #     let Poll::Ready(value) = pin!(future).poll(&mut Context::from_waker(Waker::noop())) else { panic!() };
/// #     value
/// # }
/// # now(async {
///
/// let store = MemoryStore::new(Terms::default());
/// let document = Document::new("규정/휴가.md", "연차휴가는 연 15일이다.").with("team", "hr");
/// store.upsert(Splitter::new().split(&document)).await?;
///
/// let query = Query::new("휴가").under("규정").only("team", "hr");
/// assert_eq!(store.search(&query).await?.len(), 1);
/// assert!(store.remove("규정/휴가.md").await?);
/// assert!(store.documents().await?.is_empty());
/// # Ok::<(), hanok_retrieval::RetrievalError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore {
    index: RwLock<MemoryIndex>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new(terms: Terms) -> Self {
        Self { index: RwLock::new(MemoryIndex::new([], terms)) }
    }

    /// Nothing panics while the lock is held for writing but for want of memory.
    fn read(&self) -> RwLockReadGuard<'_, MemoryIndex> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, MemoryIndex> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Retriever for MemoryStore {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        self.read().ask(query)
    }
}

impl DocumentStore for MemoryStore {
    async fn upsert(&self, mut passages: Vec<Passage>) -> Result<(), RetrievalError> {
        let mut index = self.write();
        let new: BTreeSet<String> = passages.iter().map(|passage| passage.source.clone()).collect();
        let stays = |passage: &&Passage| !new.contains(&passage.source);
        passages.extend(index.passages().iter().filter(stays).cloned());
        passages.sort_by(|a, b| (&a.source, a.ordinal).cmp(&(&b.source, b.ordinal)));
        index.update(passages);
        Ok(())
    }

    async fn remove(&self, source: &str) -> Result<bool, RetrievalError> {
        let mut index = self.write();
        let stays = |passage: &&Passage| passage.source != source;
        let left: Vec<Passage> = index.passages().iter().filter(stays).cloned().collect();
        let there = left.len() < index.passages().len();
        if there {
            index.update(left);
        }
        Ok(there)
    }

    async fn documents(&self) -> Result<Vec<StoredDocument>, RetrievalError> {
        let index = self.read();
        let documents = index.passages().chunk_by(|a, b| a.source == b.source);
        Ok(documents.filter_map(StoredDocument::of).collect())
    }

    async fn passages(
        &self,
        source: &str,
        ordinals: Range<usize>,
    ) -> Result<Vec<Passage>, RetrievalError> {
        let index = self.read();
        let asked = |it: &&Passage| it.source == source && ordinals.contains(&it.ordinal);
        Ok(index.passages().iter().filter(asked).map(told).collect())
    }
}
