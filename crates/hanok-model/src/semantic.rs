//! A store across threads that is searched by meaning.

use hanok_checkpoint::{
    Batch, Batched, FieldPath, Index, Namespaces, Page, Put, Search, SharedStore, Store,
    StoreError, Vector, Write,
};
use hanok_core::{BoxError, Call, Labels, Timestamp};
use thiserror::Error;

use crate::{Embedder, SharedEmbedder};

/// A [`Store`] that makes the vectors itself: of the texts that are put, and of the texts that are looked for.
///
/// - What is put gets a vector of each field that [`fields`](Semantic::fields) names and that has text; without names, one of
///   all texts in it. [`Index::Fields`] names the fields of this item, [`Index::Off`] leaves it without; vectors that a put
///   already has are kept as they are.
/// - A text that is looked for is looked for by its meaning too, weighed by [`Search::weight`]: with 1 by its meaning alone,
///   with 0 by its words alone and without asking the embedder.
/// - An embedder that fails fails the call with [`StoreError::Embedding`], and nothing is stored.
///
/// The vectors of a batch are made in one call of the embedder, before anything is stored. They carry the embedder's name:
/// after a change of the model, put the items anew.
#[derive(Debug, Clone)]
pub struct Semantic {
    store: SharedStore,
    embedder: SharedEmbedder,
    fields: Vec<FieldPath>,
    call: Call,
}

/// The number of vectors that there were for a number of texts.
#[derive(Debug, Error)]
#[error("the embedder gave {vectors} vectors for {texts} texts")]
struct Missing {
    vectors: usize,
    texts: usize,
}

impl Semantic {
    /// Has `embedder` make the vectors of what is put into `store` and looked for in it, within `call`.
    pub fn new(store: SharedStore, embedder: SharedEmbedder, call: Call) -> Self {
        Self { store, embedder, fields: Vec::new(), call }
    }

    /// Sets the fields of which a vector is made, one each. Default: one vector of all texts.
    #[must_use]
    pub fn fields(self, fields: impl IntoIterator<Item = FieldPath>) -> Self {
        Self { fields: fields.into_iter().collect(), ..self }
    }

    /// The same store within another call: another deadline, another budget.
    #[must_use]
    pub fn during(&self, call: Call) -> Self {
        Self { call, ..self.clone() }
    }

    /// The texts of which `put` gets a vector.
    fn texts(&self, put: &Put) -> Vec<String> {
        if !put.vectors.is_empty() {
            return Vec::new();
        }
        let whole = [FieldPath::default()];
        let fields = match &put.index {
            Index::Off => return Vec::new(),
            Index::Fields(fields) => fields,
            Index::All if self.fields.is_empty() => &whole[..],
            Index::All => &self.fields,
        };
        let texts = fields.iter().map(|field| field.texts(&put.value).join("\n"));
        texts.filter(|text| !text.trim().is_empty()).collect()
    }

    async fn vectors(&self, texts: &[String]) -> Result<Vec<Vector>, StoreError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let made = self.embedder.embed(texts, &self.call).await.map_err(failed)?;
        if made.len() != texts.len() {
            return Err(failed(Missing { vectors: made.len(), texts: texts.len() }));
        }
        let name = self.embedder.name();
        let vector = |numbers: &Vec<f32>| Ok(Vector::new(numbers).map_err(failed)?.made_by(name));
        made.iter().map(vector).collect()
    }
}

fn failed(error: impl Into<BoxError>) -> StoreError {
    StoreError::Embedding(error.into())
}

impl Store for Semantic {
    async fn batch(&self, mut batch: Batch, now: Timestamp) -> Result<Batched, StoreError> {
        let (mut texts, mut counts) = (Vec::new(), Vec::new());
        for write in &batch.writes {
            let of_write = match write {
                Write::Put(_, put) => self.texts(put),
                Write::Remove(..) => Vec::new(),
            };
            counts.push(of_write.len());
            texts.extend(of_write);
        }
        let mut vectors = self.vectors(&texts).await?.into_iter();
        for (write, count) in batch.writes.iter_mut().zip(counts) {
            if let Write::Put(_, put) = write {
                put.vectors.extend(vectors.by_ref().take(count));
            }
        }
        self.store.batch(batch, now).await
    }

    async fn search(&self, search: &Search, now: Timestamp) -> Result<Page, StoreError> {
        search.check()?;
        let mut search = search.clone();
        if let Some(text) = search.text.clone().filter(|text| !text.trim().is_empty())
            && search.vector.is_none()
            && search.weight > 0.0
        {
            search.vector = self.vectors(&[text]).await?.pop();
        }
        self.store.search(&search, now).await
    }

    async fn namespaces(
        &self,
        request: &Namespaces,
        now: Timestamp,
    ) -> Result<Vec<Labels>, StoreError> {
        self.store.namespaces(request, now).await
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<usize, StoreError> {
        self.store.sweep(now, limit).await
    }
}
