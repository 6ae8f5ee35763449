//! Asking an index by keywords.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

use tantivy::{
    DocAddress, DocId, DocSet, SegmentReader, TERMINATED, Term,
    columnar::Column,
    fieldnorm::FieldNormReader,
    postings::{Postings as _, SegmentPostings},
    query::{Bm25Weight, BooleanQuery, EnableScoring, Query as _, TermQuery, Weight},
    schema::IndexRecordOption,
};

use super::{
    fields::KEY,
    view::{Place, Statistics, View},
};
use crate::{
    bm25,
    error::BoxError,
    found::Found,
    memory::{asked_by, matched},
    query::Query,
    retriever::Mode,
    terms::{Asked, Terms},
};

/// How much better than its bound a block of passages may be: tantivy chose the bound for the mean length of the time when
/// the block was written.
const SLACK: f32 = 0.97;

/// With a filter that lets through fewer passages than this share of those that have a term, the filter leads.
const FEW: u64 = 8;

/// A question, as an index is asked.
struct Question {
    terms: Vec<Term>,
    filters: Vec<Term>,
}

/// What its terms weigh.
struct Weighed {
    scores: Vec<Bm25Weight>,
    /// What each term adds to the coverage.
    shares: Vec<f32>,
    statistics: Statistics,
}

/// A passage that may be among the best.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    score: f32,
    key: u64,
    at: DocAddress,
    has: Has,
}

/// Which of the terms a passage has.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Has([u64; 4]);

impl Has {
    fn add(&mut self, term: usize) {
        if let Some(part) = self.0.get_mut(term / 64) {
            *part |= 1 << (term % 64);
        }
    }

    fn has(self, term: usize) -> bool {
        self.0.get(term / 64).is_some_and(|part| part >> (term % 64) & 1 == 1)
    }
}

impl Eq for Candidate {}

impl Ord for Candidate {
    /// The better is the greater.
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.key.cmp(&self.key))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best so far.
#[derive(Debug)]
struct Best {
    count: usize,
    heap: BinaryHeap<Reverse<Candidate>>,
}

impl Best {
    /// Scores up to this one cannot be among the best.
    fn bar(&self) -> f32 {
        match self.heap.peek() {
            Some(Reverse(worst)) if self.heap.len() >= self.count => worst.score * SLACK,
            _ => 0.0,
        }
    }

    /// Lower scores are not among the best.
    fn worst(&self) -> f32 {
        match self.heap.peek() {
            Some(Reverse(worst)) if self.heap.len() >= self.count => worst.score,
            _ => 0.0,
        }
    }

    fn offer(&mut self, candidate: Candidate) {
        if self.heap.len() < self.count {
            self.heap.push(Reverse(candidate));
        } else if self.heap.peek().is_some_and(|Reverse(worst)| candidate > *worst) {
            self.heap.pop();
            self.heap.push(Reverse(candidate));
        }
    }
}

/// The passages that fit `query` best by keywords, the best first.
pub(super) fn by_keywords(
    view: &View,
    query: &Query,
    terms: &Terms,
    depth: usize,
) -> Result<Vec<Found<Place>>, BoxError> {
    let asked = if depth > 0 { asked_by(query, terms) } else { Vec::new() };
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let terms = asked.iter().map(|asked| view.fields.term(&asked.term)).collect();
    let question = Question { terms, filters: view.fields.filters(query) };
    let segments = question.open(view)?;
    let weighed = question.weigh(view, &segments, &asked)?;
    let mut best = Best { count: depth, heap: BinaryHeap::new() };
    question.search(view, &weighed, segments, &mut best)?;
    let best: Vec<Candidate> =
        best.heap.into_sorted_vec().into_iter().map(|Reverse(candidate)| candidate).collect();
    let enough = |has: Has| weighed.coverage(has) >= query.lowest_coverage();
    if !best.iter().any(|candidate| enough(candidate.has)) && !question.any(view, enough)? {
        return Ok(Vec::new());
    }
    let found = |(rank, candidate): (usize, Candidate)| {
        let had = asked.iter().enumerate().filter(|(at, _)| candidate.has.has(*at));
        let coverage = weighed.coverage(candidate.has);
        let matched = matched(had.map(|(_, asked)| asked));
        let place = Place { key: candidate.key, entry: Some(candidate.at) };
        let found = Found::by(Mode::Keyword, rank, candidate.score, place);
        Found { coverage, matched, ..found }
    };
    Ok((1..).zip(best).map(found).collect())
}

