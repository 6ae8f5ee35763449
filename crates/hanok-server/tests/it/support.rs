//! A graph to be served, and where its runs stand.

use std::sync::Arc;

use hanok_checkpoint::{InMemoryCheckpointer, InMemoryStore, SharedCheckpointer, SharedStore};
use hanok_core::ThreadKey;
use hanok_graph::{AnyApp, BoxError, Context, END, Graph, START, Snapshot};
use hanok_server::{Post, Request, Runs};
use hanok_state::{List, State};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// A clerk's desk: what comes in is noted, and what is done with it.
#[derive(State, Clone, Debug, Default)]
pub struct Desk {
    #[reduce(append)]
    notes: List<String>,
    task: String,
}

/// What lets slow work go on.
pub type Gate = Arc<Semaphore>;

async fn work(desk: Snapshot<Desk>, cx: Context<Gate>) -> Result<DeskUpdate, BoxError> {
    let task = desk.task.clone();
    match task.as_str() {
        "fail" => return Err("the printer burns".into()),
        "ask" => {
            let yes: bool = cx.interrupt("Pay?").await?;
            return Ok(Desk::update().push_notes(format!("asked: {yes}")));
        }
        slow if slow.starts_with("slow") => cx.services().acquire().await?.forget(),
        _ => {}
    }
    Ok(Desk::update().push_notes(task))
}

async fn file(desk: Snapshot<Desk>, _: Context<Gate>) -> Result<DeskUpdate, BoxError> {
    Ok(Desk::update().push_notes(format!("filed {}", desk.task)))
}

fn desk() -> Graph<Desk, Gate> {
    let graph = Graph::builder("desk").node("work", work).node("file", file);
    graph.sequence([START, "work", "file", END]).build().unwrap()
}

/// A client of HTTP. Built with others, it wants to know who encrypts, though nothing here is.
pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

pub fn items() -> SharedStore {
    SharedStore::new(InMemoryStore::new())
}

pub fn logs() -> SharedCheckpointer {
    SharedCheckpointer::new(InMemoryCheckpointer::new())
}

/// A server's store, its logs, and its gate.
pub struct Office {
    pub store: SharedStore,
    pub logs: SharedCheckpointer,
    pub gate: Gate,
}

impl Office {
    pub fn new() -> Self {
        Self { store: items(), logs: logs(), gate: Gate::new(Semaphore::new(0)) }
    }

    /// The desk as a process serves it.
    pub fn app(&self) -> Arc<dyn AnyApp> {
        let gate = Arc::clone(&self.gate);
        Arc::new(desk().checkpointer(self.logs.clone()).any(move |_| Ok(Arc::clone(&gate))))
    }

    /// One process of the server.
    pub fn open(&self) -> Runs {
        Runs::start(self.store.clone(), [self.app()])
    }

    /// The notes on the desk of `thread`.
    pub async fn notes(&self, thread: &str) -> Value {
        let thread = self.app().thread(&Default::default(), thread).unwrap();
        match thread.state(None).await.unwrap() {
            Some(state) => state.to_json().unwrap()["notes"].clone(),
            None => Value::Null,
        }
    }
}

pub fn thread(name: &str) -> ThreadKey {
    ThreadKey::named(name).unwrap()
}

/// A task for the desk.
pub fn task(thread_name: &str, task: &str) -> Post {
    Post::new(thread(thread_name), Request::new("desk", json!({"new": {"task": task}})))
}
