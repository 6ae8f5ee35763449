//! The paths of the graph, each as the nodes that run, what is told of them, and what people are asked and decide.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path, time::Duration};

use clap::Parser;
use futures::StreamExt as _;
use hanok_agent::{ApprovalRequest, DecisionKind, Gate, GateRequest, ToolQuery};
use hanok_checkpoint::{InMemoryStore, SharedStore};
use hanok_core::{ThreadKey, Timestamp};
use hanok_graph::{Context, EventKind, Input, Outcome, Pending, RunError, Thread};
use hanok_mcp::{Change, McpClient, McpConfig};
use hanok_model::{RecordedModel, SharedModel};
use orchestrator::{
    Opened, Options, Talking,
    events::{OrchestratorEvent, Status},
    open, sample,
    servers::{Detection, Servers, now},
    state::{OrchestratorState, asking},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use terminal::{Talk as _, brain, program::command};

/// An orchestrator with a desk of its own, and the thread of the test.
struct World {
    opened: Opened,
    client: McpClient,
    thread: Thread<OrchestratorState>,
    folder: TempDir,
    /// What happened.
    story: String,
    open: Vec<Pending>,
}

impl World {
    async fn new(arguments: &[&str]) -> Self {
        Self::of(arguments, json!({})).await
    }

    /// With the operator's words on the desk's tools.
    async fn of(arguments: &[&str], tools: Value) -> Self {
        Self::approved(arguments, tools, |change| change.hash().is_some()).await
    }

    /// With those of the desk's tools that somebody has approved.
    async fn approved(
        arguments: &[&str],
        tools: Value,
        is_approved: impl Fn(&Change) -> bool,
    ) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), arguments, tools, is_approved).await
    }

    /// With what the desk has in `folder`.
    async fn in_folder(
        folder: TempDir,
        arguments: &[&str],
        tools: Value,
        is_approved: impl Fn(&Change) -> bool,
    ) -> Self {
        let program = command("orchestrator", &[]).get_program().to_owned();
        let config = json!({"mcpServers": {"desk": {
            "command": program.to_str().unwrap(), "args": [sample::ARGUMENT], "required": true, "trust": "annotations",
            "tools": tools,
            "env": {
                sample::NOW: "2026-11-26T01:00:00Z", sample::REPORT_MILLIS: "0",
                sample::FOLDER: folder.path().join("desk").to_str().unwrap(),
            },
        }}});
        let config = McpConfig::reader().parse(&config.to_string()).unwrap();
        let client = McpClient::connect(config).await.unwrap();
        client.approve(client.pending().iter().filter(|change| is_approved(change))).unwrap();
        let options = Options::parse_from([&["orchestrator"], arguments].concat());
        let opened = open(brain::offline().model, client.clone(), &options).await.unwrap();
        let app = opened.app();
        let thread = app.thread(ThreadKey::named("t").unwrap());
        Self { opened, client, thread, folder, story: String::new(), open: Vec::new() }
    }

    fn desk(&self, file: &str) -> std::path::PathBuf {
        self.folder.path().join("desk").join(file)
    }

    fn on(&self, thread: &str) -> Thread<OrchestratorState> {
        let app = self.opened.app();
        app.thread(ThreadKey::named(thread).unwrap())
    }

    fn ledger(&self) -> Vec<String> {
        let text = fs::read_to_string(self.desk("ledger.txt")).unwrap_or_default();
        text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    }

    async fn asks(&mut self, text: &str) -> &mut Self {
        writeln!(self.story, "> {text}").unwrap();
        self.run(Input::New(asking(text))).await
    }

    /// Answers the one open question.
    async fn decides(&mut self, answer: Value) -> &mut Self {
        writeln!(self.story, "! {answer}").unwrap();
        let answer = hanok_core::Stored::encode(&answer).unwrap();
        let id = self.open[0].id.clone();
        self.run(Input::Answers(vec![(id, answer)])).await
    }

    async fn run(&mut self, input: Input<OrchestratorState>) -> &mut Self {
        let mut events = self.thread.stream(input, ());
        while let Some(event) = events.next().await {
            match &event.kind {
                EventKind::TaskStarted { .. } if event.path.is_root() => {
                    writeln!(self.story, "{}", event.node.as_deref().unwrap()).unwrap();
                }
                EventKind::Custom(item) => {
                    if let Ok(told) = item.decode::<OrchestratorEvent>() {
                        self.told(told);
                    }
                }
                _ => {}
            }
        }
        let outcome = match events.outcome().await {
            Err(RunError::WrongAnswer { .. }) => {
                writeln!(self.story, "  refused: the question stays open").unwrap();
                return self;
            }
            Err(error) => panic!("{error}: {}", self.story),
            Ok(outcome) => outcome,
        };
        match outcome {
            Outcome::Done(state) => {
                let state = state.answer.unwrap();
                writeln!(self.story, "< {}", state.replace('\n', "\n  ")).unwrap();
            }
            Outcome::Interrupted(open) => {
                open.iter().for_each(|question| self.question(question));
                self.open = open.requests;
            }
            other => panic!("{other:?}"),
        }
        self
    }

    fn told(&mut self, event: OrchestratorEvent) {
        let line = match event {
            OrchestratorEvent::Status(Status::Planned { steps, original }) => {
                let steps: Vec<_> = steps.iter().map(|step| step.task.as_str()).collect();
                let was =
                    original.map_or(String::new(), |steps| format!(" (was {} steps)", steps.len()));
                format!("planned: {}{was}", steps.join(" / "))
            }
            OrchestratorEvent::Status(Status::Passed { gate, reason }) => {
                format!("the gate {gate} is passed: {reason}")
            }
            OrchestratorEvent::Status(Status::Completed { step, result, failure }) => {
                format!(
                    "step {step}: {result:?}{}",
                    failure.map(|it| format!(", {it}")).unwrap_or_default()
                )
            }
            OrchestratorEvent::End { end, statistics } => {
                let rate =
                    statistics.success_rate.map_or("none".to_owned(), |rate| format!("{rate:.2}"));
                format!("ends: {end:?}, {} skipped, rate {rate}", statistics.skipped)
            }
            _ => return,
        };
        writeln!(self.story, "  {line}").unwrap();
    }

    fn question(&mut self, question: &Pending) {
        if let Ok(gate) = question.payload::<GateRequest>() {
            let allowed: Vec<_> = gate.allowed.iter().map(|kind| format!("{kind:?}")).collect();
            let mut shown = match gate.gate {
                Gate::Elicitation => gate.shown.0["message"].clone(),
                // What the server is, is the program and its hash.
                Gate::Definitions => {
                    let changes = gate.shown.0["changes"].as_array().unwrap().clone();
                    changes.into_iter().map(|change| change["change"].clone()).collect()
                }
                _ => gate.shown.0,
            };
            // The hash of the program that serves differs from build to build.
            if let Some(fields) = shown.as_object_mut() {
                fields.remove("definition");
            }
            writeln!(self.story, "? {}: {shown} [{}]", gate.gate, allowed.join(", ")).unwrap();
            if !gate.missing.is_empty() {
                writeln!(self.story, "  missing: {}", gate.missing.join(", ")).unwrap();
            }
        } else if let Ok(call) = question.payload::<ApprovalRequest>() {
            writeln!(self.story, "? tool: {}{}", call.tool, call.arguments.as_str()).unwrap();
        } else {
            panic!("{question:?}");
        }
    }

    /// What happened, and the calls that the desk has seen.
    async fn ends(self) -> String {
        let ledger = self.ledger();
        self.client.close().await;
        drop(self.opened);
        format!("{}ledger: {ledger:?}", self.story)
    }
}

