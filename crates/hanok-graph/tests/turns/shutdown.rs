//! An app that ends in good order: no new run begins, those under way stop, and nothing is lost.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use hanok_core::Cancellation;
use hanok_graph::{
    BoxError, Context, END, Graph, Input, NewInput, Outcome, RunError, START, Shutdown, Snapshot,
};
use hanok_state::State;
use tokio::time::sleep;

use crate::asking::{Ledger, S, SUpdate, app, asked, built, key, log, memory, says, thread, work};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// A node that takes 100 ms, or as long as the ledger says that it hangs.
async fn slow(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("slow");
    cx.runtime().clock.sleep(100 * MS).await;
    if cx.services().hangs("slow") {
        std::future::pending::<()>().await;
    }
    Ok(says("slow"))
}

fn slowly() -> Graph<S, Ledger> {
    let graph = Graph::builder("slowly").node("slow", slow).node("after", work);
    built(graph.edge(START, "slow").edge("slow", "after").edge("after", END))
}

/// P25, B55: runs under way end after their super-step, and are gone on with by another app; no new run begins.
#[tokio::test(start_paused = true)]
async fn a_shutdown_drains_what_runs_and_refuses_what_is_new() {
    let (graph, store, ledger) = (slowly(), memory(), Ledger::default());
    let one = app(&graph, &store);
    let runs = ["a", "b", "c"].map(|name| {
        let (thread, ledger) = (one.thread(key(name)), ledger.clone());
        tokio::spawn(async move { thread.invoke(says(name), ledger).await })
    });
    sleep(50 * MS).await;
    assert_eq!(one.running(), 3);
    let began = tokio::time::Instant::now();
    let (shut, late) = tokio::join!(one.shutdown(10 * SECOND), async {
        sleep(10 * MS).await;
        let late = one.thread(key("late"));
        let observed = late.stream(Input::New(says("late")), ledger.clone()).outcome().await;
        (late.invoke(says("late"), ledger.clone()).await, observed)
    });
    assert_eq!(shut, Shutdown { running: 3, cancelled: 0, stuck: 0 });
    assert!(began.elapsed() < 100 * MS);
    for late in [late.0, late.1] {
        assert!(matches!(late.unwrap_err(), RunError::ShuttingDown));
    }
    assert_eq!(one.running(), 0);
    for run in runs {
        assert!(matches!(run.await.unwrap().unwrap(), Outcome::Drained(_)));
    }
    assert_eq!(ledger.counts(["slow", "after"]), [3, 0]);
    // It stays shut down, and doing so again takes nothing.
    let again = one.thread(key("a")).resume(ledger.clone()).await;
    assert!(matches!(again.unwrap_err(), RunError::ShuttingDown));
    assert_eq!(one.shutdown(SECOND).await, Shutdown { running: 0, cancelled: 0, stuck: 0 });

    let other = app(&graph, &store);
    assert!(other.thread(key("late")).state(None).await.unwrap().is_none());
    for name in ["a", "b", "c"] {
        let state = other.thread(key(name)).resume(ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&state), [name, "slow", "after"]);
    }
    assert_eq!(ledger.counts(["slow", "after"]), [3, 3]);
}

/// P25: what has not ended within the grace time is cancelled, says so in the log, and is gone on with.
#[tokio::test(start_paused = true)]
async fn what_has_not_ended_in_the_grace_time_is_cancelled() {
    let (graph, store, ledger) = (slowly(), memory(), Ledger::default());
    let one = app(&graph, &store);
    let thread = one.thread(key("t"));
    ledger.hang(&["slow"]);
    let shutdown = async {
        sleep(50 * MS).await;
        let began = tokio::time::Instant::now();
        let shut = one.shutdown(2 * SECOND).await;
        (shut, began.elapsed())
    };
    let (ended, (shut, took)) = tokio::join!(thread.invoke(says("in"), ledger.clone()), shutdown);
    assert!(matches!(ended.unwrap(), Outcome::Cancelled(_)));
    assert_eq!(shut, Shutdown { running: 1, cancelled: 1, stuck: 0 });
    assert!(took >= 2 * SECOND && took < 3 * SECOND, "{took:?}");
    ledger.hang(&[]);
    let on = crate::asking::thread(&graph, &store);
    let state = on.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["in", "slow", "after"]);
    assert_eq!(ledger.counts(["slow", "after"]), [2, 1]);
}

