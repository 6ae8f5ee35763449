//! Nodes that fail: what is kept, what is tried again and when, and who handles what is left.

use std::{io, time::Duration};

use hanok_checkpoint::Body;
use hanok_graph::{
    BoxError, Class, Command, Context, END, Failure, FailureKind, Graph, GraphBuilder, NodeError,
    NodeExt, NodeSettings, Outcome, Retry, RunError, START, Snapshot,
};
use hanok_state::State;
use hanok_testkit::Layered;

use crate::support::{
    Dying, Ledger, S, SUpdate, both, builder, chain, done, key, log, memory, nothing, says, slow,
    thread, work,
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// One node, `a`, and the end.
fn one() -> GraphBuilder<S, Ledger> {
    builder().node("a", work).edge(START, "a").edge("a", END)
}

/// `src`, then `bad` and `ok` side by side, then `end`.
fn fan() -> GraphBuilder<S, Ledger> {
    builder()
        .node("src", work)
        .node("bad", work)
        .node("ok", slow(20))
        .node("end", work)
        .edge(START, "src")
        .edge("src", "bad")
        .edge("src", "ok")
        .join(["bad", "ok"], "end")
        .edge("end", END)
}

async fn failed(graph: &Graph<S, Ledger>, ledger: &Ledger) -> String {
    chain(&graph.invoke(S::update(), ledger.clone()).await.unwrap_err())
}

/// B43: no write of the step is seen, the run names node and cause, and a resume runs what failed and nothing else.
#[tokio::test(start_paused = true)]
async fn of_a_step_with_a_failure_nothing_is_applied_and_only_the_failed_task_runs_again() {
    let (graph, store, ledger) = (fan().build().unwrap(), memory(), Ledger::default());
    ledger.fail("bad", 2);
    let error = thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
    assert_eq!(chain(&error), "node `bad` failed in super-step 1 / bad is out of order 1");
    for _ in 0..2 {
        let state = thread(&graph, &store).state(None).await.unwrap().unwrap();
        assert_eq!(log(&state), ["src"]);
        let resumed = thread(&graph, &store).resume(ledger.clone()).await;
        if ledger.of("bad") == 2 {
            resumed.unwrap_err();
        } else {
            assert_eq!(log(&done(resumed)), ["src", "bad", "ok", "end"]);
        }
    }
    assert_eq!(ledger.all(), ["bad 3", "end 1", "ok 1", "src 1"]);
}

/// B43: several failures are told as the first in task order, whichever came first in time.
#[tokio::test(start_paused = true)]
async fn of_several_failures_the_first_in_task_order_is_told() {
    let graph = builder()
        .node("late", slow(50))
        .node("soon", slow(1))
        .edge(START, "late")
        .edge(START, "soon")
        .edge("late", END)
        .edge("soon", END)
        .build()
        .unwrap();
    let ledger = Ledger::default();
    ledger.fail("late", 1);
    ledger.fail("soon", 1);
    let said = failed(&graph, &ledger).await;
    assert_eq!(said, "node `late` failed in super-step 0 / late is out of order 1");
}

/// B44: a node whose router fails has failed itself; a resume runs both and goes on to the right target.
#[tokio::test(start_paused = true)]
async fn a_router_that_fails_is_asked_again_with_its_node() {
    for wide in [false, true] {
        let (store, ledger) = (memory(), Ledger::default());
        let broken = ledger.clone();
        let router = move |_: &S| broken.ran("router").map(|()| "right");
        let mut graph = builder()
            .node("a", work)
            .node("right", work)
            .node("wrong", work)
            .edge(START, "a")
            .branch("a", router, ["right", "wrong"])
            .edge("right", END)
            .edge("wrong", END);
        if wide {
            graph = graph.node("side", work).edge(START, "side").edge("side", END);
        }
        let graph = graph.build().unwrap();
        ledger.fail("router", 1);
        let error = thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
        let want = "node `a` failed in super-step 0 / the router of a branch failed / router is out of order 1";
        assert_eq!(chain(&error), want);
        let state = done(thread(&graph, &store).resume(ledger.clone()).await);
        assert_eq!((log(&state).contains(&"right"), log(&state).contains(&"wrong")), (true, false));
        assert_eq!((ledger.of("a"), ledger.of("router"), ledger.of("right")), (2, 2, 1));
        assert_eq!(ledger.of("side"), u32::from(wide));
    }
}

/// B44: a router that fails is the node's failure for its retries and its handler too.
#[tokio::test(start_paused = true)]
async fn a_failed_router_is_retried_as_its_node_if_a_policy_says_so() {
    let ledger = Ledger::default();
    let broken = ledger.clone();
    let graph = builder()
        .node(
            "a",
            work.retry(Retry::attempts(3).when(|error| matches!(error, NodeError::Router(_)))),
        )
        .edge(START, "a")
        .branch("a", move |_: &S| broken.ran("router").map(|()| END), [END])
        .build()
        .unwrap();
    ledger.fail("router", 2);
    // Only the last attempt's write counts.
    assert_eq!(log(&done(graph.invoke(S::update(), ledger.clone()).await)), ["a"]);
    assert_eq!(ledger.all(), ["a 3", "router 3"]);
}

/// B47: attempts and delays, to the millisecond.
#[tokio::test(start_paused = true)]
async fn a_node_is_run_again_after_growing_delays_up_to_a_cap() {
    let retry = Retry::attempts(5).first(ms(100)).factor(3.0).cap(ms(500)).jitter(false);
    for (failures, waited, ends) in [
        (0, 0, true),
        (1, 100, true),
        (2, 400, true),
        (3, 900, true),
        (4, 1_400, true),
        (5, 1_400, false),
    ] {
        let (graph, ledger) = (
            one().configure("a", NodeSettings::new().retry(retry.clone())).build().unwrap(),
            Ledger::default(),
        );
        ledger.fail("a", failures);
        let before = tokio::time::Instant::now();
        let outcome = graph.invoke(S::update(), ledger.clone()).await;
        assert_eq!(before.elapsed(), ms(waited), "{failures} failures");
        assert_eq!(outcome.is_ok(), ends, "{failures} failures");
        assert_eq!(ledger.of("a"), (failures + 1).min(5), "{failures} failures");
    }
}

/// B47: jitter takes at most half of a delay, and not always the same part.
#[tokio::test(start_paused = true)]
async fn jitter_stays_within_its_bounds() {
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..30 {
        let retry = Retry::attempts(2).first(ms(1_000));
        let (graph, ledger) = (
            one().configure("a", NodeSettings::new().retry(retry)).build().unwrap(),
            Ledger::default(),
        );
        ledger.fail("a", 1);
        let before = tokio::time::Instant::now();
        done(graph.invoke(S::update(), ledger).await);
        let waited = before.elapsed();
        assert!((ms(500)..=ms(1_001)).contains(&waited), "{waited:?}");
        seen.insert(waited);
    }
    assert!(seen.len() > 5, "{seen:?}");
}

fn broken(kind: io::ErrorKind) -> impl Fn(Snapshot<S>, Context<Ledger>) -> Ready {
    move |_, cx| {
        cx.services().note(cx.node());
        Box::pin(std::future::ready(Err(io::Error::from(kind))))
    }
}

type Ready = futures::future::BoxFuture<'static, Result<SUpdate, io::Error>>;

/// B47, B48: of several policies the first that applies counts, and the next is not asked; an error that none applies
/// to, or that is permanent, ends the task at its first attempt.
#[tokio::test(start_paused = true)]
async fn the_first_policy_that_applies_says_how_often() {
    use io::ErrorKind::{ConnectionReset, NotFound, PermissionDenied, TimedOut};
    fn is(kinds: &[io::ErrorKind]) -> impl Fn(&NodeError) -> bool + Send + Sync + use<> {
        let kinds = kinds.to_vec();
        move |error| match error {
            NodeError::Failed(error) => {
                error.downcast_ref().is_some_and(|error: &io::Error| kinds.contains(&error.kind()))
            }
            _ => false,
        }
    }
    let every = |attempts, delay| Retry::attempts(attempts).first(ms(delay)).factor(1.0);
    let graph = |kind| {
        builder()
            .node(
                "a",
                broken(kind)
                    .retry(every(2, 10).jitter(false).when(is(&[TimedOut])))
                    .retry(every(4, 100).jitter(false).when(is(&[TimedOut, ConnectionReset])))
                    .retry(every(1, 0).when(is(&[NotFound])))
                    .retry(every(9, 1).when(is(&[NotFound]))),
            )
            .edge(START, "a")
            .edge("a", END)
            .build()
            .unwrap()
    };
    for (kind, attempts, waited) in
        [(TimedOut, 2, 10), (ConnectionReset, 4, 300), (NotFound, 1, 0), (PermissionDenied, 1, 0)]
    {
        let ledger = Ledger::default();
        let before = tokio::time::Instant::now();
        failed(&graph(kind), &ledger).await;
        assert_eq!((ledger.of("a"), before.elapsed()), (attempts, ms(waited)), "{kind:?}");
    }
}

/// B47, B48: what an error says of itself counts, and it is found among the causes too.
#[tokio::test(start_paused = true)]
async fn an_error_is_classified_by_its_type_wherever_it_stands_in_the_chain() {
    #[derive(Debug, thiserror::Error)]
    #[error("the model did not answer")]
    struct NoAnswer(#[source] io::Error);
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, NoAnswer> {
        match cx.services().note("ask") {
            1 => Err(NoAnswer(io::ErrorKind::TimedOut.into())),
            _ => Err(NoAnswer(io::ErrorKind::NotFound.into())),
        }
    }
    let classify = |error: &io::Error| match error.kind() {
        io::ErrorKind::TimedOut => Class::Transient(Some(ms(7_000))),
        _ => Class::Permanent,
    };
    let graph = builder()
        .node("ask", ask)
        .edge(START, "ask")
        .edge("ask", END)
        .retry_all(Retry::attempts(9).first(ms(1)).classify(classify))
        .build()
        .unwrap();
    let ledger = Ledger::default();
    let before = tokio::time::Instant::now();
    let said = failed(&graph, &ledger).await;
    assert!(said.ends_with("the model did not answer / entity not found"), "{said}");
    assert_eq!((ledger.of("ask"), before.elapsed()), (2, ms(7_000)));
}

/// B48: a panic and a way that was not declared are not tried again unless a policy says so.
#[tokio::test(start_paused = true)]
async fn what_fails_in_the_same_way_again_is_not_tried_again() {
    async fn panics(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("a");
        panic!("no such thing")
    }
    async fn strays(_: Snapshot<S>, cx: Context<Ledger>) -> Result<Command<S>, BoxError> {
        cx.services().note("a");
        Ok(Command::new().goto("b"))
    }
    let retry = || Retry::attempts(3).first(ms(1));
    let on = |graph: GraphBuilder<S, Ledger>| graph.edge(START, "a").edge("a", END);
    for (graph, attempts) in [
        (on(builder().node("a", panics.retry(retry()))), 1),
        (on(builder().node("a", strays.retry(retry()))), 1),
        (on(builder().node("a", panics.retry(retry().when(|_| true)))), 3),
        (on(builder().node("a", panics)), 1),
    ] {
        let ledger = Ledger::default();
        failed(&graph.build().unwrap(), &ledger).await;
        assert_eq!(ledger.of("a"), attempts);
    }
}

/// B47: the retries of a run are counted together, and its own policy counts for a node that has one.
#[tokio::test(start_paused = true)]
async fn a_run_has_a_budget_of_retries() {
    let graph = |budget| {
        builder()
            .node("a", work)
            .node("b", work.retry(Retry::attempts(4).first(ms(1))))
            .edge(START, "a")
            .edge("a", "b")
            .edge("b", END)
            .retry_all(Retry::attempts(9).first(ms(1)))
            .retry_budget(budget)
            .build()
            .unwrap()
    };
    for (budget, a, b, ends) in
        [(5, 3, 4, true), (4, 3, 3, false), (1, 2, 0, false), (0, 1, 0, false)]
    {
        let ledger = Ledger::default();
        ledger.fail("a", 2);
        ledger.fail("b", 3);
        let outcome = graph(budget).invoke(S::update(), ledger.clone()).await;
        assert_eq!((outcome.is_ok(), ledger.of("a"), ledger.of("b")), (ends, a, b), "{budget}");
    }
}

/// B47: only the last attempt's writes count, and its context says which attempt it is.
#[tokio::test(start_paused = true)]
async fn an_attempt_knows_its_number_and_its_task() {
    async fn tells(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note(&format!("task {}", cx.task()));
        if cx.attempt() < 3 { Err("again".into()) } else { Ok(says(cx.attempt().to_string())) }
    }
    let graph = builder()
        .node("a", tells.retry(Retry::attempts(3).first(ms(1))))
        .edge(START, "a")
        .edge("a", END)
        .build()
        .unwrap();
    let ledger = Ledger::default();
    assert_eq!(log(&done(graph.invoke(S::update(), ledger.clone()).await)), ["3"]);
    assert_eq!(ledger.all().len(), 1, "{:?}", ledger.all());
}

async fn repair(
    _: Snapshot<S>,
    failure: Failure,
    cx: Context<Ledger>,
) -> Result<Command<S>, BoxError> {
    cx.services().ran("handler")?;
    let Failure { node, message, attempts, .. } = &failure;
    let said = format!("{node} {:?} {attempts}: {message}", failure.kind);
    Ok(Command::new().update(says(said)).goto("b"))
}

/// `a`, whose failure is handled by [`repair`]; then `b` if it is, `c` if not.
fn handled() -> GraphBuilder<S, Ledger> {
    builder()
        .node("a", work.retry(Retry::attempts(2).first(ms(5))).on_error(repair, ["b"]))
        .node("b", work)
        .node("c", work)
        .edge(START, "a")
        .edge("a", "c")
        .edge("b", END)
        .edge("c", END)
}

/// B51: the handler runs after the last attempt, with node and cause, and goes where it says instead of the node's ways.
#[tokio::test(start_paused = true)]
async fn a_handler_stands_for_its_node_after_the_last_attempt() {
    for (failures, want, handlers) in [
        (0, vec!["a", "c"], 0),
        (1, vec!["a", "c"], 0),
        (2, vec!["a Error 2: a is out of order 2", "b"], 1),
    ] {
        let (graph, ledger) = (handled().build().unwrap(), Ledger::default());
        ledger.fail("a", failures);
        let state = done(graph.invoke(S::update(), ledger.clone()).await);
        assert_eq!((log(&state), ledger.of("handler")), (want.clone(), handlers));

        let (store, ledger) = (memory(), Ledger::default());
        ledger.fail("a", failures);
        let state = done(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
        assert_eq!((log(&state), ledger.of("handler")), (want, handlers));
    }
}

/// B51: without a command the node's own ways are gone; each kind of failure is told.
#[tokio::test(start_paused = true)]
async fn a_handler_is_told_what_kind_of_failure_it_was() {
    async fn kind(
        _: Snapshot<S>,
        failure: Failure,
        _: Context<Ledger>,
    ) -> Result<SUpdate, BoxError> {
        Ok(says(format!("{:?}", failure.kind)))
    }
    async fn ends(state: Snapshot<S>, cx: Context<Ledger>) -> Result<Command<S>, BoxError> {
        match state.plan.as_str() {
            "error" => Err("no".into()),
            "panic" => panic!("no"),
            "stray" => Ok(Command::new().goto("nowhere")),
            _ => {
                cx.runtime().clock.sleep(ms(1_000)).await;
                Ok(Command::new())
            }
        }
    }
    let graph = builder()
        .node("a", ends.on_error(kind, [END]))
        .node("b", work)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", END);
    let late = graph.configure("a", NodeSettings::new().timeout(ms(10))).build().unwrap();
    for (plan, kind) in [
        ("error", FailureKind::Error),
        ("panic", FailureKind::Panic),
        ("stray", FailureKind::Other),
        ("late", FailureKind::TimedOut),
    ] {
        let input = S::update().plan(plan.to_owned());
        let state = done(late.invoke(input, Ledger::default()).await);
        assert_eq!(log(&state), [format!("{kind:?}").as_str(), "b"], "{plan}");
    }
}

/// B51: a handler's failure fails the run and says both; no other handler is asked. A resume runs the handler alone.
#[tokio::test(start_paused = true)]
async fn a_handlers_own_failure_fails_the_run() {
    async fn never(_: Snapshot<S>, _: Failure, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().note("another handler");
        Ok(S::update())
    }
    let graph = handled().on_any_error(never, [END]).retry_all(Retry::attempts(3)).build().unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    ledger.fail("a", 9);
    ledger.fail("handler", 1);
    let error = thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap_err();
    assert_eq!(
        chain(&error),
        "node `a` failed in super-step 0 / its error handler failed, after it had failed itself with: a is out of order 2 / handler is out of order 1"
    );
    assert_eq!(ledger.all(), ["a 2", "handler 1"]);
    let state = done(thread(&graph, &store).resume(ledger.clone()).await);
    assert_eq!(log(&state), ["a Error 2: a is out of order 2", "b"]);
    assert_eq!(ledger.all(), ["a 2", "b 1", "handler 2"]);
}

/// B52: a node's own handler counts before the one of all; a node without one has that of all.
#[tokio::test(start_paused = true)]
async fn a_nodes_own_handler_counts_before_the_one_of_all() {
    async fn own(
        _: Snapshot<S>,
        failure: Failure,
        _: Context<Ledger>,
    ) -> Result<SUpdate, BoxError> {
        Ok(says(format!("own {}", failure.node)))
    }
    async fn all(
        _: Snapshot<S>,
        failure: Failure,
        _: Context<Ledger>,
    ) -> Result<SUpdate, BoxError> {
        Ok(says(format!("all {}", failure.node)))
    }
    let graph = builder()
        .node("a", work.on_error(own, [END]))
        .node("b", work)
        .node("end", work)
        .edge(START, "a")
        .edge(START, "b")
        .join(["a", "b"], "end")
        .edge("end", END)
        .on_any_error(all, [END])
        .build()
        .unwrap();
    let ledger = Ledger::default();
    ledger.fail("a", 2);
    ledger.fail("b", 2);
    assert_eq!(log(&both(&graph, &ledger).await), ["own a", "all b", "end"]);
}

/// B52: a question is no failure, whether the node hands it on or swallows it.
#[tokio::test(start_paused = true)]
async fn a_handler_does_not_catch_a_question() {
    async fn asks(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let answer: String = cx.interrupt("ok?").await?;
        Ok(says(answer))
    }
    let graph = builder()
        .node("a", asks.on_error(repair, ["b"]).retry(Retry::attempts(5)))
        .node("b", nothing)
        .edge(START, "a")
        .edge("a", END)
        .edge("b", END)
        .build()
        .unwrap();
    let (store, ledger) = (memory(), Ledger::default());
    let outcome = thread(&graph, &store).invoke(S::update(), ledger.clone()).await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted(ref asked) if asked.len() == 1), "{outcome:?}");
    assert_eq!(log(&done(thread(&graph, &store).reply("yes", ledger.clone()).await)), ["yes"]);
    assert_eq!(ledger.all(), [""; 0]);
}

/// B53: the process dies at any append after the failure: the next one runs the handler, and the node not again.
#[tokio::test(start_paused = true)]
async fn after_a_crash_behind_a_recorded_failure_only_the_handler_runs() {
    let wide = handled().node("side", work).edge(START, "side").edge("side", END);
    for (graph, side) in [(handled().build().unwrap(), 0), (wide.build().unwrap(), 1)] {
        let mut deaths = 0;
        for (at, stored) in (0..12).flat_map(|at| [(at, false), (at, true)]) {
            let (memory, ledger) = (memory(), Ledger::default());
            ledger.fail("a", 2);
            let dying = Dying::at(memory.clone(), at, stored);
            let thread = graph.checkpointer(Layered(dying.clone())).thread(key("t"));
            let died = thread.invoke(S::update(), ledger.clone()).await;
            if !dying.is_dead() {
                continue;
            }
            deaths += 1;
            assert!(matches!(died, Err(RunError::Checkpoint(_))), "{died:?}");
            let store = dying.after_death(&key("t")).await.unwrap();
            let recorded = recorded(&graph, &store).await;
            let before = ledger.of("a");
            let resumed = match graph.checkpointer(store).thread(key("t")) {
                thread if thread.state(None).await.unwrap().is_some() => {
                    thread.resume(ledger.clone()).await
                }
                thread => thread.invoke(S::update(), ledger.clone()).await,
            };
            let state = done(resumed);
            if recorded {
                assert_eq!(ledger.of("a"), before, "at {at}, stored: {stored}");
                assert!(log(&state).contains(&"b"), "{state:?}");
                assert_eq!(log(&state)[0], "a Error 2: a is out of order 2");
            }
            assert!(ledger.of("side") >= side);
        }
        assert!(deaths >= 8, "{deaths}");
    }
}

/// Whether the log has a failure that is not over yet.
async fn recorded(graph: &Graph<S, Ledger>, store: &hanok_checkpoint::SharedCheckpointer) -> bool {
    let entries = thread(graph, store).history(None, 100).await.unwrap();
    entries.iter().any(|entry| matches!(entry.entry.body, Body::Failed(_)))
}

/// A run needs no tokio: without its timer, a wait before another attempt is one of the system's clock.
#[test]
fn a_retry_without_a_timer_of_tokio_waits_all_the_same() {
    async fn twice(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, io::Error> {
        match cx.services().note("twice") {
            1 => Err(io::ErrorKind::TimedOut.into()),
            _ => Ok(S::update().push_log("done")),
        }
    }
    let retry = Retry::attempts(2).first(ms(1));
    let graph = Graph::builder("g").node("twice", twice.retry(retry).timeout(ms(60_000)));
    let graph = graph.edge(START, "twice").edge("twice", END).build().unwrap();
    let run =
        || async { graph.invoke(S::update(), Ledger::default()).await.unwrap().done().unwrap() };
    let without = futures::executor::block_on(run());
    assert_eq!(log(&without), ["done"]);
    let no_timer = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(log(&no_timer.block_on(run())), ["done"]);
}
