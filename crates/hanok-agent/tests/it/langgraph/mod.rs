//! What LangGraph's tests of its prebuilt agent and tools check, as hanok does it. `README.md` beside this file lists them.

mod dynamic_model;
mod injected_state;
mod interceptors;
mod react_agent;
mod react_hooks;
mod tool_errors;
mod tool_events;
mod tool_node;
mod tool_writes;
mod unregistered;

use hanok_agent::{Conversation, ToolNode, ToolRegistry, ToolRunner};
use hanok_graph::{Context, END, Graph, GraphBuilder, NodeExt, RunError, START, Snapshot};
use hanok_model::{SharedTool, Tool, ToolError, tool};
use hanok_state::{Message, Messages, State, ToolCall};
use serde_json::{Value, json};

/// The state of a graph that makes calls.
#[derive(State, Clone, Debug, Default)]
struct Trip {
    talk: Messages,
    city: Option<String>,
    days: u32,
    #[reduce(append)]
    visited: Vec<String>,
}

impl Conversation for Trip {
    fn messages(&self) -> &Messages {
        &self.talk
    }

    fn add(update: TripUpdate, message: Message) -> TripUpdate {
        update.talk_message(message)
    }
}

/// Adds two numbers.
#[tool(effect = pure)]
async fn add(a: i64, b: i64) -> String {
    (a + b).to_string()
}

/// Divides a number by another.
#[tool(effect = pure)]
async fn divide(a: i64, b: i64) -> Result<String, ToolError> {
    let quotient = a.checked_div(b).ok_or_else(|| ToolError::failed("division by zero"))?;
    Ok(quotient.to_string())
}

/// Pays an amount, if there is enough.
#[tool(effect = pure)]
async fn pay(amount: u32) -> Result<String, ToolError> {
    match amount {
        0 => Err(ToolError::refused("there is nothing to pay")),
        amount => Ok(format!("paid {amount}")),
    }
}

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
struct Weather {
    /// Degrees Fahrenheit.
    temperature: f64,
}

/// Tells the weather.
#[tool(effect = pure)]
async fn get_weather() -> &'static str {
    "It is sunny and 75°F."
}

fn calls(tool: &str, id: &str, arguments: Value) -> ToolCall {
    ToolCall::new(id, tool, arguments.to_string())
}

fn adds(id: &str, a: i64, b: i64) -> ToolCall {
    calls("add", id, json!({"a": a, "b": b}))
}

fn shared(tool: impl Tool) -> SharedTool {
    SharedTool::new(tool)
}

fn node(tools: impl IntoIterator<Item = SharedTool>) -> ToolNode {
    ToolNode::new(ToolRunner::new(ToolRegistry::new(tools).unwrap()))
}

/// A conversation whose last message asks for these calls.
fn asked(calls: impl IntoIterator<Item = ToolCall>) -> TripUpdate {
    Trip::update().talk_message(Message::assistant("").with_tool_calls(calls))
}

/// A graph of this node alone, which may let it go on at `alice` or `bob`.
fn graph(node: ToolNode) -> Graph<Trip> {
    let graph = Graph::<Trip>::builder("trip").node("tools", node.goto(["alice", "bob"]));
    visits(graph.edge(START, "tools").edge("tools", END)).build().unwrap()
}

/// Adds nodes that note that they were visited.
fn visits(graph: GraphBuilder<Trip>) -> GraphBuilder<Trip> {
    ["alice", "bob"].into_iter().fold(graph, |graph, name| {
        let visit = move |_: Snapshot<Trip>, _: Context| {
            std::future::ready(Ok::<_, std::io::Error>(Trip::update().push_visited(name)))
        };
        graph.node(name, visit).edge(name, END)
    })
}

/// The state after the node has made these calls.
async fn make(node: ToolNode, calls: impl IntoIterator<Item = ToolCall>) -> Result<Trip, RunError> {
    Ok(graph(node).invoke(asked(calls), ()).await?.done().unwrap())
}

/// The results in a conversation: the call that each answers, and its text.
fn results(talk: &Messages) -> Vec<(String, String)> {
    let result =
        |message: &Message| Some((message.tool_call_id()?.to_owned(), message.text().into_owned()));
    talk.iter().filter_map(result).collect()
}

/// The text of the result of the call `id`.
fn result(talk: &Messages, id: &str) -> String {
    let of_call = results(talk).into_iter().filter(|(call, _)| call == id);
    let [(_, text)] = of_call.collect::<Vec<_>>().try_into().unwrap();
    text
}

/// The code of the fault that the result of the call `id` is, if it is one.
fn fault(talk: &Messages, id: &str) -> Option<String> {
    let message = talk.iter().find(|message| message.tool_call_id() == Some(id)).unwrap();
    message.metadata().get("fault").map(|fault| fault.0.as_str().unwrap().to_owned())
}

fn pair(id: &str, text: &str) -> (String, String) {
    (id.to_owned(), text.to_owned())
}
