//! A store in OpenSearch.

use std::{collections::BTreeMap, fmt, ops::Range, time::Duration};

use hanok_checkpoint::Space;
use hanok_core::Secret;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    entries::{self, Head, filters},
    http::Http,
};
use hanok_retrieval::{
    BoxError, DocumentStore, Hit, Mode, Passage, Query, RetrievalError, Retriever, StoredDocument,
    Terms,
    backend::{self, Found, Whole, asked_by, by_source, matched},
};

/// So many bytes are sent at a time.
const CHUNK: usize = 4 << 20;

/// So many entries are asked for at a time; no index gives more.
const PAGE: usize = 10_000;

/// Where an OpenSearch is, and how it is spoken with.
#[derive(Debug, Clone)]
pub struct OpenSearchConfig {
    url: Secret<String>,
    index: String,
    login: Option<(String, Secret<String>)>,
    time: Duration,
}

impl OpenSearchConfig {
    /// The index `index` of the server at `url`, `https://search.example:9200`, without a user in it.
    #[must_use]
    pub fn new(url: impl Into<String>, index: impl Into<String>) -> Self {
        Self {
            url: Secret::new(url.into()),
            index: index.into(),
            login: None,
            time: Duration::from_secs(10),
        }
    }

    /// Who asks, and the password. Default: nobody.
    #[must_use]
    pub fn login(self, user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { login: Some((user.into(), Secret::new(password.into()))), ..self }
    }

    /// How long an answer may take. Default: 10 seconds.
    #[must_use]
    pub fn timeout(self, time: Duration) -> Self {
        Self { time, ..self }
    }
}

/// A [`DocumentStore`] in an index of OpenSearch with its plugin for vectors.
///
/// Words are found by the server's BM25 over our terms, vectors by its HNSW index, which may miss a near one; both are joined
/// here, so that each part is told. What is written is shown all at once, when it is complete. Should a writer die before
/// that, its documents are listed as of no version, and [`sync`](hanok_retrieval::sync) puts them again. One process at a time writes
/// to an index: what another has half written would be shown with it. Calls need a tokio runtime.
#[derive(Clone)]
pub struct OpenSearchStore {
    http: Http,
    index: String,
    terms: Terms,
}

impl fmt::Debug for OpenSearchStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("OpenSearchStore");
        shown.field("base", &self.http.base()).field("index", &self.index).finish()
    }
}

impl OpenSearchStore {
    /// Opens the index, which is made where it is missing. It keeps to the terms that it was made with.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::Unavailable`] when the server does not answer, in the time that the config gives, or refuses; and
    /// when the URL or the index's name (small letters, digits, `-` and `_`) is none. [`RetrievalError::Terms`] where the
    /// index was made with others.
    pub async fn open(config: OpenSearchConfig, terms: Terms) -> Result<Self, RetrievalError> {
        let OpenSearchConfig { url, index, login, time } = config;
        let fits =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        if index.is_empty()
            || index.len() > 200
            || !index.bytes().all(fits)
            || index.starts_with(['-', '_'])
        {
            return Err(gone("the index has no name that is one"));
        }
        let store =
            Self { http: Http::new(url.expose(), login, time).map_err(gone)?, index, terms };
        let path = store.index.clone();
        let body = entries::mapping(&store.terms).to_string().into_bytes();
        let made = store.http.ask(Method::PUT, &path, Some(body), &[400]).await.map_err(gone)?;
        let there =
            made.body.pointer("/error/type") == Some(&json!("resource_already_exists_exception"));
        if there {
            store.terms.fit(&store.filled_by().await?)?;
        } else if !made.status.is_success() {
            return Err(gone("the index cannot be made"));
        }
        Ok(store)
    }

    /// The terms that the index says it is filled by.
    async fn filled_by(&self) -> Result<String, RetrievalError> {
        let path = format!("{}/_mapping", self.index);
        let told = self.http.ask(Method::GET, &path, None, &[]).await.map_err(gone)?.body;
        // By the name of the index, which need not be the one that was asked for: that may be an alias.
        let index = told.as_object().and_then(|all| all.values().next());
        let terms = index.and_then(|index| index.pointer("/mappings/_meta/terms")?.as_str());
        terms.map(str::to_owned).ok_or_else(|| gone("the index is not one of a document store"))
    }

