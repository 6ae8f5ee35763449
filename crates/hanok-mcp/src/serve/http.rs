//! Streamable HTTP, as a service to mount.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};

use super::handler::Handler;

/// The most bytes of a client's message.
pub(super) const LARGEST: usize = 4 * 1024 * 1024;

/// A server over streamable HTTP, as a service of `tower`: mount it in `axum` or run it with `hyper`.
pub type McpHttpService = StreamableHttpService<Handler, LocalSessionManager>;

/// What an HTTP server lets in. By default a program of this machine alone: what names another host than `localhost`, `127.0.0.1`
/// or `::1`, or comes from a page of the web, is refused.
///
/// ```
/// use hanok_mcp::HttpSettings;
///
/// let settings = HttpSettings::default().hosts(["desk.example.com"]).origins(["https://desk.example.com:443"]);
/// # drop(settings);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct HttpSettings {
    hosts: Vec<String>,
    origins: Vec<String>,
    largest: usize,
}

impl Default for HttpSettings {
    fn default() -> Self {
        let hosts = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        Self { hosts, origins: Vec::new(), largest: LARGEST }
    }
}

impl HttpSettings {
    /// Sets the names that a request may have in its `Host`, each with a port or without. Whatever another name leads here, such as
    /// one of an attacker's that was bound to this machine, is refused. Default: the names of this machine for itself.
    pub fn hosts(self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { hosts: hosts.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets the pages whose scripts may call, by their `Origin`, such as `https://desk.example.com:443`. A request without one comes
    /// from no page. Default: none.
    pub fn origins(self, origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { origins: origins.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets the most bytes of a request. Default: 4 MiB.
    pub fn largest_request(self, bytes: usize) -> Self {
        Self { largest: bytes, ..self }
    }

    /// The service of `handler`.
    pub(super) fn service(self, handler: Handler) -> McpHttpService {
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(self.hosts)
            .with_allowed_origins(self.origins)
            .enforce_origin_validation()
            .with_cancellation_token(handler.closing.clone())
            .with_max_request_body_bytes(self.largest);
        let sessions = Arc::new(LocalSessionManager::default());
        StreamableHttpService::new(move || Ok(handler.clone()), sessions, config)
    }
}
