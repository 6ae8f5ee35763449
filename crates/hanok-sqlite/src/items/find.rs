//! Listings and searches of items. Nothing here writes.

use std::collections::BTreeMap;

use hanok_checkpoint::{
    Candidate, Corpus, Filter, Hit, Namespaces, Page, Place, QueryTerms, Ranked, Search,
    StoreError, TermCounts, Vector, Within, rank,
};
use hanok_core::{ItemKey, Labels, Tenant, Timestamp};
use rusqlite::{CachedStatement, Params, Row, Transaction, params};

use super::{
    rows::{COLUMNS, damaged, item, key, stored, tenant_id},
    write::{space, token},
};
use crate::{
    failure::Failure,
    number::{bound, read as number},
};

/// The rows among which a search looks.
struct Scope<'a> {
    tenant: &'a Tenant,
    tenant_id: i64,
    /// All follow this namespace and key.
    from: (Vec<u8>, &'a str),
    /// All namespaces are before this.
    to: Vec<u8>,
    now: i64,
}

/// The condition of a [`Scope`], whose values are the first five parameters.
const IN_SCOPE: &str = "items.tenant_id = ?1 AND (namespace, key) > (?2, ?3) AND namespace < ?4
    AND (expires IS NULL OR expires > ?5)";

pub(crate) fn search(
    tx: &Transaction<'_>,
    search: &Search,
    now: Timestamp,
) -> Result<Result<Page, StoreError>, Failure> {
    let tenant = &search.tenant;
    let Some(tenant_id) = tenant_id(tx, tenant)? else { return Ok(Ok(Page::default())) };
    if let Some(vector) = search.by_vector()
        && let Some(space) = space(tx, tenant, [].into_iter())?
        && let Err(error) = space.admit(vector)
    {
        return Ok(Err(error));
    }
    let (from, to) = search.within.range();
    let scope = Scope { tenant, tenant_id, from: (from, ""), to, now: bound(now.0) };
    match search.text.is_some() || search.vector.is_some() {
        true => ranked(tx, search, &scope).map(Ok),
        false => list(tx, search, scope).map(Ok),
    }
}

fn list<'a>(
    tx: &Transaction<'_>,
    search: &'a Search,
    mut scope: Scope<'a>,
) -> Result<Page, Failure> {
    if let Some(after) = &search.after {
        let after = (after.labels.as_bytes().to_vec(), after.key.as_str());
        scope.from = scope.from.max(after);
    }
    let mut statement = tx.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM items WHERE {IN_SCOPE} ORDER BY namespace, key"
    ))?;
    let mut rows = statement.query(scope.parameters())?;
    let mut page = Page::default();
    while let Some(row) = rows.next()? {
        let item = item(row, scope.tenant)?;
        if !search.filter.fits(&item.value) {
            continue;
        }
        if page.hits.len() >= search.limit {
            page.next = page.hits.last().map(|hit| Place::new(None, &hit.item.key));
            break;
        }
        page.hits.push(Hit { item, score: None, text: None, similarity: None });
    }
    Ok(page)
}

fn ranked(tx: &Transaction<'_>, search: &Search, scope: &Scope<'_>) -> Result<Page, Failure> {
    let mut candidates = BTreeMap::new();
    if let Some(text) = search.by_text() {
        by_text(tx, &QueryTerms::new(text), &search.filter, scope, &mut candidates)?;
    }
    if let Some(vector) = search.by_vector() {
        by_vector(tx, vector, &search.filter, scope, &mut candidates)?;
    }
    let (ranked, next) = rank(search, candidates.into_values().collect());
    let mut statement = tx.prepare_cached(&format!("SELECT {COLUMNS} FROM items WHERE id = ?1"))?;
    let hit = |it: Ranked<i64>| {
        let Candidate { item: id, text, similarity, .. } = it.candidate;
        let item = one(&mut statement, [id], |row| item(row, scope.tenant))?;
        Ok(Hit { item, score: Some(it.score), text, similarity })
    };
    let hits = ranked.into_iter().map(hit).collect::<Result<_, Failure>>()?;
    Ok(Page { hits, next })
}

/// Items that a search may rank, by their ids.
type Candidates = BTreeMap<i64, Candidate<i64>>;

/// Adds what has one of the terms.
fn by_text(
    tx: &Transaction<'_>,
    asked: &QueryTerms,
    filter: &Filter,
    scope: &Scope<'_>,
    candidates: &mut Candidates,
) -> Result<(), Failure> {
    if asked.terms().is_empty() {
        return Ok(());
    }
    // All of it is data: in quotes, in which a quote is two.
    let quoted =
        |term: &String| format!("\"{}\"", token(Some(scope.tenant_id), term).replace('"', "\"\""));
    let query = asked.terms().iter().map(quoted).collect::<Vec<_>>().join(" OR ");
    let own = token(Some(scope.tenant_id), "");
    let mut statement = tx.prepare_cached(&format!(
        "SELECT id, namespace, key, texts.terms, {} FROM texts CROSS JOIN items ON id = texts.rowid
         WHERE texts MATCH ?6 AND {IN_SCOPE}",
        value_for(filter)
    ))?;
    let (tenant_id, (namespace, key_from), to, now) = scope.parts();
    let mut rows = statement.query(params![tenant_id, namespace, key_from, to, now, query])?;
    let (mut fitting, mut found): (Vec<_>, Vec<TermCounts>) = Default::default();
    while let Some(row) = rows.next()? {
        let terms = row.get_ref(3)?.as_str().map_err(damaged)?;
        found.push(asked.count(terms.split(' ').filter_map(|term| term.strip_prefix(&*own))));
        fitting.push(match fits(row, 4, filter)? {
            true => Some((row.get::<_, i64>(0)?, key(row, scope.tenant)?)),
            false => None,
        });
    }
    let scores = asked.scores(corpus(tx, scope)?, &found);
    for (fitting, score) in fitting.into_iter().zip(scores) {
        if let Some((item, key)) = fitting {
            let candidate = Candidate { item, key, text: Some(score), similarity: None };
            candidates.insert(item, candidate);
        }
    }
    Ok(())
}

