//! The client as its servers see it.

use rmcp::{
    ClientHandler,
    model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion},
};

/// A client that has tools called, and offers nothing: there are no roots, and what else a server asks of it (sampling, a form) is
/// declined.
#[derive(Debug, Clone)]
pub(super) struct Handler;

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("hanok", env!("CARGO_PKG_VERSION"));
        let mut info = ClientConfig::new(ClientCapabilities::default(), client);
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }
}
