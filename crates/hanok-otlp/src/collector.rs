//! The collector, over HTTP.

use std::{
    io::Read,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use async_trait::async_trait;
use hanok_core::BoxError;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::{
    Url,
    blocking::Client,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use rustls::{ClientConfig, RootCertStore, crypto::ring::default_provider};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::{OtlpConfig, OtlpError};

/// The path at which a collector takes traces.
const PATH: &str = "/v1/traces";

/// The most bytes of an answer that are read: it says how many spans were refused, and why.
const LONGEST_ANSWER: u64 = 64 * 1024;

/// Why the last request was in vain; nothing when it was not, or there was none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<BoxError>>>);

impl Failure {
    fn set(&self, failure: Option<BoxError>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = failure;
    }

    pub(crate) fn take(&self) -> Option<BoxError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Asks the collector. It blocks, on the one thread that exports.
#[derive(Debug)]
pub(crate) struct Collector {
    http: Client,
    headers: HeaderMap,
    failure: Failure,
}

impl Collector {
    /// The collector at `url`.
    pub(crate) fn new(url: &Url, config: &OtlpConfig, failure: Failure) -> Result<Self, OtlpError> {
        let headers = headers(config)?;
        let builder = Client::builder()
            .tls_backend_preconfigured(tls(url).map_err(|error| OtlpError::Exporter(error.into()))?)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("hanok/", env!("CARGO_PKG_VERSION")))
            .timeout(config.timeout);
        let builder = if is_loopback(url) { builder.no_proxy() } else { builder };
        // A blocking client cannot be made on a thread that runs futures; this one ends at once.
        let made = thread::spawn(move || builder.build()).join();
        let http = match made {
            Ok(http) => http.map_err(|error| OtlpError::Exporter(error.into()))?,
            Err(_) => return Err(OtlpError::Exporter("the HTTP client panicked".into())),
        };
        Ok(Self { http, headers, failure })
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, BoxError> {
        let mut request = reqwest::blocking::Request::try_from(request)?;
        request.headers_mut().extend(self.headers.clone());
        let answer = self.http.execute(request).map_err(reqwest::Error::without_url)?;
        let mut response = Response::builder().status(answer.status());
        if let Some(headers) = response.headers_mut() {
            headers.extend(answer.headers().clone());
        }
        let mut body = Vec::new();
        answer.take(LONGEST_ANSWER).read_to_end(&mut body)?;
        Ok(response.body(body.into())?)
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (answer, failure) = match self.send(request) {
            Ok(answer) if answer.status().is_success() => (Ok(answer), None),
            Ok(answer) => {
                let failure = format!("the collector answered {}", answer.status());
                (Ok(answer), Some(failure.into()))
            }
            // The exporter forgets what it is told here, so the guard is told, too.
            Err(error) => (Err("the collector was not reached".into()), Some(error)),
        };
        if let Some(failure) = &failure {
            tracing::warn!(
                error = &**failure as &dyn std::error::Error,
                "spans were not delivered"
            );
        }
        self.failure.set(failure);
        answer
    }
}

/// The address that takes traces.
pub(crate) fn address(endpoint: &str) -> Result<Url, OtlpError> {
    let refused = |source: BoxError| OtlpError::Endpoint { endpoint: shown(endpoint), source };
    let mut url = Url::parse(endpoint.trim()).map_err(|error| refused(error.into()))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(refused("it is not one of http or https".into()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("it holds a user or a password, which belong into a header".into()));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    if !path.ends_with(PATH) {
        url.set_path(&format!("{path}{PATH}"));
    }
    Ok(url)
}

/// `endpoint` as an error may hold it: nothing before an `@`, and no query.
fn shown(endpoint: &str) -> String {
    let shown = endpoint.rsplit_once('@').map_or(endpoint, |(_, after)| after);
    shown.split(['?', '#']).next().unwrap_or_default().to_owned()
}

fn headers(config: &OtlpConfig) -> Result<HeaderMap, OtlpError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        let refused = |source: BoxError| OtlpError::Header { name: name.clone(), source };
        let header = HeaderName::try_from(name).map_err(|error| refused(error.into()))?;
        let value = HeaderValue::from_str(value.expose());
        let mut value = value.map_err(|error| refused(error.into()))?;
        value.set_sensitive(true);
        headers.append(header, value);
    }
    Ok(headers)
}

/// rustls with ring, named here and not installed for the whole process, and the certificates that the system trusts.
fn tls(url: &Url) -> Result<ClientConfig, rustls::Error> {
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?;
    // A collector without TLS needs no certificates, and a machine may have none.
    let config = match url.scheme() {
        "https" => config.with_platform_verifier()?,
        _ => config.with_root_certificates(RootCertStore::empty()),
    };
    Ok(config.with_no_client_auth())
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_to_where_traces_are_taken() {
        for (endpoint, want) in [
            ("http://localhost:4318", "http://localhost:4318/v1/traces"),
            ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
            (
                "https://otel.example/api/public/otel",
                "https://otel.example/api/public/otel/v1/traces",
            ),
            ("https://otel.example/v1/traces", "https://otel.example/v1/traces"),
            (" https://otel.example/v1/traces/ ", "https://otel.example/v1/traces/"),
        ] {
            assert_eq!(address(endpoint).unwrap().as_str(), want, "{endpoint:?}");
        }
    }

    /// P55: an address that is refused is not shown with what it should not hold.
    #[test]
    fn what_is_no_address_is_refused_and_shows_no_password() {
        for endpoint in [
            "",
            "localhost:4318",
            "grpc://localhost:4317",
            "file:///etc/passwd",
            "http://user:hunter2@localhost:4318",
            "ht tp://user:hunter2@x?key=hunter2",
        ] {
            let error = address(endpoint).unwrap_err();
            let told = format!("{error} {error:?}");
            assert!(matches!(error, OtlpError::Endpoint { .. }), "{endpoint:?}");
            assert!(!told.contains("hunter2"), "{told}");
        }
    }

    /// P55
    #[test]
    fn a_header_is_hidden_whatever_is_shown() {
        let value = || hanok_core::Secret::new("hunter2".to_owned());
        let config = OtlpConfig::new("http://localhost:4318", "x").header("x-key", value());
        let collector =
            Collector::new(&address(&config.endpoint).unwrap(), &config, Failure::default())
                .unwrap();
        assert!(!format!("{config:?} {collector:?}").contains("hunter2"));

        for (name, value) in [("x key", "hunter2"), ("x-key", "hunter2\n")] {
            let value = hanok_core::Secret::new(value.to_owned());
            let error = headers(&config.clone().header(name, value)).unwrap_err();
            assert!(matches!(&error, OtlpError::Header { name: told, .. } if told == name));
            assert!(!format!("{error} {error:?}").contains("hunter2"));
        }
    }
}
