use unicode_normalization::UnicodeNormalization;

use crate::{
    bm25::{Postings, Score},
    document::Passage,
    error::RetrievalError,
    retriever::{Hit, Query, Retriever},
    terms::{self, Asked, Terms},
};

/// Passages with their index in this process's memory, ranked by BM25.
///
/// A passage is found by its text, its headings and the name of its source. It never changes: a
/// changed collection is a new index.
///
/// ```
/// use hanok_retrieval::{Document, MemoryIndex, Query, Splitter, Terms};
///
/// let document = Document::new("규정.md", "연차휴가는 근속년수에 따라 부여한다.");
/// let index = MemoryIndex::new(Splitter::new().split(&document), Terms::default());
///
/// let hits = index.find(&Query::new("휴가"));
/// assert_eq!(hits[0].passage.source, "규정.md");
/// assert_eq!(hits[0].matched, ["휴가"]);
/// assert!(index.find(&Query::new("점심 메뉴")).is_empty());
/// ```
#[derive(Debug, Default)]
pub struct MemoryIndex {
    passages: Vec<Passage>,
    postings: Postings,
    terms: Terms,
}

impl MemoryIndex {
    /// An index of `passages`. Of equal scores, the earlier passage comes first.
    #[must_use]
    pub fn new(passages: impl IntoIterator<Item = Passage>, terms: Terms) -> Self {
        let passages: Vec<Passage> = passages.into_iter().collect();
        let postings = Postings::new(passages.iter().map(|passage| terms_of(passage, terms)));
        Self { passages, postings, terms }
    }

    /// Every passage, in order.
    #[must_use]
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// The passages that fit `query` best, the best first. Of a question, the first 4,096 characters and
    /// 256 terms are read.
    #[must_use]
    pub fn find(&self, query: &Query) -> Vec<Hit> {
        let text: String = query.text().chars().take(MAX_QUERY).nfc().collect();
        let asked = terms::asked(&text, self.terms);
        let mut scores = self.postings.scores(&asked);
        if !scores.iter().any(|score| score.coverage >= query.lowest_coverage()) {
            return Vec::new();
        }
        scores.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.passage.cmp(&b.passage)));
        scores.truncate(query.max_hits());
        scores.into_iter().filter_map(|score| self.hit(score, &asked)).collect()
    }

    fn hit(&self, score: Score, asked: &[Asked]) -> Option<Hit> {
        let mut matched: Vec<String> = Vec::new();
        for Asked { term, .. } in asked {
            // A word of two syllables is its own bigram.
            if self.postings.has(score.passage, term) && !matched.contains(&term.text) {
                matched.push(term.text.clone());
            }
        }
        let passage = self.passages.get(score.passage)?.clone();
        Some(Hit { passage, score: score.score, coverage: score.coverage, matched })
    }
}

/// A question is a few sentences. What stands after this many characters is not read.
const MAX_QUERY: usize = 4_096;

fn terms_of(passage: &Passage, terms: Terms) -> Vec<terms::Term> {
    let name = passage.source.rsplit_once('.').map_or(passage.source.as_str(), |(stem, _)| stem);
    terms::indexed(&format!("{name}\n{}\n{}", passage.heading, passage.text), terms)
}

impl Retriever for MemoryIndex {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        Ok(self.find(query))
    }
}
