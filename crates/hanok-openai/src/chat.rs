//! The chat model.

use std::{sync::Arc, time::Duration};

use hanok_core::{Call, Charge, Timestamp};
use hanok_model::{ChatModel, ChatReply, ChatRequest, ModelError, Wait};
use reqwest::Response;
use serde::Deserialize;

use crate::{
    OpenAiBuilder,
    client::{Client, Failure, Tried, length, names, protocol},
    server::Api,
    sse::Decoder,
    wait::within,
    wire::{Assembly, Chunk, Quirks, body},
};

/// A chat model of a server that speaks OpenAI's HTTP API. Clones share its connections.
///
/// ```
/// use hanok_model::ChatModel;
/// use hanok_openai::OpenAi;
///
/// let model = OpenAi::builder("http://127.0.0.1:8088/v1").model("qwen2.5").build()?;
/// assert_eq!(model.name(), "qwen2.5");
/// # Ok::<(), hanok_model::ModelError>(())
/// ```
#[derive(Debug, Clone)]
pub struct OpenAi(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: Client,
    model: String,
    quirks: Quirks,
}

impl OpenAi {
    /// Settings for the server whose API is at `base_url`, such as `http://127.0.0.1:8088/v1`.
    pub fn builder(base_url: impl Into<String>) -> OpenAiBuilder {
        OpenAiBuilder::new(base_url)
    }

    /// Settings for the server that a configuration of `async-openai` names, OpenAI's, Azure's or one of your own: its
    /// address, headers and query, through `http`. All else is as with [`OpenAi::builder`]: limits, time-outs, retries, and
    /// errors without the key. The configuration is read when a model is built, so a key that changes needs another one.
    ///
    /// What belongs to `http` is not set here: the time to connect, TLS, proxies. Let it follow no redirect, or the key goes
    /// where a server sends it. Azure lists no models: name yours.
    ///
    /// With the feature `config`.
    ///
    /// ```
    /// use async_openai::config::AzureConfig;
    /// use hanok_model::ChatModel;
    /// use hanok_openai::OpenAi;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let provider = rustls::crypto::ring::default_provider();
    /// # provider.install_default().map_err(|_| "TLS")?;
    /// let azure = AzureConfig::new()
    ///     .with_api_base("https://example.openai.azure.com")
    ///     .with_deployment_id("gpt-4o")
    ///     .with_api_version("2024-10-21")
    ///     .with_api_key("secret");
    /// let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    /// let model = OpenAi::from_config(azure, http).model("gpt-4o").build()?;
    /// assert_eq!(model.name(), "gpt-4o");
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "config")]
    pub fn from_config(
        config: impl async_openai::config::Config + 'static,
        http: reqwest::Client,
    ) -> OpenAiBuilder {
        OpenAiBuilder::from_config(config, http)
    }

    pub(crate) fn new(client: Client, model: String) -> Self {
        Self(Arc::new(Inner { client, model, quirks: Quirks::default() }))
    }

    /// The names of the server's models, sorted.
    ///
    /// # Errors
    ///
    /// [`ModelError`]: its variants say what to do.
    pub async fn models(&self, call: &Call) -> Result<Vec<String>, ModelError> {
        self.0.client.models(call).await
    }
}

impl ChatModel for OpenAi {
    fn name(&self) -> &str {
        &self.0.model
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        call.admit(Charge::Model)?;
        self.0.client.retried(call, || self.0.attempt(&request, call)).await
    }
}

impl Inner {
    async fn attempt(&self, request: &ChatRequest, call: &Call) -> Result<ChatReply, Tried> {
        let mut answer = Assembly::new(call);
        match self.read(request, call, &mut answer).await {
            Ok(()) => {
                call.spend().add(answer.usage(request).spent());
                Ok(answer.into_reply(request, &self.model)?)
            }
            Err(error) => {
                let again = !answer.begun();
                if answer.begun() {
                    // Half an answer is paid for as well.
                    call.spend().add(answer.usage(request).spent());
                }
                Err(Tried { error, again })
            }
        }
    }

    async fn read(
        &self,
        request: &ChatRequest,
        call: &Call,
        answer: &mut Assembly<'_>,
    ) -> Result<(), ModelError> {
        let streamed = call.sink().is_some();
        let begun = call.clock().now();
        let open = self.open(request, streamed, call);
        if !streamed {
            return self.whole(open.await?, call, answer).await;
        }
        let silence = self.client.silence;
        let late = ModelError::TimedOut { what: Wait::FirstToken, after: silence };
        let response = within(call, silence, late, open).await?;
        match is_stream(&response) {
            true => self.stream(response, call, begun, answer).await,
            false => self.whole(response, call, answer).await,
        }
    }

