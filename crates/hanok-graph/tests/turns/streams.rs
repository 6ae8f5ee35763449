//! Observed runs: what is told, in which order, to readers that are slow, gone, or come back.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::StreamExt;
use hanok_checkpoint::{
    CheckpointError, Checkpointer, Head, Keep, Opened, SharedCheckpointer, Snapshots,
};
use hanok_core::{Cancellation, Namespace, Position, ThreadKey, Token};
use hanok_graph::{
    BoxError, Cache, Context, END, EditStep, Event, EventId, EventKind, Events, Failure, Graph,
    GraphBuilder, Input, Mode, NodeSettings, Outcome, Persistence, Retry, RunError, START,
    Snapshot, Subgraph,
};
use hanok_state::{Message, State};
use hanok_testkit::{Layer, Layered};
use tokio::sync::Notify;

use crate::asking::{Ledger, S, SUpdate, app, built, key, log, memory, says, thread, work};

const MS: Duration = Duration::from_millis(1);

async fn all<T: std::marker::Send + 'static>(
    mut events: Events<T>,
) -> (Vec<Event>, Result<Outcome<T>, RunError>) {
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        seen.push(event);
    }
    (seen, events.outcome().await)
}

/// A node that takes as many milliseconds as its name says.
async fn takes(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note(cx.node());
    let ms: u64 = cx.node().trim_start_matches(char::is_alphabetic).parse()?;
    cx.runtime().clock.sleep(Duration::from_millis(ms)).await;
    Ok(says(cx.node()))
}

async fn nothing(_: Snapshot<S>, _: Context<Ledger>) -> Result<(), BoxError> {
    Ok(())
}

fn wide() -> Graph<S, Ledger> {
    let mut graph = Graph::builder("wide").node("nothing", nothing).node("end", work);
    for node in ["a30", "b20", "c10"] {
        graph = graph.node(node, takes).edge(START, node).edge(node, "nothing");
    }
    built(graph.edge("nothing", "end").edge("end", END))
}

/// B99: values once for the input and once for each super-step that changed them; updates once for each task, in the order
/// in which they were done; the last values are the result.
#[tokio::test(start_paused = true)]
async fn values_and_updates_are_told_once_each() {
    let (graph, store) = (wide(), memory());
    let on = thread(&graph, &store).modes([Mode::Values, Mode::Updates]);
    let (events, outcome) = all(on.stream(Input::New(says("in")), Ledger::default())).await;
    let mut values = Vec::new();
    let mut updates = Vec::new();
    for event in &events {
        match &event.kind {
            EventKind::Values(state) => {
                values.push((event.step, log(&state.get::<S>().unwrap()).join(" ")));
            }
            EventKind::Updates(update) => {
                let node = event.node.as_deref().unwrap().to_owned();
                updates.push((event.step, node, update.to_changes().unwrap().0.len()));
            }
            EventKind::Ended { outcome, error: None, .. } => assert_eq!(outcome, "done"),
            other => panic!("not asked for: {other:?}"),
        }
    }
    let told = |step, text: &str| (step, text.to_owned());
    assert_eq!(values, [told(0, "in"), told(0, "in a30 b20 c10"), told(2, "in a30 b20 c10 end")]);
    let update = |step, node: &str, changes| (step, node.to_owned(), changes);
    assert_eq!(
        updates,
        [
            update(0, "c10", 1),
            update(0, "b20", 1),
            update(0, "a30", 1),
            update(1, "nothing", 0),
            update(2, "end", 1),
        ]
    );
    let last = events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Values(state) => Some(state.get::<S>().unwrap()),
        _ => None,
    });
    assert_eq!(last.unwrap(), outcome.unwrap().done().unwrap());
    assert!(events.iter().all(|event| event.place.is_some()));
    assert!(events.is_sorted_by(|one, next| one.place < next.place));
}

