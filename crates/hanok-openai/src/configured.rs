//! A server that is described by a configuration of `async-openai`.

use std::collections::BTreeMap;

use async_openai::config::Config;
use hanok_core::Secret;
use hanok_model::ModelError;
use reqwest::{Url, header::HeaderMap};
use secrecy::ExposeSecret;

use crate::{OpenAi, OpenAiBuilder, builder::address};

/// What is asked of a server, each with its path in a configuration.
const PATHS: [&str; 3] = ["chat/completions", "embeddings", "models"];

/// The headers that hold a key.
const KEYS: [&str; 2] = ["authorization", "api-key"];

/// What a configuration says of a server.
#[derive(Debug, Clone)]
pub(crate) struct Configured {
    pub(crate) http: reqwest::Client,
    pub(crate) headers: HeaderMap,
    /// The address of each of [`PATHS`], with its query.
    pub(crate) addresses: BTreeMap<&'static str, Url>,
}

impl OpenAi {
    /// Settings for the server that `config` describes: its addresses with their queries, its headers and its key. It is asked
    /// through `http`, whose redirects, proxies and time to connect are its own; all other limits are those of the
    /// [`OpenAiBuilder`]. Headers that hold a key are not shown.
    ///
    /// ```
    /// use async_openai::config::AzureConfig;
    /// use hanok_openai::OpenAi;
    ///
    /// let azure = AzureConfig::new()
    ///     .with_api_base("https://mine.openai.azure.com")
    ///     .with_deployment_id("gpt")
    ///     .with_api_version("2025-01-01")
    ///     .with_api_key("…");
    /// # let http = || reqwest::Client::builder().tls_backend_preconfigured(rustls::ClientConfig::builder_with_provider(std::sync::Arc::new(rustls::crypto::ring::default_provider())).with_safe_default_protocol_versions().unwrap().with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth()).build();
    /// # let _ = |azure: AzureConfig| -> Result<(), Box<dyn std::error::Error>> {
    /// let model = OpenAi::from_config(azure, http()?)?.model("gpt").build()?;
    /// # let _ = model; Ok(()) };
    /// # let _ = azure;
    /// ```
    ///
    /// # Errors
    ///
    /// [`ModelError::NotConfigured`] when an address is none.
    pub fn from_config(
        config: impl Config,
        http: reqwest::Client,
    ) -> Result<OpenAiBuilder, ModelError> {
        let mut addresses = BTreeMap::new();
        for path in PATHS {
            let mut url = address(&config.url(&format!("/{path}")))?;
            if !config.query().is_empty() {
                url.query_pairs_mut().extend_pairs(config.query());
            }
            addresses.insert(path, url);
        }
        let mut headers = config.headers();
        for (name, value) in &mut headers {
            if KEYS.contains(&name.as_str()) {
                value.set_sensitive(true);
            }
        }
        let key = config.api_key().expose_secret();
        let builder = match key.is_empty() {
            true => OpenAi::builder(config.api_base()),
            false => OpenAi::builder(config.api_base()).api_key(Secret::new(key.to_owned())),
        };
        Ok(builder.configured(Configured { http, headers, addresses }))
    }
}
