//! What a person approved, in another process, with other gates, and with other tools.

use std::fs;

use clap::Parser;
use example_tests::thursday;
use hanok_agent::{GateRequest, Risk};
use orchestrator::{Options, open_on};
use serde_json::{Value, json};

use super::world::World;

/// Another process goes on, with these arguments.
async fn goes_on(world: &mut World, arguments: &[&str]) {
    let options = Options::parse_from([&["orchestrator"][..], arguments].concat());
    let (threads, store) = (world.opened.threads.clone(), world.opened.store.clone());
    let (model, client) = (thursday::offline(), world.client.clone());
    world.opened = open_on(model, client, &options, threads, store).await.unwrap();
    world.thread = world.on("t");
}

fn approve() -> Value {
    json!({"decision": "approve"})
}

/// A tool that is gone when its step is prepared: what reads may stand in for it, and a person is asked about all else, whatever the
/// gates, the operator and the person's own rules say of that tool.
#[tokio::test]
async fn what_stands_in_for_a_planned_tool_is_asked_about() {
    for tools in [json!({}), json!({"delete_notes": {"approval": "allow"}})] {
        let mut world = World::of(&["--gates", "plan", "--tool-interval", "0"], tools).await;
        world.asks("우유 사기 메모해 줘").await;
        fs::create_dir_all(world.desk("")).unwrap();
        fs::write(world.desk("closed.txt"), "add_note\n").unwrap();
        world.decides(approve()).await;
        assert!(world.story.contains("? tool: desk__delete_notes"), "{}", world.story);
        assert_eq!(world.ledger(), [""; 0], "{}", world.story);
        world.decides(json!({"decision": "reject", "message": "됐어"})).await;
        assert!(!world.ledger().contains(&"delete_notes".to_owned()), "{}", world.story);
        world.ends().await;
    }
}

/// The gate of steps names the tool that is gone, and what stands in for it passes by no rule.
#[tokio::test]
async fn the_gate_of_steps_names_the_planned_tool_that_is_gone() {
    for (closed, stands_in) in
        [("add_note\n", "desk__find_notes"), ("add_note\nfind_notes\n", "desk__delete_notes")]
    {
        let tools = json!({"delete_notes": {"approval": "allow"}});
        let mut world = World::of(&["--gates", "plan,step", "--tool-interval", "0"], tools).await;
        world.asks("우유 사기 메모해 줘").await;
        fs::create_dir_all(world.desk("")).unwrap();
        fs::write(world.desk("closed.txt"), closed).unwrap();
        world.decides(approve()).await;
        let gate: GateRequest = world.open[0].payload().unwrap();
        let shown = (gate.shown.0["again"].as_str(), gate.shown.0["tool"].as_str());
        assert_eq!(shown, (Some("desk__add_note"), Some(stands_in)), "{}", world.story);
        world.decides(json!({"decision": "skip"})).await;
        assert_eq!(world.ledger(), [""; 0], "{}", world.story);
        world.ends().await;
    }
}

/// Who goes on with other gates asks at those with which the turn began, and at their own.
#[tokio::test]
async fn the_gates_of_a_turn_are_those_with_which_it_began() {
    for (began, goes_on_with, question) in [
        ("plan,step", "none", Some("? step: ")),
        ("plan,tool", "none", Some("? tool: desk__add_note")),
        ("plan", "plan,step", Some("? step: ")),
        ("plan", "tool", Some("? tool: desk__add_note")),
        ("plan", "none", None),
    ] {
        let mut world = World::new(&["--gates", began]).await;
        world.asks("우유 사기 메모해 줘").await;
        goes_on(&mut world, &["--gates", goes_on_with]).await;
        world.story.clear();
        world.decides(approve()).await;
        let what = format!("{began}, {goes_on_with}: {}", world.story);
        match question {
            Some(question) => {
                assert!(world.story.contains(question), "{what}");
                assert_eq!(world.ledger(), [""; 0], "{what}");
                world.decides(approve()).await;
            }
            None => assert!(!world.story.contains("? "), "{what}"),
        }
        assert_eq!(world.ledger(), ["add_note"], "{what}");
        // The next turn has the gates of the process that begins it.
        goes_on(&mut world, &["--gates", "none"]).await;
        world.open.clear();
        world.asks("빵 사기 메모해 줘").await;
        assert!(world.open.is_empty(), "{}", world.story);
        world.ends().await;
    }
}

/// An edit that does not fit is asked about again, also where the gate is off by now and was off when the turn began.
#[tokio::test]
async fn what_was_decided_wrongly_is_asked_again_with_the_gate_off() {
    let mut world = World::new(&["--gates", "clarify"]).await;
    world.asks("그거 해 줘").await;
    goes_on(&mut world, &["--gates", "plan"]).await;
    world.decides(json!({"decision": "respond", "result": "우유 사기를 메모해 줘"})).await;
    goes_on(&mut world, &["--gates", "none"]).await;
    let steps = json!([{"task": "우유 사기 메모해 줘", "tool": "desk__fly"}]);
    world.decides(json!({"decision": "edit", "arguments": {"steps": steps}})).await;
    assert_eq!(world.story.matches("? plan: ").count(), 2, "{}", world.story);
    assert!(world.story.contains("\"fault\""), "{}", world.story);
    assert_eq!(world.ledger(), [""; 0], "{}", world.story);
    world.decides(approve()).await;
    assert_eq!(world.ledger(), ["add_note"], "{}", world.story);
    world.ends().await;
}

/// A plan is shown with the highest risk of its tools.
#[tokio::test]
async fn a_plan_has_the_risk_of_its_tools() {
    let mut world = World::new(&["--gates", "plan"]).await;
    for (at, (text, want)) in [
        ("메모 목록 보여 줘", Risk::Read),
        ("우유 사기 메모해 줘", Risk::Write),
        ("우유 메모 지워 줘", Risk::Destructive),
    ]
    .into_iter()
    .enumerate()
    {
        world.thread = world.on(&format!("t{at}"));
        world.asks(text).await;
        let gate: GateRequest = world.open[0].payload().unwrap();
        assert_eq!(gate.risk, want, "{text}: {}", gate.shown.0);
    }
    world.ends().await;
}
