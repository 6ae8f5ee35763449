//! Which servers there are and what the operator says of them.
//!
//! The configuration is JSON with `mcpServers`, as other programs have it. It is read from a file that the operator names, or
//! from a text; nothing is looked for, so a file that lies in a project starts nothing. Whoever reads it gets all faults at once.

mod attached;
mod error;
mod fields;
mod fill;
mod interpreter;
mod read;
pub(crate) mod server;
mod stream;
mod unversioned;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Duration,
};

use hanok_core::{Effect, Secret};

use stream::StreamConfig;

use crate::redact::Redact;

pub use attached::AttachedServer;
pub use error::{ConfigError, ConfigFault};
pub use read::McpConfigReader;
#[cfg(feature = "oauth")]
pub(crate) use server::is_this_machine;

/// The servers of a configuration.
///
/// ```
/// use hanok_mcp::McpConfig;
///
/// let config = McpConfig::reader().variables(|name| (name == "TOKEN").then(|| "t-1".into())).parse(
///     r#"{"mcpServers": {
///         "files": {"command": "server-files", "args": ["/data"], "tools": {"read": {"effect": "pure"}}},
///         "wiki": {"url": "https://wiki.example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
///     }}"#,
/// )?;
/// assert_eq!(config.servers().map(|server| server.name()).collect::<Vec<_>>(), ["files", "wiki"]);
/// // What the variables say is shown nowhere.
/// assert!(!format!("{config:?}").contains("t-1"));
/// # Ok::<(), hanok_mcp::ConfigError>(())
/// ```
///
/// # Fields of a server
///
/// | field | meaning |
/// | --- | --- |
/// | `command`, `args`, `env`, `cwd` | a program that speaks MCP over its standard input and output; no shell reads them |
/// | `url`, `headers` | a server that speaks streamable HTTP |
/// | `type` | `stdio` or `http`, where it should be checked |
/// | `disabled` | true: the server is not started. Default: false |
/// | `required` | true: without the server there is no client. Default: false |
/// | `startup_timeout` | seconds until it has answered first. Default: 30 |
/// | `tool_timeout`, `timeout` | seconds that a call may take. Default: 60 |
/// | `enabled_tools`, `disabled_tools` | the tools that are taken, by their server's names. Default: all |
/// | `trust` | `annotations`: what the server says of its tools' effects counts. Default: it does not |
/// | `tools` | by tool: `effect` (`pure`, `idempotent`, `at_most_once`), `approval` (`ask`, `allow`, `deny`), `pinned`, `aliases` |
///
/// `${NAME}` in `command`, `args`, `env`, `cwd`, `url` and `headers` is a variable of the environment, and `${NAME:-text}` one
/// with a default.
#[derive(Debug, Clone, Default)]
pub struct McpConfig {
    pub(crate) path: Option<PathBuf>,
    pub(crate) servers: BTreeMap<String, ServerConfig>,
    pub(crate) warnings: Vec<ConfigFault>,
}

impl McpConfig {
    /// The configuration in the file at `path`, with the variables of this process.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] with all faults.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        Self::reader().read(path)
    }

    /// The settings of how a configuration is read.
    pub fn reader() -> McpConfigReader {
        McpConfigReader::default()
    }

    /// The servers, by name. Those that are disabled are among them.
    pub fn servers(&self) -> impl Iterator<Item = &ServerConfig> {
        self.servers.values()
    }

    /// Warnings: a package that is started without its version, a variable that changes which code runs, fields of other programs.
    pub fn warnings(&self) -> &[ConfigFault] {
        &self.warnings
    }
}

/// One server of a configuration.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    pub(crate) name: String,
    pub(crate) transport: Transport,
    pub(crate) disabled: bool,
    pub(crate) required: bool,
    pub(crate) startup_timeout: Duration,
    pub(crate) tool_timeout: Duration,
    pub(crate) enabled_tools: Option<BTreeSet<String>>,
    pub(crate) disabled_tools: BTreeSet<String>,
    pub(crate) trusts_annotations: bool,
    pub(crate) tools: BTreeMap<String, ToolSettings>,
    /// The values that variables filled in and that headers hold.
    pub(crate) secrets: Redact,
}

