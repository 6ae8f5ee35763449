//! How texts become vectors.

use std::path::Path;

use hanok_core::Call;
use hanok_model::SharedEmbedder;
use hanok_openai::OpenAiEmbedder;
use hanok_retrieval::{Hit, Mode, NgramEmbedder, SentenceEncoder};
use terminal::failure::Failure;

/// What a passage has to be like to be found by its vector.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    /// At least so like the question: vectors of letters are near zero where no letters are shared.
    Least(f32),
    /// At least so much of what the best one is like. How like texts of one meaning are differs between models, and is low for
    /// a short question and a long article.
    OfBest(f32),
}

const BY_LETTERS: Bound = Bound::Least(0.25);
const BY_MEANING: Bound = Bound::OfBest(0.6);

impl Bound {
    /// The similarity below which nothing is looked at.
    pub(crate) fn least(self) -> f32 {
        match self {
            Self::Least(least) => least,
            Self::OfBest(_) => 0.0,
        }
    }

    /// The hits that words found, or whose vectors are within the bound.
    pub(crate) fn within(self, hits: Vec<Hit>) -> Vec<Hit> {
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
#[derive(Debug)]
pub(crate) struct Meaning {
    pub(crate) embedder: SharedEmbedder,
    pub(crate) bound: Bound,
}

impl Meaning {
    /// By the letters alone: without a model, and without a meaning.
    pub(crate) fn letters() -> Self {
        Self { embedder: SharedEmbedder::new(NgramEmbedder::default()), bound: BY_LETTERS }
    }
}

/// The encoder in `folder`, else the embedding model that the environment names, else one of letters.
pub(crate) fn choose(folder: Option<&Path>) -> Result<Meaning, Failure> {
    if let Some(folder) = folder {
        let encoder = SentenceEncoder::open(folder);
        let encoder = encoder.map_err(|error| Failure::unreadable("인코더를", error))?;
        return Ok(Meaning { embedder: SharedEmbedder::new(encoder), bound: BY_MEANING });
    }
    if std::env::var_os("OPENAI_EMBEDDING_MODEL").is_some_and(|name| !name.is_empty()) {
        let embedder = OpenAiEmbedder::from_env().map_err(Failure::Model)?;
        return Ok(Meaning { embedder: SharedEmbedder::new(embedder), bound: BY_MEANING });
    }
    Ok(Meaning::letters())
}

/// The call that the contract is embedded in.
pub(crate) fn call() -> Call {
    Call::detached()
}
