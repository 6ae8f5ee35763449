//! Asking an index by keywords.

use std::{borrow::Cow, sync::Arc};

use tantivy::Term;

use super::{
    best::{Asking, Candidate, Has},
    lists::List,
    view::{Place, View},
    weights::{Norms, weight},
    windows::bits,
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

/// What the terms of a question weigh.
struct Weighed {
    /// In the score.
    weights: Vec<f32>,
    /// What each term adds to the coverage.
    shares: Vec<f32>,
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
    let terms: Vec<Term> = asked.iter().map(|asked| view.fields.term(&asked.term)).collect();
    let norms = Norms::new(view.mean());
    let lists = view.lists.of(&terms, &view.parts, Some(&norms))?;
    let allowed = allowed(view, &view.fields.filters(query))?;
    let weighed = Weighed::new(view, &lists, &asked);
    let (parts, weights) = (&view.parts, weighed.weights.as_slice());
    let asking = Asking { parts, allowed: &allowed, lists: &lists, weights, norms: &norms };
    let best = asking.best(depth);
    if best.is_empty() {
        return Ok(Vec::new());
    }
    let (least, shares) = (query.lowest_coverage(), &weighed.shares);
    let enough = |has: Has| weighed.coverage(has) >= least;
    if !best.iter().any(|candidate| enough(candidate.has)) && !asking.any(shares, least, enough) {
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
    let allowed = allowed(view, &filters)?;
    let keys = allowed.iter().enumerate().flat_map(|(window, allowed)| {
        let part = view.parts.part(window);
        bits(*allowed).filter_map(move |bit| part.and_then(|it| it.key(it.begin(window) + bit)))
    });
    Ok(Some(keys.collect()))
}

/// The entries of each window that are not removed and have each of `filters`.
fn allowed<'a>(view: &'a View, filters: &[Term]) -> Result<Cow<'a, [u64]>, BoxError> {
    let mut allowed = Cow::Borrowed(view.parts.alive.as_slice());
    for list in view.lists.of(filters, &view.parts, None)? {
        list.windows.restrict(allowed.to_mut());
    }
    Ok(allowed)
}

impl Weighed {
    /// By how many passages have each of the terms.
    fn new(view: &View, lists: &[Arc<List>], asked: &[Asked]) -> Self {
        let (all, found) = (view.passages() as u64, lists.iter().map(|list| list.found));
        let counts: Vec<usize> = found.clone().map(|found| found as usize).collect();
        let shares = bm25::weights(asked, &counts, view.passages());
        let shares = shares.iter().map(|weight| weight.share).collect();
        let weights = found
            .zip(asked)
            .map(|(found, asked)| bm25::in_other_words(weight(found.min(all), all), asked.among));
        Self { weights: weights.collect(), shares }
    }

    /// The share of the question that a passage has.
    fn coverage(&self, has: Has) -> f32 {
        let shares = self.shares.iter().enumerate().filter(|(at, _)| has.has(*at));
        // Rounding alone could pass it.
        shares.map(|(_, share)| share).sum::<f32>().min(1.0)
    }
}
