//! A service of the web: where it is, by which key, and what its refusals mean.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use hanok_core::{Call, Secret};
use hanok_model::ToolError;
use serde::de::DeserializeOwned;
use url::Url;

use hanok_egress::{Egress, EgressError, Fetch, Fetched, Limits};

/// What an answer of a service may cost.
const TOTAL: Duration = Duration::from_secs(15);
const BODY: u64 = 512 * 1024;

/// The longest text that is asked for, in characters.
const LONGEST: usize = 400;

/// A service.
#[derive(Debug, Clone)]
pub(super) struct Service {
    /// What it is in a sentence: `the weather service`.
    name: &'static str,
    pub(super) endpoint: String,
    /// The variable of the environment that holds its key.
    variable: Option<&'static str>,
    key: Option<Secret<String>>,
    given: Option<Egress>,
    /// The one that reaches this service alone, made when it is needed.
    own: Arc<OnceLock<Egress>>,
}

impl Service {
    pub(super) fn new(name: &'static str, endpoint: &str, variable: Option<&'static str>) -> Self {
        let endpoint = endpoint.to_owned();
        Self { name, endpoint, variable, key: None, given: None, own: Arc::default() }
    }

    /// With what `get` knows of the key.
    pub(super) fn keyed_by(self, get: impl Fn(&str) -> Option<String>) -> Self {
        let value = self.variable.and_then(get).map(|value| value.trim().to_owned());
        match value.filter(|value| !value.is_empty()) {
            Some(key) => self.key(Secret::new(key)),
            None => self,
        }
    }

    pub(super) fn key(self, key: Secret<String>) -> Self {
        Self { key: Some(key), ..self }
    }

    pub(super) fn endpoint(self, endpoint: String) -> Self {
        Self { endpoint, own: Arc::default(), ..self }
    }

    pub(super) fn egress(self, egress: Egress) -> Self {
        Self { given: Some(egress), ..self }
    }

    pub(super) fn is_configured(&self) -> bool {
        self.variable.is_none() || self.key.is_some()
    }

    /// The key, or what to do to have one.
    pub(super) fn needed_key(&self) -> Result<Secret<String>, ToolError> {
        let missing = || {
            let (name, variable) = (self.name, self.variable.unwrap_or_default());
            ToolError::refused(format!("{name} has no key here; whoever runs this sets {variable}"))
        };
        self.key.clone().ok_or_else(missing)
    }

    /// The JSON that the service answers to `fetch`.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        fetch: Fetch,
        call: &Call,
    ) -> Result<T, ToolError> {
        let limits = Limits::default().total(TOTAL).body(BODY);
        let egress = self.egress_now()?;
        let fetched = egress.fetch(call, &fetch.expect_json().limits(limits)).await;
        let fetched = fetched.and_then(Fetched::accepted);
        fetched.and_then(|fetched| fetched.json()).map_err(|error| self.error(error))
    }

    fn egress_now(&self) -> Result<Egress, ToolError> {
        if let Some(egress) = self.given.as_ref().or_else(|| self.own.get()) {
            return Ok(egress.clone());
        }
        let made = Egress::builder().only([host(&self.endpoint)]).build();
        let made = made.map_err(not_fetched)?;
        Ok(self.own.get_or_init(|| made).clone())
    }

    /// What a model can do about `error`, or should tell.
    fn error(&self, error: EgressError) -> ToolError {
        let name = self.name;
        let EgressError::Status { status, retry_after } = error else { return not_fetched(error) };
        match status {
            401 | 403 => {
                let variable = self.variable.unwrap_or("its settings");
                ToolError::refused(format!(
                    "{name} refused the key; whoever runs this checks {variable}"
                ))
            }
            400 | 404 | 422 => ToolError::arguments(error),
            429 | 432 | 433 => match retry_after {
                Some(after) => ToolError::failed(format!(
                    "{name} was asked too often; it answers again in {} s",
                    after.as_secs()
                )),
                None => ToolError::failed(format!(
                    "{name} was asked too often; ask later or do without"
                )),
            },
            _ => ToolError::failed(format!(
                "{name} is out of order (status {status}); do without it"
            )),
        }
    }
}

/// The host of `endpoint`, as a list of allowed hosts writes it. `{language}` is any name.
fn host(endpoint: &str) -> String {
    let url = Url::parse(&endpoint.replace("{language}", "language"));
    let host = url.ok().and_then(|url| Some(url.host_str()?.to_owned())).unwrap_or_default();
    match host.strip_prefix("language.") {
        Some(domain) => format!("*.{domain}"),
        None => host,
    }
}

/// What is asked for, trimmed, if there is something and not too much.
pub(super) fn asked<'a>(what: &str, text: &'a str) -> Result<&'a str, ToolError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ToolError::arguments(format!("`{what}` is empty")));
    }
    if text.chars().count() > LONGEST {
        return Err(ToolError::arguments(format!("`{what}` is longer than {LONGEST} characters")));
    }
    Ok(text)
}

/// What another address or another argument may mend is said so; a network that is not there is no fault of the call's.
pub(super) fn not_fetched(error: EgressError) -> ToolError {
    match error {
        EgressError::Cancelled => ToolError::Cancelled,
        EgressError::Url { .. }
        | EgressError::NotAllowed { .. }
        | EgressError::Port { .. }
        | EgressError::Blocked { .. }
        | EgressError::Redirect { .. } => ToolError::refused(error.to_string()),
        other => ToolError::failed(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_reached_and_no_other() {
        for (endpoint, want) in [
            ("https://api.example.com/search", "api.example.com"),
            ("https://{language}.wikipedia.org/w/api.php", "*.wikipedia.org"),
            ("http://127.0.0.1:8080/{language}", "127.0.0.1"),
        ] {
            assert_eq!(host(endpoint), want);
            let service = Service::new("the service", endpoint, None);
            let egress = format!("{:?}", service.egress_now().unwrap());
            assert!(egress.contains(&format!("only: Some([\"{want}\"])")), "{egress}");
        }
    }
}
