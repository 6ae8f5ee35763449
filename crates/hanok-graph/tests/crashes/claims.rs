//! Who owns a thread, for how long, and what may be done with what the dead left.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use hanok_checkpoint::{AppendId, Checkpointer, Forks, LEASE, Log, SharedCheckpointer};
use hanok_core::{BoxFuture, Budget, Clock, Position, Timestamp};
use hanok_graph::{
    App, BoxError, Context, END, EditStep, Graph, NewInput, Outcome, RunError, Runtime, START,
    Snapshot, Subgraph,
};
use hanok_state::State;
use tokio::time::{Instant, sleep, timeout};

use crate::support::{Ledger, S, SUpdate, builder, done, key, log, memory, runtime, says, work};

const SECOND: Duration = Duration::from_secs(1);

/// A clock that is set to another time than all others, and goes forward with tokio's.
#[derive(Debug)]
struct Set {
    now: Arc<AtomicU64>,
    start: Instant,
}

impl Set {
    fn runtime(now: u64) -> (Runtime, Arc<AtomicU64>) {
        let now = Arc::new(AtomicU64::new(now));
        let clock = Set { now: now.clone(), start: Instant::now() };
        (Runtime { clock: Arc::new(clock), ..Runtime::default() }, now)
    }
}

impl Clock for Set {
    fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::SeqCst)).plus(self.start.elapsed())
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(sleep(duration))
    }
}

/// Works for as many seconds as `n` says.
async fn long(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    for _ in 0..state.n {
        cx.runtime().clock.sleep(SECOND).await;
        cx.services().ran("second")?;
    }
    Ok(says("long"))
}

fn working(runtime: Runtime) -> Graph<S, Ledger> {
    let graph = Graph::builder("long").runtime(runtime).node("long", long);
    graph.edge(START, "long").edge("long", END).build().unwrap()
}

const DAY: u64 = 86_400_000;

/// P10: a run that takes long keeps its thread, for its signs of life are stored; and a process whose clock is a day ahead,
/// or behind, does not take it either.
#[tokio::test(start_paused = true)]
async fn a_long_run_is_not_taken_over_whatever_time_others_think_it_is() {
    for others in [10 * DAY, 9 * DAY, 11 * DAY] {
        let store = memory();
        let here = working(Set::runtime(10 * DAY).0).checkpointer(store.clone());
        let there = working(Set::runtime(others).0).checkpointer(store.clone()).thread(key("t"));
        let run = tokio::spawn(async move {
            here.thread(key("t")).invoke(S::update().n(60), Ledger::default()).await
        });
        for _ in 0..50 {
            sleep(SECOND).await;
            let second = there.invoke(S::update(), Ledger::default()).await;
            assert!(matches!(second, Err(RunError::Conflict { .. })), "{others}: {second:?}");
        }
        assert_eq!(log(&done(run.await.unwrap())), ["long"]);
    }
}

/// P10: a thread whose holder is silent is free after one lease, even if its clock was a day ahead.
#[tokio::test(start_paused = true)]
async fn a_silent_holder_blocks_nobody_for_longer_than_a_lease() {
    for others in [9 * DAY, 10 * DAY, 11 * DAY] {
        let store = memory();
        let here = working(Set::runtime(10 * DAY).0).checkpointer(store.clone());
        let there = working(Set::runtime(others).0).checkpointer(store).thread(key("t"));
        let run = here.thread(key("t"));
        timeout(SECOND, run.invoke(S::update().n(3), Ledger::default())).await.unwrap_err();
        let look = async || there.resume(Ledger::default()).await;
        assert!(matches!(look().await, Err(RunError::Conflict { .. })), "{others}");
        sleep(9 * SECOND).await;
        assert!(matches!(look().await, Err(RunError::Conflict { .. })), "{others}");
        sleep(SECOND).await;
        assert_eq!(log(&done(look().await)), ["long"], "{others}");
    }
}

