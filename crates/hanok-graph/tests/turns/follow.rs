//! Threads that are followed: over runs and processes, by readers who come late, are cut off, come back, or read slowly.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures::{FutureExt, StreamExt};
use hanok_checkpoint::{Doubt, SharedCheckpointer};
use hanok_core::{Cancellation, RequestId, Token};
use hanok_graph::{
    App, BoxError, Context, Durability, END, Event, EventId, EventKind, EventPlace, Follow, Graph,
    Input, Mode, Outcome, RunError, START, Snapshot,
};
use hanok_state::{Message, State};
use proptest::prelude::*;

use crate::asking::{Ledger, S, SUpdate, app, built, key, memory, says, thread, work};

const MS: Duration = Duration::from_millis(1);

/// A node that writes a message token by token.
async fn talks(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let call = cx.call("model", cx.node(), "");
    let text = format!("{} speaks {}", cx.node(), state.n);
    for word in text.split_inclusive(' ') {
        cx.runtime().clock.sleep(MS).await;
        if let Some(sink) = call.sink() {
            sink.token(Token::Text(word.to_owned()));
        }
    }
    Ok(S::update().message(Message::assistant(text).with_id(call.message_id())))
}

async fn counts(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.custom(&state.n);
    if state.n == 2 {
        // What waits for the end of the run is stored before such a call, and is recorded from then on.
        cx.once("note", "{}", Doubt::Repeat, async |_| Ok::<_, BoxError>(())).await?;
    }
    Ok(S::update().n(state.n.saturating_sub(1)).push_log(format!("n = {}", state.n)))
}

/// Two who talk at the same time, as often as `n` says.
fn talking() -> Graph<S, Ledger> {
    let again = |s: &S| if s.n > 0 { "both" } else { END };
    async fn both(_: Snapshot<S>, _: Context<Ledger>) -> Result<(), BoxError> {
        Ok(())
    }
    let graph = Graph::builder("talking").node("both", both).node("ada", talks).node("bob", talks);
    let graph = graph.node("counts", counts).edge(START, "both");
    let graph = graph.edge("both", "ada").edge("both", "bob").join(["ada", "bob"], "counts");
    built(graph.branch("counts", again, ["both", END]))
}

/// The events that are there by now.
async fn there(events: &mut Follow) -> Vec<Event> {
    let mut seen = Vec::new();
    // Everything else that can go on goes on before the clock does.
    while let Ok(Some(event)) = tokio::time::timeout(5 * MS, events.next()).await {
        seen.push(event);
    }
    seen
}

fn recorded(events: &[Event]) -> Vec<EventId> {
    events.iter().filter_map(|event| event.id).collect()
}

fn names(events: &[Event]) -> Vec<&'static str> {
    events.iter().map(|event| event.kind.name()).collect()
}

/// The texts that a reader shows: of each message its tokens, until it comes as a whole.
#[derive(Default)]
struct Page {
    texts: BTreeMap<String, String>,
    whole: BTreeSet<String>,
}

impl Page {
    fn show(&mut self, event: &Event) {
        let set = |page: &mut Self, message: &Message| {
            let id = message.id().unwrap().to_owned();
            page.texts.insert(id.clone(), message.text().into_owned());
            page.whole.insert(id);
        };
        match &event.kind {
            EventKind::Token(Token::Text(text)) => {
                let id = event.call.as_ref().unwrap().message.to_string();
                assert!(!self.whole.contains(&id), "a token after its message: {event:?}");
                self.texts.entry(id).or_default().push_str(text);
            }
            EventKind::Message(message) => set(self, message),
            EventKind::Values(state) => {
                state.get::<S>().unwrap().messages.iter().for_each(|message| set(self, message));
            }
            _ => {}
        }
    }
}

