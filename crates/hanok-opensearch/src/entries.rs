//! What stands in an index for a passage and for a document.

use hanok_checkpoint::Space;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use hanok_retrieval::{
    BoxError, Passage, Query, StoredDocument, Terms,
    backend::{self, searched},
};

/// What is known of a document: an entry of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) source: String,
    /// Empty while the document is being put.
    pub(super) version: String,
    pub(super) passages: usize,
    pub(super) model: Option<String>,
    /// A hash of all that is kept of it.
    pub(super) content: String,
}

impl Head {
    pub(super) fn listed(self) -> StoredDocument {
        let Self { source, version, passages, model, .. } = self;
        let mut document = StoredDocument::new(source, version, passages);
        document.model = model;
        document
    }

    /// The lines that put this head.
    pub(super) fn lines(&self) -> Result<String, BoxError> {
        let id = id(&self.source);
        let entry = json!({
            "kind": "head",
            "key": &id,
            "tags": [of_source(&self.source)],
            "body": serde_json::to_value(self)?,
        });
        Ok(put(&id, &entry))
    }
}

/// The index: one part, which shows what was written when it is told to, and not before. It says which terms fill it.
pub(super) fn mapping(terms: &Terms) -> Value {
    json!({
        "settings": {
            "index": {
                "number_of_shards": 1,
                "refresh_interval": "-1",
                "knn": true,
                "max_result_window": 10_000,
            },
        },
        "mappings": {
            "_meta": { "terms": terms.named() },
            "dynamic": "strict",
            "properties": {
                "kind": { "type": "keyword" },
                "key": { "type": "keyword" },
                "tags": { "type": "keyword" },
                "terms": { "type": "text", "analyzer": "whitespace", "index_options": "freqs" },
                "place": { "type": "long" },
                "space": { "type": "keyword" },
                "body": { "type": "object", "enabled": false },
            },
        },
    })
}

/// The field that has the vectors of `space`.
pub(super) fn vectors(space: &Space) -> (String, Value) {
    let name = format!("vector_{}", short(&[&named(space)]));
    let method = json!({ "name": "hnsw", "engine": "lucene", "space_type": "cosinesimil" });
    let field = json!({ "type": "knn_vector", "dimension": space.dimensions, "method": method });
    (name, field)
}

/// A space, as an entry names it.
pub(super) fn named(space: &Space) -> String {
    format!("{} {}", space.dimensions, space.model)
}

/// The space of that name.
pub(super) fn space(named: &str) -> Option<Space> {
    let (dimensions, model) = named.split_once(' ')?;
    Some(Space { dimensions: dimensions.parse().ok()?, model: model.into() })
}

/// The head of the document of which `passages` are all, and the lines that put each passage.
pub(super) fn document(
    passages: &[Passage],
    terms: &Terms,
) -> Result<Option<(Head, Vec<String>)>, BoxError> {
    let Some(StoredDocument { source, version, passages: count, model, .. }) =
        StoredDocument::of(passages)
    else {
        return Ok(None);
    };
    let mut content = blake3::Hasher::new();
    let mut lines = Vec::with_capacity(count);
    for (nth, passage) in passages.iter().enumerate() {
        let body = backend::encode(passage)?;
        let id = nth_of(&source, nth);
        let mut entry = json!({
            "kind": "passage",
            "key": &id,
            "tags": tags(passage),
            "terms": backend::written(&searched(passage), terms).0,
            "place": passage.ordinal,
            "body": serde_json::from_slice::<Value>(&body)?,
        });
        content.update(&(body.len() as u64).to_le_bytes()).update(&body);
        if let (Some(vector), Some(entry)) = (&passage.vector, entry.as_object_mut()) {
            let space = vector.space();
            content.update(named(&space).as_bytes()).update(&vector.to_bytes());
            entry.insert("space".into(), named(&space).into());
            entry.insert(vectors(&space).0, vector.numbers().into());
        }
        lines.push(put(&id, &entry));
    }
    let content = content.finalize().to_hex().to_string();
    Ok(Some((Head { source, version, passages: count, model, content }, lines)))
}

fn put(id: &str, entry: &Value) -> String {
    format!("{}\n{entry}\n", json!({ "index": { "_id": id } }))
}

/// The line that removes the entry `id`.
pub(super) fn remove(id: &str) -> String {
    format!("{}\n", json!({ "delete": { "_id": id } }))
}

/// The id of a document's head.
pub(super) fn id(source: &str) -> String {
    short(&["source", source])
}

/// The id of a document's `nth` passage.
pub(super) fn nth_of(source: &str, nth: usize) -> String {
    format!("{}-{nth:08}", id(source))
}

/// What a passage has to have for the filters of `query` to let it through.
pub(super) fn filters(query: &Query) -> Vec<Value> {
    let folder = Some(query.folder()).filter(|folder| !folder.is_empty()).map(below);
    let values = query.metadata().iter().map(|(key, value)| having(key, value));
    let tags = folder.into_iter().chain(values).map(|tag| json!({ "term": { "tags": tag } }));
    tags.chain([json!({ "term": { "kind": "passage" } })]).collect()
}

fn tags(passage: &Passage) -> Vec<String> {
    let source = &passage.source;
    let folders = source.match_indices('/').filter_map(|(at, _)| source.get(..at)).map(below);
    let values = passage.metadata.iter().map(|(key, value)| having(key, value));
    [of_source(source), below(source)].into_iter().chain(folders).chain(values).collect()
}

/// The tag of all of a document.
pub(super) fn of_source(source: &str) -> String {
    short(&["source", source])
}

fn below(folder: &str) -> String {
    short(&["folder", folder])
}

fn having(key: &str, value: &str) -> String {
    short(&["value", key, value])
}

/// A hash in place of names, for names have no end and may hold any sign.
fn short(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(32).collect()
}
