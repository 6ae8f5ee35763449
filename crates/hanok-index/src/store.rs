//! A store in the files of a folder.

use std::{
    fmt,
    ops::Range,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use hanok_retrieval::{
    BoxError, DocumentStore, Hit, Passage, Query, RetrievalError, Retriever, StoredDocument, Terms,
    backend::by_source,
};
use tantivy::{IndexReader, IndexWriter, Searcher, TantivyDocument};

use crate::{
    folder::{self, Opened},
    schema::Fields,
    search::{by_keywords, by_vectors, having},
    vectors::Vectors,
};

/// How an [`IndexStore`] is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexOptions {
    terms: Terms,
    read_only: bool,
}

impl IndexOptions {
    /// To write and to read, with the default terms.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Which terms stand for a text. A folder keeps to those that it was made with. Default: [`Terms::Bigrams`].
    #[must_use]
    pub fn terms(self, terms: Terms) -> Self {
        Self { terms, ..self }
    }

    /// Whether the store is only read: beside a process that writes, any number may do so, and each search sees the last
    /// change. Default: no.
    #[must_use]
    pub fn read_only(self, read_only: bool) -> Self {
        Self { read_only, ..self }
    }
}

/// A [`DocumentStore`] in the files of a folder, by tantivy: keywords by its BM25 over hanok's terms, vectors one by one, which
/// are in memory too.
///
/// After `Ok`, a change is in the files: neither the death of the process nor that of the machine loses it, and of one that was
/// cut off nothing is seen. A change is made on a thread of its own, with a flush to the disk; put many documents together. A
/// search runs where it is awaited. One store at a time writes to a folder, any number read it, in this process or others.
///
/// What was replaced or removed counts in the weights of terms until tantivy merges its files, so scores depend a little on how
/// the documents came.
///
/// ```
/// use hanok_index::{IndexOptions, IndexStore};
/// use hanok_retrieval::{Document, DocumentStore, Query, Retriever, Splitter};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// # hanok_testkit::block_on(async {
/// let store = IndexStore::open(folder, IndexOptions::new()).await?;
/// let document = Document::new("규정/휴가.md", "연차휴가는 연 15일이다.");
/// store.upsert(Splitter::new().split(&document)).await?;
/// drop(store);
///
/// let store = IndexStore::open(folder, IndexOptions::new()).await?;
/// assert_eq!(store.search(&Query::new("휴가").under("규정")).await?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct IndexStore(Arc<Inner>);

struct Inner {
    path: PathBuf,
    terms: Terms,
    fields: Fields,
    reader: IndexReader,
    /// `None` where it is only read.
    writer: Option<Mutex<IndexWriter>>,
    vectors: Vectors,
}

impl fmt::Debug for IndexStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("IndexStore");
        shown.field("path", &self.0.path).field("read_only", &self.0.writer.is_none()).finish()
    }
}

impl IndexStore {
    /// Opens the store in the folder `path`, which is made where it is missing. All of its files are read once, to see that
    /// they are whole.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::Held`] when another store writes to the folder, [`RetrievalError::Damaged`] when the files are not
    /// whole or of another version, [`RetrievalError::Terms`] when they were made with other terms,
    /// [`RetrievalError::NoIndex`] when there are files of something else, and [`RetrievalError::NoFolder`] when a folder to
    /// read is missing. Nothing is removed then.
    pub async fn open(
        path: impl Into<PathBuf>,
        options: IndexOptions,
    ) -> Result<Self, RetrievalError> {
        let path = path.into();
        let IndexOptions { terms, read_only } = options;
        on_a_thread(move || {
            let (fields, schema) = Fields::new();
            let Opened { reader, writer } = folder::open(&path, &schema, &terms, read_only)?;
            let (writer, vectors) = (writer.map(Mutex::new), Vectors::default());
            Ok(Self(Arc::new(Inner { path, terms, fields, reader, writer, vectors })))
        })
        .await
    }

    /// Makes a change on a thread of its own.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Inner, &mut IndexWriter) -> Result<T, BoxError> + Send + 'static,
    ) -> Result<T, RetrievalError> {
        if self.0.writer.is_none() {
            return Err(RetrievalError::ReadOnly);
        }
        let inner = Arc::clone(&self.0);
        on_a_thread(move || {
            let Some(writer) = &inner.writer else { return Err(RetrievalError::ReadOnly) };
            let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
            let changed = change(&inner, &mut writer);
            if changed.is_err() {
                // What was added before it failed is no part of the next change.
                writer.rollback().map_err(|error| RetrievalError::Unavailable(error.into()))?;
            }
            changed.map_err(RetrievalError::Unavailable)
        })
        .await
    }
}