/// A thread is followed from before its first run: what is live stands among what is recorded where it happened, over a turn, an
/// edit, a run in another process and the way back.
#[tokio::test(start_paused = true)]
async fn a_thread_is_followed_from_before_it_is_there() {
    let (graph, store, ledger) = (talking(), memory(), Ledger::default());
    let here = app(&graph, &store);
    let on =
        here.thread(key("t")).modes([Mode::Tasks, Mode::Updates, Mode::Custom, Mode::Messages]);
    let mut events = on.follow(None);
    assert!(there(&mut events).await.is_empty());

    on.invoke(S::update().n(1), ledger.clone()).await.unwrap().done().unwrap();
    let turn = there(&mut events).await;
    assert!(turn.is_sorted_by(|one, next| one.place < next.place), "{turn:?}");
    assert!(turn.iter().all(|event| event.run == turn[0].run && event.run.is_some()));
    let of = |node: &str| -> Vec<_> {
        let of_node = turn.iter().filter(|event| event.node.as_deref() == Some(node));
        of_node.map(|event| event.kind.name()).collect()
    };
    let talked = ["task_started", "token", "token", "token", "task_finished", "updates"];
    assert_eq!((of("ada"), of("bob")), (talked.to_vec(), talked.to_vec()));
    assert_eq!(of("counts"), ["task_started", "custom", "task_finished", "updates"]);
    assert_eq!(names(&turn).last(), Some(&"ended"));

    on.edit(S::update().n(3)).await.unwrap();
    let edited = there(&mut events).await;
    let [Event { kind: EventKind::Edited { node: None, .. }, run: None, .. }] = edited.as_slice()
    else {
        panic!("other events: {edited:?}");
    };
    let end = turn.last().unwrap().id.unwrap().position;

    // Of a run elsewhere it hears what is recorded.
    let elsewhere = app(&graph, &store).thread(key("t"));
    elsewhere.invoke(S::update().n(1), ledger.clone()).await.unwrap().done().unwrap();
    let turn = there(&mut events).await;
    assert_eq!(names(&turn), ["updates", "updates", "updates", "updates", "ended"]);

    elsewhere.rewind(end).await.unwrap();
    assert_eq!(names(&there(&mut events).await), ["rewound"]);
    assert!(on.delete().await.unwrap());
    let last = tokio::time::timeout(Duration::from_secs(20), events.collect::<Vec<_>>()).await;
    let last = last.unwrap();
    assert!(matches!(last.as_slice(), [Event { kind: EventKind::Cut { .. }, .. }]), "{last:?}");
}

/// An input that is refused is no event of the thread, and an answer is one.
#[tokio::test(start_paused = true)]
async fn what_is_refused_is_not_followed_and_what_is_answered_is() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>("well?").await?))
    }
    let graph = built(Graph::builder("ask").node("ask", ask).sequence([START, "ask", END]));
    let on = thread(&graph, &memory()).modes([Mode::Interrupts]);
    let mut events = on.follow(None);
    on.invoke(S::update(), Ledger::default()).await.unwrap();
    assert_eq!(names(&there(&mut events).await), ["request", "ended"]);
    on.invoke(S::update(), Ledger::default()).await.unwrap_err();
    assert!(there(&mut events).await.is_empty());
    on.reply("yes", Ledger::default()).await.unwrap().done().unwrap();
    let turn = there(&mut events).await;
    let [Event { kind: EventKind::Answered { answer, .. }, node, .. }, _] = turn.as_slice() else {
        panic!("other events: {turn:?}");
    };
    assert_eq!((answer.as_str().unwrap(), node.as_deref()), ("yes", Some("ask")));
}

/// A reader who comes during a run hears what follows, and a message of which it missed tokens as a whole.
#[tokio::test(start_paused = true)]
async fn a_reader_who_comes_late_is_given_the_whole_message() {
    let (graph, store) = (talking(), memory());
    let here = app(&graph, &store);
    let on = here.thread(key("t")).modes([Mode::Messages, Mode::Updates]);
    let (mut early, run) = (on.follow(None), on.clone());
    let run = tokio::spawn(async move { run.invoke(S::update().n(1), Ledger::default()).await });
    // The second word is said.
    tokio::time::sleep(2 * MS + MS / 2).await;
    let mut late = on.follow(None);
    run.await.unwrap().unwrap().done().unwrap();
    let (early, late) = (there(&mut early).await, there(&mut late).await);
    let count = |events: &[Event], name| names(events).iter().filter(|it| **it == name).count();
    assert_eq!((count(&early, "token"), count(&early, "message")), (6, 0));
    assert_eq!((count(&late, "token"), count(&late, "message")), (2, 2));
    assert_eq!(recorded(&early), recorded(&late));
    for events in [early, late] {
        let mut page = Page::default();
        events.iter().for_each(|event| page.show(event));
        let texts: BTreeSet<_> = page.texts.into_values().collect();
        assert_eq!(texts, ["ada speaks 1", "bob speaks 1"].map(str::to_owned).into());
    }
}