impl ServerConfig {
    /// The server's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True for a server that is not started.
    pub fn is_disabled(&self) -> bool {
        self.disabled
    }

    /// True for a server without which there is no client.
    pub fn is_required(&self) -> bool {
        self.required
    }

    /// The time until it has to have answered first.
    pub fn startup_timeout(&self) -> Duration {
        self.startup_timeout
    }

    /// The time that a call may take.
    pub fn tool_timeout(&self) -> Duration {
        self.tool_timeout
    }

    /// The operator's settings of the tool that the server calls `tool`.
    ///
    /// ```
    /// use hanok_core::Effect;
    /// use hanok_mcp::McpConfig;
    ///
    /// let config = McpConfig::reader().parse(
    ///     r#"{"mcpServers": {"files": {"command": "server-files", "tools": {"read": {"effect": "pure"}}}}}"#,
    /// )?;
    /// let files = config.servers().next().ok_or("no server")?;
    /// assert_eq!(files.tool("read").effect, Some(Effect::Pure));
    /// assert_eq!(files.tool("write").effect, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tool(&self, tool: &str) -> ToolSettings {
        self.tools.get(tool).cloned().unwrap_or_default()
    }

    /// The tools that the operator names, each with the field that names it.
    pub(crate) fn named_tools(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let enabled = self.enabled_tools.iter().flatten();
        let enabled = enabled.map(|name| ("enabled_tools", name.as_str()));
        let disabled = self.disabled_tools.iter().map(|name| ("disabled_tools", name.as_str()));
        let settings = self.tools.keys().map(|name| ("tools", name.as_str()));
        enabled.chain(disabled).chain(settings)
    }

    /// True for a tool that the operator takes.
    pub(crate) fn takes(&self, tool: &str) -> bool {
        self.enabled_tools.as_ref().is_none_or(|enabled| enabled.contains(tool))
            && !self.disabled_tools.contains(tool)
            && self.tool(tool).approval != Some(ToolApproval::Deny)
    }
}

/// The operator's settings of one tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolSettings {
    /// The effect of a call. Default: at most once, whatever the server says.
    pub effect: Option<Effect>,
    /// The operator's word on calls. Default: as the agent's rules say.
    pub approval: Option<ToolApproval>,
    /// True for a tool that is always shown to the model. Default: false.
    pub pinned: bool,
    /// Other names by which the tool may be found. Default: none.
    pub aliases: Vec<String>,
}

/// The operator's word on calls of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolApproval {
    /// A person is asked before each call.
    Ask,
    /// Calls are made without asking.
    Allow,
    /// The tool is not taken.
    Deny,
}

/// The transport to a server.
#[derive(Debug, Clone)]
pub(crate) enum Transport {
    Stdio(StdioConfig),
    Http(HttpConfig),
    Stream(StreamConfig),
}

/// A program that is started.
#[derive(Debug, Clone)]
pub(crate) struct StdioConfig {
    pub(crate) command: String,
    /// Variables may have put secrets there.
    pub(crate) args: Vec<Secret<String>>,
    pub(crate) env: BTreeMap<String, Secret<String>>,
    pub(crate) cwd: Option<PathBuf>,
    /// The command line as it is written, with the names of its variables.
    pub(crate) written: Vec<String>,
}

/// A server that is reached over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct HttpConfig {
    pub(crate) url: Secret<String>,
    pub(crate) headers: Vec<(String, Secret<String>)>,
    #[cfg(feature = "oauth")]
    pub(crate) oauth: Option<OAuthConfig>,
}

/// The sign-in to a server, as its operator wants it.
#[cfg(feature = "oauth")]
#[derive(Debug, Clone, Default)]
pub(crate) struct OAuthConfig {
    /// The client that is registered already, by its id.
    pub(crate) client_id: Option<String>,
    pub(crate) client_secret: Option<Secret<String>>,
    /// The address of the document that says who the client is.
    pub(crate) client_metadata_url: Option<String>,
    /// What is asked for whatever the server says.
    pub(crate) scopes: Vec<String>,
    /// The addresses of authorization servers that are not public.
    pub(crate) permits: Vec<String>,
}
