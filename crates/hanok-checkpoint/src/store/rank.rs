//! The order of hits: for whoever implements a store.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

use hanok_core::ItemKey;

use super::{
    search::{Place, Search},
    terms::index_terms,
};

/// The saturation of a repeated term.
const K1: f64 = 1.2;

/// The penalty of a long text.
const B: f64 = 0.75;

/// The weight of the first places of a list in a fusion.
const K: f64 = 60.0;

/// More terms say nothing more.
const MOST: usize = 256;

/// So much of a text is read for its terms, in bytes: whoever asks with a whole book keeps no store busy.
const READ: usize = 16 * 1024;

/// The terms that a search asks for, each once: at most 256, of the first 16 KiB of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTerms(Vec<String>);

/// The number of times that an item has each term of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermCounts {
    /// The counts, in the order of [`QueryTerms::terms`].
    pub counts: Vec<u32>,
    /// The number of terms of the item in all.
    pub length: u64,
}

/// The items among which a search by text looks: those of the tenant in the namespaces of the search that are live and have
/// a term, whether they fit the filter or not. So ranks tell nothing of what others stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Corpus {
    /// The number of items.
    pub items: u64,
    /// The number of their terms, together.
    pub terms: u64,
}

impl QueryTerms {
    /// The terms of `text`.
    ///
    /// ```
    /// # use hanok_checkpoint::*;
    /// let query = QueryTerms::new("blue house");
    /// assert_eq!(query.terms(), ["blue", "house"]);
    /// let counts = query.count(["house", "a", "house"].into_iter());
    /// assert_eq!(counts.counts, [0, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(text: &str) -> Self {
        let mut distinct = HashSet::new();
        let terms = index_terms(text.get(..text.floor_char_boundary(READ)).unwrap_or(text));
        Self(terms.into_iter().filter(|term| distinct.insert(term.clone())).take(MOST).collect())
    }

    /// The terms.
    pub fn terms(&self) -> &[String] {
        &self.0
    }

    /// Counts them in the terms of an item.
    pub fn count<'a>(&self, terms: impl Iterator<Item = &'a str>) -> TermCounts {
        let places: HashMap<&str, usize> =
            self.0.iter().enumerate().map(|(at, term)| (term.as_str(), at)).collect();
        let mut counted = TermCounts { counts: vec![0; self.0.len()], length: 0 };
        for term in terms {
            counted.length += 1;
            if let Some(count) = places.get(term).and_then(|at| counted.counts.get_mut(*at)) {
                *count += 1;
            }
        }
        counted
    }

    /// The score of each of `items`, by Okapi BM25 in the form of Robertson & Zaragoza (2009), with `ln(1 + …)`, k1 = 1.2 and
    /// b = 0.75. `items` has to be every item of `corpus` that has one of the terms.
    pub fn scores(&self, corpus: Corpus, items: &[TermCounts]) -> Vec<f64> {
        let formula = Bm25::new(corpus);
        let mut scores = vec![0.0; items.len()];
        for at in 0..self.0.len() {
            let counts = || items.iter().map(|item| item.counts.get(at).copied().unwrap_or(0));
            let weight = formula.weight(counts().filter(|count| *count > 0).count());
            for ((score, item), count) in scores.iter_mut().zip(items).zip(counts()) {
                *score += formula.part(weight, count, item.length);
            }
        }
        scores
    }
}

/// Okapi BM25 in the form of Robertson & Zaragoza (2009), with `ln(1 + …)`, over one corpus.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bm25 {
    items: f64,
    mean: f64,
}

impl Bm25 {
    pub(super) fn new(corpus: Corpus) -> Self {
        let items = corpus.items as f64;
        Self { items, mean: (corpus.terms as f64 / items.max(1.0)).max(1.0) }
    }

    /// The weight of a term that `having` items have.
    pub(super) fn weight(self, having: usize) -> f64 {
        let having = having as f64;
        (1.0 + (self.items - having + 0.5).max(0.0) / (having + 0.5)).ln()
    }

    /// What a term of `weight`, which stands `count` times in `length` terms, adds to a score.
    pub(super) fn part(self, weight: f64, count: u32, length: u64) -> f64 {
        let (count, length) = (f64::from(count), length as f64);
        weight * count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / self.mean))
    }
}

/// An item that may be a hit, with what a store knows of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate<T> {
    /// The key by which the store finds it again.
    pub item: T,
    /// Its name.
    pub key: ItemKey,
    /// The score of [`QueryTerms::scores`]; `None` for an item that has none of the terms.
    pub text: Option<f64>,
    /// The similarity of its most similar vector; `None` for an item that has none.
    pub similarity: Option<f32>,
}

/// A candidate at its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked<T> {
    /// The candidate.
    pub candidate: Candidate<T>,
    /// The score that it is ranked by.
    pub score: f64,
}

/// The page that `search` asks for of `candidates`, and where the next one begins.
///
/// By text alone a candidate's score is that of its text, by meaning alone its similarity. By both it is the reciprocal rank
/// fusion of Cormack, Clarke & Büttcher (2009), `(1 - weight) / (60 + place by text) + weight / (60 + place by meaning)`: the
/// two are measured in units that have nothing to do with each other, their places have not.
pub fn rank<T>(search: &Search, candidates: Vec<Candidate<T>>) -> (Vec<Ranked<T>>, Option<Place>) {
    let (by_text, by_vector) = (search.by_text().is_some(), search.by_vector().is_some());
    let both = by_text && by_vector;
    let text = places(&candidates, |it| it.text.filter(|_| both));
    let meaning = places(&candidates, |it| it.similarity.filter(|_| both).map(f64::from));
    let weight = search.share();
    let fused = |place: Option<usize>, weight| place.map(|place| weight / (K + place as f64));
    let ranked = candidates.into_iter().enumerate().filter_map(|(at, candidate)| {
        let score = match (by_text, by_vector) {
            (true, false) => candidate.text,
            (false, _) => candidate.similarity.map(f64::from),
            (true, true) => {
                let text = fused(text.get(&at).copied(), 1.0 - weight);
                let meaning = fused(meaning.get(&at).copied(), weight);
                text.into_iter().chain(meaning).reduce(|a, b| a + b)
            }
        };
        score.map(|score| Ranked { candidate, score })
    });
    page(search, ranked.collect())
}