    /// Reads a stream that was asked for at `begun`.
    async fn stream(
        &self,
        mut response: Response,
        call: &Call,
        begun: Timestamp,
        answer: &mut Assembly<'_>,
    ) -> Result<(), ModelError> {
        let (mut decoder, mut received) = (Decoder::default(), 0);
        loop {
            let (left, late) = self.patience(call, begun, answer);
            let chunk = self.client.chunk(&mut response, received);
            let bytes = match within(call, left, late, chunk).await {
                Ok(Some(bytes)) => bytes,
                // Nothing is missing but the mark of the end.
                Ok(None) | Err(ModelError::BrokenStream { .. } | ModelError::TimedOut { .. })
                    if answer.is_finished() =>
                {
                    return Ok(());
                }
                Ok(None) => return Err(ModelError::BrokenStream { received, source: None }),
                Err(error) => return Err(error),
            };
            received += length(&bytes);
            let mut events = Vec::new();
            let taken = decoder.take(bytes.as_ref(), &mut events);
            for data in events {
                if data.trim() == "[DONE]" {
                    return Ok(());
                }
                let piece = self.piece(&data);
                answer.take(piece.map_err(|error| self.broken(error, Some(&data), answer))?);
            }
            taken.map_err(|error| self.broken(error, None, answer))?;
        }
    }

    /// What an error within a stream is, of which `data` is no piece. Who opens a stream has the API that was asked for:
    /// when it then says an error, or anything but a piece after good ones, it is the server that failed.
    fn broken(&self, error: ModelError, data: Option<&str>, answer: &Assembly<'_>) -> ModelError {
        let source = match error {
            ModelError::Protocol { source: Some(said), .. } => said,
            ModelError::Protocol { what, .. } if answer.has_choice() => match data {
                Some(data) => self.client.words(data).into(),
                None => what.into(),
            },
            error => return error,
        };
        ModelError::Server { status: 500, retry_after: None, source: Some(source) }
    }

    /// How long the next bytes of a stream are waited for, and what it is when they do not come. Until the first token
    /// the time runs from the request on: comments that keep a connection alive are none.
    fn patience(
        &self,
        call: &Call,
        begun: Timestamp,
        answer: &Assembly<'_>,
    ) -> (Duration, ModelError) {
        let after = self.client.silence;
        if answer.begun() {
            return (after, ModelError::TimedOut { what: Wait::NextToken, after });
        }
        let left = after.saturating_sub(call.clock().now().since(begun));
        (left, ModelError::TimedOut { what: Wait::FirstToken, after })
    }

    /// Sends the request, once more without what the server refuses by name.
    async fn open(
        &self,
        request: &ChatRequest,
        streamed: bool,
        call: &Call,
    ) -> Result<Response, ModelError> {
        let mut body = body(request, &self.model, streamed)?;
        loop {
            self.quirks.apply(&mut body);
            match self.client.send(Api::Chat, Some(&body), call).await {
                Ok(response) => return Ok(response),
                Err(Failure::Refused { said, .. })
                    if self.quirks.learn(&body, |word| said.mentions(word)) => {}
                Err(failure) => return Err(self.client.error(failure, &self.model)),
            }
        }
    }

    async fn whole(
        &self,
        response: Response,
        call: &Call,
        answer: &mut Assembly<'_>,
    ) -> Result<(), ModelError> {
        let value = self.client.json(response, &self.model, call).await?;
        answer.take(chunk(&value)?);
        match answer.has_choice() {
            true => Ok(()),
            false => Err(protocol("JSON without a choice")),
        }
    }

    fn piece(&self, data: &str) -> Result<Chunk, ModelError> {
        chunk(&self.client.value(data, &self.model)?)
    }
}

/// Whether a response is a stream: some servers answer whole whatever they are asked, and some leave the type out.
fn is_stream(response: &Response) -> bool {
    let headers = response.headers();
    !headers.contains_key(reqwest::header::CONTENT_TYPE)
        || names(headers, "event-stream")
        || names(headers, "text/plain")
}

fn chunk(value: &serde_json::Value) -> Result<Chunk, ModelError> {
    // serde_json's own words may hold a part of the text.
    Chunk::deserialize(value)
        .map_err(|_error| protocol("JSON of another shape than a chat completion"))
}
