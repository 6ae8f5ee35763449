//! The client.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::join_all;
use hanok_model::{SharedTool, ToolSpec};

use super::{builder::McpClientBuilder, offer::OfferedTool};
use crate::{
    catalogue::{self, Change, Entry, Lock, Refusal, Snapshot},
    config::{ConfigFault, McpConfig},
    content::{Prompt, PromptMessage, Resource, ResourceContent, ResourceTemplate},
    error::{McpError, ServerError},
    id::ToolId,
    server::{Server, ServerStatus},
    tool::McpTool,
};

/// The tools of many servers, each by itself. Clones are the same client; its connections are closed with the last one and its
/// tools.
///
/// ```no_run
/// use hanok_mcp::{McpClient, McpConfig};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = McpClient::connect(McpConfig::read("mcp.json")?).await?;
/// for change in client.pending() {
///     println!("{change}\n{}", change.difference());
/// }
/// // After a person has looked:
/// client.approve(&client.pending())?;
/// let tools = client.tools();
/// # drop(tools);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct McpClient(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    servers: BTreeMap<String, Arc<Server>>,
    lock: Mutex<Lock>,
    path: Option<PathBuf>,
    locked: bool,
    /// The servers of the configuration that are not started.
    disabled: BTreeSet<String>,
    /// The warnings of the configuration.
    warnings: Vec<ConfigFault>,
}

impl McpClient {
    pub(super) fn new(
        servers: BTreeMap<String, Arc<Server>>,
        lock: Lock,
        path: Option<PathBuf>,
        locked: bool,
        disabled: BTreeSet<String>,
        warnings: Vec<ConfigFault>,
    ) -> Self {
        let lock = Mutex::new(lock);
        Self(Arc::new(Inner { servers, lock, path, locked, disabled, warnings }))
    }

    /// The settings of a client of these servers.
    pub fn builder(config: McpConfig) -> McpClientBuilder {
        McpClientBuilder::new(config)
    }

    /// Connects to all servers at once, with the settings as they are.
    ///
    /// # Errors
    ///
    /// As [`McpClientBuilder::connect`].
    pub async fn connect(config: McpConfig) -> Result<Self, McpError> {
        Self::builder(config).connect().await
    }

    pub(super) fn servers(&self) -> impl Iterator<Item = &Arc<Server>> {
        self.0.servers.values()
    }

