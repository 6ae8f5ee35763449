//! Graphs and agents as the tools of a server of this program's own.
//!
//! A [`GraphTool`] is a graph with a way in and a way out. A call of it is a thread: [`call`] names it after the call's key, runs it,
//! and says what became of it. What the graph asks is a [`form`] with a [`seal`]ed state, or an error that names the thread.
//! [`handler`] is what the protocol sees; [`mcp_server`] has the ways by which clients come.

mod call;
mod error;
mod form;
mod graph_tool;
mod handler;
mod http;
mod mcp_server;
mod outcome;
mod seal;
mod serving;

pub use error::ServeError;
pub use graph_tool::GraphTool;
pub use http::{HttpSettings, McpHttpService};
pub use mcp_server::{McpServer, McpServerBuilder};
pub use seal::SealKey;
