use std::ops::Range;

use hanok_checkpoint::Vector;
use hanok_core::{BoxError, Call};
use hanok_model::{Embedder, ModelError, SharedEmbedder};

use crate::{
    document::Passage,
    error::RetrievalError,
    query::Query,
    retriever::{Hit, Mode, Retriever},
    store::{DocumentStore, StoredDocument},
};

/// A [`DocumentStore`] that makes the vectors itself: of the passages that are put, and of the questions that are asked by
/// [`Mode::Vector`] or [`Mode::Hybrid`].
///
/// - Of a passage its headings and its text are embedded, those of one `upsert` in one call of the embedder and before
///   anything is put. A vector that is there already is kept.
/// - A document whose vectors another model made is told as of no version, so that [`sync`](crate::sync) puts it anew.
/// - An embedder that fails fails the call with [`RetrievalError::Embedding`]; nothing is put.
#[derive(Debug, Clone)]
pub struct Embedded<S> {
    store: S,
    embedder: SharedEmbedder,
    call: Call,
    passage: String,
    question: String,
}

impl<S: DocumentStore> Embedded<S> {
    /// Has `embedder` make the vectors for `store`, within `call`.
    #[must_use]
    pub fn new(store: S, embedder: SharedEmbedder, call: Call) -> Self {
        Self { store, embedder, call, passage: String::new(), question: String::new() }
    }

    /// What stands before every text that is embedded, where a model was trained so: `passage: ` and `query: ` for those of
    /// the kind E5. Default: nothing.
    #[must_use]
    pub fn prefixes(self, passage: impl Into<String>, question: impl Into<String>) -> Self {
        Self { passage: passage.into(), question: question.into(), ..self }
    }

    /// The same store within another call: another deadline, another budget.
    #[must_use]
    pub fn during(&self, call: Call) -> Self
    where
        S: Clone,
    {
        Self { call, ..self.clone() }
    }

    /// The vectors of `questions`, in their order: for [`Query::vector`], or to compare them.
    ///
    /// # Errors
    ///
    /// [`RetrievalError::Embedding`].
    pub async fn questions(&self, questions: &[&str]) -> Result<Vec<Vector>, RetrievalError> {
        let prefixed = questions.iter().map(|question| format!("{}{question}", self.question));
        self.vectors(&prefixed.collect::<Vec<_>>()).await
    }

    async fn vectors(&self, texts: &[String]) -> Result<Vec<Vector>, RetrievalError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let made =
            self.embedder.embed(texts, &self.call).await.map_err(RetrievalError::Embedding)?;
        if made.len() != texts.len() {
            let what = format!("{} vectors for {} texts", made.len(), texts.len());
            return Err(wrong(what, None));
        }
        let name = self.embedder.name();
        let vectors = made.iter().map(|numbers| Ok(Vector::new(numbers)?.made_by(name)));
        vectors
            .collect::<Result<_, BoxError>>()
            .map_err(|source| wrong("numbers that are no vector".to_owned(), Some(source)))
    }
}

/// What an embedder gave cannot be used.
fn wrong(what: String, source: Option<BoxError>) -> RetrievalError {
    RetrievalError::Embedding(ModelError::Protocol { what, source })
}

impl<S: DocumentStore> Retriever for Embedded<S> {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        query.check()?;
        if query.compared() == Mode::Keyword || query.meaning().is_some() {
            return self.store.search(query).await;
        }
        if query.text().trim().is_empty() {
            return Ok(Vec::new());
        }
        match self.questions(&[query.text()]).await?.pop() {
            Some(vector) => self.store.search(&query.clone().vector(vector)).await,
            None => Ok(Vec::new()),
        }
    }
}

impl<S: DocumentStore> DocumentStore for Embedded<S> {
    async fn upsert(&self, mut passages: Vec<Passage>) -> Result<(), RetrievalError> {
        let without = || passages.iter().filter(|passage| passage.vector.is_none());
        let text = |it: &Passage| format!("{}{}\n{}", self.passage, it.heading, it.text);
        let texts: Vec<String> = without().map(text).collect();
        let mut vectors = self.vectors(&texts).await?.into_iter();
        for passage in passages.iter_mut().filter(|passage| passage.vector.is_none()) {
            passage.vector = vectors.next();
        }
        self.store.upsert(passages).await
    }

    async fn remove(&self, source: &str) -> Result<bool, RetrievalError> {
        self.store.remove(source).await
    }

    async fn documents(&self) -> Result<Vec<StoredDocument>, RetrievalError> {
        let mut documents = self.store.documents().await?;
        for document in &mut documents {
            if document.model.as_deref() != Some(self.embedder.name()) {
                document.version.clear();
            }
        }
        Ok(documents)
    }

    async fn passages(
        &self,
        source: &str,
        ordinals: Range<usize>,
    ) -> Result<Vec<Passage>, RetrievalError> {
        self.store.passages(source, ordinals).await
    }
}
