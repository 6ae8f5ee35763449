//! Tools of anybody's MCP servers for hanok's agents: isolated, bounded, and offered only once they were approved.
//!
//! A [`McpConfig`] names the servers, a [`McpClient`] connects to all of them at once, and its [`tools`](McpClient::tools) are
//! tools as any other: an agent takes them.
//!
//! ```no_run
//! use hanok_agent::ReactAgent;
//! use hanok_mcp::{McpClient, McpConfig};
//! # use hanok_model::ScriptedModel;
//!
//! # async fn run(model: ScriptedModel) -> Result<(), Box<dyn std::error::Error>> {
//! let client = McpClient::connect(McpConfig::read("mcp.json")?).await?;
//! for change in client.pending() {
//!     println!("{change}\n{}", change.difference());
//! }
//! // After a person has looked:
//! client.approve(&client.pending())?;
//! let agent = ReactAgent::builder("desk", "Works with the servers' tools", model).tools(client.tools()).build()?;
//! # drop(agent);
//! # Ok(())
//! # }
//! ```
//!
//! # What is offered
//!
//! A tool is offered when the lock file (`mcp.lock` beside the configuration) has it as it is: by a BLAKE3 hash over the server's
//! identity (its command line and the hash of its program, or its address), name, description, schemas and annotations. What is
//! new, changed, renamed or moved waits as a [`Change`] for approval. A server tells of changes or is asked before use, every
//! 300 s and over each new connection; a tool that is gone or another is not called ([`McpError::ToolGone`],
//! [`McpError::ToolChanged`]). Of a program that an interpreter runs, the hash is the interpreter's.
//!
//! Models call a tool by [`ToolId::model_name`]. Descriptions have at most 4 KiB, results 256 KiB; hidden and acting characters
//! of descriptions are shown as escapes.
//!
//! # What a call may do
//!
//! Annotations are hints of a stranger: without the operator's word every tool is
//! [`AtMostOnce`](hanok_core::Effect::AtMostOnce). Each call carries its [`CallKey`](hanok_core::CallKey) in `_meta`, as
//! `hanok/callKey`. A call whose connection is lost is made again when the server surely has not taken it, or when the tool may be
//! repeated; else it is [in doubt](hanok_model::ToolError::InDoubt).
//!
//! # What a server may not do
//!
//! A program is started without a shell, in a process group of its own that ends with the client, and sees `PATH`, `HOME`, `LANG`,
//! `TMPDIR` and the variables that its `env` lists. Of its standard error the last 64 KiB are remembered. A message of more than
//! 8 MiB or 64 levels ends the connection, as do 10,000 messages in a row that answer nothing. Redirects are not followed, and
//! nothing is fetched from an address that a server names. It is told of no roots; sampling and forms are declined.

mod catalogue;
mod client;
mod config;
mod connection;
mod content;
mod depth;
mod elicitation;
mod error;
mod id;
mod redact;
mod server;
mod text;
mod tool;

// The crates whose types stand in what this one says.
pub use hanok_core as core;
pub use hanok_model as model;

pub use catalogue::{Annotations, Change, ChangeKind, Refusal, Snapshot, ToolDefinition, ToolHash};
pub use client::{McpClient, McpClientBuilder};
pub use config::{
    ConfigError, ConfigFault, McpConfig, McpConfigReader, ServerConfig, ToolApproval, ToolSettings,
};
pub use connection::{Lifecycle, Progress, ServerLog};
pub use content::{
    Prompt, PromptArgument, PromptMessage, PromptRole, Resource, ResourceContent, ResourceTemplate,
};
pub use elicitation::{Elicitation, ElicitationAnswer, ElicitationMode, Elicitor};
pub use error::{McpError, ServerError};
pub use id::ToolId;
pub use server::{ServerStatus, TaskProgress};
pub use tool::ResultFault;
