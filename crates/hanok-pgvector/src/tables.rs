//! The tables, and what is written to them.

use std::collections::BTreeMap;

use hanok_checkpoint::{Space, Vector};
use hanok_postgres::{Statement, Value};
use serde::{Deserialize, Serialize};

use hanok_retrieval::{
    BoxError, Passage, Query, StoredDocument, Terms,
    backend::{self, searched},
};

/// The longest vector that an index of pgvector has. Longer ones are compared one by one.
const INDEXED: usize = 2_000;

/// The statements that make the tables in the schema `s`, with vectors of the extension in the schema `v`.
///
/// Passages are found by numbers that stand for their terms and their tags: hashes, which hold the collection's name, too.
pub(super) fn make(s: &str, v: &str) -> Vec<Statement> {
    let tables = format!(
        "CREATE TABLE IF NOT EXISTS {s}.passage_collections (
             id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
             name bytea NOT NULL UNIQUE,
             filled_by text NOT NULL,
             passages bigint NOT NULL DEFAULT 0,
             terms bigint NOT NULL DEFAULT 0
         );
         CREATE TABLE IF NOT EXISTS {s}.passage_spaces (
             id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
             model bytea NOT NULL,
             dimensions bigint NOT NULL,
             UNIQUE (model, dimensions)
         );
         CREATE TABLE IF NOT EXISTS {s}.passage_documents (
             id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
             collection bigint NOT NULL REFERENCES {s}.passage_collections,
             source bytea NOT NULL,
             head bytea NOT NULL,
             passages bigint NOT NULL,
             terms bigint NOT NULL,
             UNIQUE (collection, source)
         );
         CREATE TABLE IF NOT EXISTS {s}.passages (
             document bigint NOT NULL REFERENCES {s}.passage_documents ON DELETE CASCADE,
             nth bigint NOT NULL,
             collection bigint NOT NULL,
             ordinal bigint NOT NULL,
             key bigint NOT NULL,
             length bigint NOT NULL,
             terms bigint[] NOT NULL,
             counts bigint[] NOT NULL,
             tags bigint[] NOT NULL,
             body bytea NOT NULL,
             space bigint,
             vector {v}.vector,
             PRIMARY KEY (document, nth)
         );
         CREATE INDEX IF NOT EXISTS passages_terms ON {s}.passages USING gin (terms);
         CREATE INDEX IF NOT EXISTS passages_tags ON {s}.passages USING gin (tags)"
    );
    tables.split(';').map(|sql| Statement::new(sql.trim(), [])).collect()
}

/// The statements that make room for a collection which these terms fill, and find it with those that do.
pub(super) fn collection(s: &str, name: &str, terms: &Terms) -> [Statement; 2] {
    let insert = format!(
        "INSERT INTO {s}.passage_collections (name, filled_by) VALUES ($1, $2)
         ON CONFLICT (name) DO NOTHING"
    );
    let select = format!("SELECT id, filled_by FROM {s}.passage_collections WHERE name = $1");
    let terms = Value::Text(terms.named());
    [Statement::new(insert, [bytes(name), terms]), Statement::new(select, [bytes(name)])]
}

/// The statements that make room for vectors of `space`.
pub(super) fn space(s: &str, space: &Space) -> [Statement; 2] {
    let values = || [bytes(&space.model), Value::Int(space.dimensions as i64)];
    let insert = format!(
        "INSERT INTO {s}.passage_spaces (model, dimensions) VALUES ($1, $2)
         ON CONFLICT (model, dimensions) DO NOTHING"
    );
    let select = format!("SELECT id FROM {s}.passage_spaces WHERE model = $1 AND dimensions = $2");
    [insert, select].map(|sql| Statement::new(sql, values()))
}

/// The statement that makes the index of the vectors of the space `id`, where there can be one.
pub(super) fn index(s: &str, v: &str, space: &Space, id: i64) -> Option<Statement> {
    let size = space.dimensions;
    let sql = format!(
        "CREATE INDEX IF NOT EXISTS passages_space_{id} ON {s}.passages
         USING hnsw ((vector::{v}.vector({size})) {v}.vector_cosine_ops) WHERE space = {id}"
    );
    (size <= INDEXED).then(|| Statement::new(sql, []))
}

/// What is known of a document.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    version: String,
    passages: usize,
    model: Option<String>,
}

