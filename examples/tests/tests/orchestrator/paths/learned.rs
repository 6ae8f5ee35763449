//! What is learned of a user, and what a user's words stand for.

use hanok_agent::{ApprovalRequest, DecisionKind, GateRequest};
use hanok_core::{Clock as _, ThreadKey, Timestamp};
use hanok_graph::{Context, TokioClock};
use kit::Talk as _;
use orchestrator::{Talking, memory::avoided};
use serde_json::json;

use super::world::World;

fn now() -> Timestamp {
    TokioClock.now()
}

/// B144: an operator's "ask" stands before a person's "always", which stands before the gate; each passed call is in the audit.
#[tokio::test]
async fn an_operator_is_heard_before_a_person_s_rule() {
    for (gates, approval, asks) in [
        ("tool", None, false),
        ("tool", Some("ask"), true),
        ("tool", Some("allow"), false),
        ("step", None, false),
        ("step", Some("ask"), true),
        ("none", Some("ask"), true),
    ] {
        let tools = match approval {
            Some(word) => json!({"add_note": {"approval": word}}),
            None => json!({}),
        };
        let arguments = ["--gates", gates, "--user", "kim"];
        let mut world = World::of(&arguments, tools).await;
        let talking = Talking::new(&world.opened);
        let always = talking.always("desk__add_note", None, None).await.unwrap();
        assert!(always.contains("desk__add_note"), "{always}");
        world.asks("우유 사기 메모해 줘").await;
        assert_eq!(!world.open.is_empty(), asks, "{gates}, {approval:?}: {}", world.story);
        for question in &world.open {
            // What the operator has asked about, nobody is offered to pass for good.
            let of_gate = question.payload::<GateRequest>().map(|gate| gate.may_stand);
            let of_call = question.payload::<ApprovalRequest>().map(|call| call.may_stand);
            assert!(!of_gate.or(of_call).unwrap(), "{gates}, {approval:?}");
        }
        let audit = talking.act("approvals", "", &world.thread).await.unwrap().unwrap();
        let passed = audit.contains("묻지 않음") && audit.contains("for user kim");
        assert_eq!(passed, approval.is_none(), "{gates}, {approval:?}: {audit}");
        world.ends().await;
    }
}

/// B137: an answer that people confirmed five times is used without asking, shown, and taken back; then they are asked again.
#[tokio::test]
async fn an_answer_of_before_is_used_and_taken_back() {
    let arguments = ["--gates", "clarify", "--user", "kim"];
    let mut world = World::new(&arguments).await;
    let app = world.opened.app();
    let learn = async |world: &World| {
        world.opened.learner.as_ref().unwrap().drain(now()).await.unwrap();
    };
    for round in 0..6 {
        world.thread = app.thread(ThreadKey::named(&format!("t{round}")).unwrap());
        world.asks("그거 해 줘").await;
        let answer = match round {
            0 => json!({"decision": "respond", "result": "메모 목록 보여 줘"}),
            _ => json!({"decision": "reuse", "id": "1"}),
        };
        world.decides(answer).await;
        learn(&world).await;
    }
    world.story.clear();
    world.thread = app.thread(ThreadKey::named("used").unwrap());
    world.asks("그거 해 줘").await;
    assert!(!world.story.contains("? clarify"), "{}", world.story);
    let state = world.thread.state(None).await.unwrap().unwrap();
    let clarity = state.clarity.unwrap();
    assert_eq!(clarity.reused.unwrap().answer, "메모 목록 보여 줘");
    learn(&world).await;

    let talking = Talking::new(&world.opened);
    let said = talking.act("not-that", "", &world.thread).await.unwrap().unwrap();
    assert!(said.contains("메모 목록 보여 줘") && said.contains("무르고"), "{said}");
    world.thread = app.thread(ThreadKey::named("again").unwrap());
    world.asks("그거 해 줘").await;
    assert!(world.story.contains("? clarify"), "{}", world.story);
    world.ends().await;
}

/// What fails every time is avoided, but for what the operator pins.
#[tokio::test]
async fn what_is_pinned_is_never_avoided() {
    for is_pinned in [true, false] {
        let tools = json!({"convert_units": {"pinned": is_pinned}});
        let mut world = World::of(&["--gates", "none", "--user", "kim"], tools).await;
        for round in 0..5 {
            world.thread = world.on(&format!("t{round}"));
            // What is a length is no weight.
            world.asks("10 km를 파운드로 바꿔 줘").await;
            let learner = world.opened.learner.as_ref().unwrap();
            learner.drain(now()).await.unwrap();
        }
        let task = world.thread.state(None).await.unwrap().unwrap().results[0].task.clone();
        let parts = &world.opened.parts;
        let context = Context::for_test(()).build().unwrap();
        let recalled = parts.memory.tools(&task, &context).await.unwrap();
        let avoided = avoided(&recalled, &parts.servers.client().offer());
        let expected: &[&str] = if is_pinned { &[] } else { &["desk__convert_units"] };
        assert_eq!(avoided, expected, "{}", world.story);
        world.ends().await;
    }
}

