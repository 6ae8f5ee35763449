//! All servers of a configuration, and the tools of theirs that were approved.

mod builder;
mod definitions;
mod mcp_client;

pub use builder::McpClientBuilder;
pub use definitions::{DefinitionsDecided, DefinitionsError, ShownChange};
pub use mcp_client::McpClient;
