//! The embedder.

use std::sync::{Arc, OnceLock};

use hanok_core::{Call, Spent};
use hanok_model::{Embedder, ModelError};
use serde_json::Value;

use crate::{
    client::{Client, protocol},
    server::Api,
    wire::embeddings,
};

/// How many texts go into one request.
const BATCH: usize = 64;

/// An embedding model of a server that speaks OpenAI's HTTP API. Clones share its connections.
///
/// More than 64 texts are sent in several requests, one after the other.
///
/// ```
/// use hanok_model::Embedder;
/// use hanok_openai::OpenAi;
///
/// let embedder = OpenAi::builder("http://127.0.0.1:8088/v1").embedder("bge-m3")?;
/// assert_eq!((embedder.name(), embedder.dimensions()), ("bge-m3", None));
/// # Ok::<(), hanok_model::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct OpenAiEmbedder(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Client,
    model: String,
    dimensions: OnceLock<usize>,
}

impl OpenAiEmbedder {
    pub(crate) fn new(client: Client, model: String) -> Self {
        Self(Arc::new(Inner { client, model, dimensions: OnceLock::new() }))
    }
}

impl Embedder for OpenAiEmbedder {
    fn name(&self) -> &str {
        &self.0.model
    }

    /// Known after the first answer.
    fn dimensions(&self) -> Option<usize> {
        self.0.dimensions.get().copied()
    }

    async fn embed(&self, texts: &[String], call: &Call) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let attempt = || async { Ok(self.0.batch(batch, call).await?) };
            vectors.extend(self.0.client.retried(call, attempt).await?);
        }
        Ok(vectors)
    }
}

impl Inner {
    async fn batch(&self, texts: &[String], call: &Call) -> Result<Vec<Vec<f32>>, ModelError> {
        let body = embeddings(texts, &self.model)?;
        let response = self.client.send(Api::Embeddings, Some(&body), call).await;
        let response = response.map_err(|failure| self.client.error(failure, &self.model))?;
        let value = self.client.json(response, &self.model, call).await?;
        let tokens = value.pointer("/usage/prompt_tokens").and_then(Value::as_u64);
        call.spend().add(Spent { input_tokens: tokens.unwrap_or(0), ..Spent::default() });
        self.vectors(&value, texts.len())
    }

    fn vectors(&self, value: &Value, count: usize) -> Result<Vec<Vec<f32>>, ModelError> {
        let Some(data) = value.get("data").and_then(Value::as_array) else {
            return Err(protocol("embeddings without `data`"));
        };
        if data.len() != count {
            return Err(protocol(&format!("{} embeddings of {count} texts", data.len())));
        }
        let mut vectors = vec![Vec::new(); count];
        for (place, entry) in data.iter().enumerate() {
            let index = entry.get("index").and_then(Value::as_u64);
            let index = index.map_or(Some(place), |index| usize::try_from(index).ok());
            match index.and_then(|index| vectors.get_mut(index)) {
                Some(vector) if vector.is_empty() => *vector = self.vector(entry)?,
                _ => return Err(protocol("embeddings that are not numbered one by one")),
            }
        }
        Ok(vectors)
    }

    fn vector(&self, entry: &Value) -> Result<Vec<f32>, ModelError> {
        let numbers = entry.get("embedding").and_then(Value::as_array);
        let vector =
            numbers.and_then(|numbers| numbers.iter().map(number).collect::<Option<Vec<_>>>());
        let Some(vector) = vector.filter(|vector| !vector.is_empty()) else {
            return Err(protocol("an embedding that is no list of numbers"));
        };
        let dimensions = *self.dimensions.get_or_init(|| vector.len());
        match vector.len() {
            length if length == dimensions => Ok(vector),
            length => {
                Err(protocol(&format!("an embedding of length {length} after one of {dimensions}")))
            }
        }
    }
}

/// The number as it is kept, if it is one.
fn number(value: &Value) -> Option<f32> {
    #[allow(clippy::cast_possible_truncation, reason = "vectors are compared in this precision")]
    let number = value.as_f64()? as f32;
    number.is_finite().then_some(number)
}
