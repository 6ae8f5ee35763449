//! What others do to a thread between two calls of its store, and answers of a store that get lost.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use hanok_checkpoint::{
    Append, CheckpointError, Checkpointer, Head, Keep, Life, Opened, SharedCheckpointer, Snapshots,
    Trim,
};
use hanok_core::{BoxFuture, Position, RunId, ThreadKey};
use hanok_graph::{
    BoxError, Context, Doubt, Durability, END, Graph, Input, RunError, START, Snapshot,
};
use hanok_state::{Message, State};
use hanok_testkit::{Layer, Layered};

use crate::asking::{
    Ledger, S, SUpdate, app, built, clock, key, log, lost, memory, says, thread, work,
};

/// A call of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Open,
    Append,
    Trim,
    Delete,
}

/// A store in which something happens once, right before one of the calls of a kind goes through.
struct Between {
    store: SharedCheckpointer,
    call: Call,
    /// The number of calls of the kind that go through before.
    skip: AtomicUsize,
    then: Mutex<Option<BoxFuture<'static, ()>>>,
}

impl Between {
    /// `store`, in which `then` happens before the first `call`.
    fn of(
        store: &SharedCheckpointer,
        call: Call,
        then: impl Future<Output = ()> + Send + 'static,
    ) -> SharedCheckpointer {
        Self::of_nth(0, store, call, then)
    }

    /// `store`, in which `then` happens before the `nth` of the calls, counted from 0.
    fn of_nth(
        nth: usize,
        store: &SharedCheckpointer,
        call: Call,
        then: impl Future<Output = ()> + Send + 'static,
    ) -> SharedCheckpointer {
        let then: BoxFuture<'static, ()> = Box::pin(then);
        let (store, then) = (store.clone(), Mutex::new(Some(then)));
        SharedCheckpointer::new(Layered(Self { store, call, skip: AtomicUsize::new(nth), then }))
    }

    async fn now(&self, call: Call) {
        let less = |left: usize| left.checked_sub(1);
        let (take, see) = (Ordering::SeqCst, Ordering::SeqCst);
        if call == self.call && self.skip.fetch_update(take, see, less).is_err() {
            let then = self.then.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(then) = then {
                then.await;
            }
        }
    }
}

impl fmt::Debug for Between {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Between").field(&self.call).finish()
    }
}

impl Layer for Between {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        self.now(Call::Open).await;
        self.store.open(thread, at, snapshots).await
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        self.now(Call::Append).await;
        self.store.append(thread, append).await
    }

    async fn trim(&self, thread: &ThreadKey, trim: Trim) -> Result<(), CheckpointError> {
        self.now(Call::Trim).await;
        self.store.trim(thread, trim).await
    }

    async fn delete(
        &self,
        thread: &ThreadKey,
        expected: Option<&Head>,
    ) -> Result<bool, CheckpointError> {
        self.now(Call::Delete).await;
        self.store.delete(thread, expected).await
    }
}

/// Three nodes, one after the other.
fn chain() -> Graph<S, Ledger> {
    let graph = Graph::builder("chain").node("a", work).node("b", work).node("c", work);
    let graph = graph.edge(START, "a").edge("a", "b").edge("b", "c").edge("c", END);
    built(graph)
}

/// A thread of two turns, and where its first commit stands.
async fn two_turns(graph: &Graph<S, Ledger>, store: &SharedCheckpointer) -> Position {
    let on = thread(graph, store);
    for turn in ["one", "two"] {
        on.invoke(says(turn), Ledger::default()).await.unwrap();
    }
    let history = on.history(None, 99).await.unwrap();
    let commit = |kind: &str| kind == "commit";
    history.iter().rev().find(|entry| commit(entry.entry.body.kind().as_str())).unwrap().position
}

