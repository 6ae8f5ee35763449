//! Settings from the environment.

use hanok_core::Secret;
use hanok_model::ModelError;

use crate::{OpenAi, OpenAiBuilder, OpenAiEmbedder, builder::OPENAI, not_configured::missing};

const BASE_URL: &str = "OPENAI_BASE_URL";
const API_KEY: &str = "OPENAI_API_KEY";
const MODEL: &str = "OPENAI_MODEL";
const EMBEDDING_MODEL: &str = "OPENAI_EMBEDDING_MODEL";

impl OpenAi {
    /// Whether the environment names a server: `OPENAI_BASE_URL` or `OPENAI_API_KEY` is set and not empty.
    pub fn is_configured() -> bool {
        builder(variable).is_ok()
    }

    /// The model that the environment names, see the crate's table of variables.
    ///
    /// # Errors
    ///
    /// As [`OpenAiBuilder::discover`]; also when neither `OPENAI_BASE_URL` nor `OPENAI_API_KEY` is set.
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
    /// not set.
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
    match (set(&get, BASE_URL), set(&get, API_KEY)) {
        (None, None) => Err(missing(format!("set {BASE_URL} or {API_KEY}"))),
        (base_url, key) => {
            let settings = OpenAiBuilder::new(base_url.unwrap_or_else(|| OPENAI.to_owned()));
            Ok(match key {
                Some(key) => settings.api_key(Secret::new(key)),
                None => settings,
            })
        }
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
}