/// The keys of the passages that the filters of `query` let through; `None` when these are all.
pub(super) fn among(view: &View, query: &Query) -> Result<Option<Vec<u64>>, BoxError> {
    let filters = view.fields.filters(query);
    if filters.is_empty() {
        return Ok(None);
    }
    let mut keys = Vec::new();
    for reader in view.searcher.segment_readers() {
        let Some(mut filters) = open_filters(&filters, reader)? else { continue };
        let Some(mut first) = filters.pop() else { continue };
        let key = reader.fast_fields().u64(KEY)?;
        while first.doc() != TERMINATED {
            let doc = first.doc();
            if !reader.is_deleted(doc) && filters.iter_mut().all(|it| goes_to(it, doc)) {
                keys.extend(key.first(doc));
            }
            first.advance();
        }
    }
    Ok(Some(keys))
}

/// The passages that have each of `filters`; `None` where there are none.
fn open_filters(
    filters: &[Term],
    reader: &SegmentReader,
) -> Result<Option<Vec<SegmentPostings>>, BoxError> {
    let mut opened = Vec::with_capacity(filters.len());
    for filter in filters {
        let index = reader.inverted_index(filter.field())?;
        match index.read_postings(filter, IndexRecordOption::Basic)? {
            Some(postings) => opened.push(postings),
            None => return Ok(None),
        }
    }
    Ok(Some(opened))
}

impl Weighed {
    /// The share of the question that a passage has.
    fn coverage(&self, has: Has) -> f32 {
        let shares = self.shares.iter().enumerate().filter(|(at, _)| has.has(*at));
        // Rounding alone could pass it.
        shares.map(|(_, share)| share).sum::<f32>().min(1.0)
    }
}

impl Question {
    /// The parts of the index in which something may be found.
    fn open<'a>(&self, view: &'a View) -> Result<Vec<Segment<'a>>, BoxError> {
        let mut segments = Vec::new();
        for (ord, reader) in (0..).zip(view.searcher.segment_readers()) {
            segments.extend(Segment::open(self, ord, reader)?);
        }
        Ok(segments)
    }

    fn weigh(
        &self,
        view: &View,
        segments: &[Segment<'_>],
        asked: &[Asked],
    ) -> Result<Weighed, BoxError> {
        let mut found = Vec::with_capacity(self.terms.len());
        for (at, term) in self.terms.iter().enumerate() {
            found.push(match view.is_whole() {
                true => segments.iter().map(|segment| segment.found(at)).sum(),
                false => view.frequency(term)?,
            });
        }
        let counts: Vec<usize> = found.iter().map(|found| *found as usize).collect();
        let (passages, terms) = (view.passages(), view.terms());
        let weights = bm25::weights(asked, &counts, passages);
        let known = self.terms.iter().cloned().zip(found.iter().copied()).collect();
        let statistics = Statistics { passages, terms, found: known };
        let (mean, all) = (statistics.mean(), passages as u64);
        let score =
            |found: &u64| Bm25Weight::for_one_term_without_explain((*found).min(all), all, mean);
        let scores = found.iter().map(score).collect();
        let shares = weights.iter().map(|weight| weight.share).collect();
        Ok(Weighed { scores, shares, statistics })
    }

    fn search(
        &self,
        view: &View,
        weighed: &Weighed,
        segments: Vec<Segment<'_>>,
        best: &mut Best,
    ) -> Result<(), BoxError> {
        let known = self.terms.iter().filter(|term| weighed.statistics.has(term));
        let terms = known.map(|term| {
            let query = TermQuery::new(term.clone(), IndexRecordOption::WithFreqs);
            Box::new(query) as Box<dyn tantivy::query::Query>
        });
        let query = BooleanQuery::union(terms.collect());
        let scoring =
            EnableScoring::enabled_from_statistics_provider(&weighed.statistics, &view.searcher);
        let weight = query.weight(scoring)?;
        for mut segment in segments {
            match segment.leader() {
                Some(leader) => segment.led_by(leader, weighed, best),
                None => segment.pruned(weight.as_ref(), weighed, best)?,
            }
        }
        Ok(())
    }

    /// Whether there is a passage of which `enough` holds.
    fn any(&self, view: &View, enough: impl Fn(Has) -> bool) -> Result<bool, BoxError> {
        Ok(self.open(view)?.into_iter().any(|mut segment| segment.any(&enough)))
    }
}

/// A part of the index, read from its first passage to its last.
struct Segment<'a> {
    ord: u32,
    reader: &'a SegmentReader,
    terms: Vec<Option<SegmentPostings>>,
    filters: Vec<SegmentPostings>,
    lengths: FieldNormReader,
    keys: Column<u64>,
}

