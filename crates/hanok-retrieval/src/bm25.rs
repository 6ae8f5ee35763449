//! Okapi BM25, in the form of Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and
//! Beyond" (2009), section 3.4, with `ln(1 + …)` in the inverse document frequency, so that a term in
//! more than half of the passages weighs little instead of less than nothing.

use std::collections::HashMap;

use crate::terms::{Asked, Term};

/// How soon a repeated term stops to add; they report 1.2 to 2 as good.
pub const K1: f32 = 1.2;

/// How much a long passage is held against it; they report 0.5 to 0.8 as good.
pub const B: f32 = 0.75;

#[derive(Debug, Clone, Copy)]
struct Posting {
    passage: u32,
    count: u32,
}

/// Which passages have a term, and how often.
#[derive(Debug, Clone, Default)]
pub(crate) struct Postings {
    terms: HashMap<Term, Vec<Posting>>,
    lengths: Vec<u32>,
    mean: f32,
}

/// What a passage scored.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Score {
    pub(crate) passage: usize,
    pub(crate) score: f32,
    pub(crate) coverage: f32,
}

/// What a word of the question weighs in the coverage.
#[derive(Debug, Clone, Copy, Default)]
struct Weighed {
    /// The weights of its terms that are anywhere in the index, added. The others are mostly endings.
    known: f32,
    /// The highest of those.
    best: f32,
    weight: f32,
}

impl Postings {
    /// Moves every passage to where `to` says, among `count`; one without a place is forgotten.
    pub(crate) fn rearrange(&mut self, to: &[Option<u32>], count: usize) {
        let place = |passage: u32| to.get(passage as usize).copied().flatten();
        let mut lengths = vec![0; count];
        for (passage, length) in (0_u32..).zip(&self.lengths) {
            if let Some(length_of) = place(passage).and_then(|at| lengths.get_mut(at as usize)) {
                *length_of = *length;
            }
        }
        self.lengths = lengths;
        for of in self.terms.values_mut() {
            of.retain_mut(|posting| match place(posting.passage) {
                Some(at) => {
                    posting.passage = at;
                    true
                }
                None => false,
            });
        }
        self.terms.retain(|_, of| !of.is_empty());
    }

    /// Reads the terms of `passage`, which has none so far. [`settle`](Self::settle) comes after the last one.
    pub(crate) fn read(&mut self, passage: u32, terms: Vec<Term>) {
        if let Some(length) = self.lengths.get_mut(passage as usize) {
            *length = u32::try_from(terms.len()).unwrap_or(u32::MAX);
        }
        for term in terms {
            self.count(term, passage);
        }
    }

    /// Puts the postings into the order of the passages, once all of them are read.
    pub(crate) fn settle(&mut self) {
        for of in self.terms.values_mut() {
            if !of.is_sorted_by_key(|posting| posting.passage) {
                of.sort_unstable_by_key(|posting| posting.passage);
            }
        }
        let all: f64 = self.lengths.iter().copied().map(f64::from).sum();
        self.mean = (all / self.lengths.len().max(1) as f64).max(1.0) as f32;
    }

    fn count(&mut self, term: Term, passage: u32) {
        let of = self.terms.entry(term).or_default();
        match of.last_mut() {
            Some(last) if last.passage == passage => last.count += 1,
            _ => of.push(Posting { passage, count: 1 }),
        }
    }

    /// The score of every passage that has one of the terms, in the order of the passages.
    pub(crate) fn scores(&self, asked: &[Asked]) -> Vec<Score> {
        let found: Vec<usize> = asked.iter().map(|asked| self.of(&asked.term).len()).collect();
        let mut scores: Vec<Score> = vec![Score::default(); self.lengths.len()];
        for (asked, weight) in asked.iter().zip(weights(asked, &found, self.lengths.len())) {
            for posting in self.of(&asked.term) {
                let length = self.lengths.get(posting.passage as usize).copied().unwrap_or(0);
                if let Some(score) = scores.get_mut(posting.passage as usize) {
                    score.score += weight.idf * self.saturated(posting.count, length);
                    score.coverage += weight.share;
                }
            }
        }
        for (passage, score) in scores.iter_mut().enumerate() {
            score.passage = passage;
            // Rounding alone could pass it.
            score.coverage = score.coverage.min(1.0);
        }
        scores.retain(|score| score.score > 0.0);
        scores
    }

