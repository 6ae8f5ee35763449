//! Tools that write to the state and say where the run goes on: what LangGraph's tools do by a `Command`.

use hanok_agent::ToolNode;
use hanok_core::Call;
use hanok_graph::{END, Graph, NodeExt, START, Subgraph};
use hanok_model::{FnTool, SharedTool, Tool, ToolError, ToolOutput, ToolSpec, tool};
use hanok_state::{Arguments, Message, State};
use serde_json::json;

use super::{
    Trip, add, adds, asked, calls, fault, make, node, pair, result, results, shared, visits,
};

/// Hands over to Bob.
#[tool(effect = pure)]
async fn to_bob() -> ToolOutput {
    ToolOutput::new("Bob takes over").goto_parent("bob")
}

/// Hands over to Alice.
#[tool(effect = pure)]
async fn to_alice() -> ToolOutput {
    ToolOutput::new("Alice takes over").goto_parent("alice")
}

/// The same as a type of its own.
#[derive(Debug)]
struct ToBob(ToolSpec);

impl Tool for ToBob {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn effect(&self) -> hanok_core::Effect {
        hanok_core::Effect::Pure
    }

    async fn run(&self, _: &Arguments, _: &Call) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new("Bob takes over").goto_parent("bob"))
    }
}

/// The same as a function without a type for its arguments.
fn untyped_to_bob(name: &str) -> SharedTool {
    let spec = ToolSpec::new(name, "Hands over to Bob", json!({})).unwrap();
    let run = |_, _| async { Ok(ToolOutput::new("Bob takes over").goto_parent("bob")) };
    shared(FnTool::untyped(spec, run).effect(hanok_core::Effect::Pure))
}

/// A graph around one that makes calls: it goes on at a node of its own where a tool says so.
async fn within(tools: ToolNode, of: Vec<hanok_state::ToolCall>) -> Trip {
    let inner = Graph::<Trip>::builder("desk").node("tools", tools.goto([END]));
    let inner = inner.edge(START, "tools").edge("tools", END).build().unwrap();
    let desk = Subgraph::shared(inner).goto(["alice", "bob"]);
    let graph = Graph::<Trip>::builder("office").subgraph("desk", desk);
    let graph = visits(graph.edge(START, "desk").edge("desk", END)).build().unwrap();
    graph.invoke(asked(of), ()).await.unwrap().done().unwrap()
}

/// LangGraph: tool_node_command[dict], [tool_calls]. Its result and where it goes on are one output; a call beside it is made.
#[tokio::test]
async fn a_call_goes_on_in_the_calling_graph_and_one_beside_it_is_made() {
    let tools = node([shared(add), shared(to_bob)]);
    let of = vec![adds("1", 1, 2), calls("to_bob", "2", json!({}))];
    let trip = within(tools, of).await;
    assert_eq!(results(&trip.talk), [pair("1", "3"), pair("2", "Bob takes over")]);
    assert_eq!(trip.visited, ["bob"]);
}

/// LangGraph: tool_node_command, its tools of each kind.
#[tokio::test]
async fn every_kind_of_tool_may_say_where_the_run_goes_on() {
    let own = ToBob(ToolSpec::new("own", "Hands over to Bob", json!({})).unwrap());
    for tool in [shared(to_bob), shared(own), untyped_to_bob("untyped")] {
        let name = tool.spec().name().to_owned();
        let trip = within(node([tool]), vec![calls(&name, "1", json!({}))]).await;
        assert_eq!(results(&trip.talk), [pair("1", "Bob takes over")], "{name}");
        assert_eq!(trip.visited, ["bob"], "{name}");
    }
}

/// LangGraph: tool_node_command_list_input, its two commands for one node.
#[tokio::test]
async fn two_calls_that_go_on_at_one_node_visit_it_once() {
    let tools = node([shared(to_bob), untyped_to_bob("untyped")]);
    let of = vec![calls("to_bob", "1", json!({})), calls("untyped", "2", json!({}))];
    let trip = within(tools, of).await;
    let want = [pair("1", "Bob takes over"), pair("2", "Bob takes over")];
    assert_eq!((results(&trip.talk), trip.visited), (want.into(), vec!["bob".to_owned()]));
}

