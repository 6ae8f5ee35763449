//! Work that is stopped: by a sibling's failure, by a drain, by a cancellation.

use std::time::Duration;

use hanok_checkpoint::Checkpointer;
use hanok_core::Cancellation;
use hanok_graph::{BoxError, Context, END, Graph, NodeExt, Outcome, START, Snapshot, Subgraph};
use hanok_state::State;

use crate::support::{
    Ledger, S, SUpdate, builder, done, key, log, memory, says, slow, thread, work,
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// B43, P2: with `fail_fast` the siblings of a failure are stopped, what they began hears of it, and a resume runs them.
#[tokio::test(start_paused = true)]
async fn fail_fast_stops_the_siblings_and_what_they_began() {
    async fn spawns(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let ledger = cx.services().clone();
        let first = ledger.note("ok") == 1;
        let stop = cx.cancellation().clone();
        let heard = ledger.clone();
        cx.runtime()
            .spawner
            .spawn(Box::pin(async move {
                stop.cancelled().await;
                heard.note("heard");
            }))
            .detach();
        if first {
            cx.runtime().clock.sleep(ms(10_000)).await;
            ledger.note("too late");
        }
        Ok(says("ok"))
    }
    async fn fails(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.runtime().clock.sleep(ms(20)).await;
        cx.services().ran("bad")?;
        Ok(says("bad"))
    }
    let graph = builder()
        .node("bad", fails)
        .node("ok", spawns)
        .node("end", work)
        .edge(START, "bad")
        .edge(START, "ok")
        .join(["bad", "ok"], "end")
        .edge("end", END)
        .fail_fast()
        .build()
        .unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    ledger.fail("bad", 1);
    let before = tokio::time::Instant::now();
    thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
    assert!(before.elapsed() < ms(1_000));
    tokio::time::sleep(ms(20_000)).await;
    assert_eq!(ledger.all(), ["bad 1", "heard 1", "ok 1"]);
    let state = done(thread(&graph, &store).resume(ledger.clone()).await);
    assert_eq!(log(&state), ["bad", "ok", "end"]);
    assert_eq!((ledger.of("bad"), ledger.of("ok"), ledger.of("too late")), (2, 2, 0));
}

/// A chain of three, each of which takes a while, as `graph` itself or as the node of another.
fn chain(levels: usize) -> Graph<S, Ledger> {
    let inner = builder()
        .node("a", slow(100))
        .node("b", slow(100))
        .node("c", slow(100))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .edge("c", END)
        .build()
        .unwrap();
    (0..levels).fold(inner, |graph, _| {
        builder()
            .subgraph("inner", Subgraph::shared(graph))
            .edge(START, "inner")
            .edge("inner", END)
            .build()
            .unwrap()
    })
}

/// B55: the super-step under way ends and is kept, the next does not start; a resume goes on. Also within subgraphs.
#[tokio::test(start_paused = true)]
async fn a_drain_ends_the_run_after_the_step_under_way() {
    for levels in 0..3 {
        for (asked_at, ran, drained) in [
            (50, vec!["a 1"], true),
            (150, vec!["a 1", "b 1"], true),
            (250, vec!["a 1", "b 1", "c 1"], false),
        ] {
            let (graph, store, ledger) = (chain(levels), memory(), Ledger::default());
            let drain = Cancellation::default();
            let run = thread(&graph, &store).drain(drain.clone());
            let (outcome, ()) = tokio::join!(run.invoke(S::update(), ledger.clone()), async {
                tokio::time::sleep(ms(asked_at)).await;
                drain.cancel();
            });
            let outcome = outcome.unwrap();
            assert_eq!(
                matches!(outcome, Outcome::Drained(_)),
                drained,
                "{levels}, {asked_at}: {outcome:?}"
            );
            assert_eq!(ledger.all(), ran, "{levels}, {asked_at}");
            assert!(store.head(&key("t")).await.unwrap().unwrap().claim.is_none());
            let state = done(thread(&graph, &store).resume(ledger.clone()).await);
            assert_eq!(log(&state), ["a", "b", "c"]);
            assert_eq!(ledger.all(), ["a 1", "b 1", "c 1"], "{levels}, {asked_at}");
        }
    }
}

/// B55: a shutdown waits for the step, refuses what is new, and tells what it had to cancel.
#[tokio::test(start_paused = true)]
async fn a_shutdown_drains_what_runs_and_cancels_what_does_not_end() {
    for (grace, cancelled, ran) in [(500, 0, vec!["a 1"]), (20, 1, vec![])] {
        let (graph, store, ledger) = (chain(0), memory(), Ledger::default());
        let app = graph.checkpointer(store.clone());
        let running = app.thread(key("t"));
        let (outcome, shutdown) =
            tokio::join!(running.invoke(S::update(), ledger.clone()), async {
                tokio::time::sleep(ms(50)).await;
                app.shutdown(ms(grace)).await
            });
        assert_eq!((shutdown.running, shutdown.cancelled), (1, cancelled));
        assert_eq!(matches!(outcome.unwrap(), Outcome::Cancelled(_)), cancelled == 1);
        assert_eq!(ledger.all(), ran);
        let refused = app.thread(key("u")).invoke(S::update(), ledger.clone()).await.unwrap_err();
        assert_eq!(refused.to_string(), "the app is shutting down");
        assert_eq!(
            log(&done(thread(&graph, &store).resume(ledger.clone()).await)),
            ["a", "b", "c"]
        );
    }
}

/// B56: what was finished stays, also within subgraphs and beside siblings; the rest runs again, and no task is left.
#[tokio::test(start_paused = true)]
async fn a_cancelled_run_stops_at_once_and_goes_on_where_it_was() {
    for levels in 0..3 {
        let (graph, store, ledger) = (chain(levels), memory(), Ledger::default());
        let stop = Cancellation::default();
        let run = thread(&graph, &store).cancellation(stop.clone());
        let before = tokio::time::Instant::now();
        let (outcome, ()) = tokio::join!(run.invoke(S::update(), ledger.clone()), async {
            tokio::time::sleep(ms(150)).await;
            stop.cancel();
        });
        assert!(matches!(outcome.unwrap(), Outcome::Cancelled(_)));
        assert_eq!(before.elapsed(), ms(150));
        assert_eq!((ledger.inside(), ledger.all()), (0, vec!["a 1".to_owned()]));
        let state = done(thread(&graph, &store).resume(ledger.clone()).await);
        assert_eq!(log(&state), ["a", "b", "c"]);
        assert_eq!(ledger.all(), ["a 1", "b 1", "c 1"], "{levels}");
    }
}

/// B56: of siblings the finished one is kept; the others are stopped and run again.
#[tokio::test(start_paused = true)]
async fn a_cancelled_wide_step_keeps_what_was_done_of_it() {
    let graph = builder()
        .node("quick", slow(10))
        .node("slow", slow(100))
        .node("slower", slow(200))
        .node("end", work)
        .edge(START, "quick")
        .edge(START, "slow")
        .edge(START, "slower")
        .join(["quick", "slow", "slower"], "end")
        .edge("end", END)
        .build()
        .unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    let stop = Cancellation::default();
    let run = thread(&graph, &store).cancellation(stop.clone());
    let (outcome, ()) = tokio::join!(run.invoke(S::update(), ledger.clone()), async {
        tokio::time::sleep(ms(50)).await;
        stop.cancel();
    });
    assert!(matches!(outcome.unwrap(), Outcome::Cancelled(_)));
    assert_eq!((ledger.inside(), ledger.all()), (0, vec!["quick 1".to_owned()]));
    let state = done(thread(&graph, &store).resume(ledger.clone()).await);
    assert_eq!(log(&state), ["quick", "slow", "slower", "end"]);
    assert_eq!(ledger.all(), ["end 1", "quick 1", "slow 1", "slower 1"]);
}

/// B56: a run that was told to stop before it began runs nothing, and one that is dropped stops its tasks.
#[tokio::test(start_paused = true)]
async fn no_task_outlives_a_run_that_is_stopped_or_dropped() {
    let (graph, store, ledger) = (chain(1), memory(), Ledger::default());
    let stop = Cancellation::default();
    stop.cancel();
    let run = thread(&graph, &store).cancellation(stop);
    let outcome = run.invoke(S::update(), ledger.clone()).await.unwrap();
    assert!(matches!(outcome, Outcome::Cancelled(_)));
    assert_eq!(ledger.all(), [""; 0]);

    let wide = builder()
        .node("a", slow(100))
        .subgraph("b", Subgraph::shared(chain(1)))
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", END)
        .edge("b", END)
        .build()
        .unwrap();
    let ledger = Ledger::default();
    let run = wide.invoke(S::update(), ledger.clone());
    tokio::time::timeout(ms(50), run).await.unwrap_err();
    tokio::task::yield_now().await;
    assert_eq!((ledger.inside(), ledger.most()), (0, 2));
    tokio::time::sleep(ms(1_000)).await;
    assert_eq!(ledger.all(), [""; 0]);
}

/// B49: a cancellation from outside is told as one, also by a node that has a time-out, retries and a handler.
#[tokio::test(start_paused = true)]
async fn a_cancellation_is_neither_retried_nor_handled() {
    use hanok_graph::{Failure, Retry};
    async fn never(_: Snapshot<S>, _: Failure, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("handler");
        Ok(S::update())
    }
    let graph = builder()
        .node(
            "a",
            slow(100)
                .timeout(ms(90))
                .idle_timeout(ms(80))
                .retry(Retry::attempts(5).first(ms(1)))
                .on_error(never, [END]),
        )
        .edge(START, "a")
        .edge("a", END)
        .build()
        .unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    let stop = Cancellation::default();
    let run = thread(&graph, &store).cancellation(stop.clone());
    let (outcome, ()) = tokio::join!(run.invoke(S::update(), ledger.clone()), async {
        tokio::time::sleep(ms(50)).await;
        stop.cancel();
    });
    assert!(matches!(outcome.unwrap(), Outcome::Cancelled(_)));
    assert_eq!(ledger.all(), [""; 0]);
}
