//! Tools that are made of functions, given to what calls them.

#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use hanok::agent::{Protocol, ReactAgent};
use hanok::model::{Services, Tool, ToolError};
use hanok::state::{Arguments, ToolCall};
use hanok::{BoxError, Context, END, Graph, START, Snapshot, State, tool};
use hanok_model::{Exchange, ScriptedModel};
use serde_json::json;

/// Says how many days of leave are left.
#[tool(effect = pure)]
async fn leave(
    /// Whose.
    name: String,
) -> Result<String, ToolError> {
    match name.as_str() {
        "Ada" => Ok("11 days".into()),
        _ => Err(ToolError::failed("nobody has this name")),
    }
}

#[tokio::test]
async fn an_agent_takes_a_function_as_a_tool_and_refuses_what_it_does_not_take() {
    let call = |id: &str, arguments| ToolCall::new(id, "leave", arguments);
    let model = ScriptedModel::new([
        Exchange::calls([call("1", json!({"name": "Ada", "user": 1}))]),
        Exchange::calls([call("2", json!({"name": "Ada"}))])
            .contains("There is no argument `user`"),
        Exchange::says("11 days are left.").contains("11 days"),
    ]);
    let agent = ReactAgent::builder("leave", "Knows leaves", model)
        .protocol(Protocol::Native)
        .tool(leave)
        .build()
        .unwrap();
    let outcome = agent.graph().invoke(agent.ask("How much has Ada?"), ()).await.unwrap();
    assert_eq!(outcome.done().unwrap().answer.as_deref(), Some("11 days are left."));
}

#[derive(Debug)]
struct Shop {
    open: bool,
}

/// Says whether the shop is open.
#[tool(effect = pure)]
async fn is_open(shop: Services<Shop>) -> String {
    if shop.open { "open".into() } else { "closed".into() }
}

#[derive(State, Clone, Default)]
struct Visit {
    found: String,
}

async fn look(_: Snapshot<Visit>, context: Context<Shop>) -> Result<VisitUpdate, BoxError> {
    let call = context.call("tool", "is_open", "");
    Ok(Visit::update().found(is_open.run(&Arguments::default(), &call).await?.text))
}

#[tokio::test]
async fn a_tool_takes_the_services_of_the_graph_that_calls_it() {
    let graph = Graph::builder("visit").node("look", look).edge(START, "look").edge("look", END);
    let graph = graph.build().unwrap();
    for (open, want) in [(true, "open"), (false, "closed")] {
        let outcome = graph.invoke(Visit::update(), Shop { open }).await.unwrap();
        assert_eq!(outcome.done().unwrap().found, want);
    }
}
