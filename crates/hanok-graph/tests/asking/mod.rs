//! What the tests of threads share: a state, a ledger of what ran, a clock that is moved, a store that dies.

#![allow(dead_code, reason = "not every program uses all of it")]

pub(crate) mod clock;
pub(crate) mod dying;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use hanok_checkpoint::{
    AppendId, Body, Checkpointer, InMemoryCheckpointer, Log, LogEntry, SharedCheckpointer,
};
use hanok_core::{RequestId, Tenant, ThreadKey, Timestamp};
use hanok_graph::{
    App, BoxError, Context, Graph, GraphBuilder, Outcome, Pending, RunError, Snapshot, Thread,
};
use hanok_state::{List, Messages, State};

#[derive(State, Debug, Clone, Default, PartialEq)]
pub(crate) struct S {
    pub(crate) messages: Messages,
    #[reduce(append)]
    pub(crate) log: List<String>,
    pub(crate) n: u32,
}

pub(crate) fn log(state: &S) -> Vec<&str> {
    state.log.iter().map(String::as_str).collect()
}

pub(crate) fn says(text: impl Into<String>) -> SUpdate {
    S::update().push_log(text.into())
}

/// Counts how often each thing was done, and says which nodes fail or hang.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    counts: BTreeMap<String, u32>,
    fail: BTreeSet<String>,
    hang: BTreeSet<String>,
}

impl Ledger {
    pub(crate) fn note(&self, what: &str) -> u32 {
        let mut book = self.0.lock().unwrap();
        let count = book.counts.entry(what.to_owned()).or_default();
        *count += 1;
        *count
    }

    pub(crate) fn of(&self, what: &str) -> u32 {
        self.0.lock().unwrap().counts.get(what).copied().unwrap_or_default()
    }

    pub(crate) fn counts<const N: usize>(&self, what: [&str; N]) -> [u32; N] {
        what.map(|what| self.of(what))
    }

    /// What was noted that begins with `prefix`.
    pub(crate) fn keys(&self, prefix: &str) -> Vec<String> {
        let book = self.0.lock().unwrap();
        book.counts.keys().filter(|what| what.starts_with(prefix)).cloned().collect()
    }

    pub(crate) fn fail(&self, nodes: &[&str]) {
        self.0.lock().unwrap().fail = nodes.iter().map(ToString::to_string).collect();
    }

    pub(crate) fn fails(&self, node: &str) -> bool {
        self.0.lock().unwrap().fail.contains(node)
    }

    pub(crate) fn hang(&self, nodes: &[&str]) {
        self.0.lock().unwrap().hang = nodes.iter().map(ToString::to_string).collect();
    }

    pub(crate) fn hangs(&self, node: &str) -> bool {
        self.0.lock().unwrap().hang.contains(node)
    }
}

/// A node that notes that it ran and writes its name; it fails or hangs when the ledger says so.
pub(crate) async fn work(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note(cx.node());
    if cx.services().hangs(cx.node()) {
        std::future::pending::<()>().await;
    }
    if cx.services().fails(cx.node()) {
        return Err("out of order".into());
    }
    Ok(says(cx.node()))
}

pub(crate) fn key(name: &str) -> ThreadKey {
    ThreadKey::new(Tenant::default(), name).unwrap()
}

pub(crate) fn memory() -> SharedCheckpointer {
    SharedCheckpointer::new(InMemoryCheckpointer::new())
}

/// A graph that a test knows to be sound, on the clock that is moved.
pub(crate) fn built<T: State>(graph: GraphBuilder<T, Ledger>) -> Graph<T, Ledger> {
    graph.runtime(clock::runtime()).build().unwrap()
}

/// An app of its own over `store`, as in another process.
pub(crate) fn app(graph: &Graph<S, Ledger>, store: &SharedCheckpointer) -> App<S, Ledger> {
    graph.checkpointer(store.clone())
}

/// The thread `t` in an app of its own.
pub(crate) fn thread(graph: &Graph<S, Ledger>, store: &SharedCheckpointer) -> Thread<S, Ledger> {
    app(graph, store).thread(key("t"))
}

/// Takes `thread` from whoever holds it, as if its process had been gone for long.
pub(crate) async fn lost(store: &SharedCheckpointer, thread: &ThreadKey) {
    let head = store.head(thread).await.unwrap();
    if let Some(head) = head.filter(|head| head.claim.is_some()) {
        let log = Log::new(store.clone(), thread.clone());
        log.release(&head, AppendId(u128::MAX), Timestamp(0)).await.unwrap();
    }
}

/// The requests of a run that waits for people.
pub(crate) fn asked<T: std::fmt::Debug>(outcome: Result<Outcome<T>, RunError>) -> Vec<Pending> {
    match outcome.unwrap() {
        Outcome::Interrupted(waiting) => waiting.requests,
        other => panic!("another outcome: {other:?}"),
    }
}

/// The requests of a run that does not know whether calls were made.
pub(crate) fn doubted<T: std::fmt::Debug>(outcome: Result<Outcome<T>, RunError>) -> Vec<Pending> {
    match outcome.unwrap() {
        Outcome::InDoubt(waiting) => waiting.requests,
        other => panic!("another outcome: {other:?}"),
    }
}

/// The id of the request whose payload is the text `payload`.
pub(crate) fn id_of(requests: &[Pending], payload: &str) -> RequestId {
    let found = requests.iter().find(|r| r.payload::<String>().is_ok_and(|p| p == payload));
    found.unwrap_or_else(|| panic!("nobody asks {payload}: {requests:?}")).id.clone()
}

/// What requests show, sorted.
pub(crate) fn payloads(requests: &[Pending]) -> Vec<String> {
    let mut payloads: Vec<_> = requests.iter().map(|r| r.payload::<String>().unwrap()).collect();
    payloads.sort();
    payloads
}

/// All entries of a thread's log, oldest first.
pub(crate) async fn entries(thread: &Thread<S, Ledger>) -> Vec<LogEntry> {
    let mut entries = thread.history(None, usize::MAX).await.unwrap();
    entries.reverse();
    entries
}

/// The kinds of a log's entries, oldest first.
pub(crate) async fn kinds(thread: &Thread<S, Ledger>) -> Vec<&'static str> {
    entries(thread).await.iter().map(|entry| kind(&entry.entry.body)).collect()
}

pub(crate) fn kind(body: &Body) -> &'static str {
    match body {
        Body::Begin(_) => "begin",
        Body::Write(_) => "write",
        Body::Commit(_) => "commit",
        Body::Void(_) => "void",
        Body::Memo(_) => "memo",
        Body::Intent(_) => "intent",
        Body::Question(_) => "question",
        Body::Answer(_) => "answer",
        Body::Rewind(_) => "rewind",
        Body::Rebase(_) => "rebase",
        Body::Extend(_) => "extend",
        Body::Origin(_) => "origin",
        Body::End(_) => "end",
        Body::Failed(_) => "failed",
        Body::Edit(_) => "edit",
        Body::Late(_) => "late",
        _ => "another",
    }
}
