//! Whichever write a run dies at, before or after it is stored, the next run ends where a quiet run ends.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use hanok_checkpoint::{
    Append, AppendId, Body, CheckpointError, Checkpointer, Codec, Entry, InMemoryCheckpointer,
    Life, Log, Record, SharedCheckpointer, Snapshots,
};
use hanok_core::{Namespace, Position, Tenant, ThreadKey, Timestamp};
use hanok_graph::{BoxError, Context, END, Graph, RunError, START, SendTo, Snapshot, Target};
use hanok_state::{List, Message, Messages, State};
use hanok_testkit::{Layer, Layered, sampled, shortened};

use crate::support::numbered;

/// A store whose process dies at one append: before it, or after it and before the answer.
#[derive(Debug, Clone)]
struct Crashing {
    store: SharedCheckpointer,
    appends: Arc<AtomicUsize>,
    at: usize,
    stored: bool,
    /// Bytes of all snapshots.
    snapshots: Arc<AtomicUsize>,
}

impl Crashing {
    fn new(at: usize, stored: bool) -> Self {
        Self {
            store: SharedCheckpointer::new(InMemoryCheckpointer::new()),
            appends: Arc::default(),
            at,
            stored,
            snapshots: Arc::default(),
        }
    }

    fn restarted(&self) -> Self {
        Self { appends: Arc::default(), at: usize::MAX, ..self.clone() }
    }
}

impl Layer for Crashing {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        let before = self.appends.fetch_add(1, Ordering::SeqCst);
        let (dies, first) = (before >= self.at, before == self.at);
        // A run may be dropped before its append is stored, and after it and before the answer.
        tokio::task::yield_now().await;
        if !dies || (first && self.stored) {
            self.store.append(thread, append).await?;
        }
        tokio::task::yield_now().await;
        if dies {
            // Once dead, nothing is stored any more.
            return Err(CheckpointError::Unavailable { reason: "dead", source: "dead".into() });
        }
        Ok(())
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> Result<(), CheckpointError> {
        self.snapshots.fetch_add(snapshot.len(), Ordering::SeqCst);
        self.store.put_snapshot(thread, life, position, snapshot).await
    }
}

fn largest(value: &u64, write: u64) -> u64 {
    *value.max(&write)
}

#[derive(State, Debug, Clone, Default, PartialEq)]
struct S {
    messages: Messages,
    #[reduce(append)]
    log: List<String>,
    #[reduce(with = largest)]
    best: u64,
    n: u32,
}

/// How often each memoised step, and each task, did its work.
type Ledger = Arc<Mutex<BTreeMap<String, u32>>>;

fn note(ledger: &Ledger, what: String) {
    *ledger.lock().unwrap().entry(what).or_default() += 1;
}

async fn work(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    note(cx.services(), format!("task {}", cx.task()));
    let n: u64 = cx.input()?.unwrap_or_default();
    let step = format!("step {} {}", cx.node(), cx.task());
    let said: String = cx
        .step("say", || async {
            note(cx.services(), step);
            Ok::<_, BoxError>(format!("{} {n}", cx.node()))
        })
        .await?;
    Ok(S::update().push_log(said.clone()).best(n).message(Message::assistant(said)))
}

async fn count(state: Snapshot<S>, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
    Ok(S::update().n(state.n + 1))
}

async fn call(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let state = cx.run(&inner()?, S::update().n(7), cx.services().clone()).await?.done()?;
    Ok(S::update().log(state.log.iter().map(|line| format!("inner {line}"))))
}

fn inner() -> Result<Graph<S, Ledger>, hanok_graph::BuildError> {
    Graph::builder("inner")
        .node("x", work)
        .node("y", work)
        .edge(START, "x")
        .edge("x", "y")
        .edge("y", END)
        .build()
}

/// A loop of two rounds: a fan of sends beside a node, a join behind them, and a subgraph.
fn graph() -> Graph<S, Ledger> {
    let fan = |_: &S| {
        let sends = (1..=3u64).map(|n| Target::from(SendTo::new("work", &n)));
        sends.chain(["side".into()]).collect::<Vec<_>>()
    };
    Graph::builder("all")
        .node("count", count)
        .node("work", work)
        .node("side", work)
        .node("call", call)
        .edge(START, "count")
        .branch("count", fan, ["work", "side"])
        .edge("work", END)
        .join(["work", "side"], "call")
        .branch("call", |s: &S| if s.n < 2 { "count" } else { END }, ["count", END])
        .build()
        .unwrap()
}