#[tokio::test]
async fn a_chat_needs_no_tools() {
    let mut world = World::new(&["--gates", "all"]).await;
    world.asks("안녕하세요").await;
    insta::assert_snapshot!(world.ends().await);
}

#[tokio::test]
async fn a_clear_request_is_planned_and_made_while_all_gates_are_off() {
    let mut world = World::new(&["--gates", "none"]).await;
    world.asks("우산 챙기기 메모해 줘. 그리고 메모 목록 보여 줘?").await;
    insta::assert_snapshot!(world.ends().await);
}

#[tokio::test]
async fn what_is_not_clear_is_asked_and_a_blank_answer_is_asked_again() {
    let mut world = World::new(&["--gates", "clarify"]).await;
    world.asks("그거 해 줘").await;
    world.decides(json!({"decision": "respond", "result": " "})).await;
    world.decides(json!({"decision": "reuse", "id": "1"})).await;
    world.decides(json!({"decision": "respond", "result": "우유 사기를 메모해 줘"})).await;
    world.asks("그거 말이야 좀 해 줘").await;
    world.decides(json!({"decision": "approve"})).await;
    insta::assert_snapshot!(world.ends().await);
}

#[tokio::test]
async fn a_plan_is_edited_badly_and_then_well() {
    let mut world = World::new(&["--gates", "plan"]).await;
    let edit = |steps: Value| json!({"decision": "edit", "arguments": {"steps": steps}});
    world.asks("우유 사기 메모해 줘").await;
    world.decides(edit(json!([]))).await;
    world.decides(edit(json!([{"task": "우유 사기 메모해 줘", "tool": "desk__fly"}]))).await;
    world
        .decides(edit(json!([{"task": "같은 일 메모해 줘"}, {"task": "같은 일 메모해 줘"}])))
        .await;
    world.decides(edit(json!([{"task": "빵 사기 메모해 줘", "tool": "desk__add_note"}, {"task": "메모 목록 보여 줘"}]))).await;
    insta::assert_snapshot!(world.ends().await);
}

