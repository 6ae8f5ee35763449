//! A store in files.

mod approximate;
mod best;
mod bounds;
#[cfg(test)]
mod brute;
mod codes;
mod fields;
mod likeliest;
mod lists;
mod near;
mod open;
mod parts;
mod rotation;
mod search;
mod stored;
mod sums;
mod vectors;
mod view;
mod weights;
mod windows;
mod writer;

use std::{
    fmt,
    ops::Range,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard},
};

use tantivy::{Index, IndexReader};

pub use self::approximate::Approximate;
use self::{
    fields::{Fields, Head},
    view::{Changed, Place, View},
    writer::Worker,
};
use crate::{
    document::Passage,
    error::{BoxError, RetrievalError},
    found::Found,
    query::Query,
    retriever::{Hit, Mode, Retriever},
    store::{DocumentStore, StoredDocument},
    terms::Terms,
};

/// How a [`LocalStore`] is opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalOptions {
    terms: Terms,
    read_only: bool,
    approximate: Option<Approximate>,
}

impl LocalOptions {
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

    /// Whether the store is only asked: beside a process that writes, any number may do so, and each search sees the
    /// last change. Default: no.
    #[must_use]
    pub fn read_only(self, read_only: bool) -> Self {
        Self { read_only, ..self }
    }

    /// Vectors are estimated, and only the best of them compared, so that a search may miss one; scores are exact all the same.
    ///
    /// Of each vector, less the mean of all and turned, a bit of every number is kept, 512 at least, and two numbers more, by
    /// which products are estimated without a bias (RaBitQ, Gao and Long 2024, arXiv:2405.12497; the rotation is a fast
    /// Hadamard transform). That is 72 bytes beside the 2,048 of a vector of 512 numbers. Every search looks at all codes: it
    /// takes as long for vectors of any kind, and ten times as long for ten times as many. Codes follow every change and are
    /// in no file: at opening they are made again, of 100,000 vectors in a third of a second. Vectors of fewer than 64 or
    /// more than 8,192 numbers are all compared. What was found and how fast, `docs/retrieval.md` says. Default: every vector
    /// is compared.
    #[must_use]
    pub fn approximate(self, approximate: Approximate) -> Self {
        Self { approximate: Some(approximate), ..self }
    }
}

/// A [`DocumentStore`] in the files of a folder, searched by keywords and, where passages have vectors, by every one of these,
/// which are in memory too. The feature `local`.
///
/// After `Ok`, a change is in the files: neither the death of the process nor that of the machine loses it, and of one that
/// was cut off nothing is seen. A change is made on a thread of the store's own; put many documents together. A search runs
/// where it is awaited, like one of [`MemoryStore`](crate::MemoryStore). One store at a time writes to a folder, any number
/// read it, in this process or others.
///
/// ```
/// use hanok_retrieval::{Document, DocumentStore, LocalOptions, LocalStore, Query, Retriever, Splitter};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// # hanok_testkit::block_on(async {
/// let store = LocalStore::open(folder, LocalOptions::new()).await?;
/// let document = Document::new("규정/휴가.md", "연차휴가는 연 15일이다.");
/// store.upsert(Splitter::new().split(&document)).await?;
/// drop(store);
///
/// let store = LocalStore::open(folder, LocalOptions::new()).await?;
/// assert_eq!(store.search(&Query::new("휴가").under("규정")).await?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LocalStore {
    shared: Arc<Shared>,
    /// `None` where it is only read.
    worker: Option<Worker>,
}

impl fmt::Debug for LocalStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read_only = self.worker.is_none();
        let mut shown = f.debug_struct("LocalStore");
        shown.field("path", &self.shared.path).field("read_only", &read_only).finish()
    }
}

impl LocalStore {
    /// Opens the store in the folder `path`, which is made where it is missing. All of its files are read once, to see that
    /// they are whole.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::Held`] when another store writes to the folder, [`RetrievalError::Damaged`] when the files are not
    /// whole or of another version, [`RetrievalError::Terms`] when they were made with other terms,
    /// [`RetrievalError::NoIndex`] when there are files of something else, and [`RetrievalError::NoFolder`] when a folder to read is not there. Nothing is removed then.
    pub async fn open(
        path: impl Into<PathBuf>,
        options: LocalOptions,
    ) -> Result<Self, RetrievalError> {
        let path = path.into();
        if options.read_only {
            let shared = Shared::open(path, options)?.into();
            return Ok(Self { shared, worker: None });
        }
        let (worker, shared) = Worker::start(move || Shared::open(path, options)).await?;
        Ok(Self { shared, worker: Some(worker) })
    }

