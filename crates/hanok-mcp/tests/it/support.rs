//! Servers, clients and a clock for these tests.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use hanok_core::{BoxFuture, Call, CallKey, Clock, Timestamp};
use hanok_mcp::{McpClient, McpClientBuilder, McpConfig};
use hanok_model::{SharedTool, Tool, ToolError, ToolOutput};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

/// A time within which whatever has to happen happens, on the slowest machine.
pub(crate) const AT_LAST: Duration = Duration::from_secs(120);

/// A clock that is set by hand, from which also the sleepers hear.
#[derive(Debug, Clone)]
pub(crate) struct HandClock {
    now: Arc<watch::Sender<Duration>>,
    sleeps: Arc<Mutex<Vec<Duration>>>,
}

impl HandClock {
    pub(crate) fn new() -> Self {
        let now = Arc::new(watch::Sender::new(Duration::from_secs(1_000)));
        Self { now, sleeps: Arc::default() }
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.now.send_modify(|now| *now += by);
    }

    /// How often somebody began to sleep for so long.
    pub(crate) fn sleeps(&self, duration: Duration) -> usize {
        self.sleeps.lock().unwrap().iter().filter(|slept| **slept == duration).count()
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp(0).plus(*self.now.borrow())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let mut time = self.now.subscribe();
        let until = *time.borrow() + duration;
        self.sleeps.lock().unwrap().push(duration);
        Box::pin(async move {
            if time.wait_for(|now| *now >= until).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

/// A folder with what the servers of one test share.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) clock: HandClock,
    servers: BTreeMap<String, Value>,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, clock: HandClock::new(), servers: BTreeMap::new() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A server that is this program, with these settings beside.
    pub(crate) fn server_with(
        mut self,
        name: &str,
        mode: &str,
        tools: &[Value],
        more: Value,
    ) -> Self {
        let tools_file = self.path(&format!("{name}.tools"));
        let mut env = json!({"MODE": mode, "LEDGER": self.path(&format!("{name}.ledger")), "PID": self.path(&format!("{name}.pid"))});
        if !tools.is_empty() {
            std::fs::write(&tools_file, json!(tools).to_string()).unwrap();
            env["TOOLS"] = json!(tools_file);
        }
        let mut server = json!({
            "command": std::env::current_exe().unwrap(),
            "args": ["--exact", "program::serve", "--nocapture"],
            "env": env,
        });
        server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.servers.insert(name.to_owned(), server);
        self
    }

    pub(crate) fn server(self, name: &str, mode: &str, tools: &[Value]) -> Self {
        self.server_with(name, mode, tools, json!({}))
    }

    /// Any server.
    pub(crate) fn any(mut self, name: &str, server: Value) -> Self {
        self.servers.insert(name.to_owned(), server);
        self
    }

    /// Other tools of a server from now on.
    pub(crate) fn set_tools(&self, name: &str, tools: &[Value]) {
        std::fs::write(self.path(&format!("{name}.tools")), json!(tools).to_string()).unwrap();
    }

    /// The calls that a server has taken.
    pub(crate) fn ledger(&self, name: &str) -> Vec<String> {
        let text =
            std::fs::read_to_string(self.path(&format!("{name}.ledger"))).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits until a server has taken so many calls.
    pub(crate) async fn taken(&self, name: &str, calls: usize) {
        let waiting = async {
            while self.ledger(name).len() < calls {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(AT_LAST, waiting).await.unwrap();
    }

    /// Kills a server, and waits until its client has seen it: until then it may still take what is written to it.
    pub(crate) async fn kill(&self, client: &McpClient, name: &str) {
        let pid = std::fs::read_to_string(self.path(&format!("{name}.pid"))).unwrap();
        assert!(std::process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        let is_connected = || client.status().iter().any(|it| it.server == name && it.is_connected);
        assert!(tokio::time::timeout(AT_LAST, until(|| !is_connected())).await.is_ok());
    }

    pub(crate) fn builder(&self) -> McpClientBuilder {
        std::fs::write(self.path("mcp.json"), json!({"mcpServers": self.servers}).to_string())
            .unwrap();
        let config = McpConfig::read(self.path("mcp.json")).unwrap();
        McpClient::builder(config).clock(self.clock.clone())
    }

    /// A client whose servers' tools are approved as they are.
    pub(crate) async fn approved(&self) -> McpClient {
        let client = self.builder().connect().await.unwrap();
        client.approve(&client.pending()).unwrap();
        client
    }

    pub(crate) fn call(&self, key: &str) -> Call {
        Call::new(CallKey::new(key), Arc::new(self.clock.clone()))
    }

    /// Calls `name` of `client`, with `{"text": "…"}`.
    pub(crate) async fn run(
        &self,
        client: &McpClient,
        name: &str,
        key: &str,
    ) -> Result<String, String> {
        let made = self.run_tool(&tool_of(client, name), key).await;
        made.map(|output| output.text).map_err(|error| error.report())
    }

    pub(crate) async fn run_tool(
        &self,
        tool: &SharedTool,
        key: &str,
    ) -> Result<ToolOutput, ToolError> {
        let arguments = json!({"text": key}).to_string().as_str().into();
        let running = self.call(key);
        let made = tool.run(&arguments, &running);
        tokio::time::timeout(AT_LAST, made).await.expect("an end")
    }
}

/// Waits until a process is dead. One that nobody has waited for is still in the table, and dead all the same.
pub(crate) async fn until_dead(pid: &str) {
    tokio::time::timeout(AT_LAST, until(|| !is_alive(pid))).await.unwrap();
}

/// Waits until it is so.
async fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) fn is_alive(pid: &str) -> bool {
    if cfg!(target_os = "linux") {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        return !status.is_empty() && !status.contains(") Z ");
    }
    let listed =
        std::process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    !listed.stdout.is_empty() && !listed.stdout.starts_with(b"Z")
}

/// The tool that models call `name`.
pub(crate) fn tool_of(client: &McpClient, name: &str) -> SharedTool {
    client
        .tools()
        .into_iter()
        .find(|tool| tool.spec().name() == name)
        .unwrap_or_else(|| panic!("no `{name}`"))
}

/// The names of the tools that are offered.
pub(crate) fn names(client: &McpClient) -> Vec<String> {
    client.tools().iter().map(|tool| tool.spec().name().to_owned()).collect()
}
