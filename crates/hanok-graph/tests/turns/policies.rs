//! What becomes of a new input for a thread that runs or waits, in this process and in others.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use hanok_checkpoint::{CheckpointError, Checkpointer, Opened, SharedCheckpointer, Snapshots};
use hanok_core::{Cancellation, Position, ThreadKey};
use hanok_graph::{
    BoxError, Context, END, Graph, NewInput, Outcome, RunError, START, Snapshot, Unfinished,
};
use hanok_state::State;
use hanok_testkit::{Layer, Layered, sampled};
use tokio::time::sleep;

use crate::asking::{
    Ledger, S, SUpdate, app, asked, built, dying::Dying, key, kinds, log, memory, says, thread,
    work,
};

const MS: Duration = Duration::from_millis(1);

/// A node that takes a while and says how many messages there were.
async fn slow(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("starts");
    cx.runtime().clock.sleep(100 * MS).await;
    cx.services().note("ends");
    Ok(says(format!("after {}", state.messages.len())))
}

fn slowly() -> Graph<S, Ledger> {
    let graph = Graph::builder("slowly").node("first", work).node("slow", slow);
    built(graph.edge(START, "first").edge("first", "slow").edge("slow", END))
}

fn texts(state: &S) -> Vec<String> {
    state.messages.iter().map(|message| message.text().into_owned()).collect()
}

/// B76, P10: rejected, a second input runs nothing and stores nothing; it is not lost silently.
#[tokio::test(start_paused = true)]
async fn a_rejected_input_runs_nothing_and_stores_nothing() {
    for same in [true, false] {
        let (graph, store, ledger) = (slowly(), memory(), Ledger::default());
        let one = app(&graph, &store);
        let two = if same { one.clone() } else { app(&graph, &store) };
        let (one, two) = (one.thread(key("t")), two.thread(key("t")));
        let first = one.invoke(S::update().message("one"), ledger.clone());
        let second = async {
            sleep(50 * MS).await;
            let before = kinds(&two).await;
            let error = two.invoke(S::update().message("two"), ledger.clone()).await.unwrap_err();
            assert!(matches!(error, RunError::Conflict { holder: Some(_), .. }), "{error}");
            for error in [
                two.resume(ledger.clone()).await.unwrap_err(),
                two.reply("x", ledger.clone()).await.unwrap_err(),
            ] {
                let typed = matches!(error, RunError::Conflict { .. } | RunError::NothingAsked(_));
                assert!(typed, "{error}");
            }
            assert_eq!(kinds(&two).await, before);
        };
        let (first, ()) = tokio::join!(first, second);
        let state = first.unwrap().done().unwrap();
        assert_eq!((texts(&state), log(&state)), (vec!["one".into()], vec!["first", "after 1"]));
        assert_eq!(ledger.counts(["first", "starts", "ends"]), [1, 1, 1]);
    }
}

/// B76: queued inputs of one process run one after the other, in the order in which they came, and none is lost.
#[tokio::test(start_paused = true)]
async fn queued_inputs_run_in_the_order_in_which_they_came() {
    let (graph, store, ledger) = (slowly(), memory(), Ledger::default());
    let one = app(&graph, &store);
    let runs = (0..5u64).map(|n| {
        let (thread, ledger) = (one.thread(key("t")).new_input(NewInput::Queue), ledger.clone());
        async move {
            sleep(Duration::from_millis(n * 10)).await;
            thread.invoke(S::update().message(n.to_string()), ledger).await.unwrap().done().unwrap()
        }
    });
    let states = futures::future::join_all(runs).await;
    let lengths: Vec<_> = states.iter().map(|state| state.messages.len()).collect();
    assert_eq!(lengths, [1, 2, 3, 4, 5]);
    assert_eq!(texts(&states[4]), ["0", "1", "2", "3", "4"]);
    let after: Vec<_> =
        log(&states[4]).into_iter().filter(|line| line.starts_with("after")).collect();
    assert_eq!(after, ["after 1", "after 2", "after 3", "after 4", "after 5"]);
    assert_eq!(one.running(), 0);
}

