//! A model and a tool in turns, in one run, every super-step kept.

use std::path::Path;

use hanok_checkpoint::{Checkpointer, InMemoryCheckpointer};
use hanok_graph::{App, Context, END, Graph, START, Snapshot};
use hanok_sqlite::Sqlite;
use hanok_state::{Message, Messages, Role, State};
use rusqlite::Connection;
use serde::Serialize;
use tempfile::TempDir;

use super::thread;
use crate::{
    Result,
    course::Course,
    measure::{ensure, medians},
};

pub(super) const BYTES: usize = 200;

#[derive(State, Clone, Default)]
struct Talk {
    messages: Messages,
}

fn says(role: Role) -> Message {
    Message::new(role, "m".repeat(BYTES))
}

async fn model(_: Snapshot<Talk>, _: Context<Course>) -> Result<TalkUpdate> {
    Ok(Talk::update().message(says(Role::Assistant)))
}

async fn tool(state: Snapshot<Talk>, context: Context<Course>) -> Result<TalkUpdate> {
    context.services().said(state.messages.len() + 1);
    Ok(Talk::update().message(says(Role::User)))
}

fn app(turns: usize, store: impl Checkpointer) -> Result<App<Talk, Course>> {
    let next = move |state: &Talk| if state.messages.len() < 2 * turns { "model" } else { END };
    let graph = Graph::<Talk, Course>::builder("turns")
        .node("model", model)
        .node("tool", tool)
        .edge(START, "model")
        .edge("model", "tool")
        .branch("tool", next, ["model", END])
        .recursion_limit(u32::MAX)
        .build()?;
    Ok(graph.checkpointer(store))
}

async fn run(turns: usize, store: impl Checkpointer) -> Result<[f64; 2]> {
    let thread = app(turns, store)?.thread(thread("t")?);
    let course = Course::new(turns);
    course.start();
    let state = thread.invoke(Talk::update(), course.clone()).await?.done()?;
    let figures = course.figures();
    ensure(state.messages.len() == 2 * turns, "the messages")?;
    Ok(figures)
}

pub(super) fn few(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let [all, _] = run(50, InMemoryCheckpointer::new()).await?;
        Ok([all])
    })
}

pub(super) fn many(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || run(500, InMemoryCheckpointer::new()).await)
}

pub(super) fn on_disk(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let folder = TempDir::new()?;
        let file = folder.path().join("threads.db");
        let [all, _] = run(500, Sqlite::open(&file).await?).await?;
        Ok([all, megabytes(&file)?])
    })
}

/// The size of a database when what its log holds is part of it.
pub(super) fn megabytes(file: &Path) -> Result<f64> {
    let connection = Connection::open(file)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_busy| Ok(()))?;
    Ok(std::fs::metadata(file)?.len() as f64 / 1e6)
}

/// What a program without an engine keeps of a super-step.
#[derive(Serialize)]
struct Kept<'a> {
    role: Role,
    text: &'a str,
}

async fn said_by_hand(role: Role) -> (Role, String) {
    (role, "m".repeat(BYTES))
}

/// The same with an `append` in the place of the engine.
async fn run_by_hand(
    turns: usize,
    mut append: impl FnMut(Vec<u8>) -> Result<()>,
) -> Result<[f64; 2]> {
    let course = Course::new(turns);
    let mut messages = Vec::new();
    for _ in 0..turns {
        for role in [Role::Assistant, Role::User] {
            let (role, text) = said_by_hand(role).await;
            append(serde_json::to_vec(&Kept { role, text: &text })?)?;
            messages.push((role, text));
        }
        course.said(messages.len());
    }
    let figures = course.figures();
    ensure(messages.len() == 2 * turns, "the messages")?;
    Ok(figures)
}

async fn in_memory_by_hand(turns: usize) -> Result<[f64; 2]> {
    let mut log = Vec::new();
    let figures = run_by_hand(turns, |bytes| {
        log.push(bytes);
        Ok(())
    })
    .await?;
    ensure(log.len() == 2 * turns, "the log")?;
    Ok(figures)
}

pub(super) fn few_by_hand(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let [all, _] = in_memory_by_hand(50).await?;
        Ok([all])
    })
}

pub(super) fn many_by_hand(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || in_memory_by_hand(500).await)
}

pub(super) fn on_disk_by_hand(rounds: usize) -> Result<Vec<f64>> {
    medians(rounds, async || {
        let folder = TempDir::new()?;
        let file = folder.path().join("log.db");
        let connection = log_by_hand(&file)?;
        let [all, _] = run_by_hand(500, |bytes| append_by_hand(&connection, &bytes)).await?;
        drop(connection);
        Ok([all, megabytes(&file)?])
    })
}

/// A log in a table of its own.
pub(super) fn log_by_hand(file: &Path) -> Result<Connection> {
    let connection = Connection::open(file)?;
    connection.query_row("PRAGMA journal_mode = WAL", (), |_mode| Ok(()))?;
    connection.execute_batch(
        "PRAGMA synchronous = NORMAL;
         CREATE TABLE log (position INTEGER PRIMARY KEY, bytes BLOB NOT NULL)",
    )?;
    Ok(connection)
}

pub(super) fn append_by_hand(connection: &Connection, bytes: &[u8]) -> Result<()> {
    connection.prepare_cached("INSERT INTO log (bytes) VALUES (?1)")?.execute((bytes,))?;
    Ok(())
}