fn corpus(tx: &Transaction<'_>, scope: &Scope<'_>) -> Result<Corpus, Failure> {
    let mut statement = tx.prepare_cached(
        "SELECT count(*), total(terms) FROM items WHERE tenant_id = ?1 AND terms > 0
         AND namespace >= ?2 AND namespace < ?3 AND (expires IS NULL OR expires > ?4)",
    )?;
    let within = params![scope.tenant_id, scope.from.0, scope.to, scope.now];
    one(&mut statement, within, |row| {
        Ok(Corpus { items: number(row.get(0)?)?, terms: row.get::<_, f64>(1)? as u64 })
    })
}

/// Adds what has a vector, and to what is there how similar it is.
fn by_vector(
    tx: &Transaction<'_>,
    vector: &Vector,
    filter: &Filter,
    scope: &Scope<'_>,
    candidates: &mut Candidates,
) -> Result<(), Failure> {
    let mut items = fitting(tx, filter, scope)?;
    // In the order in which they were written, and so lie in the file: in any other, most of the time is spent on reading
    // the same pages again.
    items.sort_unstable_by_key(|(id, _)| *id);
    let mut statement =
        tx.prepare_cached("SELECT vector FROM vectors WHERE tenant_id = ?1 AND item_id = ?2")?;
    for (id, key) in items {
        let mut rows = statement.query([scope.tenant_id, id])?;
        let mut similarity: Option<f32> = None;
        while let Some(row) = rows.next()? {
            let other = vector.similarity_to_bytes(row.get_ref(0)?.as_blob().map_err(damaged)?);
            similarity = similarity.into_iter().chain([other]).reduce(f32::max);
        }
        if similarity.is_some() {
            let new = Candidate { item: id, key, text: None, similarity };
            candidates.entry(id).or_insert(new).similarity = similarity;
        }
    }
    Ok(())
}

/// The items that fit the filter, with their ids.
fn fitting(
    tx: &Transaction<'_>,
    filter: &Filter,
    scope: &Scope<'_>,
) -> Result<Vec<(i64, ItemKey)>, Failure> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT id, namespace, key, {} FROM items WHERE {IN_SCOPE}",
        value_for(filter)
    ))?;
    let mut rows = statement.query(scope.parameters())?;
    let mut items = Vec::new();
    while let Some(row) = rows.next()? {
        if fits(row, 3, filter)? {
            items.push((row.get(0)?, key(row, scope.tenant)?));
        }
    }
    Ok(items)
}

/// The column to read for `filter`: no value is loaded that nobody looks at.
fn value_for(filter: &Filter) -> &'static str {
    if filter.is_all() { "NULL" } else { "value" }
}

fn fits(row: &Row<'_>, at: usize, filter: &Filter) -> Result<bool, Failure> {
    match row.get::<_, Option<Vec<u8>>>(at)? {
        Some(value) => Ok(filter.fits(&stored(value)?)),
        None => Ok(true),
    }
}

impl Scope<'_> {
    fn parts(&self) -> (i64, (&[u8], &str), &[u8], i64) {
        (self.tenant_id, (&self.from.0, self.from.1), &self.to, self.now)
    }

    fn parameters(&self) -> impl Params {
        let (tenant_id, (namespace, key), to, now) = self.parts();
        (tenant_id, namespace, key, to, now)
    }
}

/// Reads the only row that there is.
fn one<T>(
    statement: &mut CachedStatement<'_>,
    parameters: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    match statement.query(parameters)?.next()? {
        Some(row) => read(row),
        None => Err(damaged("a row is missing")),
    }
}

pub(crate) fn namespaces(
    tx: &Transaction<'_>,
    query: &Namespaces,
    now: Timestamp,
) -> Result<Vec<Labels>, Failure> {
    let Some(tenant_id) = tenant_id(tx, &query.tenant)? else { return Ok(Vec::new()) };
    let mut statement = tx.prepare_cached(
        "SELECT namespace FROM items WHERE tenant_id = ?1 AND namespace >= ?2 AND namespace < ?3
         AND (expires IS NULL OR expires > ?4) ORDER BY namespace LIMIT 1",
    )?;
    let (mut from, to) = query.within.range();
    if let Some(after) = &query.after {
        from = from.max(following(after));
    }
    let mut names = Vec::new();
    while names.len() < query.limit {
        let mut rows = statement.query(params![tenant_id, from, to, bound(now.0)])?;
        let Some(row) = rows.next()? else { break };
        let labels = Labels::from_bytes(row.get_ref(0)?.as_blob().map_err(damaged)?)
            .ok_or_else(|| damaged("a namespace has no labels"))?;
        let named = query.named(&labels);
        from = match query.depth.is_some_and(|depth| named.depth() >= depth.max(1)) {
            // All below it have its name.
            true => Within::Labels(named.clone()).range().1,
            false => following(&named),
        };
        if query.after.as_ref().is_none_or(|after| named > *after) {
            names.push(named);
        }
    }
    Ok(names)
}

/// The bytes that no namespace that follows `labels` is before.
fn following(labels: &Labels) -> Vec<u8> {
    [labels.as_bytes(), &[0]].concat()
}
