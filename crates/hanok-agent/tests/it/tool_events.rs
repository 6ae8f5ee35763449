//! Tools as observers see them.

use futures::StreamExt;
use hanok_agent::{AgentTool, Protocol, ReactAgent};
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::ThreadKey;
use hanok_graph::{EventKind, Input, Mode, ToolEvent};
use hanok_model::{Exchange, ScriptedModel, ToolError, ToolOutput};

use crate::support::desk::{native, tool};

/// Tools are watched while they run: their beginning, what they send, their end; each with the call's id, out of sub-agents too.
#[tokio::test]
async fn tools_are_watched_while_they_run() {
    let rows = || {
        tool("rows", |_, call| {
            call.output("row 1");
            call.custom("half done");
            call.output("row 2");
            Ok(ToolOutput::new("2 rows"))
        })
    };
    let broken = tool("broken", |_, _| Err(ToolError::failed("no paper")));
    let sub =
        ScriptedModel::new([Exchange::calls([native("s", "rows", "")]), Exchange::says("two")]);
    let sub = ReactAgent::builder("sub", "Counts", sub).protocol(Protocol::Native).tool(rows());
    let model = ScriptedModel::new([
        Exchange::calls([native("1", "rows", "")]),
        Exchange::calls([native("2", "broken", "")]),
        Exchange::calls([hanok_state::ToolCall::new("3", "sub", r#"{"task": "count"}"#)]),
        Exchange::says("done"),
    ]);
    let agent = ReactAgent::builder("desk", "Counts", model)
        .protocol(Protocol::Native)
        .tools([rows(), broken])
        .tool(AgentTool::new(sub.build().unwrap()).unwrap())
        .build()
        .unwrap();
    let app = agent.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = app.thread(ThreadKey::named("t").unwrap()).modes([Mode::Tools]);
    let mut events = thread.stream(Input::New(agent.ask("?")), ());
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        let info = event.call.clone();
        let id = info.as_ref().and_then(|info| info.id.clone()).unwrap_or_default();
        let name = info.map(|info| info.name.to_string()).unwrap_or_default();
        let told = match &event.kind {
            EventKind::Tool(ToolEvent::Started { arguments }) => format!("started {arguments}"),
            EventKind::Tool(ToolEvent::Output { item }) => format!("output {item}"),
            EventKind::Tool(ToolEvent::Ended { text }) => format!("ended {text}"),
            EventKind::Tool(ToolEvent::Failed { error }) => format!("failed {error}"),
            _ => continue,
        };
        let depth = event.path.depth();
        seen.push(format!("{depth} {id} {name}: {told}"));
    }
    insta::assert_snapshot!(seen.join("\n"), @r#"
    0 1 rows: started {"name":""}
    0 1 rows: output "row 1"
    0 1 rows: output "row 2"
    0 1 rows: ended 2 rows
    0 2 broken: started {"name":""}
    0 2 broken: failed The tool `broken` gave no result: no paper
    0 3 sub: started {"task": "count"}
    1 s rows: started {"name":""}
    1 s rows: output "row 1"
    1 s rows: output "row 2"
    1 s rows: ended 2 rows
    0 3 sub: ended two
    "#);
}