/// B76: a queued input waits for a run of another process too.
#[tokio::test(start_paused = true)]
async fn a_queued_input_waits_for_another_process() {
    let (graph, store, ledger) = (slowly(), memory(), Ledger::default());
    let (one, two) = (app(&graph, &store), app(&graph, &store));
    let (one, two) = (one.thread(key("t")), two.thread(key("t")).new_input(NewInput::Queue));
    let late = async {
        sleep(10 * MS).await;
        two.invoke(S::update().message("two"), ledger.clone()).await
    };
    let first = one.invoke(S::update().message("one"), ledger.clone());
    let (first, second) = tokio::join!(first, late);
    assert_eq!(log(&first.unwrap().done().unwrap()), ["first", "after 1"]);
    let state = second.unwrap().done().unwrap();
    assert_eq!(log(&state), ["first", "after 1", "first", "after 2"]);
}

/// B68: a queued input waits until a person has answered, and then runs; while it waits nobody is kept from answering in
/// another process.
#[tokio::test(start_paused = true)]
async fn a_queued_input_waits_until_a_person_has_answered() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        if cx.services().note("ask") > 2 {
            return Ok(says("no question"));
        }
        Ok(says(cx.interrupt::<String>("well?").await?))
    }
    let graph = Graph::builder("asks").node("ask", ask).edge(START, "ask").edge("ask", END);
    let (graph, store, ledger) = (built(graph), memory(), Ledger::default());
    asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let queued = thread(&graph, &store).new_input(NewInput::Queue);
    let second = queued.invoke(S::update().message("two"), ledger.clone());
    let answered = async {
        sleep(Duration::from_secs(3600)).await;
        thread(&graph, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap()
    };
    let (second, first) = tokio::join!(second, answered);
    assert_eq!((log(&first), first.messages.len()), (vec!["yes"], 0));
    let state = second.unwrap().done().unwrap();
    assert_eq!((log(&state), texts(&state)), (vec!["yes", "no question"], vec!["two".into()]));

    // One that is cancelled, or dropped, stops waiting and has left nothing.
    let ledger = Ledger::default();
    asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let before = kinds(&queued).await;
    let stop = Cancellation::default();
    let cancelled = queued.clone().cancellation(stop.clone());
    let (ended, ()) = tokio::join!(cancelled.invoke(says("lost"), ledger.clone()), async {
        sleep(10_000 * MS).await;
        stop.cancel();
    });
    assert!(matches!(
        ended.unwrap_err(),
        RunError::Unfinished { why: Unfinished::Interrupted(_), .. }
    ));
    let dropped = queued.invoke(says("lost"), ledger.clone());
    tokio::time::timeout(10_000 * MS, dropped).await.unwrap_err();
    assert_eq!(kinds(&queued).await, before);
}

/// B76: one that is dropped while it waits for its process's own run leaves no trace, and holds nobody up.
#[tokio::test(start_paused = true)]
async fn a_queued_input_that_is_dropped_holds_nobody_up() {
    let (graph, store, ledger) = (slowly(), memory(), Ledger::default());
    let one = app(&graph, &store);
    let thread = one.thread(key("t")).new_input(NewInput::Queue);
    let first = thread.invoke(S::update().message("one"), ledger.clone());
    let dropped = async {
        let waits = thread.invoke(S::update().message("dropped"), ledger.clone());
        tokio::time::timeout(50 * MS, waits).await.unwrap_err();
    };
    let third = async {
        sleep(20 * MS).await;
        thread.invoke(S::update().message("three"), ledger.clone()).await
    };
    let (first, (), third) = tokio::join!(first, dropped, third);
    first.unwrap().done().unwrap();
    assert_eq!(texts(&third.unwrap().done().unwrap()), ["one", "three"]);
    assert_eq!((one.running(), ledger.of("ends")), (0, 2));
}

/// P10, B68: replacing cancels the run, in this process and in another; what it committed stays, what it was about to
/// write does not, and the new turn begins at the beginning.
#[tokio::test(start_paused = true)]
async fn a_replacing_input_takes_the_place_of_the_run() {
    for same in [true, false] {
        let (graph, store, ledger) = (slowly(), memory(), Ledger::default());
        let one = app(&graph, &store);
        let two = if same { one.clone() } else { app(&graph, &store) };
        let two = two.thread(key("t")).new_input(NewInput::Replace);
        let one = one.thread(key("t"));
        let late = async {
            sleep(50 * MS).await;
            two.invoke(S::update().message("two"), ledger.clone()).await
        };
        let run = one.invoke(S::update().message("one"), ledger.clone());
        let (first, second) = tokio::join!(run, late);
        // Told that it had begun, and up to where it is stored: its input, and the first super-step.
        let error = first.unwrap_err();
        assert!(matches!(error, RunError::Superseded { .. }), "same: {same}: {error}");
        let RunError::Superseded { stored, .. } = error else { continue };
        assert!(stored >= Position(2), "same: {same}: {stored}");
        let state = second.unwrap().done().unwrap();
        assert_eq!(texts(&state), ["one", "two"]);
        assert_eq!(log(&state), ["first", "first", "after 2"]);
        assert_eq!(one.state(None).await.unwrap().unwrap(), state);
        assert_eq!(ledger.of("first"), 2);
    }
}

