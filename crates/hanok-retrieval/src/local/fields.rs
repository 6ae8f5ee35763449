//! What stands in an index for a passage and for a document.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tantivy::{
    Index, IndexBuilder, TantivyDocument, Term,
    schema::{
        BytesOptions, FAST, Field, IndexRecordOption, Schema, SchemaBuilder, TextFieldIndexing,
        TextOptions,
    },
};

use super::{stored::Storing, vectors::Kept};
use crate::{
    document::Passage,
    error::BoxError,
    kept,
    memory::searched,
    query::Query,
    store::StoredDocument,
    terms::{self, Terms},
};

/// The tag of every document's own entry.
const HEAD: &str = "head";

/// The tag of a passage with a vector.
const VECTOR: &str = "vector";

/// What an entry takes beside its terms, its body and its vector, about.
const BESIDE: usize = 512;

/// The fields of every index.
///
/// A passage has its terms, its tags, its key, its place, all of itself in `body` and its vector. Beside its passages, a
/// document has an entry of its own, its [`Head`], that has no terms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields {
    pub(super) terms: Field,
    tags: Field,
    key: Field,
    place: Field,
    body: Field,
    vector: Field,
}

/// What is known of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) source: String,
    pub(super) version: String,
    pub(super) model: Option<String>,
    /// How many terms its passages have together.
    pub(super) terms: u64,
    /// Those of its passages.
    pub(super) keys: Vec<u64>,
}

/// What stands in the index for a document.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) entries: Vec<TantivyDocument>,
    pub(super) head: Head,
    pub(super) vectors: Vec<(u64, Kept)>,
}

impl Head {
    /// The one of which `body` is the body of its entry.
    pub(super) fn read(body: &[u8]) -> Result<Self, BoxError> {
        Ok(rmp_serde::from_slice(body)?)
    }

    /// As the caller of a store knows it.
    pub(super) fn listed(&self) -> StoredDocument {
        StoredDocument {
            source: self.source.clone(),
            version: self.version.clone(),
            passages: self.keys.len(),
            model: self.model.clone(),
        }
    }
}

impl Fields {
    /// The fields, and the schema that has them.
    pub(super) fn new() -> (Self, Schema) {
        let mut schema = SchemaBuilder::new();
        let text = |tokenizer, record, lengths| {
            let indexing = TextFieldIndexing::default()
                .set_tokenizer(tokenizer)
                .set_index_option(record)
                .set_fieldnorms(lengths);
            TextOptions::default().set_indexing_options(indexing)
        };
        let fields = Self {
            terms: schema
                .add_text_field("terms", text("whitespace", IndexRecordOption::WithFreqs, true)),
            tags: schema.add_text_field("tags", text("raw", IndexRecordOption::Basic, false)),
            key: schema.add_u64_field(KEY, FAST),
            place: schema.add_u64_field(PLACE, FAST),
            body: schema.add_bytes_field("body", BytesOptions::default()),
            vector: schema.add_bytes_field("vector", BytesOptions::default()),
        };
        (fields, schema.build())
    }

    /// What stores the bodies.
    pub(super) fn bodies(self) -> Storing {
        Storing { field: self.body, name: "body" }
    }

    /// What stores the vectors.
    pub(super) fn vectors(self) -> Storing {
        Storing { field: self.vector, name: "vector" }
    }

    /// What stores anything.
    pub(super) fn storing(self) -> [Storing; 2] {
        [self.bodies(), self.vectors()]
    }

    /// A new index of these fields.
    pub(super) fn builder(self, schema: Schema) -> IndexBuilder {
        let builder = Index::builder().schema(schema);
        let with = |builder: IndexBuilder, storing| builder.register_plugin(Arc::new(storing));
        self.storing().into_iter().fold(builder, with)
    }

