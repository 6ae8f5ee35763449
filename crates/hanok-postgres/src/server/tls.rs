//! TLS by rustls with ring. Certificates are always verified.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use hanok_core::BoxFuture;
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, ServerName, pem, pem::PemObject},
};
use rustls_platform_verifier::BuilderVerifierExt;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

/// Why TLS cannot be spoken.
#[derive(Debug, Error)]
pub(crate) enum Unable {
    #[error("the certificate authorities are no PEM of certificates")]
    Pem(#[source] pem::Error),
    #[error("no certificate authority is given")]
    NoAuthority,
    #[error("TLS does not work here")]
    Rustls(#[from] rustls::Error),
}

/// Speaks TLS with servers.
#[derive(Clone)]
pub(crate) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts the authorities in `pem`, or those of the system.
    pub(crate) fn new(pem: Option<&[u8]>) -> Result<Self, Unable> {
        // The provider is named here and not installed for the whole process.
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?;
        let config = match pem {
            Some(pem) => config.with_root_certificates(authorities(pem)?),
            None => config.with_platform_verifier()?,
        };
        Ok(Self(Arc::new(config.with_no_client_auth())))
    }

    /// Trusts nobody: for connections without TLS, on machines without certificates.
    pub(crate) fn none() -> Result<Self, Unable> {
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(RootCertStore::empty());
        Ok(Self(Arc::new(config.with_no_client_auth())))
    }
}

fn authorities(pem: &[u8]) -> Result<RootCertStore, Unable> {
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        store.add(certificate.map_err(Unable::Pem)?)?;
    }
    if store.is_empty() { Err(Unable::NoAuthority) } else { Ok(store) }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Tls {
    type Stream = Stream<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let server = ServerName::try_from(host).map_err(io::Error::other)?.to_owned();
        Ok(Handshake { connector: Arc::clone(&self.0).into(), server })
    }
}

/// The state that a handshake of TLS begins with.
pub(crate) struct Handshake {
    connector: TlsConnector,
    server: ServerName<'static>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for Handshake {
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Stream<S>>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { Ok(Stream(self.connector.connect(self.server, stream).await?)) })
    }
}

/// A connection with TLS.
pub(crate) struct Stream<S>(client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Stream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        // The certificate is verified, so nobody stands between.
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