    pub(crate) fn has(&self, passage: usize, term: &Term) -> bool {
        let of = self.of(term);
        of.binary_search_by_key(&passage, |posting| posting.passage as usize).is_ok()
    }

    fn of(&self, term: &Term) -> &[Posting] {
        self.terms.get(term).map(Vec::as_slice).unwrap_or_default()
    }

    fn saturated(&self, count: u32, length: u32) -> f32 {
        let (count, length) = (count as f32, length as f32);
        count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / self.mean))
    }
}

/// What a term of a question weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weight {
    /// The inverse document frequency.
    pub idf: f32,
    /// What a passage that has it adds to its coverage.
    pub share: f32,
}

/// What the terms of a question weigh, each of which is `found` in so many of `all` passages.
pub fn weights(asked: &[Asked], found: &[usize], all: usize) -> Vec<Weight> {
    let words = words(asked, found, all);
    let sum: f32 = words.iter().map(|word| word.weight).sum();
    let each = asked.iter().zip(found).map(|(Asked { word, counts, among, .. }, found)| {
        let idf = idf(*found, all);
        let share = match words.get(*word) {
            Some(word) if *counts && word.known > 0.0 => word.weight * idf / (word.known * sum),
            _ => 0.0,
        };
        Weight { idf: in_other_words(idf, *among), share }
    });
    each.collect()
}

fn words(asked: &[Asked], found: &[usize], all: usize) -> Vec<Weighed> {
    // In a handful of passages every known term is common; it is still half of an unknown one.
    let least = idf(0, all) / 2.0;
    let mut words: Vec<Weighed> = Vec::new();
    for (Asked { word, .. }, found) in asked.iter().zip(found).filter(|(asked, _)| asked.counts) {
        let idf = idf(*found, all);
        words.resize(words.len().max(word + 1), Weighed::default());
        if let Some(word) = words.get_mut(*word) {
            word.known += if *found > 0 { idf } else { 0.0 };
            word.best = if *found > 0 { word.best.max(idf) } else { word.best };
            word.weight = if word.known > 0.0 { word.best.max(least) } else { idf };
        }
    }
    words
}

/// The weight of a term that stands for a word in other words, `among` so many: any two of them are as good as the word.
pub fn in_other_words(weight: f32, among: u16) -> f32 {
    if among > 1 { weight * (2.0 / f32::from(among)).min(1.0) } else { weight }
}

fn idf(found: usize, all: usize) -> f32 {
    let (all, found) = (all as f32, found as f32);
    (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        synonyms::Synonyms,
        terms::{Terms, indexed, query_terms},
    };

    fn postings<const N: usize>(texts: [&str; N]) -> Postings {
        let mut postings = Postings::default();
        postings.rearrange(&[], N);
        for (passage, text) in (0..).zip(texts) {
            postings.read(passage, indexed(text, &Terms::Words));
        }
        postings.settle();
        postings
    }

    /// The numbers are worked by hand from the formula.
    #[test]
    fn scores_by_the_formula() {
        let postings = postings(["a a b", "b c", "c d e f"]);
        let scores = postings.scores(&query_terms("b f zz", &Terms::Words, &Synonyms::default()));

        // Of 3 passages, 2 have b, 1 has f, none has zz.
        let (b, f) = (1.6_f32.ln(), (1.0 + 2.5 / 1.5_f32).ln());
        let saturated = |length: f32| 2.2 / (1.0 + 1.2 * (0.25 + 0.75 * length / 3.0));
        let want = [b * saturated(3.0), b * saturated(2.0), f * saturated(4.0)];
        for (at, (score, want)) in scores.iter().zip(want).enumerate() {
            assert_eq!(score.passage, at);
            assert!((score.score - want).abs() < 1e-5, "{score:?} {want}");
            // ln 8 for zz and half of it, the least, for b and f each.
            assert!((score.coverage - 0.25).abs() < 1e-5, "{score:?}");
        }
        assert_eq!(scores.len(), 3);
    }

    #[test]
    fn nothing_indexed_or_asked_scores_nothing() {
        assert_eq!(postings([]).scores(&query_terms("b", &Terms::Both, &Synonyms::default())), []);
        assert_eq!(postings(["b"]).scores(&[]), []);
    }
}
