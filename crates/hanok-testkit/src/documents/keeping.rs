use std::{fmt, ops::Range};

use hanok_retrieval::{
    DocumentStore, Hit, Passage, Query, RetrievalError, Retriever, StoredDocument,
};

/// A store with what has to be there as long as it is: its folder, its server. The store goes first.
#[derive(Debug)]
pub struct Keeping<S, K> {
    store: S,
    _resource: K,
}

impl<S: DocumentStore, K> Keeping<S, K> {
    /// `store`, and `resource` for as long.
    pub fn new(store: S, resource: K) -> Self {
        Self { store, _resource: resource }
    }
}

impl<S: DocumentStore, K: fmt::Debug + Send + Sync + 'static> Retriever for Keeping<S, K> {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        self.store.search(query).await
    }
}

impl<S: DocumentStore, K: fmt::Debug + Send + Sync + 'static> DocumentStore for Keeping<S, K> {
    async fn upsert(&self, passages: Vec<Passage>) -> Result<(), RetrievalError> {
        self.store.upsert(passages).await
    }

    async fn remove(&self, source: &str) -> Result<bool, RetrievalError> {
        self.store.remove(source).await
    }

    async fn documents(&self) -> Result<Vec<StoredDocument>, RetrievalError> {
        self.store.documents().await
    }

    async fn passages(
        &self,
        source: &str,
        ordinals: Range<usize>,
    ) -> Result<Vec<Passage>, RetrievalError> {
        self.store.passages(source, ordinals).await
    }
}