/// B100: each mode shows its own events, each with its path, and an end always.
#[tokio::test(start_paused = true)]
async fn each_mode_shows_its_own_events() {
    async fn talk(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        cx.custom("item");
        for text in ["to", "ken"] {
            if let Some(sink) = cx.call("model", "m", text).sink() {
                sink.token(Token::Text(text.into()));
            }
        }
        // What a model is told to keep to itself is not shown.
        assert!(cx.call("model", "m", "quiet").quiet().sink().is_none());
        let said: String = cx.interrupt("well?").await?;
        Ok(S::update().message(Message::assistant(said)))
    }
    fn name(kind: &EventKind) -> &'static str {
        match kind {
            EventKind::Values(_) => "values",
            EventKind::Updates(_) => "updates",
            EventKind::Checkpoint => "checkpoint",
            EventKind::Request(_) => "request",
            EventKind::Ended { .. } => "ended",
            EventKind::TaskStarted { .. } => "started",
            EventKind::TaskFinished { .. } => "finished",
            EventKind::TaskInterrupted => "interrupted",
            EventKind::Custom(_) => "custom",
            EventKind::Token(_) => "token",
            _ => "other",
        }
    }
    let inner = Graph::builder("inner").node("talk", talk).edge(START, "talk").edge("talk", END);
    let graph = Graph::builder("outer").subgraph("call", Subgraph::shared(built(inner)));
    let graph = built(graph.edge(START, "call").edge("call", END));
    // (mode, at the root, in the subgraph)
    let table: [(Mode, &[&str], &[&str]); 7] = [
        (Mode::Values, &["values", "ended"], &["values"]),
        (Mode::Updates, &["ended"], &[]),
        (Mode::Messages, &["ended"], &["token", "token"]),
        (Mode::Custom, &["ended"], &["custom"]),
        (Mode::Tasks, &["started", "interrupted", "ended"], &["started", "interrupted"]),
        (Mode::Checkpoints, &["ended"], &[]),
        (Mode::Interrupts, &["ended"], &["request"]),
    ];
    for (mode, root, inside) in table {
        let on = thread(&graph, &memory()).modes([mode]);
        let (events, outcome) = all(on.stream(Input::New(S::update()), Ledger::default())).await;
        assert!(matches!(outcome.unwrap(), Outcome::Interrupted(_)));
        let of = |depth: usize| -> Vec<_> {
            let at = events.iter().filter(|event| event.path.depth() == depth);
            at.map(|event| name(&event.kind)).collect()
        };
        assert_eq!((of(0).as_slice(), of(1).as_slice()), (root, inside), "{mode:?}");
        for event in events.iter().filter(|event| event.path.depth() == 1) {
            let node = event.node.as_deref();
            assert!(node == Some("talk") || mode == Mode::Values, "{event:?}");
        }
    }
}

/// B101: a custom item is there while its node still runs.
#[tokio::test]
async fn a_custom_item_comes_before_its_node_ends() {
    async fn waits(_: Snapshot<S>, cx: Context<Arc<Notify>>) -> Result<SUpdate, BoxError> {
        cx.custom(&("half", 50));
        cx.services().notified().await;
        Ok(says("done"))
    }
    let graph = Graph::<S, Arc<Notify>>::builder("waits").node("waits", waits);
    let graph = graph.edge(START, "waits").edge("waits", END).build().unwrap();
    let seen = Arc::new(Notify::new());
    let on = graph.checkpointer(memory()).thread(key("t")).modes([Mode::Custom, Mode::Updates]);
    let mut events = on.stream(Input::New(S::update()), seen.clone());
    let first = events.next().await.unwrap();
    let EventKind::Custom(item) = &first.kind else { panic!("another event: {first:?}") };
    assert_eq!(item.decode::<(String, u32)>().unwrap(), ("half".to_owned(), 50));
    assert_eq!((first.id, first.attempt), (None, 1));
    seen.notify_one();
    assert!(matches!(events.next().await.unwrap().kind, EventKind::Updates(_)));
    assert!(matches!(events.outcome().await.unwrap(), Outcome::Done(_)));
}

