//! A server that this program connects to by streams of its own.

use std::{collections::BTreeMap, time::Duration};

use tokio::io::{AsyncRead, AsyncWrite};

use super::{
    ConfigError, ConfigFault, McpConfig, ServerConfig, ToolSettings, Transport,
    server::{STARTUP, TOOL, name_fault},
    stream::StreamConfig,
};
use crate::redact::Redact;

/// A server that is reached by streams of this program's own, such as one in the same process. Its tools are approved as those of
/// any other.
///
/// ```
/// use hanok_mcp::{AttachedServer, McpConfig};
///
/// let server = AttachedServer::new("notes", || {
///     let (ours, theirs) = tokio::io::duplex(64 * 1024);
///     // A server reads and writes `theirs`, a message a line.
///     drop(theirs);
///     ours
/// });
/// let config = McpConfig::default().attach(server.trust_annotations())?;
/// assert_eq!(config.servers().next().map(|server| server.name()), Some("notes"));
/// # Ok::<(), hanok_mcp::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct AttachedServer(ServerConfig);

impl AttachedServer {
    /// The server `name`, to which `connect` makes each connection: a stream that both sides read and write, a message a line.
    pub fn new<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
        name: impl Into<String>,
        connect: impl Fn() -> S + Send + Sync + 'static,
    ) -> Self {
        Self(ServerConfig {
            name: name.into(),
            transport: Transport::Stream(StreamConfig::new(connect)),
            disabled: false,
            required: false,
            startup_timeout: STARTUP,
            tool_timeout: TOOL,
            enabled_tools: None,
            disabled_tools: Default::default(),
            trusts_annotations: false,
            tools: BTreeMap::new(),
            secrets: Redact::default(),
        })
    }

    /// Lets what the server says of its tools' effects count. Default: it does not.
    pub fn trust_annotations(self) -> Self {
        Self(ServerConfig { trusts_annotations: true, ..self.0 })
    }

    /// Sets the operator's settings of the tool that the server calls `tool`. Default: none.
    pub fn tool(mut self, tool: impl Into<String>, settings: ToolSettings) -> Self {
        self.0.tools.insert(tool.into(), settings);
        self
    }

    /// Sets the time that a call may take. Default: 60 s.
    pub fn tool_timeout(self, tool_timeout: Duration) -> Self {
        Self(ServerConfig { tool_timeout, ..self.0 })
    }

    /// Makes the server one without which there is no client. Default: it is none.
    pub fn required(self) -> Self {
        Self(ServerConfig { required: true, ..self.0 })
    }
}

impl McpConfig {
    /// The configuration with `server` beside its own.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Faulty`] for a name that is none, or that another server has.
    pub fn attach(mut self, server: AttachedServer) -> Result<Self, ConfigError> {
        let AttachedServer(server) = server;
        let name = server.name().to_owned();
        let what = match name_fault(&name) {
            Some(what) => what,
            None if self.servers.contains_key(&name) => "another server is called so".to_owned(),
            None => {
                self.servers.insert(name, server);
                return Ok(self);
            }
        };
        let place = format!("the attached server `{}`", name.escape_debug());
        Err(ConfigError::Faulty { path: self.path, faults: vec![ConfigFault { place, what }] })
    }
}
