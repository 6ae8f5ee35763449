//! Calls of an MCP server's tool that cost nothing: as a node makes them, and bare, by the library of the protocol.

use std::process::Stdio;

use hanok_agent::{Approval, ApprovalRule, ReactAgent, ToolRegistry, ToolRunner};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_mcp::{AttachedServer, McpClient, McpConfig};
use hanok_model::{FnTool, SharedTool, Tool as _, ToolSpec};
use hanok_state::{State, ToolCall};
use rmcp::{
    ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject,
        ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
        Tool,
    },
    service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService},
    transport::async_rw::AsyncRwTransport,
};
use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    process::{Child, Command},
};

use super::{steps::Steps, thread};
use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

/// The calls whose costs are added.
const CALLS: usize = 500;
/// The turns of four steps.
const TURNS: usize = 100;
/// The tool, as its server calls it.
const TOOL: &str = "echo";
/// The variable by which this program knows that it is the server.
const SERVER: &str = "HANOK_BENCH_MCP_SERVER";

/// A server with one tool, which says what it is told.
#[derive(Debug, Clone)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        let schema = schema.as_object().cloned().unwrap_or_default();
        Ok(ListToolsResult::with_all_items(vec![Tool::new(TOOL, "Says what it is told", schema)]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// Serves at the standard streams, if this process is to be the server; true if it was.
pub(crate) fn serve() -> Result<bool> {
    if std::env::var_os(SERVER).is_none() {
        return Ok(false);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let transport = AsyncRwTransport::new_server(tokio::io::stdin(), tokio::io::stdout());
        Echo.serve(transport).await?.waiting().await?;
        Ok(true)
    })
}

/// A connection to a server in this process.
fn in_process() -> tokio::io::DuplexStream {
    let (client, server) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        let (read, write) = tokio::io::split(server);
        if let Ok(serving) = Echo.serve(AsyncRwTransport::new_server(read, write)).await {
            // A client may go whenever it likes.
            let _ = serving.waiting().await;
        }
    });
    client
}

fn arguments(n: usize) -> JsonObject {
    JsonObject::from_iter([("text".to_owned(), format!("휴가 {n}").into())])
}

type Bare = RunningService<RoleClient, ()>;

/// The library's own client.
async fn bare(
    read: impl AsyncRead + Send + Unpin + 'static,
    write: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<Bare> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let mode = ClientLifecycleMode::Discover { preferred_versions };
    Ok(().serve_with_lifecycle(AsyncRwTransport::new_client(read, write), mode).await?)
}

/// The microseconds of a call by the library's own client.
async fn bare_call(client: &Bare) -> Result<f64> {
    let cpu = Cpu::start();
    for n in 0..CALLS {
        let request = CallToolRequestParams::new(TOOL).with_arguments(arguments(n));
        let result = client.peer().call_tool(request).await?;
        ensure(result.is_error != Some(true), "a call failed")?;
    }
    Ok(cpu.micros() / CALLS as f64)
}

#[derive(State, Clone, Default)]
struct Calls {
    made: u64,
}

/// The microseconds of a call that a node makes: judged, announced in the log, made at most once, its result in the log.
async fn call(client: &McpClient) -> Result<f64> {
    let tools = client.tools();
    let name = tools.first().ok_or("the server has no tool")?.spec().name().to_owned();
    let rule = ApprovalRule::new().when(|request| request.call.arguments.as_str().len() > 1_000);
    let runner = ToolRunner::new(ToolRegistry::new(tools)?);
    let runner = runner.intercept(Approval::new().tool_with(&name, rule));
    let work = move |_: Snapshot<Calls>, context: Context| {
        let (runner, name) = (runner.clone(), name.clone());
        async move {
            let mut made = 0;
            for n in 0..CALLS {
                let arguments = serde_json::Value::from(arguments(n)).to_string();
                let call = ToolCall::new(n.to_string(), &name, arguments);
                let result = runner.run(&context, &call).await?;
                made += u64::from(result.observation.text == format!("휴가 {n}"));
            }
            Ok::<_, hanok_agent::ToolCallError>(Calls::update().made(made))
        }
    };
    let graph = Graph::<Calls>::builder("calls").node("work", work);
    let graph = graph.edge(START, "work").edge("work", END).build()?;
    let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(thread("t")?);
    let cpu = Cpu::start();
    let state = thread.invoke(Calls::update(), ()).await?.done()?;
    let each = cpu.micros() / CALLS as f64;
    ensure(state.made == CALLS as u64, "the results")?;
    Ok(each)
}

/// The client of `config`, whose tools are approved.
async fn approved(config: McpConfig) -> Result<McpClient> {
    let client = McpClient::connect(config).await?;
    client.approve(&client.pending())?;
    Ok(client)
}

/// This program as the server, for the library's own client.
fn program() -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env(SERVER, "1").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    Ok(command.spawn()?)
}

/// A tool that costs nothing.
fn free(name: &str) -> Result<SharedTool> {
    let spec = ToolSpec::new(name, "Costs nothing", json!({"type": "object"}))?;
    Ok(SharedTool::new(FnTool::untyped(spec, |_, _| async { Ok("done".into()) })))
}

/// The milliseconds of a turn in which a model calls four tools and answers.
async fn turn() -> Result<f64> {
    const STEPS: [&str; 4] = ["search", "read", "write", "check"];
    let calls = STEPS.iter().map(|tool| format!("Action: {tool}\nAction Input: {{}}"));
    let model = Steps(calls.chain(["Final Answer: done".to_owned()]).collect());
    let tools = STEPS.into_iter().map(free).collect::<Result<Vec<_>>>()?;
    let agent = ReactAgent::builder("desk", "Works", model).tools(tools).build()?;
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let cpu = Cpu::start();
    for n in 0..TURNS {
        let state =
            app.thread(thread(&format!("t{n}"))?).invoke(agent.ask("?"), ()).await?.done()?;
        ensure(state.iteration == 5, "the steps")?;
    }
    Ok(cpu.millis() / TURNS as f64)
}

/// The microseconds of a bare call in this process, and of a node's.
async fn both_within() -> Result<[f64; 2]> {
    let (read, write) = tokio::io::split(in_process());
    let library = bare(read, write).await?;
    let bare = bare_call(&library).await?;
    let attached = McpConfig::default().attach(AttachedServer::new("s", in_process))?;
    Ok([bare, call(&approved(attached).await?).await?])
}

/// The same where one thread does everything: no call waits for another thread to wake.
fn both_on_one_thread() -> Result<[f64; 2]> {
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(both_within())
    };
    std::thread::spawn(work).join().map_err(|_panic| "the thread of the calls is lost")?
}

/// What a call costs more than a bare one in the same process, there on one thread and over the streams of a program, the bare
/// ones, and a turn.
pub(super) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let [bare_within, within] = both_within().await?;
        let [bare_alone, alone] = both_on_one_thread()?;

        let mut child = program()?;
        let streams = (child.stdout.take(), child.stdin.take());
        let (Some(read), Some(write)) = streams else { return Err("no streams".into()) };
        let library = bare(read, write).await?;
        let bare_over = bare_call(&library).await?;
        let this = std::env::current_exe()?;
        let config = json!({"mcpServers": {"s": {"command": this, "env": {SERVER: "1"}}}});
        let client = approved(McpConfig::reader().parse(&config.to_string())?).await?;
        let over = call(&client).await?;
        client.close().await;
        let (within, alone, over) = (within - bare_within, alone - bare_alone, over - bare_over);
        Ok([within, alone, over, bare_within, bare_alone, bare_over, turn().await?])
    })
}