#[tokio::test]
async fn a_plan_is_made_anew_after_a_person_s_words_and_rejected() {
    let mut world = World::new(&["--gates", "plan"]).await;
    world.asks("우유 사기 메모해 줘").await;
    world.decides(json!({"decision": "revise", "message": "더 짧게"})).await;
    world.decides(json!({"decision": "reject", "message": "됐어"})).await;
    world.asks("내일 일정 보여 줘").await;
    world.decides(json!({"decision": "approve"})).await;
    insta::assert_snapshot!(world.ends().await);
}

#[tokio::test]
async fn a_step_is_approved_edited_and_left_out() {
    let mut world = World::new(&["--gates", "step"]).await;
    world.asks("우유 사기 메모해 줘. 그리고 내일 일정 보여 줘?").await;
    world.decides(json!({"decision": "edit", "arguments": {"text": ""}})).await;
    world.decides(json!({"decision": "edit", "arguments": {"text": "빵", "more": 1}})).await;
    world.decides(json!({"decision": "edit", "arguments": {"text": " "}})).await;
    world
        .decides(json!({"decision": "edit", "arguments": {"text": "\"빵 사기\"라고 적어 줘"}}))
        .await;
    world.decides(json!({"decision": "skip"})).await;
    world.asks("메모 목록 보여 줘").await;
    world.decides(json!({"decision": "approve"})).await;
    world.asks("메모 목록 보여 줘").await;
    world.decides(json!({"decision": "skip", "message": "이미 봤어"})).await;
    insta::assert_snapshot!(world.ends().await);
}

#[tokio::test]
async fn a_tool_that_is_gone_when_it_is_called_leads_back_to_the_preparation() {
    let mut world = World::new(&["--gates", "step", "--tool-interval", "0"]).await;
    world.asks("우유 사기 메모해 줘").await;
    fs::write(world.desk("closed.txt"), "add_note\n").unwrap();
    world.decides(json!({"decision": "approve"})).await;
    world.decides(json!({"decision": "skip"})).await;
    insta::assert_snapshot!(world.ends().await);
}

/// The tool of the question that is open.
fn asked_tool(open: &[Pending]) -> String {
    let gate: GateRequest = open[0].payload().unwrap();
    gate.shown.0["tool"].as_str().unwrap().strip_prefix("desk__").unwrap().to_owned()
}

#[tokio::test]
async fn a_step_whose_tools_go_one_after_the_other_fails_with_words() {
    let mut world = World::new(&["--gates", "step", "--tool-interval", "0"]).await;
    world.asks("우유 사기 메모해 줘").await;
    let mut closed = String::new();
    for _ in 0..3 {
        closed += &format!("{}\n", asked_tool(&world.open));
        fs::write(world.desk("closed.txt"), &closed).unwrap();
        let form: Value = serde_json::from_str(world.open[0].schema.as_deref().unwrap()).unwrap();
        // A call that lacks something can only be edited.
        let approves = form.to_string().contains("approve");
        let answer = match approves {
            true => json!({"decision": "approve"}),
            false => json!({"decision": "edit", "arguments": {"text": "우유 사기"}}),
        };
        world.decides(answer).await;
    }
    insta::assert_snapshot!(world.ends().await);
}

