//! The whole orchestrator on a store whose process dies at every append, before it is stored and after.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::{collections::BTreeSet, fs, path::Path};

use clap::Parser;
use example_tests::{program::command, thursday};
use hanok_agent::{Gate, GateRequest};
use hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore};
use hanok_core::{Clock as _, Tenant, ThreadKey};
use hanok_graph::{Outcome, RunError, TokioClock};
use hanok_learning::{
    BehaviourMemory, ClarificationMemory, PlanMemory, ToolMemory, WorkflowMemory,
};
use hanok_mcp::{McpClient, McpConfig};
use hanok_testkit::{Dying, is_full, sampled};
use orchestrator::{
    Opened, Options, open_on, sample_server,
    state::{OrchestratorState, TurnEnd, asking},
};
use serde_json::json;

const REQUEST: &str = "우유 사기 메모해 줘. 그리고 보고서 만들어 줘?";

/// What is asked for at gates, and what a server asks about.
const BOOKING: &str = "회의실 예약해 줘";

fn key() -> ThreadKey {
    ThreadKey::named("t").unwrap()
}

async fn desk(folder: &Path) -> McpClient {
    let program = command("orchestrator", &[]).get_program().to_owned();
    let env =
        json!({desk::NOW: "2026-11-26T01:00:00Z", desk::REPORT_MILLIS: "0", desk::FOLDER: folder});
    let config = json!({"mcpServers": {"desk": sample_server(program.as_ref(), &env)}});
    let config = McpConfig::reader().parse(&config.to_string()).unwrap();
    let client = McpClient::connect(config).await.unwrap();
    client.approve(&client.pending()).unwrap();
    client
}

async fn opened(
    client: &McpClient,
    threads: SharedCheckpointer,
    store: &SharedStore,
    results: &Path,
    gates: &str,
) -> Opened {
    let arguments =
        ["orchestrator", "--gates", gates, "--user", "kim", "--results", results.to_str().unwrap()];
    let options = Options::parse_from(arguments);
    open_on(thursday::offline(), client.clone(), &options, threads, store.clone()).await.unwrap()
}

