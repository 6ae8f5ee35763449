//! The postings of terms: which items have a term, and how often.

use std::{collections::HashMap, sync::Arc};

use super::{
    rank::{Bm25, Corpus, QueryTerms},
    slots::Scope,
};

/// An inverted index: the terms of items, each item by its slot.
#[derive(Debug, Default)]
pub(super) struct Postings(HashMap<Arc<str>, Vec<Posting>>);

#[derive(Debug, Clone, Copy)]
struct Posting {
    slot: usize,
    count: u32,
}

impl Postings {
    /// Adds the terms of the item in `slot`, which has none so far; gives each once.
    pub(super) fn add(&mut self, slot: usize, terms: Vec<String>) -> Vec<Arc<str>> {
        let mut distinct = Vec::new();
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
            distinct.push(term);
        }
        distinct
    }

    /// Removes the item in `slot`, whose terms are `distinct`.
    pub(super) fn remove(&mut self, slot: usize, distinct: &[Arc<str>]) {
        for term in distinct {
            let Some(postings) = self.0.get_mut(term) else { continue };
            if let Ok(place) = postings.binary_search_by_key(&slot, |posting| posting.slot) {
                postings.remove(place);
            }
            if postings.is_empty() {
                self.0.remove(term);
            }
        }
    }

    /// The score for `query` of each item of `scope` by its number: `None` where an item has none of its terms.
    pub(super) fn scores(&self, query: &QueryTerms, scope: &Scope) -> Vec<Option<f64>> {
        let formula = Bm25::new(corpus(scope));
        let mut scores = vec![None; scope.terms.len()];
        for term in query.terms() {
            let Some(postings) = self.0.get(term.as_str()) else { continue };
            let length = |posting: &Posting| scope.terms.get(posting.slot).copied().flatten();
            let having = postings.iter().filter(|posting| length(posting).is_some()).count();
            let weight = formula.weight(having);
            for posting in postings {
                let (Some(length), Some(score)) = (length(posting), scores.get_mut(posting.slot))
                else {
                    continue;
                };
                let part = formula.part(weight, posting.count, length);
                *score = Some(score.unwrap_or(0.0) + part);
            }
        }
        scores
    }
}

/// The items of `scope` that have a term.
fn corpus(scope: &Scope) -> Corpus {
    let terms = scope.terms.iter().flatten().filter(|terms| **terms > 0);
    terms.fold(Corpus::default(), |corpus, terms| Corpus {
        items: corpus.items + 1,
        terms: corpus.terms + terms,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The terms of an item, each once and as they are, and whether it is of the corpus.
    type Indexed = (Vec<Arc<str>>, Vec<String>, bool);

    /// Any words, in slots that are used again, some of them out of the corpus: the scores are those of the formula over all items.
    #[test]
    fn postings_score_as_a_count_of_all_items_does() {
        let word = prop::sample::select(vec!["a", "bb", "ccc", "휴가"]);
        let text = prop::collection::vec(word, 0..6);
        let items = prop::collection::vec((0_usize..5, text.clone(), any::<bool>()), 1..12);
        proptest!(|(items in items, asked in text)| {
            let mut postings = Postings::default();
            let mut slots: HashMap<usize, Indexed> = HashMap::new();
            for (slot, text, counts) in items {
                if let Some((terms, _, _)) = slots.remove(&slot) {
                    postings.remove(slot, &terms);
                }
                let terms: Vec<_> = text.iter().map(|&term| term.to_owned()).collect();
                slots.insert(slot, (postings.add(slot, terms.clone()), terms, counts));
            }
            let query = QueryTerms::new(&asked.join(" "));
            let (mut corpus, mut scope) = (Corpus::default(), Scope { terms: vec![None; 5] });
            let (mut places, mut counts) = (Vec::new(), Vec::new());
            for (slot, (_, terms, counted)) in &slots {
                if !counted {
                    continue;
                }
                scope.terms[*slot] = Some(terms.len() as u64);
                if !terms.is_empty() {
                    corpus.items += 1;
                    corpus.terms += terms.len() as u64;
                    places.push(*slot);
                    counts.push(query.count(terms.iter().map(String::as_str)));
                }
            }
            let mut want = vec![None; 5];
            for (slot, score) in places.into_iter().zip(query.scores(corpus, &counts)) {
                want[slot] = (score > 0.0).then_some(score);
            }
            prop_assert_eq!(postings.scores(&query, &scope), want);

            for (slot, (terms, _, _)) in &slots {
                postings.remove(*slot, terms);
            }
            prop_assert!(postings.0.is_empty());
        });
    }
}
