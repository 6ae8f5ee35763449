//! The conformance suite of the protocol against graphs that are served.
//!
//! What of it a server of graphs does not do stands in [`BASELINE`], with the reason. The test compares it with what the suite requires:
//! a scenario that is in neither list, or that passes though it is in the baseline, is a failure.

use std::collections::BTreeSet;

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
static SCENARIOS: [(&str, &str); 23] = [
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
    ("sep-2164-resource-not-found", "2026-07-28"),
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

/// What a server of graphs does not do, each with the scenarios that want it.
static BASELINE: [(&str, &[&str]); 7] = [
    (
        "a graph is a tool, and there are no resources",
        &[
            "resources-list",
            "resources-read-text",
            "resources-read-binary",
            "resources-templates-read",
            "resources-subscribe",
            "resources-unsubscribe",
        ],
    ),
    (
        "a graph is a tool, and there are no prompts and nothing to complete",
        &[
            "prompts-list",
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
            "input-required-result-non-tool-request",
            "completion-complete",
        ],
    ),
    (
        "an answer is a text and JSON",
        &[
            "tools-call-image",
            "tools-call-audio",
            "tools-call-embedded-resource",
            "tools-call-mixed-content",
        ],
    ),
    (
        "a run's events are its own program's, and are not sent to the client as logs or progress",
        &["logging-set-level", "tools-call-with-logging", "tools-call-with-progress"],
    ),
    (
        "nothing is asked of the client's model, and its folders are not listed",
        &[
            "tools-call-sampling",
            "input-required-result-basic-sampling",
            "input-required-result-basic-list-roots",
            "input-required-result-multiple-input-requests",
            "input-required-result-capability-check",
        ],
    ),
    (
        "in the older version a question does not wait within the call: whoever calls reads how the thread is answered",
        &["tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"],
    ),
    (
        "the scenario lists resources and prompts in each of its runs",
        &["server-stateless", "caching"],
    ),
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
    let required = ["2025-11-25", "2026-07-28"].map(|it| (it, suite.required("Server", it)));
    let left_out: BTreeSet<_> = BASELINE.iter().flat_map(|(_, names)| *names).copied().collect();
    let mut scenarios: Vec<(String, &str)> = Vec::new();
    for (version, names) in &required {
        for name in names {
            let is_run = SCENARIOS.contains(&(name.as_str(), version));
            assert_ne!(is_run, left_out.contains(name.as_str()), "{name} {version}");
            if !is_run {
                scenarios.push((name.clone(), version));
            }
        }
    }
    let unknown =
        left_out.iter().find(|name| !required.iter().any(|(_, all)| all.contains(**name)));
    assert_eq!(unknown, None);
    scenarios.extend(SCENARIOS.iter().map(|(name, version)| ((*name).to_owned(), *version)));
    let running = tokio::task::spawn_blocking(move || {
        std::thread::scope(|scope| {
            let run = |scenarios: &[(String, &'static str)]| {
                let (suite, url, scenarios) = (&suite, &url, scenarios.to_vec());
                scope.spawn(move || failures(suite, url, &scenarios))
            };
            let running: Vec<_> = scenarios.chunks(10).map(run).collect();
            running.into_iter().flat_map(|it| it.join().unwrap()).collect::<Vec<_>>()
        })
    });
    let (expected, failed): (Vec<_>, Vec<_>) =
        running.await.unwrap().into_iter().partition(|it| left_out.contains(it.scenario.as_str()));
    let failed: Vec<_> = failed.into_iter().map(|it| it.words).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    let expected: BTreeSet<_> = expected.iter().map(|it| it.scenario.as_str()).collect();
    assert_eq!(expected, left_out, "what passes has no place in the baseline");
}

/// A scenario that fails.
struct Failed {
    scenario: String,
    words: String,
}

fn failures(suite: &Suite, url: &str, scenarios: &[(String, &str)]) -> Vec<Failed> {
    let mut failed = Vec::new();
    for (scenario, version) in scenarios {
        let arguments = ["server", "--url", url, "--scenario", scenario, "--spec-version", version];
        let (passed, words) = suite.run(&arguments);
        if !passed {
            let words = format!("{scenario} {version}\n{words}");
            failed.push(Failed { scenario: scenario.clone(), words });
        }
    }
    failed
}