/// P10: a run whose claim was taken stops at its next sign of life, long before its next append, and says that it was
/// superseded; so does one whose claim an operator has released.
#[tokio::test(start_paused = true)]
async fn a_run_that_lost_its_claim_stops_soon() {
    for released in [false, true] {
        let (store, ledger) = (memory(), Ledger::default());
        let here = working(runtime()).checkpointer(store.clone());
        let there = working(runtime()).checkpointer(store.clone()).thread(key("t"));
        let run = {
            let ledger = ledger.clone();
            tokio::spawn(
                async move { here.thread(key("t")).invoke(S::update().n(600), ledger).await },
            )
        };
        sleep(5 * SECOND).await;
        if released {
            let head = store.head(&key("t")).await.unwrap().unwrap();
            let freed = there.log().release(&head, AppendId(1), Timestamp(1)).await.unwrap();
            assert_eq!(store.head(&key("t")).await.unwrap().unwrap(), freed);
            assert_eq!(freed.claim, None);
        } else {
            let replacing = there.new_input(NewInput::Replace);
            done(replacing.invoke(S::update().n(0), Ledger::default()).await);
        }
        let lost = run.await.unwrap().unwrap_err();
        assert!(matches!(lost, RunError::Superseded { .. }), "{released}: {lost}");
        assert!(ledger.of("second") < 10, "{released}: {}", ledger.of("second"));
    }
}

/// Never ends but for an input of its own.
async fn deadly(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().ran("deadly")?;
    match state.n {
        0 => std::future::pending().await,
        _ => Ok(says("survived")),
    }
}

/// A thread that a dead process left within its second super-step, and the app that finds it.
async fn left_dead() -> (App<S, Ledger>, SharedCheckpointer) {
    let graph = builder().node("first", work).node("deadly", deadly).edge(START, "first");
    let graph = graph.edge("first", "deadly").edge("deadly", END).build().unwrap();
    let store = memory();
    let dead = graph.checkpointer(store.clone()).thread(key("t"));
    timeout(SECOND, dead.invoke(S::update(), Ledger::default())).await.unwrap_err();
    (graph.checkpointer(store.clone()), store)
}

/// What a dead process left can be rewound, edited and erased, without a node having to run first; a live run's
/// thread cannot.
#[tokio::test(start_paused = true)]
async fn what_a_dead_process_left_can_be_changed() {
    for what in ["rewind", "edit", "edit_as", "edits", "erase"] {
        let (app, store) = left_dead().await;
        let thread = app.thread(key("t"));
        let change = async || -> Result<(), String> {
            let update = S::update().n(1);
            let went = match what {
                "rewind" => {
                    return thread.rewind(Position(2)).await.map(drop).map_err(|e| e.to_string());
                }
                "edit" => thread.edit(update).await.map(drop),
                "edit_as" => thread.edit_as(Some("first"), update).await.map(drop),
                "edits" => {
                    let nodes = EditStep::Nodes(vec![("first".to_owned(), update)]);
                    thread.edits(vec![nodes]).await.map(drop)
                }
                _ => thread.erase(update, "somebody", Forks::Keep).await.map(drop),
            };
            went.map_err(|error| error.to_string())
        };
        let before = store.head(&key("t")).await.unwrap();
        change().await.unwrap_err();
        assert_eq!(store.head(&key("t")).await.unwrap(), before, "{what}: its lease is not over");
        sleep(10 * SECOND).await;
        change().await.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(store.head(&key("t")).await.unwrap().unwrap().claim, None, "{what}");
        if what != "rewind" {
            assert_eq!(done(thread.resume(Ledger::default()).await).n, 1, "{what}");
        }
    }
}

/// A poisoned thread can be rewound to before the poison, or edited, and is not poisoned then.
#[tokio::test(start_paused = true)]
async fn a_poisoned_thread_can_be_changed_and_goes_on() {
    for rewinds in [true, false] {
        let (app, store) = left_dead().await;
        let thread = app.thread(key("t")).takeover_limit(0);
        let log = Log::new(store.clone(), key("t"));
        let head = store.head(&key("t")).await.unwrap().unwrap();
        log.release(&head, AppendId(1), Timestamp(1)).await.unwrap();
        let poisoned = thread.resume(Ledger::default()).await.unwrap();
        assert!(matches!(poisoned, Outcome::Poisoned(_)), "{poisoned:?}");
        if rewinds {
            thread.rewind(head.position).await.unwrap();
        }
        thread.edit(S::update().n(1)).await.unwrap();
        let thread = thread.takeover_limit(1);
        assert_eq!(done(thread.resume(Ledger::default()).await).n, 1, "{rewinds}");
    }
}

/// Who hangs up poisons nothing, however often: the process lives, and nothing was lost with it.
#[tokio::test(start_paused = true)]
async fn a_client_that_hangs_up_poisons_nothing() {
    let (app, store) = left_dead().await;
    let thread = app.thread(key("t")).takeover_limit(1);
    let head = store.head(&key("t")).await.unwrap().unwrap();
    thread.log().release(&head, AppendId(1), Timestamp(1)).await.unwrap();
    for _ in 0..12 {
        timeout(SECOND, thread.resume(Ledger::default())).await.unwrap_err();
    }
    thread.edit(S::update().n(1)).await.unwrap();
    done(thread.resume(Ledger::default()).await);
}