/// The gate of tools asks about what an agent calls by itself, and about nothing that only reads.
#[tokio::test]
async fn an_agent_s_own_calls_are_asked_about() {
    let mut world = World::new(&["--gates", "tool"]).await;
    world.asks("우유 사기 메모해 줘. 그리고 메모 목록 보여 줘?").await;
    world.decides(json!({"decision": "approve"})).await;
    world.asks("빵 사기 메모해 줘").await;
    world.decides(json!({"decision": "reject", "message": "됐어"})).await;
    world.asks("우유 사기 메모해 줘").await;
    world.decides(json!({"decision": "edit", "arguments": {"words": "빵 사기"}})).await;
    world.decides(json!({"decision": "edit", "arguments": {"text": "빵 사기"}})).await;
    insta::assert_snapshot!(world.ends().await);
}

/// What a person changes in a call while its tool is gone: the step is prepared again with what there is.
#[tokio::test]
async fn a_call_is_edited_while_its_tool_is_gone() {
    let mut world = World::new(&["--gates", "step", "--tool-interval", "0"]).await;
    world.asks("우유 사기 메모해 줘").await;
    fs::write(world.desk("closed.txt"), "add_note\n").unwrap();
    world.client.refresh().await;
    world.decides(json!({"decision": "edit", "arguments": {"text": "빵 사기"}})).await;
    world.decides(json!({"decision": "skip"})).await;
    insta::assert_snapshot!(world.ends().await);
}

/// Every drawn edge is run in one of the stories, and nothing else is run.
#[tokio::test]
async fn the_stories_run_every_drawn_edge() {
    let world = World::new(&[]).await;
    let drawing = world.opened.graph.drawing().dot();
    let ends = [hanok_graph::START, hanok_graph::END];
    let drawn = drawing.lines().filter_map(|line| {
        let (from, to) = line.trim().split_once(" -> ")?;
        let to = to.trim_end_matches(';').trim_end_matches(" [style=dashed]");
        Some((from.trim_matches('"').to_owned(), to.trim_matches('"').to_owned()))
    });
    let drawn: BTreeSet<_> =
        drawn.filter(|(from, to)| !ends.iter().any(|end| end == from || end == to)).collect();
    assert!(drawn.len() > 20, "{drawing}");
    let nodes: BTreeSet<_> = drawn.iter().flat_map(|(from, to)| [from, to]).collect();
    assert_eq!(nodes.len(), 15);

    let mut ran = BTreeSet::new();
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots")).unwrap() {
        let story = fs::read_to_string(entry.unwrap().path()).unwrap();
        let mut last: Option<String> = None;
        for line in story.lines().map(str::to_owned) {
            // A turn ends with its answer; a node that is asked about is run again.
            if line.starts_with("< ") {
                last = None;
            } else if nodes.contains(&line) {
                let edge = last.replace(line.clone()).map(|last| (last, line));
                ran.extend(edge.filter(|(from, to)| from != to));
            }
        }
    }
    assert_eq!(ran, drawn);
    world.ends().await;
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
        let options = Options::parse_from([&["orchestrator"][..], &arguments].concat());
        let talking = Talking::new(&world.opened, &options);
        let always = talking.always("desk__add_note", None, None).await.unwrap();
        assert!(always.contains("desk__add_note"), "{always}");
        world.asks("우유 사기 메모해 줘").await;
        assert_eq!(!world.open.is_empty(), asks, "{gates}, {approval:?}: {}", world.story);
        let audit = talking.act("approvals", "", &world.thread).await.unwrap().unwrap();
        let passed = audit.contains("\"passed\"") && audit.contains("for user kim");
        assert_eq!(passed, approval.is_none(), "{gates}, {approval:?}: {audit}");
        world.ends().await;
    }
}

/// A tool that goes while an agent's call waits for a person: the step is prepared again with what is there.
#[tokio::test]
async fn a_tool_that_is_gone_when_an_agent_calls_it_leads_back_to_the_preparation() {
    let mut world = World::new(&["--gates", "tool", "--tool-interval", "0"]).await;
    world.asks("우유 사기 메모해 줘").await;
    fs::write(world.desk("closed.txt"), "add_note\n").unwrap();
    world.decides(json!({"decision": "approve"})).await;
    insta::assert_snapshot!(world.ends().await);
}