/// The statements that put a document of which `passages` are all; of a collection, and with vectors of these spaces.
pub(super) fn put(
    (s, v): (&str, &str),
    (id, name): (i64, &str),
    spaces: &[(Space, i64)],
    passages: &[Passage],
    terms: &Terms,
) -> Result<Vec<Statement>, BoxError> {
    let Some(document) = StoredDocument::of(passages) else { return Ok(Vec::new()) };
    let (mut rows, mut all) = (Vec::with_capacity(passages.len()), 0);
    for (nth, passage) in (0..).zip(passages) {
        let (written, count) = backend::written(&searched(passage), terms);
        all += count as i64;
        let mut counts: BTreeMap<i64, i64> = BTreeMap::new();
        for term in written.split_whitespace() {
            *counts.entry(number(name, 't', &[term])).or_default() += 1;
        }
        let body = backend::encode(passage)?;
        let space = passage.vector.as_ref().map(Vector::space);
        let space = spaces.iter().find(|(known, _)| Some(known) == space.as_ref());
        let (space, vector) = match (space, &passage.vector) {
            (Some((_, space)), Some(vector)) => (Value::Int(*space), Value::Text(text(vector))),
            _ => (Value::Null, Value::Text(String::new())),
        };
        let insert = format!(
            "INSERT INTO {s}.passages
             (document, nth, collection, ordinal, key, length, terms, counts, tags, body, space, vector)
             SELECT id, $3, $1, $4, $5, $6, $7, $8, $9, $10, $11, nullif($12, '')::{v}.vector
             FROM {s}.passage_documents WHERE collection = $1 AND source = $2"
        );
        rows.push(Statement::new(
            insert,
            [
                Value::Int(id),
                bytes(&document.source),
                Value::Int(nth),
                Value::Int(i64::try_from(passage.ordinal)?),
                Value::Int(first(&blake3::hash(&body))),
                Value::Int(count as i64),
                Value::Ints(counts.keys().copied().collect()),
                Value::Ints(counts.values().copied().collect()),
                Value::Ints(tags(name, passage)),
                Value::Bytes(body),
                space,
                vector,
            ],
        ));
    }
    let head =
        Head { version: document.version, passages: document.passages, model: document.model };
    let put = format!(
        "INSERT INTO {s}.passage_documents (collection, source, head, passages, terms)
         VALUES ($1, $2, $3, $4, $5)"
    );
    let values = [
        Value::Int(id),
        bytes(&document.source),
        Value::Bytes(serde_json::to_vec(&head)?),
        Value::Int(passages.len() as i64),
        Value::Int(all),
    ];
    let mut statements = vec![remove(s, id, &document.source), Statement::new(put, values)];
    statements.append(&mut rows);
    Ok(statements)
}

/// The statement that removes a document, and says whether it was there.
pub(super) fn remove(s: &str, id: i64, source: &str) -> Statement {
    let sql = format!(
        "DELETE FROM {s}.passage_documents WHERE collection = $1 AND source = $2 RETURNING id"
    );
    Statement::new(sql, [Value::Int(id), bytes(source)])
}

/// The statement after which nobody else changes the collection until the transaction ends.
pub(super) fn hold(s: &str, id: i64) -> Statement {
    let sql = format!("SELECT id FROM {s}.passage_collections WHERE id = $1 FOR UPDATE");
    Statement::new(sql, [Value::Int(id)])
}

/// The statement that counts what the collection has.
pub(super) fn count(s: &str, id: i64) -> Statement {
    let sql = format!(
        "UPDATE {s}.passage_collections c SET passages = d.passages, terms = d.terms
         FROM (SELECT coalesce(sum(passages), 0)::bigint passages, coalesce(sum(terms), 0)::bigint terms
               FROM {s}.passage_documents WHERE collection = $1) d WHERE c.id = $1"
    );
    Statement::new(sql, [Value::Int(id)])
}

/// The document `source` whose head was read.
pub(super) fn listed(source: &[u8], head: &[u8]) -> Result<StoredDocument, BoxError> {
    let Head { version, passages, model } = serde_json::from_slice(head)?;
    let source = str::from_utf8(source)?.to_owned();
    let mut document = StoredDocument::new(source, version, passages);
    document.model = model;
    Ok(document)
}

/// A text that may hold any letter.
pub(super) fn bytes(text: &str) -> Value {
    Value::Bytes(text.as_bytes().to_vec())
}

/// A vector as pgvector reads it.
pub(super) fn text(vector: &Vector) -> String {
    let numbers: Vec<String> = vector.numbers().iter().map(f32::to_string).collect();
    format!("[{}]", numbers.join(","))
}

/// The number that stands for a term, in the collection `name`.
pub(super) fn term(name: &str, term: &backend::Term) -> i64 {
    number(name, 't', &[&term.written()])
}

/// What a passage has to have for the filters of `query` to let it through.
pub(super) fn filters(name: &str, query: &Query) -> Vec<i64> {
    let folder = Some(query.folder()).filter(|folder| !folder.is_empty());
    let folder = folder.map(|folder| number(name, 'f', &[folder]));
    let values = query.metadata().iter().map(|(key, value)| number(name, 'm', &[key, value]));
    folder.into_iter().chain(values).collect()
}

fn tags(name: &str, passage: &Passage) -> Vec<i64> {
    let source = &passage.source;
    let folders = source.match_indices('/').filter_map(|(at, _)| source.get(..at));
    let folders = folders.chain([source.as_str()]).map(|folder| number(name, 'f', &[folder]));
    let values = passage.metadata.iter().map(|(key, value)| number(name, 'm', &[key, value]));
    folders.chain(values).collect()
}

fn number(name: &str, kind: char, parts: &[&str]) -> i64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[kind as u8]);
    for part in [name].iter().chain(parts) {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    first(&hasher.finalize())
}

fn first(hash: &blake3::Hash) -> i64 {
    hash.as_bytes().first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes))
}
