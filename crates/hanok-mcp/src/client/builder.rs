//! Settings of a client.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use futures::future::join_all;
use hanok_core::{Clock, SystemClock};

use super::mcp_client::McpClient;
#[cfg(feature = "oauth")]
use crate::authorization::{SignIn, TokenFolder};
use crate::{
    authorization::Authorizer,
    catalogue::Lock,
    config::McpConfig,
    elicitation::{Elicitor, Prompter, SharedElicitor},
    error::McpError,
    server::Server,
};

/// The name of the lock file beside a configuration.
const LOCK: &str = "mcp.lock";

/// The settings of an [`McpClient`].
#[derive(Debug, Clone)]
#[must_use]
pub struct McpClientBuilder {
    config: McpConfig,
    lock: Option<PathBuf>,
    locked: bool,
    clock: Arc<dyn Clock>,
    elicitor: Option<SharedElicitor>,
    authorizer: Authorizer,
}

impl McpClientBuilder {
    pub(super) fn new(config: McpConfig) -> Self {
        let lock = config.path.as_deref().map(|path| path.with_file_name(LOCK));
        let (clock, authorizer) = (Arc::new(SystemClock), Authorizer::default());
        Self { config, lock, locked: false, clock, elicitor: None, authorizer }
    }

    /// Sets the lock file, which says what was approved. Default: `mcp.lock` beside the configuration; without a file of either,
    /// approvals last as long as the client.
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// use hanok_mcp::{McpClient, McpConfig};
    ///
    /// let config = McpConfig::read("/etc/desk/mcp.json")?;
    /// let client = McpClient::builder(config).lock_file("/var/lib/desk/mcp.lock").connect().await?;
    /// # drop(client);
    /// # Ok(())
    /// # }
    /// ```
    pub fn lock_file(self, path: impl AsRef<Path>) -> Self {
        Self { lock: Some(path.as_ref().to_owned()), ..self }
    }

    /// Refuses every difference from the lock file, as a build server should: [`connect`](Self::connect) fails, and nothing can be
    /// approved. Default: differences wait for approval.
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// use hanok_mcp::{McpClient, McpConfig, McpError};
    ///
    /// match McpClient::builder(McpConfig::read("mcp.json")?).locked().connect().await {
    ///     Err(McpError::Locked { changes }) => println!("approve these first: {}", changes.join("; ")),
    ///     connected => drop(connected?),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn locked(self) -> Self {
        Self { locked: true, ..self }
    }

    /// Sets the clock. Default: the system's.
    pub fn clock(self, clock: impl Clock) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Sets who answers questions of servers that wait for the answer within the call: those of the versions up to 2025-11-25.
    /// Default: nobody; such a question is cancelled, and the call's result says so.
    pub fn elicitor(self, elicitor: impl Elicitor) -> Self {
        Self { elicitor: Some(SharedElicitor::new(elicitor)), ..self }
    }

    /// Sets how a person signs in to a server whose configuration has `oauth`. Default: nobody can; such a server is used with
    /// the tokens that there are.
    #[cfg(feature = "oauth")]
    pub fn sign_in(mut self, sign_in: SignIn) -> Self {
        self.authorizer.sign_in = Some(sign_in);
        self
    }

    /// Sets the folder of the tokens. Default: they are forgotten with the client.
    #[cfg(feature = "oauth")]
    pub fn tokens(mut self, folder: TokenFolder) -> Self {
        self.authorizer.tokens = Some(folder);
        self
    }

    /// Connects to all servers at once. One that cannot be reached costs its own tools, unless it is required.
    ///
    /// # Errors
    ///
    /// [`McpError::Server`] for a required server; [`McpError::Locked`] with every difference, where none is allowed;
    /// [`McpError::LockFile`].
    pub async fn connect(self) -> Result<McpClient, McpError> {
        let lock = match &self.lock {
            Some(path) => Lock::read(path)?,
            None => Lock::default(),
        };
        let (disabled, enabled): (Vec<_>, Vec<_>) =
            self.config.servers.into_values().partition(|server| server.disabled);
        let disabled = disabled.into_iter().map(|server| server.name).collect();
        let prompter = Prompter { elicitor: self.elicitor, clock: self.clock };
        let servers = enabled.into_iter().map(|config| {
            let (prompter, authorizer) = (prompter.clone(), self.authorizer.clone());
            (config.name().to_owned(), Arc::new(Server::new(config, prompter, authorizer)))
        });
        let (servers, warnings) = (servers.collect(), self.config.warnings);
        let client = McpClient::new(servers, lock, self.lock, self.locked, disabled, warnings);
        let connected = join_all(
            client.servers().map(|server| async move { (server, server.refresh().await) }),
        );
        for (server, connected) in connected.await {
            if let Err(source) = connected
                && server.config.is_required()
            {
                client.close().await;
                return Err(McpError::Server { server: server.name().to_owned(), source });
            }
        }
        let changes = client.pending();
        if self.locked && !changes.is_empty() {
            client.close().await;
            return Err(McpError::Locked {
                changes: changes.iter().map(ToString::to_string).collect(),
            });
        }
        Ok(client)
    }
}
