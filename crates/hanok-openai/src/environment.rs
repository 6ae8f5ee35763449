//! Settings from the environment.

use std::time::Duration;

use hanok_core::Secret;
use hanok_model::ModelError;

use crate::{
    OpenAi, OpenAiBuilder, OpenAiEmbedder,
    builder::{OPENAI, TOTAL_TIMEOUT},
    not_configured::missing,
};

const BASE_URL: &str = "OPENAI_BASE_URL";
const API_KEY: &str = "OPENAI_API_KEY";
const MODEL: &str = "OPENAI_MODEL";
const EMBEDDING_MODEL: &str = "OPENAI_EMBEDDING_MODEL";
const TIMEOUT: &str = "OPENAI_TIMEOUT";

/// A call may take so many times the silence of its server in all.
const SILENCES: u32 = 5;

/// The longest silence that may be set, in seconds: a day.
const MOST: u64 = 86_400;

impl OpenAi {
    /// Whether the environment names a server: `OPENAI_BASE_URL` or `OPENAI_API_KEY` is set and not empty.
    pub fn is_configured() -> bool {
        [BASE_URL, API_KEY].iter().any(|name| set(variable, name).is_some())
    }

    /// The model that the environment names, see the crate's table of variables.
    ///
    /// # Errors
    ///
    /// As [`OpenAiBuilder::discover`]; also when neither `OPENAI_BASE_URL` nor `OPENAI_API_KEY` is set, and when `OPENAI_TIMEOUT` is
    /// no number of seconds.
    pub async fn from_env() -> Result<Self, ModelError> {
        Self::from_variables(variable).await
    }

    /// The same with the variables of another place: `get` is given a variable's name.
    ///
    /// # Errors
    ///
    /// As [`OpenAi::from_env`].
    pub async fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        let settings = builder(&get)?;
        let settings = match set(&get, MODEL) {
            Some(model) => settings.model(model),
            None => settings,
        };
        settings.discover().await
    }
}

impl OpenAiEmbedder {
    /// The embedding model that the environment names, see the crate's table of variables.
    ///
    /// # Errors
    ///
    /// [`ModelError::NotConfigured`] when `OPENAI_EMBEDDING_MODEL`, or both of `OPENAI_BASE_URL` and `OPENAI_API_KEY`, is
    /// not set, and when `OPENAI_TIMEOUT` is no number of seconds.
    pub fn from_env() -> Result<Self, ModelError> {
        Self::from_variables(variable)
    }

    /// The same with the variables of another place: `get` is given a variable's name.
    ///
    /// # Errors
    ///
    /// As [`OpenAiEmbedder::from_env`].
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        let settings = builder(&get)?;
        let Some(model) = set(&get, EMBEDDING_MODEL) else {
            return Err(missing(format!("set {EMBEDDING_MODEL} to the model of the embeddings")));
        };
        settings.embedder(model)
    }
}

fn builder(get: impl Fn(&str) -> Option<String>) -> Result<OpenAiBuilder, ModelError> {
    let settings = match (set(&get, BASE_URL), set(&get, API_KEY)) {
        (None, None) => return Err(missing(format!("set {BASE_URL} or {API_KEY}"))),
        (base_url, key) => {
            let settings = OpenAiBuilder::new(base_url.unwrap_or_else(|| OPENAI.to_owned()));
            match key {
                Some(key) => settings.api_key(Secret::new(key)),
                None => settings,
            }
        }
    };
    Ok(match timeout(get)? {
        Some(silence) => settings
            .first_token_timeout(silence)
            .total_timeout(TOTAL_TIMEOUT.max(silence * SILENCES)),
        None => settings,
    })
}

/// How long a server may be silent, if that is set.
fn timeout(get: impl Fn(&str) -> Option<String>) -> Result<Option<Duration>, ModelError> {
    let Some(seconds) = set(get, TIMEOUT) else { return Ok(None) };
    match seconds.parse() {
        Ok(seconds @ 1..=MOST) => Ok(Some(Duration::from_secs(seconds))),
        _ => Err(missing(format!(
            "set {TIMEOUT} to whole seconds, from 1 to {MOST}: it is {seconds:?}"
        ))),
    }
}

/// What is empty counts as not set.
fn set(get: impl Fn(&str) -> Option<String>, name: &str) -> Option<String> {
    get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_of_address_and_key_is_enough() {
        let settings = |set: (&'static str, &'static str)| {
            let settings = builder(|name: &str| (name == set.0).then(|| set.1.to_owned()));
            settings.map(|settings| format!("{settings:?}"))
        };
        let keyed = settings((API_KEY, "sk-1")).unwrap();
        assert!(keyed.contains(OPENAI) && keyed.contains("Some(Secret(…))"), "{keyed}");
        let local = settings((BASE_URL, "http://127.0.0.1:8088/v1")).unwrap();
        assert!(
            local.contains("http://127.0.0.1:8088/v1") && local.contains("key: None"),
            "{local}"
        );
        for nothing in [(API_KEY, ""), (BASE_URL, " "), (MODEL, "m")] {
            let error = settings(nothing).unwrap_err();
            assert!(matches!(error, ModelError::NotConfigured { .. }), "{error:?}");
        }
    }
    #[test]
    fn a_slow_server_may_be_silent_for_as_long_as_is_set() {
        let settings = |seconds: &str| {
            let get = |name: &str| match name {
                BASE_URL => Some("http://127.0.0.1:8088/v1".to_owned()),
                TIMEOUT => Some(seconds.to_owned()),
                _ => None,
            };
            builder(get).map(|settings| format!("{settings:?}"))
        };
        for (seconds, silence, total) in [("", 120, 600), ("5", 5, 600), ("900", 900, 4_500)] {
            let settings = settings(seconds).unwrap();
            let shown = format!("silence: {silence}s, total: {total}s");
            assert!(settings.contains(&shown), "{settings}");
        }
        for wrong in ["0", "-1", "2m", "1.5", "86401"] {
            let error = settings(wrong).unwrap_err().to_string();
            assert!(error.contains(TIMEOUT) && error.contains(wrong), "{error}");
        }
    }
}
