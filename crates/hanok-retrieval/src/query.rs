use std::{
    collections::{BTreeMap, HashSet},
    hash::Hash,
};

use hanok_checkpoint::Vector;

use crate::{
    clean::display,
    document::Passage,
    error::RetrievalError,
    found::Found,
    fusion::Fusion,
    retriever::{Hit, Mode},
    synonyms::Synonyms,
};

/// The most bytes of a query's text.
const LONGEST: usize = 64 * 1024;

/// The [`Hit::coverage`] below which `Library::search` of `hanok-documents` finds nothing; see [`Query::min_coverage`].
///
/// Measured on the questions in this crate's tests; the table is in its README. A caller that wants to
/// decide for itself asks with a [`Query`], whose own default is 0.
pub const MIN_COVERAGE: f32 = 0.25;

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
    vector: Option<Vector>,
    min_similarity: f32,
    fusion: Fusion,
    distinct: bool,
    synonyms: Synonyms,
}

impl Query {
    /// A question or keywords, in any Unicode normal form. A search for more than 64 KiB is refused
    /// ([`RetrievalError::LongQuery`]).
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            limit: 5,
            min_coverage: 0.0,
            mode: Mode::Keyword,
            under: String::new(),
            metadata: BTreeMap::new(),
            vector: None,
            min_similarity: -1.0,
            fusion: Fusion::new(),
            distinct: false,
            synonyms: Synonyms::default(),
        }
    }

    /// How passages are compared with the question. Default: [`Mode::Keyword`].
    #[must_use]
    pub fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// The question's vector, of the model that made those of the passages. It is looked at by [`Mode::Vector`] and
    /// [`Mode::Hybrid`]. Default: none.
    #[must_use]
    pub fn vector(self, vector: Vector) -> Self {
        Self { vector: Some(vector), ..self }
    }

    /// How the two parts of [`Mode::Hybrid`] are joined. Default: [`Fusion::new`].
    #[must_use]
    pub fn fusion(self, fusion: Fusion) -> Self {
        Self { fusion, ..self }
    }

    /// Of passages with the same letters and digits in the same order, only the best. Default: all.
    #[must_use]
    pub fn distinct(self) -> Self {
        Self { distinct: true, ..self }
    }

    /// Only passages whose source is `folder`, or stands below it: `규정` holds `규정/휴가.md` and not `규정집.md`. Default:
    /// all.
    #[must_use]
    pub fn under(self, folder: impl AsRef<str>) -> Self {
        let under = display(folder.as_ref().trim_end_matches('/'));
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

    /// Vectors find no passage whose cosine with the question's is below this, from -1 to 1. What fits depends on the model.
    /// Default: -1.
    #[must_use]
    pub fn min_similarity(self, min_similarity: f32) -> Self {
        // No number is no bound.
        Self { min_similarity: min_similarity.max(-1.0), ..self }
    }

    /// Keywords also find what texts say instead of the words of the question. Default: nothing else.
    #[must_use]
    pub fn synonyms(self, synonyms: &Synonyms) -> Self {
        Self { synonyms: synonyms.clone(), ..self }
    }

    /// What texts say instead of the words of the question.
    #[must_use]
    pub fn in_other_words(&self) -> &Synonyms {
        &self.synonyms
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

    /// The coverage that the best covered passage must have.
    #[must_use]
    pub fn lowest_coverage(&self) -> f32 {
        self.min_coverage
    }

    /// The cosine that a passage must have to be found by its vector.
    #[must_use]
    pub fn lowest_similarity(&self) -> f32 {
        self.min_similarity
    }

    /// The question's vector.
    #[must_use]
    pub fn meaning(&self) -> Option<&Vector> {
        self.vector.as_ref()
    }

    /// How the two parts are joined.
    #[must_use]
    pub fn joined(&self) -> &Fusion {
        &self.fusion
    }

    /// Whether equal passages are told once.
    #[must_use]
    pub fn is_distinct(&self) -> bool {
        self.distinct
    }

    /// The question's vector, which has to be there.
    pub fn needed_vector(&self) -> Result<&Vector, RetrievalError> {
        self.vector.as_ref().ok_or(RetrievalError::NoVector { mode: self.mode })
    }

    /// Checks that its text, which comes from a model or a client, is none that takes a store too long.
    pub(crate) fn check(&self) -> Result<(), RetrievalError> {
        match self.text.len() {
            bytes if bytes > LONGEST => Err(RetrievalError::LongQuery { bytes, most: LONGEST }),
            _ => Ok(()),
        }
    }

    /// How many passages a search has to find by keywords, and by vectors: `None` where it is not to compare so.
    pub fn depths(&self) -> Result<(Option<usize>, Option<usize>), RetrievalError> {
        self.check()?;
        let (alone, joined) = (Some(self.depth()), Some(self.fusion.reach(self.depth())));
        Ok(match self.mode {
            Mode::Keyword => (alone, None),
            Mode::Vector => (None, alone),
            Mode::Hybrid => (joined, joined),
        })
    }

    /// How many passages one way of comparing has to find, alone. Of equal passages there may be more than are told.
    pub(crate) fn depth(&self) -> usize {
        match self.distinct {
            true => self.limit.saturating_mul(4).saturating_add(16),
            false => self.limit,
        }
    }

    /// The hits of what was [looked for](Self::depths), the best first. Each that is told is read, and not many more.
    pub fn told<T: Eq + Hash, E>(
        &self,
        (keyword, vector): (Option<List<T>>, Option<List<T>>),
        mut read: impl FnMut(T) -> Result<Passage, E>,
    ) -> Result<Vec<Hit>, E> {
        let found = match (keyword, vector) {
            (Some(keyword), Some(vector)) => self.fusion.join(keyword, vector),
            (keyword, vector) => keyword.or(vector).unwrap_or_default(),
        };
        let (mut hits, mut texts) = (Vec::new(), HashSet::new());
        for found in found {
            if hits.len() == self.limit {
                break;
            }
            let Found { at, score, parts, coverage, matched } = found;
            let passage = read(at)?;
            if !self.distinct || texts.insert(letters(&passage.text)) {
                hits.push(Hit { passage, score, parts, coverage, matched });
            }
        }
        Ok(hits)
    }
}

/// What one way of comparing found, the best first.
type List<T> = Vec<Found<T>>;

/// What two passages have to have in common to be the same.
fn letters(text: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    let kept = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase);
    kept.for_each(|c| {
        hasher.update(c.encode_utf8(&mut [0; 4]).as_bytes());
    });
    hasher.finalize()
}
