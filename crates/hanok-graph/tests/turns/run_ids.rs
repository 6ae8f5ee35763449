//! Runs that are named from outside, and those that go back to where the thread was.

use hanok_checkpoint::{Body, RunEnd};
use hanok_core::{Answerer, Position, RunId};
use hanok_graph::{
    BoxError, Context, Doubt, END, Event, EventKind, FoundRun, Graph, Input, Outcome, RunError,
    START, Snapshot, Thread,
};
use hanok_state::State;

use crate::asking::{
    Ledger, S, SUpdate, asked, built, doubted, entries, kinds, log, lost, memory, says, thread,
    work,
};

const RUN: RunId = RunId(7);

fn chain() -> Graph<S, Ledger> {
    let graph = Graph::builder("chain").node("a", work).node("b", work);
    built(graph.sequence([START, "a", "b", END]))
}

/// The runs of the entries that begin one, oldest first.
async fn runs(thread: &Thread<S, Ledger>) -> Vec<RunId> {
    let begun = entries(thread).await.into_iter().filter_map(|entry| match entry.entry.body {
        Body::Begin(begin) => Some(begin.run),
        _ => None,
    });
    begun.collect()
}

fn outcome(found: &FoundRun) -> Option<&RunEnd> {
    found.end.as_ref().map(|end| &end.outcome)
}

/// Whoever is not sure that a run has begun begins it again, in any process: its input is taken once.
#[tokio::test]
async fn a_run_that_is_named_begins_once() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = || thread(&graph, &store).run_id(RUN, Position::START);
    assert_eq!(on().find_run(RUN, Position::START).await.unwrap(), None);
    for _ in 0..3 {
        let done = on().invoke(says("hello"), ledger.clone()).await.unwrap().done().unwrap();
        assert_eq!(log(&done), ["hello", "a", "b"]);
    }
    assert_eq!((ledger.counts(["a", "b"]), runs(&on()).await), ([1, 1], vec![RUN]));
    let found = on().find_run(RUN, Position::START).await.unwrap().unwrap();
    assert_eq!((outcome(&found), found.is_newest), (Some(&RunEnd::Done), true));
    // Where it cannot have begun, nobody looks.
    assert_eq!(on().find_run(RUN, found.began).await.unwrap(), None);
    let unknown = on().find_run(RunId(8), Position::START).await.unwrap();
    assert_eq!(unknown, None);
}

/// A run whose process died goes on by its name, wherever it was, and its input is not taken again.
#[tokio::test]
async fn a_run_that_was_lost_goes_on_by_its_name() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    ledger.hang(&["b"]);
    let on = || thread(&graph, &store).run_id(RUN, Position::START);
    let events = on().try_stream(Input::New(says("hello")), ledger.clone()).await.unwrap();
    while ledger.of("b") == 0 {
        tokio::task::yield_now().await;
    }
    lost(&store, on().key()).await;
    let found = on().find_run(RUN, Position::START).await.unwrap().unwrap();
    assert_eq!((outcome(&found), found.is_newest), (None, true));
    ledger.hang(&[]);
    let events_again = on().try_stream(Input::New(says("hello")), ledger.clone()).await.unwrap();
    let done = events_again.outcome().await.unwrap().done().unwrap();
    assert_eq!(log(&done), ["hello", "a", "b"]);
    assert_eq!((ledger.of("a"), runs(&on()).await), (1, vec![RUN, RUN]));
    let found = on().find_run(RUN, Position::START).await.unwrap().unwrap();
    assert_eq!(outcome(&found), Some(&RunEnd::Done));
    drop(events);
}

