//! What a served graph takes: arguments of its own type, or the JSON of its state; and what is refused, before anything is stored.

use std::sync::Arc;

use hanok_checkpoint::{SharedCheckpointer, Which};
use hanok_core::{Answerer, BoxError, Tenant};
use hanok_graph::{App, Caller, Context, END, Graph, START, Snapshot};
use hanok_mcp::{GraphTool, McpServer, McpServerBuilder};
use hanok_model::{ToolOutput, ToolSpec};
use hanok_state::{List, State};
use rmcp::model::CallToolRequestParams;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::serve::{called, client, done, memory, refused, seal, text};

/// The leave of somebody, and who counts it.
#[derive(State, Clone, Debug, Default)]
struct Leave {
    years: u32,
    #[reduce(append)]
    notes: List<String>,
    days: u32,
    #[state(private)]
    draft: String,
}

struct Clerk(String);

async fn count(leave: Snapshot<Leave>, cx: Context<Arc<Clerk>>) -> Result<LeaveUpdate, BoxError> {
    let update = Leave::update().days(15 + leave.years / 2).draft("round down");
    Ok(update.push_notes(format!("counted by {}", cx.services().0)))
}

fn leave(store: &SharedCheckpointer) -> App<Leave, Arc<Clerk>> {
    let graph = Graph::builder("leave").node("count", count).sequence([START, "count", END]);
    graph.input(["years", "notes", "draft"]).build().unwrap().checkpointer(store.clone())
}

/// A clerk of the caller's tenant, for whoever has a name.
fn clerk(caller: &Caller) -> Result<Arc<Clerk>, BoxError> {
    let name = &caller.principal.as_ref().ok_or("sign in first")?.name;
    Ok(Arc::new(Clerk(format!("{name} of {}", caller.tenant))))
}

/// A tool that takes any object.
fn spec() -> ToolSpec {
    ToolSpec::new("leave", "The days of leave", json!({"type": "object"})).unwrap()
}

fn call(arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new("leave").with_arguments(arguments.as_object().cloned().unwrap())
}

fn server(tool: GraphTool) -> McpServerBuilder {
    McpServer::builder("hr", "1.0.0", seal()).tenant(Tenant::try_from("acme").unwrap()).tool(tool)
}

/// Ada's server of a graph behind JSON, and one that knows nobody.
fn servers(store: &SharedCheckpointer) -> [McpServer; 2] {
    let tool = || GraphTool::any(spec(), Arc::new(leave(store).any(clerk)));
    let adas = server(tool()).caller(|_| Ok(Some(Answerer::new("ada", "mcp"))));
    [adas.build().unwrap(), server(tool()).build().unwrap()]
}

#[tokio::test]
async fn a_graph_behind_json_takes_and_gives_the_json_of_its_state() {
    let store = memory();
    let [server, _] = servers(&store);
    let client = client(&server, true).await;
    let counted = done(&client, call(&json!({"years": 5, "notes": "full time"}))).await;
    let state = json!({"years": 5, "notes": ["full time", "counted by ada of acme"], "days": 17});
    assert_eq!(counted.structured_content.as_ref(), Some(&state));
    assert_eq!(serde_json::from_str::<Value>(&text(&counted)).unwrap(), state);
    let threads = store.all_threads(&Which::All).await.unwrap();
    assert_eq!((threads.len(), threads[0].thread.tenant().to_string()), (1, "acme".to_owned()));
}

#[tokio::test]
async fn json_that_is_no_input_is_refused_with_all_its_faults_and_a_stranger_with_a_reason() {
    let store = memory();
    let [adas, nobodys] = servers(&store);
    let (ada, nobody) = (client(&adas, true).await, client(&nobodys, true).await);
    let wrong = json!({"years": -1, "notes": ["a", 2], "draft": "mine", "yeers": 1});
    for (client, arguments, code, want) in [
        (
            &ada,
            wrong,
            -32602,
            "the input does not fit: `/years`: invalid value: integer `-1`, expected u32; `/notes/1`: invalid type: integer `2`, \
             expected a string; `/yeers`: the state has no field `yeers`; did you mean `years`?; `/draft`: private: no client writes it",
        ),
        (
            &ada,
            json!({"days": 30}),
            -32602,
            "the input writes `days`; the graph's input is `years`, `notes`, `draft`",
        ),
        (&nobody, json!({"years": 5}), -32600, "the caller is not admitted: sign in first"),
    ] {
        let refusal = refused(called(client, call(&arguments)).await);
        assert_eq!(refusal, (code, want.to_owned()));
    }
    assert!(store.all_threads(&Which::All).await.unwrap().is_empty());
}

#[derive(Deserialize)]
struct Question {
    years: u32,
}

/// Arguments of a type of the program's own: what does not fit the type, and what the program says of the rest.
#[tokio::test]
async fn arguments_that_the_program_does_not_take_are_refused_in_its_words() {
    let store = memory();
    let input = |question: Question| match question.years {
        0..60 => Ok(Leave::update().years(question.years).draft("from the program")),
        years => Err(format!("nobody works for {years} years").into()),
    };
    let answer = |leave: &Leave| Ok(ToolOutput::new(format!("{} days", leave.days)));
    let clerk = Arc::new(Clerk("the program".to_owned()));
    let tool = GraphTool::new(spec(), leave(&store), clerk, input, answer);
    let client = client(&server(tool).build().unwrap(), true).await;
    for (arguments, want) in
        [(json!({}), "missing field `years`"), (json!({"years": 70}), "nobody works for 70 years")]
    {
        let refusal = refused(called(&client, call(&arguments)).await);
        assert_eq!(refusal, (-32602, want.to_owned()));
    }
    assert!(store.all_threads(&Which::All).await.unwrap().is_empty());
    assert_eq!(text(&done(&client, call(&json!({"years": 5}))).await), "17 days");
}
