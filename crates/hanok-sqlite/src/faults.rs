//! Turns in whose middle the file takes no more writes: it is full, may not be written, or somebody else has it locked.
//!
//! The faults are set on the store's own connection, so that they are there on every system and for every user.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use hanok_checkpoint::{CheckpointError, Checkpointer, LEASE, Log, SharedCheckpointer};
use hanok_core::{BoxFuture, Chain, Clock, Tenant, ThreadKey, Timestamp};
use hanok_graph::{
    App, BoxError, Context, Doubt, Durability, END, Graph, Outcome, Resolution, RunError, Runtime,
    START, Snapshot,
};
use hanok_state::{List, State};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::{Sqlite, file::database::Database};

/// Larger than a page, so that a full file has no room for it.
const LARGE: usize = 20_000;

#[derive(State, Debug, Clone, Default, PartialEq)]
struct S {
    #[reduce(append)]
    said: List<String>,
}

/// Why the file takes no more writes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    Full,
    ReadOnly,
    Locked,
}

/// Where in the turn it begins.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Point {
    /// Before the intent of the payment is stored.
    Announcing,
    /// After the payment was made, and before its result is stored.
    Paying,
    /// After the result of the payment is stored, and before the update of its node is.
    Committing,
}

/// A file with a store, and the fault that it is to have.
struct Place {
    folder: TempDir,
    store: Sqlite,
    fault: Fault,
    point: Point,
    /// True until the fault begins.
    armed: AtomicBool,
    paid: AtomicU64,
    /// Another connection, which locks the file.
    other: std::sync::Mutex<Option<Connection>>,
}

impl Place {
    async fn new(fault: Fault, point: Point) -> Arc<Self> {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(folder.path().join("threads.db")).await.unwrap();
        let (armed, paid, other) = (false.into(), 0.into(), None.into());
        let place = Self { folder, store, fault, point, armed, paid, other };
        place.set(|it| it.connection().busy_timeout(Duration::from_millis(20)).unwrap()).await;
        Arc::new(place)
    }

    /// Sets something on the store's own connection.
    async fn set(&self, set: impl FnOnce(&mut Database) + Send + 'static) {
        let job = |database: &mut Database| {
            set(database);
            Ok(())
        };
        self.store.ask(job).await.unwrap();
    }

    /// The fault begins, if it is to begin at `point`.
    async fn reach(&self, point: Point) {
        if point != self.point || !self.armed.swap(false, Ordering::SeqCst) {
            return;
        }
        match self.fault {
            Fault::Full => {
                self.set(|it| {
                    let sql = "SELECT page_count FROM pragma_page_count";
                    let pages: u32 = it.connection().query_row(sql, (), |row| row.get(0)).unwrap();
                    it.connection().pragma_update(None, "max_page_count", pages).unwrap();
                })
                .await;
            }
            Fault::ReadOnly => {
                self.set(|it| it.connection().pragma_update(None, "query_only", true).unwrap())
                    .await;
            }
            Fault::Locked => {
                let other = Connection::open(self.folder.path().join("threads.db")).unwrap();
                other.execute_batch("BEGIN EXCLUSIVE").unwrap();
                *self.other.lock().unwrap() = Some(other);
            }
        }
    }

    /// The cause of the fault goes.
    async fn heal(&self) {
        self.other.lock().unwrap().take();
        self.set(|it| {
            it.connection().pragma_update(None, "max_page_count", 1_000_000).unwrap();
            it.connection().pragma_update(None, "query_only", false).unwrap();
        })
        .await;
    }

    fn is_told(&self, error: &CheckpointError) -> bool {
        match self.fault {
            Fault::Full => matches!(error, CheckpointError::Full(_)),
            Fault::ReadOnly => matches!(error, CheckpointError::Denied(_)),
            Fault::Locked => {
                matches!(error, CheckpointError::Unavailable { reason: "it is locked", .. })
            }
        }
    }
}

/// Says hello, in a super-step of its own.
async fn greet(_: Snapshot<S>, _: Context<Arc<Place>>) -> Result<SUpdate, BoxError> {
    Ok(S::update().push_said("hello"))
}

/// Pays once a turn. What it stores is large, each time.
async fn pay(_: Snapshot<S>, cx: Context<Arc<Place>>) -> Result<SUpdate, BoxError> {
    let place = cx.services().clone();
    place.reach(Point::Announcing).await;
    let arguments = format!("\"{}\"", "a".repeat(LARGE));
    let work = |_| {
        let place = place.clone();
        async move {
            let times = place.paid.fetch_add(1, Ordering::SeqCst) + 1;
            place.reach(Point::Paying).await;
            Ok::<_, BoxError>(format!("receipt {times} {}", "r".repeat(LARGE)))
        }
    };
    let receipt: String = cx.once("pay", &arguments, Doubt::Ask, work).await?;
    place.reach(Point::Committing).await;
    Ok(S::update().push_said(receipt))
}

