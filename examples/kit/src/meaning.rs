//! Texts that are found by their vectors, beside their words.

use std::path::{Path, PathBuf};

use hanok_core::Call;
use hanok_documents::Library;
use hanok_model::SharedEmbedder;
use hanok_retrieval::{
    DocumentStore, Embedded, Fusion, Hit, Mode, NgramEmbedder, Query, RetrievalError, Retriever,
    SharedDocumentStore, SharedRetriever, Splitter, sync,
};

use crate::failure::Failure;

/// The options of a program that searches by meaning as well.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub struct MeaningOptions {
    /// A folder with the sentence encoder's files: passages are then found by meaning, too [default: the embedding model
    /// that OPENAI_EMBEDDING_MODEL names, if it does]
    #[arg(long, value_name = "FOLDER")]
    pub encoder: Option<PathBuf>,
}

impl MeaningOptions {
    /// The encoder in the folder, else the embedding model that the environment names, if it does.
    ///
    /// # Errors
    ///
    /// [`Failure::Unreadable`] when the folder has no encoder, [`Failure::Model`] when the server cannot be used.
    pub fn open(&self) -> Result<Option<Meaning>, Failure> {
        if let Some(folder) = &self.encoder {
            return encoder(folder).map(|encoder| Some(Meaning::of(encoder)));
        }
        Ok(embedder()?.map(Meaning::of))
    }
}

/// The sentence encoder whose files are in `folder`.
#[cfg(feature = "encoder")]
fn encoder(folder: &Path) -> Result<SharedEmbedder, Failure> {
    let encoder = hanok_encoder::SentenceEncoder::open(folder);
    Ok(SharedEmbedder::new(encoder.map_err(|error| Failure::unreadable("인코더를", error))?))
}

#[cfg(not(feature = "encoder"))]
fn encoder(_: &Path) -> Result<SharedEmbedder, Failure> {
    Err(Failure::not_built("--encoder", "encoder"))
}

/// The embedding model that the environment names, if it does.
///
/// # Errors
///
/// [`Failure::Model`] when the server cannot be used, [`Failure::Usage`] when this build has no HTTP.
pub fn embedder() -> Result<Option<SharedEmbedder>, Failure> {
    let named = std::env::var_os("OPENAI_EMBEDDING_MODEL").filter(|name| !name.is_empty());
    named.map(|_| of_server()).transpose()
}

#[cfg(feature = "server")]
fn of_server() -> Result<SharedEmbedder, Failure> {
    Ok(SharedEmbedder::new(hanok_openai::OpenAiEmbedder::from_env().map_err(Failure::Model)?))
}

#[cfg(not(feature = "server"))]
fn of_server() -> Result<SharedEmbedder, Failure> {
    Err(Failure::not_built("OPENAI_EMBEDDING_MODEL", "server"))
}

/// What a passage has to be like to be found by its vector.
#[derive(Debug, Clone, Copy)]
enum Bound {
    /// At least so like the question: vectors of letters are near zero where no letters are shared.
    Least(f32),
    /// At least so much of what the best one is like. How like texts of one meaning are differs between models, and is low for
    /// a short question and a long passage.
    OfBest(f32),
}

const BY_LETTERS: Bound = Bound::Least(0.25);
const BY_MEANING: Bound = Bound::OfBest(0.6);

impl Bound {
    /// The similarity below which nothing is looked at.
    fn least(self) -> f32 {
        match self {
            Self::Least(least) => least,
            Self::OfBest(_) => 0.0,
        }
    }

    /// How ranks are joined. Words, with what texts say instead of them, find more of what people ask than a small encoder: its best
    /// stands behind theirs, and before what they have only some of.
    fn fusion(self) -> Fusion {
        match self {
            Self::Least(_) => Fusion::new(),
            Self::OfBest(_) => Fusion::new().k(5.0).weights(1.5, 1.0),
        }
    }

    /// The hits that words found, or whose vectors are within the bound.
    fn within(self, hits: Vec<Hit>) -> Vec<Hit> {
        let Self::OfBest(share) = self else { return hits };
        let best = hits.iter().filter_map(similarity).fold(0.0, f32::max);
        let by_words = |hit: &Hit| hit.parts.iter().any(|part| part.by == Mode::Keyword);
        let near = |hit: &Hit| similarity(hit).is_some_and(|it| it >= best * share);
        hits.into_iter().filter(|hit| by_words(hit) || near(hit)).collect()
    }
}

