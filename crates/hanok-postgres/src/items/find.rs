//! Listings and searches of items. Nothing here writes.

use std::collections::BTreeMap;

use hanok_checkpoint::{
    Candidate, Corpus, Filter, Hit, Item, Namespaces, Page, Place, QueryTerms, Ranked, Search,
    Vector, Within, rank,
};
use hanok_core::{Labels, Tenant, Timestamp};
use tokio_postgres::{
    Row,
    types::{ToSql, Type},
};

use super::{
    Answer,
    rows::{COLUMNS, item, key, labels, stored},
    write::space,
};
use crate::{
    database::Database,
    failure::Failure,
    number::{bound, read as number},
    server::pool::Query,
};

/// The least number of rows that a listing that filters asks for at once.
const CHUNK: usize = 256;

/// The longest vector that pgvector reads.
const PGVECTOR_MOST: usize = 16_000;

/// The rows among which a search looks.
struct Scope<'a> {
    tenant: &'a Tenant,
    name: &'a str,
    /// All follow this namespace and key.
    from: (Vec<u8>, String),
    /// All namespaces are before this.
    to: Vec<u8>,
    now: i64,
}

type Parameters<'a> = Vec<(&'a (dyn ToSql + Sync), Type)>;

impl<'a> Scope<'a> {
    fn new(tenant: &'a Tenant, within: &Within, now: Timestamp) -> Self {
        let (from, to) = within.range();
        let from = (from, String::new());
        Self { tenant, name: tenant.as_str(), from, to, now: bound(now.0) }
    }

    fn parameters(&self) -> Parameters<'_> {
        vec![
            (&self.name, Type::TEXT),
            (&self.from.0, Type::BYTEA),
            (&self.from.1, Type::TEXT),
            (&self.to, Type::BYTEA),
            (&self.now, Type::INT8),
        ]
    }
}

/// Items that a search may rank, by their ids.
type Candidates = BTreeMap<i64, Candidate<i64>>;

impl Database {
    /// The condition of a [`Scope`], whose values are the first five parameters.
    fn in_scope(&self) -> String {
        format!(
            "items.tenant_id = {} AND (namespace, key) > ($2, $3) AND namespace < $4
             AND (expires IS NULL OR expires > $5)",
            self.tenant()
        )
    }

    /// The number of the tenant whose name is the first parameter.
    fn tenant(&self) -> String {
        format!("(SELECT id FROM {}.tenants WHERE tenant = $1)", self.schema)
    }

    pub(crate) async fn search(&self, search: &Search, now: Timestamp) -> Answer<Page> {
        if let Err(error) = search.check() {
            return Ok(Err(error));
        }
        let scope = Scope::new(&search.tenant, &search.within, now);
        if let Some(vector) = search.by_vector() {
            let sql = self.spaces(&self.tenant());
            let parameters =
                [(&scope.name as _, Type::TEXT), (&Vec::<i64>::new() as _, Type::INT8_ARRAY)];
            let answers = self.look(&[Query { sql: &sql, parameters: &parameters }]).await?;
            if let Some(row) = answers.iter().flatten().next()
                && let Err(error) = space(row)?.admit(vector)
            {
                return Ok(Err(error));
            }
        }
        match search.text.is_some() || search.vector.is_some() {
            true => self.ranked(search, &scope).await.map(Ok),
            false => self.list(search, scope).await.map(Ok),
        }
    }

