//! What a reader costs in memory who comes back to a long thread, as the system counts it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::fs;

use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{BoxError, Context, Durability, END, Graph, Mode, START, Snapshot};
use hanok_sqlite::Sqlite;
use hanok_state::{Message, Messages, State};

#[derive(State, Debug, Clone, Default)]
struct Talk {
    messages: Messages,
}

/// How many super-steps a turn has.
const STEPS: usize = 100;

async fn answer(state: Snapshot<Talk>, _: Context) -> Result<TalkUpdate, BoxError> {
    let id = state.messages.len().to_string();
    Ok(Talk::update().message(Message::assistant("a".repeat(300)).with_id(id)))
}

/// A number of `/proc/self/status`, in bytes (proc(5)).
fn memory(name: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let number: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
    number * 1024
}

/// P24, P54: whoever comes back to a long thread is told all that it missed, with less than 16 MB: of ten thousand answers what each
/// was, of two thousand the state after each as well.
#[tokio::test]
async fn a_reader_who_comes_back_to_a_long_thread_needs_little_memory() {
    comes_back(10_000, &[Mode::Updates, Mode::Checkpoints]).await;
    comes_back(2_000, &[Mode::Updates, Mode::Values]).await;
}

async fn comes_back(answers: usize, modes: &[Mode]) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let to = |talk: &Talk| if talk.messages.len().is_multiple_of(STEPS) { END } else { "answer" };
    let graph = Graph::<Talk>::builder("talk").node("answer", answer).edge(START, "answer");
    let graph = graph.branch("answer", to, ["answer", END]).recursion_limit(u32::MAX);
    let graph = graph.build().unwrap();
    {
        let app = graph.checkpointer(Sqlite::open(&file).await.unwrap());
        let thread = app.thread(key.clone()).durability(Durability::Async);
        for _ in 0..answers / STEPS {
            thread.invoke(Talk::update(), ()).await.unwrap().done().unwrap();
        }
    }
    let app = graph.checkpointer(Sqlite::open(&file).await.unwrap());
    let thread = app.thread(key).modes(modes.iter().copied());
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS:");
    let mut replay = thread.replay(None).await.unwrap().unwrap();
    let (mut told, mut seen) = (0, None);
    loop {
        let events = replay.next().await.unwrap();
        let Some(last) = events.last() else { break };
        told += events.len();
        // Half way the connection breaks, and the reader comes back with the last id that it saw.
        if told > answers && seen.is_none() {
            seen = last.id;
            replay = thread.replay(seen).await.unwrap().unwrap();
        }
    }
    let most = memory("VmHWM:").saturating_sub(before);
    assert!(told >= 2 * answers, "{told} events");
    assert!(most < 16_000_000, "{most} bytes for {told} events");
}
