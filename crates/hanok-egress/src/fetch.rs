//! What is asked for, and what came.

use std::{fmt, time::Duration};

use hanok_core::Secret;
use serde::de::DeserializeOwned;
use url::form_urlencoded::byte_serialize;

use crate::EgressError;

/// The most redirects that are followed.
const REDIRECTS: usize = 5;

/// What one request may cost.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub(crate) total: Duration,
    pub(crate) silence: Duration,
    pub(crate) body: u64,
    pub(crate) redirects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(20),
            silence: Duration::from_secs(10),
            body: 2 * 1024 * 1024,
            redirects: REDIRECTS,
        }
    }
}

impl Limits {
    /// The time for all of it, redirects included. Default: 20 s. The call's own deadline holds as well.
    #[must_use]
    pub fn total(self, total: Duration) -> Self {
        Self { total, ..self }
    }

    /// The time between two pieces of an answer. Default: 10 s.
    #[must_use]
    pub fn silence(self, silence: Duration) -> Self {
        Self { silence, ..self }
    }

    /// The most bytes of an answer, as sent and unpacked. Default: 2 MiB.
    #[must_use]
    pub fn body(self, body: u64) -> Self {
        Self { body, ..self }
    }

    /// How many redirects are followed. Default, and the most: 5.
    #[must_use]
    pub fn redirects(self, redirects: usize) -> Self {
        Self { redirects: redirects.min(REDIRECTS), ..self }
    }
}

/// One request.
///
/// Its headers and secret queries go to the origin (scheme, host and port) of its own URL and, after a redirect, to no other.
///
/// ```
/// use hanok_core::Secret;
/// use hanok_egress::{Fetch, Limits};
///
/// let fetch = Fetch::get("https://api.example.com/weather?q=Seoul")
///     .secret_query("key", Secret::new("sk-123".to_owned()))
///     .expect_json()
///     .limits(Limits::default().body(64 * 1024));
/// assert!(!format!("{fetch:?}").contains("sk-123"));
/// ```
#[derive(Clone)]
pub struct Fetch {
    pub(crate) url: String,
    pub(crate) headers: Vec<(&'static str, Secret<String>)>,
    pub(crate) query: Vec<(&'static str, Secret<String>)>,
    /// What is sent, which makes it a `POST`.
    pub(crate) body: Option<Body>,
    pub(crate) json_wanted: bool,
    pub(crate) limits: Limits,
}

/// The body of a request, and its type.
#[derive(Clone)]
pub(crate) struct Body {
    pub(crate) text: Secret<String>,
    pub(crate) content_type: &'static str,
}

impl Fetch {
    /// Asks for `url`.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            headers: Vec::new(),
            query: Vec::new(),
            body: None,
            json_wanted: false,
            limits: Limits::default(),
        }
    }

    /// Sends `body` to `url`. No redirect is followed.
    pub fn post_json(url: impl Into<String>, body: &serde_json::Value) -> Self {
        Self::post(url, Secret::new(body.to_string()), "application/json")
    }

    /// Sends `form`, which is encoded already, to `url`. No redirect is followed, and the form stands in no error.
    ///
    /// ```
    /// use hanok_core::Secret;
    /// use hanok_egress::Fetch;
    ///
    /// let form = Secret::new("grant_type=refresh_token&refresh_token=r-123".to_owned());
    /// let fetch = Fetch::post_form("https://login.example.com/token", form);
    /// assert!(!format!("{fetch:?}").contains("r-123"));
    /// ```
    pub fn post_form(url: impl Into<String>, form: Secret<String>) -> Self {
        Self::post(url, form, "application/x-www-form-urlencoded")
    }

    fn post(url: impl Into<String>, text: Secret<String>, content_type: &'static str) -> Self {
        Self { body: Some(Body { text, content_type }), ..Self::get(url) }
    }

    /// Sends a header along, for example a key. Default: `Host`, `User-Agent`, `Accept` and `Accept-Encoding` alone.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: Secret<String>) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Adds `name=value` to the query where it is sent, and only there: it stands in no error and no [`Fetched::url`].
    #[must_use]
    pub fn secret_query(mut self, name: &'static str, value: Secret<String>) -> Self {
        self.query.push((name, value));
        self
    }

    /// Refuses what says that it is not JSON. Default: everything is taken.
    #[must_use]
    pub fn expect_json(self) -> Self {
        Self { json_wanted: true, ..self }
    }

    /// What it may cost. Default: [`Limits::default`].
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The forms in which the secrets could stand in a URL.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let values = self.headers.iter().chain(&self.query).map(|(_, value)| value.expose());
        // What stands before the key in a header is the scheme: `Bearer`.
        let keys = values.filter_map(|value| value.split_whitespace().last());
        let keys = keys.filter(|key| key.len() > 3);
        keys.flat_map(|key| [key.to_owned(), byte_serialize(key.as_bytes()).collect()]).collect()
    }
}

impl fmt::Debug for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetch")
            .field("url", &crate::target::shown_text(&self.url))
            .field("headers", &self.headers)
            .field("query", &self.query)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// An answer, of whatever status.
#[derive(Debug, Clone)]
pub struct Fetched {
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) content_type: Option<String>,
    pub(crate) challenge: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Vec<u8>,
}

impl Fetched {
    /// The answer, which came from what is `shown` where its own URL holds one of `secrets`.
    pub(crate) fn without(self, secrets: &[String], shown: &str) -> Self {
        let holds_one = secrets.iter().any(|secret| self.url.contains(secret.as_str()));
        let url = if holds_one { shown.to_owned() } else { self.url };
        Self { url, ..self }
    }

    /// Where it came from, after the redirects.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The status of HTTP, never a redirect that is followed.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The type of its content as the server says, `None` when it does not.
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// What the server wants to be told before it answers, in its `WWW-Authenticate`; `None` when it says nothing.
    pub fn challenge(&self) -> Option<&str> {
        self.challenge.as_deref()
    }

    /// The body, unpacked.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Itself if its status is one of success (2xx).
    ///
    /// # Errors
    ///
    /// [`EgressError::Status`].
    pub fn accepted(self) -> Result<Self, EgressError> {
        match self.status {
            200..=299 => Ok(self),
            status => Err(EgressError::Status { status, retry_after: self.retry_after }),
        }
    }

    /// The body as text, without a byte order mark.
    ///
    /// # Errors
    ///
    /// [`EgressError::Garbled`] when it is not UTF-8.
    pub fn text(&self) -> Result<&str, EgressError> {
        match std::str::from_utf8(&self.body) {
            Ok(text) => Ok(text.trim_start_matches('\u{feff}')),
            Err(error) => Err(EgressError::Garbled { wanted: "UTF-8 text", source: error.into() }),
        }
    }

    /// The body as JSON.
    ///
    /// # Errors
    ///
    /// [`EgressError::Garbled`] when it is not UTF-8, no JSON or no `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, EgressError> {
        serde_json::from_str(self.text()?).map_err(|error| {
            // serde_json's own words may hold a part of the text.
            let place = format!("line {}, column {}", error.line(), error.column());
            EgressError::Garbled { wanted: "JSON of the expected form", source: place.into() }
        })
    }
}