/// How like the question the vector of a hit is, where vectors found it.
fn similarity(hit: &Hit) -> Option<f32> {
    let part = hit.parts.iter().find(|part| part.by == Mode::Vector);
    part.map(|part| part.score)
}

/// An embedder, and what its vectors have to be like.
#[derive(Debug, Clone)]
pub struct Meaning {
    embedder: SharedEmbedder,
    bound: Bound,
}

impl Meaning {
    /// By what `embedder` takes texts to mean.
    #[must_use]
    pub fn of(embedder: SharedEmbedder) -> Self {
        Self { embedder, bound: BY_MEANING }
    }

    /// By the letters alone: without a model, and without a meaning.
    #[must_use]
    pub fn letters() -> Self {
        Self { embedder: SharedEmbedder::new(NgramEmbedder::default()), bound: BY_LETTERS }
    }

    /// A retriever of the passages in `store`, which finds them so.
    #[must_use]
    pub fn retriever(self, store: SharedDocumentStore) -> ByMeaning {
        let Self { embedder, bound } = self;
        ByMeaning { store: Embedded::new(store, embedder, Call::detached()), bound }
    }
}

/// Passages that are found by their words and by their vectors; both lists are joined by the ranks.
#[derive(Debug, Clone)]
pub struct ByMeaning {
    store: Embedded<SharedDocumentStore>,
    bound: Bound,
}

impl ByMeaning {
    /// Where passages are put.
    #[must_use]
    pub fn store(&self) -> &impl DocumentStore {
        &self.store
    }

    /// The same within another call.
    #[must_use]
    pub fn during(&self, call: Call) -> Self {
        Self { store: self.store.during(call), bound: self.bound }
    }
}

impl Retriever for ByMeaning {
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, RetrievalError> {
        let query = query.clone().mode(Mode::Hybrid).min_similarity(self.bound.least());
        let query = query.fusion(self.bound.fusion());
        Ok(self.bound.within(self.store.search(&query).await?))
    }
}

/// The documents of `library`, put into `store` and found by their words and, with a `meaning`, by that too.
///
/// # Errors
///
/// [`Failure::Unreadable`] when the store or the embedder fails.
pub async fn searched(
    library: &Library,
    store: SharedDocumentStore,
    meaning: Option<Meaning>,
) -> Result<SharedRetriever, Failure> {
    let splitter = Splitter::new();
    let Some(meaning) = meaning else {
        let synced = sync(&store, &splitter, library.documents()).await;
        synced.map_err(|error| Failure::unreadable("문서를", error))?;
        return Ok(SharedRetriever::new(store));
    };
    let found = meaning.retriever(store);
    let synced = sync(found.store(), &splitter, library.documents()).await;
    synced.map_err(|error| Failure::unreadable("문서를", error))?;
    Ok(SharedRetriever::new(found))
}

#[cfg(test)]
mod tests {
    use hanok_retrieval::{Document, MemoryStore};

    use super::*;

    const LEASE: &str = "# 임대차계약서\n\n## 반려동물\n\n애완동물은 임대인이 허락하면 기를 수 있다.\n\n## 차임\n\n차임은 매월 말일에 낸다.\n\n\
        ## 수선\n\n보일러와 배관은 임대인이 고친다.\n\n## 해지\n\n임차인은 언제나 해지할 수 있다.\n\n## 함께 사는 사람\n\n같이 사는 사람을 미리 알린다.\n";

    /// Where all vectors are less alike than a fixed bound, the best of them are found all the same, and not the others.
    #[tokio::test]
    async fn a_bound_of_the_best_keeps_the_best() {
        let by_letters =
            Meaning::letters().retriever(SharedDocumentStore::new(MemoryStore::default()));
        let documents = [Document::new("lease.md", LEASE)];
        sync(by_letters.store(), &Splitter::new(), &documents).await.unwrap();
        let query = Query::new("애완견이랑 같이 살려고요").mode(Mode::Vector).limit(20);
        let hits = by_letters.store.search(&query).await.unwrap();
        let best = hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
        assert!(best > 0.0 && best < 0.35, "{best}");
        let all = hits.len();
        let near = Bound::OfBest(0.6).within(hits);
        assert!(!near.is_empty() && near.len() < all, "{} of {all}", near.len());
        assert!(near.iter().all(|hit| hit.score >= best * 0.6));
    }
}
