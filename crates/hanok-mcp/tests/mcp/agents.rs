//! Agents that work with servers' tools.

use hanok_agent::ReactAgent;
use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{Outcome, Resolution};
use hanok_mcp::McpClient;
use hanok_model::{Exchange, ScriptedModel};
use serde_json::json;

use crate::{program::tool, support::World};

fn calls(tool: &str, text: &str) -> Exchange {
    Exchange::says(format!("Action: {tool}\nAction Input: {}", json!({"text": text})))
}

fn agent(client: &McpClient, model: &ScriptedModel) -> ReactAgent {
    ReactAgent::builder("desk", "Works with servers", model.clone())
        .tools(client.tools())
        .build()
        .unwrap()
}

fn key() -> ThreadKey {
    ThreadKey::new(Tenant::default(), "t").unwrap()
}

#[tokio::test]
async fn an_agent_calls_tools_of_servers_and_a_dead_one_is_an_observation() {
    let world = World::new().server("good", "old", &[]).server("bad", "old", &[]);
    let client = world.approved().await;
    client.close().await;
    // The second client finds one of the two gone; its tools are known from the lock file.
    let world = world.any("bad", json!({"command": "no-such-program-anywhere"}));
    let client = world.builder().connect().await.unwrap();
    let model = ScriptedModel::new([
        calls("bad__echo", "first"),
        calls("good__echo", "휴가 이틀").contains("could not be started"),
        Exchange::says("Final Answer: done").contains("휴가 이틀"),
    ]);
    let agent = agent(&client, &model);
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key());
    thread.invoke(agent.ask("?"), ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    let ledger = world.ledger("good");
    assert!(ledger.len() == 1 && ledger[0].starts_with("echo "), "{ledger:?}");
}

/// P4, P44: a server that dies in mid-call leaves a doubt, which a person settles, and the call is not made again.
#[tokio::test]
async fn a_server_that_dies_in_mid_call_leaves_a_doubt_and_the_call_is_not_repeated() {
    let world = World::new().server("bank", "old", &[tool("die", "Pays")]);
    let client = world.approved().await;
    let model = ScriptedModel::new([
        calls("bank__die", "pay"),
        Exchange::says("Final Answer: done").contains("nobody knows whether it took effect"),
    ]);
    let agent = agent(&client, &model);
    let thread = agent.graph().checkpointer(InMemoryCheckpointer::new()).thread(key());
    thread.invoke(agent.ask("?"), ()).await.unwrap_err();
    let Outcome::InDoubt(asked) = thread.resume(()).await.unwrap() else { panic!() };
    thread.settle(asked[0].id.clone(), Resolution::GiveUp, ()).await.unwrap().done().unwrap();
    model.finished().unwrap();
    assert_eq!(world.ledger("bank").len(), 1);
}
