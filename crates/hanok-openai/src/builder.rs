//! Settings in code.

use std::{fmt, sync::Arc, time::Duration};

use hanok_core::{Call, Rng, Secret};
use hanok_model::ModelError;
use reqwest::Url;

use crate::{
    OpenAi, OpenAiEmbedder,
    client::Client,
    not_configured::missing,
    retry::Retries,
    server::{Server, address},
    tls,
};

/// The address of OpenAI's own API.
pub(crate) const OPENAI: &str = "https://api.openai.com/v1";

/// How long a call may take in all, unless it is set.
pub(crate) const TOTAL_TIMEOUT: Duration = Duration::from_secs(600);

/// How a server is asked. Made by [`OpenAi::builder`].
#[derive(Debug, Clone)]
pub struct OpenAiBuilder {
    place: Place,
    model: Option<String>,
    connect: Duration,
    silence: Duration,
    total: Duration,
    max_body: u64,
    retries: Retries,
}

/// Where a server is.
#[derive(Clone)]
enum Place {
    Address {
        base_url: String,
        key: Option<Secret<String>>,
    },
    #[cfg(feature = "config")]
    Config {
        config: Arc<dyn async_openai::config::Config>,
        http: reqwest::Client,
    },
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { base_url, key } => {
                f.debug_struct("Address").field("base_url", base_url).field("key", key).finish()
            }
            #[cfg(feature = "config")]
            Self::Config { .. } => f.write_str("Config"),
        }
    }
}

impl OpenAiBuilder {
    pub(crate) fn new(base_url: impl Into<String>) -> Self {
        Self::at(Place::Address { base_url: base_url.into(), key: None })
    }

    #[cfg(feature = "config")]
    pub(crate) fn from_config(
        config: impl async_openai::config::Config + 'static,
        http: reqwest::Client,
    ) -> Self {
        Self::at(Place::Config { config: Arc::new(config), http })
    }

    fn at(place: Place) -> Self {
        Self {
            place,
            model: None,
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(120),
            total: TOTAL_TIMEOUT,
            max_body: 16 * 1024 * 1024,
            retries: Retries::default(),
        }
    }

    /// The API key. Default: none, and no `Authorization` header. A configuration of async-openai has its own.
    #[must_use]
    pub fn api_key(mut self, key: Secret<String>) -> Self {
        match &mut self.place {
            Place::Address { key: place, .. } => *place = Some(key),
            #[cfg(feature = "config")]
            Place::Config { .. } => {}
        }
        self
    }

    /// The model. Default: the only one of the server, see [`OpenAiBuilder::discover`].
    #[must_use]
    pub fn model(self, model: impl Into<String>) -> Self {
        Self { model: Some(model.into()), ..self }
    }

    /// How long reaching the server may take. Default: 10 s.
    #[must_use]
    pub fn connect_timeout(self, connect: Duration) -> Self {
        Self { connect, ..self }
    }

    /// How long a server may be silent: before the first token and between two of them, and where the answer is not streamed,
    /// before its first byte and between two of them. A server that answers whole and takes longer needs more. Default: 120 s.
    #[must_use]
    pub fn first_token_timeout(self, silence: Duration) -> Self {
        Self { silence, ..self }
    }

    /// How long one call may take in all, retries included. Default: 600 s.
    #[must_use]
    pub fn total_timeout(self, total: Duration) -> Self {
        Self { total, ..self }
    }

    /// How often a call is tried again. Default: 3.
    #[must_use]
    pub fn max_retries(self, times: u32) -> Self {
        Self { retries: Retries { times, ..self.retries }, ..self }
    }

    /// The longest wait before the first retry; it doubles with each, up to 30 s. Default: 500 ms.
    #[must_use]
    pub fn backoff(self, first: Duration) -> Self {
        Self { retries: Retries { first, ..self.retries }, ..self }
    }

    /// What the random part of the waits is taken from. Default: the seeds of the standard library's hash maps.
    #[must_use]
    pub fn rng(self, rng: Arc<dyn Rng>) -> Self {
        Self { retries: Retries { rng, ..self.retries }, ..self }
    }

    /// The most bytes of one answer, streamed or not. Default: 16 MiB.
    #[must_use]
    pub fn max_body(self, bytes: u64) -> Self {
        Self { max_body: bytes, ..self }
    }

    /// The model that these settings name.
    ///
    /// # Errors
    ///
    /// [`ModelError::NotConfigured`] when no model is named, or the address or the key is none.
    pub fn build(self) -> Result<OpenAi, ModelError> {
        let Some(model) = self.model.clone() else {
            return Err(missing("name a model, or let the server be asked with `discover`"));
        };
        Ok(OpenAi::new(self.client()?, model))
    }

    /// The model that these settings name or, where they name none, the only one that the server has.
    ///
    /// # Errors
    ///
    /// [`ModelError::NotConfigured`] when the address or the key is none, or the server has no model or several, which
    /// are then listed; any other [`ModelError`] when the server cannot be asked.
    pub async fn discover(self) -> Result<OpenAi, ModelError> {
        let client = self.client()?;
        let model = match self.model {
            Some(model) => model,
            None => only(client.models(&Call::detached()).await?)?,
        };
        Ok(OpenAi::new(client, model))
    }

    /// `model`, which the server has, as an embedder.
    ///
    /// # Errors
    ///
    /// [`ModelError::NotConfigured`] when the address or the key is none.
    pub fn embedder(self, model: impl Into<String>) -> Result<OpenAiEmbedder, ModelError> {
        Ok(OpenAiEmbedder::new(self.client()?, model.into()))
    }

    fn client(&self) -> Result<Client, ModelError> {
        let (http, server) = match &self.place {
            Place::Address { base_url, key } => {
                let base = address(base_url, "OPENAI_BASE_URL")?;
                (self.http(&base)?, Server::new(&base, key.as_ref())?)
            }
            #[cfg(feature = "config")]
            Place::Config { config, http } => {
                (http.clone(), crate::config::server(config.as_ref())?)
            }
        };
        Ok(Client {
            http,
            server,
            connect: self.connect,
            silence: self.silence,
            total: self.total,
            max_body: self.max_body,
            retries: self.retries.clone(),
        })
    }

    fn http(&self, base: &Url) -> Result<reqwest::Client, ModelError> {
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::config(base)?)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("hanok/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.connect);
        let http = if is_loopback(base) { http.no_proxy() } else { http };
        http.build().map_err(|error| ModelError::Other(error.without_url().into()))
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

/// The one of `models`.
fn only(models: Vec<String>) -> Result<String, ModelError> {
    const SHOWN: usize = 20;
    let shown: Vec<_> =
        models.iter().take(SHOWN).map(|id| format!("`{}`", id.escape_debug())).collect();
    let more = if models.len() > SHOWN { ", …" } else { "" };
    match <[String; 1]>::try_from(models) {
        Ok([model]) => Ok(model),
        Err(models) if models.is_empty() => {
            Err(missing("the server lists no model; load one, or set OPENAI_MODEL"))
        }
        Err(models) => Err(missing(format!(
            "the server has {} models; set OPENAI_MODEL to one of {}{more}",
            models.len(),
            shown.join(", ")
        ))),
    }
}
