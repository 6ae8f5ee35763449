//! Several processes on one thread, and processes that die: nothing is lost, and what was done is not done again.
//!
//! The children are this test binary itself, told by its environment what to do.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

use std::{
    collections::BTreeMap,
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use hanok_agent::ReactAgent;
use hanok_checkpoint::{Body, Log, SharedCheckpointer};
use hanok_core::{Call, Effect, Tenant, ThreadKey};
use hanok_graph::{Input, Outcome, RunError};
use hanok_model::{ChatModel, ChatReply, ChatRequest, FnTool, ModelError, SharedTool};
use hanok_sqlite::Sqlite;
use hanok_state::{Message, Role};
use hanok_supervisor::Supervisor;
use hanok_testkit::shortened;

/// How many tool calls a turn makes, one after the other.
const CALLS: usize = 5;

/// Writes one line to the ledger, at once and whole.
fn note(ledger: &Path, line: &str) {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(ledger).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn ledger(path: &Path, what: &str) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.strip_prefix(what));
    lines.map(|line| line.trim().to_owned()).collect()
}

/// Delegates, then asks for one call after the other, then answers: a function of the messages alone.
#[derive(Debug)]
struct Model {
    ledger: PathBuf,
}

impl ChatModel for Model {
    fn name(&self) -> &str {
        "counting"
    }

    async fn chat(&self, request: ChatRequest, call: &Call) -> Result<ChatReply, ModelError> {
        note(&self.ledger, &format!("model {}", call.key()));
        call.clock().sleep(Duration::from_millis(20)).await;
        while self.ledger.with_file_name("hold").exists() {
            call.clock().sleep(Duration::from_millis(5)).await;
        }
        let said: Vec<_> = request.messages.iter().collect();
        let system = said.first().map(|m| m.text().into_owned()).unwrap_or_default();
        let question =
            said.iter().rposition(|m| m.role() == Role::User && m.text().contains("질문"));
        let since = said.get(question.unwrap_or_default()..).unwrap_or_default();
        let observations = since.iter().filter(|m| m.text().contains("Observation:")).count();
        let reply = if system.contains("Delegate:") {
            // What the agent gave in this turn stands as data in a message of the user's role, behind the question.
            let given =
                |m: &&&Message| m.role() == Role::User && m.text().contains("번 일했습니다");
            match since.iter().find(given) {
                Some(_) => format!("Final Answer: {CALLS}번 일했습니다"),
                None => "Delegate: worker\nTask: 질문에 답하세요".to_owned(),
            }
        } else if observations < CALLS {
            format!("Thought: 다음\nAction: work\nAction Input: {{\"n\": {observations}}}")
        } else {
            format!("Thought: 끝\nFinal Answer: {observations}번 일했습니다")
        };
        Ok(ChatReply::new(Message::assistant(reply), "counting"))
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Work {
    n: u32,
}

fn supervisor(ledger: &Path) -> Supervisor {
    let model = || Model { ledger: ledger.to_owned() };
    let path: Arc<Path> = ledger.into();
    let work = FnTool::new("work", "works", move |work: Work, call: Call| {
        let path = path.clone();
        async move {
            note(&path, &format!("start {}", call.key()));
            call.clock().sleep(Duration::from_millis(40)).await;
            note(&path, &format!("end {}", call.key()));
            Ok(format!("done {} {}", work.n, call.key()).into())
        }
    });
    let tool = SharedTool::new(work.unwrap().effect(Effect::Idempotent));
    let agent = ReactAgent::builder("worker", "works", model()).tools([tool]).build().unwrap();
    Supervisor::builder(model()).agent(agent).build().unwrap()
}

fn key() -> ThreadKey {
    ThreadKey::new(Tenant::default(), "t").unwrap()
}

/// What a child does: one question, or going on. Its exit is the example's: 0, or 3 for a conflict.
#[test]
fn child() {
    let Ok(db) = env::var("RAG_TEST_DB") else { return };
    let ledger = PathBuf::from(env::var("RAG_TEST_LEDGER").unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let code = runtime.block_on(async {
        let supervisor = supervisor(&ledger);
        let store = Sqlite::open(&db).await.unwrap();
        let thread = supervisor.graph().checkpointer(store).thread(key());
        let input = match env::var("RAG_TEST_QUESTION") {
            Ok(question) => Input::New(supervisor.ask(question)),
            Err(_) => Input::Resume,
        };
        match thread.run(input, ()).await {
            Ok(Outcome::Done(state)) => {
                println!("answer: {}", state.answer.unwrap());
                0
            }
            Ok(other) => panic!("{other:?}"),
            Err(RunError::Conflict { .. }) => 3,
            // The child was killed before its turn began.
            Err(RunError::NoSuchThread(_)) => 4,
            Err(error) => panic!("{error}: {:?}", std::error::Error::source(&error)),
        }
    });
    std::process::exit(code);
}

fn spawn(dir: &Path, question: Option<&str>) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "rag::processes::child", "--nocapture"])
        .env("RAG_TEST_DB", dir.join("threads.db"))
        .env("RAG_TEST_LEDGER", dir.join("ledger"))
        .env_remove("RAG_TEST_QUESTION")
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    if let Some(question) = question {
        command.env("RAG_TEST_QUESTION", question);
    }
    command.spawn().unwrap()
}

/// The exit of a child, and its answer.
fn finish(child: Child) -> (Option<i32>, Option<String>) {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer = text.lines().find_map(|line| line.split_once("answer: "));
    (output.status.code(), answer.map(|(_, answer)| answer.to_owned()))
}

