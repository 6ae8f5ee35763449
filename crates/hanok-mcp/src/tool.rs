//! Tools of servers as tools of agents.

mod effect;
mod mcp_tool;
mod result;

pub use result::ResultFault;

pub(crate) use mcp_tool::McpTool;
