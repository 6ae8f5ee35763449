//! What the tests of the engine share: a state and its nodes, a ledger of what ran, a clock that moves with tokio's, and a
//! store that dies.

#![allow(dead_code, unused_imports, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop at what it did not expect")]

mod clock;
mod ledger;

use std::{error::Error, time::Duration};

use futures::future::BoxFuture;
use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{Tenant, ThreadKey};
use hanok_graph::{
    App, BoxError, Context, Graph, GraphBuilder, Outcome, RunError, Runtime, Snapshot, Thread,
};
use hanok_state::{List, Message, Messages, State};

pub(crate) use clock::{Counting, PausedClock, runtime};
pub(crate) use hanok_testkit::Dying;
pub(crate) use ledger::Ledger;

/// A state with a field of each common rule.
#[derive(State, Debug, Clone, Default, PartialEq)]
pub(crate) struct S {
    #[reduce(append)]
    pub(crate) log: List<String>,
    pub(crate) n: u32,
    pub(crate) plan: String,
}

/// What a node said, in order.
pub(crate) fn log(state: &S) -> Vec<&str> {
    state.log.iter().map(String::as_str).collect()
}

pub(crate) fn says(text: impl Into<String>) -> SUpdate {
    S::update().push_log(text.into())
}

/// Says its name, or fails as often as the ledger says.
pub(crate) async fn work(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().ran(cx.node())?;
    Ok(says(cx.node()))
}

/// The messages with ids by their order: those that they have are of their thread alone.
pub(crate) fn numbered(messages: &Messages) -> Messages {
    let numbered = |(n, message): (usize, &Message)| message.clone().with_id(n.to_string());
    messages.iter().enumerate().map(numbered).collect()
}

/// As [`work`], after a while.
pub(crate) fn slow(
    ms: u64,
) -> impl Fn(Snapshot<S>, Context<Ledger>) -> BoxFuture<'static, Result<SUpdate, BoxError>> {
    move |_, cx| {
        Box::pin(async move {
            let _inside = cx.services().enter();
            cx.runtime().clock.sleep(Duration::from_millis(ms)).await;
            cx.services().ran(cx.node())?;
            Ok(says(cx.node()))
        })
    }
}

/// Counts `n` up.
pub(crate) async fn count(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().ran(cx.node())?;
    Ok(S::update().n(state.n + 1))
}

pub(crate) async fn nothing(_: Snapshot<S>, cx: Context<Ledger>) -> Result<(), BoxError> {
    Ok(cx.services().ran(cx.node())?)
}

pub(crate) fn builder() -> GraphBuilder<S, Ledger> {
    Graph::builder("test").runtime(runtime())
}

pub(crate) fn key(name: &str) -> ThreadKey {
    ThreadKey::new(Tenant::default(), name).unwrap()
}

pub(crate) fn memory() -> SharedCheckpointer {
    SharedCheckpointer::new(InMemoryCheckpointer::new())
}

/// The thread `t`, as a process that has just begun sees it.
pub(crate) fn thread(graph: &Graph<S, Ledger>, store: &SharedCheckpointer) -> Thread<S, Ledger> {
    graph.checkpointer(store.clone()).thread(key("t"))
}

pub(crate) fn done(outcome: Result<Outcome<S>, RunError>) -> S {
    match outcome {
        Ok(outcome) => outcome.done().unwrap(),
        Err(error) => panic!("{}", chain(&error)),
    }
}

/// Runs `graph` without a store and with one; both have to end alike.
pub(crate) async fn both(graph: &Graph<S, Ledger>, ledger: &Ledger) -> S {
    let alone = done(graph.invoke(S::update(), ledger.clone()).await);
    let store = memory();
    let kept = done(thread(graph, &store).invoke(S::update(), ledger.clone()).await);
    assert_eq!(alone, kept);
    assert_eq!(thread(graph, &store).state(None).await.unwrap(), Some(kept));
    alone
}

/// An error and what caused it.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut causes: Vec<_> = hanok_core::Chain(error).causes().map(ToString::to_string).collect();
    causes.dedup_by(|cause, before| before.ends_with(&**cause));
    causes.join(" / ")
}