    async fn post(&self, what: &str, body: String) -> Result<Value, RetrievalError> {
        let path = format!("{}/{what}", self.index);
        let answer = self.http.ask(Method::POST, &path, Some(body.into_bytes()), &[]).await;
        Ok(answer.map_err(gone)?.body)
    }

    /// What a search gives. One that was cut short by the server is none.
    async fn find(&self, body: Value) -> Result<Value, RetrievalError> {
        let found = self.post("_search", body.to_string()).await?;
        let failed = found.pointer("/_shards/failed").and_then(Value::as_u64);
        let whole = found.get("timed_out") == Some(&json!(false)) && failed == Some(0);
        match whole && found.pointer("/hits/hits").is_some_and(Value::is_array) {
            true => Ok(found),
            false => Err(shape()),
        }
    }

    /// Every entry that `query` fits, in the order of their keys.
    async fn all(&self, query: Value) -> Result<Vec<Value>, RetrievalError> {
        let mut all: Vec<Value> = Vec::new();
        loop {
            let mut body = json!({
                "size": PAGE, "query": query, "sort": [{ "key": "asc" }], "_source": ["body", "key"],
            });
            if let (Some(last), Some(body)) = (all.last(), body.as_object_mut()) {
                let key = last.pointer("/_source/key").cloned().ok_or_else(shape)?;
                body.insert("search_after".into(), json!([key]));
            }
            let mut page = hits(self.find(body).await?);
            let last = page.len() < PAGE;
            all.append(&mut page);
            if last {
                return Ok(all);
            }
        }
    }

    /// The head of `source`, if there is one: as it was written, shown or not.
    async fn head(&self, source: &str) -> Result<Option<Head>, RetrievalError> {
        let path = format!("{}/_doc/{}", self.index, entries::id(source));
        let found = self.http.ask(Method::GET, &path, None, &[404]).await.map_err(gone)?.body;
        match found.get("found").and_then(Value::as_bool) {
            Some(true) => head(&found).map(Some),
            Some(false) => Ok(None),
            None => Err(shape()),
        }
    }

    /// Writes `lines`, which are not shown yet.
    async fn write(&self, lines: &[String]) -> Result<(), RetrievalError> {
        let mut chunk = String::new();
        for (at, line) in lines.iter().enumerate() {
            chunk += line;
            if chunk.len() < CHUNK && at + 1 < lines.len() {
                continue;
            }
            let written = self.post("_bulk", std::mem::take(&mut chunk)).await?;
            // To remove what is not there is an item with 404, and no error.
            if written.get("errors") != Some(&json!(false)) {
                return Err(gone("OpenSearch did not write everything"));
            }
        }
        Ok(())
    }

    /// Shows what was written.
    async fn show(&self) -> Result<(), RetrievalError> {
        let shown = self.post("_refresh", String::new()).await?;
        match shown.pointer("/_shards/failed").and_then(Value::as_u64) {
            Some(0) => Ok(()),
            _ => Err(shape()),
        }
    }

