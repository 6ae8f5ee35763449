//! The postings of terms: which items have a term, and how often.

use std::{collections::HashMap, sync::Arc};

use super::rank::{Bm25, Corpus, QueryTerms};

/// An inverted index: the terms of items, each item by its slot.
#[derive(Debug, Default)]
pub(super) struct Postings(HashMap<Arc<str>, Vec<Posting>>);

#[derive(Debug, Clone, Copy)]
struct Posting {
    slot: usize,
    count: u32,
}

/// The terms of one item in the index.
#[derive(Debug, Default)]
pub(super) struct IndexedTerms {
    /// Each once.
    distinct: Vec<Arc<str>>,
    /// The number of all of them.
    pub(super) length: u64,
}

impl Postings {
    /// Adds the terms of the item in `slot`, which has none so far.
    pub(super) fn add(&mut self, slot: usize, terms: Vec<String>) -> IndexedTerms {
        let mut indexed = IndexedTerms { distinct: Vec::new(), length: terms.len() as u64 };
        let mut counts: HashMap<String, u32> = HashMap::new();
        for term in terms {
            *counts.entry(term).or_default() += 1;
        }
        for (term, count) in counts {
            let term = match self.0.get_key_value(term.as_str()) {
                Some((shared, _)) => shared.clone(),
                None => Arc::from(term),
            };
            let postings = self.0.entry(term.clone()).or_default();
            let place = postings.partition_point(|posting| posting.slot < slot);
            postings.insert(place, Posting { slot, count });
            indexed.distinct.push(term);
        }
        indexed
    }

    /// Removes the item in `slot`, whose terms are `terms`.
    pub(super) fn remove(&mut self, slot: usize, terms: &IndexedTerms) {
        for term in &terms.distinct {
            let Some(postings) = self.0.get_mut(term) else { continue };
            if let Ok(place) = postings.binary_search_by_key(&slot, |posting| posting.slot) {
                postings.remove(place);
            }
            if postings.is_empty() {
                self.0.remove(term);
            }
        }
    }

    /// The score of each slot for `query`: 0 where an item has none of its terms, or is none of `corpus`.
    ///
    /// `lengths` has the number of terms of each item of `corpus` by its slot, and 0 for every other slot.
    pub(super) fn scores(&self, query: &QueryTerms, corpus: Corpus, lengths: &[u64]) -> Vec<f64> {
        let formula = Bm25::new(corpus);
        let mut scores = vec![0.0; lengths.len()];
        for term in query.terms() {
            let Some(postings) = self.0.get(term.as_str()) else { continue };
            let length = |posting: &&Posting| lengths.get(posting.slot).copied().unwrap_or(0);
            let counted = || postings.iter().filter(|posting| length(posting) > 0);
            let weight = formula.weight(counted().count());
            for posting in counted() {
                if let Some(score) = scores.get_mut(posting.slot) {
                    *score += formula.part(weight, posting.count, length(&posting));
                }
            }
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any words, in slots that are used again, some of them out of the corpus: the scores are those of the formula over all items.
    #[test]
    fn postings_score_as_a_count_of_all_items_does() {
        let word = prop::sample::select(vec!["a", "bb", "ccc", "휴가"]);
        let text = prop::collection::vec(word, 0..6);
        let items = prop::collection::vec((0_usize..5, text.clone(), any::<bool>()), 1..12);
        proptest!(|(items in items, asked in text)| {
            let (mut postings, mut slots) = (Postings::default(), HashMap::new());
            for (slot, text, counts) in items {
                if let Some((terms, _, _)) = slots.remove(&slot) {
                    postings.remove(slot, &terms);
                }
                let terms: Vec<_> = text.iter().map(|&term| term.to_owned()).collect();
                slots.insert(slot, (postings.add(slot, terms.clone()), terms, counts));
            }
            let query = QueryTerms::new(&asked.join(" "));
            let (mut corpus, mut lengths) = (Corpus::default(), vec![0; 5]);
            let (mut places, mut counts) = (Vec::new(), Vec::new());
            for (slot, (_, terms, counted)) in &slots {
                if !counted || terms.is_empty() {
                    continue;
                }
                corpus.items += 1;
                corpus.terms += terms.len() as u64;
                lengths[*slot] = terms.len() as u64;
                places.push(*slot);
                counts.push(query.count(terms.iter().map(String::as_str)));
            }
            let mut want = vec![0.0; 5];
            for (slot, score) in places.into_iter().zip(query.scores(corpus, &counts)) {
                want[slot] = score;
            }
            prop_assert_eq!(postings.scores(&query, corpus, &lengths), want);

            for (slot, (terms, _, _)) in &slots {
                postings.remove(*slot, terms);
            }
            prop_assert!(postings.0.is_empty());
        });
    }
}
