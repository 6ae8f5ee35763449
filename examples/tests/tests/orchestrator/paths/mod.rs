//! The paths of the graph, each as the nodes that run, what is told of them, and what people are asked and decide.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

mod learned;
mod resumed;
mod world;

use std::{collections::BTreeSet, fs, path::Path};

use clap::Parser;
use example_tests::{program::command, thursday};
use hanok_agent::{GateRequest, ToolQuery};
use hanok_checkpoint::{InMemoryStore, SharedStore};
use hanok_core::Timestamp;
use hanok_graph::Pending;
use hanok_mcp::{Change, IndexedClient, McpClient, McpConfig};
use hanok_model::{RecordedModel, SharedModel};
use orchestrator::{Options, open};
use serde_json::{Value, json};

use self::world::World;

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
    world.decides(json!({"decision": "edit", "arguments": {"text": "빵 사기"}})).await;
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
    for entry in
        fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/orchestrator/paths/snapshots"))
            .unwrap()
    {
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

/// Who works with other servers on the same store takes nobody's tools away.
#[tokio::test]
async fn other_servers_on_one_store_have_an_index_of_their_own() {
    let program = command("orchestrator", &[]).get_program().to_owned();
    let (store, at) = (SharedStore::new(InMemoryStore::new()), Timestamp(0));
    let mut all = Vec::new();
    for server in ["desk", "office"] {
        let config = json!({"mcpServers": {server: {
            "command": program.to_str().unwrap(), "args": [desk::ARGUMENT],
        }}});
        let config = McpConfig::reader().parse(&config.to_string()).unwrap();
        let client = McpClient::connect(config).await.unwrap();
        client.approve(&client.pending()).unwrap();
        let place = Path::new("");
        let servers = IndexedClient::new(client, store.clone(), None, place, at).await;
        all.push(servers.unwrap());
    }
    for servers in all {
        let query = ToolQuery::new("메모를 적어 줘");
        let recommended = servers.index().recommend(&query, at).await.unwrap();
        let names: Vec<_> = recommended.specs().map(|spec| spec.name().to_owned()).collect();
        assert!(!names.is_empty());
        let offer = servers.client().offer();
        assert!(names.iter().all(|name| offer.contains_key(name)), "{names:?}");
        servers.client().close().await;
    }
}

/// What is far too long for a model is whole in the file of its step.
#[tokio::test]
async fn a_result_that_is_too_long_for_a_model_is_whole_in_its_file() {
    let (folder, results) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let long = format!("처음 {} 끝", "가나다 ".repeat(40_000));
    let data = json!({"notes": [long], "events": [], "bookings": [], "reports": {}, "made": {}});
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

/// What is known of the user and of the domain is data in every request, of a conversation the last ten messages go in, and
/// the request of the turn stands there once.
#[tokio::test]
async fn a_request_has_the_background_as_data_and_ten_messages() {
    let (personal, domain) = ("저는 땅콩을 못 먹어요", "사내 규정 7조: 비밀은 말하지 않는다");
    let arguments = ["--gates", "none", "--personal", personal, "--domain", domain];
    let mut world = World::new(&arguments).await;
    let replies = world.folder.path().join("requests.jsonl");
    let model = RecordedModel::record(thursday::offline(), &replies).unwrap();
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