    async fn by_keywords(
        &self,
        query: &Query,
        depth: usize,
    ) -> Result<Vec<Found<Whole<Passage>>>, RetrievalError> {
        let asked = asked_by(query, &self.terms);
        let size = depth.min(PAGE);
        if asked.is_empty() || size == 0 {
            return Ok(Vec::new());
        }
        let written: Vec<String> = asked.iter().map(|asked| asked.term.written()).collect();
        let each = written.iter().enumerate();
        let counts: BTreeMap<String, Value> = each
            .map(|(at, term)| (at.to_string(), json!({ "term": { "terms": { "value": term } } })))
            .collect();
        let counted = self.find(json!({
            "size": 0, "track_total_hits": true, "query": { "term": { "kind": "passage" } },
            "aggs": { "found": { "filters": { "filters": counts } } },
        }));
        let counted = counted.await?;
        let count =
            |path: &str| counted.pointer(path).and_then(Value::as_u64).map(|it| it as usize);
        let all = count("/hits/total/value").ok_or_else(shape)?;
        let found = (0..asked.len())
            .map(|at| count(&format!("/aggregations/found/buckets/{at}/doc_count")));
        let found: Vec<usize> = found.collect::<Option<_>>().ok_or_else(shape)?;
        let weights = backend::weights(&asked, &found, all);
        let should = |boosts: bool| {
            let known = written.iter().zip(&weights).enumerate().zip(&found);
            let known = known.filter(|(_, found)| **found > 0);
            let each = known.map(|((at, (term, weight)), _)| match boosts {
                false => json!({ "term": { "terms": { "value": term, "_name": at.to_string() } } }),
                true => json!({ "constant_score": {
                    "filter": { "term": { "terms": { "value": term } } }, "boost": weight.share,
                } }),
            });
            each.collect::<Vec<_>>()
        };
        let search = |boosts: bool, size: usize| {
            json!({
                "size": size,
                "query": { "bool": {
                    "should": should(boosts), "minimum_should_match": 1, "filter": filters(query),
                } },
                "sort": [{ "_score": "desc" }, { "key": "asc" }], "track_scores": true, "_source": ["body"],
            })
        };
        if should(false).is_empty() {
            return Ok(Vec::new());
        }
        let mut told = Vec::new();
        for (rank, found) in (1..).zip(hits(self.find(search(false, size)).await?)) {
            let names = found.get("matched_queries").and_then(Value::as_array).ok_or_else(shape)?;
            let has = |at: usize| names.iter().any(|name| name.as_str() == Some(&at.to_string()));
            let had: Vec<usize> = (0..asked.len()).filter(|at| has(*at)).collect();
            let share = |at: &usize| weights.get(*at).map_or(0.0, |weight| weight.share);
            let coverage = had.iter().map(share).sum::<f32>().min(1.0);
            let matched = matched(had.iter().filter_map(|at| asked.get(*at)));
            let found = Found::by(Mode::Keyword, rank, score(&found)?, Whole(passage(&found)?));
            told.push(Found { coverage, matched, ..found });
        }
        if told.iter().all(|hit| hit.coverage < query.lowest_coverage()) {
            // One that is not among the best may be covered best.
            let best = hits(self.find(search(true, 1)).await?);
            let most = best.first().map(score).transpose()?.unwrap_or_default();
            if most.min(1.0) < query.lowest_coverage() {
                return Ok(Vec::new());
            }
        }
        Ok(told)
    }

    async fn by_vector(
        &self,
        query: &Query,
        depth: usize,
    ) -> Result<Vec<Found<Whole<Passage>>>, RetrievalError> {
        let asked = query.needed_vector()?;
        let (space, size) = (asked.space(), depth.clamp(1, PAGE));
        let mut needed = filters(query);
        needed.push(json!({ "exists": { "field": "space" } }));
        let spaces = self.find(json!({
            "size": 0, "query": { "bool": { "filter": needed } },
            "aggs": { "spaces": { "terms": { "field": "space", "size": 100 } } },
        }));
        let spaces = spaces.await?;
        let spaces = spaces.pointer("/aggregations/spaces/buckets").and_then(Value::as_array);
        let named = spaces.ok_or_else(shape)?.iter().filter_map(|it| it.get("key")?.as_str());
        let named: Vec<Space> = named.filter_map(entries::space).collect();
        if !named.contains(&space) {
            return match named.into_iter().next() {
                Some(stored) => Err(RetrievalError::Space { stored, asked: space }),
                None => Ok(Vec::new()),
            };
        }
        let (field, _) = entries::vectors(&space);
        let near = json!({ field: {
            "vector": asked.numbers(), "k": size, "filter": { "bool": { "filter": filters(query) } },
        } });
        let found = self.find(json!({
            "size": size, "query": { "knn": near },
            "sort": [{ "_score": "desc" }, { "key": "asc" }], "track_scores": true, "_source": ["body"],
        }));
        let mut told = Vec::new();
        for found in hits(found.await?).into_iter().take(depth) {
            // The server adds 1 to a cosine and halves it.
            let similarity = (score(&found)? * 2.0 - 1.0).clamp(-1.0, 1.0);
            if similarity >= query.lowest_similarity() {
                let rank = told.len() + 1;
                told.push(Found::by(Mode::Vector, rank, similarity, Whole(passage(&found)?)));
            }
        }
        Ok(told)
    }
}

fn hits(mut found: Value) -> Vec<Value> {
    match found.pointer_mut("/hits/hits").map(Value::take) {
        Some(Value::Array(hits)) => hits,
        _ => Vec::new(),
    }
}

fn body(found: &Value) -> Result<&Value, RetrievalError> {
    found.pointer("/_source/body").ok_or_else(shape)
}

fn passage(found: &Value) -> Result<Passage, RetrievalError> {
    backend::decode(body(found)?.to_string().as_bytes()).map_err(gone)
}

