//! Ten thousand runs at once in one process on two cores, or a tenth of them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use hanok_checkpoint::{InMemoryCheckpointer, SharedCheckpointer};
use hanok_core::{Cancellation, Tenant, ThreadKey};
use hanok_graph::{
    App, BoxError, Context, END, Failure, FailureKind, Graph, NodeError, NodeExt, Outcome, Retry,
    RunError, START, Snapshot,
};
use hanok_state::{List, State};
use hanok_testkit::shortened;
use peak_alloc::PeakAlloc;

/// Counts what lives, to the byte; pages that the system counts depend on what an allocator keeps.
#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

const MS: Duration = Duration::from_millis(1);

#[derive(State, Debug, Clone, Default)]
struct S {
    /// Which run it is, and so what becomes of it.
    n: u32,
    #[reduce(append)]
    log: List<String>,
}

/// What becomes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Asks,
    TimesOut,
    Retries,
    Fails,
    Cancelled,
    Dropped,
}

fn kind(n: u32) -> Kind {
    match n % 10 {
        0 | 1 => Kind::Asks,
        2 => Kind::TimesOut,
        3 | 4 => Kind::Retries,
        5 => Kind::Fails,
        6 => Kind::Cancelled,
        7 => Kind::Dropped,
        _ => Kind::Plain,
    }
}

#[derive(Debug, Clone, Default)]
struct Services {
    /// How long trivial nodes took from when they were due, in microseconds: the sum, the longest, how many took a second.
    waits: Arc<[AtomicU64; 3]>,
    steps: Arc<AtomicU32>,
}

fn says(text: &str) -> SUpdate {
    S::update().push_log(text.to_owned())
}

async fn begin(_: Snapshot<S>, cx: Context<Services>) -> Result<SUpdate, BoxError> {
    let Services { waits, steps } = cx.services();
    let micros = u64::try_from(cx.runtime().clock.now().since(cx.now()).as_micros())?;
    let [sum, longest, late] = &**waits;
    sum.fetch_add(micros, Ordering::Relaxed);
    longest.fetch_max(micros, Ordering::Relaxed);
    late.fetch_add(u64::from(micros >= 1_000_000), Ordering::Relaxed);
    steps.fetch_add(1, Ordering::Relaxed);
    tokio::task::yield_now().await;
    Ok(says("begin"))
}

async fn work(state: Snapshot<S>, cx: Context<Services>) -> Result<SUpdate, BoxError> {
    match kind(state.n) {
        Kind::Plain => {}
        Kind::Asks => return Ok(says(&cx.interrupt::<String>("go on?").await?)),
        Kind::TimesOut | Kind::Cancelled | Kind::Dropped => std::future::pending().await,
        Kind::Retries if cx.attempt() < 3 => return Err("not yet".into()),
        Kind::Retries => {}
        Kind::Fails => return Err("never".into()),
    }
    Ok(says("work"))
}

async fn handle(
    _: Snapshot<S>,
    failure: Failure,
    _: Context<Services>,
) -> Result<SUpdate, BoxError> {
    match failure.kind {
        FailureKind::TimedOut => Ok(says("too late")),
        _ => Err("no way to handle it".into()),
    }
}

fn graph() -> Graph<S, Services> {
    let retry = Retry::attempts(3).first(MS).jitter(false);
    Graph::builder("many")
        .node("begin", begin)
        .node("side", begin)
        .node(
            "work",
            work.retry(retry.when(|error| matches!(error, NodeError::Failed(_))))
                .timeout(Duration::from_secs(2))
                .on_error(handle, [END]),
        )
        .edge(START, "begin")
        .edge(START, "side")
        .join(["begin", "side"], "work")
        .edge("work", END)
        .build()
        .unwrap()
}