/// A run that finishes what another has left has an id of its own, and what it finished is the end of the other.
#[tokio::test]
async fn what_a_named_run_finishes_first_is_not_its_own() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let (first, second) = (RunId(1), RunId(2));
    let on = |run| thread(&graph, &store).run_id(run, Position::START);
    ledger.fail(&["b"]);
    on(first).invoke(says("one"), ledger.clone()).await.unwrap_err();
    ledger.fail(&[]);
    // It failed, and nothing waits for it: the next turn begins.
    on(second).invoke(says("two"), ledger.clone()).await.unwrap().done().unwrap();
    let found = on(first).find_run(first, Position::START).await.unwrap().unwrap();
    assert_eq!((outcome(&found), found.is_newest), (Some(&RunEnd::Failed), false));
    let over = on(first).invoke(says("one"), ledger.clone()).await.unwrap_err();
    assert!(matches!(over, RunError::PastRun { run, .. } if run == first), "{over:?}");
    assert_eq!((over.code(), over.status()), ("HNK-233", 409));

    let third = RunId(3);
    ledger.hang(&["b"]);
    let events = on(third).try_stream(Input::New(says("three")), ledger.clone()).await.unwrap();
    while ledger.of("b") < 3 {
        tokio::task::yield_now().await;
    }
    lost(&store, on(third).key()).await;
    ledger.hang(&[]);
    let done = on(RunId(4)).invoke(says("four"), ledger.clone()).await.unwrap().done().unwrap();
    assert_eq!(log(&done)[2..], ["two", "a", "b", "three", "a", "b", "four", "a", "b"]);
    let named = runs(&on(first)).await;
    assert_eq!((named[..3].to_vec(), named.len()), (vec![first, second, third], 5));
    assert!(![first, second, third, RunId(4)].contains(&named[3]));
    assert_eq!(named[4], RunId(4));
    let found = on(first).find_run(third, Position::START).await.unwrap().unwrap();
    assert_eq!((outcome(&found), found.is_newest), (Some(&RunEnd::Done), false));
    drop(events);
}

/// A run that was lost and whose beginning was taken back is over: it does not begin again.
#[tokio::test]
async fn a_run_that_was_taken_back_does_not_begin_again() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = || thread(&graph, &store);
    on().invoke(says("one"), ledger.clone()).await.unwrap().done().unwrap();
    let before = on().history(None, 1).await.unwrap()[0].position;
    ledger.hang(&["b"]);
    let named = || on().run_id(RUN, before);
    let events = named().try_stream(Input::New(says("two")), ledger.clone()).await.unwrap();
    while ledger.of("b") < 2 {
        tokio::task::yield_now().await;
    }
    lost(&store, on().key()).await;
    on().rewind(before).await.unwrap();
    let found = on().find_run(RUN, before).await.unwrap().unwrap();
    assert_eq!((found.end, found.is_newest), (None, false));
    let over = named().invoke(says("two"), ledger.clone()).await.unwrap_err();
    assert!(matches!(over, RunError::PastRun { .. }), "{over:?}");
    assert_eq!(log(&on().state(None).await.unwrap().unwrap()), ["one", "a", "b"]);
    drop(events);
}

/// An answer is taken once, too.
#[tokio::test]
async fn an_answer_by_a_named_run_is_given_once() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("well?").await?))
    }
    let graph = built(Graph::builder("ask").node("ask", ask).sequence([START, "ask", END]));
    let (store, ledger) = (memory(), Ledger::default());
    let on = || thread(&graph, &store);
    let first = on().run_id(RunId(1), Position::START);
    let requests = asked(first.invoke(S::update(), ledger.clone()).await);
    let answer = || Input::answer(requests[0].id.clone(), "yes").unwrap();
    for _ in 0..2 {
        let named = on().run_id(RunId(2), Position::START);
        assert_eq!(
            log(&named.run(answer(), ledger.clone()).await.unwrap().done().unwrap()),
            ["yes"]
        );
    }
    on().run(answer(), ledger).await.unwrap_err();
    let found = on().find_run(RunId(1), Position::START).await.unwrap().unwrap();
    assert_eq!(outcome(&found), Some(&RunEnd::Interrupted));
    let found = on().find_run(RunId(2), Position::START).await.unwrap().unwrap();
    assert_eq!(outcome(&found), Some(&RunEnd::Done));
}

