//! A thread of many turns on disk, each an invocation.

use std::path::Path;

use hanok_graph::{App, Context, Durability, END, Graph, START, Snapshot};
use hanok_sqlite::Sqlite;
use hanok_state::{Message, Messages, State};
use tempfile::TempDir;

use super::{
    thread,
    turns::{append_by_hand, log_by_hand, megabytes},
};
use crate::{
    Result,
    measure::{Cpu, ensure, medians},
};

const TURNS: usize = 1000;
const PART: usize = 100;
const BYTES: usize = 250;
/// How often the thread is read.
const READS: usize = 20;

#[derive(State, Clone, Default)]
struct Talk {
    messages: Messages,
}

async fn answer(state: Snapshot<Talk>, _: Context) -> Result<TalkUpdate> {
    let id = format!("a{}", state.messages.len());
    Ok(Talk::update().message(Message::assistant("a".repeat(BYTES)).with_id(id)))
}

async fn app(file: &Path) -> Result<App<Talk>> {
    let graph = Graph::<Talk>::builder("storage")
        .node("answer", answer)
        .edge(START, "answer")
        .edge("answer", END)
        .build()?;
    Ok(graph.checkpointer(Sqlite::open(file).await?).durable(Durability::Async))
}

/// CPU time of all turns in seconds, and that of the last part as a multiple of the first's.
fn course(parts: &[f64]) -> Result<[f64; 2]> {
    let (first, last) = parts.first().zip(parts.last()).ok_or("there are no turns")?;
    Ok([parts.iter().sum(), last / first])
}

pub(super) fn hanok(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let folder = TempDir::new()?;
        let file = folder.path().join("threads.db");
        let app_of_turns = app(&file).await?;
        let talk = app_of_turns.thread(thread("t")?);
        let mut parts = Vec::new();
        for part in 0..TURNS / PART {
            let cpu = Cpu::start();
            for turn in part * PART..(part + 1) * PART {
                let message = Message::user("q".repeat(BYTES)).with_id(format!("q{turn}"));
                talk.invoke(Talk::update().message(message), ()).await?.done()?;
            }
            parts.push(cpu.seconds());
        }
        drop((talk, app_of_turns));
        let size = megabytes(&file)?;
        let [seconds, ratio] = course(&parts)?;

        let read = app(&file).await?.thread(thread("t")?);
        let cpu = Cpu::start();
        for _ in 0..READS {
            let state = read.state(None).await?.ok_or("the thread is gone")?;
            ensure(state.messages.len() == 2 * TURNS, "the messages")?;
        }
        let newest = cpu.millis() / READS as f64;
        let cpu = Cpu::start();
        for _ in 0..READS {
            ensure(read.history(None, 10).await?.len() == 10, "the history")?;
        }
        Ok([size, seconds, ratio, newest, cpu.millis() / READS as f64])
    })
}

pub(super) fn by_hand(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let folder = TempDir::new()?;
        let file = folder.path().join("log.db");
        let connection = log_by_hand(&file)?;
        let mut parts = Vec::new();
        for part in 0..TURNS / PART {
            let cpu = Cpu::start();
            for turn in part * PART..(part + 1) * PART {
                for (who, text) in [("q", "q".repeat(BYTES)), ("a", "a".repeat(BYTES))] {
                    let entry = [format!("{who}{turn}"), text];
                    append_by_hand(&connection, &serde_json::to_vec(&entry)?)?;
                }
            }
            parts.push(cpu.seconds());
        }
        drop(connection);
        let size = megabytes(&file)?;
        let [seconds, ratio] = course(&parts)?;

        let connection = rusqlite::Connection::open(&file)?;
        let cpu = Cpu::start();
        for _ in 0..READS {
            let messages = read_by_hand(&connection, usize::MAX)?;
            ensure(messages.len() == 2 * TURNS, "the messages")?;
        }
        let newest = cpu.millis() / READS as f64;
        let cpu = Cpu::start();
        for _ in 0..READS {
            ensure(read_by_hand(&connection, 10)?.len() == 10, "the history")?;
        }
        Ok([size, seconds, ratio, newest, cpu.millis() / READS as f64])
    })
}

/// The newest `limit` messages, newest first.
fn read_by_hand(connection: &rusqlite::Connection, limit: usize) -> Result<Vec<[String; 2]>> {
    let limit = i64::try_from(limit).unwrap_or(-1);
    let sql = "SELECT bytes FROM log ORDER BY position DESC LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map((limit,), |row| row.get::<_, Vec<u8>>(0))?;
    rows.map(|bytes| Ok(serde_json::from_slice(&bytes?)?)).collect()
}