/// The state, with messages that are told by their order: their ids are those of their thread.
fn told(state: S) -> S {
    S { messages: numbered(&state.messages), ..state }
}

fn thread() -> ThreadKey {
    ThreadKey::new(Tenant::default(), "t").unwrap()
}

async fn run(store: &Crashing, ledger: &Ledger) -> Result<S, RunError> {
    let app = graph().checkpointer(Layered(store.clone()));
    let update = S::update().message("go");
    app.thread(thread()).invoke(update, ledger.clone()).await.map(|o| o.done().unwrap())
}

/// The tasks and steps whose results are in the log.
async fn stored(store: &Crashing) -> Vec<String> {
    let page = store.history(&thread(), None, usize::MAX).await.unwrap();
    let Some(page) = page else { return Vec::new() };
    let (life, codec) = (page.head.life, Codec::default());
    let open = |record: &Record| record.open(&codec, &thread(), life).unwrap().1;
    let entries = page.records.iter().map(open);
    entries
        .filter_map(|Entry { body, .. }| match body {
            Body::Write(write) => Some(format!("task {}", write.task)),
            Body::Memo(memo) => Some(format!("step {}", memo.task)),
            _ => None,
        })
        .collect()
}

/// P1, P2, B71; invariants 1 and 2
#[tokio::test]
async fn a_run_that_dies_at_any_write_is_finished_by_the_next() {
    let quiet = Crashing::new(usize::MAX, false);
    let want = told(run(&quiet, &Ledger::default()).await.unwrap());
    let writes = quiet.appends.load(Ordering::SeqCst);
    assert!(writes > 20 && want.log.len() == 12 && want.best == 3, "{want:?}");

    for (at, kept) in sampled((0..writes).flat_map(|at| [(at, false), (at, true)])) {
        let (store, ledger) = (Crashing::new(at, kept), Ledger::default());
        let died = run(&store, &ledger).await;
        // After the last append nothing is left that could fail.
        assert!(died.is_err(), "at {at}");
        let before = stored(&store).await;
        let calls = ledger.lock().unwrap().clone();

        let store = store.restarted();
        let app = graph().checkpointer(Layered(store.clone()));
        let thread = app.thread(thread());
        // What died in this process holds a claim that is not this handle's: as after a crash, it is taken over.
        release(&store).await;
        let began = thread.state(None).await.unwrap().is_some();
        let state = if began {
            thread.resume(ledger.clone()).await.unwrap().done().unwrap()
        } else {
            run(&store, &ledger).await.unwrap()
        };
        assert_eq!(thread.state(None).await.unwrap(), Some(state.clone()));
        assert_eq!(told(state), want, "at {at}, stored: {kept}");
        for (what, count) in calls {
            let result = match what.split_once(' ') {
                Some(("step", rest)) => format!("step {}", rest.rsplit(' ').next().unwrap()),
                _ => what.clone(),
            };
            let now = ledger.lock().unwrap()[&what];
            assert!(now == count || !before.contains(&result), "{what} was done again");
        }
    }
}

/// Takes the thread from whoever holds it.
async fn release(store: &Crashing) {
    let store = store.inner().clone();
    let head = store.head(&thread()).await.unwrap();
    if let Some(head) = head.filter(|head| head.claim.is_some()) {
        let log = Log::new(store, thread());
        log.release(&head, AppendId(u128::MAX), Timestamp(0)).await.unwrap();
    }
}