fn head(found: &Value) -> Result<Head, RetrievalError> {
    serde_json::from_value(body(found)?.clone()).map_err(gone)
}

fn score(found: &Value) -> Result<f32, RetrievalError> {
    let score = found.get("_score").and_then(Value::as_f64).ok_or_else(shape)?;
    Ok(score as f32)
}

fn shape() -> RetrievalError {
    gone("OpenSearch answered in another shape, or in part")
}

fn gone(source: impl Into<BoxError>) -> RetrievalError {
    RetrievalError::Unavailable(source.into())
}

impl Retriever for OpenSearchStore {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        let (keyword, vector) = query.depths()?;
        let vector = match vector {
            Some(depth) => Some(self.by_vector(query, depth).await?),
            None => None,
        };
        let keyword = match keyword {
            Some(depth) => Some(self.by_keywords(query, depth).await?),
            None => None,
        };
        query.told((keyword, vector), |Whole(passage)| Ok(passage))
    }
}

impl DocumentStore for OpenSearchStore {
    async fn upsert(&self, passages: Vec<Passage>) -> Result<(), RetrievalError> {
        let mut spaces: Vec<Space> = Vec::new();
        for passage in &passages {
            let space = passage.vector.as_ref().map(|vector| vector.space());
            spaces.extend(space.filter(|space| !spaces.contains(space)));
        }
        let (mut begin, mut lines, mut end) = (Vec::new(), Vec::new(), Vec::new());
        for (source, passages) in by_source(passages) {
            let document = entries::document(&passages, &self.terms).map_err(gone)?;
            let Some((new, mut put)) = document else { continue };
            let old = self.head(&source).await?;
            if old.as_ref() == Some(&new) {
                continue;
            }
            let before = old.map_or(0, |old| old.passages);
            let doubtful =
                Head { version: String::new(), passages: before.max(new.passages), ..new.clone() };
            begin.push(doubtful.lines().map_err(gone)?);
            lines.append(&mut put);
            lines.extend(
                (new.passages..before).map(|nth| entries::remove(&entries::nth_of(&source, nth))),
            );
            end.push(new.lines().map_err(gone)?);
        }
        if end.is_empty() {
            return Ok(());
        }
        let fields: BTreeMap<String, Value> = spaces.iter().map(entries::vectors).collect();
        if !fields.is_empty() {
            let (path, body) =
                (format!("{}/_mapping", self.index), json!({ "properties": fields }));
            let body = body.to_string().into_bytes();
            self.http.ask(Method::PUT, &path, Some(body), &[]).await.map_err(gone)?;
        }
        self.write(&begin).await?;
        self.write(&lines).await?;
        self.write(&end).await?;
        self.show().await
    }

    async fn remove(&self, source: &str) -> Result<bool, RetrievalError> {
        let Some(head) = self.head(source).await? else { return Ok(false) };
        let doubtful = Head { version: String::new(), content: String::new(), ..head.clone() };
        let each = (0..head.passages).map(|nth| entries::remove(&entries::nth_of(source, nth)));
        self.write(&[doubtful.lines().map_err(gone)?]).await?;
        self.write(&each.collect::<Vec<_>>()).await?;
        self.write(&[entries::remove(&entries::id(source))]).await?;
        self.show().await?;
        Ok(true)
    }

    async fn documents(&self) -> Result<Vec<StoredDocument>, RetrievalError> {
        let heads = self.all(json!({ "term": { "kind": "head" } })).await?;
        let mut documents: Vec<StoredDocument> =
            heads.iter().map(|it| Ok(head(it)?.listed())).collect::<Result<_, RetrievalError>>()?;
        documents.sort_by(|a, b| a.source.cmp(&b.source));
        Ok(documents)
    }

    async fn passages(
        &self,
        source: &str,
        ordinals: Range<usize>,
    ) -> Result<Vec<Passage>, RetrievalError> {
        let bound = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
        let query = json!({ "bool": { "filter": [
            { "term": { "kind": "passage" } },
            { "term": { "tags": entries::of_source(source) } },
            { "range": { "place": { "gte": bound(ordinals.start), "lt": bound(ordinals.end) } } },
        ] } });
        let found = self.all(query).await?;
        let mut passages: Vec<Passage> = found.iter().map(passage).collect::<Result<_, _>>()?;
        passages.sort_by_key(|passage| passage.ordinal);
        Ok(passages)
    }
}
