//! A task that takes its process with it, again and again.

use std::time::Duration;

use hanok_checkpoint::{AppendId, Checkpointer as _};
use hanok_core::Timestamp;
use hanok_graph::{
    BoxError, Context, END, NewInput, Outcome, Poisoned, RunError, START, Snapshot, Subgraph,
    Thread, Unfinished,
};

use hanok_state::State as _;

use crate::support::{Ledger, S, SUpdate, builder, key, log, memory, says, work};

/// Never ends; whoever runs it is lost.
async fn deadly(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, hanok_graph::BoxError> {
    cx.services().ran(cx.node())?;
    match cx.services().of("deadly") {
        ..=4 => std::future::pending().await,
        _ => Ok(says("survived")),
    }
}

/// A subgraph that takes many steps, in the middle of each of which its process dies, is no poison: each run goes on from where
/// the one before it was, with a step or a memoised call done.
#[tokio::test(start_paused = true)]
async fn progress_below_the_thread_s_own_graph_is_progress() {
    async fn long(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let n = cx.services().of("long");
        cx.services().ran("long")?;
        // Every second run of it is lost, once something of it is stored.
        cx.step("work", async || Ok::<_, BoxError>(())).await?;
        match n % 2 {
            0 => std::future::pending().await,
            _ => Ok(S::update().n(state.n + 1)),
        }
    }
    let inner = builder().node("long", long).edge(START, "long");
    let inner = inner.branch("long", |s: &S| if s.n < 12 { "long" } else { END }, ["long", END]);
    let graph = builder().subgraph("below", Subgraph::shared(inner.build().unwrap()));
    let graph = graph.edge(START, "below").edge("below", END).build().unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    let thread = graph.checkpointer(store).thread(key("t")).takeover_limit(2);
    let second = Duration::from_secs(1);
    let mut ended = tokio::time::timeout(second, thread.invoke(S::update(), ledger.clone())).await;
    let mut lost = 0;
    while ended.is_err() {
        lost += 1;
        ended = tokio::time::timeout(second, thread.resume(ledger.clone())).await;
    }
    let outcome = ended.unwrap().unwrap();
    assert!(matches!(&outcome, Outcome::Done(state) if state.n == 12), "{outcome:?}");
    assert_eq!(lost, 12);
}

/// Takes the thread from its last run, as of a process that is gone: one that was dropped in a process that lives is not lost.
async fn dies(thread: &Thread<S, Ledger>) {
    let head = thread.log().store().head(thread.key()).await.unwrap().unwrap();
    thread.log().release(&head, AppendId(head.epoch.0.into()), Timestamp(1)).await.unwrap();
}

/// Runs that were lost with the same task too often are not followed by another: the outcome names the task, nothing is
/// run, and only who says so goes on.
#[tokio::test(start_paused = true)]
async fn a_task_that_runs_are_lost_with_is_named_and_not_run_again() {
    let graph = builder()
        .node("first", work)
        .node("deadly", deadly)
        .edge(START, "first")
        .edge("first", "deadly")
        .edge("deadly", END)
        .build()
        .unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    let thread = graph.checkpointer(store).thread(key("t")).takeover_limit(2);
    let second = Duration::from_secs(1);
    let lost = tokio::time::timeout(second, thread.invoke(S::update(), ledger.clone())).await;
    lost.unwrap_err();
    dies(&thread).await;
    for _ in 0..2 {
        tokio::time::timeout(second, thread.resume(ledger.clone())).await.unwrap_err();
        dies(&thread).await;
    }
    let want = Poisoned { tasks: vec!["deadly".to_owned()], takeovers: 3 };
    for _ in 0..2 {
        let outcome = thread.resume(ledger.clone()).await.unwrap();
        assert!(
            matches!(&outcome, Outcome::Poisoned(poisoned) if *poisoned == want),
            "{outcome:?}"
        );
    }
    let refused = thread.invoke(S::update(), ledger.clone()).await.unwrap_err();
    let RunError::Unfinished { why: Unfinished::Poisoned(poisoned), .. } = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(poisoned, want);
    assert_eq!((ledger.of("first"), ledger.of("deadly")), (1, 3));

    // Whoever knows better may go on with it; what was committed was never done again.
    let braver = thread.clone().takeover_limit(9);
    tokio::time::timeout(second, braver.resume(ledger.clone())).await.unwrap_err();
    dies(&braver).await;
    let state = braver.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["first", "survived"]);
    assert_eq!((ledger.of("first"), ledger.of("deadly")), (1, 5));
}

/// A new input may take the place of such a turn.
#[tokio::test(start_paused = true)]
async fn a_poisoned_turn_can_be_replaced() {
    let graph = builder()
        .node("deadly", deadly)
        .branch(START, |s: &S| if s.n == 0 { "deadly" } else { END }, ["deadly", END])
        .edge("deadly", END)
        .build()
        .unwrap();
    let thread = graph.checkpointer(memory()).thread(key("t")).takeover_limit(0);
    let ledger = Ledger::default();
    let run = thread.invoke(S::update(), ledger.clone());
    tokio::time::timeout(Duration::from_secs(1), run).await.unwrap_err();
    dies(&thread).await;
    // One that runs waits for ever.
    let resumed = tokio::time::timeout(Duration::from_secs(60), thread.resume(ledger.clone()));
    assert!(matches!(resumed.await.unwrap().unwrap(), Outcome::Poisoned(_)));
    let replaced = thread.new_input(NewInput::Replace);
    let state = replaced.invoke(S::update().n(7), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!((state.n, ledger.of("deadly")), (7, 1));
}
