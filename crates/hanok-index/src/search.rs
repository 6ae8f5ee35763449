//! Keywords by tantivy's BM25, vectors one by one.

use std::collections::HashSet;

use hanok_retrieval::{
    BoxError, Mode, Query, RetrievalError, Terms,
    backend::{
        Asked, Found, asked_by, in_other_words, matched, nearest, searched, weights, written,
    },
};
use tantivy::{
    DocAddress, Searcher, TantivyDocument, Term,
    collector::{DocSetCollector, TopDocs},
    query::{BooleanQuery, BoostQuery, ConstScoreQuery, Occur, Query as Search, TermQuery},
    schema::IndexRecordOption,
};

use crate::{schema::Fields, vectors::Vectors};

/// What was found, the best first.
type Ranked = Vec<Found<DocAddress>>;

/// The entries that have `term`.
pub(crate) fn having(searcher: &Searcher, term: Term) -> Result<Vec<TantivyDocument>, BoxError> {
    let entries = searcher.search(&exactly(term), &DocSetCollector)?;
    entries.into_iter().map(|at| Ok(searcher.doc(at)?)).collect()
}

/// The `depth` best passages by BM25, of at least the query's coverage.
pub(crate) fn by_keywords(
    searcher: &Searcher,
    (fields, terms): (Fields, &Terms),
    query: &Query,
    depth: usize,
) -> Result<Ranked, BoxError> {
    let asked = asked_by(query, terms);
    let mut counts = Vec::with_capacity(asked.len());
    for asked in &asked {
        counts.push(usize::try_from(searcher.doc_freq(&fields.term(&asked.term))?)?);
    }
    let all = usize::try_from(searcher.num_docs())?;
    let weights = weights(&asked, &counts, all);
    // Each term as it is in what is written of a passage, with its share of the question.
    let shares: Vec<(&Asked, String, f32)> = asked
        .iter()
        .zip(&weights)
        .map(|(asked, weight)| (asked, asked.term.written(), weight.share))
        .collect();
    let any = asked.iter().zip(&counts).filter(|(_, count)| **count > 0);
    let any: Vec<_> = any.map(|(asked, _)| (Occur::Should, weighed(fields, asked))).collect();
    if any.is_empty() || depth == 0 {
        return Ok(Vec::new());
    }
    let mut clauses: Vec<(Occur, Box<dyn Search>)> =
        vec![(Occur::Must, Box::new(BooleanQuery::new(any)))];
    clauses.extend(fields.filters(query).into_iter().map(|term| (Occur::Must, exactly(term))));
    let search = BooleanQuery::new(clauses);

    // What covers too little of the question is left out, so more may have to be looked at.
    let mut limit = depth;
    loop {
        let best = searcher.search(&search, &TopDocs::with_limit(limit).order_by_score())?;
        let is_all = best.len() < limit;
        let mut found = Vec::new();
        for (score, at) in best {
            let passage = fields.passage(&searcher.doc(at)?)?;
            let (written, _) = written(&searched(&passage), terms);
            let has: HashSet<&str> = written.split(' ').collect();
            let had = shares.iter().filter(|(_, term, _)| has.contains(term.as_str()));
            // Rounding alone could pass it.
            let coverage = had.clone().map(|(.., share)| *share).sum::<f32>().min(1.0);
            if coverage >= query.lowest_coverage() && found.len() < depth {
                let matched = matched(had.map(|(asked, ..)| *asked));
                let hit = Found::by(Mode::Keyword, found.len() + 1, score, at);
                found.push(Found { coverage, matched, ..hit });
            }
        }
        if is_all || found.len() == depth {
            return Ok(found);
        }
        limit = limit.saturating_mul(4).min(all.max(limit + 1));
    }
}

/// The `depth` passages whose vectors are most like the query's.
pub(crate) fn by_vectors(
    searcher: &Searcher,
    (fields, vectors): (Fields, &Vectors),
    query: &Query,
    depth: usize,
) -> Result<Ranked, RetrievalError> {
    let unavailable = |error: BoxError| RetrievalError::Unavailable(error);
    let asked = query.needed_vector()?;
    let allowed = allowed(searcher, fields.filters(query)).map_err(unavailable)?;
    let segments = vectors.of(searcher, fields).map_err(unavailable)?;
    let rows = (0..).zip(searcher.segment_readers()).zip(&segments).flat_map(
        |((segment, reader), rows)| {
            let row = move |row: &crate::vectors::Row| DocAddress::new(segment, row.entry);
            let is_there = move |it: &&crate::vectors::Row| !reader.is_deleted(it.entry);
            rows.iter().filter(is_there).map(move |it| (row(it), it))
        },
    );
    let rows = rows
        .filter(|(at, _)| allowed.as_ref().is_none_or(|allowed| allowed.contains(at)))
        .map(|(at, row)| ((row.source.as_str(), row.ordinal, at), &row.vector));
    let near = nearest(asked, rows, depth, query.lowest_similarity())?;
    let ranked = (1..).zip(near);
    Ok(ranked.map(|(rank, ((_, _, at), score))| Found::by(Mode::Vector, rank, score, at)).collect())
}

/// The entries that have each of `filters`; `None` where there are no filters.
fn allowed(
    searcher: &Searcher,
    filters: Vec<Term>,
) -> Result<Option<HashSet<DocAddress>>, BoxError> {
    if filters.is_empty() {
        return Ok(None);
    }
    let clauses = filters.into_iter().map(|term| (Occur::Must, exactly(term))).collect();
    Ok(Some(searcher.search(&BooleanQuery::new(clauses), &DocSetCollector)?))
}

/// Whoever has `term`, without a score.
fn exactly(term: Term) -> Box<dyn Search> {
    let term = Box::new(TermQuery::new(term, IndexRecordOption::Basic));
    Box::new(ConstScoreQuery::new(term, 0.0))
}

/// Whoever has the term of a question, by BM25.
fn weighed(fields: Fields, asked: &Asked) -> Box<dyn Search> {
    let term = TermQuery::new(fields.term(&asked.term), IndexRecordOption::WithFreqs);
    match in_other_words(1.0, asked.among) {
        1.0 => Box::new(term),
        weight => Box::new(BoostQuery::new(Box::new(term), weight)),
    }
}
