//! The server, and the ways by which its clients come.

use std::{collections::BTreeMap, fmt, sync::Arc};

use hanok_core::{Answerer, Clock, Tenant};
use hanok_graph::TokioClock;
use rmcp::{ServiceExt, transport::async_rw::AsyncRwTransport};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::{
    error::ServeError,
    graph_tool::GraphTool,
    handler::Handler,
    http::{HttpSettings, LARGEST, McpHttpService},
    seal::SealKey,
    serving::{Caller, ServedTool, Serving},
};

/// Graphs and agents as a server of MCP, for clients of all versions of the protocol up to 2026-07-28. Clones are the same server.
///
/// Each call is a thread of its graph. A client that makes one again under the same key (`hanok/callKey` in `_meta`, as this
/// program's own client sends it) with the same arguments gets that very run: what it has become, or its end, also from another
/// process after a crash. A call that is cancelled stops its run.
///
/// A question of the graph ends the call: a client of 2026-07-28 that asks its user gets it as a form with a sealed state, and makes
/// the call once more with the answer. Any other reads how the thread is called and how it is answered. So it is with a question
/// that is not for this [caller](McpServerBuilder::caller), and with a call in doubt.
///
/// ```no_run
/// use hanok_agent::ReactAgent;
/// use hanok_core::Secret;
/// use hanok_mcp::{GraphTool, McpServer, SealKey};
/// # use hanok_checkpoint::InMemoryCheckpointer;
/// # use hanok_model::ScriptedModel;
///
/// # async fn run(model: ScriptedModel, store: InMemoryCheckpointer, key: Secret<Vec<u8>>) -> Result<(), Box<dyn std::error::Error>> {
/// let agent = ReactAgent::builder("desk", "Answers questions about leave", model).build()?;
/// let app = agent.graph().checkpointer(store);
/// let server = McpServer::builder("desk", "1.0.0", SealKey::new(&key)?).tool(GraphTool::agent(&agent, app, ())?).build()?;
/// server.stdio().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct McpServer(Arc<Serving>);

impl McpServer {
    /// The settings of a server of this name and version, which seals with `seal`.
    pub fn builder(
        name: impl Into<String>,
        version: impl Into<String>,
        seal: SealKey,
    ) -> McpServerBuilder {
        McpServerBuilder {
            name: name.into(),
            version: version.into(),
            seal,
            instructions: None,
            tools: Vec::new(),
            tenant: Tenant::default(),
            clock: Arc::new(TokioClock),
            caller: None,
        }
    }

    /// Serves the client at this process's standard input and output, until it goes. Nothing else may write to the standard output.
    ///
    /// # Errors
    ///
    /// As [`connection`](Self::connection).
    pub async fn stdio(&self) -> Result<(), ServeError> {
        let (read, write) = rmcp::transport::stdio();
        self.connection(read, write).await
    }

    /// Serves one client over a pair of streams, a message a line, until it goes or the server is [closed](Self::close). A message
    /// of more than 4 MiB is left out.
    ///
    /// ```
    /// use hanok_mcp::{McpServer, SealKey};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = McpServer::builder("empty", "1.0.0", SealKey::random()?).build()?;
    /// let (client, ours) = tokio::io::duplex(1024);
    /// drop(client);
    /// let (read, write) = tokio::io::split(ours);
    /// // It went before it had begun.
    /// assert!(server.connection(read, write).await.is_err());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ServeError::NotOpened`], [`ServeError::Connection`].
    pub async fn connection(
        &self,
        read: impl AsyncRead + Send + Unpin + 'static,
        write: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let transport = AsyncRwTransport::new_server(read, write).with_max_line_length(LARGEST);
        let handler = Handler::new(&self.0);
        // The runs of a client that goes are stopped.
        let closing = handler.closing.clone();
        let _closes = closing.clone().drop_guard();
        let serving = handler.serve_with_ct(transport, closing).await;
        let serving = serving.map_err(|error| ServeError::NotOpened(error.into()))?;
        serving.waiting().await.map(drop).map_err(|error| ServeError::Connection(error.into()))
    }

    /// The server over streamable HTTP, to mount where HTTP is served.
    pub fn http(&self, settings: HttpSettings) -> McpHttpService {
        settings.service(Handler::new(&self.0))
    }

    /// Ends all connections. Runs under way are stopped, and go on when their calls are made again.
    pub fn close(&self) {
        self.0.closing.cancel();
    }
}

/// The settings of an [`McpServer`].
#[must_use]
pub struct McpServerBuilder {
    name: String,
    version: String,
    seal: SealKey,
    instructions: Option<String>,
    tools: Vec<GraphTool>,
    tenant: Tenant,
    clock: Arc<dyn Clock>,
    caller: Option<Arc<Caller>>,
}

impl McpServerBuilder {
    /// Adds a tool.
    pub fn tool(mut self, tool: GraphTool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Tells clients how the tools are used. Default: nothing.
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        Self { instructions: Some(instructions.into()), ..self }
    }

    /// Sets the tenant of the threads. Default: the only one.
    pub fn tenant(self, tenant: Tenant) -> Self {
        Self { tenant, ..self }
    }

    /// Sets the clock, by which deadlines pass. Default: tokio's.
    pub fn clock(self, clock: impl Clock) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// Names who calls, by the request over HTTP that the call came with, if it came so; an error in words refuses the call. Threads
    /// are the caller's own: nobody reaches those of another by that one's keys. Questions for an audience are put to whoever
    /// belongs to it. Default: nobody is named, and all callers are one.
    ///
    /// ```
    /// use hanok_core::Answerer;
    /// use hanok_mcp::{McpServer, SealKey};
    ///
    /// let server = McpServer::builder("desk", "1.0.0", SealKey::random()?).caller(|request| {
    ///     // A proxy has checked who it is.
    ///     let user = request.and_then(|request| request.headers.get("x-user")?.to_str().ok());
    ///     user.map(|user| Some(Answerer::new(user, "mcp"))).ok_or_else(|| "sign in first".to_owned())
    /// });
    /// # drop(server.build()?);
    /// # Ok::<(), hanok_mcp::ServeError>(())
    /// ```
    pub fn caller(
        self,
        caller: impl Fn(Option<&http::request::Parts>) -> Result<Option<Answerer>, String>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { caller: Some(Arc::new(caller)), ..self }
    }

    /// Builds the server.
    ///
    /// # Errors
    ///
    /// [`ServeError::SameName`] for two tools of one name; [`ServeError::Schema`] for a schema that is none.
    pub fn build(self) -> Result<McpServer, ServeError> {
        let mut tools = BTreeMap::new();
        for tool in self.tools {
            let name = tool.spec().name().to_owned();
            let served = ServedTool::new(tool);
            let served =
                served.map_err(|source| ServeError::Schema { tool: name.clone(), source })?;
            if tools.insert(name.clone(), served).is_some() {
                return Err(ServeError::SameName { tool: name });
            }
        }
        Ok(McpServer(Arc::new(Serving {
            name: self.name,
            version: self.version,
            instructions: self.instructions,
            tools,
            seal: self.seal,
            tenant: self.tenant,
            clock: self.clock,
            closing: CancellationToken::new(),
            caller: self.caller,
        })))
    }
}

impl fmt::Debug for McpServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServerBuilder")
            .field("name", &self.name)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