/// A clock that is moved by hand.
#[derive(Debug, Default)]
struct ByHand(AtomicU64);

impl ByHand {
    fn pass(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_millis()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for ByHand {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

fn app(store: &Sqlite, clock: Arc<ByHand>, durability: Durability) -> App<S, Arc<Place>> {
    let runtime = Runtime { clock, ..Runtime::default() };
    let graph = Graph::builder("pays").runtime(runtime).node("greet", greet).node("pay", pay);
    let graph = graph.edge(START, "greet").edge("greet", "pay").edge("pay", END);
    graph.build().unwrap().checkpointer(store.clone()).durable(durability)
}

fn said(state: &S) -> Vec<&str> {
    state.said.iter().map(|said| said.split(" r").next().unwrap_or_default()).collect()
}

/// P4, P8: the second of two turns runs into the fault. It fails with the reason, the first is there, and once the cause is gone the thread
/// goes on from its log: in the same process at once, and in another one when the claim has expired or was given back.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_the_file_refuses_goes_on_when_the_cause_is_gone() {
    for fault in [Fault::Full, Fault::ReadOnly, Fault::Locked] {
        for point in [Point::Announcing, Point::Paying, Point::Committing] {
            for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
                for elsewhere in [false, true] {
                    goes_on(fault, point, durability, elsewhere).await;
                }
            }
        }
    }
}

async fn goes_on(fault: Fault, point: Point, durability: Durability, elsewhere: bool) {
    let case = format!("{fault:?} {point:?} {durability:?} elsewhere {elsewhere}");
    let place = Place::new(fault, point).await;
    let clock = Arc::new(ByHand::default());
    let key = ThreadKey::new(Tenant::default(), "t").unwrap();
    let here = app(&place.store, clock.clone(), durability);
    let thread = here.thread(key.clone());
    let first = thread.invoke(S::update(), place.clone()).await.unwrap().done().unwrap();
    assert_eq!(said(&first), ["hello", "receipt 1"], "{case}");

    place.armed.store(true, Ordering::SeqCst);
    let refused = thread.invoke(S::update(), place.clone()).await.unwrap_err();
    let mut causes = Chain(&refused).causes();
    let error = causes.find_map(|cause| cause.downcast_ref::<CheckpointError>());
    assert!(error.is_some_and(|error| place.is_told(error)), "{case}: {refused:?}");
    let made = if point == Point::Announcing { 1 } else { 2 };
    assert_eq!(place.paid.load(Ordering::SeqCst), made, "{case}");
    // Nothing that was acknowledged is lost, and it can be read meanwhile.
    let reader = Sqlite::open(place.folder.path().join("threads.db")).await.unwrap();
    if fault != Fault::Locked {
        let stored = thread.state(None).await.unwrap().unwrap();
        assert_eq!(said(&stored)[..2], ["hello", "receipt 1"], "{case}");
    }

    place.heal().await;
    let there = app(&reader, clock.clone(), durability);
    let thread = if elsewhere { there.thread(key.clone()) } else { thread };
    if elsewhere && place.store.head(&key).await.unwrap().unwrap().claim.is_some() {
        // What could not be given back is alive for as long as somebody may think so.
        let held = thread.resume(place.clone()).await.unwrap_err();
        assert!(matches!(held, RunError::Conflict { .. }), "{case}: {held:?}");
        clock.pass(LEASE);
    }
    // Whether the payment was made is known where its result was stored, which only `Sync` waits for.
    let known = match point {
        Point::Announcing => Some(true),
        Point::Paying => Some(false),
        Point::Committing => (durability == Durability::Sync).then_some(true),
    };
    let (state, receipt) = match thread.resume(place.clone()).await.unwrap() {
        Outcome::InDoubt(waiting) if known != Some(true) => {
            let made = Resolution::made(&"receipt by hand").unwrap();
            let settled = thread.settle(waiting.requests[0].id.clone(), made, place.clone()).await;
            (settled.unwrap().done().unwrap(), "receipt by hand")
        }
        Outcome::Done(state) if known != Some(false) => (state, "receipt 2"),
        outcome => panic!("{case}: {:?}", outcome.state().map(said)),
    };
    assert_eq!(said(&state), ["hello", "receipt 1", "hello", receipt], "{case}");
    assert_eq!(place.paid.load(Ordering::SeqCst), 2, "{case}");
    assert_eq!(thread.state(None).await.unwrap(), Some(state), "{case}");
    let third = thread.invoke(S::update(), place.clone()).await.unwrap().done().unwrap();
    assert_eq!(said(&third)[5], "receipt 3", "{case}");
    let log = Log::new(SharedCheckpointer::new(place.store.clone()), key);
    assert!(log.verify().await.unwrap().unwrap().is_whole(), "{case}");
}
