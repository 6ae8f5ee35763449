//! The conformance suite of the protocol against graphs that are served.
//!
//! Not among the scenarios are those of what a graph is not: resources, prompts, completions, pictures and sounds, logs, progress,
//! sampling and roots (`tools-call-sampling`, `input-required-result-basic-list-roots` and their like), and questions within a call
//! of an older version (`tools-call-elicitation`, `elicitation-sep1034-…`, `elicitation-sep1330-…`): there whoever calls reads how the
//! thread is answered. `server-stateless` and `caching` want such tools and lists in each of their runs; what they want beside them, a
//! server of graphs has.

use hanok_checkpoint::SharedCheckpointer;
use hanok_core::{BoxError, Request, Stored};
use hanok_graph::{Context, END, Graph, START, Snapshot};
use hanok_mcp::{GraphTool, HttpSettings, McpServer};
use hanok_model::{ToolOutput, ToolSpec};
use hanok_state::State;
use serde_json::{Value, json};

use crate::{
    conformance::Suite,
    serve::{memory, seal},
    serve_http::http,
};

/// The scenarios, with the version of the protocol.
static SCENARIOS: [(&str, &str); 22] = [
    ("server-initialize", "2025-11-25"),
    ("server-session-lifecycle", "2025-11-25"),
    ("ping", "2025-11-25"),
    ("tools-list", "2025-11-25"),
    ("tools-call-simple-text", "2025-11-25"),
    ("tools-call-error", "2025-11-25"),
    ("server-sse-multiple-streams", "2025-11-25"),
    ("dns-rebinding-protection", "2025-11-25"),
    ("tools-list", "2026-07-28"),
    ("tools-call-simple-text", "2026-07-28"),
    ("tools-call-error", "2026-07-28"),
    ("server-sse-multiple-streams", "2026-07-28"),
    ("dns-rebinding-protection", "2026-07-28"),
    ("input-required-result-basic-elicitation", "2026-07-28"),
    ("input-required-result-request-state", "2026-07-28"),
    ("input-required-result-multi-round", "2026-07-28"),
    ("input-required-result-missing-input-response", "2026-07-28"),
    ("input-required-result-result-type", "2026-07-28"),
    ("input-required-result-unsupported-methods", "2026-07-28"),
    ("input-required-result-tampered-state", "2026-07-28"),
    ("input-required-result-ignore-extra-params", "2026-07-28"),
    ("input-required-result-validate-input", "2026-07-28"),
];

#[derive(State, Clone, Debug, Default)]
struct Said {
    text: String,
}

/// Asks for one field, which the form calls `field`.
async fn ask(cx: &Context, message: &str, field: &str, kind: &str) -> Result<Value, BoxError> {
    let form =
        json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    let request =
        Request { schema: Some(form.to_string().into()), ..Request::new(Stored::encode(message)?) };
    let answer: Value = cx.call("ask", message, "").question(request).await?.decode()?;
    Ok(answer[field].clone())
}

async fn user_name(_: Snapshot<Said>, cx: Context) -> Result<SaidUpdate, BoxError> {
    let name = ask(&cx, "What is your name?", "name", "string").await?;
    Ok(Said::update().text(format!("Hello, {}!", name.as_str().unwrap_or_default())))
}

async fn confirm(_: Snapshot<Said>, cx: Context) -> Result<SaidUpdate, BoxError> {
    let ok = ask(&cx, "Please confirm", "ok", "boolean").await?;
    Ok(Said::update().text(format!("state-ok {ok}")))
}

async fn step1(_: Snapshot<Said>, cx: Context) -> Result<SaidUpdate, BoxError> {
    let name = ask(&cx, "Step 1: What is your name?", "name", "string").await?;
    Ok(Said::update().text(name.as_str().unwrap_or_default()))
}

async fn step2(said: Snapshot<Said>, cx: Context) -> Result<SaidUpdate, BoxError> {
    let color = ask(&cx, "Step 2: What is your favorite color?", "color", "string").await?;
    Ok(Said::update().text(format!("{} likes {color}", said.text)))
}

async fn say(_: Snapshot<Said>, _: Context) -> Result<SaidUpdate, BoxError> {
    Ok(Said::update().text("This is a simple text response for testing."))
}

async fn fail(_: Snapshot<Said>, _: Context) -> Result<SaidUpdate, BoxError> {
    Err("This tool intentionally returns an error for testing".into())
}

fn tool(name: &str, graph: &Graph<Said>, store: &SharedCheckpointer) -> GraphTool {
    let spec = ToolSpec::new(name, "A tool of the suite", json!({"type": "object"})).unwrap();
    let answer = |said: &Said| Ok(ToolOutput::new(said.text.clone()));
    let app = graph.checkpointer(store.clone());
    GraphTool::new(spec, app, (), |_: Value| Ok(Said::update()), answer)
}

fn server() -> McpServer {
    let one = |name: &str| Graph::<Said>::builder("suite").edge(START, name).edge(name, END);
    let steps = Graph::<Said>::builder("suite").node("step1", step1).node("step2", step2);
    let steps = steps.edge(START, "step1").edge("step1", "step2").edge("step2", END);
    let store = memory();
    let graphs = [
        ("test_simple_text", one("say").node("say", say)),
        ("test_error_handling", one("fail").node("fail", fail)),
        ("test_input_required_result_elicitation", one("user_name").node("user_name", user_name)),
        ("test_input_required_result_request_state", one("confirm").node("confirm", confirm)),
        ("test_input_required_result_tampered_state", one("confirm").node("confirm", confirm)),
        ("test_input_required_result_multi_round", steps),
    ];
    let server = McpServer::builder("suite", "1.0.0", seal());
    let tools = graphs.map(|(name, graph)| tool(name, &graph.build().unwrap(), &store));
    tools.into_iter().fold(server, |server, tool| server.tool(tool)).build().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scenarios_of_a_server_pass() {
    let Some(suite) = Suite::find() else { return };
    // Its pages are this machine's own.
    let settings = HttpSettings::default().origins(["http://localhost:*", "http://127.0.0.1:*"]);
    let url = http(&server(), settings).await;
    let running = tokio::task::spawn_blocking(move || {
        std::thread::scope(|scope| {
            let run = |scenarios: &'static [(&str, &str)]| {
                let (suite, url) = (&suite, &url);
                scope.spawn(move || failures(suite, url, scenarios))
            };
            let running: Vec<_> = SCENARIOS.chunks(6).map(run).collect();
            running.into_iter().flat_map(|it| it.join().unwrap()).collect::<Vec<_>>()
        })
    });
    let failed = running.await.unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// The words of the scenarios that fail.
fn failures(suite: &Suite, url: &str, scenarios: &[(&str, &str)]) -> Vec<String> {
    let mut failed = Vec::new();
    for (scenario, version) in scenarios {
        let arguments = ["server", "--url", url, "--scenario", scenario, "--spec-version", version];
        let (passed, words) = suite.run(&arguments);
        if !passed {
            failed.push(format!("{scenario} {version}\n{words}"));
        }
    }
    failed
}