/// LangGraph: tool_node_parent_command_with_send, which sends to both. A turn goes on at one place here: the first, and the
/// model reads of the other call that it did not stand.
#[tokio::test]
async fn of_two_calls_that_go_on_elsewhere_the_first_stands() {
    let tools = node([shared(to_alice), shared(to_bob)]);
    let of = vec![calls("to_alice", "1", json!({})), calls("to_bob", "2", json!({}))];
    let trip = within(tools, of).await;
    assert_eq!(trip.visited, ["alice"]);
    assert_eq!(result(&trip.talk, "1"), "Alice takes over");
    let second = result(&trip.talk, "2");
    assert!(second.contains("the call of `to_alice` in the same reply"), "{second}");
}

/// LangGraph: tool_node_command, its validation that a command holds the result of its call. A text is always there, and a
/// second result is not written.
#[tokio::test]
async fn a_write_may_hold_no_result_of_a_call() {
    for id in ["1", "2"] {
        let write = move |_, _| async move {
            let update = Trip::update().talk_message(Message::tool(id, "foo")).days(3);
            ToolOutput::new("done").update(&update)
        };
        let spec = ToolSpec::new("write", "Writes", json!({})).unwrap();
        let trip =
            make(node([shared(FnTool::untyped(spec, write))]), [calls("write", "1", json!({}))]);
        let trip = trip.await.unwrap();
        assert_eq!(results(&trip.talk).len(), 1, "{id}");
        assert_eq!(fault(&trip.talk, "1").as_deref(), Some("not_applied"));
        let text = result(&trip.talk, "1");
        assert!(text.starts_with("done\n") && text.contains("exactly one result"), "{text}");
        assert_eq!(trip.days, 0, "nothing of it is written");
    }
}

/// LangGraph: tool_node_command, its updates of a state that is not the one that called.
#[tokio::test]
async fn a_write_of_another_state_is_told_to_the_model() {
    #[derive(State, Clone, Debug, Default)]
    struct Weather {
        degrees: u32,
    }
    let write = |_, _| async { ToolOutput::new("warm").update(&Weather::update().degrees(30)) };
    let spec = ToolSpec::new("weather", "Tells", json!({})).unwrap();
    let tools = node([shared(FnTool::untyped(spec, write))]);
    let trip = make(tools, [calls("weather", "1", json!({}))]).await.unwrap();
    let text = result(&trip.talk, "1");
    assert!(text.starts_with("warm\n") && text.contains("no field `degrees`"), "{text}");
}

/// LangGraph: tool_node_command, its update without a message for the calling graph's parent.
#[tokio::test]
async fn an_output_needs_no_write_to_go_on() {
    let spec = ToolSpec::new("leave", "Leaves", json!({})).unwrap();
    let leave = FnTool::untyped(spec, |_, _| async { Ok(ToolOutput::default().goto("alice")) });
    let trip = make(node([shared(leave)]), [calls("leave", "1", json!({}))]).await.unwrap();
    assert_eq!(trip.visited, ["alice"]);
    assert_eq!(results(&trip.talk), [pair("1", "")]);
}

/// LangGraph: tool_node_command_remove_all_messages.
#[tokio::test]
async fn a_tool_may_remove_all_messages() {
    let forget = |_, _| async { ToolOutput::new("gone").update(&Trip::update().clear_talk()) };
    let spec = ToolSpec::new("forget", "Forgets", json!({})).unwrap();
    let tools = node([shared(FnTool::untyped(spec, forget))]);
    let trip = make(tools, [calls("forget", "1", json!({}))]).await.unwrap();
    assert_eq!(trip.talk.iter().count(), 0);
}

/// Plans a trip to a city.
#[tool(effect = pure)]
async fn travel(city: String, days: u32) -> Result<ToolOutput, ToolError> {
    let update = Trip::update().city(Some(city.clone())).days(days).push_visited(city.as_str());
    ToolOutput::new(format!("off to {city}")).update(&update)
}

/// Beside LangGraph's: several fields at once, and two calls that set the same one, of which the first stands.
#[tokio::test]
async fn the_fields_that_a_tool_writes_are_there_with_its_result() {
    let travels = |id: &str, city: &str| calls("travel", id, json!({"city": city, "days": 2}));
    let trip = make(node([shared(travel)]), [travels("1", "Busan")]).await.unwrap();
    assert_eq!((trip.city.as_deref(), trip.days, trip.visited.len()), (Some("Busan"), 2, 1));
    assert_eq!(results(&trip.talk), [pair("1", "off to Busan")]);

    let trip = make(node([shared(travel)]), [travels("1", "Busan"), travels("2", "Jeju")]).await;
    let trip = trip.unwrap();
    assert_eq!((trip.city.as_deref(), trip.visited.len()), (Some("Busan"), 1));
    assert_eq!(fault(&trip.talk, "2").as_deref(), Some("not_applied"));
}