    async fn list(&self, search: &Search, mut scope: Scope<'_>) -> Result<Page, Failure> {
        if let Some(after) = &search.after {
            let after = (after.labels.as_bytes().to_vec(), after.key.clone());
            scope.from = scope.from.max(after);
        }
        let s = &self.schema;
        let sql = format!(
            "SELECT {COLUMNS} FROM {s}.items WHERE {} ORDER BY namespace, key LIMIT $6",
            self.in_scope()
        );
        // One more than is shown says whether there are more.
        let one_more = search.limit.saturating_add(1);
        let chunk = if search.filter.is_all() { one_more } else { one_more.max(CHUNK) };
        let chunk: i64 = bound(chunk);
        let mut page = Page::default();
        loop {
            let mut parameters = scope.parameters();
            parameters.push((&chunk, Type::INT8));
            let answers = self.look(&[Query { sql: &sql, parameters: &parameters }]).await?;
            let mut rows = 0;
            let mut last = None;
            for row in answers.iter().flatten() {
                rows += 1;
                let item = item(row, 0, scope.tenant)?;
                last = Some(item.key.clone());
                if !search.filter.fits(&item.value) {
                    continue;
                }
                if page.hits.len() >= search.limit {
                    page.next = page.hits.last().map(|hit| Place::new(None, &hit.item.key));
                    return Ok(page);
                }
                page.hits.push(Hit { item, score: None, text: None, similarity: None });
            }
            match last {
                Some(last) if rows >= chunk => {
                    scope.from = (last.labels().as_bytes().to_vec(), last.key().to_owned());
                }
                _ => return Ok(page),
            }
        }
    }

    async fn ranked(&self, search: &Search, scope: &Scope<'_>) -> Result<Page, Failure> {
        let mut candidates = Candidates::new();
        if let Some(text) = search.by_text() {
            self.by_text(&QueryTerms::new(text), &search.filter, scope, &mut candidates).await?;
        }
        if let Some(vector) = search.by_vector() {
            self.by_vector(vector, &search.filter, scope, &mut candidates).await?;
        }
        let (ranked, next) = rank(search, candidates.into_values().collect());
        let ids: Vec<i64> = ranked.iter().map(|it| it.candidate.item).collect();
        let mut items = self.items(&ids, scope.tenant).await?;
        let hit = |it: Ranked<i64>| {
            let Candidate { item: id, text, similarity, .. } = it.candidate;
            // One that was removed meanwhile is not there.
            let item = items.remove(&id)?;
            Some(Hit { item, score: Some(it.score), text, similarity })
        };
        Ok(Page { hits: ranked.into_iter().filter_map(hit).collect(), next })
    }

    async fn items(&self, ids: &[i64], tenant: &Tenant) -> Result<BTreeMap<i64, Item>, Failure> {
        let s = &self.schema;
        let sql = format!("SELECT {COLUMNS} FROM {s}.items WHERE id = ANY ($1)");
        let parameters = [(&ids as _, Type::INT8_ARRAY)];
        let answers = self.look(&[Query { sql: &sql, parameters: &parameters }]).await?;
        let each = |row: &Row| Ok((row.try_get(0)?, item(row, 0, tenant)?));
        answers.iter().flatten().map(each).collect()
    }

