//! How texts become vectors.

use std::path::Path;

use hanok_core::Call;
use hanok_model::SharedEmbedder;
use hanok_openai::OpenAiEmbedder;
use hanok_retrieval::{NgramEmbedder, SentenceEncoder};
use terminal::failure::Failure;

/// How like a question a passage has to be, by the embedder.
const BY_LETTERS: f32 = 0.25;
const BY_MEANING: f32 = 0.35;

/// An embedder, and the similarity below which a passage does not fit.
#[derive(Debug)]
pub(crate) struct Meaning {
    pub(crate) embedder: SharedEmbedder,
    pub(crate) least: f32,
}

impl Meaning {
    /// By the letters alone: without a model, and without a meaning.
    pub(crate) fn letters() -> Self {
        Self { embedder: SharedEmbedder::new(NgramEmbedder::default()), least: BY_LETTERS }
    }
}

/// The encoder in `folder`, else the embedding model that the environment names, else one of letters.
pub(crate) fn choose(folder: Option<&Path>) -> Result<Meaning, Failure> {
    if let Some(folder) = folder {
        let encoder = SentenceEncoder::open(folder);
        let encoder = encoder.map_err(|error| Failure::unreadable("인코더를", error))?;
        return Ok(Meaning { embedder: SharedEmbedder::new(encoder), least: BY_MEANING });
    }
    if std::env::var_os("OPENAI_EMBEDDING_MODEL").is_some_and(|name| !name.is_empty()) {
        let embedder = OpenAiEmbedder::from_env().map_err(Failure::Model)?;
        return Ok(Meaning { embedder: SharedEmbedder::new(embedder), least: BY_MEANING });
    }
    Ok(Meaning::letters())
}

/// The call that the contract is embedded in.
pub(crate) fn call() -> Call {
    Call::detached()
}