/// Follows a thread through one process, then goes on in another from the place of the last event, until the thread has ended.
async fn cut(
    here: &App<S, Ledger>,
    store: &SharedCheckpointer,
    modes: &[Mode],
    cuts: &[usize],
) -> Vec<Event> {
    let run = here.thread(key("t"));
    let mut seen: Vec<Event> = Vec::new();
    let mut events = here.thread(key("t")).modes(modes.to_vec()).follow(None);
    let mut run = tokio::spawn(async move {
        run.invoke(S::update().n(3), Ledger::default()).await.unwrap().done().unwrap()
    });
    let place = |seen: &[Event]| seen.iter().rev().find_map(|event| event.place);
    for count in cuts {
        for _ in 0..*count {
            seen.extend(events.next().now_or_never().flatten());
            tokio::time::sleep(MS / 4).await;
        }
        let graph = here.graph();
        let elsewhere = match count % 2 {
            0 => here.clone(),
            _ => app(graph, store),
        };
        events = elsewhere.thread(key("t")).modes(modes.to_vec()).follow(place(&seen));
    }
    (&mut run).await.unwrap();
    seen.extend(there(&mut events).await);
    seen
}

fn modes() -> impl Strategy<Value = Vec<Mode>> {
    let all = vec![
        Mode::Values,
        Mode::Updates,
        Mode::Messages,
        Mode::Custom,
        Mode::Tasks,
        Mode::Checkpoints,
        Mode::Graphs,
    ];
    prop::sample::subsequence(all, 1..=7)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A reader is cut off after any events of a long run of nodes that talk at the same time, and goes on, here or in another
    /// process: what is recorded comes once and in order, what is live in its place, each text once.
    #[test]
    fn a_reader_who_is_cut_off_goes_on_without_gap_or_duplicate(
        modes in modes(),
        cuts in prop::collection::vec(0..12_usize, 0..6),
        durability in prop::sample::select(vec![Durability::Sync, Durability::Async, Durability::Exit]),
    ) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(async {
            let (graph, store) = (talking(), memory());
            let here = app(&graph, &store).durable(durability);
            let seen = cut(&here, &store, &modes, &cuts).await;
            let fresh = app(&graph, &store).thread(key("t"));
            let all = fresh.clone().modes(modes.clone()).events(None).await.unwrap();
            assert_eq!(recorded(&seen), recorded(&all), "no gap, no duplicate");
            let placed: Vec<EventPlace> = seen.iter().filter_map(|event| event.place).collect();
            // Another process numbers nothing: its reader has recorded events alone.
            assert!(placed.is_sorted_by(|one, next| one < next), "{placed:?}");
            for (i, event) in seen.iter().enumerate() {
                let of_task = |other: &&Event| other.task == event.task && event.task.is_some();
                let before = seen[..i].iter().filter(of_task);
                if matches!(event.kind, EventKind::Token(_) | EventKind::TaskStarted { .. }) {
                    let told = |other: &Event| matches!(other.kind, EventKind::Updates(_));
                    assert!(!before.clone().any(told), "after its update: {event:?}");
                }
            }
            if modes.contains(&Mode::Values) {
                let mut page = Page::default();
                seen.iter().for_each(|event| page.show(event));
                let state = fresh.state(None).await.unwrap().unwrap();
                let told = |message: &Message| (message.id().unwrap().to_owned(), message.text().into_owned());
                assert_eq!(page.texts, state.messages.iter().map(told).collect::<BTreeMap<_, _>>());
            }
        });
    }
}

/// A node that says more than a reader can hold.
async fn floods(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    let sink = cx.call("model", "m", "").sink().cloned();
    for _ in 0..100 {
        sink.iter().for_each(|sink| sink.token(Token::Text("x".repeat(10_000))));
    }
    Ok(S::update().n(state.n.saturating_sub(1)).push_log(state.n.to_string()))
}

/// A reader who does not read costs 256 KiB, no run waits for it, and it is given what is recorded.
#[tokio::test(start_paused = true)]
async fn a_slow_reader_costs_no_more_than_so_much() {
    let again = |s: &S| if s.n > 0 { "floods" } else { END };
    let graph = Graph::builder("floods").node("floods", floods).edge(START, "floods");
    let graph = built(graph.branch("floods", again, ["floods", END]));
    let on = thread(&graph, &memory());
    let (mut follows, streams) =
        (on.follow(None), on.stream(Input::New(S::update().n(20)), Ledger::default()));
    // Nobody reads before the run is over.
    let mut all = Vec::new();
    while !names(&all).contains(&"ended") {
        tokio::task::yield_now().await;
        all = on.events(None).await.unwrap();
    }
    let all = recorded(&all);
    let (followed, streamed) = (there(&mut follows).await, streams.collect::<Vec<_>>().await);
    for seen in [followed, streamed] {
        let bytes: usize = seen
            .iter()
            .map(|event| match &event.kind {
                EventKind::Token(Token::Text(text)) => text.len(),
                _ => 0,
            })
            .sum();
        assert!(bytes > 0 && bytes <= 256 * 1024, "{bytes} bytes");
        assert!(seen.iter().any(|event| matches!(event.kind, EventKind::Lagged(n) if n > 1_000)));
        assert_eq!(recorded(&seen), all);
    }
}