fn page<T>(search: &Search, mut ranked: Vec<Ranked<T>>) -> (Vec<Ranked<T>>, Option<Place>) {
    if let Some(after) = &search.after {
        let score = after.score.unwrap_or(f64::INFINITY);
        ranked.retain(|it| {
            let key = &it.candidate.key;
            let place = (key.labels(), key.key()).cmp(&(&after.labels, after.key.as_str()));
            score.total_cmp(&it.score).then(place).is_gt()
        });
    }
    let best = |a: &Ranked<T>, b: &Ranked<T>| {
        b.score.total_cmp(&a.score).then_with(|| a.candidate.key.cmp(&b.candidate.key))
    };
    // Only what is shown has to be in order.
    if search.limit > 0 && search.limit < ranked.len() {
        ranked.select_nth_unstable_by(search.limit - 1, best);
    }
    let more = ranked.len() > search.limit;
    ranked.truncate(search.limit);
    ranked.sort_by(best);
    let next = ranked.last().filter(|_| more);
    let next = next.map(|last| Place::new(Some(last.score), &last.candidate.key));
    (ranked, next)
}

/// The places in one list, from 1, of those candidates that have a score in it.
fn places<T>(
    candidates: &[Candidate<T>],
    score: impl Fn(&Candidate<T>) -> Option<f64>,
) -> HashMap<usize, usize> {
    let mut list: Vec<(usize, f64, &ItemKey)> = candidates
        .iter()
        .enumerate()
        .filter_map(|(at, candidate)| Some((at, score(candidate)?, &candidate.key)))
        .collect();
    list.sort_by(|a, b| match b.1.total_cmp(&a.1) {
        Ordering::Equal => a.2.cmp(b.2),
        order => order,
    });
    list.into_iter().zip(1..).map(|((at, _, _), place)| (at, place)).collect()
}

#[cfg(test)]
mod tests {
    use hanok_core::{Labels, Tenant};

    use super::*;
    use crate::Vector;

    /// The numbers are worked by hand from the formula.
    #[test]
    fn texts_score_by_the_formula() {
        let query = QueryTerms::new("b f zz b");
        assert_eq!(query.terms(), ["b", "f", "zz"]);
        let texts = ["a a b", "b c", "c d e f"];
        let items: Vec<_> = texts.iter().map(|text| query.count(text.split(' '))).collect();
        let scores = query.scores(Corpus { items: 3, terms: 9 }, &items);

        // Of 3 texts, 2 have b, 1 has f, none has zz.
        let (b, f) = (1.6_f64.ln(), (1.0 + 2.5 / 1.5_f64).ln());
        let saturated = |length: f64| 2.2 / (1.0 + 1.2 * (0.25 + 0.75 * length / 3.0));
        let want = [b * saturated(3.0), b * saturated(2.0), f * saturated(4.0)];
        for (score, want) in scores.iter().zip(want) {
            assert!((score - want).abs() < 1e-12, "{scores:?}");
        }
    }

    #[test]
    fn a_long_text_is_asked_for_by_what_it_begins_with() {
        let many: Vec<_> = (1_000..1_400).map(|n| n.to_string()).collect();
        assert_eq!(QueryTerms::new(&many.join(" ")).terms(), &many[..MOST]);
        for (filler, last) in [("가", Vec::new()), ("ab ", Vec::new()), ("b ", vec!["last"])] {
            let times = if last.is_empty() { READ } else { READ / 4 };
            let query = QueryTerms::new(&format!("{} last", filler.repeat(times)));
            let items: Vec<_> = query.terms().iter().filter(|term| *term == "last").collect();
            assert_eq!(items, last, "{filler}");
        }
    }

    /// B108
    #[test]
    fn two_lists_are_joined_by_their_places() {
        let labels = Labels::new(["n"]).unwrap();
        let key = |name: &str| ItemKey::new(Tenant::default(), labels.clone(), name).unwrap();
        let candidate = |name: &'static str, text, similarity| Candidate {
            item: name,
            key: key(name),
            text,
            similarity,
        };
        let all = || {
            vec![
                candidate("text first", Some(9.0), None),
                candidate("both", Some(5.0), Some(0.5)),
                candidate("meaning first", None, Some(0.9)),
            ]
        };
        let search = Search::all(Tenant::default()).text("x").vector(Vector::new(&[1.0]).unwrap());
        let order = |search: &Search| {
            let (ranked, _) = rank(search, all());
            ranked.iter().map(|it| (it.candidate.item, it.score)).collect::<Vec<_>>()
        };
        let (one, two) = (0.5 / 61.0, 0.5 / 62.0);
        assert_eq!(
            order(&search),
            [("both", two + two), ("meaning first", one), ("text first", one)]
        );
        let text = order(&search.clone().weight(0.0));
        assert_eq!(text, [("text first", 9.0), ("both", 5.0)]);
        let meaning = order(&search.clone().weight(1.0));
        assert_eq!(meaning, [("meaning first", f64::from(0.9f32)), ("both", 0.5)]);
        // Beyond its ends a weight is one of its ends.
        assert_eq!(order(&search.clone().weight(7.0)), meaning);
        assert_eq!(order(&search.weight(-7.0)), text);
    }
}