/// Invariant 5: what a turn stores does not depend on how many came before.
#[tokio::test]
async fn storage_grows_with_what_is_said_and_reading_does_not() {
    let ledger = Ledger::default();
    let store = Crashing::new(usize::MAX, false);
    let graph = Graph::<S, Ledger>::builder("talk")
        .node("work", work)
        .edge(START, "work")
        .edge("work", END)
        .build()
        .unwrap();
    let app = graph.checkpointer(Layered(store.clone()));
    let mut sizes = Vec::new();
    let turns = shortened(600);
    for turn in 1..=turns {
        let update = S::update().message("x".repeat(200));
        app.thread(thread()).invoke(update, ledger.clone()).await.unwrap();
        if turn == turns / 2 || turn == turns {
            let page = store.history(&thread(), None, usize::MAX).await.unwrap();
            let records = page.unwrap().records;
            sizes.push(records.iter().map(|record| record.bytes.len()).sum::<usize>());
        }
        tokio::task::yield_now().await;
    }
    assert!(sizes[1] < sizes[0] * 2 + sizes[0] / 20, "{sizes:?}");
    let opened = app.thread(thread()).log().open(None).await.unwrap().unwrap();
    let (snapshot, since) = opened.sizes;
    let read = snapshot + since;
    assert!(read <= 3 * opened.fold.size(), "{read} bytes of {}", opened.fold.size());
    let alone = store.open(&thread(), None, Snapshots::Ignore).await.unwrap().unwrap();
    assert!(alone.records.len() > 3 * turns);
    let state = app.thread(thread()).state(None).await.unwrap().unwrap();
    assert_eq!((state.messages.len(), state.log.len()), (2 * turns, turns));
    let fold = opened.fold.run(&Namespace::root()).unwrap().fields.to_string();
    assert!(fold.len() > turns * 200);
}

/// P15: a run that is dropped after any number of polls leaves a thread that goes on to the same end.
#[tokio::test]
async fn a_run_that_is_dropped_at_any_await_is_finished_by_the_next() {
    let quiet = Crashing::new(usize::MAX, false);
    let want = told(run(&quiet, &Ledger::default()).await.unwrap());
    let mut all = 0;
    let mut running =
        Box::pin(async { run(&Crashing::new(usize::MAX, false), &Ledger::default()).await });
    while !futures::poll!(running.as_mut()).is_ready() {
        all += 1;
        tokio::task::yield_now().await;
    }
    assert!(all > 20, "{all}");
    for polls in sampled(0..=all + 1) {
        let (store, ledger) = (Crashing::new(usize::MAX, false), Ledger::default());
        let thread = graph().checkpointer(Layered(store.clone())).thread(thread());
        let mut running = Box::pin(thread.invoke(S::update().message("go"), ledger.clone()));
        for _ in 0..polls {
            if futures::poll!(running.as_mut()).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(running);
        let state = match thread.resume(ledger.clone()).await {
            Err(RunError::NoSuchThread(_)) => {
                thread.invoke(S::update().message("go"), ledger).await
            }
            resumed => resumed,
        };
        assert_eq!(told(state.unwrap().done().unwrap()), want, "dropped after {polls} polls");
    }
}

/// Invariant 5, within one run: where little stays of what is said, snapshots bound what is read, and cost less than what
/// is said; where all of it stays, there are none.
#[tokio::test]
async fn snapshots_cost_less_than_what_is_said_and_are_written_where_they_help() {
    /// One message in so many stays.
    async fn say(state: Snapshot<S>, one_in: Context<u32>) -> Result<SUpdate, BoxError> {
        let id = (state.n / one_in.services()).to_string();
        let message = Message::user("x".repeat(2_000)).with_id(id);
        Ok(S::update().n(state.n + 1).message(message))
    }
    let graph = Graph::<S, u32>::builder("long")
        .node("say", say)
        .edge(START, "say")
        .branch("say", |s: &S| if s.n < 1_000 { "say" } else { END }, ["say", END])
        .recursion_limit(2_000)
        .build()
        .unwrap();
    for (one_in, stay) in [(1, 1_000), (4, 250), (1_000, 1)] {
        let store = Crashing::new(usize::MAX, false);
        let thread = graph.checkpointer(Layered(store.clone())).thread(thread());
        let state = thread.invoke(S::update(), one_in).await.unwrap().done().unwrap();
        assert_eq!(state.messages.len(), stay);
        let page = store.history(thread.key(), None, usize::MAX).await.unwrap();
        let records = page.unwrap().records;
        let said: usize = records.iter().map(|record| record.bytes.len()).sum();
        let snapshots = store.snapshots.load(Ordering::SeqCst);
        assert!(snapshots <= said, "{snapshots} bytes of snapshots, {said} said");
        assert_eq!(snapshots > 0, one_in > 1);
        let opened = thread.log().open(None).await.unwrap().unwrap();
        let (state, read) = (opened.fold.size(), opened.sizes.0 + opened.sizes.1);
        assert!(read <= 3 * state.max(64 * 1024), "{read} bytes are read of {state}");
    }
}
