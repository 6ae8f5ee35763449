use std::{fmt, pin::Pin, sync::Arc};

use crate::{document::Passage, error::RetrievalError, query::Query};

/// How passages are compared with a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// By the words that both have.
    #[default]
    Keyword,
    /// By their meaning, as vectors.
    Vector,
    /// By both, joined.
    Hybrid,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keyword => "keyword",
            Self::Vector => "vector",
            Self::Hybrid => "hybrid",
        })
    }
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// The passage.
    pub passage: Passage,
    /// How well it fits: higher is better. By keywords it is BM25 or what the store has in its place, by vectors the cosine,
    /// of both [what they make together](crate::Fusion). Comparable between the hits of one search only, never between questions or stores.
    pub score: f32,
    /// What each way of comparing said of it: the one that was asked for, or of [`Mode::Hybrid`] the one or two that found it.
    pub parts: Vec<Part>,
    /// The share of the question that the passage has, from 0 to 1. Every word of the question weighs as
    /// much as its rarest term (by inverse document frequency; a word that is nowhere in the store weighs
    /// most), and counts by the share of its terms that the passage holds. Comparable between questions,
    /// so a caller can say "nothing found"; see [`MIN_COVERAGE`](crate::MIN_COVERAGE). 0 where keywords did not find it.
    pub coverage: f32,
    /// The terms of the question that the passage has, in the question's order: words, and pairs of
    /// Korean characters.
    pub matched: Vec<String>,
}

/// What one way of comparing said of a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Part {
    /// Which one.
    pub by: Mode,
    /// Its place among those that this way found, from 1.
    pub rank: usize,
    /// What it scored there.
    pub score: f32,
}

/// A store of passages that can be asked.
///
/// # Contract
///
/// - Hits come with the highest score first; equal scores in a fixed order.
/// - There are at most [`Query::max_hits`]. Keywords find none when no passage reaches [`Query::lowest_coverage`] or
///   nothing was matched, vectors none that are less alike than [`Query::lowest_similarity`]. Nothing found is an empty list,
///   not an error.
/// - A store does not make vectors, it compares the ones it is given, those of one space only; see
///   [`Embedded`](crate::Embedded).
/// - A question is data: whatever it holds, it is neither syntax nor an error. So are the filters.
/// - Every hit is one that [`Query::allows`].
///
/// # Cancel safety
///
/// `search` changes nothing, so dropping it loses nothing.
pub trait Retriever: fmt::Debug + Send + Sync + 'static {
    /// The passages that fit `query` best.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::Unavailable`] when a store outside this process does not answer, [`RetrievalError::NoVector`] when
    /// the query asks to compare vectors and has none, and [`RetrievalError::Space`] when the store has only others.
    fn search(
        &self,
        query: &Query,
    ) -> impl Future<Output = Result<Vec<Hit>, RetrievalError>> + Send;
}

impl<R: Retriever> Retriever for Arc<R> {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        R::search(self, query).await
    }
}

type Boxed<'a> = Pin<Box<dyn Future<Output = Result<Vec<Hit>, RetrievalError>> + Send + 'a>>;

trait Erased: fmt::Debug + Send + Sync {
    fn search_boxed<'a>(&'a self, query: &'a Query) -> Boxed<'a>;
}

impl<R: Retriever> Erased for R {
    fn search_boxed<'a>(&'a self, query: &'a Query) -> Boxed<'a> {
        Box::pin(self.search(query))
    }
}

/// Any [`Retriever`], chosen at run time. Clones share the store.
#[derive(Debug, Clone)]
pub struct SharedRetriever(Arc<dyn Erased>);

impl SharedRetriever {
    /// A handle on `retriever`.
    #[must_use]
    pub fn new(retriever: impl Retriever) -> Self {
        Self(Arc::new(retriever))
    }
}

impl Retriever for SharedRetriever {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        self.0.search_boxed(query).await
    }
}