/// P44: what is new is used in the very turn in which a person has seen it, what they refuse is not asked about again, and with the gate off
/// it waits.
#[tokio::test]
async fn definitions_that_nobody_has_seen_are_asked_about() {
    let is_note = |change: &Change| change.tool().tool() == "add_note";
    let mut world = World::approved(&["--gates", "definitions"], json!({}), is_note).await;
    world.asks("10 km를 마일로 바꿔 줘").await;
    world.decides(json!({"decision": "reject", "message": "모르는 도구"})).await;
    world.asks("10 km를 마일로 바꿔 줘").await;
    world.thread = world.on("other");
    world.asks("안녕하세요").await;
    world.asks("10 km를 마일로 바꿔 줘").await;
    world.decides(json!({"decision": "approve"})).await;
    world.thread = world.on("third");
    world.asks("10 km를 마일로 바꿔 줘").await;
    let story = world.ends().await;
    insta::assert_snapshot!(story);
    let mut world = World::approved(&["--gates", "none"], json!({}), is_note).await;
    world.asks("10 km를 마일로 바꿔 줘").await;
    assert!(world.open.is_empty() && world.ledger().is_empty(), "{}", world.story);
}

#[tokio::test]
async fn what_no_tool_can_do_ends_with_words() {
    let mut world = World::new(&["--gates", "plan,step"]).await;
    world.asks("피자 한 판 주문해 줘").await;
    insta::assert_snapshot!(world.ends().await);
}

/// All gates on: clarify is not asked where it is clear, and an agent's own calls are asked about, too.
#[tokio::test]
async fn all_gates_ask_and_a_server_asks_as_well() {
    let mut world = World::new(&["--gates", "all"]).await;
    world.asks("회의실 예약해 줘").await;
    world.decides(json!({"decision": "approve"})).await;
    world.decides(json!({"decision": "approve"})).await;
    world.decides(json!({"decision": "edit", "arguments": {"room": "사랑방", "people": 9}})).await;
    let story = world.ends().await;
    insta::assert_snapshot!(story);
}