/// The keys of the tool calls whose results are in the log.
fn stored(dir: &Path) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = Sqlite::open(dir.join("threads.db")).await.unwrap();
        let log = Log::new(SharedCheckpointer::new(store), key());
        let history = log.history(None, usize::MAX).await.unwrap();
        let memos = history.iter().filter_map(|entry| match &entry.entry.body {
            Body::Memo(memo) => Some(memo.value.to_string()),
            _ => None,
        });
        memos
            .filter_map(|value| {
                let (_, rest) = value.split_once("done ")?;
                rest.split_whitespace()
                    .nth(1)
                    .map(|key| key.trim_end_matches(['"', '}', ',']).to_owned())
            })
            .map(|key| key.split('"').next().unwrap_or_default().to_owned())
            .collect()
    })
}

/// P1, P2, B71: killed at random moments, 20 times or, of a sample, four; the next run finishes the turn, and no finished call is made again.
#[test]
fn a_killed_process_loses_nothing_and_repeats_no_finished_call() {
    let quiet = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let (code, want) = finish(spawn(quiet.path(), Some("질문 1")));
    assert_eq!((code, want.as_deref()), (Some(0), Some("5번 일했습니다")));
    let takes = u64::try_from(began.elapsed().as_millis()).unwrap();

    let (mut seed, mut interrupted) = (0x9e37_79b9_7f4a_7c15_u64, 0u32);
    let mut round = 0u32;
    // So many kills at least, and as many more as it takes to hit a turn under way so often.
    let (kills, hits) = (shortened(20).max(4), u32::try_from(shortened(3)).unwrap());
    while usize::try_from(round).unwrap() < kills || (interrupted < hits && round < 100) {
        round += 1;
        let dir = tempfile::tempdir().unwrap();
        let mut child = spawn(dir.path(), Some("질문 1"));
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(u64::from(round));
        std::thread::sleep(Duration::from_millis((seed >> 33) % takes));
        child.kill().unwrap();
        child.wait().unwrap();

        let ledger_path = dir.path().join("ledger");
        let finished = stored(dir.path());
        let open = ledger(&ledger_path, "start").len() > ledger(&ledger_path, "end").len();
        interrupted += u32::from(open || (!finished.is_empty() && finished.len() < CALLS));
        // By turns: asked to go on, or with a new question, before which the broken turn is finished.
        let (code, answer) = match round % 2 {
            0 => match finish(spawn(dir.path(), None)) {
                (Some(4), _) => finish(spawn(dir.path(), Some("질문 1"))),
                other => other,
            },
            _ => finish(spawn(dir.path(), Some("질문 2"))),
        };
        assert_eq!((code, &answer), (Some(0), &want), "round {round}");

        let mut counts = BTreeMap::new();
        for key in ledger(&ledger_path, "start") {
            *counts.entry(key).or_insert(0) += 1;
        }
        for key in &finished {
            assert_eq!(counts.get(key), Some(&1), "round {round}: a finished call was made again");
        }
        let turns = counts.len() / CALLS;
        assert_eq!(counts.len() % CALLS, 0, "round {round}: {counts:?}");
        assert!((1..=2).contains(&turns), "round {round}: {counts:?}");
        assert!(counts.values().filter(|count| **count > 1).count() <= 1, "{counts:?}");
    }
    assert!(interrupted >= hits, "no kill hit a turn under way");
}

/// B70, in two processes: the second knows what the first said.
#[test]
fn a_second_process_knows_what_the_first_said() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(finish(spawn(dir.path(), Some("질문 1"))).0, Some(0));
    assert_eq!(finish(spawn(dir.path(), Some("질문 2"))).0, Some(0));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let state = runtime.block_on(async {
        let store = Sqlite::open(dir.path().join("threads.db")).await.unwrap();
        let supervisor = supervisor(&dir.path().join("ledger"));
        supervisor.graph().checkpointer(store).thread(key()).state(None).await.unwrap().unwrap()
    });
    let users = state.messages.iter().filter(|m| m.role() == Role::User);
    let said: Vec<_> = users.map(|m| m.text().into_owned()).collect();
    assert_eq!(said, ["질문 1", "질문 2"]);
}

/// P10, B76: two processes at once: one answers, the other gets a conflict before its first node and can try again.
#[test]
fn of_two_processes_one_gets_a_conflict_and_no_model_is_paid_twice() {
    let dir = tempfile::tempdir().unwrap();
    let ledger_path = dir.path().join("ledger");
    // The first process waits in its first model call until the second has come and gone.
    let hold = dir.path().join("hold");
    fs::write(&hold, "").unwrap();
    let mut first = spawn(dir.path(), Some("질문 1"));
    while ledger(&ledger_path, "model").is_empty() {
        assert!(first.try_wait().unwrap().is_none(), "the first process never began");
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = finish(spawn(dir.path(), Some("질문 2")));
    fs::remove_file(&hold).unwrap();
    let first = finish(first);
    assert_eq!((first.0, second.0), (Some(0), Some(3)));
    let keys = ledger(&ledger_path, "model");
    let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
    assert_eq!(distinct.len(), keys.len(), "a model was paid twice");
    // A supervisor's two calls, an agent's five calls and its answer.
    assert_eq!(keys.len(), 2 + CALLS + 1);
    assert_eq!(finish(spawn(dir.path(), Some("질문 2"))).0, Some(0));
    assert_eq!(ledger(&ledger_path, "model").len(), 2 * (2 + CALLS + 1));
}
