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
//! new, changed, renamed or moved waits as a [`Change`] for approval, or is [asked about](McpClient::ask_about) in a run. A server tells of changes or is asked before use, every
//! 300 s and over each new connection; a tool that is gone or another is not called ([`McpError::ToolGone`],
//! [`McpError::ToolChanged`]). Of a program that an interpreter runs, the hash is the interpreter's.
//!
//! [`McpClient::offer`] has each tool with its definition, its [`Risk`](hanok_core::Risk) and the operator's settings; an
//! [`IndexedClient`] finds those that fit a question, where there are more than a model should be shown.
//!
//! Models call a tool by [`ToolId::model_name`]. Descriptions have at most 4 KiB; hidden and acting characters of them are
//! shown as escapes. A result is whole, at most 8 MiB: an agent shows its model 256 KiB of it, and can
//! [store](hanok_agent::ReactAgentBuilder::large_results) the rest.
//!
//! # What a call may do
//!
//! Annotations are hints of a stranger: without the operator's word every tool is
//! [`AtMostOnce`](hanok_core::Effect::AtMostOnce). Each call carries its [`CallKey`](hanok_core::CallKey) in `_meta`, as
//! `hanok/callKey`. A call whose connection is lost is made again when the server surely has not taken it, or when the tool may be
//! repeated; else it is [in doubt](hanok_model::ToolError::InDoubt), as is one that is not answered in time and may not be repeated.
//!
//! # What a server may ask
//!
//! A server of 2026-07-28 that asks a person before it goes on is answered through the run of its call: the questions are noted
//! ([`Call::note`](hanok_core::Call::note)) and put at the gate [`Elicitation`](hanok_agent::Gate::Elicitation), the run ends, and
//! whichever process gets the decision makes the call once more with it, days later if need be: an edit that fills the form of the
//! [`Elicitation`], or what an [`ElicitationAnswer`] is. No time-out runs meanwhile. A server of an older version waits within the call: an [`Elicitor`] answers at once, within 120 s for which the
//! call's own time does not run, or the question is cancelled and the call's result says so. A call that can ask nobody cancels.
//!
//! A field that looks like a secret is never asked for: the call ends with [`ServerError::SecretAsked`]. An address is shown, and
//! nothing opens it. A call asks at most 10 times. There are no roots, and no words of a model for a server.
//!
//! # Calls that take long
//!
//! A task that a server begins for a call (the extension `io.modelcontextprotocol/tasks`) is noted before it is polled. Whichever
//! process makes the call again polls the same task, so that a tool that must not be repeated may take an hour and outlive its
//! client. It is polled as often as the server wishes, at least once a minute and at most ten times a second, for up to 24 h in one
//! run. When the turn stops, the server is asked to stop the task; a run that is dropped or killed leaves it alone. The questions of
//! a task are those of its call. A task that the server has forgotten is [in doubt](hanok_model::ToolError::InDoubt): the run fails
//! with that, and the tool is not called again before a person has settled what became of it.
//!
//! [`Progress`] and [`ServerLog`] go to the observers of the call, at most 1,000 items of one request, and [`TaskProgress`] when a
//! task is in another state.
//!
//! # Resources and prompts
//!
//! [`McpClient::resources`], [`read_resource`](McpClient::read_resource), [`prompts`](McpClient::prompts) and
//! [`prompt`](McpClient::prompt) are data for programs: bounded, with hidden characters as escapes. None goes to a model by itself.
//!
//! # Graphs and agents as a server
//!
//! With the feature `server`, a `GraphTool` is a graph or an agent as a tool, and an `McpServer` offers it over standard streams and
//! streamable HTTP. A call is a thread by its key; what the graph asks is a form with a sealed state, or an error that names the thread.
//! An [`AttachedServer`] is a server by streams of this program's own.
//!
//! # Servers that want to know who asks
//!
//! With the feature `oauth`, a server over HTTP whose configuration has `oauth` is signed in to: `SignIn` shows a person the page,
//! and the browser comes back to this machine. That is OAuth 2.1 as MCP has it: metadata of the server, PKCE, a registered client, a
//! document of the client or a registration of its own, `resource`, `iss`, more scopes when a call needs them. Tokens are of one
//! server at one address, are renewed by themselves, and lie in a `TokenFolder`. Metadata and tokens are fetched from public addresses
//! alone, from this machine for a server of this machine, and from what `permit` lists. The time of a person is in no time-out of a server.
//!
//! # What a server may not do
//!
//! A program is started without a shell, in a process group of its own that ends with the client, and sees `PATH`, `HOME`, `LANG`,
//! `TMPDIR` and the variables that its `env` lists. Of its standard error the last 64 KiB are remembered. A message of more than
//! 8 MiB or 64 levels ends the connection, as do 10,000 messages in a row that answer nothing. Redirects are not followed, and
//! nothing is fetched from an address that a server names, but for that of its authorization. It is told of no roots, and sampling is declined.

mod authorization;
mod catalogue;
mod client;
mod config;
mod connection;
mod content;
mod depth;
mod elicitation;
mod error;
mod file;
mod id;
mod redact;
mod secret;
#[cfg(feature = "server")]
mod serve;
mod server;
mod text;
mod tool;

// The crates whose types stand in what this one says.
pub use hanok_agent as agent;
pub use hanok_core as core;
pub use hanok_graph as graph;
pub use hanok_model as model;

#[cfg(feature = "oauth")]
pub use authorization::{SignIn, SignInPage, TokenFolder};
pub use catalogue::{Annotations, Change, ChangeKind, Refusal, Snapshot, ToolDefinition, ToolHash};
pub use client::{
    DefinitionsDecided, DefinitionsError, IndexedClient, McpClient, McpClientBuilder, OfferedTool,
    ShownChange,
};
pub use config::{
    AttachedServer, ConfigError, ConfigFault, McpConfig, McpConfigReader, ServerConfig,
    ToolApproval, ToolSettings,
};
pub use connection::{Lifecycle, Progress, ServerLog};
pub use content::{
    Prompt, PromptArgument, PromptMessage, PromptRole, Resource, ResourceContent, ResourceTemplate,
};
pub use elicitation::{Elicitation, ElicitationAnswer, ElicitationMode, Elicitor};
pub use error::{McpError, ServerError};
pub use id::ToolId;
#[cfg(feature = "server")]
pub use serve::{
    GraphTool, HttpSettings, McpHttpService, McpServer, McpServerBuilder, SealKey, ServeError,
};
pub use server::{ServerStatus, TaskProgress};
pub use tool::ResultFault;