/// Each input that is refused is an error of `try_stream`, and an event with its code where it is streamed all the same; one that is
/// taken is a stream.
#[cfg(feature = "schema")]
#[tokio::test(start_paused = true)]
async fn a_refused_input_is_an_error_before_the_stream_or_its_last_event() {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.ask::<String>("well?", None).await?))
    }
    let graph = Graph::builder("ask").node("work", work).node("ask", ask);
    let graph = built(graph.sequence([START, "work", "ask", END]));
    let (one, ledger) = (app(&graph, &memory()), Ledger::default());
    ledger.hang(&["work"]);
    let busy = one.thread(key("busy")).stream(Input::New(S::update()), ledger.clone());
    while ledger.of("work") == 0 {
        tokio::task::yield_now().await;
    }
    ledger.hang(&[]);
    let asked = one.thread(key("asked"));
    let id = match asked.invoke(S::update(), ledger.clone()).await.unwrap() {
        Outcome::Interrupted(waiting) => waiting[0].id.clone(),
        other => panic!("another outcome: {other:?}"),
    };
    let answered = one.thread(key("answered"));
    answered.invoke(S::update(), ledger.clone()).await.unwrap();
    let open = answered.resume(ledger.clone()).await.unwrap();
    let Outcome::Interrupted(open) = open else { panic!("another outcome: {open:?}") };
    answered.answer(open[0].id.clone(), "yes", ledger.clone()).await.unwrap();
    let nobody = RequestId("none".into());
    let down = app(&graph, &memory());
    down.shutdown(Duration::ZERO).await;
    let cases = [
        (one.thread(key("busy")), Input::New(S::update()), 409),
        (asked.clone(), Input::New(S::update()), 409),
        (asked.clone(), Input::answer(nobody, "yes").unwrap(), 404),
        (asked.clone(), Input::answer(id.clone(), &7).unwrap(), 422),
        (answered.clone(), Input::answer(open[0].id.clone(), "no").unwrap(), 409),
        (one.thread(key("new")), Input::Resume, 404),
        (one.thread(key("new")), Input::reply("yes").unwrap(), 409),
        (asked.clone(), Input::goto(S::update(), "nowhere").unwrap(), 409),
        (one.thread(key("new")), Input::goto(S::update(), "nowhere").unwrap(), 404),
        (down.thread(key("t")), Input::New(S::update()), 503),
    ];
    for (on, input, status) in cases {
        let refused = on.try_stream(input.clone(), ledger.clone()).await;
        let refused = refused.expect_err(&format!("{input:?}"));
        assert_eq!(refused.status(), status, "{input:?}: {refused}");
        let events: Vec<_> = on.stream(input, ledger.clone()).collect().await;
        let [Event { kind: EventKind::Ended { code, error, .. }, .. }] = events.as_slice() else {
            panic!("other events: {events:?}");
        };
        assert_eq!(code.as_deref(), Some(refused.code()));
        assert!(error.as_ref().is_some_and(|error| error.starts_with(&refused.to_string())));
    }
    drop(busy);
    // What has nothing to do is no refusal.
    let done = answered.try_stream(Input::Resume, ledger.clone()).await.unwrap();
    done.outcome().await.unwrap().done().unwrap();
    let taken = asked.try_stream(Input::answer(id, "yes").unwrap(), ledger.clone()).await.unwrap();
    let taken: Vec<_> = taken.collect().await;
    assert!(names(&taken).contains(&"answered") && names(&taken).last() == Some(&"ended"));
    // An input that waits for its thread is taken when that is free, or given up.
    let stop = Cancellation::default();
    let waits = one.thread(key("busy")).new_input(hanok_graph::NewInput::Queue);
    let waits = waits.cancellation(stop.clone());
    let taken = waits.try_stream(Input::New(S::update()), ledger);
    let mut taken = Box::pin(taken);
    assert!((&mut taken).now_or_never().is_none());
    tokio::time::sleep(MS).await;
    stop.cancel();
    assert!(matches!(taken.await.unwrap_err(), RunError::Conflict { .. }));
}
