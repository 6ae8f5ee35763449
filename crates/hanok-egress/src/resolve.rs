//! Names to addresses.

use std::{fmt, io, net::IpAddr};

use hanok_core::BoxFuture;

/// Resolves the names of hosts. Whatever it answers is checked before a connection is made, and only what was checked is
/// connected to: it is asked once for every request.
pub trait Resolve: fmt::Debug + Send + Sync + 'static {
    /// The addresses of `host`, a name in ASCII without a trailing dot. No address is as good as an error.
    fn resolve(&self, host: &str) -> BoxFuture<'_, io::Result<Vec<IpAddr>>>;
}

/// The resolver of the system, on tokio's threads for blocking work.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str) -> BoxFuture<'_, io::Result<Vec<IpAddr>>> {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