    /// The entries of a document of which `passages` are all, its head last.
    pub(super) fn entries(
        self,
        passages: &[Passage],
        terms: &Terms,
    ) -> Result<Option<Entries>, BoxError> {
        let Some(StoredDocument { source, version, model, .. }) = StoredDocument::of(passages)
        else {
            return Ok(None);
        };
        let (mut entries, mut vectors) = (Vec::with_capacity(passages.len() + 1), Vec::new());
        let tags = tags(&source);
        let mut head = Head { source, version, model, terms: 0, keys: Vec::new() };
        for passage in passages {
            let body = kept::pack(passage)?;
            let vector = passage.vector.as_ref().map(Kept::to_bytes).unwrap_or_default();
            let key = key(&body, &vector);
            let (written, count) = terms::written(&searched(passage), terms);
            head.terms += count as u64;
            head.keys.push(key);
            let size = written.len() + body.len() + vector.len();
            let mut entry = TantivyDocument::with_capacity(size + BESIDE);
            entry.add_text(self.terms, written);
            let values = passage.metadata.iter().map(|(key, value)| having(key, value));
            tags.iter().cloned().chain(values).for_each(|tag| entry.add_text(self.tags, tag));
            entry.add_u64(self.key, key);
            entry.add_u64(self.place, passage.ordinal as u64);
            entry.add_bytes(self.body, &body);
            if let Some(kept) = &passage.vector {
                entry.add_text(self.tags, VECTOR);
                entry.add_bytes(self.vector, &vector);
                vectors.push((key, kept.into()));
            }
            entries.push(entry);
        }
        let mut entry = TantivyDocument::default();
        entry.add_text(self.tags, HEAD);
        // A column without gaps is read faster.
        entry.add_u64(self.key, 0);
        entry.add_text(self.tags, of_source(&head.source));
        entry.add_bytes(self.body, &rmp_serde::to_vec(&head)?);
        entries.push(entry);
        Ok(Some(Entries { entries, head, vectors }))
    }

    /// What every entry of the document `source` has.
    pub(super) fn of(self, source: &str) -> Term {
        Term::from_field_text(self.tags, &of_source(source))
    }

    /// What every head has.
    pub(super) fn heads(self) -> Term {
        Term::from_field_text(self.tags, HEAD)
    }

    /// What every passage with a vector has.
    pub(super) fn with_vector(self) -> Term {
        Term::from_field_text(self.tags, VECTOR)
    }

    /// The term of the index that stands for `term`.
    pub(super) fn term(self, term: &terms::Term) -> Term {
        Term::from_field_text(self.terms, &term.written())
    }

    /// What a passage has to have for the filters of `query` to let it through.
    pub(super) fn filters(self, query: &Query) -> Vec<Term> {
        let folder = Some(query.folder()).filter(|folder| !folder.is_empty()).map(below);
        let values = query.metadata().iter().map(|(key, value)| having(key, value));
        folder.into_iter().chain(values).map(|tag| Term::from_field_text(self.tags, &tag)).collect()
    }
}

/// The name of the field by which equal scores are put in order.
pub(super) const KEY: &str = "key";

/// The name of the field that has the place of a passage in its document.
pub(super) const PLACE: &str = "place";

/// What a passage is called among all of the store: another one when anything of it is.
fn key(body: &[u8], vector: &[u8]) -> u64 {
    let hash = blake3::Hasher::new().update(body).update(vector).finalize();
    hash.as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// What every passage of the document `source` has.
fn tags(source: &str) -> Vec<String> {
    let folders = source.match_indices('/').filter_map(|(at, _)| source.get(..at)).map(below);
    [of_source(source), below(source)].into_iter().chain(folders).collect()
}

fn of_source(source: &str) -> String {
    hash('s', &[source])
}

fn below(folder: &str) -> String {
    hash('f', &[folder])
}

fn having(key: &str, value: &str) -> String {
    hash('m', &[key, value])
}

/// A tag has a hash in place of names, for names have no end.
fn hash(kind: char, parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(str::as_bytes(part));
    }
    let (mut tag, hash) = (String::from(kind), hasher.finalize().to_hex());
    tag.extend(hash.get(..32));
    tag
}
