//! The embedders at hand, and vectors by them.

use std::path::Path;

use hanok_checkpoint::Vector;
use hanok_core::Call;
use hanok_encoder::SentenceEncoder;
use hanok_model::{Embedder, SharedEmbedder};
use hanok_openai::OpenAiEmbedder;
use hanok_retrieval::NgramEmbedder;

use crate::Result;

/// Those that need nothing, the one in the folder `encoder`, and the one that the environment names.
pub(crate) fn all(encoder: Option<&Path>) -> Result<Vec<SharedEmbedder>> {
    let mut all =
        [NgramEmbedder::default(), NgramEmbedder::new(512)].map(SharedEmbedder::new).to_vec();
    if let Some(folder) = encoder {
        all.push(SharedEmbedder::new(SentenceEncoder::open(folder)?));
    }
    if std::env::var_os("OPENAI_EMBEDDING_MODEL").is_some() {
        all.push(SharedEmbedder::new(OpenAiEmbedder::from_env()?));
    }
    Ok(all)
}

/// A call without limits.
pub(crate) fn call() -> Call {
    Call::detached()
}

/// The vector of one text.
pub(crate) async fn vector(embedder: &SharedEmbedder, text: &str) -> Result<Vector> {
    let made = embedder.embed(&[text.to_owned()], &call()).await?.pop();
    let numbers = made.ok_or("the embedder made no vector")?;
    Ok(Vector::new(&numbers)?.made_by(embedder.name()))
}