    /// What may be written by.
    fn worker(&self) -> Result<&Worker, RetrievalError> {
        self.worker.as_ref().ok_or(RetrievalError::ReadOnly)
    }

    /// The index as it is now.
    fn now(&self) -> Result<RwLockReadGuard<'_, View>, RetrievalError> {
        if self.worker.is_none() {
            self.shared.follow()?;
        }
        Ok(self.shared.view())
    }
}

impl Retriever for LocalStore {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        let (view, (keyword, vector)) = (self.now()?, query.depths()?);
        let late = |error| self.shared.late(error);
        let by_keywords =
            |depth| search::by_keywords(&view, query, &self.shared.terms, depth).map_err(late);
        let by_vector = |depth| {
            let among = search::among(&view, query).map_err(late)?;
            let (asked, lowest) = (query.needed_vector()?, query.lowest_similarity());
            let found = view.vectors.nearest(asked, among.as_deref(), depth, lowest)?;
            let found = (1..).zip(found).map(|(rank, (key, similarity))| {
                Found::by(Mode::Vector, rank, similarity, Place { key, entry: None })
            });
            Ok::<_, RetrievalError>(found.collect())
        };
        let vector = vector.map(by_vector).transpose()?;
        let keyword = keyword.map(by_keywords).transpose()?;
        query.told((keyword, vector), |place| view.passage(place).map_err(late))
    }
}

impl DocumentStore for LocalStore {
    async fn upsert(&self, passages: Vec<Passage>) -> Result<(), RetrievalError> {
        self.worker()?.ask(|writer| writer.put(passages)).await
    }

    async fn remove(&self, source: &str) -> Result<bool, RetrievalError> {
        let source = source.to_owned();
        self.worker()?.ask(|writer| writer.remove(source)).await
    }

    async fn documents(&self) -> Result<Vec<StoredDocument>, RetrievalError> {
        Ok(self.now()?.heads.values().map(Head::listed).collect())
    }

    async fn passages(
        &self,
        source: &str,
        ordinals: Range<usize>,
    ) -> Result<Vec<Passage>, RetrievalError> {
        self.now()?.passages_of(source, &ordinals).map_err(|error| self.shared.late(error))
    }
}

/// An open index, as its writer and its readers share it.
struct Shared {
    path: PathBuf,
    terms: Terms,
    index: Index,
    reader: IndexReader,
    view: RwLock<View>,
    /// What [`open::meta`] said when the view was made, where others write.
    seen: Mutex<Vec<u8>>,
}

impl Shared {
    fn open(path: PathBuf, options: LocalOptions) -> Result<Self, RetrievalError> {
        let seen = open::meta(&path).unwrap_or_default().into();
        let mut opened = open::open(&path, &options.terms, !options.read_only)?;
        if let Some(approximate) = options.approximate {
            opened.view.vectors.approximate(approximate);
        }
        let (index, reader, view) = (opened.index, opened.reader, opened.view.into());
        Ok(Self { path, terms: options.terms, index, reader, view, seen })
    }

    fn view(&self) -> RwLockReadGuard<'_, View> {
        self.view.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn fields(&self) -> Fields {
        self.view().fields
    }

    /// Shows the last commit, which changed these documents.
    fn advance(&self, changed: Vec<Changed>) -> Result<(), BoxError> {
        self.reader.reload()?;
        let searcher = self.reader.searcher();
        self.view.write().unwrap_or_else(PoisonError::into_inner).advance(searcher, changed)
    }

    /// Shows the last commit, whatever it changed.
    fn look_again(&self) -> Result<(), RetrievalError> {
        self.reader.reload().map_err(|error| self.late(error.into()))?;
        let mut view = self.view.write().unwrap_or_else(PoisonError::into_inner);
        view.read_again(self.reader.searcher()).map_err(|error| self.late(error))
    }

    /// Shows the last commit of another process.
    fn follow(&self) -> Result<(), RetrievalError> {
        let now = open::meta(&self.path).map_err(|error| self.late(error.into()))?;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen != now {
            open::beside_others(&self.path, || self.look_again())?;
            *seen = now;
        }
        Ok(())
    }

    /// What a caller is told of an error at opening.
    fn told(&self, error: BoxError) -> RetrievalError {
        open::told(&self.path, error)
    }

    /// What a caller is told of an error later.
    fn late(&self, error: BoxError) -> RetrievalError {
        match self.told(error) {
            RetrievalError::Damaged { source, .. } | RetrievalError::NoIndex { source, .. } => {
                RetrievalError::Unavailable(source)
            }
            error => error,
        }
    }
}
