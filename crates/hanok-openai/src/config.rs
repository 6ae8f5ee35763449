//! Settings of async-openai.

use std::panic::{AssertUnwindSafe, catch_unwind};

use async_openai::config::Config;
use hanok_model::ModelError;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use secrecy::ExposeSecret;

use crate::{
    not_configured::missing,
    redact::Redact,
    server::{Api, Server, address, shown},
};

/// The server that `config` names.
///
/// # Errors
///
/// [`ModelError::NotConfigured`] when the address is none, or what makes a header cannot be one.
pub(crate) fn server(config: &dyn Config) -> Result<Server, ModelError> {
    let key = config.api_key().expose_secret();
    if HeaderValue::try_from(key).is_err() {
        return Err(missing(
            "the API key of the configuration holds characters that no header can",
        ));
    }
    // The configurations of async-openai panic on a value that can be no header.
    let headers = catch_unwind(AssertUnwindSafe(|| config.headers()));
    let mut headers = headers.map_err(|_panic| {
        missing("the configuration's headers cannot be made; look for line breaks in its values")
    })?;
    let mut redact = Redact::new(Some(key));
    // A local server has no key, and refuses an empty one.
    if headers.get(AUTHORIZATION).is_some_and(|value| value.as_bytes().trim_ascii() == b"Bearer") {
        headers.remove(AUTHORIZATION);
    }
    // Whatever name a header has, what it carries may be a key.
    for value in headers.values_mut() {
        value.set_sensitive(true);
        redact.add(value.to_str().unwrap_or_default());
    }
    let query = config.query();
    // Azure's is a date, which its errors speak of; others have their key in the query.
    for (_, value) in query.iter().filter(|(name, _)| *name != "api-version") {
        redact.add(value);
    }
    let address = |api: Api| {
        let mut url = address(&config.url(api.path()), "the configuration's `api_base`")?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(&query);
        }
        Ok::<_, ModelError>(url)
    };
    let chat = address(Api::Chat)?;
    Ok(Server {
        shown: shown(&chat),
        chat,
        embeddings: address(Api::Embeddings)?,
        models: address(Api::Models)?,
        key_given: !headers.is_empty(),
        headers,
        redact,
    })
}