/// A cut is made where the thread leads through it: one that is rewound meanwhile keeps what it goes on from.
#[tokio::test]
async fn a_thread_that_is_rewound_while_it_is_cut_keeps_its_branch() {
    let (graph, store) = (chain(), memory());
    let first = two_turns(&graph, &store).await;
    let other = thread(&graph, &store);
    let between = Between::of(&store, Call::Trim, async move {
        other.rewind(first).await.unwrap();
    });
    thread(&graph, &between).log().prune(Keep::Newest).await.unwrap();
    let on = thread(&graph, &store);
    assert_eq!(log(&on.state(None).await.unwrap().unwrap()), ["one", "a"]);
    assert!(on.log().verify().await.unwrap().unwrap().is_whole());
    let done = on.resume(Ledger::default()).await.unwrap().done().unwrap();
    assert_eq!(log(&done), ["one", "a", "b", "c"]);
}

/// A rewind to what is cut off meanwhile is refused, and the thread goes on where it was.
#[tokio::test]
async fn a_rewind_to_what_is_cut_off_meanwhile_changes_nothing() {
    let (graph, store) = (chain(), memory());
    let first = two_turns(&graph, &store).await;
    let before = thread(&graph, &store).state(None).await.unwrap().unwrap();
    let other = thread(&graph, &store);
    let between = Between::of(&store, Call::Append, async move {
        other.log().prune(Keep::Newest).await.unwrap().unwrap();
    });
    let error = thread(&graph, &between).rewind(first).await.unwrap_err();
    let pruned = matches!(
        &error,
        RunError::Checkpoint(CheckpointError::Pruned { position, .. }) if *position == first
    );
    assert!(pruned, "{error:?}");
    let on = thread(&graph, &store);
    assert_eq!(on.state(None).await.unwrap().unwrap(), before);
    assert!(on.log().verify().await.unwrap().unwrap().is_whole());
}

/// A run or an edit that goes back to what is cut off meanwhile is refused too, and leaves the thread where it was, and free.
#[tokio::test]
async fn a_run_that_goes_back_to_what_is_cut_off_meanwhile_changes_nothing() {
    for edits in [false, true] {
        let (graph, store) = (chain(), memory());
        let first = two_turns(&graph, &store).await;
        let before = thread(&graph, &store).state(None).await.unwrap().unwrap();
        let other = thread(&graph, &store);
        let between = Between::of(&store, Call::Append, async move {
            other.log().prune(Keep::Newest).await.unwrap().unwrap();
        });
        let on = thread(&graph, &between).at(first);
        let error = match edits {
            true => on.edit(says("late")).await.unwrap_err(),
            false => on.invoke(says("late"), Ledger::default()).await.unwrap_err(),
        };
        let pruned = matches!(&error, RunError::Checkpoint(CheckpointError::Pruned { .. }));
        assert!(pruned, "{error:?}");
        let on = thread(&graph, &store);
        assert_eq!(on.state(None).await.unwrap().unwrap(), before);
        assert!(on.log().verify().await.unwrap().unwrap().is_whole());
        on.invoke(says("three"), Ledger::default()).await.unwrap().done().unwrap();
    }
}

/// Two that begin a run of one name begin it once, also where one of them first finishes what a lost run has left.
#[tokio::test]
async fn a_run_that_is_named_begins_once_while_another_finishes_what_is_left() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    ledger.hang(&["b"]);
    let on = thread(&graph, &store);
    let hanging = on.try_stream(Input::New(says("one")), ledger.clone()).await.unwrap();
    while ledger.of("b") == 0 {
        tokio::task::yield_now().await;
    }
    lost(&store, &key("t")).await;
    ledger.hang(&[]);
    let named = |store| thread(&graph, store).run_id(RunId(7), Position::START);
    let first = named(&store);
    let begins = ledger.clone();
    // Before the thread is read again, whose turn was finished.
    let between = Between::of_nth(1, &store, Call::Open, async move {
        first.invoke(says("two"), begins).await.unwrap().done().unwrap();
    });
    let refused = named(&between).invoke(says("two"), ledger.clone()).await.unwrap_err();
    assert!(matches!(refused, RunError::Conflict { .. }), "{refused:?}");
    let done = named(&between).invoke(says("two"), ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&done), ["one", "a", "b", "c", "two", "a", "b", "c"]);
    drop(hanging);
}