/// B103: each task starts and ends in the stream, with its attempts, its handler, and whether a kept result was used.
#[tokio::test(start_paused = true)]
async fn tasks_are_told_from_their_start_to_their_end() {
    async fn flaky(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        if cx.attempt() < 3 {
            Err(format!("attempt {}", cx.attempt()).into())
        } else {
            Ok(says("ok"))
        }
    }
    async fn broken(_: Snapshot<S>, _: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Err("broken".into())
    }
    async fn handle(_: Snapshot<S>, _: Failure, _: Context<Ledger>) -> Result<(), BoxError> {
        Ok(())
    }
    let graph = Graph::builder("tasks").node("flaky", flaky).node("broken", broken);
    let graph = graph.node("cached", work).edge(START, "cached").edge("cached", "flaky");
    let graph = graph.edge("flaky", "broken").edge("broken", END);
    let graph = graph
        .configure("flaky", NodeSettings::new().retry(Retry::attempts(3)))
        .configure("broken", NodeSettings::new().on_error(handle, [END]));
    let graph = built(graph.configure(
        "cached",
        NodeSettings::new().cache(Cache::new(Duration::from_secs(60), |_: &S, _| 0)),
    ));
    let (store, ledger) = (memory(), Ledger::default());
    for cached in [false, true] {
        let on = thread(&graph, &store).modes([Mode::Tasks]);
        let (events, outcome) = all(on.stream(Input::New(S::update()), ledger.clone())).await;
        outcome.unwrap().done().unwrap();
        let told: Vec<_> = events
            .iter()
            .map(|event| {
                let what = match &event.kind {
                    EventKind::TaskStarted { input: None } => "started".to_owned(),
                    EventKind::TaskFinished { cached } => format!("finished {cached}"),
                    EventKind::TaskRetried { error, delay } => {
                        assert!(*delay > Duration::ZERO);
                        format!("retried {error}")
                    }
                    EventKind::TaskFailed { error, handled } => format!("failed {error} {handled}"),
                    EventKind::Ended { outcome, .. } => outcome.to_string(),
                    other => panic!("another event: {other:?}"),
                };
                format!("{} {} {what}", event.node.as_deref().unwrap_or("-"), event.attempt)
            })
            .collect();
        let want = [
            "cached 1 started".to_owned(),
            format!("cached 1 finished {cached}"),
            "flaky 1 started".to_owned(),
            "flaky 1 retried attempt 1".to_owned(),
            "flaky 2 started".to_owned(),
            "flaky 2 retried attempt 2".to_owned(),
            "flaky 3 started".to_owned(),
            "flaky 3 finished false".to_owned(),
            "broken 1 started".to_owned(),
            "broken 1 failed broken true".to_owned(),
            "- 0 done".to_owned(),
        ];
        assert_eq!(told, want, "cached: {cached}");
    }
    assert_eq!(ledger.of("cached"), 1);
}

/// B105: what was told before an error comes before it, and the error is told and returned.
#[tokio::test]
async fn what_came_before_an_error_is_told_before_it() {
    let graph = Graph::builder("fails").node("a", work).node("b", work).edge(START, "a");
    let (graph, ledger) = (built(graph.edge("a", "b").edge("b", END)), Ledger::default());
    ledger.fail(&["b"]);
    let on = thread(&graph, &memory()).modes([Mode::Updates, Mode::Tasks]);
    let (events, outcome) = all(on.stream(Input::New(S::update()), ledger.clone())).await;
    assert!(matches!(outcome.unwrap_err(), RunError::Node { .. }));
    let last: Vec<_> = events.iter().rev().take(3).map(|event| &event.kind).collect();
    let [
        EventKind::Ended { outcome, error, .. },
        EventKind::TaskFailed { handled: false, .. },
        EventKind::TaskStarted { .. },
    ] = last.as_slice()
    else {
        panic!("other events: {last:?}");
    };
    assert_eq!(outcome, "failed");
    assert_eq!(error.as_deref(), Some("node `b` failed in super-step 1: out of order"));
    let updates = events.iter().filter(|event| matches!(event.kind, EventKind::Updates(_)));
    assert_eq!(updates.count(), 1);
    // An input that is refused ends the stream with the reason.
    let (events, outcome) = all(on.stream(Input::Resume, ledger)).await;
    assert!(outcome.is_err() && events.last().is_some_and(|event| event.id.is_some()));
    let nobody = app(&graph, &memory()).thread(key("nobody"));
    let (events, outcome) = all(nobody.stream(Input::Resume, Ledger::default())).await;
    let refused = outcome.unwrap_err();
    assert!(matches!(refused, RunError::NoSuchThread(_)));
    let [Event { kind: EventKind::Ended { outcome, error, code, .. }, id: None, .. }] =
        events.as_slice()
    else {
        panic!("other events: {events:?}");
    };
    assert_eq!((outcome.as_str(), code.as_deref()), ("failed", Some(refused.code())));
    assert_eq!(error.as_deref(), Some(refused.to_string().as_str()));
}

fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// B104: a run goes on without its reader; told to, it stops when its stream is dropped, and no task is left.
#[tokio::test(start_paused = true)]
async fn a_dropped_stream_lets_its_run_go_on_or_stops_it() {
    let before = tasks();
    for keep in [false, true] {
        let (graph, store, ledger) = (wide(), memory(), Ledger::default());
        let one = app(&graph, &store);
        let on = one.thread(key("t"));
        let mut events = on.stream(Input::New(S::update()), ledger.clone());
        events.next().await.unwrap();
        let events = if keep { events } else { events.drop_with_reader() };
        tokio::time::sleep(5 * MS).await;
        assert!(tasks() > before && one.running() == 1);
        drop(events);
        tokio::time::sleep(100 * MS).await;
        assert_eq!((tasks(), one.running()), (before, 0), "keep: {keep}");
        assert_eq!(ledger.of("end"), u32::from(keep));
        if !keep {
            // Nothing was lost.
            let state = on.resume(ledger.clone()).await.unwrap().done().unwrap();
            assert_eq!(log(&state), ["a30", "b20", "c10", "end"]);
        }
    }
}

/// A node that says much and writes a little, as often as `n` says.
async fn chatty(state: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
    cx.services().note("chatty");
    for item in 0..5_000 {
        cx.custom(&item);
    }
    Ok(S::update().n(state.n.saturating_sub(1)).push_log(state.n.to_string()))
}

fn chattering() -> Graph<S, Ledger> {
    let router = |s: &S| if s.n > 0 { "chatty" } else { END };
    let graph = Graph::builder("chatty").node("chatty", chatty).edge(START, "chatty");
    built(graph.branch("chatty", router, ["chatty", END]))
}

fn recorded(events: &[Event]) -> Vec<EventId> {
    events.iter().filter_map(|event| event.id).collect()
}

/// B104, P24: a reader who is slow neither holds the run up nor makes it remember without bound: live items are dropped and
/// counted, recorded ones come from the log, each once and in order, and only those of the run.
#[tokio::test]
async fn a_slow_reader_is_told_what_it_missed() {
    let (graph, store) = (chattering(), memory());
    for modes in [
        vec![Mode::Custom, Mode::Updates, Mode::Checkpoints, Mode::Values],
        vec![Mode::Custom, Mode::Checkpoints],
    ] {
        let (one, ledger) = (app(&graph, &store), Ledger::default());
        let on = one.thread(key("t")).modes(modes);
        let before = on.events(None).await.unwrap().len();
        let events = on.stream(Input::New(S::update().n(6)), ledger.clone());
        // Nobody reads before the run is over.
        while ledger.of("chatty") < 6 || one.running() > 0 {
            tokio::task::yield_now().await;
        }
        let (seen, outcome) = all(events).await;
        outcome.unwrap().done().unwrap();
        let lagged: u64 = seen
            .iter()
            .filter_map(|event| match event.kind {
                EventKind::Lagged(dropped) => Some(dropped),
                _ => None,
            })
            .sum();
        let custom = seen.iter().filter(|e| matches!(e.kind, EventKind::Custom(_))).count();
        assert!(custom <= 4_096 && lagged > 10_000, "{custom} items, {lagged} dropped");
        let want = recorded(&on.events(None).await.unwrap()[before..]);
        assert_eq!(recorded(&seen), want);
        let told = want.len() + custom;
        let dropped = 6 * 5_000 - custom;
        assert_eq!(seen.len(), told + 1);
        assert!(lagged as usize >= dropped && lagged as usize <= dropped + want.len());
    }
}

