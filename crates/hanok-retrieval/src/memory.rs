use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
};

use unicode_normalization::UnicodeNormalization;

use crate::{
    bm25::{Postings, Score},
    document::Passage,
    error::RetrievalError,
    found::{Found, Whole},
    nearest::nearest,
    query::Query,
    retriever::{Hit, Mode, Retriever},
    terms::{self, Asked, Terms},
};

/// Passages with their index in this process's memory, ranked by BM25.
///
/// A passage is found by its text, its headings and the name of its source.
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
#[derive(Debug, Clone, Default)]
pub struct MemoryIndex {
    passages: Vec<Passage>,
    postings: Postings,
    terms: Terms,
}

impl MemoryIndex {
    /// An index of `passages`. Of equal scores, the earlier passage comes first.
    #[must_use]
    pub fn new(passages: impl IntoIterator<Item = Passage>, terms: Terms) -> Self {
        let mut index = Self { terms, ..Self::default() };
        index.update(passages);
        index
    }

    /// Holds `passages` from now on, in this order. Only those that it does not hold yet are read; says how many these
    /// were.
    pub fn update(&mut self, passages: impl IntoIterator<Item = Passage>) -> usize {
        let old = std::mem::take(&mut self.passages);
        self.passages = passages.into_iter().collect();
        let mut held: HashMap<&str, (usize, &Passage)> = old
            .iter()
            .enumerate()
            .map(|(at, passage)| (passage.id.as_str(), (at, passage)))
            .collect();
        let mut to = vec![None; old.len()];
        let mut fresh = Vec::new();
        for (at, passage) in (0_u32..).zip(&self.passages) {
            let was = held.remove(passage.id.as_str()).filter(|(_, was)| reads_alike(was, passage));
            match was.and_then(|(was, _)| to.get_mut(was)) {
                Some(place) => *place = Some(at),
                None => fresh.push((at, passage)),
            }
        }
        self.postings.rearrange(&to, self.passages.len());
        for (at, passage) in &fresh {
            self.postings.read(*at, terms_of(passage, &self.terms));
        }
        self.postings.settle();
        fresh.len()
    }

    /// Every passage, in order.
    #[must_use]
    pub fn passages(&self) -> &[Passage] {
        &self.passages
    }

    /// The passages that fit `query` best, the best first, by keywords whatever its [`Mode`](crate::Mode). Of a question,
    /// the first 4,096 characters and 256 terms are read.
    #[must_use]
    pub fn find(&self, query: &Query) -> Vec<Hit> {
        let found = (Some(self.by_keywords(query, query.depth())), None);
        match query.told(found, |at| Ok::<_, Infallible>(told(at.0))) {
            Ok(hits) => hits,
            Err(never) => match never {},
        }
    }

    /// The passages that fit `query` best, the best first, compared as it asks: vectors with every one of the passages'.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::NoVector`] and [`RetrievalError::Space`].
    pub fn ask(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        let (keyword, vector) = query.depths()?;
        let vector = vector.map(|depth| self.by_vector(query, depth)).transpose()?;
        let keyword = keyword.map(|depth| self.by_keywords(query, depth));
        query.told((keyword, vector), |at| Ok(told(at.0)))
    }

    fn by_keywords(&self, query: &Query, depth: usize) -> Vec<Found<Whole<&Passage>>> {
        let asked = asked_by(query, &self.terms);
        let mut scores = self.postings.scores(&asked);
        scores.retain(|score| self.passages.get(score.passage).is_some_and(|it| query.allows(it)));
        if !scores.iter().any(|score| score.coverage >= query.lowest_coverage()) {
            return Vec::new();
        }
        scores.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.passage.cmp(&b.passage)));
        scores.truncate(depth);
        let ranked = (1..).zip(scores);
        ranked.filter_map(|(rank, score)| self.found(rank, score, &asked)).collect()
    }

    fn by_vector(
        &self,
        query: &Query,
        depth: usize,
    ) -> Result<Vec<Found<Whole<&Passage>>>, RetrievalError> {
        let allowed = self.passages.iter().enumerate().filter(|(_, passage)| query.allows(passage));
        let vectors = allowed.filter_map(|(at, passage)| Some((at, passage.vector.as_ref()?)));
        let found = nearest(query.needed_vector()?, vectors, depth, query.lowest_similarity())?;
        let ranked = (1..).zip(found);
        let found = ranked.filter_map(|(rank, (at, similarity))| {
            Some(Found::by(Mode::Vector, rank, similarity, Whole(self.passages.get(at)?)))
        });
        Ok(found.collect())
    }

    fn found(&self, rank: usize, score: Score, asked: &[Asked]) -> Option<Found<Whole<&Passage>>> {
        let had = asked.iter().filter(|asked| self.postings.has(score.passage, &asked.term));
        let matched = matched(had);
        let at = Whole(self.passages.get(score.passage)?);
        let found = Found::by(Mode::Keyword, rank, score.score, at);
        Some(Found { coverage: score.coverage, matched, ..found })
    }
}

/// A question is a few sentences. What stands after this many characters is not read.
const MAX_QUERY: usize = 4_096;

/// A passage as it leaves the index.
pub fn told(passage: &Passage) -> Passage {
    Passage { vector: None, ..passage.clone() }
}

/// Whether two passages have the same terms.
fn reads_alike(one: &Passage, other: &Passage) -> bool {
    one.text == other.text && one.heading == other.heading && one.source == other.source
}

/// The terms that `query` asks for.
pub fn asked_by(query: &Query, terms: &Terms) -> Vec<Asked> {
    let text: String = query.text().chars().take(MAX_QUERY).nfc().collect();
    terms::query_terms(&text, terms, query.in_other_words())
}

/// How the terms that a passage has are shown.
pub fn matched<'a>(had: impl Iterator<Item = &'a Asked>) -> Vec<String> {
    let mut matched: Vec<String> = Vec::new();
    for Asked { term, .. } in had {
        // A word of two syllables is its own bigram.
        if !matched.contains(&term.text) {
            matched.push(term.text.clone());
        }
    }
    matched
}

/// `passages` by the documents that they are of, those of each in its order.
pub fn by_source(passages: Vec<Passage>) -> BTreeMap<String, Vec<Passage>> {
    let mut documents: BTreeMap<String, Vec<Passage>> = BTreeMap::new();
    for passage in passages {
        documents.entry(passage.source.clone()).or_default().push(passage);
    }
    documents.values_mut().for_each(|passages| passages.sort_by_key(|passage| passage.ordinal));
    documents
}

/// What of a passage is searched: its text, its headings and the name of its source.
pub fn searched(passage: &Passage) -> String {
    let name = passage.source.rsplit_once('.').map_or(passage.source.as_str(), |(stem, _)| stem);
    format!("{name}\n{}\n{}", passage.heading, passage.text)
}

fn terms_of(passage: &Passage, terms: &Terms) -> Vec<terms::Term> {
    terms::indexed(&searched(passage), terms)
}

impl Retriever for MemoryIndex {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        self.ask(query)
    }
}
