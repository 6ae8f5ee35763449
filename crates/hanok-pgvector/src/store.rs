//! A store in PostgreSQL.

use std::{fmt, ops::Range, sync::Arc};

use hanok_checkpoint::{Space, Vector};
use hanok_postgres::{Config, Connections, Rows, Statement, Value};

use crate::{ask, tables};
use hanok_retrieval::{
    BoxError, DocumentStore, Hit, Mode, Passage, Query, RetrievalError, Retriever, StoredDocument,
    Terms,
    backend::{self, Asked, Found, Weight, Whole, asked_by, by_source, matched},
};

/// A [`DocumentStore`] in PostgreSQL with the extension pgvector, shared by any number of processes.
///
/// By keywords the server computes the BM25 of every passage that has a term of the question, found by an index of the terms;
/// by vectors it looks into an HNSW index for each space, which may miss a near one. A change is one transaction, and
/// changes of one collection take turns. Calls need a tokio runtime that outlives the store.
///
/// ```no_run
/// use hanok_pgvector::PgvectorStore;
/// use hanok_postgres::Config;
/// use hanok_retrieval::Terms;
///
/// # async fn open() -> Result<(), hanok_retrieval::RetrievalError> {
/// let config = Config::new("postgresql://agents@db.example/agents?sslmode=require").schema("documents");
/// let store = PgvectorStore::connect(config, "handbook", Terms::default()).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PgvectorStore {
    connections: Connections,
    schema: Arc<str>,
    /// The schema of the extension.
    extension: Arc<str>,
    collection: Arc<str>,
    id: i64,
    terms: Terms,
    read_only: bool,
}

/// The most hits that a question is given, whatever it asks for. P40
const MOST_ROWS: usize = 10_000;

impl fmt::Debug for PgvectorStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("PgvectorStore");
        shown.field("schema", &self.schema).field("collection", &self.collection).finish()
    }
}