/// P10: a run that never rests is replaced too: an append of its that comes first is no reason to refuse.
#[tokio::test]
async fn a_replacing_input_does_not_lose_against_a_busy_run() {
    async fn busy(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        // Bursts of writes, and a moment between them.
        let moment = if cx.services().note("busy").is_multiple_of(10) { 20 } else { 1 };
        for _ in 0..moment {
            tokio::task::yield_now().await;
        }
        Ok(S::update().n(state.n + 1))
    }
    let graph = Graph::builder("busy").node("busy", busy).edge(START, "busy");
    let router = |s: &S| if s.n.is_multiple_of(1_000) { END } else { "busy" };
    let graph = built(graph.branch("busy", router, ["busy", END]).recursion_limit(10_000));
    for slow in sampled(0..8) {
        let (store, ledger) = (memory(), Ledger::default());
        let late = Dying::late(&store, slow).shared();
        let one = thread(&graph, &store);
        let two = thread(&graph, &late).new_input(NewInput::Replace);
        let replacing = async {
            while ledger.of("busy") < 23 {
                tokio::task::yield_now().await;
            }
            two.invoke(S::update().n(500), ledger.clone()).await
        };
        let run = one.invoke(S::update(), ledger.clone());
        let (first, second) = tokio::join!(run, replacing);
        assert!(matches!(first.unwrap_err(), RunError::Superseded { .. }), "{slow}");
        assert_eq!(second.unwrap().done().unwrap().n, 1_000, "{slow}");
    }
}

/// P10: an input whose run lost its thread to a replacing one is in the log once, whatever its own policy.
#[tokio::test(start_paused = true)]
async fn an_input_whose_run_was_replaced_is_not_given_again() {
    for policy in [NewInput::Queue, NewInput::Replace] {
        let (graph, store, ledger) = (slowly(), memory(), Ledger::default());
        let one = thread(&graph, &store).new_input(policy);
        let two = thread(&graph, &store).new_input(NewInput::Replace);
        let late = async {
            sleep(50 * MS).await;
            two.invoke(S::update().message("two"), ledger.clone()).await
        };
        let run = one.invoke(S::update().message("one"), ledger.clone());
        let (first, second) = tokio::join!(run, late);
        assert!(matches!(first.unwrap_err(), RunError::Superseded { .. }));
        assert_eq!(texts(&second.unwrap().done().unwrap()), ["one", "two"]);
        let state = one.state(None).await.unwrap().unwrap();
        assert_eq!(texts(&state), ["one", "two"], "{policy:?}");
        assert_eq!(ledger.of("first"), 2);
    }
}

/// P10: of three inputs of one process, the last replaces the one that replaced the first, whether that has begun or not;
/// and who is told `Superseded` finds its input in the state.
#[tokio::test(start_paused = true)]
async fn a_replacement_is_replaced_by_a_later_one() {
    for gap in [0, 50] {
        let (graph, store, ledger) = (slowly(), memory(), Ledger::default());
        let one = thread(&graph, &store);
        let replacing = one.clone().new_input(NewInput::Replace);
        let later = async |after: u32, text: &str| {
            sleep(after * MS).await;
            replacing.invoke(S::update().message(text), ledger.clone()).await
        };
        let run = one.invoke(S::update().message("one"), ledger.clone());
        let (first, second, third) = tokio::join!(run, later(50, "two"), later(50 + gap, "three"));
        for replaced in [first, second] {
            let error = replaced.unwrap_err();
            assert!(matches!(error, RunError::Superseded { .. }), "{gap}: {error}");
        }
        assert_eq!(texts(&third.unwrap().done().unwrap()), ["one", "two", "three"], "{gap}");
        // Only the last input's slow node came to its end.
        assert_eq!(ledger.of("ends"), 1, "{gap}");
    }
}

