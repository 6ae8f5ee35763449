//! A stranger's tool beside the agent's own.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use hanok_checkpoint::InMemoryCheckpointer;
use hanok_core::{Effect, ThreadKey};
use hanok_graph::Outcome;
use hanok_model::{Exchange, FnTool, ScriptedModel, SharedModel, SharedTool, ToolSpec};
use kit::brain::Brain;
use rag::agents::{Tools, supervisor};
use serde_json::json;

/// What may do more than read waits for a person, and does nothing before.
#[tokio::test]
async fn a_tool_that_writes_asks_first() {
    let made = Arc::new(AtomicU32::new(0));
    let count = made.clone();
    let schema = json!({"properties": {"to": {"type": "string"}}, "required": ["to"]});
    let send = ToolSpec::new("post__send", "Sends a letter", schema).unwrap();
    let send = FnTool::untyped(send, move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
        async { Ok("sent".into()) }
    });
    let mut tools = Tools::open(None, None).await.unwrap();
    tools.servers.push(SharedTool::new(send.effect(Effect::AtMostOnce)));
    let model = ScriptedModel::new([
        Exchange::says("Delegate: external_agent\nTask: 편지 보내기").contains("post__send"),
        Exchange::says("Action: post__send\nAction Input: {\"to\": \"kim\"}"),
    ]);
    let brain = Brain { model: SharedModel::new(model.clone()), offline: false };
    let office = supervisor(&brain, &tools).unwrap();
    let thread = office.graph().checkpointer(InMemoryCheckpointer::new());
    let thread = thread.thread(ThreadKey::named("a").unwrap());
    let outcome = thread.invoke(office.ask("편지 보내 줘"), ()).await.unwrap();
    let Outcome::Interrupted(open) = outcome else { panic!("{outcome:?}") };
    assert_eq!((open.len(), made.load(Ordering::SeqCst)), (1, 0));
    model.finished().unwrap();
}