impl PgvectorStore {
    /// Connects to a database, and makes the schema, the tables and the extension where they are missing. Stores of several
    /// `collection`s, for tenants say, share the tables and see nothing of each other. A collection keeps to the terms that
    /// it was made with.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::Unavailable`] with what the server said, never with the URL; [`RetrievalError::Terms`] where the
    /// collection was made with others.
    pub async fn connect(
        config: impl Into<Config>,
        collection: &str,
        terms: Terms,
    ) -> Result<Self, RetrievalError> {
        let connections = Connections::new(config).map_err(gone)?;
        let schema = connections.schema();
        // Of several that come at once, one makes what is missing.
        let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 1))";
        let lock = || Statement::new(lock, [Value::Text("hanok passages".to_owned())]);
        if connections.extension("vector").await.map_err(gone)?.is_none() {
            let create = Statement::new("CREATE EXTENSION IF NOT EXISTS vector", []);
            connections.write(&[lock(), create]).await.map_err(gone)?;
        }
        let extension = extension(&connections).await?;
        let mut statements = vec![lock()];
        statements.push(Statement::new(format!("CREATE SCHEMA IF NOT EXISTS {schema}"), []));
        statements.extend(tables::make(&schema, &extension));
        statements.extend(tables::collection(&schema, collection, &terms));
        let rows = connections.write(&statements).await.map_err(gone)?;
        Self::found(connections, extension, (collection, &rows), terms, false)
    }

    /// Connects to read what is there: nothing is made and every change is refused, so the role needs no more than `USAGE` of
    /// the schema and `SELECT` on its tables. For tools that a model calls. P40
    ///
    /// Every question, here as in [`connect`](Self::connect), is one statement in a transaction that can only read, with
    /// parameters, a [time-out](Config::statement_timeout) and a limit of 10,000 rows.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::Unavailable`], also where there is no such collection; [`RetrievalError::Terms`] where it was made
    /// with others.
    pub async fn read_only(
        config: impl Into<Config>,
        collection: &str,
        terms: Terms,
    ) -> Result<Self, RetrievalError> {
        let connections = Connections::new(config).map_err(gone)?;
        let schema = connections.schema();
        let extension = extension(&connections).await?;
        let [_, find] = tables::collection(&schema, collection, &terms);
        let rows = connections.read(&[find]).await.map_err(gone)?;
        Self::found(connections, extension, (collection, &rows), terms, true)
    }

    /// The store of the collection that is in the last of `rows`, with its number and the terms that fill it.
    fn found(
        connections: Connections,
        extension: String,
        (collection, rows): (&str, &Rows),
        terms: Terms,
        read_only: bool,
    ) -> Result<Self, RetrievalError> {
        let row = rows.last().and_then(|rows| rows.first()).map(Vec::as_slice);
        let Some([id, Value::Text(stored)]) = row else {
            return Err(gone("there is no such collection"));
        };
        let id = int(id).ok_or("a collection has no number").map_err(gone)?;
        terms.fit(stored)?;
        let schema = connections.schema().into();
        let (extension, collection) = (extension.into(), collection.into());
        Ok(Self { connections, schema, extension, collection, id, terms, read_only })
    }

    /// Refuses a change of a store that was opened to be read.
    fn may_write(&self) -> Result<(), RetrievalError> {
        if self.read_only { Err(RetrievalError::ReadOnly) } else { Ok(()) }
    }

    /// The number of a space, which is made where it is new.
    async fn space(&self, space: &Space) -> Result<i64, RetrievalError> {
        let [insert, select] = tables::space(&self.schema, space);
        let find = || self.connections.read(std::slice::from_ref(&select));
        let number = |rows: Rows| int(rows.first()?.first()?.first()?);
        if let Some(id) = number(find().await.map_err(gone)?) {
            return Ok(id);
        }
        self.connections.write(&[insert]).await.map_err(gone)?;
        let id = number(find().await.map_err(gone)?).ok_or("a space has no number");
        let id = id.map_err(gone)?;
        if let Some(index) = tables::index(&self.schema, &self.extension, space, id) {
            self.connections.write(&[index]).await.map_err(gone)?;
        }
        Ok(id)
    }

    async fn by_keywords(
        &self,
        query: &Query,
        depth: usize,
    ) -> Result<Vec<Found<Whole<Passage>>>, RetrievalError> {
        let asked = asked_by(query, &self.terms);
        if asked.is_empty() || depth == 0 {
            return Ok(Vec::new());
        }
        let terms: Vec<i64> =
            asked.iter().map(|asked| tables::term(&self.collection, &asked.term)).collect();
        let statements = ask::statistics(&self.schema, self.id, &terms);
        let rows = self.connections.read(&statements).await.map_err(gone)?;
        let (all, found) = counted(&rows).ok_or("the server counted nothing").map_err(gone)?;
        let weights = backend::weights(&asked, &found, all.0 as usize);
        let mean = (all.1 as f64 / all.0.max(1) as f64).max(1.0);
        let known = found.iter().zip(terms).zip(weights).zip(asked).filter(|(it, _)| *it.0.0 > 0);
        let (numbers, asked): (Vec<(i64, Weight)>, Vec<Asked>) =
            known.map(|(((_, term), weight), asked)| ((term, weight), asked)).unzip();
        let (terms, weights): (Vec<i64>, Vec<Weight>) = numbers.into_iter().unzip();
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let among = (&*self.collection, query);
        let statement = ask::by_keywords(&self.schema, (&terms, &weights, mean), among, depth);
        let mut rows = self.connections.read(&[statement]).await.map_err(gone)?;
        let mut all = Vec::new();
        for (rank, row) in (1..).zip(rows.pop().unwrap_or_default()) {
            let [
                Value::Bytes(body),
                Value::Float(score),
                Value::Float(coverage),
                has,
                Value::Float(most),
            ] = &row[..]
            else {
                return Err(gone("a row of another shape"));
            };
            if (*most as f32).min(1.0) < query.lowest_coverage() {
                return Ok(Vec::new());
            }
            let has = |at: usize| matches!(has, Value::Ints(has) if has.contains(&(at as i64 + 1)));
            let had = asked.iter().enumerate().filter(|(at, _)| has(*at)).map(|(_, asked)| asked);
            let passage = Whole(backend::decode(body).map_err(gone)?);
            let found = Found::by(Mode::Keyword, rank, *score as f32, passage);
            let (coverage, matched) = ((*coverage as f32).min(1.0), matched(had));
            all.push(Found { coverage, matched, ..found });
        }
        Ok(all)
    }

    async fn by_vector(
        &self,
        query: &Query,
        depth: usize,
    ) -> Result<Vec<Found<Whole<Passage>>>, RetrievalError> {
        let asked = query.needed_vector()?;
        let (among, space) = ((&*self.collection, query), asked.space());
        let [_, select] = tables::space(&self.schema, &space);
        let spaces = ask::spaces(&self.schema, self.id, among);
        let mut rows = self.connections.read(&[select, spaces]).await.map_err(gone)?;
        let others = rows.pop().unwrap_or_default();
        let others: Vec<Space> = others.iter().filter_map(|row| space_of(row)).collect();
        let id = rows.pop().and_then(|rows| int(rows.first()?.first()?));
        let (Some(id), true) = (id, others.contains(&space)) else {
            return match others.into_iter().next() {
                Some(stored) => Err(RetrievalError::Space { stored, asked: space }),
                None => Ok(Vec::new()),
            };
        };
        let at = (&*self.schema, &*self.extension);
        let statements = ask::by_vector(at, (self.id, id), among, asked, depth);
        let mut rows = self.connections.read(&statements).await.map_err(gone)?;
        let mut all = Vec::new();
        for (rank, row) in (1..).zip(rows.pop().unwrap_or_default()) {
            let [Value::Bytes(body), Value::Float(similarity)] = &row[..] else {
                return Err(gone("a row of another shape"));
            };
            let similarity = (*similarity as f32).clamp(-1.0, 1.0);
            if similarity >= query.lowest_similarity() {
                let passage = Whole(backend::decode(body).map_err(gone)?);
                all.push(Found::by(Mode::Vector, rank, similarity, passage));
            }
        }
        Ok(all)
    }
}

