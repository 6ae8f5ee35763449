//! The query of a request, as both SDKs write it.

use axum::{
    extract::{FromRequestParts, Query},
    http::request::Parts,
};

use crate::http::{problem::Problem, service::Service};

/// The query of a request. A name may come more than once; an empty value counts as none.
#[derive(Debug, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl FromRequestParts<Service> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &Service) -> Result<Self, Problem> {
        let query = Query::<Vec<(String, String)>>::from_request_parts(parts, state).await;
        let Query(pairs) = query.map_err(|error| Problem::unprocessable(error.body_text()))?;
        Ok(Self(pairs.into_iter().filter(|(_, value)| !value.is_empty()).collect()))
    }
}

impl Params {
    /// The first value of `name`.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The value of `name` as a boolean: `true`, `false`, `1` or `0`.
    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, Problem> {
        match self.text(name) {
            None => Ok(None),
            Some("true" | "1") => Ok(Some(true)),
            Some("false" | "0") => Ok(Some(false)),
            Some(_) => Err(Problem::unprocessable(format!("`{name}` is `true` or `false`"))),
        }
    }

    /// The value of `name` as a number.
    pub(crate) fn number(&self, name: &str) -> Result<Option<usize>, Problem> {
        let number = self.text(name).map(str::parse).transpose();
        number.map_err(|error| Problem::unprocessable(format!("`{name}`: {error}")))
    }

    /// The list `name`: its values repeated, with commas, or as a JSON array.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        listed(self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()))
    }
}

/// The items of texts, each an item, items with commas between them, or a JSON array.
pub(crate) fn listed<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let split = |text: &str| match serde_json::from_str::<Vec<String>>(text) {
        Ok(items) => items,
        Err(_) => text.split(',').map(|item| item.trim().to_owned()).collect(),
    };
    texts.into_iter().flat_map(split).filter(|item| !item.is_empty()).collect()
}