    /// The state of each server, by name.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.servers().map(|server| server.status()).collect()
    }

    /// The warnings of the configuration, and one for each tool that it names and that its server did not list last: a misspelt name
    /// sets nothing.
    pub fn warnings(&self) -> Vec<ConfigFault> {
        let unlisted = self.servers().flat_map(|server| server.unlisted());
        self.0.warnings.iter().cloned().chain(unlisted).collect()
    }

    /// Asks every server again for its tools, and connects to those that were lost; all at once.
    pub async fn refresh(&self) {
        // Why one cannot be used is in its status.
        join_all(self.servers().map(|server| server.refresh())).await;
    }

    /// All tools that the servers listed last and the operator takes, approved or not. Of a server that has listed none yet, those
    /// that were approved.
    pub fn snapshot(&self) -> Snapshot {
        let lock = self.lock().clone();
        let listed = self.servers().flat_map(|server| {
            server.listed().unwrap_or_else(|| {
                let approved = lock.entries().filter(|(id, _)| {
                    id.server() == server.name() && server.config.takes(id.tool())
                });
                approved.map(|(_, entry)| entry).collect()
            })
        });
        Snapshot::new(listed.collect::<Vec<_>>())
    }

    /// The differences between the tools that there are and those that were approved. A tool is offered when its difference was
    /// approved.
    pub fn pending(&self) -> Vec<Change> {
        let lock = self.lock().clone();
        // What a server has that is disabled or was never reached, nobody knows, and what the operator does not take is not missed.
        let should_be = |id: &ToolId| match self.0.servers.get(id.server()) {
            Some(server) => server.listed().is_some() && server.config.takes(id.tool()),
            None => !self.0.disabled.contains(id.server()),
        };
        catalogue::changes(&lock, &self.snapshot(), should_be)
    }

    /// True for a client that is [locked](McpClientBuilder::locked): it approves nothing.
    pub fn is_locked(&self) -> bool {
        self.0.locked
    }

    /// Approves these differences, as they were shown: what has changed since then waits as before. The lock file says so from now
    /// on.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hanok_mcp::{ChangeKind, McpClient, McpConfig};
    ///
    /// let client = McpClient::connect(McpConfig::reader().parse(r#"{"mcpServers": {}}"#)?).await?;
    /// let pending = client.pending();
    /// // Of what is new a person has seen all; what has changed is left for another day.
    /// client.approve(pending.iter().filter(|change| *change.kind() == ChangeKind::Added))?;
    /// # assert_eq!(client.tools().len(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`McpError::ReadOnly`] for a client that is [locked](McpClientBuilder::locked); [`McpError::LockFile`].
    pub fn approve<'a>(
        &self,
        changes: impl IntoIterator<Item = &'a Change>,
    ) -> Result<(), McpError> {
        if self.0.locked {
            return Err(McpError::ReadOnly);
        }
        // Another process may approve at the same time, and may have approved in the meantime.
        let _held = self.0.path.as_deref().map(Lock::hold).transpose()?;
        let mut lock = self.lock();
        let mut approved = match &self.0.path {
            Some(path) => Lock::read(path)?,
            None => lock.clone(),
        };
        changes.into_iter().for_each(|change| approved.approve(change));
        if let Some(path) = &self.0.path {
            approved.write(path)?;
        }
        *lock = approved;
        Ok(())
    }

    /// The approved tools, for agents. Each is called only while it is what was approved: one that is gone or another is
    /// [`McpError::ToolGone`] or [`McpError::ToolChanged`] within the tool's error.
    pub fn tools(&self) -> Vec<SharedTool> {
        self.offer().into_values().map(|offered| offered.tool).collect()
    }

    /// The approved tools, by their names for models: to call, with their definitions, their risks and the operator's settings.
    pub fn offer(&self) -> BTreeMap<String, OfferedTool> {
        let (offered, _) = self.offered();
        let offered = offered.into_iter().filter_map(|(entry, spec)| {
            let (name, id) = (spec.name().to_owned(), entry.definition.id());
            let server = self.0.servers.get(id.server())?;
            let settings = server.config.tool(id.tool());
            // A schema that cannot be used is among the refusals.
            let tool = SharedTool::new(McpTool::new(&entry, spec, server.clone()).ok()?);
            Some((name, OfferedTool::new(tool, entry.definition, entry.hash, settings)))
        });
        offered.collect()
    }

    /// The approved tools that are not offered, each with the reason: a name or a schema that cannot be used.
    pub fn refusals(&self) -> Vec<Refusal> {
        self.offered().1
    }

    /// The resources that `server` lists, at most 4,096. They are data of a stranger's: nothing is fetched, and none is shown to a
    /// model by itself.
    ///
    /// ```no_run
    /// # async fn run(client: hanok_mcp::McpClient) -> Result<(), hanok_mcp::McpError> {
    /// for resource in client.resources("files").await? {
    ///     println!("{}: {}", resource.name, resource.description);
    ///     let contents = client.read_resource("files", &resource.uri).await?;
    ///     let texts = contents.iter().filter_map(|content| content.text.as_deref());
    ///     texts.for_each(|text| println!("{text}"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`McpError::Server`].
    pub async fn resources(&self, server: &str) -> Result<Vec<Resource>, McpError> {
        self.server(server)?.resources().await
    }

    /// The templates of resources that `server` lists, at most 4,096.
    ///
    /// # Errors
    ///
    /// [`McpError::Server`].
    pub async fn resource_templates(
        &self,
        server: &str,
    ) -> Result<Vec<ResourceTemplate>, McpError> {
        self.server(server)?.resource_templates().await
    }

    /// The contents of the resource `uri` of `server`. The server reads it, and nobody else.
    ///
    /// # Errors
    ///
    /// [`McpError::Server`], with [`ServerError::Refused`] for one that there is not.
    pub async fn read_resource(
        &self,
        server: &str,
        uri: &str,
    ) -> Result<Vec<ResourceContent>, McpError> {
        self.server(server)?.read_resource(uri).await
    }

    /// The prompts that `server` lists, at most 4,096.
    ///
    /// # Errors
    ///
    /// [`McpError::Server`].
    pub async fn prompts(&self, server: &str) -> Result<Vec<Prompt>, McpError> {
        self.server(server)?.prompts().await
    }

    /// The messages of the prompt `name` of `server`, filled with `arguments`. They are a stranger's words: whoever hands them to a
    /// model does so knowingly.
    ///
    /// # Errors
    ///
    /// [`McpError::Server`], with [`ServerError::Refused`] for one that there is not or that lacks an argument.
    pub async fn prompt(
        &self,
        server: &str,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Vec<PromptMessage>, McpError> {
        self.server(server)?.prompt(name, arguments).await
    }

    fn server(&self, name: &str) -> Result<&Arc<Server>, McpError> {
        self.0.servers.get(name).ok_or_else(|| McpError::Server {
            server: name.to_owned(),
            source: ServerError::Unknown,
        })
    }

    /// Closes all connections, and waits until they are. Later calls fail.
    pub async fn close(&self) {
        join_all(self.servers().map(|server| server.close())).await;
    }

    fn offered(&self) -> (Vec<(Entry, ToolSpec)>, Vec<Refusal>) {
        let lock = self.lock().clone();
        let snapshot = self.snapshot();
        let approved = snapshot.tools.into_iter().filter_map(|(id, entry)| {
            lock.entry(&id).is_some_and(|locked| locked.hash == entry.hash).then_some(entry)
        });
        catalogue::specs(approved)
    }

    fn lock(&self) -> MutexGuard<'_, Lock> {
        self.0.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