/// How many passages and terms there are, and in how many passages each term is.
fn counted(rows: &[Vec<Vec<Value>>]) -> Option<((i64, i64), Vec<usize>)> {
    let [all, found] = rows else { return None };
    let [passages, terms] = all.first()?.as_slice() else { return None };
    let found = found.iter().map(|row| usize::try_from(int(row.first()?)?).ok());
    Some(((int(passages)?, int(terms)?), found.collect::<Option<_>>()?))
}

fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(value) => Some(*value),
        _ => None,
    }
}

fn space_of(row: &[Value]) -> Option<Space> {
    let [Value::Bytes(model), Value::Int(dimensions)] = row else { return None };
    let model = str::from_utf8(model).ok()?.into();
    Some(Space { dimensions: usize::try_from(*dimensions).ok()?, model })
}

/// The schema that has pgvector.
async fn extension(connections: &Connections) -> Result<String, RetrievalError> {
    let extension = connections.extension("vector").await.map_err(gone)?;
    extension.ok_or("the database has no extension `vector`").map_err(gone)
}

fn gone(source: impl Into<BoxError>) -> RetrievalError {
    RetrievalError::Unavailable(source.into())
}

impl Retriever for PgvectorStore {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        let (keyword, vector) = query.depths()?;
        let vector = match vector {
            Some(depth) => Some(self.by_vector(query, depth.min(MOST_ROWS)).await?),
            None => None,
        };
        let keyword = match keyword {
            Some(depth) => Some(self.by_keywords(query, depth.min(MOST_ROWS)).await?),
            None => None,
        };
        query.told((keyword, vector), |Whole(passage)| Ok(passage))
    }
}

impl DocumentStore for PgvectorStore {
    async fn upsert(&self, passages: Vec<Passage>) -> Result<(), RetrievalError> {
        self.may_write()?;
        if passages.is_empty() {
            return Ok(());
        }
        let mut spaces: Vec<(Space, i64)> = Vec::new();
        for passage in &passages {
            let space = passage.vector.as_ref().map(Vector::space);
            if let Some(space) = space
                && !spaces.iter().any(|(known, _)| *known == space)
            {
                let id = self.space(&space).await?;
                spaces.push((space, id));
            }
        }
        let mut statements = vec![tables::hold(&self.schema, self.id)];
        for passages in by_source(passages).into_values() {
            let (at, to) = ((&*self.schema, &*self.extension), (self.id, &*self.collection));
            statements.extend(tables::put(at, to, &spaces, &passages, &self.terms).map_err(gone)?);
        }
        statements.push(tables::count(&self.schema, self.id));
        self.connections.write(&statements).await.map_err(gone)?;
        Ok(())
    }

    async fn remove(&self, source: &str) -> Result<bool, RetrievalError> {
        self.may_write()?;
        let statements = [
            tables::hold(&self.schema, self.id),
            tables::remove(&self.schema, self.id, source),
            tables::count(&self.schema, self.id),
        ];
        let rows = self.connections.write(&statements).await.map_err(gone)?;
        Ok(rows.get(1).is_some_and(|rows| !rows.is_empty()))
    }

    async fn documents(&self) -> Result<Vec<StoredDocument>, RetrievalError> {
        let sql = format!(
            "SELECT source, head FROM {}.passage_documents WHERE collection = $1 ORDER BY source",
            self.schema
        );
        let statement = Statement::new(sql, [Value::Int(self.id)]);
        let rows = self.connections.read(&[statement]).await.map_err(gone)?;
        let document = |row: &Vec<Value>| match &row[..] {
            [Value::Bytes(source), Value::Bytes(head)] => {
                tables::listed(source, head).map_err(gone)
            }
            _ => Err(gone("a row of another shape")),
        };
        rows.iter().flatten().map(document).collect()
    }

    async fn passages(
        &self,
        source: &str,
        ordinals: Range<usize>,
    ) -> Result<Vec<Passage>, RetrievalError> {
        let sql = format!(
            "SELECT p.body FROM {s}.passages p JOIN {s}.passage_documents d ON d.id = p.document
             WHERE d.collection = $1 AND d.source = $2 AND p.ordinal >= $3 AND p.ordinal < $4
             ORDER BY p.nth",
            s = self.schema
        );
        let bound = |at: usize| Value::Int(i64::try_from(at).unwrap_or(i64::MAX));
        let (from, to) = (bound(ordinals.start), bound(ordinals.end));
        let statement = Statement::new(sql, [Value::Int(self.id), tables::bytes(source), from, to]);
        let rows = self.connections.read(&[statement]).await.map_err(gone)?;
        let passage = |row: &Vec<Value>| match row.first() {
            Some(Value::Bytes(body)) => backend::decode(body).map_err(gone),
            _ => Err(gone("a row of another shape")),
        };
        rows.iter().flatten().map(passage).collect()
    }
}
