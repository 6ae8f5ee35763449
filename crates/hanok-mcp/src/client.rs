//! All servers of a configuration, and the tools of theirs that were approved.

mod builder;
mod definitions;
mod indexed;
mod mcp_client;
mod offer;

pub use builder::McpClientBuilder;
pub use definitions::{DefinitionsDecided, DefinitionsError, ShownChange};
pub use indexed::IndexedClient;
pub use mcp_client::McpClient;
pub use offer::OfferedTool;