/// What a store does that does not answer as it should.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Failing {
    /// It does not answer when a history is read.
    Unread,
    /// It answers with the head that it had half the records ago.
    Behind,
}

/// A store that fails so often.
#[derive(Debug)]
struct Fails(SharedCheckpointer, Failing, Arc<AtomicUsize>);

impl Fails {
    fn now(&self, how: Failing) -> bool {
        let less = |left: usize| left.checked_sub(1);
        self.1 == how && self.2.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
    }
}

impl Layer for Fails {
    fn inner(&self) -> &SharedCheckpointer {
        &self.0
    }

    async fn head(&self, thread: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        let head = self.0.head(thread).await?;
        let before = |head: Head| Head { position: Position(head.position.0 / 2), ..head };
        Ok(if self.now(Failing::Behind) { head.map(before) } else { head })
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Option<Opened>, CheckpointError> {
        if self.now(Failing::Unread) {
            let (reason, source) = ("it is locked", "the test says so".into());
            return Err(CheckpointError::Unavailable { reason, source });
        }
        self.0.history(thread, before, limit).await
    }
}

/// P24, P54: what a slow reader missed is read again when the log could not be read at once, or what was read is older than
/// what it missed; where it cannot be, the stream ends with that, and the reader goes on from before it.
#[tokio::test(start_paused = true)]
async fn a_slow_reader_loses_nothing_when_the_log_cannot_be_read() {
    let graph = chattering();
    let cases = [(1, false), (4, false), (usize::MAX, true)];
    let cases =
        cases.iter().flat_map(|case| [Failing::Unread, Failing::Behind].map(|how| (how, case)));
    for (how, &(failures, cut)) in cases {
        let (inner, left) = (memory(), Arc::new(AtomicUsize::new(0)));
        let store = SharedCheckpointer::new(Layered(Fails(inner.clone(), how, left.clone())));
        let (one, ledger) = (app(&graph, &store), Ledger::default());
        let on = one.thread(key("t")).modes([Mode::Custom, Mode::Checkpoints, Mode::Values]);
        let events = on.stream(Input::New(S::update().n(6)), ledger.clone());
        while ledger.of("chatty") < 6 || one.running() > 0 {
            tokio::task::yield_now().await;
        }
        left.store(failures, Ordering::SeqCst);
        let (seen, outcome) = all(events).await;
        outcome.unwrap().done().unwrap();
        let is_cut = matches!(seen.last().unwrap().kind, EventKind::Cut { .. });
        assert_eq!(is_cut, cut, "{how:?}, {failures} failures");
        let again = app(&graph, &inner).thread(key("t"));
        let again = again.modes([Mode::Custom, Mode::Checkpoints, Mode::Values]);
        let mut ids = recorded(&seen);
        let rest = again.events(ids.last().copied()).await.unwrap();
        assert_eq!(rest.is_empty(), !cut);
        ids.extend(recorded(&rest));
        assert_eq!(ids, recorded(&again.events(None).await.unwrap()), "no gap, no duplicate");
    }
}

/// P54: a reader who comes back after the log was cut off beyond what it saw is told so.
#[tokio::test]
async fn a_reader_is_told_of_what_was_cut_off() {
    let (graph, store) = (chattering(), memory());
    let on = thread(&graph, &store);
    for _ in 0..5 {
        on.invoke(S::update().n(1), Ledger::default()).await.unwrap();
    }
    let all = recorded(&on.events(None).await.unwrap());
    let cut = on.log().prune(Keep::Newest).await.unwrap().unwrap();
    let error = on.events(Some(all[2])).await.unwrap_err();
    let pruned = matches!(
        error,
        RunError::Checkpoint(CheckpointError::Pruned { position, floor, .. })
            if position == all[2].position && floor == cut
    );
    assert!(pruned, "{error:?}");
    let newer = all.iter().find(|id| id.position >= cut).copied();
    on.events(newer).await.unwrap();
}

/// A graph with all that is recorded: wide steps, retries, questions, subgraphs of each kind.
fn everything() -> Graph<S, Ledger> {
    async fn ask(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        Ok(says(cx.interrupt::<String>(cx.node()).await?))
    }
    async fn flaky(_: Snapshot<S>, cx: Context<Ledger>) -> Result<SUpdate, BoxError> {
        if cx.attempt() == 1 { Err("once".into()) } else { Ok(S::update().message("flaky").n(1)) }
    }
    fn inner(name: &str) -> Graph<S, Ledger> {
        let graph: GraphBuilder<S, Ledger> = Graph::builder(name);
        let graph = graph.node("x", work).node("y", work).node("ask", ask).node("flaky", flaky);
        let graph = graph.edge(START, "x").edge(START, "y").join(["x", "y"], "ask");
        built(
            graph
                .edge("ask", "flaky")
                .edge("flaky", END)
                .configure("flaky", NodeSettings::new().retry(Retry::attempts(2))),
        )
    }
    let own = Subgraph::new(
        inner("own"),
        |state: &S| S::update().n(state.n),
        |inner: &S| S::update().log(inner.log.iter().cloned()),
    );
    let graph = Graph::builder("everything").node("a", work).node("ask", ask);
    let graph = graph.node("nothing", nothing).node("flaky", flaky);
    let graph = graph.subgraph("shared", Subgraph::shared(inner("shared")));
    let graph = graph.subgraph("own", own.persistence(Persistence::PerThread));
    let graph = graph.edge(START, "a").edge("a", "ask").edge("a", "shared").edge("a", "nothing");
    let graph = graph.join(["ask", "shared", "nothing"], "flaky").edge("flaky", "own");
    built(graph.edge("own", END).configure("flaky", NodeSettings::new().retry(Retry::attempts(2))))
}

/// What a recorded event says, without the attempt.
fn said(event: &Event) -> String {
    let what = match &event.kind {
        EventKind::Values(state) => format!("values {:?}", state.get::<S>().unwrap()),
        EventKind::Updates(update) => {
            let mut changes = update.to_changes().unwrap().0;
            changes.sort_by(|a, b| a.0.cmp(&b.0));
            format!("updates {changes:?}")
        }
        EventKind::Request(pending) => format!("request {} {}", pending.id, pending.node),
        EventKind::Ended { outcome, error, code, spent, by } => {
            format!(
                "ended {outcome} {error:?} {code:?} {} {} {by:?}",
                spent.model_calls, spent.cost
            )
        }
        EventKind::Answered { request, answer, by } => {
            format!("answered {request} {answer} {by:?}")
        }
        EventKind::Edited { node, update, by } => format!("edited {node:?} {update:?} {by:?}"),
        EventKind::Rewound { to, by } => format!("rewound {to} {by:?}"),
        EventKind::Checkpoint => "checkpoint".to_owned(),
        other => panic!("not recorded: {other:?}"),
    };
    let node = event.node.as_deref().unwrap_or("-");
    let (id, place) = (event.id.unwrap(), event.place.unwrap());
    assert_eq!(place, id.into());
    let (run, time) = (event.run.map(|run| run.to_string()), event.time);
    format!("{id} {run:?} {time:?} {} {} {node} {:?}: {what}", event.path, event.step, event.task)
}

/// P24, P54: what was told live is told again from the log, one to one, in another process; a reader who was cut off
/// anywhere goes on without gap or duplicate.
#[tokio::test(start_paused = true)]
async fn what_was_told_live_is_told_again_from_the_log() {
    let (graph, store, ledger) = (everything(), memory(), Ledger::default());
    let mut live = Vec::new();
    for turn in 0..2 {
        let on = thread(&graph, &store);
        let update = says(format!("turn {turn}")).message("hello");
        let mut input = Input::New(update);
        loop {
            if matches!(input, Input::Answers(_)) && turn == 1 {
                ledger.fail(&["x"]);
            }
            let (events, outcome) = all(on.stream(input, ledger.clone())).await;
            live.extend(events.into_iter().filter(|event| event.id.is_some()));
            ledger.fail(&[]);
            input = match outcome {
                Ok(Outcome::Done(_)) => break,
                Ok(Outcome::Interrupted(requests)) => {
                    let answers = requests.iter().map(|request| {
                        (request.id.clone(), hanok_core::Stored::encode("yes").unwrap())
                    });
                    Input::Answers(answers.collect())
                }
                Ok(other) => panic!("another outcome: {other:?}"),
                Err(_) => Input::Resume,
            };
        }
    }
    let fresh = thread(&graph, &store);
    let replayed = fresh.events(None).await.unwrap();
    let (told, again): (Vec<_>, Vec<_>) =
        (live.iter().map(said).collect(), replayed.iter().map(said).collect());
    assert!(told.len() > 60, "{}", told.len());
    for (live, replayed) in told.iter().zip(&again) {
        assert_eq!(live, replayed);
    }
    assert_eq!(told.len(), again.len());
    let ids: BTreeSet<_> = recorded(&live).into_iter().collect();
    assert_eq!(ids.len(), live.len());
    assert!(recorded(&live).is_sorted());

    for (i, event) in live.iter().enumerate() {
        let rest = fresh.events(event.id).await.unwrap();
        let rest: Vec<_> = rest.iter().map(said).collect();
        assert_eq!(rest, told[i + 1..], "after {}", told[i]);
    }
    let values = fresh.clone().modes([Mode::Values]).events(None).await.unwrap();
    let only = |event: &Event| matches!(event.kind, EventKind::Values(_));
    assert!(
        values.iter().all(|event| only(event) || matches!(event.kind, EventKind::Ended { .. }))
    );
}

/// P24: what a thread began with is part of what is told again, though no input wrote it.
#[tokio::test]
async fn what_a_thread_began_with_is_told_again() {
    for output in [None, Some(["log"])] {
        let initial = S { n: 7, log: ["first".to_owned()].into_iter().collect(), ..S::default() };
        let graph = Graph::builder("initial").initial(initial).node("a", work).edge(START, "a");
        let graph = graph.edge("a", END);
        let graph = match output {
            Some(fields) => graph.output(fields),
            None => graph,
        };
        let graph = built(graph);
        let on = thread(&graph, &memory());
        let (events, outcome) = all(on.stream(Input::New(says("in")), Ledger::default())).await;
        let state = outcome.unwrap().done().unwrap();
        assert_eq!((log(&state), state.n), (vec!["first", "in", "a"], 7));
        let live: Vec<_> = events.iter().filter(|event| event.id.is_some()).map(said).collect();
        let replayed = on.events(None).await.unwrap();
        assert_eq!(replayed.iter().map(said).collect::<Vec<_>>(), live, "{output:?}");
    }
}

/// P24: after a rewind the events of the branch that was left are not told any more; ids still only grow.
#[tokio::test]
async fn after_a_rewind_the_events_are_those_of_the_new_branch() {
    let graph = Graph::builder("chain").node("a", work).node("b", work).edge(START, "a");
    let (graph, store, ledger) =
        (built(graph.edge("a", "b").edge("b", END)), memory(), Ledger::default());
    let on = thread(&graph, &store);
    on.invoke(says("one"), ledger.clone()).await.unwrap();
    let first = recorded(&on.events(None).await.unwrap());
    let at = on.events(None).await.unwrap().last().unwrap().id.unwrap();
    on.invoke(says("two"), ledger.clone()).await.unwrap();
    let second = recorded(&on.events(None).await.unwrap());
    let back = on.rewind(at.position).await.unwrap().position;
    let after = on.events(None).await.unwrap();
    let [.., Event { kind: EventKind::Rewound { to, .. }, run: None, .. }, values] =
        after.as_slice()
    else {
        panic!("other events: {after:?}");
    };
    let EventKind::Values(state) = &values.kind else { panic!("another event: {values:?}") };
    assert_eq!((*to, log(&state.get().unwrap())), (at.position, vec!["one", "a", "b"]));
    let (first, of_rewind) = (recorded(&after), recorded(&after[first.len()..]));
    assert_eq!(of_rewind.iter().map(|id| id.position).collect::<Vec<_>>(), [back; 2]);
    on.invoke(says("three"), ledger).await.unwrap();
    let told = recorded(&on.events(None).await.unwrap());
    assert_eq!(&told[..first.len()], first);
    assert!(told.is_sorted() && told.len() == second.len() + of_rewind.len());
    assert!(of_rewind[0] > *second.last().unwrap());
    // Whoever had read the branch that was left goes on with the new one.
    let rest = recorded(&on.events(second.last().copied()).await.unwrap());
    assert_eq!(rest, told[first.len() - of_rewind.len()..]);
}

/// B104: a run that is observed can be cancelled, and its end is told.
#[tokio::test(start_paused = true)]
async fn an_observed_run_can_be_cancelled() {
    let (graph, stop) = (wide(), Cancellation::default());
    let on = thread(&graph, &memory()).cancellation(stop.clone()).modes([]);
    let events = on.stream(Input::New(S::update()), Ledger::default());
    tokio::time::sleep(15 * MS).await;
    stop.cancel();
    let (events, outcome) = all(events).await;
    assert!(matches!(outcome.unwrap(), Outcome::Cancelled(_)));
    let [Event { kind: EventKind::Ended { outcome, .. }, path, .. }] = events.as_slice() else {
        panic!("other events: {events:?}");
    };
    assert_eq!((outcome.as_str(), path), ("cancelled", &Namespace::root()));
}

/// A store that notes how many records it was asked for at once, at most.
#[derive(Debug)]
struct Most {
    store: SharedCheckpointer,
    most: Arc<AtomicUsize>,
}

impl Layer for Most {
    fn inner(&self) -> &SharedCheckpointer {
        &self.store
    }