/// A super-step of a subgraph, or a step, is progress: a turn that comes nearer to its end with each run is not poisoned.
#[tokio::test(start_paused = true)]
async fn progress_in_a_subgraph_or_a_step_is_progress() {
    static STEP: AtomicU32 = AtomicU32::new(0);
    async fn one(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        // Each process dies in its second super-step.
        if cx.services().note("one") > 1 {
            std::future::pending::<()>().await;
        }
        Ok(S::update().n(state.n + 1))
    }
    async fn steps(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        for n in 0..12 {
            let ledger = cx.services().clone();
            let step = async || {
                if ledger.note("one") > 1 {
                    std::future::pending::<()>().await;
                }
                STEP.fetch_add(1, Ordering::SeqCst);
                Ok::<_, BoxError>(n)
            };
            cx.step(&format!("step {n}"), step).await?;
        }
        Ok(S::update().n(12))
    }
    let inner = builder().node("one", one).edge(START, "one");
    let inner = inner.branch("one", |s: &S| if s.n >= 12 { END } else { "one" }, ["one", END]);
    let graphs = [
        builder()
            .subgraph("inner", Subgraph::shared(inner.build().unwrap()))
            .edge(START, "inner")
            .edge("inner", END),
        builder().node("steps", steps).edge(START, "steps").edge("steps", END),
    ];
    for graph in graphs {
        let (graph, store) = (graph.build().unwrap(), memory());
        let mut runs = 0;
        let state = loop {
            runs += 1;
            let thread = graph.checkpointer(store.clone()).thread(key("t"));
            let run = async {
                match runs {
                    1 => thread.invoke(S::update(), Ledger::default()).await,
                    _ => thread.resume(Ledger::default()).await,
                }
            };
            if let Ok(ended) = timeout(SECOND, run).await {
                break done(ended);
            }
            let head = store.head(&key("t")).await.unwrap().unwrap();
            thread.log().release(&head, AppendId(runs), Timestamp(1)).await.unwrap();
        };
        assert_eq!((state.n, runs), (12, 12));
    }
    assert_eq!(STEP.load(Ordering::SeqCst), 12);
}

/// A clock that is set, or a machine that sleeps, takes no time from a turn's budget.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_takes_no_budget() {
    let (runtime, now) = Set::runtime(DAY);
    let asks = move |_: Snapshot<S>, cx: Context<Ledger>| {
        let now = now.clone();
        async move {
            now.fetch_add(7_200_000, Ordering::SeqCst);
            let _: String = cx.interrupt("go on?").await?;
            Ok::<_, BoxError>(())
        }
    };
    let budget = Budget { time: Some(600 * SECOND), ..Budget::default() };
    let graph = Graph::builder("asks").runtime(runtime).node("asks", asks).edge(START, "asks");
    let graph = graph.edge("asks", END).budget(budget).build().unwrap();
    let thread = graph.checkpointer(memory()).thread(key("t"));
    let asked = thread.invoke(S::update(), Ledger::default()).await.unwrap();
    assert!(matches!(asked, Outcome::Interrupted(_)), "{asked:?}");
    done(thread.reply("yes", Ledger::default()).await);
}

/// P10: a run whose thread was deleted and begun anew is told so by its next heartbeat, and does not work on for nobody.
#[tokio::test(start_paused = true)]
async fn a_run_whose_thread_was_begun_anew_stops() {
    let store = memory();
    let thread = working(Runtime::default()).checkpointer(store.clone()).thread(key("t"));
    let ledger = Ledger::default();
    let before = Instant::now();
    let run = thread.invoke(S::update().n(3_600), ledger.clone());
    let anew = async {
        sleep(SECOND).await;
        store.delete(&key("t"), None).await.unwrap();
        let other = working(Runtime::default()).checkpointer(store.clone()).thread(key("t"));
        done(other.invoke(S::update(), Ledger::default()).await);
    };
    let (went, ()) = tokio::join!(run, anew);
    assert!(matches!(went, Err(RunError::Superseded { .. })), "{went:?}");
    assert!(before.elapsed() <= LEASE, "{:?}", before.elapsed());
}