    /// Adds what has one of the terms.
    async fn by_text(
        &self,
        asked: &QueryTerms,
        filter: &Filter,
        scope: &Scope<'_>,
        candidates: &mut Candidates,
    ) -> Result<(), Failure> {
        if asked.terms().is_empty() {
            return Ok(());
        }
        let (s, in_scope, value) = (&self.schema, self.in_scope(), value_for(filter));
        let find = format!(
            "SELECT id, namespace, key, terms, {value}, tenant_id FROM {s}.items
             WHERE terms && (SELECT array_agg(tenants.id || '.' || asked COLLATE \"C\")
                             FROM {s}.tenants, unnest($6) AS asked WHERE tenant = $1)
                   AND {in_scope}"
        );
        let count = format!(
            "SELECT count(*), coalesce(sum(cardinality(terms)), 0)::bigint FROM {s}.items
             WHERE cardinality(terms) > 0 AND {in_scope}"
        );
        let mut parameters = scope.parameters();
        let terms = asked.terms();
        parameters.push((&terms, Type::TEXT_ARRAY));
        let [of_scope, all] = [parameters.get(..5).unwrap_or_default(), &parameters];
        let answers = self
            .look(&[
                Query { sql: &find, parameters: all },
                Query { sql: &count, parameters: of_scope },
            ])
            .await?;
        let [rows, corpus] = &answers[..] else { return Ok(()) };
        let Some(corpus) = corpus.first() else { return Ok(()) };
        let (items, all) = (number(corpus.try_get(0)?)?, number(corpus.try_get(1)?)?);
        let mut found = Vec::new();
        for row in rows {
            let own = format!("{}.", row.try_get::<_, i64>(5)?);
            let terms: Vec<&str> = row.try_get(3)?;
            found.push(asked.count(terms.iter().filter_map(|term| term.strip_prefix(&*own))));
        }
        let scores = asked.scores(Corpus { items, terms: all }, &found);
        for (row, score) in rows.iter().zip(scores) {
            if fits(row, 4, filter)? {
                let (item, key) = (row.try_get(0)?, key(row, 1, scope.tenant)?);
                let candidate = Candidate { item, key, text: Some(score), similarity: None };
                candidates.insert(item, candidate);
            }
        }
        Ok(())
    }

    /// Adds what has a vector, and to what is there how similar it is. With pgvector the server compares, and without it the
    /// vectors are fetched.
    async fn by_vector(
        &self,
        vector: &Vector,
        filter: &Filter,
        scope: &Scope<'_>,
        candidates: &mut Candidates,
    ) -> Result<(), Failure> {
        let (s, in_scope, value) = (&self.schema, self.in_scope(), value_for(filter));
        let pgvector = self.pgvector.as_ref().filter(|_| vector.dimensions() <= PGVECTOR_MOST);
        let (compared, groups) = match pgvector {
            // The least of the negative inner products, of vectors of length 1.
            Some(v) => (
                format!("min(vector::{v}.vector OPERATOR({v}.<#>) $6::{v}.vector)"),
                "GROUP BY items.id",
            ),
            None => ("vector".to_owned(), ""),
        };
        let sql = format!(
            "SELECT items.id, namespace, key, {compared}, {value} FROM {s}.items
             JOIN {s}.vectors ON item_id = items.id WHERE {in_scope} {groups}"
        );
        let (mut parameters, numbers) = (scope.parameters(), vector.numbers());
        if pgvector.is_some() {
            parameters.push((&numbers, Type::FLOAT4_ARRAY));
        }
        let answers = self.look(&[Query { sql: &sql, parameters: &parameters }]).await?;
        for row in answers.iter().flatten() {
            let similarity = match pgvector {
                Some(_) => (-row.try_get::<_, f64>(3)? as f32).clamp(-1.0, 1.0),
                None => vector.similarity_to(&row.try_get::<_, Vec<f32>>(3)?),
            };
            let id = row.try_get(0)?;
            if let Some(known) = candidates.get_mut(&id) {
                known.similarity =
                    known.similarity.into_iter().chain([similarity]).reduce(f32::max);
            } else if fits(row, 4, filter)? {
                let key = key(row, 1, scope.tenant)?;
                let new = Candidate { item: id, key, text: None, similarity: Some(similarity) };
                candidates.insert(id, new);
            }
        }
        Ok(())
    }

    pub(crate) async fn namespaces(
        &self,
        query: &Namespaces,
        now: Timestamp,
    ) -> Result<Vec<Labels>, Failure> {
        let scope = Scope::new(&query.tenant, &query.within, now);
        let s = &self.schema;
        let sql = format!(
            "SELECT DISTINCT namespace FROM {s}.items WHERE {} ORDER BY namespace",
            self.in_scope()
        );
        let parameters = scope.parameters();
        let answers = self.look(&[Query { sql: &sql, parameters: &parameters }]).await?;
        let mut names: Vec<Labels> = Vec::new();
        for row in answers.iter().flatten() {
            let named = query.named(&labels(row, 0)?);
            let follows = query.after.as_ref().is_none_or(|after| named > *after);
            if follows && names.last() != Some(&named) {
                names.push(named);
            }
        }
        names.truncate(query.limit);
        Ok(names)
    }
}

/// The column to read for `filter`: no value is loaded that nobody looks at.
fn value_for(filter: &Filter) -> &'static str {
    if filter.is_all() { "NULL::bytea" } else { "value" }
}

fn fits(row: &Row, at: usize, filter: &Filter) -> Result<bool, Failure> {
    match row.try_get::<_, Option<&[u8]>>(at)? {
        Some(value) => Ok(filter.fits(&stored(value)?)),
        None => Ok(true),
    }
}
