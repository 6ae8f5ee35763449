//! Sixty requests: how each turn ends, which tools are called, and what the answer says. Offline for all of them, and by a server's
//! model for a fixed sample.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop at what it did not expect"
)]

use std::path::PathBuf;

use clap::Parser;
use example_tests::{cached::Cached, program::command, thursday};
use hanok_core::{Chain, ThreadKey};
use hanok_graph::{Outcome, Pending, RunError, Thread};
use hanok_mcp::{McpClient, McpConfig};
use hanok_model::{ChatModel as _, SharedModel};
use kit::brain;
use orchestrator::{
    Opened, Options, open, sample_server,
    state::{OrchestratorState, TurnEnd, asking},
};
use serde_json::json;

const REQUESTS: &str = include_str!("requests.tsv");

/// The number of requests.
const ALL: usize = 61;
/// Those that have to be right of them offline.
const LEAST: usize = 55;
/// The requests that a server's model is asked: every fourth.
const SAMPLE: usize = 4;

/// The variable that names the folder of a server's replies.
const FOLDER: &str = "HANOK_EVALUATE_CACHE";

/// A request, and how its turn has to go.
struct Request {
    text: &'static str,
    end: TurnEnd,
    tools: Vec<&'static str>,
    words: Option<&'static str>,
}

fn requests() -> Vec<Request> {
    let lines = REQUESTS.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    let read = |line: &'static str| {
        let parts: Vec<_> = line.split('\t').collect();
        let [text, end, tools, words] = parts[..] else { panic!("{line:?}") };
        let end = match end {
            "chat" => TurnEnd::Chat,
            "done" => TurnEnd::Done,
            "failed" => TurnEnd::AllFailed,
            "empty" => TurnEnd::EmptyPlan,
            other => panic!("{other}"),
        };
        let tools = tools.split(',').filter(|tool| *tool != "-").collect();
        Request { text, end, tools, words: Some(words).filter(|words| *words != "-") }
    };
    lines.map(read).collect()
}

/// The sample server as the program's child, on a Thursday, whose reports take no time.
async fn opened(model: SharedModel) -> (Opened, McpClient) {
    let program = command("orchestrator", &[]).get_program().to_owned();
    let env = json!({desk::NOW: "2026-11-26T01:00:00Z", desk::REPORT_MILLIS: "0"});
    let config = json!({"mcpServers": {"desk": sample_server(program.as_ref(), &env)}});
    let config = McpConfig::reader().parse(&config.to_string()).unwrap();
    let client = McpClient::connect(config).await.unwrap();
    client.approve(&client.pending()).unwrap();
    let options = Options::parse_from(["orchestrator", "--gates", "none"]);
    (open(model, client.clone(), &options).await.unwrap(), client)
}

/// The turn of `text` on a thread of its own: what the server asks is answered.
async fn turn(opened: &Opened, number: usize, text: &str) -> Result<OrchestratorState, RunError> {
    let app = opened.app();
    let thread: Thread<OrchestratorState> =
        app.thread(ThreadKey::named(&format!("request-{number}")).unwrap());
    // On the heap, as a spawned run is: debug builds have large frames.
    let mut outcome = Box::pin(thread.invoke(asking(text), ())).await?;
    loop {
        match outcome {
            Outcome::Done(state) => return Ok(state),
            Outcome::Interrupted(open) => outcome = answer(&thread, &open).await?,
            other => panic!("{text}: {other:?}"),
        }
    }
}

async fn answer(
    thread: &Thread<OrchestratorState>,
    open: &[Pending],
) -> Result<Outcome<OrchestratorState>, RunError> {
    let answer = json!({"decision": "edit", "arguments": {"room": "누마루", "people": 4}});
    Box::pin(thread.answer(open[0].id.clone(), &answer, ())).await
}

/// What is wrong with a turn, if anything is.
fn fault(request: &Request, state: &OrchestratorState) -> Option<String> {
    let calls = state.results.iter().flat_map(|step| &step.calls);
    let tools: Vec<_> = calls.map(|call| call.of.name.as_str()).collect();
    let answer = state.answer.as_deref().unwrap_or_default();
    if state.end != Some(request.end) {
        return Some(format!("ends {:?}: {answer}", state.end));
    }
    if tools != request.tools {
        return Some(format!("calls {tools:?}, and not {:?}", request.tools));
    }
    let says = request.words.is_none_or(|words| answer.contains(words));
    (!says).then(|| format!("does not say {:?}: {answer}", request.words.unwrap_or_default()))
}

/// One after the other, for later requests are about what earlier ones wrote: there is no sample of them offline.
async fn asked(model: SharedModel, every: usize) -> (usize, usize) {
    let (opened, client) = opened(model).await;
    let (mut right, mut all) = (0, 0);
    for (number, request) in requests().iter().enumerate().step_by(every) {
        all += 1;
        let went = match Box::pin(turn(&opened, number, request.text)).await {
            Ok(state) => fault(request, &state),
            Err(error) => Some(Chain(&error).to_string()),
        };
        match went {
            None => right += 1,
            Some(fault) => println!("{}\n    {fault}", request.text),
        }
    }
    println!("{right} of {all} right");
    client.close().await;
    (right, all)
}

#[tokio::test]
async fn the_offline_model_does_what_is_asked() {
    let (right, all) = asked(thursday::offline(), 1).await;
    assert_eq!(all, ALL);
    assert!(right >= LEAST, "{right} of {all} right");
}

/// Asks the model that the environment names: its replies are kept, so a second run asks nothing.
#[tokio::test]
#[ignore = "asks the server of OPENAI_BASE_URL"]
async fn a_server_s_model_is_asked_a_sample() {
    let brain = brain::choose().await.unwrap().dated_to_the_minute();
    assert!(!brain.offline, "OPENAI_BASE_URL names no server");
    let folder = std::env::var_os(FOLDER).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| std::env::temp_dir().join("hanok-orchestrator"));
    let cached = Cached::new(brain.model.clone(), &folder);
    asked(SharedModel::new(cached.clone()), SAMPLE).await;
    let (made, repeated) = cached.requests();
    let name = brain.model.name().to_owned();
    println!("{name}: {made} requests made, {repeated} answered from {}", folder.display());
}
