//! Talking with the server: JSON there and back, within bounds.

use std::{sync::Arc, time::Duration};

use hanok_core::Secret;
use reqwest::{Method, Response, StatusCode, Url, header::CONTENT_TYPE, redirect::Policy};
use rustls::{ClientConfig, RootCertStore, crypto::ring::default_provider};
use rustls_platform_verifier::BuilderVerifierExt;
use serde_json::Value;
use thiserror::Error;

use hanok_retrieval::BoxError;

/// A longer answer is not read.
const LONGEST: usize = 256 << 20;

/// Why the server's answer cannot be used. What it sent is no part of it, but for a word that names the error.
#[derive(Debug, Error)]
enum Failure {
    #[error("the URL is not one of http or https without a user in it")]
    Url,
    #[error("OpenSearch answered {status} ({kind})")]
    Status { status: u16, kind: String },
    #[error("OpenSearch answered with what is no JSON")]
    NoJson,
    #[error("OpenSearch answered with more than {LONGEST} bytes")]
    Long,
    #[error("OpenSearch did not answer in time")]
    Late,
    #[error("OpenSearch cannot be reached, or the connection ended")]
    Lost(#[source] reqwest::Error),
    #[error("the user's name and password cannot be sent")]
    Login,
}

/// Talks with one server.
#[derive(Clone)]
pub(super) struct Http {
    client: reqwest::Client,
    base: Url,
    login: Option<(String, Secret<String>)>,
    time: Duration,
}

/// An answer, and whether the server did what was asked.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Value,
}

impl Http {
    /// Talks with the server at `base`; an answer may take so long.
    pub(super) fn new(
        base: &str,
        login: Option<(String, Secret<String>)>,
        time: Duration,
    ) -> Result<Self, BoxError> {
        let mut base: Url = base.trim().parse().map_err(|_unsaid| Failure::Url)?;
        let plain = base.username().is_empty() && base.password().is_none();
        if !plain || !base.has_host() || !["http", "https"].contains(&base.scheme()) {
            return Err(Failure::Url.into());
        }
        if login.as_ref().is_some_and(|(user, _)| user.contains(':')) {
            return Err(Failure::Login.into());
        }
        base.set_query(None);
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        // The provider is named here and not installed for the whole process.
        let tls = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?;
        // A server without TLS needs no certificates, and a machine may have none.
        let tls = match base.scheme() {
            "https" => tls.with_platform_verifier()?,
            _ => tls.with_root_certificates(RootCertStore::empty()),
        };
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls.with_no_client_auth())
            .redirect(Policy::none())
            .user_agent(concat!("hanok/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(time)
            .timeout(time)
            .build()
            .map_err(reqwest::Error::without_url)?;
        Ok(Self { client, base, login, time })
    }

    /// Where the server is: no secret is part of it.
    pub(super) fn base(&self) -> &str {
        self.base.as_str()
    }

    /// What the server answers to `body` at `path`, whose parts have no sign that means something in an URL. A refusal is an
    /// error, but for one of the statuses `allowed`.
    pub(super) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
        allowed: &[u16],
    ) -> Result<Answer, BoxError> {
        let url = self.base.join(path).map_err(|_unsaid| Failure::Url)?;
        let mut request = self.client.request(method, url);
        if let Some((user, password)) = &self.login {
            request = request.basic_auth(user, Some(password.expose()));
        }
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        // Beyond the client's own time, for whatever that does not count.
        let late = self.time.saturating_mul(2);
        let answered = tokio::time::timeout(late, async {
            let response = request.send().await.map_err(lost)?;
            let status = response.status();
            Ok::<_, Failure>((status, read(response).await?))
        });
        let (status, bytes) = answered.await.map_err(|_late| Failure::Late)??;
        let body: Option<Value> = serde_json::from_slice(&bytes).ok();
        if !status.is_success() && !allowed.contains(&status.as_u16()) {
            let kind = body.as_ref().and_then(|body| body.pointer("/error/type")?.as_str());
            let kind = kind.filter(|kind| is_word(kind)).unwrap_or("without a word").to_owned();
            return Err(Failure::Status { status: status.as_u16(), kind }.into());
        }
        let body = body.filter(Value::is_object).ok_or(Failure::NoJson)?;
        Ok(Answer { status, body })
    }
}

/// Whether a server's name for an error is one.
fn is_word(kind: &str) -> bool {
    kind.len() < 100 && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

async fn read(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(lost)? {
        if bytes.len() + chunk.len() > LONGEST {
            return Err(Failure::Long);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn lost(error: reqwest::Error) -> Failure {
    match error.is_timeout() {
        true => Failure::Late,
        false => Failure::Lost(error.without_url()),
    }
}
