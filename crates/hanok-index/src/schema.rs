//! The fields of a passage's entry.

use hanok_checkpoint::Vector;
use hanok_retrieval::{
    BoxError, Passage, Query, StoredDocument, Terms,
    backend::{self, searched, written},
};
use serde::{Deserialize, Serialize};
use tantivy::{
    TantivyDocument, Term,
    schema::{
        Field, IndexRecordOption, STORED, Schema, SchemaBuilder, TextFieldIndexing, TextOptions,
        Value,
    },
};

/// The tag of a document's first passage, whose entry describes the document.
const HEAD: &str = "head";

/// The fields of every index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    /// The terms of the passage.
    terms: Field,
    /// Hashes of what filters ask for: its source, the folders above it, its metadata.
    tags: Field,
    /// The passage without its vector.
    body: Field,
    /// The vector, with its model.
    vector: Field,
    /// The [`Head`] of the document, in the entry of its first passage.
    head: Field,
}

/// A document, as it is listed.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    source: String,
    version: String,
    passages: usize,
    model: Option<String>,
}

impl Fields {
    /// The fields, and the schema that has them.
    pub(crate) fn new() -> (Self, Schema) {
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
            body: schema.add_bytes_field("body", STORED),
            vector: schema.add_bytes_field("vector", STORED),
            head: schema.add_bytes_field("head", STORED),
        };
        (fields, schema.build())
    }

    /// The entries of a document of which `passages` are all, in their order.
    pub(crate) fn entries(
        self,
        passages: &[Passage],
        terms: &Terms,
    ) -> Result<Vec<TantivyDocument>, BoxError> {
        let mut entries = Vec::with_capacity(passages.len());
        for passage in passages {
            let mut entry = TantivyDocument::default();
            entry.add_text(self.terms, written(&searched(passage), terms).0);
            let values = passage.metadata.iter().map(|(key, value)| having(key, value));
            for tag in tags(&passage.source).into_iter().chain(values) {
                entry.add_text(self.tags, tag);
            }
            entry.add_bytes(self.body, &backend::encode(passage)?);
            if let Some(vector) = &passage.vector {
                entry.add_bytes(self.vector, &vector_bytes(vector));
            }
            entries.push(entry);
        }
        if let (Some(first), Some(StoredDocument { source, version, passages, model, .. })) =
            (entries.first_mut(), StoredDocument::of(passages))
        {
            first.add_text(self.tags, HEAD);
            let head = Head { source, version, passages, model };
            first.add_bytes(self.head, &serde_json::to_vec(&head)?);
        }
        Ok(entries)
    }

    /// The passage of an entry, without its vector.
    pub(crate) fn passage(self, entry: &TantivyDocument) -> Result<Passage, BoxError> {
        backend::decode(self.bytes(entry, self.body))
    }

    /// The vector of an entry, if it has one.
    pub(crate) fn vector(self, entry: &TantivyDocument) -> Result<Option<Vector>, BoxError> {
        match self.bytes(entry, self.vector) {
            [] => Ok(None),
            bytes => vector_of(bytes).map(Some),
        }
    }

    /// The document that an entry describes.
    pub(crate) fn document(self, entry: &TantivyDocument) -> Result<StoredDocument, BoxError> {
        let head: Head = serde_json::from_slice(self.bytes(entry, self.head))?;
        let mut document = StoredDocument::new(head.source, head.version, head.passages);
        document.model = head.model;
        Ok(document)
    }

    /// What two entries of the same passage have in common: all that is stored.
    pub(crate) fn stored(self, entry: &TantivyDocument) -> [&[u8]; 3] {
        [self.body, self.vector, self.head].map(|field| self.bytes(entry, field))
    }

    fn bytes(self, entry: &TantivyDocument, field: Field) -> &[u8] {
        entry.get_first(field).and_then(|value| value.as_bytes()).unwrap_or_default()
    }

    /// What every passage of the document `source` has.
    pub(crate) fn source(self, source: &str) -> Term {
        Term::from_field_text(self.tags, &hash('s', &[source]))
    }

    /// What the first passage of every document has.
    pub(crate) fn heads(self) -> Term {
        Term::from_field_text(self.tags, HEAD)
    }

    /// The term of the index that stands for `term`.
    pub(crate) fn term(self, term: &backend::Term) -> Term {
        Term::from_field_text(self.terms, &term.written())
    }

    /// What a passage has to have for the filters of `query` to let it through.
    pub(crate) fn filters(self, query: &Query) -> Vec<Term> {
        let folder = Some(query.folder()).filter(|folder| !folder.is_empty()).map(below);
        let values = query.metadata().iter().map(|(key, value)| having(key, value));
        folder.into_iter().chain(values).map(|tag| Term::from_field_text(self.tags, &tag)).collect()
    }
}

/// The tags of every passage of the document `source`.
fn tags(source: &str) -> Vec<String> {
    let folders = source.match_indices('/').filter_map(|(at, _)| source.get(..at)).map(below);
    [hash('s', &[source]), below(source)].into_iter().chain(folders).collect()
}

fn below(folder: &str) -> String {
    hash('f', &[folder])
}

fn having(key: &str, value: &str) -> String {
    hash('m', &[key, value])
}

/// A tag has a hash in place of names, which may be of any length.
fn hash(kind: char, parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(str::as_bytes(part));
    }
    let (mut tag, hash) = (String::from(kind), hasher.finalize().to_hex());
    tag.extend(hash.get(..32));
    tag
}

/// A vector as bytes: the length of its model's name, the name, the numbers.
fn vector_bytes(vector: &Vector) -> Vec<u8> {
    let model = vector.space().model;
    [&(model.len() as u64).to_le_bytes(), model.as_bytes(), &vector.to_bytes()].concat()
}

fn vector_of(bytes: &[u8]) -> Result<Vector, BoxError> {
    let parts = || {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (model, rest) = rest.split_at_checked(length)?;
        let (numbers, []) = rest.as_chunks() else { return None };
        let numbers: Vec<f32> = numbers.iter().copied().map(f32::from_le_bytes).collect();
        Some((str::from_utf8(model).ok()?, numbers))
    };
    let (model, numbers) = parts().ok_or("a vector cannot be read")?;
    Ok(Vector::new(&numbers)?.made_by(model))
}
