//! How many lines a ReAct loop takes: state, reducer, two nodes, a branch and the graph, its imports among them.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok::state::Arguments;
use hanok_model::{Exchange, ScriptedModel};

const BEGIN: &str = "// The loop begins here.";
const END: &str = "// The loop ends here.";

// The loop begins here.
use hanok::{BoxError, Context, Graph, Message, Messages, START, SendTo, Snapshot, State};
use hanok::{graph::Sent, model::*, state::ToolCall};

#[derive(State, Clone, Default)]
struct Chat {
    messages: Messages,
}

type Cx = Context<(SharedModel, SharedTool)>;

async fn think(chat: Snapshot<Chat>, cx: Cx) -> Result<ChatUpdate, BoxError> {
    let (model, tool) = cx.services();
    let request = ChatRequest::new(chat.messages.iter().cloned()).tools([tool.spec().clone()]);
    Ok(Chat::update().message(model.chat(request, &cx.call("model", "chat", "")).await?.message))
}

// One task for each call, all at once. Without a call nothing is due, and the run is done.
fn calls(chat: &Chat) -> Vec<SendTo> {
    let calls = chat.messages.last().map(Message::tool_calls).unwrap_or_default();
    calls.iter().map(|call| SendTo::new("act", call)).collect()
}

async fn act(_: Snapshot<Chat>, call: Sent<ToolCall>, cx: Cx) -> Result<ChatUpdate, BoxError> {
    let given = cx.call("tool", &call.name, &call.id);
    let output = cx.services().1.run(&call.arguments, &given).await?;
    Ok(Chat::update().message(Message::tool(&call.id, output.text)))
}

fn react() -> Result<Graph<Chat, (SharedModel, SharedTool)>, BoxError> {
    let graph = Graph::builder("react").node("think", think).node("act", act);
    Ok(graph.edge(START, "think").branch("think", calls, ["act"]).edge("act", "think").build()?)
}
// The loop ends here.

/// The lines of code between the marks: those that are neither empty nor a comment.
fn lines_of_code(source: &str) -> impl Iterator<Item = &str> {
    let after = source.lines().skip_while(|line| *line != BEGIN).skip(1);
    let lines = after.take_while(|line| *line != END).map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with("//"))
}

#[test]
fn a_react_loop_takes_at_most_25_lines() {
    let count = lines_of_code(include_str!("react_lines.rs")).count();
    assert!((1..=25).contains(&count), "{count} lines");
}

#[derive(schemars::JsonSchema, serde::Deserialize)]
struct Who {
    name: String,
}

#[tokio::test]
async fn the_loop_asks_calls_and_answers() {
    let call = |id: &str, name: &str| {
        let arguments = Arguments::new(format!(r#"{{"name":"{name}"}}"#));
        ToolCall { id: id.into(), name: "leave".into(), arguments }
    };
    let model = ScriptedModel::new([
        Exchange::calls([call("c1", "Ada"), call("c2", "Bo")]).contains("How many"),
        Exchange::says("11 and 3").contains("Ada has 11").contains("Bo has 3"),
    ]);
    let tool = FnTool::new("leave", "days of leave that are left", |who: Who, _| async move {
        let left = if who.name == "Ada" { 11 } else { 3 };
        Ok(format!("{} has {left}", who.name).into())
    })
    .unwrap();

    let parts = (SharedModel::new(model.clone()), SharedTool::new(tool));
    let question = Chat::update().message("How many days have Ada and Bo left?");
    let chat = react().unwrap().invoke(question, parts).await.unwrap().done().unwrap();
    let said: Vec<_> = chat.messages.iter().map(|message| message.text().into_owned()).collect();
    let question = "How many days have Ada and Bo left?";
    assert_eq!(said, [question, "", "Ada has 11", "Bo has 3", "11 and 3"]);
    model.finished().unwrap();
}