/// Runs one to its end; says what went otherwise than it should.
async fn run(app: App<S, Services>, n: u32, services: Services) -> Result<(), String> {
    let key = ThreadKey::new(Tenant::default(), &format!("t{n}")).unwrap();
    let stop = Cancellation::default();
    let thread = app.thread(key).cancellation(stop.clone());
    let first = thread.invoke(S::update().n(n), services.clone());
    let wrong = |outcome: &dyn std::fmt::Debug| Err(format!("{n} {:?}: {outcome:?}", kind(n)));
    let ended = match kind(n) {
        Kind::Dropped => match tokio::time::timeout(20 * MS, first).await {
            Err(_) => return Ok(()),
            Ok(ended) => ended,
        },
        Kind::Cancelled => {
            let stopping = async {
                tokio::time::sleep(20 * MS).await;
                stop.cancel();
            };
            tokio::join!(first, stopping).0
        }
        _ => first.await,
    };
    let ended = match (kind(n), ended) {
        (Kind::Cancelled, Ok(Outcome::Cancelled(_))) => return Ok(()),
        (Kind::Fails, Err(RunError::Node { source: NodeError::Handler { .. }, .. })) => {
            return Ok(());
        }
        (Kind::Asks, Ok(Outcome::Interrupted(requests))) => {
            let [request] = requests.as_slice() else { return wrong(&requests) };
            tokio::task::yield_now().await;
            thread.answer(request.id.clone(), "yes", services).await
        }
        (_, ended) => ended,
    };
    let last = match kind(n) {
        Kind::Plain | Kind::Retries => "work",
        Kind::Asks => "yes",
        // On a machine that is busy with other things a node's time may be over before it is stopped.
        Kind::TimesOut | Kind::Cancelled | Kind::Dropped => "too late",
        Kind::Fails => return wrong(&ended),
    };
    match ended {
        Ok(Outcome::Done(state)) if state.log.iter().eq(["begin", "begin", last]) => Ok(()),
        ended => wrong(&ended),
    }
}

async fn batch(count: u32, services: &Services) -> Vec<String> {
    let store = SharedCheckpointer::new(InMemoryCheckpointer::new());
    let app = graph().checkpointer(store);
    let runs = (0..count).map(|n| tokio::spawn(run(app.clone(), n, services.clone())));
    let runs: Vec<_> = runs.collect();
    let mut wrong = Vec::new();
    for run in runs {
        wrong.extend(run.await.unwrap().err());
    }
    assert_eq!(app.running(), 0);
    wrong
}

/// Waits until no more tasks live than there were; how many there are then.
async fn settled(before: usize) -> usize {
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    for _ in 0..500 {
        if alive() <= before {
            break;
        }
        tokio::time::sleep(10 * MS).await;
    }
    alive()
}

/// P21: none hangs, each ends as it should, and nothing stays behind: no task, no run, no memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_runs_at_once_end_as_they_should_and_leave_nothing() {
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let runs = u32::try_from(shortened(10_000)).unwrap();
    let mut allocated = Vec::new();
    // The first ones allocate what is there once.
    for count in [runs / 10, runs] {
        let services = Services::default();
        let began = Instant::now();
        let wrong = tokio::time::timeout(Duration::from_secs(120), batch(count, &services)).await;
        let wrong = wrong.expect("a run hangs");
        assert!(wrong.is_empty(), "{} went wrong: {:#?}", wrong.len(), wrong.first());
        assert_eq!(settled(before).await, before);
        // Whatever holds a run, a task or a context holds its services.
        assert_eq!(Arc::strong_count(&services.steps), 1);
        allocated.push(ALLOCATED.current_usage());
        let steps = services.steps.load(Ordering::SeqCst);
        // Some were stopped before they began.
        assert!((2 * count / 10 * 8..=2 * count).contains(&steps), "{steps}");
        let [sum, longest, late] = &*services.waits;
        eprintln!(
            "{count} runs: {:?}; a trivial step began after {} µs on average, {} µs at most, {} of {steps} after a second",
            began.elapsed(),
            sum.load(Ordering::SeqCst) / u64::from(steps),
            longest.load(Ordering::SeqCst),
            late.load(Ordering::SeqCst),
        );
    }
    let stays = allocated[1].saturating_sub(allocated[0]);
    eprintln!("{stays} bytes stay");
    // A tenth of the runs that left a name each, one kind of ten, would be more.
    assert!(stays < runs as usize, "{allocated:?}");
}

/// P21: a thread that waits for a person costs nothing but what its store keeps: no task, no run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_thread_holds_no_task() {
    let before = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let app = graph().checkpointer(SharedCheckpointer::new(InMemoryCheckpointer::new()));
    let asks = (0_u32..).take(shortened(2_000)).map(|n| {
        let app = app.clone();
        tokio::spawn(async move {
            let key = ThreadKey::new(Tenant::default(), &format!("t{n}")).unwrap();
            app.thread(key).invoke(S::update().n(0), Services::default()).await
        })
    });
    for ended in futures::future::join_all(asks).await {
        assert!(matches!(ended.unwrap().unwrap(), Outcome::Interrupted(_)));
    }
    assert_eq!((app.running(), settled(before).await), (0, before));
}