/// A plan that a person has bettered twice for the same request is proposed the next time, beside the one that it is instead of.
#[tokio::test]
async fn a_plan_that_did_well_is_proposed_again() {
    let mut world = World::new(&["--gates", "plan", "--user", "kim"]).await;
    let steps = json!([{"task": "메모 목록 보여 줘"}, {"task": "우유 사기 메모해 줘"}]);
    for round in 0..3 {
        world.thread = world.on(&format!("t{round}"));
        world.asks("우유 사기 메모해 줘").await;
        if round < 2 {
            assert!(!world.story.contains("was 1 steps"), "{}", world.story);
            let edit = json!({"decision": "edit", "arguments": {"steps": steps}});
            world.decides(edit).await;
            let learner = world.opened.learner.as_ref().unwrap();
            learner.drain(now()).await.unwrap();
        }
    }
    assert!(world.story.contains("was 1 steps"), "{}", world.story);
    let state = world.thread.state(None).await.unwrap().unwrap();
    let plan = state.plan.unwrap();
    let tasks: Vec<_> = plan.steps.iter().map(|step| step.task.as_str()).collect();
    assert_eq!(tasks, ["메모 목록 보여 줘", "우유 사기 메모해 줘"]);
    assert_eq!(plan.original.unwrap().len(), 1);
    world.ends().await;
}

/// B136: what a person approved every time passes without them where that is switched on, and says so; one rejection ends it.
#[tokio::test]
async fn what_was_always_approved_passes_where_learned_approvals_are_on() {
    const DECISIONS: usize = 40;
    let arguments = ["--gates", "step", "--user", "kim", "--learned-approvals"];
    let mut world = World::new(&arguments).await;
    let learn = async |world: &World| {
        world.opened.learner.as_ref().unwrap().drain(now()).await.unwrap();
    };
    let mut asked = 0;
    while asked < DECISIONS {
        world.thread = world.on(&format!("t{asked}"));
        world.open.clear();
        world.asks("메모 목록 보여 줘").await;
        assert!(!world.open.is_empty() || asked >= 20, "it passes after {asked} decisions");
        if !world.open.is_empty() {
            world.decides(json!({"decision": "approve"})).await;
        }
        learn(&world).await;
        asked += 1;
    }
    // One of twenty is asked about all the same.
    let passes = async |world: &mut World, name: &str| {
        let mut passed = 0;
        for round in 0..4 {
            world.thread = world.on(&format!("{name}{round}"));
            world.open.clear();
            world.story.clear();
            world.asks("메모 목록 보여 줘").await;
            passed += usize::from(world.story.contains("the gate step is passed: learned: "));
        }
        passed
    };
    assert!(passes(&mut world, "passes").await > 1, "{}", world.story);
    world.thread = world.on("rejects");
    let talking = Talking::new(&world.opened);
    let audit = talking.act("approvals", "", &world.on("passes0")).await.unwrap().unwrap();
    assert!(audit.contains("learned: ") || audit.contains("물음"), "{audit}");
    // Whoever is asked and says no is asked again.
    while {
        world.open.clear();
        world.story.clear();
        world.asks("메모 목록 보여 줘").await;
        world.open.is_empty()
    } {}
    world.decides(json!({"decision": "skip"})).await;
    learn(&world).await;
    assert_eq!(passes(&mut world, "after").await, 0, "{}", world.story);
    world.ends().await;
}

/// What a person rejects at the gate of tools counts against learned approvals, as at the gate of a step.
#[tokio::test]
async fn a_rejected_call_of_an_agent_counts_against_what_was_learned() {
    let mut world = World::new(&["--gates", "tool", "--user", "kim", "--learned-approvals"]).await;
    world.asks("빵 사기 메모해 줘").await;
    world.decides(json!({"decision": "reject", "message": "됐어"})).await;
    world.opened.learner.as_ref().unwrap().drain(now()).await.unwrap();
    let talking = Talking::new(&world.opened);
    let known = talking.act("memory", "", &world.thread).await.unwrap().unwrap();
    assert!(known.contains("step: desk__add_note: 0 of 1 approved"), "{known}");
    world.ends().await;
}

/// With the memory off, a user's answers and decisions are neither learned nor used.
#[tokio::test]
async fn without_the_memory_nothing_is_learned() {
    for (arguments, learns) in [(&["--no-memory"][..], false), (&[], true)] {
        let arguments = [&["--gates", "clarify", "--user", "kim"], arguments].concat();
        let mut world = World::new(&arguments).await;
        for round in 0..2 {
            world.thread = world.on(&format!("t{round}"));
            world.asks("그거 해 줘").await;
            let gate: GateRequest = world.open[0].payload().unwrap();
            let is_offered = gate.allowed.contains(&DecisionKind::Reuse);
            assert_eq!(is_offered, learns && round > 0, "{}", world.story);
            world.decides(json!({"decision": "respond", "result": "메모 목록 보여 줘"})).await;
            if let Some(learner) = &world.opened.learner {
                learner.drain(now()).await.unwrap();
            }
        }
        assert_eq!(world.opened.learner.is_some(), learns);
        world.ends().await;
    }
}
