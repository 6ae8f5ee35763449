use std::{collections::BTreeMap, fmt, pin::Pin, sync::Arc};

use crate::{document::Passage, error::RetrievalError};

/// What is asked for.
///
/// ```
/// use hanok_retrieval::Query;
///
/// let query = Query::new("회사 휴가 정책 알려줘").limit(3).min_coverage(0.3);
/// assert_eq!(query.text(), "회사 휴가 정책 알려줘");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    text: String,
    limit: usize,
    min_coverage: f32,
    mode: Mode,
    under: String,
    metadata: BTreeMap<String, String>,
}

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

impl Query {
    /// A question or keywords, in any Unicode normal form.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            limit: 5,
            min_coverage: 0.0,
            mode: Mode::Keyword,
            under: String::new(),
            metadata: BTreeMap::new(),
        }
    }

    /// How passages are compared with the question. Default: [`Mode::Keyword`].
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Only passages whose source is `folder`, or stands below it: `규정` holds `규정/휴가.md` and not `규정집.md`. Default:
    /// all.
    #[must_use]
    pub fn under(self, folder: impl AsRef<str>) -> Self {
        let under = crate::walk::display(folder.as_ref().trim_end_matches('/'));
        Self { under, ..self }
    }

    /// Only passages whose metadata has this value for `key`. Of several calls, all have to hold. Default: all.
    #[must_use]
    pub fn only(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// The most hits to return. Default: 5.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// A question of which no passage has at least this [`Hit::coverage`] finds nothing. Otherwise the
    /// best passages are returned, whatever they cover: a short one with the answer may share but one
    /// word with the question. Default: 0.
    #[must_use]
    pub fn min_coverage(self, min_coverage: f32) -> Self {
        Self { min_coverage, ..self }
    }

    /// The question.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The most hits to return.
    #[must_use]
    pub fn max_hits(&self) -> usize {
        self.limit
    }

    /// How passages are to be compared.
    #[must_use]
    pub fn compared(&self) -> Mode {
        self.mode
    }

    /// The source, or the folder of sources, that hits have to be of; empty for all.
    #[must_use]
    pub fn folder(&self) -> &str {
        &self.under
    }

    /// The values that the metadata of a hit has to have.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Whether the filters let `passage` through.
    #[must_use]
    pub fn allows(&self, passage: &Passage) -> bool {
        let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
        (self.under.is_empty() || passage.source.strip_prefix(&self.under).is_some_and(below))
            && self.metadata.iter().all(|(key, value)| passage.metadata.get(key) == Some(value))
    }

    /// Refuses what asks for more than keywords of `store`.
    pub(crate) fn by_keywords(&self, store: &'static str) -> Result<(), RetrievalError> {
        match self.mode {
            Mode::Keyword => Ok(()),
            mode => Err(RetrievalError::Mode { store: store.to_owned(), mode }),
        }
    }

    /// The coverage that the best covered passage must have.
    #[must_use]
    pub fn lowest_coverage(&self) -> f32 {
        self.min_coverage
    }
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// The passage.
    pub passage: Passage,
    /// How well it fits: higher is better. Comparable between the hits of one search only, never between
    /// questions or stores. Of a [`MemoryIndex`](crate::MemoryIndex) it is the sum of BM25 over the terms.
    pub score: f32,
    /// The share of the question that the passage has, from 0 to 1. Every word of the question weighs as
    /// much as its rarest term (by inverse document frequency; a word that is nowhere in the store weighs
    /// most), and counts by the share of its terms that the passage holds. Comparable between questions,
    /// so a caller can say "nothing found"; see [`MIN_COVERAGE`](crate::MIN_COVERAGE).
    pub coverage: f32,
    /// The terms of the question that the passage has, in the question's order: words, and pairs of
    /// Korean characters.
    pub matched: Vec<String>,
}

/// A store of passages that can be asked.
///
/// # Contract
///
/// - Hits come with the highest score first; equal scores in a fixed order.
/// - There are at most [`Query::max_hits`], and none when no passage reaches [`Query::lowest_coverage`] or
///   nothing was matched. Nothing found is an empty list, not an error.
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
    /// [`RetrievalError::Unavailable`] when a store outside this process does not answer, and [`RetrievalError::Mode`] when
    /// it cannot compare as the query asks.
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