/// B68, B70: what a turn left undone when it failed, was cancelled or came to its limit is over with the next input, and
/// what it committed stays.
#[tokio::test]
async fn a_new_input_after_a_failed_turn_begins_anew() {
    let graph = Graph::builder("chain").node("a", work).node("b", work).edge(START, "a");
    let graph = built(graph.edge("a", "b").edge("b", END));
    let (store, ledger) = (memory(), Ledger::default());
    ledger.fail(&["b"]);
    thread(&graph, &store).invoke(says("one"), ledger.clone()).await.unwrap_err();
    ledger.fail(&[]);
    let limited = thread(&graph, &store).recursion_limit(1);
    let outcome = limited.invoke(says("two"), ledger.clone()).await.unwrap();
    assert!(matches!(outcome, Outcome::LimitReached { .. }));
    let state = thread(&graph, &store).invoke(says("three"), ledger.clone()).await.unwrap();
    assert_eq!(log(&state.done().unwrap()), ["one", "a", "two", "a", "three", "a", "b"]);
    assert_eq!(ledger.counts(["a", "b"]), [3, 2]);
}

/// Counts how often the log is read.
#[derive(Debug)]
struct Reads {
    store: SharedCheckpointer,
    count: Arc<AtomicUsize>,
}

impl Layer for Reads {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn open(
        &self,
        thread: &ThreadKey,
        at: Option<Position>,
        snapshots: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.store.open(thread, at, snapshots).await
    }
}

/// B76: an input that waits behind a person reads the thread when something has changed, not all the time.
#[tokio::test(start_paused = true)]
async fn a_queued_input_does_not_read_the_thread_while_it_waits() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("well?").await?))
    }
    let graph = built(Graph::builder("asks").node("ask", ask).edge(START, "ask").edge("ask", END));
    let (store, count, ledger) = (memory(), Arc::new(AtomicUsize::new(0)), Ledger::default());
    let counted =
        SharedCheckpointer::new(Layered(Reads { store: store.clone(), count: count.clone() }));
    asked(thread(&graph, &store).invoke(S::update(), ledger.clone()).await);
    let queued = thread(&graph, &counted).new_input(NewInput::Queue);
    let queued = tokio::spawn({
        let ledger = ledger.clone();
        async move { queued.invoke(says("queued"), ledger).await }
    });
    sleep(Duration::from_secs(600)).await;
    // Ever more rarely, for a store may have answered with what was.
    assert!(count.load(Ordering::SeqCst) <= 12, "{count:?}");
    // Its turn comes when the person has answered, and it asks anew.
    thread(&graph, &store).reply("yes", ledger.clone()).await.unwrap().done().unwrap();
    asked(queued.await.unwrap());
    let state = thread(&graph, &store).reply("no", ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&state), ["yes", "queued", "no"]);
    assert!(count.load(Ordering::SeqCst) <= 15, "{count:?}");
}

/// B76: nor does one that waits behind a run of another process, however often that stores something.
#[tokio::test(start_paused = true)]
async fn a_queued_input_does_not_read_the_thread_while_another_process_runs_it() {
    async fn ten(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.runtime().clock.sleep(200 * MS).await;
        Ok(S::update().n(state.n + 1))
    }
    let more = |state: &S| if state.n.is_multiple_of(30) { END } else { "ten" };
    let graph = Graph::builder("ten").node("ten", ten).edge(START, "ten");
    let graph = built(graph.branch("ten", more, ["ten", END]));
    let (store, count, ledger) = (memory(), Arc::new(AtomicUsize::new(0)), Ledger::default());
    let reads = Reads { store: store.clone(), count: count.clone() };
    let counted = SharedCheckpointer::new(Layered(reads));
    let (first, second) = (thread(&graph, &store), thread(&graph, &counted));
    let second = second.new_input(NewInput::Queue);
    let (first, second) = tokio::join!(first.invoke(says("one"), ledger.clone()), async {
        sleep(100 * MS).await;
        second.invoke(says("two"), ledger.clone()).await
    });
    assert_eq!(log(&first.unwrap().done().unwrap()), ["one"]);
    let state = second.unwrap().done().unwrap();
    assert_eq!((log(&state), state.n), (vec!["one", "two"], 60));
    assert!(count.load(Ordering::SeqCst) <= 3, "{count:?}");
}