impl Inner {
    /// The index as it is now.
    fn now(&self) -> Result<Searcher, BoxError> {
        if self.writer.is_none() {
            folder::beside_writers(&self.path, || self.reader.reload())?;
        }
        Ok(self.reader.searcher())
    }

    fn commit(&self, writer: &mut IndexWriter) -> Result<(), BoxError> {
        folder::commit(writer, &self.terms)?;
        Ok(self.reader.reload()?)
    }

    /// Whether the document `source` is stored just so.
    fn is_stored(&self, source: &str, entries: &[TantivyDocument]) -> Result<bool, BoxError> {
        let stored = having(&self.reader.searcher(), self.fields.source(source))?;
        let sorted = |entries: &[TantivyDocument]| -> Vec<[Vec<u8>; 3]> {
            let bytes = |entry| self.fields.stored(entry).map(<[u8]>::to_vec);
            let mut all: Vec<_> = entries.iter().map(bytes).collect();
            all.sort();
            all
        };
        Ok(stored.len() == entries.len() && sorted(&stored) == sorted(entries))
    }
}

impl Retriever for IndexStore {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        let Inner { terms, fields, vectors, .. } = &*self.0;
        let (keyword, vector) = query.depths()?;
        let now = self.0.now().map_err(RetrievalError::Unavailable)?;
        let keyword = keyword
            .map(|depth| by_keywords(&now, (*fields, terms), query, depth))
            .transpose()
            .map_err(RetrievalError::Unavailable)?;
        let vector =
            vector.map(|depth| by_vectors(&now, (*fields, vectors), query, depth)).transpose()?;
        let read = |at| -> Result<Passage, BoxError> { fields.passage(&now.doc(at)?) };
        query.told((keyword, vector), read).map_err(RetrievalError::Unavailable)
    }
}

impl DocumentStore for IndexStore {
    async fn upsert(&self, passages: Vec<Passage>) -> Result<(), RetrievalError> {
        self.change(move |inner, writer| {
            let mut is_changed = false;
            for (source, passages) in by_source(passages) {
                let entries = inner.fields.entries(&passages, &inner.terms)?;
                if inner.is_stored(&source, &entries)? {
                    continue;
                }
                is_changed = true;
                writer.delete_term(inner.fields.source(&source));
                for entry in entries {
                    writer.add_document(entry)?;
                }
            }
            if is_changed { inner.commit(writer) } else { Ok(()) }
        })
        .await
    }

    async fn remove(&self, source: &str) -> Result<bool, RetrievalError> {
        let source = source.to_owned();
        self.change(move |inner, writer| {
            let term = inner.fields.source(&source);
            let is_there = inner.reader.searcher().doc_freq(&term)? > 0
                && !having(&inner.reader.searcher(), term.clone())?.is_empty();
            if is_there {
                writer.delete_term(term);
                inner.commit(writer)?;
            }
            Ok(is_there)
        })
        .await
    }

    async fn documents(&self) -> Result<Vec<StoredDocument>, RetrievalError> {
        let read = || -> Result<Vec<StoredDocument>, BoxError> {
            let heads = having(&self.0.now()?, self.0.fields.heads())?;
            let listed = heads.iter().map(|entry| self.0.fields.document(entry));
            let mut listed = listed.collect::<Result<Vec<_>, _>>()?;
            listed.sort_by(|one, other| one.source.cmp(&other.source));
            Ok(listed)
        };
        read().map_err(RetrievalError::Unavailable)
    }

    async fn passages(
        &self,
        source: &str,
        ordinals: Range<usize>,
    ) -> Result<Vec<Passage>, RetrievalError> {
        let read = || -> Result<Vec<Passage>, BoxError> {
            let entries = having(&self.0.now()?, self.0.fields.source(source))?;
            let passages = entries.iter().map(|entry| self.0.fields.passage(entry));
            let mut passages = passages.collect::<Result<Vec<_>, _>>()?;
            passages.retain(|passage| ordinals.contains(&passage.ordinal));
            passages.sort_by_key(|passage| passage.ordinal);
            Ok(passages)
        };
        read().map_err(RetrievalError::Unavailable)
    }
}

/// What `work` makes on a thread of its own. It goes on where nobody waits for it any more.
async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RetrievalError> + Send + 'static,
) -> Result<T, RetrievalError> {
    let (send, receive) = futures_channel::oneshot::channel();
    let run = move || drop(send.send(work()));
    let thread = thread::Builder::new().name("hanok-index".to_owned()).spawn(run);
    thread.map_err(|error| RetrievalError::Unavailable(error.into()))?;
    receive.await.unwrap_or_else(|_panic| {
        Err(RetrievalError::Unavailable("the thread that made a change panicked".into()))
    })
}