impl<'a> Segment<'a> {
    /// `None` where nothing can be found.
    fn open(
        question: &Question,
        ord: u32,
        reader: &'a SegmentReader,
    ) -> Result<Option<Self>, BoxError> {
        let Some(first) = question.terms.first() else { return Ok(None) };
        // Where a filter lets nothing through, terms are counted all the same.
        let filters = open_filters(&question.filters, reader)?;
        let filters = filters.unwrap_or_else(|| vec![SegmentPostings::empty()]);
        let index = reader.inverted_index(first.field())?;
        let terms = question.terms.iter();
        let terms = terms.map(|term| index.read_postings(term, IndexRecordOption::WithFreqs));
        let terms: Vec<_> = terms.collect::<Result<_, _>>()?;
        if terms.iter().all(Option::is_none) {
            return Ok(None);
        }
        let lengths = reader.get_fieldnorms_reader(first.field())?;
        let keys = reader.fast_fields().u64(KEY)?;
        Ok(Some(Self { ord, reader, terms, filters, lengths, keys }))
    }

    /// How many passages have the term at `at`, removed ones included.
    fn found(&self, at: usize) -> u64 {
        let postings = self.terms.get(at).and_then(Option::as_ref);
        postings.map_or(0, |postings| u64::from(postings.doc_freq()))
    }

    /// The filter that lets through few passages, if there is one.
    fn leader(&mut self) -> Option<SegmentPostings> {
        let all: u64 = self.terms.iter().flatten().map(|it| u64::from(it.doc_freq())).sum();
        let (at, few) = self.filters.iter().enumerate().min_by_key(|(_, it)| it.doc_freq())?;
        (u64::from(few.doc_freq()) * FEW < all).then(|| self.filters.swap_remove(at))
    }

    /// Looks at every passage of `leader`.
    fn led_by(&mut self, mut leader: SegmentPostings, weighed: &Weighed, best: &mut Best) {
        while leader.doc() != TERMINATED {
            if let Some(candidate) = self.candidate(leader.doc(), weighed, best.worst()) {
                best.offer(candidate);
            }
            leader.advance();
        }
    }

    /// Looks at those passages that may be better than the best so far.
    fn pruned(
        &mut self,
        weight: &dyn Weight,
        weighed: &Weighed,
        best: &mut Best,
    ) -> Result<(), BoxError> {
        Ok(weight.for_each_pruning(best.bar(), self.reader, &mut |doc, _| {
            if let Some(candidate) = self.candidate(doc, weighed, best.worst()) {
                best.offer(candidate);
            }
            best.bar()
        })?)
    }

    fn any(&mut self, enough: impl Fn(Has) -> bool) -> bool {
        let mut all: Vec<Has> = vec![Has::default(); self.reader.max_doc() as usize];
        for (at, postings) in self.terms.iter_mut().enumerate() {
            let Some(postings) = postings else { continue };
            while postings.doc() != TERMINATED {
                if let Some(has) = all.get_mut(postings.doc() as usize) {
                    has.add(at);
                }
                postings.advance();
            }
        }
        (0..).zip(all).any(|(doc, has)| has != Has::default() && enough(has) && self.allows(doc))
    }

    /// Whether a passage is there and the filters let it through. To be asked in the order of the passages.
    fn allows(&mut self, doc: DocId) -> bool {
        !self.reader.is_deleted(doc) && self.filters.iter_mut().all(|it| goes_to(it, doc))
    }

    /// The passage `doc`, unless its score is below `worst`. Scores are added up in the order of the terms: by tantivy's order
    /// they could differ after a merge. To be asked in the order of the passages.
    fn candidate(&mut self, doc: DocId, weighed: &Weighed, worst: f32) -> Option<Candidate> {
        if !self.allows(doc) {
            return None;
        }
        let length = self.lengths.fieldnorm_id(doc);
        let (mut score, mut has) = (0.0, Has::default());
        for (at, (postings, weight)) in self.terms.iter_mut().zip(&weighed.scores).enumerate() {
            if let Some(postings) = postings
                && goes_to(postings, doc)
            {
                score += weight.score(length, postings.term_freq());
                has.add(at);
            }
        }
        if score <= 0.0 || score < worst {
            return None;
        }
        let key = self.keys.first(doc)?;
        Some(Candidate { score, key, at: DocAddress::new(self.ord, doc), has })
    }
}

/// Whether `doc` is among `postings`, which do not stand behind it.
fn goes_to(postings: &mut SegmentPostings, doc: DocId) -> bool {
    postings.doc() == doc || postings.doc() < doc && postings.seek(doc) == doc
}