/// A run is cancelled whose thread somebody moves between the taking of its claim and its end.
#[tokio::test]
async fn a_cancelled_run_is_ended_though_the_thread_moves_meanwhile() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    ledger.hang(&["b"]);
    let on = thread(&graph, &store);
    let hanging = on.try_stream(Input::New(says("one")), ledger.clone()).await.unwrap();
    while ledger.of("b") == 0 {
        tokio::task::yield_now().await;
    }
    let other = thread(&graph, &store);
    let between = Between::of_nth(1, &store, Call::Append, async move {
        other.edit(says("by hand")).await.unwrap();
    });
    assert!(thread(&graph, &between).cancel().await.unwrap());
    let last = on.history(None, 1).await.unwrap();
    assert_eq!(last[0].entry.body.kind().as_str(), "end");
    assert_eq!(log(&on.state(None).await.unwrap().unwrap()), ["one", "a", "by hand"]);
    drop(hanging);
}

/// A thread that is used while the threads whose time is over are removed stays.
#[tokio::test(start_paused = true)]
async fn a_thread_that_is_used_meanwhile_is_not_swept() {
    let (graph, store) = (chain(), memory());
    let hour = Duration::from_secs(3_600);
    let kept = || app(&graph, &store).keep_for(hour);
    for name in ["used", "left"] {
        kept().thread(key(name)).invoke(says(name), Ledger::default()).await.unwrap();
    }
    tokio::time::sleep(2 * hour).await;
    let used = kept().thread(key("used"));
    let between = Between::of(&store, Call::Delete, async move {
        used.invoke(says("again"), Ledger::default()).await.unwrap();
    });
    // Whichever comes first: both were listed before the one was used.
    let swept = app(&graph, &between).sweep().await.unwrap();
    assert_eq!(swept, [key("left")]);
    let used = app(&graph, &store).thread(key("used")).state(None).await.unwrap().unwrap();
    assert_eq!(used.log.len(), 8, "{:?} at {:?}", used.log, clock::now());
}

/// A store of which one append goes wrong.
#[derive(Debug)]
struct Fails {
    store: SharedCheckpointer,
    /// The append that fails, counted from 0.
    nth: usize,
    /// Whether it is stored all the same.
    is_stored: bool,
    appends: Mutex<usize>,
}

impl Layer for Fails {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn append(&self, thread: &ThreadKey, append: Append) -> Result<(), CheckpointError> {
        let nth = {
            let mut appends = self.appends.lock().unwrap_or_else(PoisonError::into_inner);
            *appends += 1;
            *appends - 1
        };
        if nth != self.nth {
            return self.store.append(thread, append).await;
        }
        if self.is_stored {
            self.store.append(thread, append).await?;
        }
        let source = "the test says so".into();
        Err(CheckpointError::Unavailable { reason: "the answer is lost", source })
    }
}

fn failing(store: &SharedCheckpointer, nth: usize, is_stored: bool) -> SharedCheckpointer {
    let (store, appends) = (store.clone(), Mutex::new(0));
    SharedCheckpointer::new(Layered(Fails { store, nth, is_stored, appends }))
}

/// P2, P10: a run whose node lost the answer to an append that was stored knows where its log is: it says how it ended, gives
/// its thread back, and the next one does not do again what is stored.
#[tokio::test]
async fn a_run_whose_answer_was_lost_gives_its_thread_back() {
    async fn steps(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        for name in ["one", "two"] {
            cx.step(name, async || Ok::<_, BoxError>(cx.services().note(name))).await?;
        }
        Ok(says("done"))
    }
    let graph = Graph::builder("steps").node("a", steps).edge(START, "a").edge("a", END);
    let graph = built(graph);
    // The first append begins the run, and each step is one.
    for nth in [1, 2] {
        let (store, ledger) = (memory(), Ledger::default());
        let one = thread(&graph, &failing(&store, nth, true));
        let error = one.invoke(says("begun"), ledger.clone()).await.unwrap_err();
        assert!(matches!(error, RunError::Node { .. }), "{error:?}");
        let head = store.head(&key("t")).await.unwrap().unwrap();
        assert_eq!(head.claim, None, "append {nth}");
        let done = thread(&graph, &store).resume(ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&done), ["begun", "done"]);
        assert_eq!(ledger.counts(["one", "two"]), [1; 2], "append {nth}");
    }
}

