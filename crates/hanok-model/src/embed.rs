//! Models that turn texts into vectors.

use std::{fmt, sync::Arc};

use hanok_core::{BoxFuture, Call};

use crate::{ModelError, race::until_the_end_of};

/// Turns texts into vectors that are near each other when the texts mean the same.
///
/// # Contract
///
/// - As many vectors as texts, in their order, all of the same length, all numbers finite.
/// - The same name means the same vectors: an index keeps the name beside what it stores.
/// - [`Call::stop`] and [`Call::time_left`] are heeded as by a [`ChatModel`](crate::ChatModel). [`Call::spend`] counts the
///   tokens that were read; an embedding is not counted as a call of a model.
pub trait Embedder: fmt::Debug + Send + Sync + 'static {
    /// The model's name, as its server knows it.
    fn name(&self) -> &str;

    /// The length of the vectors, `None` while it is not known.
    fn dimensions(&self) -> Option<usize>;

    /// The vectors of `texts`.
    ///
    /// # Errors
    ///
    /// [`ModelError`]: its variants say what to do.
    fn embed(
        &self,
        texts: &[String],
        call: &Call,
    ) -> impl Future<Output = Result<Vec<Vec<f32>>, ModelError>> + Send;
}

/// Any [`Embedder`], chosen at run time. Clones share the model. It ends a call that is stopped or whose time is over, also where
/// the embedder does not.
#[derive(Debug, Clone)]
pub struct SharedEmbedder(Arc<dyn Erased>);

impl SharedEmbedder {
    /// Shares `embedder`.
    pub fn new(embedder: impl Embedder) -> Self {
        Self(Arc::new(embedder))
    }
}

impl Embedder for SharedEmbedder {
    fn name(&self) -> &str {
        self.0.name_erased()
    }

    fn dimensions(&self) -> Option<usize> {
        self.0.dimensions_erased()
    }

    async fn embed(&self, texts: &[String], call: &Call) -> Result<Vec<Vec<f32>>, ModelError> {
        until_the_end_of(call, self.0.embed_boxed(texts, call)).await
    }
}

trait Erased: fmt::Debug + Send + Sync {
    fn name_erased(&self) -> &str;

    fn dimensions_erased(&self) -> Option<usize>;

    fn embed_boxed<'a>(
        &'a self,
        texts: &'a [String],
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>>;
}

impl<E: Embedder> Erased for E {
    fn name_erased(&self) -> &str {
        self.name()
    }

    fn dimensions_erased(&self) -> Option<usize> {
        self.dimensions()
    }

    fn embed_boxed<'a>(
        &'a self,
        texts: &'a [String],
        call: &'a Call,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        Box::pin(self.embed(texts, call))
    }
}