/// P25: a shutdown whose caller gives up goes on, and a second one may have less patience.
#[tokio::test(start_paused = true)]
async fn a_second_shutdown_may_have_less_patience() {
    let (graph, store, ledger) = (slowly(), memory(), Ledger::default());
    let one = app(&graph, &store);
    let thread = one.thread(key("t"));
    ledger.hang(&["slow"]);
    let (ended, second) = tokio::join!(thread.invoke(S::update(), ledger.clone()), async {
        sleep(50 * MS).await;
        tokio::time::timeout(SECOND, one.shutdown(3600 * SECOND)).await.unwrap_err();
        let refused = one.thread(key("u")).invoke(S::update(), ledger.clone()).await;
        assert!(matches!(refused.unwrap_err(), RunError::ShuttingDown));
        one.shutdown(Duration::ZERO).await
    });
    assert!(matches!(ended.unwrap(), Outcome::Cancelled(_)));
    assert_eq!(second, Shutdown { running: 1, cancelled: 1, stuck: 0 });
}

/// P25: an input that waits its turn is refused or kept whole, and is not lost silently.
#[tokio::test(start_paused = true)]
async fn an_input_that_waits_is_not_lost_silently() {
    let (graph, store, ledger) = (slowly(), memory(), Ledger::default());
    let one = app(&graph, &store);
    let thread = one.thread(key("t")).new_input(NewInput::Queue);
    let (first, waiting, shut) = tokio::join!(
        thread.invoke(says("one"), ledger.clone()),
        async {
            sleep(10 * MS).await;
            thread.invoke(says("two"), ledger.clone()).await
        },
        async {
            sleep(50 * MS).await;
            one.shutdown(10 * SECOND).await
        }
    );
    assert!(matches!(first.unwrap(), Outcome::Drained(_)));
    assert!(matches!(waiting.unwrap_err(), RunError::ShuttingDown));
    assert_eq!(shut.cancelled, 0);
    let on = crate::asking::thread(&graph, &store);
    let state = on.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["one", "slow", "after"]);
}

/// P25, B57: a thread that waits for a person holds no shutdown up, and its answer goes on elsewhere.
#[tokio::test]
async fn a_thread_that_waits_for_a_person_holds_no_shutdown_up() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("well?").await?))
    }
    let graph = Graph::builder("asks").node("ask", ask).edge(START, "ask").edge("ask", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    let one = app(&graph, &store);
    asked(one.thread(key("t")).invoke(S::update(), ledger.clone()).await);
    assert_eq!(one.shutdown(3600 * SECOND).await, Shutdown { running: 0, cancelled: 0, stuck: 0 });
    let refused = one.thread(key("t")).reply("yes", ledger.clone()).await;
    assert!(matches!(refused.unwrap_err(), RunError::ShuttingDown));
    let state = thread(&graph, &store).reply("yes", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["yes"]);
}

/// B55: a drain of one thread ends it after the super-step; if that was the last, the run is done.
#[tokio::test(start_paused = true)]
async fn a_drained_thread_ends_after_its_super_step() {
    for (asked_after, is_done) in [(50, false), (150, true)] {
        let graph = Graph::builder("two").node("slow", slow).node("last", slow);
        let graph = built(graph.edge(START, "slow").edge("slow", "last").edge("last", END));
        let (store, ledger, drain) = (memory(), Ledger::default(), Cancellation::default());
        let on = thread(&graph, &store).drain(drain.clone());
        let (ended, ()) = tokio::join!(on.invoke(S::update(), ledger.clone()), async {
            sleep(asked_after * MS).await;
            drain.cancel();
        });
        let ended = ended.unwrap();
        assert_eq!(matches!(ended, Outcome::Drained(_)), !is_done);
        assert_eq!(matches!(ended, Outcome::Done(_)), is_done);
        let state = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!((log(&state), ledger.of("slow")), (vec!["slow", "slow"], 2));
    }
}

/// P25: a shutdown ends although a node blocks its thread, and says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_shutdown_ends_although_a_node_blocks_its_thread() {
    static FREE: AtomicBool = AtomicBool::new(false);
    async fn blocks(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("blocks");
        while !FREE.load(Ordering::SeqCst) {
            std::thread::sleep(MS);
        }
        Ok(says("free"))
    }
    let graph = Graph::builder("blocks").node("blocks", blocks);
    let graph = built(graph.edge(START, "blocks").edge("blocks", END));
    let (store, ledger) = (memory(), Ledger::default());
    let one = app(&graph, &store);
    let (thread, of_run) = (one.thread(key("t")), ledger.clone());
    let run = tokio::spawn(async move { thread.invoke(S::update(), of_run).await });
    while ledger.of("blocks") == 0 {
        sleep(MS).await;
    }
    let shut = one.shutdown(MS).await;
    assert_eq!(shut, Shutdown { running: 1, cancelled: 1, stuck: 1 });
    FREE.store(true, Ordering::SeqCst);
    drop(run.await.unwrap());
    assert_eq!(one.shutdown(MS).await, Shutdown { running: 0, cancelled: 0, stuck: 0 });
}