/// Goes on until the turn is over: what is in doubt is given up, what is asked at a gate approved, and a form filled in. `answered` are the
/// ids of all that was answered.
async fn ended(
    opened: &Opened,
    request: &str,
    answered: &mut Vec<String>,
) -> Result<OrchestratorState, RunError> {
    let app = opened.app();
    let thread = app.thread(key());
    // A process that died at its first append has left nothing to go on with.
    let mut outcome = match thread.resume(()).await {
        Err(RunError::NoSuchThread(_)) => thread.invoke(asking(request), ()).await,
        outcome => outcome,
    };
    for _ in 0..8 {
        match outcome? {
            Outcome::Done(state) => return Ok(state),
            Outcome::InDoubt(open) => {
                outcome = thread.answer(open[0].id.clone(), &"give_up", ()).await;
            }
            Outcome::Interrupted(open) => {
                let open = &open.requests[0];
                let answer = match open.payload::<GateRequest>().unwrap().gate {
                    Gate::Elicitation => {
                        json!({"decision": "edit", "arguments": {"room": "사랑방", "people": 4}})
                    }
                    _ => json!({"decision": "approve"}),
                };
                answered.push(open.id.to_string());
                outcome = thread.answer(open.id.clone(), &answer, ()).await;
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("no end")
}

/// What the memories hold, as text.
async fn memories(opened: &Opened) -> Vec<String> {
    let (of, now) = (opened.parts.memory.all.of(Tenant::default(), "kim"), TokioClock.now());
    opened.learner.as_ref().unwrap().drain(now).await.unwrap();
    let mut texts = Vec::new();
    texts.extend(of.all::<PlanMemory>(now).await.unwrap().into_iter().map(|it| it.text));
    texts.extend(of.all::<ToolMemory>(now).await.unwrap().into_iter().map(|it| it.text));
    texts.extend(of.all::<WorkflowMemory>(now).await.unwrap().into_iter().map(|it| it.text));
    let behaviours = of.all::<BehaviourMemory>(now).await.unwrap();
    texts.extend(behaviours.into_iter().map(|it| {
        let people = it.record.people;
        format!("{}: {} of {}", it.key, people.approved, people.approvals().count())
    }));
    texts.extend(of.all::<ClarificationMemory>(now).await.unwrap().into_iter().map(|it| it.text));
    texts
}

/// The calls of a tool that the server has seen: how often, and under how many keys.
fn calls(folder: &Path, tool: &str) -> (usize, usize) {
    let text = fs::read_to_string(folder.join("ledger.txt")).unwrap_or_default();
    let keys: Vec<_> =
        text.lines().filter_map(|line| line.strip_prefix(tool)?.strip_prefix(' ')).collect();
    (keys.len(), keys.iter().collect::<BTreeSet<_>>().len())
}

/// P20, B139: wherever the process dies, at-most-once calls are made at most once or are in doubt, one that may be repeated has one key, a
/// step has one file, and what is not in doubt is learned as if nobody had died.
#[tokio::test]
async fn a_turn_goes_on_wherever_the_process_dies() {
    let whole = Box::pin(run(&[NEVER])).await;
    assert_eq!(whole.end, TurnEnd::Done);
    let points = everywhere(whole.appends);
    let (mut deaths, mut certain) = (0, 0);
    for &point in &points {
        let ran = Box::pin(run(&[point])).await;
        deaths += ran.deaths;
        // A call that was given up in doubt is none that succeeded.
        if ran.end == TurnEnd::Done {
            certain += 1;
            assert_eq!(ran.learned, whole.learned, "death at {point:?}");
        }
    }
    println!("{deaths} deaths, {certain} of them certain, at {} points", points.len());
    // What goes on at once may append a little less often another time.
    assert!(deaths * 10 >= points.len() * 9, "{deaths} of {}", points.len());
    assert!(certain * 10 >= points.len() * 6, "{certain} of {}", points.len());
}

/// P4, P35: with all gates on, and a server that asks: wherever the process dies, nothing is answered twice that counted, the room is
/// booked once, and what people decided is learned as if nobody had died.
#[tokio::test]
async fn a_turn_of_questions_goes_on_wherever_the_process_dies() {
    let whole = Box::pin(booked(NEVER)).await;
    assert_eq!((whole.end, whole.answered), (TurnEnd::Done, 3));
    let points = everywhere(whole.appends);
    let mut deaths = 0;
    for &point in &points {
        let ran = Box::pin(booked(point)).await;
        deaths += ran.deaths;
        assert_eq!(ran.end, TurnEnd::Done, "death at {point:?}");
        // An answer whose append was lost is given once more, to the same question.
        assert_eq!(ran.answered, 3, "death at {point:?}");
        assert_eq!(ran.learned, whole.learned, "death at {point:?}");
    }
    println!("{deaths} deaths at {} points", points.len());
    assert!(deaths * 10 >= points.len() * 9, "{deaths} of {}", points.len());
}

/// P20, B139: the process that goes on dies as well, and the next one, at appends that a seed says.
#[tokio::test]
async fn a_turn_goes_on_however_often_the_process_dies() {
    let seeds = if is_full() { 10_000 } else { 6 };
    let whole = Box::pin(run(&[])).await;
    let mut deaths = 0;
    for seed in 0..seeds {
        let mut state: u64 = seed;
        let mut below = |limit: u64| {
            // Knuth's linear congruential generator for 64 bits.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from((state >> 33) % limit).unwrap()
        };
        let count = 2 + below(4);
        let schedule: Vec<_> = (0..count).map(|_| (below(30), below(2) == 1)).collect();
        let ran = Box::pin(run(&schedule)).await;
        deaths += ran.deaths;
        if ran.end == TurnEnd::Done {
            assert_eq!(ran.learned, whole.learned, "seed {seed}: {schedule:?}");
        }
    }
    println!("{deaths} deaths under {seeds} seeds");
    assert!(deaths > if is_full() { 24 } else { 8 }, "{deaths}");
}

/// Where nothing dies.
const NEVER: (usize, bool) = (usize::MAX, false);

/// The points at which a process dies that appends so often: before the append is stored, and after.
fn everywhere(appends: usize) -> Vec<(usize, bool)> {
    assert!(appends > 15, "{appends}");
    sampled((0..appends).flat_map(|at| [(at, false), (at, true)]))
}

/// A turn that may have died.
struct Ran {
    deaths: usize,
    /// How often its last process appended that might have died.
    appends: usize,
    /// The questions that were answered.
    answered: usize,
    end: TurnEnd,
    learned: Vec<String>,
}

/// A turn whose processes die one after the other, each at an append of its own, before it is stored or after; the last one lives.
async fn run(schedule: &[(usize, bool)]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let (desk_folder, results) = (folder.path().join("desk"), folder.path().join("results"));
    let client = desk(&desk_folder).await;
    let inner = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let store = SharedStore::new(InMemoryStore::new());
    let (mut deaths, mut appends) = (0, 0);
    for &(at, is_stored) in schedule {
        let dying = Dying::at(inner.clone(), at, is_stored);
        let opened = opened(&client, dying.shared(), &store, &results, "none").await;
        let went = Box::pin(ended(&opened, REQUEST, &mut Vec::new())).await;
        assert_eq!(went.is_err(), dying.is_dead(), "{schedule:?}: {went:?}");
        appends = dying.appends();
        if !dying.is_dead() {
            break;
        }
        deaths += 1;
        dying.after_death(&key()).await.unwrap();
    }
    let last = opened(&client, inner, &store, &results, "none").await;
    let state = Box::pin(ended(&last, REQUEST, &mut Vec::new())).await.unwrap();
    let what = format!("{schedule:?}: {:?}", state.answer);
    assert!(matches!(state.end, Some(TurnEnd::Done | TurnEnd::Partly)), "{what}");
    assert!(calls(&desk_folder, "build_report").0 <= 1, "{what}");
    assert_eq!(calls(&desk_folder, "add_note").1, 1, "{what}");
    let desk = fs::read_to_string(desk_folder.join("desk.json")).unwrap();
    let notes: serde_json::Value = serde_json::from_str(&desk).unwrap();
    assert_eq!(notes["notes"].as_array().unwrap().len(), 1, "{what}");
    let steps = fs::read_dir(results.join("t")).unwrap().filter(|file| {
        let name = file.as_ref().unwrap().file_name().into_string().unwrap();
        name.contains("step") && name.ends_with(".json")
    });
    assert_eq!(steps.count(), 2, "{what}");
    let learned = memories(&last).await;
    client.close().await;
    Ran { deaths, appends, answered: 0, end: state.end.unwrap(), learned }
}

/// A turn that people decide on, whose process dies once.
async fn booked((at, is_stored): (usize, bool)) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let (desk_folder, results) = (folder.path().join("desk"), folder.path().join("results"));
    let client = desk(&desk_folder).await;
    let inner = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let store = SharedStore::new(InMemoryStore::new());
    let (mut deaths, mut answered) = (0, Vec::new());
    let death = (at, is_stored);
    let dying = Dying::at(inner.clone(), at, is_stored);
    let first = opened(&client, dying.shared(), &store, &results, "all").await;
    let went = Box::pin(ended(&first, BOOKING, &mut answered)).await;
    assert_eq!(went.is_err(), dying.is_dead(), "{death:?}: {went:?}");
    if dying.is_dead() {
        deaths = 1;
        dying.after_death(&key()).await.unwrap();
    }
    let last = opened(&client, inner, &store, &results, "all").await;
    let state = Box::pin(ended(&last, BOOKING, &mut answered)).await.unwrap();
    let desk = fs::read_to_string(desk_folder.join("desk.json")).unwrap();
    let desk: serde_json::Value = serde_json::from_str(&desk).unwrap();
    assert_eq!(desk["bookings"].as_array().unwrap().len(), 1, "{death:?}: {desk}");
    assert_eq!(calls(&desk_folder, "book_room").1, 1, "{death:?}");
    let learned = memories(&last).await;
    client.close().await;
    let answered = answered.into_iter().collect::<BTreeSet<_>>().len();
    Ran { deaths, appends: dying.appends(), answered, end: state.end.unwrap(), learned }
}