/// Where entries are gone among which a run may stand, nobody says that it has not begun.
#[tokio::test]
async fn what_was_cut_off_is_not_searched_in_vain() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = || thread(&graph, &store);
    for text in ["one", "two"] {
        on().invoke(says(text), ledger.clone()).await.unwrap();
    }
    let before = on().history(None, 1).await.unwrap()[0].position;
    on().log().prune(hanok_checkpoint::Keep::Newest).await.unwrap().unwrap();
    assert_eq!(on().find_run(RUN, before).await.unwrap(), None);
    let cut = on().find_run(RUN, Position::START).await.unwrap_err();
    assert!(matches!(cut, RunError::Checkpoint(_)), "{cut:?}");
    assert!(on().run_id(RUN, Position::START).invoke(says("three"), ledger).await.is_err());
}

/// The recorded events of a run, as a reader of the log finds them, and as the run has told them.
async fn told_and_recorded(
    on: Thread<S, Ledger>,
    input: Input<S>,
    ledger: &Ledger,
) -> (Vec<String>, Vec<String>) {
    let said = |event: &Event| {
        let what = match &event.kind {
            EventKind::Values(state) => format!("{:?}", state.get::<S>().unwrap()),
            EventKind::Rewound { to, by } => format!("{to} {by:?}"),
            EventKind::Ended { outcome, .. } => outcome.to_string(),
            _ => String::new(),
        };
        event.id.map(|id| format!("{id} {} {} {what}", event.kind.name(), event.step))
    };
    let before = on.events(None).await.unwrap().last().and_then(|event| event.id);
    let mut events = on.try_stream(input, ledger.clone()).await.unwrap();
    let mut told = Vec::new();
    while let Some(event) = futures::StreamExt::next(&mut events).await {
        told.extend(said(&event));
    }
    let recorded = on.events(before).await.unwrap().iter().filter_map(said).collect();
    (told, recorded)
}

/// P11: a run goes back and begins, or goes on, in one append; whoever watches is told both.
#[tokio::test]
async fn a_run_goes_back_and_begins_in_one_append() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = || thread(&graph, &store).answering_as(Answerer::new("ann", "test"));
    on().invoke(says("one"), ledger.clone()).await.unwrap().done().unwrap();
    let stored = entries(&on()).await;
    let after_a = stored.iter().find(
        |entry| matches!(&entry.entry.body, Body::Commit(commit) if *commit.nodes[0] == *"a"),
    );
    let after_a = after_a.unwrap().position;
    let end = on().history(None, 1).await.unwrap()[0].position;
    on().invoke(says("two"), ledger.clone()).await.unwrap().done().unwrap();

    let (told, recorded) =
        told_and_recorded(on().at(end), Input::New(says("three")), &ledger).await;
    assert_eq!(told, recorded);
    assert!(told[0].contains("rewound") && told[0].contains("ann"), "{told:?}");
    let state = on().state(None).await.unwrap().unwrap();
    assert_eq!(log(&state), ["one", "a", "b", "three", "a", "b"]);

    let (told, recorded) = told_and_recorded(on().at(after_a), Input::Resume, &ledger).await;
    assert_eq!(told, recorded);
    assert_eq!(log(&on().state(None).await.unwrap().unwrap()), ["one", "a", "b"]);
    let turn = ["begin", "commit", "commit", "end"];
    let kinds = kinds(&on()).await;
    let kinds: Vec<_> = kinds.into_iter().filter(|kind| *kind != "write").collect();
    let back = |first, rest: &[&'static str]| [vec!["rewind", first], rest.to_vec()].concat();
    let expected =
        [&turn[..], &turn, &back("begin", &turn[1..]), &back("begin", &turn[2..])].concat();
    assert_eq!(kinds, expected);
    // Where nothing is due there is nothing to go on with, and nothing is said.
    let before = on().history(None, 1).await.unwrap();
    let done = on().at(end).resume(ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&done), ["one", "a", "b"]);
    assert_eq!(on().history(None, 1).await.unwrap(), before);
}

