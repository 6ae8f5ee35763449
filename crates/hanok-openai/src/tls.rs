//! rustls with ring, and the certificates that the system trusts.

use std::sync::Arc;

use hanok_model::ModelError;
use reqwest::Url;
use rustls::{ClientConfig, RootCertStore, crypto::ring::default_provider};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::not_configured::missing;

/// How to speak TLS with the server at `base`. The provider is named here and not installed for the whole process.
pub(crate) fn config(base: &Url) -> Result<ClientConfig, ModelError> {
    let refused = |error: rustls::Error| {
        missing(format!("TLS does not work here ({error}); install the system's CA certificates"))
    };
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(refused)?;
    // A server without TLS needs no certificates, and a machine may have none.
    let config = match base.scheme() {
        "https" => config.with_platform_verifier().map_err(refused)?,
        _ => config.with_root_certificates(RootCertStore::empty()),
    };
    Ok(config.with_no_client_auth())
}
