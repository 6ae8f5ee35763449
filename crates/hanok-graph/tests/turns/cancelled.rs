//! Runs that are cancelled, in this process and in others.

use hanok_checkpoint::{Body, End, RunEnd};
use hanok_core::{Answerer, Position, RunId};
use hanok_graph::{END, Event, EventKind, Graph, Input, Outcome, RunError, START, Thread};

use crate::asking::{
    Ledger, S, app, built, entries, key, kinds, log, lost, memory, says, thread, work,
};

fn chain() -> Graph<S, Ledger> {
    let graph = Graph::builder("chain").node("a", work).node("b", work);
    built(graph.sequence([START, "a", "b", END]))
}

fn ann() -> Answerer {
    Answerer::new("ann", "test")
}

async fn end(thread: &Thread<S, Ledger>) -> End {
    match entries(thread).await.pop().unwrap().entry.body {
        Body::End(end) => end,
        other => panic!("{other:?}"),
    }
}

/// Begins a turn that hangs in `b`.
async fn hanging(on: &Thread<S, Ledger>, ledger: &Ledger) -> hanok_graph::Events<S> {
    ledger.hang(&["b"]);
    let events = on.try_stream(Input::New(says("hello")), ledger.clone()).await.unwrap();
    while ledger.of("b") == 0 {
        tokio::task::yield_now().await;
    }
    events
}

/// A run is cancelled where it runs, and the log says by whom.
#[tokio::test]
async fn a_run_of_this_process_is_cancelled_by_whoever_said_so_first() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let here = app(&graph, &store);
    let on = here.thread(key("t"));
    assert!(!on.cancel().await.unwrap());
    let events = hanging(&on, &ledger).await;
    assert!(on.clone().answering_as(ann()).cancel().await.unwrap());
    on.clone().answering_as(Answerer::new("bob", "test")).cancel().await.unwrap();
    let ends = |event: Event| match event.kind {
        EventKind::Ended { outcome, by, .. } => Some((outcome, by)),
        _ => None,
    };
    let told: Vec<_> = futures::StreamExt::collect::<Vec<_>>(events).await;
    let told: Vec<_> = told.into_iter().filter_map(ends).collect();
    assert_eq!(told, [(RunEnd::Cancelled, Some(ann()))]);
    let stored: Vec<_> = on.events(None).await.unwrap().into_iter().filter_map(ends).collect();
    assert_eq!(stored, told);
    assert!(!on.cancel().await.unwrap());
    ledger.hang(&[]);
    assert_eq!(log(&on.resume(ledger).await.unwrap().done().unwrap()), ["hello", "a", "b"]);
    assert_eq!(end(&on).await.by, None);
}

/// A run of another process loses its thread, which goes on elsewhere from what it has stored.
#[tokio::test]
async fn a_run_of_another_process_is_cancelled_by_its_claim() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let there = app(&graph, &store);
    let events = hanging(&there.thread(key("t")), &ledger).await;
    let on = thread(&graph, &store).answering_as(ann());
    assert!(on.cancel().await.unwrap());
    let ended = end(&on).await;
    assert_eq!((ended.outcome, ended.by), (RunEnd::Cancelled, Some(ann())));
    assert!(!on.cancel().await.unwrap());
    ledger.hang(&[]);
    assert_eq!(log(&on.resume(ledger.clone()).await.unwrap().done().unwrap()), ["hello", "a", "b"]);
    // What the other process still does is stored nowhere.
    there.thread(key("t")).cancel().await.unwrap();
    let superseded = events.outcome().await.unwrap_err();
    assert!(matches!(superseded, RunError::Superseded { .. }), "{superseded:?}");
    let last: Vec<_> = kinds(&on).await.into_iter().rev().take(3).collect();
    assert_eq!(last, ["end", "commit", "begin"]);
    // That it was taken its thread is no edit.
    let edits = on.events(None).await.unwrap();
    assert!(!edits.iter().any(|event| matches!(event.kind, EventKind::Edited { .. })));
}

/// A run that was lost is ended, so that nobody finishes it unasked.
#[tokio::test]
async fn a_run_that_was_lost_is_cancelled_too() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let events = hanging(&thread(&graph, &store), &ledger).await;
    lost(&store, &key("t")).await;
    let on = thread(&graph, &store);
    assert!(on.cancel().await.unwrap());
    ledger.hang(&[]);
    // A new turn does not finish the cancelled one first.
    let done = on.invoke(says("again"), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!((log(&done), ledger.of("b")), (vec!["hello", "a", "again", "a", "b"], 2));
    assert!(!app(&graph, &store).is_lost(&key("t")).await.unwrap());
    assert!(matches!(on.resume(ledger).await.unwrap(), Outcome::Done(_)));
    drop(events);
}

/// A run that is cancelled before it has begun does not begin, and is found by its end.
#[tokio::test]
async fn a_run_that_is_cancelled_by_its_name_does_not_begin_any_more() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = || thread(&graph, &store).run_id(RunId(1), Position::START);
    for begun in [false, true] {
        if begun {
            thread(&graph, &store).invoke(says("one"), ledger.clone()).await.unwrap();
        }
        let since = match begun {
            true => on().history(None, 1).await.unwrap()[0].position,
            false => Position::START,
        };
        let on = || thread(&graph, &store).run_id(RunId(7), since);
        assert!(on().answering_as(ann()).cancel().await.unwrap());
        assert!(!on().cancel().await.unwrap());
        let late = on().invoke(says("late"), ledger.clone()).await.unwrap_err();
        assert!(matches!(late, RunError::PastRun { .. }), "{late:?}");
        let found = on().find_run(RunId(7), since).await.unwrap().unwrap();
        assert_eq!((found.end.and_then(|end| end.by), found.is_newest), (Some(ann()), false));
        // The thread goes on with others.
        let next = thread(&graph, &store).run_id(RunId(8 + u128::from(begun)), since);
        assert!(next.invoke(says("next"), ledger.clone()).await.is_ok());
    }
    let done = on().state(None).await.unwrap().unwrap();
    assert_eq!(log(&done), ["next", "a", "b", "one", "a", "b", "next", "a", "b"]);
}

/// Whoever cancels a run by its name ends no other, however late they come.
#[tokio::test]
async fn a_run_is_cancelled_by_its_name_and_no_other_is() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let there = app(&graph, &store);
    let named = |on: Thread<_, _>, run| on.run_id(RunId(run), Position::START);
    let on = there.thread(key("t"));
    let events = hanging(&named(on.clone(), 1), &ledger).await;
    let elsewhere = thread(&graph, &store);
    assert!(!named(on.clone(), 2).cancel().await.unwrap());
    assert!(!named(elsewhere.clone(), 2).cancel().await.unwrap());
    assert_eq!(there.running(), 1);
    assert!(named(elsewhere.clone(), 1).cancel().await.unwrap());
    assert_eq!(end(&elsewhere).await.outcome, RunEnd::Cancelled);
    assert!(!named(elsewhere.clone(), 1).cancel().await.unwrap());
    drop(events);
}
