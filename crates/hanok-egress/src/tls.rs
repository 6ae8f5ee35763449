//! rustls with ring, and the certificates that the system trusts.

use std::sync::Arc;

use rustls::{ClientConfig, Error, crypto::ring::default_provider, pki_types::CertificateDer};
use rustls_platform_verifier::Verifier;

/// How to speak TLS, trusting `roots` besides. The provider is named here and not installed for the whole process.
pub(crate) fn config(roots: Vec<CertificateDer<'static>>) -> Result<ClientConfig, Error> {
    let provider = Arc::new(default_provider());
    let verifier = match roots.is_empty() {
        true => Verifier::new(provider.clone())?,
        false => Verifier::new_with_extra_roots(roots, provider.clone())?,
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