/// B137: an answer that people confirmed five times is used without asking, shown, and taken back; then they are asked again.
#[tokio::test]
async fn an_answer_of_before_is_used_and_taken_back() {
    let arguments = ["--gates", "clarify", "--user", "kim"];
    let mut world = World::new(&arguments).await;
    let app = world.opened.app();
    let learn = async |world: &World| {
        world.opened.learner.learner().unwrap().drain(now()).await.unwrap();
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

    let talking = Talking::new(
        &world.opened,
        &Options::parse_from([&["orchestrator"][..], &arguments].concat()),
    );
    let said = talking.act("not-that", "", &world.thread).await.unwrap().unwrap();
    assert!(said.contains("메모 목록 보여 줘") && said.contains("무르고"), "{said}");
    world.thread = app.thread(ThreadKey::named("again").unwrap());
    world.asks("그거 해 줘").await;
    assert!(world.story.contains("? clarify"), "{}", world.story);
    world.ends().await;
}

/// Who works with other servers on the same store takes nobody's tools away.
#[tokio::test]
async fn other_servers_on_one_store_have_an_index_of_their_own() {
    let program = command("orchestrator", &[]).get_program().to_owned();
    let (store, at) = (SharedStore::new(InMemoryStore::new()), Timestamp(0));
    let detection = Detection { automatic: false, interval: Duration::ZERO };
    let mut all = Vec::new();
    for server in ["desk", "office"] {
        let config = json!({"mcpServers": {server: {
            "command": program.to_str().unwrap(), "args": [sample::ARGUMENT],
        }}});
        let config = McpConfig::reader().parse(&config.to_string()).unwrap();
        let client = McpClient::connect(config).await.unwrap();
        client.approve(&client.pending()).unwrap();
        let place = Path::new("");
        let servers = Servers::new(client, store.clone(), None, detection, place, at).await;
        all.push(servers.unwrap());
    }
    for servers in all {
        let query = ToolQuery::new("메모를 적어 줘");
        let recommended = servers.index().recommend(&query, at).await.unwrap();
        let names: Vec<_> = recommended.specs().map(|spec| spec.name().to_owned()).collect();
        assert!(!names.is_empty());
        let offer = servers.offer();
        assert!(names.iter().all(|name| offer.get(name).is_some()), "{names:?}");
        servers.client().close().await;
    }
}

/// What fails every time is avoided, but for what the operator pins.
#[tokio::test]
async fn what_is_pinned_is_never_avoided() {
    for is_pinned in [true, false] {
        let tools = json!({"convert": {"pinned": is_pinned}});
        let mut world = World::of(&["--gates", "none", "--user", "kim"], tools).await;
        for round in 0..5 {
            world.thread = world.on(&format!("t{round}"));
            // How far is not said: nothing can be converted.
            world.asks("거리를 마일로 바꿔 줘").await;
            let learner = world.opened.learner.learner().unwrap();
            learner.drain(now()).await.unwrap();
        }
        let task = world.thread.state(None).await.unwrap().unwrap().results[0].task.clone();
        let parts = &world.opened.parts;
        let context = Context::for_test(()).build().unwrap();
        let recalled = parts.memory.tools(&task, &context).await.unwrap();
        let avoided = recalled.avoided(&parts.servers.offer());
        let expected: &[&str] = if is_pinned { &[] } else { &["desk__convert"] };
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
            let learner = world.opened.learner.learner().unwrap();
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

/// What is far too long for a model is whole in the file of its step.
#[tokio::test]
async fn a_result_that_is_too_long_for_a_model_is_whole_in_its_file() {
    let (folder, results) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let long = format!("처음 {} 끝", "가나다 ".repeat(40_000));
    let data =
        json!({"notes": [{"text": long}], "events": [], "bookings": [], "reports": {}, "made": {}});
    fs::create_dir(folder.path().join("desk")).unwrap();
    fs::write(folder.path().join("desk/desk.json"), data.to_string()).unwrap();
    let arguments = ["--gates", "step", "--results", results.path().to_str().unwrap()];
    let mut world = World::in_folder(folder, &arguments, json!({}), |_| true).await;
    world.asks("메모 목록 보여 줘").await;
    world.decides(json!({"decision": "approve"})).await;
    let file = fs::read_to_string(results.path().join("t/001-step-01.md")).unwrap();
    assert!(file.contains(&long), "{}", file.len());
    let state = world.thread.state(None).await.unwrap().unwrap();
    let shown = state.results[0].calls[0].text.chars().count();
    assert!(shown < 4_100, "{shown}");
    world.ends().await;
}

/// B136: what a person approved every time passes without them where that is switched on, and says so; one rejection ends it.
#[tokio::test]
async fn what_was_always_approved_passes_where_learned_approvals_are_on() {
    const DECISIONS: usize = 40;
    let arguments = ["--gates", "step", "--user", "kim", "--learned-approvals"];
    let mut world = World::new(&arguments).await;
    let learn = async |world: &World| {
        world.opened.learner.learner().unwrap().drain(now()).await.unwrap();
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
    let talking = Talking::new(
        &world.opened,
        &Options::parse_from([&["orchestrator"][..], &arguments].concat()),
    );
    let audit = talking.act("approvals", "", &world.on("passes0")).await.unwrap().unwrap();
    assert!(audit.contains("learned: ") || audit.contains("requested"), "{audit}");
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

/// Without `--results` nothing but the log is written; with it one file a step, whatever stands in the thread's name.
#[tokio::test]
async fn results_are_written_once_a_step() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_str().unwrap();
    let mut world = World::new(&["--gates", "none", "--results", at]).await;
    world.asks("우유 사기 메모해 줘. 그리고 메모 목록 보여 줘?").await;
    let names = |path: &Path| {
        let names =
            fs::read_dir(path).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    let thread = folder.path().join("t");
    assert_eq!(
        names(&thread),
        [
            "001-answer.json",
            "001-answer.md",
            "001-step-01.json",
            "001-step-01.md",
            "001-step-02.json",
            "001-step-02.md",
        ]
    );
    let step: Value =
        serde_json::from_slice(&fs::read(thread.join("001-step-01.json")).unwrap()).unwrap();
    assert_eq!((step["status"].as_str(), step["number"].as_u64()), (Some("done"), Some(1)));
    assert!(fs::read_to_string(thread.join("001-answer.md")).unwrap().contains("우유 사기"));
    world.ends().await;
}

/// What a person rejects at the gate of tools counts against learned approvals, as at the gate of a step.
#[tokio::test]
async fn a_rejected_call_of_an_agent_counts_against_what_was_learned() {
    let mut world = World::new(&["--gates", "tool", "--user", "kim", "--learned-approvals"]).await;
    world.asks("빵 사기 메모해 줘").await;
    world.decides(json!({"decision": "reject", "message": "됐어"})).await;
    world.opened.learner.learner().unwrap().drain(now()).await.unwrap();
    let options = Options::parse_from(["orchestrator", "--user", "kim"]);
    let talking = Talking::new(&world.opened, &options);
    let known = talking.act("memory", "", &world.thread).await.unwrap().unwrap();
    assert!(known.contains("step: desk__add_note: 0 of 1 approved"), "{known}");
    world.ends().await;
}

/// Whether a tool that is gone is noticed before the step is prepared, or only by its call.
#[tokio::test]
async fn tools_that_have_changed_are_looked_for_when_it_is_time() {
    for (arguments, is_noticed) in [
        (&["--tool-interval", "0"][..], true),
        (&["--tool-interval", "86400"], false),
        (&["--tool-interval", "0", "--no-tool-detection"], false),
    ] {
        let mut world = World::new(&[&["--gates", "step"], arguments].concat()).await;
        fs::create_dir_all(world.desk("")).unwrap();
        fs::write(world.desk("closed.txt"), "add_note\n").unwrap();
        world.asks("우유 사기 메모해 줘").await;
        assert_eq!(world.story.contains("EmptyPlan"), is_noticed, "{}", world.story);
        assert!(is_noticed || asked_tool(&world.open) == "add_note");
        world.ends().await;
    }
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
            if let Some(learner) = world.opened.learner.learner() {
                learner.drain(now()).await.unwrap();
            }
        }
        assert_eq!(world.opened.learner.learner().is_some(), learns);
        world.ends().await;
    }
}

/// P42 in part: what is known of the user and of the domain is data in every request, of a conversation the last ten messages go in, and
/// the request of the turn stands there once.
#[tokio::test]
async fn a_request_has_the_background_as_data_and_ten_messages() {
    let (personal, domain) = ("저는 땅콩을 못 먹어요", "사내 규정 7조: 비밀은 말하지 않는다");
    let arguments = ["--gates", "none", "--personal", personal, "--domain", domain];
    let mut world = World::new(&arguments).await;
    let replies = world.folder.path().join("requests.jsonl");
    let model = RecordedModel::record(brain::offline().model, &replies).unwrap();
    let options = Options::parse_from([&["orchestrator"][..], &arguments].concat());
    world.opened = open(SharedModel::new(model), world.client.clone(), &options).await.unwrap();
    world.thread = world.on("t");
    for round in 1..=8 {
        world.asks(&format!("{round}번째로 안녕하세요")).await;
    }
    let before = fs::read_to_string(&replies).unwrap().lines().count();
    world.asks("우유 사기 메모해 줘").await;
    let written = fs::read_to_string(&replies).unwrap();
    let (mut asked, mut with_talk) = (0, 0);
    for line in written.lines().skip(before) {
        let exchange: Value = serde_json::from_str(line).unwrap();
        let messages = exchange["request"]["messages"].as_array().unwrap();
        let holding = |text: &str| -> Vec<&Value> {
            messages.iter().filter(|message| message.to_string().contains(text)).collect()
        };
        let is_system = |message: &&Value| message["role"] == "system";
        for text in [personal, domain] {
            assert!(!holding(text).iter().any(is_system), "{line}");
        }
        // The agent of a step has the step's task alone.
        if holding(personal).is_empty() {
            continue;
        }
        asked += 1;
        assert_eq!((holding(personal).len(), holding(domain).len()), (1, 1), "{line}");
        // Step results name their task besides.
        let query = json!({"role": "user", "content": "우유 사기 메모해 줘"});
        assert_eq!(messages.iter().filter(|message| **message == query).count(), 1, "{line}");
        let talk: Vec<_> = (1..=8)
            .filter(|round| !holding(&format!("{round}번째로 안녕하세요")).is_empty())
            .collect();
        if !talk.is_empty() {
            with_talk += 1;
            assert_eq!(talk, [4, 5, 6, 7, 8], "{line}");
        }
    }
    assert!(asked >= 3 && with_talk >= 1, "{asked} {with_talk}: {written}");
    world.ends().await;
}