    async fn history(
        &self,
        thread: &ThreadKey,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Option<Opened>, CheckpointError> {
        self.most.fetch_max(limit, Ordering::SeqCst);
        self.store.history(thread, before, limit).await
    }

    async fn open(
        &self,
        _: &ThreadKey,
        _: Option<Position>,
        _: Snapshots,
    ) -> Result<Option<Opened>, CheckpointError> {
        panic!("the whole log is read")
    }
}

/// P24, P54: of a long thread a page is held at a time, and no state that nobody asks for is made.
#[tokio::test]
async fn a_long_thread_is_told_again_page_by_page() {
    let graph = built(Graph::builder("a").node("a", work).edge(START, "a").edge("a", END));
    let (store, most) = (memory(), Arc::new(AtomicUsize::new(0)));
    let turns = 1_000;
    let steps = (0..turns).flat_map(|turn| {
        let wrote = vec![("a".to_owned(), says(format!("turn {turn}")))];
        [EditStep::Input(S::update()), EditStep::Nodes(wrote)]
    });
    thread(&graph, &store).edits(steps.collect()).await.unwrap();
    let noting = Most { store: store.clone(), most: most.clone() };
    let paged = thread(&graph, &SharedCheckpointer::new(Layered(noting))).modes([Mode::Updates]);
    let mut replay = paged.replay(None).await.unwrap().unwrap();
    let (mut told, mut pages) = (Vec::new(), 0);
    loop {
        let page = replay.next().await.unwrap();
        if page.is_empty() {
            break;
        }
        assert!(page.len() <= 512, "{}", page.len());
        pages += 1;
        told.extend(page.iter().map(said));
    }
    let updates = told.iter().filter(|event| event.contains("turn ")).count();
    assert!(updates == turns && pages > 5, "{updates} in {pages} pages");
    assert_eq!(most.load(Ordering::SeqCst), 256);
    let all: Vec<_> = paged.events(None).await.unwrap().iter().map(said).collect();
    assert_eq!(all, told);
}
