//! Runs that are dropped while their store still works for them, and the runs that come next.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hanok_checkpoint::{Append, CheckpointError, Checkpointer, SharedCheckpointer};
use hanok_core::ThreadKey;
use hanok_graph::{BoxError, Context, Durability, END, Graph, Outcome, RunError, START, Snapshot};
use hanok_sqlite::Sqlite;
use hanok_state::State;
use hanok_testkit::{Layer, Layered, shortened};
use tokio::sync::{Notify, Semaphore};

use crate::support::{Ledger, S, SUpdate, builder, count, done, key, memory};

const ALL: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

/// Counts to 20.
fn counting() -> Graph<S, Ledger> {
    let route = |s: &S| if s.n >= 20 { END } else { "count" };
    let graph = builder().node("count", count).edge(START, "count");
    graph.branch("count", route, ["count", END]).build().unwrap()
}

/// A store that makes one append after the other, each when it is let through, whether anybody waits for it or not.
#[derive(Debug, Clone)]
struct Gated {
    store: SharedCheckpointer,
    gate: Arc<Semaphore>,
    waiting: Arc<Notify>,
}

impl Gated {
    fn new(open: usize) -> Self {
        Self { store: memory(), gate: Arc::new(Semaphore::new(open)), waiting: Arc::default() }
    }
}

impl Layer for Gated {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        let (this, thread) = (self.clone(), thread.clone());
        let work = tokio::spawn(async move {
            if this.gate.available_permits() == 0 {
                this.waiting.notify_one();
            }
            this.gate.acquire().await.unwrap().forget();
            this.store.append(&thread, append).await
        });
        work.await.unwrap()
    }
}

async fn rest() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

/// P10, P25: whichever append a run is dropped at, the next run of the process waits until it is stored, and goes on.
#[tokio::test(start_paused = true)]
async fn the_next_run_waits_for_the_append_of_a_dropped_one() {
    for (durability, appends) in ALL.into_iter().flat_map(|d| {
        (0..=match d {
            Durability::Exit => 1,
            _ => 2,
        })
            .map(move |n| (d, n))
    }) {
        let (gated, ledger) = (Gated::new(appends), Ledger::default());
        let store = SharedCheckpointer::new(Layered(gated.clone()));
        let thread = counting().checkpointer(store).thread(key("t")).durability(durability);
        tokio::select! {
            biased;
            () = gated.waiting.notified() => {}
            ended = thread.invoke(S::update(), ledger.clone()) => panic!("{ended:?}"),
        }
        let next = {
            let (thread, ledger) = (thread.clone(), ledger.clone());
            tokio::spawn(async move { thread.resume(ledger).await })
        };
        rest().await;
        assert!(!next.is_finished(), "{durability:?}, {appends}: {:?}", next.await);
        gated.gate.add_permits(1_000);
        assert_eq!(done(next.await.unwrap()).n, 20, "{durability:?}, {appends}");
    }
}

/// P10: a second input that comes while a dropped run's last append is under way is not told of a run that is gone, but of
/// the one that waits.
#[tokio::test(start_paused = true)]
async fn one_input_waits_for_a_dropped_run_and_the_next_is_refused() {
    let (gated, ledger) = (Gated::new(1), Ledger::default());
    let store = SharedCheckpointer::new(Layered(gated.clone()));
    let app = counting().checkpointer(store);
    let thread = app.thread(key("t"));
    tokio::select! {
        biased;
        () = gated.waiting.notified() => {}
        ended = thread.invoke(S::update(), ledger.clone()) => panic!("{ended:?}"),
    }
    let next = {
        let (thread, ledger) = (thread.clone(), ledger.clone());
        tokio::spawn(async move { thread.resume(ledger).await })
    };
    rest().await;
    let refused = thread.resume(ledger.clone()).await.unwrap_err();
    assert!(matches!(refused, RunError::Conflict { holder: Some(_), .. }), "{refused}");
    gated.gate.add_permits(1_000);
    assert_eq!(done(next.await.unwrap()).n, 20);
    assert_eq!(app.running(), 0);
}

/// P10: on SQLite every reconnect, one of up to two hundred, takes the thread over at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reconnects_take_over_what_was_dropped() {
    async fn tick(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.services().ran("tick")?;
        // Here the client may hang up.
        tokio::task::yield_now().await;
        Ok(S::update().n(state.n + 1))
    }
    let graph = Graph::builder("ticks").recursion_limit(u32::MAX).node("tick", tick);
    let graph =
        graph.edge(START, "tick").branch("tick", |_: &S| "tick", ["tick", END]).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(folder.path().join("threads.db")).await.unwrap();
    let app = graph.checkpointer(SharedCheckpointer::new(store));
    for durability in ALL {
        let thread = app.thread(key(&format!("{durability:?}"))).durability(durability);
        let thread = thread.takeover_limit(u32::MAX);
        for reconnect in (0..).take(shortened(200)) {
            let ledger = Ledger::default();
            let run = async {
                match reconnect {
                    0 => thread.invoke(S::update(), ledger.clone()).await,
                    _ => thread.resume(ledger.clone()).await,
                }
            };
            let hangs_up = async {
                while ledger.of("tick") <= reconnect % 5 {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                ended = run => panic!("{durability:?}, {reconnect}: {ended:?}"),
                () = hangs_up => {}
            }
        }
    }
}

/// A task that outlives its run stores nothing more, and does not keep the thread.
#[tokio::test]
async fn what_outlives_a_run_stores_nothing_more() {
    static STORED: AtomicBool = AtomicBool::new(false);
    async fn leaks(_: Snapshot<S>, cx: Context<Ledger>) -> Result<(), BoxError> {
        tokio::spawn(async move {
            cx.services().ran("leaked").unwrap();
            rest().await;
            let step = cx.step("late", || async { Ok::<_, BoxError>(1) }).await;
            STORED.store(step.is_ok(), Ordering::SeqCst);
            cx.services().ran("leaked").unwrap();
        });
        Ok(())
    }
    let graph = builder().node("leaks", leaks).edge(START, "leaks").edge("leaks", END);
    let (graph, ledger) = (graph.build().unwrap(), Ledger::default());
    let thread = graph.checkpointer(memory()).thread(key("t"));
    let outcome = thread.invoke(S::update(), ledger.clone()).await.unwrap();
    assert!(matches!(outcome, Outcome::Done(_)));
    let before = thread.log().open(None).await.unwrap().unwrap().head;
    while ledger.of("leaked") < 2 {
        tokio::task::yield_now().await;
    }
    assert!(!STORED.load(Ordering::SeqCst));
    assert_eq!(thread.log().open(None).await.unwrap().unwrap().head, before);
    done(thread.invoke(S::update(), ledger).await);
}