/// P3: what waits for the end of a run is stored there although it could not be stored before a call that needed it to be.
#[tokio::test]
async fn what_could_not_be_stored_before_a_call_is_stored_at_the_end() {
    async fn pay(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let call = async |_| {
            cx.services().note("paid");
            Ok::<_, BoxError>("paid".to_owned())
        };
        Ok(says(cx.once("pay", "{}", Doubt::Ask, call).await?))
    }
    let graph = Graph::builder("paying").node("a", work).node("pay", pay).edge(START, "a");
    let graph = built(graph.edge("a", "pay").edge("pay", END));
    let (store, ledger) = (memory(), Ledger::default());
    // The first append begins the run; the second one has to be there before the call.
    let late = app(&graph, &failing(&store, 1, false)).durable(Durability::Exit);
    late.thread(key("t")).invoke(says("one"), ledger.clone()).await.unwrap_err();
    assert_eq!(ledger.counts(["a", "paid"]), [1, 0]);
    let on = app(&graph, &store).durable(Durability::Exit).thread(key("t"));
    assert_eq!(log(&on.state(None).await.unwrap().unwrap()), ["one", "a"]);
    let done = on.resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&done), ["one", "a", "paid"]);
    assert_eq!(ledger.counts(["a", "paid"]), [1, 1]);
}

/// A store that notes the snapshots of positions that it does not have.
#[derive(Debug, Clone)]
struct Noting {
    store: SharedCheckpointer,
    above: Arc<Mutex<Vec<Position>>>,
}

impl Default for Noting {
    fn default() -> Self {
        Self { store: memory(), above: Arc::default() }
    }
}

impl Layer for Noting {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn put_snapshot(
        &self,
        thread: &ThreadKey,
        life: Life,
        position: Position,
        snapshot: Bytes,
    ) -> Result<(), CheckpointError> {
        let head = self.store.head(thread).await?;
        if head.is_none_or(|head| head.position < position) {
            self.above.lock().unwrap_or_else(PoisonError::into_inner).push(position);
        }
        self.store.put_snapshot(thread, life, position, snapshot).await
    }
}

/// Invariant 5: where a run is stored at its end, a snapshot holds nothing that waits for it: of a run that is lost nothing is
/// read, and the next one does all of it.
#[tokio::test]
async fn a_snapshot_holds_nothing_that_is_not_stored() {
    /// One message, written anew each time: of much that is said little stays, so that snapshots are worth it.
    async fn say(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        if cx.services().note("said") == 35 {
            std::future::pending::<()>().await;
        }
        let message = Message::user("x".repeat(50_000)).with_id("0");
        Ok(S::update().n(state.n + 1).message(message))
    }
    let graph = Graph::builder("long").node("say", say).edge(START, "say");
    let to = |s: &S| if s.n.is_multiple_of(10) { END } else { "say" };
    let (graph, noting) = (built(graph.branch("say", to, ["say", END])), Noting::default());
    let store = SharedCheckpointer::new(Layered(noting.clone()));
    let (on, ledger) = (|| app(&graph, &store).durable(Durability::Exit), Ledger::default());
    // So much that the next run begins with a log that is worth a snapshot.
    for turn in 1..=3 {
        let done = on().thread(key("t")).invoke(S::update(), ledger.clone()).await.unwrap();
        assert_eq!(done.done().unwrap().n, 10 * turn);
    }
    let (one, told) = (on(), ledger.clone());
    let run = tokio::spawn(async move { one.thread(key("t")).invoke(S::update(), told).await });
    while ledger.of("said") < 35 {
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    run.abort();
    run.await.unwrap_err();
    assert_eq!(on().thread(key("t")).state(None).await.unwrap().unwrap().n, 30);
    lost(&store, &key("t")).await;
    let done = on().thread(key("t")).resume(ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!((done.n, ledger.of("said")), (40, 45));
    let above = noting.above.lock().unwrap();
    assert!(above.is_empty(), "snapshots of what is not stored: {above:?}");
}
