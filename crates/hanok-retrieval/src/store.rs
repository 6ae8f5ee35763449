use std::{fmt, ops::Range, pin::Pin, sync::Arc};

use crate::{
    document::Passage,
    error::RetrievalError,
    query::Query,
    retriever::{Hit, Retriever},
};

/// Keeps the passages of documents, and is asked for them.
///
/// # Contract
///
/// Beside that of [`Retriever`]:
///
/// - `upsert` takes whole documents: what the store has of a source that is among the passages goes, with every passage it
///   had, and the new ones come. A search sees all of one `upsert` or nothing of it.
/// - After `Ok`, every search has what was put and nothing of what was removed.
/// - Passages read back as they were put, whatever letters they hold, but without their vectors. The id of a passage is its
///   own within its source.
/// - Vectors of any space may be put; a search compares those of the question's.
/// - Putting the same again changes nothing.
///
/// Run `hanok_testkit::document_store_conforms!` (the feature `retrieval`) on every implementation.
///
/// # Cancel safety
///
/// A dropped `upsert` or `remove` happened or did not. Make it again: both may be repeated.
pub trait DocumentStore: Retriever {
    /// Puts `passages` in place of all that the store has of their sources.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::Unavailable`] when the store does not answer. It is then as it was.
    fn upsert(
        &self,
        passages: Vec<Passage>,
    ) -> impl Future<Output = Result<(), RetrievalError>> + Send;

    /// Removes every passage of the document `source`. Says whether there were any.
    ///
    /// # Errors
    ///
    /// As those of [`upsert`](Self::upsert).
    fn remove(&self, source: &str) -> impl Future<Output = Result<bool, RetrievalError>> + Send;

    /// What the store holds, in the order of the sources.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::Unavailable`] when the store does not answer.
    fn documents(&self)
    -> impl Future<Output = Result<Vec<StoredDocument>, RetrievalError>> + Send;

    /// The passages of the document `source` whose [`ordinal`](Passage::ordinal) is in `ordinals`, in their order. What is
    /// not there is left out.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::Unavailable`] when the store does not answer.
    fn passages(
        &self,
        source: &str,
        ordinals: Range<usize>,
    ) -> impl Future<Output = Result<Vec<Passage>, RetrievalError>> + Send;

    /// `passage` with what stands before and after it in its document: at most `around` passages on each side.
    ///
    /// # Errors
    ///
    /// As those of [`passages`](Self::passages).
    fn neighbours(
        &self,
        passage: &Passage,
        around: usize,
    ) -> impl Future<Output = Result<Vec<Passage>, RetrievalError>> + Send {
        let at = passage.ordinal;
        let ordinals = at.saturating_sub(around)..at.saturating_add(around).saturating_add(1);
        self.passages(&passage.source, ordinals)
    }
}

/// What a store has of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredDocument {
    /// The [`Passage::source`] of its passages.
    pub source: String,
    /// The [`version`](Self::version_of) of its passages.
    pub version: String,
    /// How many passages it has.
    pub passages: usize,
    /// The model that made the vectors of all its passages; `None` when one has none, or another's.
    pub model: Option<String>,
}

impl StoredDocument {
    /// The document of `source` with so many passages, without a model.
    #[must_use]
    pub fn new(source: impl Into<String>, version: impl Into<String>, passages: usize) -> Self {
        Self { source: source.into(), version: version.into(), passages, model: None }
    }

    /// What `passages`, which are all of one document in its order, say of it. `None` when there are none.
    #[must_use]
    pub fn of(passages: &[Passage]) -> Option<Self> {
        let source = passages.first()?.source.clone();
        let model = Self::model_of(passages);
        Some(Self { source, version: Self::version_of(passages), passages: passages.len(), model })
    }

    /// The model that made the vectors of all `passages`.
    #[must_use]
    pub fn model_of(passages: &[Passage]) -> Option<String> {
        let mut spaces = passages.iter().map(|passage| Some(passage.vector.as_ref()?.space()));
        let first = spaces.next()??;
        spaces.all(|space| space.as_ref() == Some(&first)).then(|| first.model.to_string())
    }

    /// A hash of all that a store keeps of `passages` but their vectors: it is another one when a document's content is, its metadata, or the
    /// way it is split.
    #[must_use]
    pub fn version_of(passages: &[Passage]) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut part = |text: &str| {
            hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        };
        for passage in passages {
            part(&passage.id);
            part(&passage.document);
            for (key, value) in &passage.metadata {
                part(key);
                part(value);
            }
        }
        hasher.finalize().to_hex().chars().take(32).collect()
    }
}

type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T, RetrievalError>> + Send + 'a>>;

trait Erased: fmt::Debug + Send + Sync {
    fn search_boxed<'a>(&'a self, query: &'a Query) -> Boxed<'a, Vec<Hit>>;
    fn upsert_boxed(&self, passages: Vec<Passage>) -> Boxed<'_, ()>;
    fn remove_boxed<'a>(&'a self, source: &'a str) -> Boxed<'a, bool>;
    fn documents_boxed(&self) -> Boxed<'_, Vec<StoredDocument>>;
    fn passages_boxed<'a>(
        &'a self,
        source: &'a str,
        ordinals: Range<usize>,
    ) -> Boxed<'a, Vec<Passage>>;
}

impl<S: DocumentStore> Erased for S {
    fn search_boxed<'a>(&'a self, query: &'a Query) -> Boxed<'a, Vec<Hit>> {
        Box::pin(self.search(query))
    }

    fn upsert_boxed(&self, passages: Vec<Passage>) -> Boxed<'_, ()> {
        Box::pin(self.upsert(passages))
    }

    fn remove_boxed<'a>(&'a self, source: &'a str) -> Boxed<'a, bool> {
        Box::pin(self.remove(source))
    }

    fn documents_boxed(&self) -> Boxed<'_, Vec<StoredDocument>> {
        Box::pin(self.documents())
    }

    fn passages_boxed<'a>(
        &'a self,
        source: &'a str,
        ordinals: Range<usize>,
    ) -> Boxed<'a, Vec<Passage>> {
        Box::pin(self.passages(source, ordinals))
    }
}

/// Any [`DocumentStore`], chosen at run time. Clones share the store.
#[derive(Debug, Clone)]
pub struct SharedDocumentStore(Arc<dyn Erased>);

impl SharedDocumentStore {
    /// A handle on `store`.
    #[must_use]
    pub fn new(store: impl DocumentStore) -> Self {
        Self(Arc::new(store))
    }
}

impl Retriever for SharedDocumentStore {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        self.0.search_boxed(query).await
    }
}

impl DocumentStore for SharedDocumentStore {
    async fn upsert(&self, passages: Vec<Passage>) -> Result<(), RetrievalError> {
        self.0.upsert_boxed(passages).await
    }

    async fn remove(&self, source: &str) -> Result<bool, RetrievalError> {
        self.0.remove_boxed(source).await
    }

    async fn documents(&self) -> Result<Vec<StoredDocument>, RetrievalError> {
        self.0.documents_boxed().await
    }

    async fn passages(
        &self,
        source: &str,
        ordinals: Range<usize>,
    ) -> Result<Vec<Passage>, RetrievalError> {
        self.0.passages_boxed(source, ordinals).await
    }
}