/// An edit goes back in its own append, in a node's place or not, and says who made it.
#[tokio::test]
async fn an_edit_goes_back_in_its_own_append() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = || thread(&graph, &store).answering_as(Answerer::new("ann", "test"));
    on().invoke(says("one"), ledger.clone()).await.unwrap().done().unwrap();
    let end = on().history(None, 1).await.unwrap()[0].position;
    on().invoke(says("two"), ledger.clone()).await.unwrap().done().unwrap();
    on().at(end).edit_as(Some("a"), says("by hand")).await.unwrap();
    let last_two = on().history(None, 2).await.unwrap();
    let [edit, rewind] = &last_two[..] else { panic!("{last_two:?}") };
    let by = |body: &Body| match body {
        Body::Edit(edit) => edit.by.clone(),
        Body::Rewind(rewind) => rewind.by.clone(),
        other => panic!("{other:?}"),
    };
    let names = [edit, rewind].map(|entry| by(&entry.entry.body).map(|by| by.name));
    assert_eq!(names, [Some("ann".to_owned()), Some("ann".to_owned())]);
    assert_eq!((rewind.parent, edit.parent), (end, rewind.position));
    let done = on().resume(ledger).await.unwrap().done().unwrap();
    assert_eq!(log(&done), ["one", "a", "b", "by hand", "b"]);
    let nowhere = on().at(Position(999)).edit(says("late")).await.unwrap_err();
    assert!(matches!(nowhere, RunError::Checkpoint(_)), "{nowhere:?}");
}

/// Nobody leaves a turn behind in which a call is in doubt, unless they say so.
#[tokio::test]
async fn a_run_does_not_go_back_from_a_call_in_doubt() {
    async fn pay(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        let transfer = async |_| Err::<String, BoxError>("the connection broke".into());
        Ok(says(cx.once("pay", "{}", Doubt::Ask, transfer).await?))
    }
    let graph = Graph::builder("bill").node("a", work).node("pay", pay);
    let graph = built(graph.sequence([START, "a", "pay", END]));
    let (store, ledger) = (memory(), Ledger::default());
    let on = || thread(&graph, &store);
    on().invoke(S::update(), ledger.clone()).await.unwrap_err();
    doubted(on().resume(ledger.clone()).await);
    let first = entries(&on()).await[0].position;
    let refused = on().at(first).resume(ledger.clone()).await.unwrap_err();
    assert!(matches!(refused, RunError::Unfinished { .. }), "{refused:?}");
    let refused = on().at(first).edit(says("x")).await.unwrap_err();
    assert!(matches!(refused, RunError::Unfinished { .. }), "{refused:?}");
    let again = on().at(first).discarding_doubts().interrupt_before(["pay"]).resume(ledger).await;
    assert!(matches!(again.unwrap(), Outcome::Breakpoint(_)));
}

/// A run is taken back while it is the newest turn, once, however late and often somebody asks for it.
#[tokio::test]
async fn a_run_is_taken_back_unless_the_thread_has_gone_on() {
    let (graph, store, ledger) = (chain(), memory(), Ledger::default());
    let on = || thread(&graph, &store);
    let first = (RunId(1), Position::START);
    assert!(!on().roll_back(first.0, first.1).await.unwrap());
    // A thread that began with it goes.
    on().run_id(first.0, first.1).invoke(says("one"), ledger.clone()).await.unwrap();
    assert!(on().roll_back(first.0, first.1).await.unwrap());
    assert!(on().state(None).await.unwrap().is_none());

    on().invoke(says("one"), ledger.clone()).await.unwrap();
    let since = on().history(None, 1).await.unwrap()[0].position;
    on().run_id(RunId(2), since).invoke(says("two"), ledger.clone()).await.unwrap();
    assert!(on().roll_back(RunId(2), since).await.unwrap());
    assert_eq!(log(&on().state(None).await.unwrap().unwrap()), ["one", "a", "b"]);
    assert!(!on().roll_back(RunId(2), since).await.unwrap());
    on().run_id(RunId(3), since).invoke(says("three"), ledger).await.unwrap();
    for late in [(RunId(2), since), first] {
        assert!(!on().roll_back(late.0, late.1).await.unwrap());
    }
    let now = on().state(None).await.unwrap().unwrap();
    assert_eq!(log(&now), ["one", "a", "b", "three", "a", "b"]);
}
