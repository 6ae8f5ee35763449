//! A server: where it is, and what each request to it carries.

use std::fmt;

use hanok_core::Secret;
use hanok_model::ModelError;
use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
};

use crate::{not_configured::missing, redact::Redact};

/// What a server is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Embeddings,
    Models,
}

impl Api {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Embeddings => "/embeddings",
            Self::Models => "/models",
        }
    }
}

/// The addresses of a server, and the headers of each request.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) chat: Url,
    pub(crate) embeddings: Url,
    pub(crate) models: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) key_given: bool,
    pub(crate) redact: Redact,
    /// What names it in errors.
    pub(crate) shown: String,
}

impl Server {
    /// The server at `base`, with `key` as the bearer's.
    pub(crate) fn new(base: &Url, key: Option<&Secret<String>>) -> Result<Self, ModelError> {
        let address = |api: Api| {
            let mut url = base.clone();
            url.set_path(&format!("{}{}", base.path().trim_end_matches('/'), api.path()));
            url
        };
        let mut headers = HeaderMap::new();
        if let Some(key) = key {
            headers.insert(AUTHORIZATION, authorization(key)?);
        }
        Ok(Self {
            chat: address(Api::Chat),
            embeddings: address(Api::Embeddings),
            models: address(Api::Models),
            headers,
            key_given: key.is_some(),
            redact: Redact::new(key.map(|key| key.expose().as_str())),
            shown: shown(base),
        })
    }

    pub(crate) fn address(&self, api: Api) -> &Url {
        match api {
            Api::Chat => &self.chat,
            Api::Embeddings => &self.embeddings,
            Api::Models => &self.models,
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.shown)
            .field("key", &self.key_given)
            .finish_non_exhaustive()
    }
}

/// The address without what may be secret in it.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// `text` as the address of an API; `place` is where it is set.
pub(crate) fn address(text: &str, place: &str) -> Result<Url, ModelError> {
    let refused = |why: &str| {
        missing(format!("the base URL {why}; set {place} to one like http://host:8080/v1"))
    };
    let url = Url::parse(text.trim()).map_err(|error| refused(&format!("is no URL ({error})")))?;
    match url.scheme() {
        "http" | "https" if url.has_host() => {}
        _ => return Err(refused("is not one of http or https")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("holds a user or a password, which belong into the API key"));
    }
    Ok(url)
}

fn authorization(key: &Secret<String>) -> Result<HeaderValue, ModelError> {
    let value = HeaderValue::try_from(format!("Bearer {}", key.expose().trim()));
    let mut value = value.map_err(|error| {
        missing(format!("the API key holds characters that no header can ({error})"))
    })?;
    value.set_sensitive(true);
    Ok(value)
}
