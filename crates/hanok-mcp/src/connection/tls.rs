//! The client for HTTP: rustls with ring, the system's certificates, no redirects.

use std::{fmt, sync::Arc, time::Duration};

use hanok_core::BoxError;
use reqwest::{Url, redirect};
use rustls::{ClientConfig, RootCertStore, crypto::ring::default_provider};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::config::server::is_this_machine;

const CONNECT: Duration = Duration::from_secs(10);

/// The address that a server sends to.
#[derive(Debug)]
pub(super) struct Redirect {
    pub(super) to: String,
}

impl fmt::Display for Redirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a redirect to `{}`", self.to)
    }
}

impl std::error::Error for Redirect {}

/// The client for the server at `url`.
pub(super) fn client(url: &Url) -> Result<reqwest::Client, BoxError> {
    let tls = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?;
    // A server without TLS needs no certificates, and a machine may have none.
    let tls = match url.scheme() {
        "https" => tls.with_platform_verifier()?,
        _ => tls.with_root_certificates(RootCertStore::empty()),
    };
    let refuse = redirect::Policy::custom(|attempt| {
        // Neither a query nor a name and password is for people.
        let to = attempt.url();
        let to = format!("{}://{}{}", to.scheme(), to.host_str().unwrap_or_default(), to.path());
        attempt.error(Redirect { to: crate::text::line(&to, 256) })
    });
    let http = reqwest::Client::builder()
        .tls_backend_preconfigured(tls.with_no_client_auth())
        .redirect(refuse)
        .user_agent(concat!("hanok/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT);
    let http = if is_this_machine(url) { http.no_proxy() } else { http };
    Ok(http.build().map_err(reqwest::Error::without_url)?)
}
