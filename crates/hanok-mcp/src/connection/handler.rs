//! What the client answers to its servers, and hears of them.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion},
    service::NotificationContext,
};

/// True when a server has said that its tools are others. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct ListChanged(Arc<AtomicBool>);

impl ListChanged {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it was said since this was asked last.
    pub(super) fn take(&self) -> bool {
        self.0.swap(false, Ordering::SeqCst)
    }
}

/// The client as its servers see it: it has tools called, and offers nothing. What a server asks of it (roots, sampling, a form) is
/// declined.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    pub(super) changed: ListChanged,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("hanok", env!("CARGO_PKG_VERSION"));
        let mut info = ClientConfig::new(ClientCapabilities::default(), client);
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.set();
    }
}
